"""A metric of your own, beside the built-in ones."""

import ragstone as rs


class FirstHit(rs.Metric):
    """1 if the very first passage is from an evidence document."""

    reads = "retrieved"

    def score(self, question: rs.Question, answer: rs.Answer, kit: rs.Kit) -> rs.Score | None:
        if not answer.retrieved:
            return None
        gold = {piece.document_id for group in question.evidence for piece in group}
        return rs.Score(value=float(answer.retrieved[0].document_id in gold))


run = rs.evaluate("sample", systems=["bm25", "hybrid"], metrics=[FirstHit(), "recall@5"], corpus="pooled")
print(run.table())
