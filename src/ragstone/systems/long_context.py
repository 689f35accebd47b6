"""No retrieval: every document that the question may use goes to the reader."""

from collections.abc import Sequence
from typing import ClassVar

from ragstone.kit import Answerer, Kit, identity
from ragstone.systems.context import ReadingSystem, need_reader, whole, without_middle
from ragstone.types import Answer, Document, Query


class LongContext(ReadingSystem):
    """Reads all documents in scope; what exceeds the budget is cut from the middle and counted."""

    needs: ClassVar = ("reader",)

    context_budget: int | None = identity(100_000, "tokens of context for the reader; none: no limit", ge=1)

    def open(self, documents: Sequence[Document], kit: Kit) -> Answerer:
        need_reader(kit, self.name)
        by_id = {document.id: document for document in documents}

        def answer(query: Query) -> Answer:
            ids = by_id if query.scope is None else query.scope
            context = without_middle([whole(by_id[id]) for id in ids], self.context_budget)
            return self.read(query, context, None, kit)

        return answer
