"""Each question format, read from a small example whose every value is worked out by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.load import load
from ragstone.sources.questions import answer_kind
from ragstone.types import Benchmark, Evidence


def saved(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def saved_lines(path: Path, values: list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values), encoding="utf-8")
    return path


def quotes(benchmark: Benchmark, number: int = 0) -> list[list[str]]:
    """What stands in the documents at a question's evidence."""
    texts = {document.id: document.text for document in benchmark.documents}
    evidence = benchmark.questions[number].evidence
    return [[texts[piece.document_id][piece.start : piece.end] for piece in group] for group in evidence]


HOTPOT = {
    "_id": "h1",
    "question": "Who leads the band of Ann Low?",
    "answer": "Bo Hill",
    "type": "bridge",
    "level": "hard",
    "supporting_facts": [["Ann Low", 1], ["The Reeds", 0]],
    "context": [
        ["Ann Low", ["Ann Low is a drummer.", " She plays in The Reeds."]],
        ["The Reeds", ["The Reeds are led by Bo Hill."]],
        ["Reed", ["A reed is a plant.", " It grows by water."]],
    ],
}

TWO_WIKI = {
    "_id": "w1",
    "question": "Which film's director died first, Dust or Rain?",
    "answer": "Rain",
    "type": "bridge_comparison",
    "supporting_facts": [["Dust", 0], ["Ida Moor", 1]],
    "context": [
        ["Dust", ["Dust is a film by Ida Moor.", "It is silent."]],
        ["Ida Moor", ["Ida Moor made films.", "She died on 3 May 1950."]],
    ],
    "evidences": [["Dust", "director", "Ida Moor"], ["Ida Moor", "date of death", "3 May 1950"]],
}


# ── HotpotQA ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_hotpotqa_record_becomes_a_question_with_quoted_sentences(tmp_path: Path) -> None:
    benchmark = load(saved(tmp_path / "hotpot.json", [HOTPOT]))
    question = benchmark.questions[0]
    assert (question.id, question.answers) == ("h1", (("Bo Hill",),))
    assert quotes(benchmark) == [["She plays in The Reeds."], ["The Reeds are led by Bo Hill."]]
    assert benchmark.documents[0].text == "Ann Low is a drummer. She plays in The Reeds."
    assert question.scope == tuple(document.id for document in benchmark.documents)
    assert question.labels == {"type": "bridge", "level": "hard", "hops": 2, "answer_kind": "open"}
    assert question.graph is None
    assert (benchmark.about.name, benchmark.about.licences) == ("HotpotQA", ("CC BY-SA 4.0",))


def test_identical_passages_of_two_questions_become_one_document(tmp_path: Path) -> None:
    benchmark = load(saved(tmp_path / "hotpot.json", [HOTPOT, HOTPOT | {"_id": "h2"}]))
    assert len(benchmark.documents) == 3
    assert benchmark.questions[0].scope == benchmark.questions[1].scope
    assert benchmark.about.notes == ("6 passages pooled to 3: identical ones are merged",)


def test_a_supporting_sentence_out_of_range_leaves_the_whole_paragraph_as_evidence(tmp_path: Path) -> None:
    benchmark = load(saved(tmp_path / "hotpot.json", [HOTPOT | {"supporting_facts": [["Reed", 7], ["Ann Low", 0]]}]))
    assert benchmark.questions[0].evidence[0] == (Evidence(document_id=benchmark.documents[2].id),)
    assert quotes(benchmark)[1] == ["Ann Low is a drummer."]
    assert "1 supporting facts name no sentence" in benchmark.about.notes[0]


def test_the_column_form_of_data_set_hubs_gives_the_same_questions(tmp_path: Path) -> None:
    columns = {
        "supporting_facts": {"title": ["Ann Low", "The Reeds"], "sent_id": [1, 0]},
        "context": {
            "title": [title for title, _ in HOTPOT["context"]],
            "sentences": [sentences for _, sentences in HOTPOT["context"]],
        },
    }
    official = load(saved(tmp_path / "official.json", [HOTPOT]))
    assert load(saved_lines(tmp_path / "hub.jsonl", [HOTPOT | columns])) == official


@pytest.mark.parametrize(
    ("answer", "question", "kind"),
    [
        ("Yes", "", "yes_no"),
        ("no.", "", "yes_no"),
        ("Dust", "Which is older, Dust or Rain?", "option"),
        ("1984", "", "date"),
        ("3 May 1950", "", "date"),
        ("October 27, 2002", "", "date"),
        ("3,677", "", "number"),
        ("$1.5 million", "", "number"),
        ("May", "", "open"),
        ("4 Non Blondes", "", "open"),
    ],
)
def test_the_kind_of_an_answer_shows_in_its_form(answer: str, question: str, kind: str) -> None:
    assert answer_kind(answer, question) == kind


# ── 2WikiMultihopQA ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_2wiki_record_has_its_triples_as_a_graph_with_dates_as_literals(tmp_path: Path) -> None:
    benchmark = load(saved(tmp_path / "dev.json", [TWO_WIKI]))
    graph = benchmark.questions[0].graph
    assert benchmark.about.name == "2WikiMultihopQA"
    assert graph is not None
    assert {entity.id: entity.name for entity in graph.entities} == {"e1": "Dust", "e2": "Ida Moor"}
    assert [(fact.subject, fact.relation, fact.object) for fact in graph.facts] == [
        ("e1", "director", "e2"),
        ("e2", "date of death", "3 May 1950"),
    ]
    assert graph.operation == "bridge_compare"
    assert benchmark.questions[0].labels["answer_kind"] == "option"


def test_sentences_without_leading_spaces_are_joined_with_one(tmp_path: Path) -> None:
    benchmark = load(saved(tmp_path / "dev.json", [TWO_WIKI]))
    assert benchmark.documents[1].text == "Ida Moor made films. She died on 3 May 1950."
    assert quotes(benchmark) == [["Dust is a film by Ida Moor."], ["She died on 3 May 1950."]]


def test_2wiki_with_its_lists_as_json_strings_reads_the_same(tmp_path: Path) -> None:
    strings = {name: json.dumps(TWO_WIKI[name]) for name in ("context", "supporting_facts", "evidences")}
    official = load(saved(tmp_path / "official.json", [TWO_WIKI]))
    assert load(saved(tmp_path / "strings.json", [TWO_WIKI | strings])) == official


# ── MuSiQue ──────────────────────────────────────────────────────────────────────────────────────────────────────────

MUSIQUE = {
    "id": "2hop__1_2",
    "question": "Where was the author of Salt born?",
    "answer": "Bern",
    "answer_aliases": ["Berne"],
    "answerable": True,
    "paragraphs": [
        {"idx": 0, "title": "Salt", "paragraph_text": "Salt is a novel. It was written by Eva Kern. Kern liked it."},
        {"idx": 1, "title": "Eva Kern", "paragraph_text": "Born in Bern, Kern left Bern. She never saw Bern again."},
    ],
    "question_decomposition": [
        {"id": 1, "question": "Salt >> author", "answer": "Eva Kern", "paragraph_support_idx": 0},
        {"id": 2, "question": "Where was #1 born?", "answer": "Bern", "paragraph_support_idx": 1},
    ],
}


def test_a_musique_step_is_quoted_where_just_one_sentence_has_its_answer(tmp_path: Path) -> None:
    benchmark = load(saved_lines(tmp_path / "musique.jsonl", [MUSIQUE]))
    question = benchmark.questions[0]
    assert question.answers == (("Bern", "Berne"),)
    assert quotes(benchmark)[0] == ["It was written by Eva Kern."]
    assert question.evidence[1] == (Evidence(document_id=benchmark.documents[1].id),)
    assert question.labels == {"type": "2hop", "hops": 2, "answer_kind": "open"}


def test_musique_steps_that_build_on_each_other_form_a_chain(tmp_path: Path) -> None:
    graph = load(saved_lines(tmp_path / "musique.jsonl", [MUSIQUE])).questions[0].graph
    assert graph is not None
    assert [entity.name for entity in graph.entities] == ["Salt", "Eva Kern", "Bern"]
    assert [(fact.subject, fact.relation, fact.object) for fact in graph.facts] == [
        ("e1", "Salt >> author", "e2"),
        ("e2", "Where was #1 born?", "e3"),
    ]


def test_the_unanswerable_twin_of_musique_full_keeps_the_answer_and_gets_its_own_id(tmp_path: Path) -> None:
    steps = [
        MUSIQUE["question_decomposition"][0],  # type: ignore[index]
        {"question": "Where was #1 born?", "answer": "Bern", "paragraph_support_idx": None},
    ]
    twin = MUSIQUE | {"answerable": False, "paragraphs": MUSIQUE["paragraphs"][:1], "question_decomposition": steps}  # type: ignore[index]
    answerable, unanswerable = load(saved_lines(tmp_path / "full.jsonl", [MUSIQUE, twin])).questions
    assert answerable.answerable
    assert not unanswerable.answerable
    assert (unanswerable.id, unanswerable.parent) == ("2hop__1_2-unanswerable", "2hop__1_2")
    assert unanswerable.answers == (("Bern", "Berne"),)
    assert len(unanswerable.evidence) == 1


# ── QASC ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

QASC = {
    "id": "q1",
    "question": {
        "stem": "What melts?",
        "choices": [{"text": "ice", "label": "A"}, {"text": "air", "label": "B"}],
    },
    "answerKey": "A",
    "fact1": "Heat melts frozen water.",
    "fact2": "Ice is frozen water.",
}


def test_a_qasc_answer_is_the_text_of_the_option_and_its_facts_are_the_corpus(tmp_path: Path) -> None:
    second = QASC | {"id": "q2", "answerKey": "B"}
    benchmark = load(saved_lines(tmp_path / "dev.jsonl", [QASC, second]))
    question = benchmark.questions[0]
    assert question.answers == (("ice",),)
    assert question.choices == ("ice", "air")
    assert [document.text for document in benchmark.documents] == ["Heat melts frozen water.", "Ice is frozen water."]
    assert [group[0].document_id for group in question.evidence] == [document.id for document in benchmark.documents]
    assert question.scope == ()
    assert benchmark.questions[1].answers == (("air",),)


# ── MultiHop-RAG ─────────────────────────────────────────────────────────────────────────────────────────────────────

QUERIES = [
    {
        "query": "Do A and B agree on the merger?",
        "answer": "Yes",
        "question_type": "comparison_query",
        "evidence_list": [{"fact": "The firm's “merger” was agreed."}, {"fact": "Nobody wrote this."}],
    },
    {
        "query": "What did C say?",
        "answer": "Insufficient information.",
        "question_type": "null_query",
        "evidence_list": [],
    },
]


def test_multihop_rag_facts_are_found_by_letters_and_digits_and_quoted_as_the_corpus_has_them(tmp_path: Path) -> None:
    saved(tmp_path / "MultiHopRAG.json", QUERIES)
    chunks = ["Straße 1. The firms merger - was agreed - at last.", "Other.", 'Again: the firm\'s "merger" was agreed.']
    saved_lines(tmp_path / "corpus_chunks.jsonl", [{"id": f"c{n}", "text": text} for n, text in enumerate(chunks)])
    benchmark = load(tmp_path)
    question = benchmark.questions[0]
    assert quotes(benchmark) == [["The firms merger - was agreed", 'the firm\'s "merger" was agreed']]
    assert [piece.document_id for piece in question.evidence[0]] == ["c0", "c2"]
    assert question.answers == (("yes",),)
    assert question.labels == {"type": "comparison", "hops": 2, "answer_kind": "yes_no", "evidence": "partial"}
    assert benchmark.about.notes == (
        "1 of 2 evidence facts found in the corpus; 0 of 1 answerable queries fully covered",
    )


def test_a_null_query_is_unanswerable_and_has_no_answer(tmp_path: Path) -> None:
    article = {"title": "News", "source": "A", "body": "The firm's merger was agreed.", "author": None}
    saved(tmp_path / "corpus.json", [article])
    benchmark = load(saved(tmp_path / "MultiHopRAG.json", QUERIES))
    question = benchmark.questions[1]
    assert (question.answerable, question.answers, question.evidence) == (False, (), ())
    assert benchmark.documents[0].title == "News"
    assert benchmark.documents[0].labels == {"source": "A"}
    assert quotes(benchmark) == [["The firm's merger was agreed"]]


def test_a_fact_among_letters_that_unicode_composes_has_the_whole_document_as_evidence(tmp_path: Path) -> None:
    saved(tmp_path / "MultiHopRAG.json", QUERIES[:1])
    text = "\u1112\u1161\u11ab: the firm's merger was agreed."
    saved_lines(tmp_path / "corpus_chunks.jsonl", [{"id": "c0", "text": text}])
    assert load(tmp_path).questions[0].evidence == ((Evidence(document_id="c0"),),)


# ── HawkBench ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_hawkbench_question_may_search_its_own_text_only(tmp_path: Path) -> None:
    row = {"_id": "k1", "input": "Who sails?", "answers": ["Ned"], "context_id": "t1", "label": "novel", "type": 2}
    saved_lines(tmp_path / "level_2" / "novel.jsonl", [row])
    saved(tmp_path / "all_context.json", {"t1": {"context": "Ned sails.", "domain": "novel", "meta": {}}})
    benchmark = load(tmp_path)
    assert benchmark.questions[0].scope == ("t1",)
    assert benchmark.questions[0].labels == {"level": "L2", "domain": "novel", "answer_kind": "open"}
    assert benchmark.documents[0].text == "Ned sails."


# ── BEIR and TREC ────────────────────────────────────────────────────────────────────────────────────────────────────


def collection(folder: Path) -> Path:
    saved_lines(folder / "corpus.jsonl", [{"_id": f"d{n}", "title": "T", "text": f"Text {n}"} for n in range(3)])
    return folder


def test_a_beir_folder_gives_a_group_of_evidence_for_each_relevant_document(tmp_path: Path) -> None:
    collection(tmp_path)
    saved_lines(tmp_path / "queries.jsonl", [{"_id": f"q{n}", "text": f"Query {n}"} for n in range(3)])
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\nq2\td0\t1\n")
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq0\td0\t2\nq0\td2\t1\nq1\td1\t0\n")
    benchmark = load(tmp_path)
    assert [(question.id, question.answers) for question in benchmark.questions] == [("q0", ())]
    assert [[piece.document_id for piece in group] for group in benchmark.questions[0].evidence] == [["d0"], ["d2"]]
    assert benchmark.about.notes == (
        "relevance from qrels/test.tsv",
        "2 queries without a relevant document in it left out: they cannot be scored",
    )
    assert [question.id for question in load(tmp_path, format="beir(split=train)").questions] == ["q2"]


@pytest.mark.parametrize(
    "topics",
    [
        "q0\tFirst query\nq1\tSecond query\n",
        "<top>\n<num> Number: q0\n<title> First\n query\n<desc> More\n</top>\n"
        "<top>\n<num>q1</num><title>Second query</title>\n</top>\n",
    ],
    ids=["tabs", "trec"],
)
def test_a_trec_collection_reads_topics_and_qrels_of_four_columns(tmp_path: Path, topics: str) -> None:
    collection(tmp_path)
    (tmp_path / "topics.txt").write_text(topics)
    (tmp_path / "qrels.txt").write_text("q0 0 d1 1\nq1 0 d2 1\nq1 0 d0 0\n")
    questions = load(tmp_path).questions
    assert [(question.id, question.text) for question in questions] == [("q0", "First query"), ("q1", "Second query")]
    assert [question.evidence[0][0].document_id for question in questions] == ["d1", "d2"]
