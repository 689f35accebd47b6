"""Perfect retrieval: the upper bound that shows what the reader can do with the right documents."""

from collections.abc import Sequence
from typing import ClassVar

from ragstone.kit import Answerer, Kit, identity
from ragstone.systems.context import ReadingSystem, first_that_fit, whole
from ragstone.types import Answer, Document, Passage, Query


class Oracle(ReadingSystem):
    """Reads just the evidence documents; its score is the upper bound."""

    sees: ClassVar = "evidence"
    uses: ClassVar = ("reader",)

    context_budget: int | None = identity(None, "tokens of context for the reader; none: no limit", ge=1)

    def open(self, documents: Sequence[Document], kit: Kit) -> Answerer:
        by_id = {document.id: document for document in documents}

        def answer(query: Query) -> Answer:
            found = [by_id[id] for id in query.scope or ()]
            context = first_that_fit([whole(document) for document in found], self.context_budget)
            return self.read(query, context, tuple(Passage(document_id=document.id) for document in found), kit)

        return answer
