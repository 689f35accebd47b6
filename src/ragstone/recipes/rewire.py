"""The same entities in other places: facts are rewired, and documents written from what they say then."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from ragstone.errors import DataError
from ragstone.extract import extract
from ragstone.graphs import execute, on_path, reasoning, rewire
from ragstone.kit import Kit, Recipe, identity
from ragstone.recipes.regenerate import graph_in_names, written_from_facts
from ragstone.text import normalise
from ragstone.types import Benchmark, Document, Draft, Evidence, Fact, Question, ReasoningGraph, Rejection

EARLIER_STEP = re.compile(r"#\d+")


@dataclass(frozen=True)
class Wiring:
    """A question, its reasoning, and all facts about it and around it: those of the reasoning come first."""

    question: Question
    path: ReasoningGraph
    told: ReasoningGraph


class Rewire(Recipe):
    """Gives facts each other's objects, where these are of one type, and writes the documents from them.

    Where a generator is set it writes the documents, else each is a list of facts by rule.
    """

    uses: ClassVar = ("generator",)
    prompts: ClassVar = ("regenerate", "repair")
    attempts: ClassVar = 1

    how: Literal["paper", "off_path", "recompute"] = identity(
        "off_path",
        "what moves: every fact, with the answer as it was (paper) or as it follows then (recompute); or only facts "
        "from which the answer does not follow",
    )
    k: int = identity(1, "how many places on a fact takes its object from", ge=1)
    facts: Literal["documents", "question"] = identity(
        "documents", "which facts there are: also those that are found in the documents without a model, or no others"
    )

    def plan(self, benchmark: Benchmark, kit: Kit) -> Mapping[str, Wiring]:
        found = extract(benchmark.documents, kit.cache) if self.facts == "documents" else {}
        return {question.id: wiring(question, found) for question in benchmark.questions}

    def make(self, job: Wiring, kit: Kit, rejections: Sequence[Rejection]) -> Iterable[Draft]:
        question, steps = job.question, len(job.path.facts)
        if not steps:
            raise DataError(f"question {question.id}: it has no facts to rewire; build `annotate` from it first")
        done = rewire(job.told, self.k, range(steps) if self.how == "off_path" else ())
        if not done.moved:
            raise DataError(f"question {question.id}: no two of its facts can give each other their objects")
        asked = self.answered(job, done.graph)
        graph, steps = self.path_first(job, done.graph)
        written = {subject: self.written(subject, facts, job, kit) for subject, facts in by_subject(graph).items()}
        gold = dict.fromkeys(written[fact.subject].id for fact in graph.facts[:steps])
        told = {
            "parent": question.id,
            "graph": graph,
            "labels": {**asked.labels, "steps": steps, "moved": len(done.moved)},
            "evidence": tuple((Evidence(document_id=id),) for id in gold),
            "scope": tuple(document.id for document in written.values()),
            "hidden": (),
        }
        return [Draft(question=asked.model_copy(update=told), documents=tuple(written.values()))]

    def path_first(self, job: Wiring, rewired: ReasoningGraph) -> tuple[ReasoningGraph, int]:
        """The facts with those of the reasoning in front, and their number; recomputed, the reasoning takes others."""
        if self.how != "recompute":
            return rewired, len(job.path.facts)
        path = on_path(job.path, job.question.text, rewired)
        order = sorted(range(len(rewired.facts)), key=lambda place: (place not in path, place))
        return rewired.model_copy(update={"facts": tuple(rewired.facts[place] for place in order)}), len(path)

    def corpus(
        self, benchmark: Benchmark, jobs: Mapping[str, Wiring], kept: Sequence[Question], kit: Kit
    ) -> Iterable[Document]:
        return ()

    def answered(self, job: Wiring, rewired: ReasoningGraph) -> Question:
        """The question with the answer that counts now, and whether it follows from the facts."""
        question = job.question
        before, now = (execute(job.path, question.text, told) for told in (job.path, rewired))
        holds = now is not None and any(normalise(now) == normalise(it) for group in question.answers for it in group)
        if self.how == "recompute" and now is None:
            raise DataError(f"question {question.id}: rewired, its facts do not decide the answer")
        if self.how == "off_path" and before is not None and not holds:
            raise DataError(f"question {question.id}: rewired, its facts no longer lead to its answer")
        if self.how == "recompute" and not holds:
            update = {"answers": ((str(now),),), "remembered": question.remembered or question.answers}
            question, holds = question.model_copy(update=update), True
        follows = "yes" if holds else "no" if before is not None else "unknown"
        return question.model_copy(update={"labels": {**question.labels, "answer_follows": follows}})

    def written(self, subject: str, facts: Sequence[Fact], job: Wiring, kit: Kit) -> Document:
        """All that is told of one subject: by the generator, else fact by fact."""
        listed = Document(
            id="", title=subject, text=" ".join([f"{subject}." if subject else "", *map(line, facts)]).strip()
        )
        named = {end for fact in facts for end in (fact.subject, fact.object)}
        entities = [entity for entity in job.told.entities if entity.id in named]
        text = written_from_facts(facts, entities, listed, kit) if kit.generator else listed.text
        id = hashlib.sha256(f"{job.question.id}\x1f{subject}\x1f{text}".encode()).hexdigest()[:10]
        how = "from facts" if kit.generator else "by rule"
        return Document(id=f"w-{id}", title=subject, text=text, labels={"written": how})


def wiring(question: Question, found: Mapping[str, ReasoningGraph]) -> Wiring:
    """The facts of the question, then the others of its graph, then those of the documents that it may search."""
    own = question.graph or ReasoningGraph()
    graphs = [own, *(found[id] for id in question.scope if id in found)]
    steps = reasoning(question).facts
    path = graph_in_names([(fact, own.entities) for fact in steps])
    told = graph_in_names([(fact, graph.entities) for graph in graphs for fact in graph.facts])
    kinds = {entity.name: entity.type for graph in graphs for entity in graph.entities if entity.type}
    typed = tuple(it.model_copy(update={"type": it.type or kinds.get(it.name, "")}) for it in told.entities)
    return Wiring(
        question,
        path.model_copy(update={"operation": own.operation}),
        told.model_copy(update={"operation": own.operation, "entities": typed}),
    )


def by_subject(graph: ReasoningGraph) -> dict[str, list[Fact]]:
    found: dict[str, list[Fact]] = {}
    for fact in graph.facts:
        found.setdefault(fact.subject, []).append(fact)
    return found


def line(fact: Fact) -> str:
    """`Director: Ada Vell.`; a relation that is a question of its own asks about the subject."""
    relation = EARLIER_STEP.sub(fact.subject, fact.relation.rpartition(">>")[2]).strip()
    return f"{relation[:1].upper()}{relation[1:]}: {fact.object}."
