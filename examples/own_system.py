"""A system of your own: it sees a query and the documents, and nothing of the gold."""

from collections.abc import Sequence

import ragstone as rs


class LongestTitle(rs.System):
    """Retrieves the documents with the longest titles, whatever is asked: a baseline that should lose."""

    k: int = rs.identity(10, "documents to retrieve", ge=1)

    def open(self, documents: Sequence[rs.Document], kit: rs.Kit) -> rs.Answerer:
        longest = sorted(documents, key=lambda document: -len(document.title))

        def answer(query: rs.Query) -> rs.Answer:
            allowed = [document for document in longest if query.scope is None or document.id in query.scope]
            return rs.Answer(retrieved=tuple(rs.Passage(document_id=document.id) for document in allowed[: self.k]))

        return answer


run = rs.evaluate("sample", systems=[LongestTitle(), "bm25"], metrics=["recall@5"], corpus="pooled")
print(run.table())
