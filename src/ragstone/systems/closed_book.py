"""The model alone: what it scores is how much of the benchmark it knows by heart."""

from collections.abc import Sequence
from typing import ClassVar

from ragstone.kit import Answerer, Kit
from ragstone.systems.context import Context, ReadingSystem, need_reader
from ragstone.types import Answer, Document, Query


class ClosedBook(ReadingSystem):
    """Answers without documents; its score is the leakage error."""

    sees: ClassVar = "nothing"
    needs: ClassVar = ("reader",)

    def open(self, documents: Sequence[Document], kit: Kit) -> Answerer:
        need_reader(kit, self.name)

        def answer(query: Query) -> Answer:
            return self.read(query, Context(()), None, kit)

        return answer
