"""The answer stands in the evidence, and the evidence stands in the documents."""

from typing import ClassVar, Literal

from ragstone.kit import Check, Kit, Model
from ragstone.matching import spelled_out, with_choices
from ragstone.prompts import quoted
from ragstone.retrieval.chunks import titled
from ragstone.text import canonical_tokens, contains_run
from ragstone.types import Document, Draft, Evidence, Question, Record, Verdict

COMPUTED = ("yes_no", "choice", "count")
"""Kinds of answer that follow from the evidence without standing in it."""


class Support(Record):
    """The judge's verdict; the reason comes first, so that the verdict follows from it."""

    reason: str
    verdict: Literal["supported", "unsupported"]


class Grounding(Check):
    """Rejects a question whose quotes are not verbatim, whose answer is not in its evidence documents, or, where there
    is a judge, whose quotes do not support the answer.
    """

    uses: ClassVar = ("judge",)
    prompts: ClassVar = ("grounding",)

    def check(self, draft: Draft, kit: Kit) -> Verdict:
        question = draft.question
        if not question.evidence and question.answerable:
            return Verdict(passed=False, reason="it has no evidence")
        for piece in (piece for group in question.evidence for piece in group):
            if problem := quote_problem(piece, kit.documents.get(piece.document_id)):
                return Verdict(passed=False, reason=problem)
        verdict = answer_verdict(question, kit)
        if verdict.passed and kit.judge and question.answerable and question.answers:
            return self.judged(question, kit, kit.judge)
        return verdict

    def judged(self, question: Question, kit: Kit, judge: Model) -> Verdict:
        """Whether the quotes alone support the answer: the first piece of each group, as of all any one is enough."""
        pieces = [group[0] for group in question.evidence if group]
        evidence = [shown(piece, kit.documents[piece.document_id]) for piece in pieces]
        documents = quoted([with_choices(question), spelled_out(question.answers), *evidence])
        support = judge.ask_for(Support, self.prompt("grounding").fill(documents=documents))
        if support.verdict == "supported":
            return Verdict(passed=True)
        return Verdict(passed=False, reason=f"its evidence does not support the answer: {support.reason}")


def shown(piece: Evidence, document: Document) -> str:
    """A piece of evidence with the title of its document, without which a quote may not say whom it is about."""
    return titled(document.title, piece.quote or document.text[piece.start : piece.end])


def quote_problem(piece: Evidence, document: Document | None) -> str:
    if document is None:
        return f"its evidence names document {piece.document_id}, which does not exist"
    place = document.text if piece.start is None else document.text[piece.start : piece.end]
    if piece.quote and (piece.quote not in place if piece.start is None else piece.quote != place):
        return f"its quote {piece.quote[:60]!r} is not in document {piece.document_id}"
    return ""


def answer_verdict(question: Question, kit: Kit) -> Verdict:
    if not question.answerable or not question.answers or question.labels.get("answer_kind") in COMPUTED:
        return Verdict(passed=True)
    read = [
        kit.documents[id] for id in dict.fromkeys(piece.document_id for group in question.evidence for piece in group)
    ]
    text = canonical_tokens("\n".join(f"{document.title}\n{document.text}" for document in read))
    for group in question.answers:
        if not any(contains_run(text, canonical_tokens(alias)) for alias in group):
            return Verdict(passed=False, reason=f"its answer {group[0]!r} is not in its evidence documents")
    return Verdict(passed=True)
