"""The answer stands in the evidence, and the evidence stands in the documents."""

from ragstone.kit import Check, Kit
from ragstone.text import canonical_tokens, contains_run
from ragstone.types import Document, Draft, Evidence, Question, Verdict

COMPUTED = ("yes_no", "choice", "count")
"""Kinds of answer that follow from the evidence without standing in it."""


class Grounding(Check):
    """Rejects a question whose quotes are not verbatim or whose answer is not in its evidence documents."""

    def check(self, draft: Draft, kit: Kit) -> Verdict:
        question = draft.question
        if not question.evidence and question.answerable:
            return Verdict(passed=False, reason="it has no evidence")
        for piece in (piece for group in question.evidence for piece in group):
            if problem := quote_problem(piece, kit.documents.get(piece.document_id)):
                return Verdict(passed=False, reason=problem)
        return answer_verdict(question, kit)


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
    read = [kit.documents[piece.document_id] for group in question.evidence for piece in group]
    text = canonical_tokens("\n".join(f"{document.title}\n{document.text}" for document in read))
    for group in question.answers:
        if not any(contains_run(text, canonical_tokens(alias)) for alias in group):
            return Verdict(passed=False, reason=f"its answer {group[0]!r} is not in its evidence documents")
    return Verdict(passed=True)
