"""A benchmark that no model has seen, and a second draw of it in no time."""

import ragstone as rs

original = rs.load("sample")
bench = rs.build("reseed", original)
fresh = rs.draw(bench, draw=7)

before = {question.id: question for question in original.questions}
for first, second in list(zip(bench.questions, fresh.questions, strict=True))[:3]:
    for name, question in (("original", before[first.parent]), ("draw 0", first), ("draw 7", second)):
        print(f"{name:9} {question.text} {question.answers[0][0]}")
    print()

run = rs.evaluate(fresh, systems=["bm25", "dense"], metrics=["recall@5"], corpus="pooled")
print(run.table())
