"""Reading texts without a model: what they name, what they say, and how questions reason."""

import sqlite3
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

import ragstone
from ragstone.errors import ConfigError
from ragstone.extract import extract, kept, question_graph, reading
from ragstone.extract.facts import sentences
from ragstone.extract.kinds import name_type, title_type
from ragstone.extract.processes import Reader, read_all
from ragstone.extract.reading import PIECE, Text, pieces, together
from ragstone.types import Document, Entity, Evidence, Fact, Question, ReasoningGraph

PORCARO = Document(
    id="jeff",
    title="Jeff Porcaro",
    text=(
        'Jeffrey Thomas "Jeff" Porcaro (April 1, 1954 – August 5, 1992) was an American drummer, songwriter and record '
        "producer. Porcaro is best known for his work with the rock band Toto. In 1983 he married the actress Susan "
        "Norris. "
        "He grew up in Los Angeles with his brother Steve Porcaro."
    ),
)


def graph_of(title: str, text: str) -> ReasoningGraph:
    return extract([Document(id="d", title=title, text=text)])["d"]


def entity(graph: ReasoningGraph, name: str) -> Entity:
    return next(it for it in graph.entities if name in (it.name, *it.forms))


# ── entities ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def porcaro() -> ReasoningGraph:
    return extract([PORCARO])["jeff"]


def test_the_title_is_the_first_entity_and_a_surname_means_it(porcaro: ReasoningGraph) -> None:
    first = porcaro.entities[0]
    assert (first.id, first.name, first.type, first.gender) == ("e1", "Jeff Porcaro", "person", "m")
    assert set(first.forms) == {'Jeffrey Thomas "Jeff" Porcaro', "Porcaro"}


def test_relatives_who_share_a_surname_stay_apart(porcaro: ReasoningGraph) -> None:
    assert entity(porcaro, "Steve Porcaro").id != "e1"


def test_genders_follow_the_words_beside_a_name(porcaro: ReasoningGraph) -> None:
    assert entity(porcaro, "Susan Norris").gender == "f"
    assert entity(porcaro, "Steve Porcaro").gender == "m"


def test_every_form_stands_in_the_text_letter_for_letter(porcaro: ReasoningGraph) -> None:
    for it in porcaro.entities[1:]:
        assert it.name in PORCARO.text
    assert all(form in PORCARO.text for it in porcaro.entities for form in it.forms)


def test_a_pronoun_tells_the_gender_of_an_unknown_name() -> None:
    graph = graph_of(
        "Zorvane Quill", "Zorvane Quill is a British novelist. She was born in Leeds, and her books sell well."
    )
    assert (graph.entities[0].type, graph.entities[0].gender) == ("person", "f")


def test_an_acronym_in_brackets_is_a_form() -> None:
    graph = graph_of("", "He joined the National Basketball Association (NBA) in 1990. The NBA was bigger then.")
    assert "NBA" in entity(graph, "National Basketball Association").forms


@pytest.mark.parametrize(
    ("title", "text", "type"),
    [
        ("Fire (1996 film)", "", "work"),
        ("Oshawa", "Oshawa is a city in Ontario, Canada, on the Lake Ontario shoreline.", "place"),
        ("Toto", "Toto is an American rock band formed in 1977 in Los Angeles.", "organisation"),
        ("Arvenda", "Arvenda is the debut studio album by the American singer Nell.", "work"),
        ("Len Hutton", "Sir Leonard Hutton was an English cricketer.", "person"),
        ("Hibiscus", "Hibiscus is a genus of flowering plants.", "other"),
    ],
)
def test_a_title_is_what_its_bracket_or_text_says(title: str, text: str, type: str) -> None:
    assert title_type(title, text) == type


@pytest.mark.parametrize(
    ("name", "label", "type"),
    [
        ("University of Central Florida", "", "organisation"),
        ("Lake Erie", "", "place"),
        ("Battle of Hastings", "ORG", "event"),
        ("Academy Award for Best Actor", "WORK_OF_ART", "award"),
        ("the Second World War", "", "event"),
        ("the United States", "GPE", "country"),
        ("Danish", "NORP", "nationality"),
        ("John Hill", "", "person"),
        ("H.F. Liebbe", "ORG", "person"),
        ("Derby County", "ORG", "organisation"),
        ("Derby County", "GPE", "place"),
        ("Archduke Karl Salvator", "ORG", "person"),
        ("Cleveland Indians", "NORP", "organisation"),
        ("Qwerx", "", "other"),
    ],
)
def test_a_name_tells_its_type_by_its_words_and_then_by_its_label(name: str, label: str, type: str) -> None:
    assert name_type(name, label) == type


# ── sentences and facts ──────────────────────────────────────────────────────────────────────────────────────────────


def test_abbreviations_do_not_end_a_sentence() -> None:
    text = "Dr. J. Smith met Mr. Lee in the U.S. Army. They left at noon! Was it St. Louis? Yes."
    assert [text[start:end] for start, end in sentences(text)] == [
        "Dr. J. Smith met Mr. Lee in the U.S. Army.",
        "They left at noon!",
        "Was it St. Louis?",
        "Yes.",
    ]


def test_a_fact_joins_the_title_with_what_its_sentences_name(porcaro: ReasoningGraph) -> None:
    toto = entity(porcaro, "Toto").id
    fact = next(fact for fact in porcaro.facts if fact.object == toto)
    assert fact.subject == "e1"
    assert "best known for his work with" in fact.relation
    (piece,) = fact.evidence
    assert piece.document_id == "jeff"
    assert PORCARO.text[piece.start : piece.end] == piece.quote
    assert "Toto" in piece.quote


# ── any text ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n ",
        "12345 67 %",
        "北京是中华人民共和国的首都，位于华北平原。",
        "ירושלים היא עיר הבירה של מדינת ישראל והעיר הגדולה ביותר בה.",
        "القاهرة هي عاصمة جمهورية مصر العربية وأكبر مدنها.",
        "Der Rhein ist ein Fluss, der durch die Schweiz und durch das Land fließt und der nicht mit dem Main "
        "verwechselt werden soll, weil die beiden Flüsse sich bei Mainz treffen und dann nach Norden fließen.",
    ],
)
def test_a_text_that_is_not_english_has_an_empty_graph(text: str) -> None:
    assert graph_of("X", text) == ReasoningGraph()


def test_half_a_character_breaks_nothing() -> None:
    assert entity(graph_of("", "Paul Smith lives in Berlin \ud800 with Anna Jones."), "Paul Smith").type == "person"


def test_long_texts_are_cut_between_sentences_and_nothing_is_lost() -> None:
    text = "Ann met Bob in Paris. " * 8_000
    cut = list(pieces(text))
    assert "".join(piece for _, piece in cut) == text
    assert all(len(piece) <= PIECE and text[start : start + len(piece)] == piece for start, piece in cut)
    assert all(piece.endswith((". ", ".")) for _, piece in cut)
    assert max(len(piece) for _, piece in pieces("x" * (2 * PIECE + 1))) == PIECE


def test_pieces_are_worked_on_in_groups_of_a_bounded_size() -> None:
    assert list(together(["aaa", "bb", "cccc", "d"], len, 5)) == [["aaa", "bb"], ["cccc", "d"]]
    assert list(together(["aaaaaaa", "b"], len, 5)) == [["aaaaaaa"], ["b"]]
    assert list(together([], len, 5)) == []


def test_offsets_hold_across_pieces() -> None:
    text = "The weather was fine that day. " * 2_000 + "Then Margaret Brown moved to Chicago."
    graph = graph_of("", text)
    (fact,) = [fact for fact in graph.facts if "moved to" in fact.relation]
    (piece,) = fact.evidence
    assert text[piece.start : piece.end] == piece.quote == "Then Margaret Brown moved to Chicago."


# ── processes and cache ──────────────────────────────────────────────────────────────────────────────────────────────


def test_without_the_packages_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    kept.rules.cache_clear()
    monkeypatch.setattr(kept, "version", missing)
    with pytest.raises(ConfigError, match=r"pip install 'ragstone\[names\]'"):
        extract(some(1))


def some(count: int) -> list[Document]:
    return [Document(id=f"d{n}", title="", text=f"Paul Smith number {n} lives in Berlin.") for n in range(count)]


def test_processes_read_as_this_process_does() -> None:
    documents = some(60)
    ticks: list[str] = []
    apart = extract(documents, workers=2, tick=lambda id, failed: ticks.append(id))
    assert apart == extract(documents, workers=1)
    assert sorted(ticks) == sorted(apart)
    assert list(apart) == [document.id for document in documents]


def test_a_process_that_dies_is_one_clear_error() -> None:
    with Reader() as reader:
        reader._process.kill()
        reader._process.wait()
        with pytest.raises(ConfigError, match="a process that reads texts has ended"):
            reader.read([Text("", "Paul Smith lives in Berlin.")])


def test_a_script_without_a_guard_may_use_processes(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from ragstone.extract import extract\nfrom ragstone.types import Document\n"
        "documents = [Document(id=str(n), text=f'Paul Smith {n} lives in Berlin.') for n in range(60)]\n"
        "print(len(extract(documents, workers=2)))\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "60"


def test_what_was_read_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [*some(3), Document(id="twin", text=some(1)[0].text)]
    first = extract(documents, tmp_path)
    monkeypatch.setattr(reading, "pipeline", lambda: pytest.fail("it was read again"))
    again = extract(documents, tmp_path)
    assert again == first
    assert again["twin"].facts[0].evidence[0].document_id == "twin"
    assert again["d0"].facts[0].evidence[0].document_id == "d0"


@pytest.mark.parametrize("damage", [b"no database at all" * 500, b""])
def test_a_damaged_cache_costs_only_time(tmp_path: Path, damage: bytes) -> None:
    first = extract(some(2), tmp_path)
    for path in tmp_path.glob(f"{kept.FILE}-*"):
        path.unlink()
    (tmp_path / kept.FILE).write_bytes(damage)
    assert extract(some(2), tmp_path) == first
    assert extract(some(2), tmp_path) == first
    assert len(kept.recall(tmp_path, [kept.key(Text("", it.text)) for it in some(2)])) == 2


def test_a_damaged_entry_is_read_anew(tmp_path: Path) -> None:
    first = extract(some(1), tmp_path)
    with sqlite3.connect(tmp_path / kept.FILE) as database:
        database.execute("UPDATE readings SET graph = ?", (b"nonsense",))
    database.close()
    assert extract(some(1), tmp_path) == first


def test_a_cache_that_cannot_be_written_is_gone_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert extract(some(1), tmp_path / "file") == extract(some(1))


def test_batches_are_read_in_order() -> None:
    texts = [Text("", f"Paul Smith {n} lives in Berlin.") for n in range(200)]
    assert [text for batch, _ in read_all(texts, 1) for text in batch] == texts


# ── questions ────────────────────────────────────────────────────────────────────────────────────────────────────────

FILM = Document(id="film", title="Dusk (film)", text="Dusk is a 1990 drama film directed by Mara Lind.")
LIND = Document(id="lind", title="Mara Lind", text="Mara Lind is a Swedish director. She was born in Malmo.")


def whole(document: Document) -> tuple[Evidence, ...]:
    return (Evidence(document_id=document.id, quote=document.text, start=0, end=len(document.text)),)


def test_supporting_sentences_become_a_chain_to_the_answer() -> None:
    question = Question(
        id="q",
        text="Where was the director of Dusk born?",
        answers=(("Malmo",),),
        evidence=(whole(FILM), whole(LIND)),
        labels={"type": "bridge"},
    )
    graph = question_graph(question, {"film": FILM, "lind": LIND})
    names = {it.id: it.name for it in graph.entities}
    told = [(names.get(f.subject, f.subject), names.get(f.object, f.object)) for f in graph.facts]
    assert graph.operation == "bridge"
    assert ("Dusk", "Mara Lind") in told
    assert told[-1] == ("Mara Lind", "Malmo")
    assert {it.name: (it.type, it.gender) for it in graph.entities if it.name in ("Dusk", "Mara Lind")} == {
        "Dusk": ("work", ""),
        "Mara Lind": ("person", "f"),
    }
    assert "born in" in graph.facts[-1].relation


def test_a_comparison_compares_the_dates_of_its_documents() -> None:
    dawn = Document(id="dawn", title="Dawn (film)", text="Dawn is a 1985 comedy film.")
    question = Question(
        id="q",
        text="Which film was released first, Dusk or Dawn?",
        answers=(("Dawn",),),
        evidence=(whole(FILM), whole(dawn)),
        labels={"type": "comparison", "answer_kind": "option"},
    )
    graph = question_graph(question, {"film": FILM, "dawn": dawn})
    assert graph.operation == "compare"
    assert [fact.object for fact in graph.facts] == ["1990", "1985"]


@pytest.mark.parametrize(
    ("text", "answer", "labels", "operation"),
    [
        ("Are Dusk and Mara Lind both Swedish?", "no", {"type": "comparison", "answer_kind": "yes_no"}, "boolean"),
        ("What nationality do Dusk and Mara Lind have in common?", "Swedish", {"type": "comparison"}, "intersect"),
        ("How many films did Mara Lind direct?", "1", {"type": "bridge", "answer_kind": "number"}, "count"),
        ("Who is older, Mara Lind or Tom Lind?", "Mara Lind", {}, "compare"),
        ("Where was the director of Dusk born?", "Malmo", {}, "bridge"),
    ],
)
def test_the_operation_follows_from_the_question(
    text: str, answer: str, labels: dict[str, str | int], operation: str
) -> None:
    question = Question(id="q", text=text, answers=((answer,),), evidence=(whole(FILM), whole(LIND)), labels=labels)
    assert question_graph(question, {"film": FILM, "lind": LIND}).operation == operation


def test_a_graph_of_the_source_keeps_its_facts_and_gets_types_and_evidence() -> None:
    given = ReasoningGraph(
        entities=(Entity(id="e1", name="Dusk"), Entity(id="e2", name="Mara Lind")),
        facts=(Fact(subject="e1", relation="director", object="e2"),),
        operation="bridge",
    )
    question = Question(id="q", text="Who directed Dusk?", evidence=(whole(FILM),), graph=given)
    graph = question_graph(question, {"film": FILM, "lind": LIND})
    assert [(it.name, it.type) for it in graph.entities] == [("Dusk", "work"), ("Mara Lind", "person")]
    assert graph.facts[0].model_copy(update={"evidence": ()}) == given.facts[0]
    assert graph.facts[0].evidence == whole(FILM)
    assert graph.operation == "bridge"


def test_a_question_without_gold_documents_still_has_its_names() -> None:
    graph = question_graph(Question(id="q", text="Where was Mara Lind born?", answers=(("Malmo",),)), {})
    assert {it.name for it in graph.entities} == {"Mara Lind", "Malmo"}
    assert (graph.facts, graph.operation) == ((), "")


# ── real data ────────────────────────────────────────────────────────────────────────────────────────────────────────

SETS = [
    "hotpotqa/hotpot_dev_distractor_sample.json",
    "2wikimultihopqa/dev_sample.json",
    "musique/musique_ans_v1.0_dev_sample.jsonl",
]


@pytest.mark.parametrize("name", SETS)
def test_every_real_question_gets_a_graph_whose_evidence_is_verbatim(data: Path, name: str) -> None:
    source = ragstone.load(data / name)
    documents = {document.id: document for document in source.documents}
    answered = 0
    for question in source.questions:
        graph = question_graph(question, documents)
        assert graph.operation
        assert all(it.type for it in graph.entities)
        for piece in (piece for fact in graph.facts for piece in fact.evidence):
            assert piece.start is None or documents[piece.document_id].text[piece.start : piece.end] == piece.quote
        answered += bool(graph.facts)
    assert answered > 0.95 * len(source.questions)


def test_real_passages_have_verbatim_names_and_places(data: Path) -> None:
    documents = ragstone.load(data / SETS[0]).documents[:120]
    found = extract(documents, workers=1)
    for document in documents:
        graph = found[document.id]
        known = {it.id for it in graph.entities}
        assert all(form in document.text for it in graph.entities for form in it.forms)
        assert all(it.name in document.text for it in graph.entities[1:])
        assert all(fact.subject in known for fact in graph.facts)
        for (piece,) in (fact.evidence for fact in graph.facts):
            assert document.text[piece.start : piece.end] == piece.quote
    assert sum(len(graph.entities) for graph in found.values()) > 5 * len(documents)
