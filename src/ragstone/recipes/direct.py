"""Direct generation, SeedRG's baseline: a model is shown an item and writes another one. Nothing is filtered."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, ClassVar

from pydantic import Field, model_validator

from ragstone.kit import Kit, Recipe
from ragstone.llm.samples import WARM
from ragstone.matching import says_polarity
from ragstone.prompts import quoted
from ragstone.recipes.annotate import asked, gold_documents, model_of
from ragstone.retrieval.chunks import titled
from ragstone.text import content_id, fold
from ragstone.types import Benchmark, Document, Draft, Evidence, Question, Record, Rejection

REPLY = 4_096
Said = Annotated[str, Field(min_length=1)]


class Text(Record):
    title: str
    text: Said


class Item(Record):
    """What the model writes."""

    question: Said
    documents: Annotated[tuple[Text, ...], Field(min_length=1)]
    choices: tuple[str, ...]
    answer: Said
    reasoning: str

    @model_validator(mode="after")
    def the_answer_is_a_choice(self) -> "Item":
        if self.choices and self.answer not in self.choices:
            raise ValueError("the answer must be one of the choices, letter for letter")
        return self


class Direct(Recipe):
    """Asks for one new question with documents and answer for each of the source, by the paper's three instructions:
    same type of reasoning and difficulty, entirely different entities and facts, no answer without the documents.
    """

    needs: ClassVar = ("generator",)
    prompts: ClassVar = ("direct",)

    def plan(self, benchmark: Benchmark, kit: Kit) -> Mapping[str, Question]:
        return {question.id: question for question in benchmark.questions}

    def make(self, job: Question, kit: Kit, rejections: Sequence[Rejection]) -> Iterable[Draft]:
        texts = [titled(document.title, document.text) for document in gold_documents(job, kit).values()]
        number = len(job.choices)
        choices = f"Give {number} choices, one of which is the answer." if number else 'Leave "choices" empty.'
        prompt = self.prompt("direct").fill(documents=quoted([*asked(job), *texts]), choices=choices)
        sample = len(rejections)
        temperature = WARM if sample else 0.0
        item = model_of(kit).ask_for(Item, prompt, sample=sample, temperature=temperature, max_tokens=REPLY)
        documents = {content_id(it.title, it.text): it for it in item.documents}
        return [
            Draft(
                question=question_of(item, job, tuple(documents)),
                documents=tuple(Document(id=id, title=it.title, text=it.text) for id, it in documents.items()),
            )
        ]

    def corpus(
        self, benchmark: Benchmark, jobs: Mapping[str, Question], kept: Sequence[Question], kit: Kit
    ) -> Iterable[Document]:
        return ()


def question_of(item: Item, seed: Question, documents: tuple[str, ...]) -> Question:
    question = Question(
        id=f"{seed.id}-direct",
        text=item.question,
        answers=((item.answer,),),
        choices=item.choices,
        evidence=tuple((Evidence(document_id=id),) for id in documents),
        parent=seed.id,
        scope=documents,
    )
    labels = {"hops": len(documents), "answer_kind": kind_of(question), "reasoning": item.reasoning}
    return question.model_copy(update={"labels": labels})


def kind_of(question: Question) -> str:
    """As far as it matters to what a guess is worth."""
    if question.choices:
        return "choice"
    if says_polarity(question):
        return "yes_no"
    return "option" if fold(question.answers[0][0]) in fold(question.text) else "open"
