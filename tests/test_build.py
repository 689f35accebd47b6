"""Building: what is planned is kept, rejected or failed, and the concurrency does not change the result."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.build import build
from ragstone.checks.duplicates import Duplicates
from ragstone.checks.grounding import Grounding
from ragstone.config import Settings
from ragstone.errors import ConfigError, DataError, ModelError
from ragstone.kit import Check, Kit, Recipe, identity
from ragstone.recipes.sample import Sample, shares
from ragstone.store import load_benchmark
from ragstone.types import About, Benchmark, Document, Draft, Evidence, Question, Rejection, Verdict


def benchmark_of(n: int) -> Benchmark:
    """Questions that differ in every word, half of each kind, each with a document of its own."""
    documents = tuple(Document(id=f"d{i}", text=f"fact{i} holds{i}") for i in range(n))
    questions = tuple(
        Question(
            id=f"q{i:03}",
            text=f"what{i} is{i} it{i}",
            answers=((f"fact{i}",),),
            evidence=((Evidence(document_id=f"d{i}"),),),
            scope=(f"d{i}",),
            labels={"kind": "odd" if i % 2 else "even"},
        )
        for i in range(n)
    )
    return Benchmark(documents=documents, questions=questions)


# ── the sample recipe ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_sample_keeps_the_proportions_of_the_labels(settings: Settings) -> None:
    built = build("sample", benchmark_of(40), n=10, by="kind", settings=settings)
    assert Counter(question.labels["kind"] for question in built.questions) == {"even": 5, "odd": 5}


def test_a_sample_takes_only_its_own_documents_unless_told_otherwise(settings: Settings) -> None:
    own = build("sample", benchmark_of(40), n=10, settings=settings)
    everything = build("sample", benchmark_of(40), n=10, documents="all", settings=settings)
    assert len(own.documents) == 10
    assert len(everything.documents) == 40
    assert own.questions == everything.questions


def test_another_draw_is_another_sample_and_the_same_draw_the_same(settings: Settings) -> None:
    drawn = [build("sample", benchmark_of(100), n=10, draw=draw, settings=settings).questions for draw in (1, 1, 2)]
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]


def test_a_label_that_no_question_has_is_an_error_that_lists_the_labels(settings: Settings) -> None:
    with pytest.raises(ConfigError, match=r"no question has a label 'colour'; there are kind"):
        build("sample", benchmark_of(4), n=2, by="colour", settings=settings)


@given(st.lists(st.integers(1, 50), min_size=1, max_size=8), st.data())
def test_shares_add_up_and_never_exceed_what_is_there(sizes: list[int], data: st.DataObject) -> None:
    n = data.draw(st.integers(1, sum(sizes)))
    split = shares(sizes, n)
    assert sum(split) == n
    assert all(part <= size for part, size in zip(split, sizes, strict=True))
    assert all(abs(part - size * n / sum(sizes)) < 1 for part, size in zip(split, sizes, strict=True))


def test_a_sample_larger_than_the_whole_is_refused(settings: Settings) -> None:
    with pytest.raises(ConfigError, match="n=5 asks for more than the 4 questions there are"):
        build("sample", benchmark_of(4), n=5, settings=settings)


def test_a_rejected_question_is_replaced_by_its_reserve_so_that_the_number_asked_for_is_met(settings: Settings) -> None:
    source = benchmark_of(40)
    broken = [
        q.model_copy(update={"answers": (("nowhere",),)}) if i % 4 == 0 else q for i, q in enumerate(source.questions)
    ]
    built = build("sample", source.model_copy(update={"questions": tuple(broken)}), n=10, attempts=9, settings=settings)
    counts = built.steps[-1].counts
    assert len(built.questions) == 10
    assert counts["rejected"] == len(built.rejected) > 0
    assert all(
        entry.value.reason == "its answer 'nowhere' is not in its evidence documents" for entry in built.rejected
    )


# ── the driver ───────────────────────────────────────────────────────────────────────────────────────────────────────


class Numbered(Recipe):
    """Makes one question a job; its answer names the attempt."""

    jobs: int = identity(6, "how many")

    def plan(self, benchmark: Benchmark, kit: Kit) -> Mapping[str, int]:
        return {f"job{n}": n for n in range(self.jobs)}

    def make(self, job: int, kit: Kit, rejections: Sequence[Rejection]) -> Iterable[Draft]:
        if job == 5:
            raise ModelError("the model is out")
        document = Document(id=f"made{job}", text="text")
        question = Question(id=f"q{job}", text=f"question {job} " * 3, answers=((f"try {len(rejections)}",),))
        evidence = ((Evidence(document_id=document.id),),)
        yield Draft(question=question.model_copy(update={"evidence": evidence}), documents=(document,))


class Picky(Check):
    """Job 1 passes at its third attempt, job 2 never."""

    def check(self, draft: Draft, kit: Kit) -> Verdict:
        tried = draft.question.answers[0][0]
        passed = draft.question.id != "q2" and (draft.question.id != "q1" or tried == "try 2")
        assert draft.documents[0].id in kit.documents
        return Verdict(passed=passed, reason="" if passed else f"not {tried}")


class FirstHalf(Check):
    """A comparing check: passes while fewer than two are kept."""

    across: ClassVar = True

    def check(self, draft: Draft, kit: Kit) -> Verdict:
        return Verdict(passed=len(kit.kept) < 2, reason="enough")


def made(settings: Settings, checks: Sequence[Check], **options: Any) -> Benchmark:
    source = Benchmark(documents=(Document(id="base", text="t"),))
    return build(Numbered(), source, checks=checks, settings=settings, **options)


def test_every_job_is_kept_exhausted_or_failed_and_every_draft_kept_or_rejected(settings: Settings) -> None:
    built = made(settings, [Picky()])
    counts = built.steps[-1].counts
    assert counts == {"planned": 6, "exhausted": 1, "failed": 1, "drafted": 9, "kept": 4, "rejected": 5}
    assert [question.id for question in built.questions] == ["q0", "q1", "q3", "q4"]
    assert [entry.value.reason for entry in built.rejected] == ["not try 0", "not try 1"] + [
        f"not try {n}" for n in range(3)
    ]
    assert [(failure.item_id, failure.error) for failure in built.failures] == [("job5", "the model is out")]


def test_drafts_bring_their_documents_and_the_input_keeps_its_own(settings: Settings) -> None:
    assert [document.id for document in made(settings, []).documents] == ["base", *(f"made{n}" for n in range(5))]


@pytest.mark.parametrize("concurrency", [1, 2, 8])
def test_comparing_checks_see_what_was_kept_before_in_the_order_of_the_plan(
    settings: Settings, concurrency: int
) -> None:
    built = made(settings.model_copy(update={"concurrency": concurrency}), [Picky(), FirstHalf()])
    assert [question.id for question in built.questions] == ["q0", "q1"]


def test_the_same_order_is_not_built_twice_and_another_never_overwrites_it(settings: Settings, tmp_path: Path) -> None:
    first = build("sample", benchmark_of(10), out=tmp_path / "b", n=4, settings=settings)
    before = (tmp_path / "b" / "manifest.json").stat().st_mtime_ns
    assert build("sample", benchmark_of(10), out=tmp_path / "b", n=4, settings=settings) == first
    assert (tmp_path / "b" / "manifest.json").stat().st_mtime_ns == before
    with pytest.raises(ConfigError, match="holds another benchmark already"):
        build("sample", benchmark_of(10), out=tmp_path / "b", n=5, settings=settings)
    assert load_benchmark(tmp_path / "b") == first


def test_a_recipe_that_finds_nothing_says_so(settings: Settings) -> None:
    with pytest.raises(DataError, match="found nothing to make"):
        build("sample", Benchmark(documents=(Document(id="d", text="t"),)), settings=settings)


def test_a_chain_of_recipes_is_told_step_by_step(settings: Settings) -> None:
    once = build("sample", benchmark_of(20), n=10, settings=settings)
    twice = build("sample", once, n=5, draw=3, settings=settings)
    assert [(step.recipe, step.draw) for step in twice.steps] == [("sample(n=10)", 0), ("sample(n=5)", 3)]


def test_what_is_noted_of_the_source_is_not_claimed_of_the_sample(settings: Settings) -> None:
    noted = benchmark_of(8).model_copy(update={"about": About(notes=("8 of 8 found",))})
    once = build("sample", noted, n=4, settings=settings)
    twice = build("sample", once, n=2, settings=settings)
    assert once.about.notes == twice.about.notes == ("in the source: 8 of 8 found",)


def test_a_check_without_its_model_is_not_run_and_the_card_says_so(settings: Settings, tmp_path: Path) -> None:
    class Judged(Picky):
        """Needs a judge."""

        needs: ClassVar = ("judge",)

    with pytest.raises(ConfigError, match="judged needs a model as judge"):
        build(Numbered(), benchmark_of(1), checks=[Judged()], settings=settings)
    built = build(Numbered(), benchmark_of(1), checks=[Judged()], lenient=True, out=tmp_path / "b", settings=settings)
    assert built.steps[-1].not_run == {"judged": "no model is set for the role judge"}
    assert "Not run: judged (no model is set for the role judge)" in (tmp_path / "b" / "README.md").read_text("utf-8")


class Twins(Numbered):
    """Makes the same question twice in one job."""

    def make(self, job: int, kit: Kit, rejections: Sequence[Rejection]) -> Iterable[Draft]:
        for letter in "ab":
            yield Draft(question=Question(id=f"{letter}{job}", text=f"what is number {job}", answers=(("x",),)))


def test_drafts_of_one_job_are_compared_with_each_other(settings: Settings) -> None:
    built = build(Twins(jobs=2), benchmark_of(1), checks=["duplicates"], settings=settings)
    assert [question.id for question in built.questions] == ["a0", "a1"]
    assert [entry.question_id for entry in built.rejected] == ["b0", "b1"]


class Shaky(Check):
    """Rejects the first draft of a job and fails on its second, until it is mended."""

    mended: ClassVar[bool] = False

    def check(self, draft: Draft, kit: Kit) -> Verdict:
        if draft.question.id.startswith("b") and not self.mended:
            raise ModelError("no verdict")
        return Verdict(passed=draft.question.id.startswith("b"), reason="the first")


def test_an_error_in_a_check_keeps_what_was_judged_and_holds_back_the_rest(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(retry_failed: bool) -> Benchmark:
        out = tmp_path / "b"
        return build(
            Twins(jobs=2), benchmark_of(1), checks=[Shaky()], out=out, settings=settings, retry_failed=retry_failed
        )

    failed = make(False)
    assert failed.steps[-1].counts == {
        "planned": 2, "exhausted": 0, "failed": 2, "drafted": 2, "kept": 0, "rejected": 2
    }  # fmt: skip
    monkeypatch.setattr(Shaky, "mended", True)
    healed = make(True)
    assert [question.id for question in healed.questions] == ["b0", "b1"]
    assert [entry.question_id for entry in healed.rejected] == ["a0", "a1"]


def test_checks_in_another_order_or_of_another_source_are_another_benchmark(settings: Settings, tmp_path: Path) -> None:
    source = benchmark_of(4)
    build("sample", source, n=2, checks=["grounding", "duplicates"], out=tmp_path / "b", settings=settings)
    renamed = source.model_copy(update={"about": About(name="another")})
    for another, checks in ((source, ["duplicates", "grounding"]), (renamed, ["grounding", "duplicates"])):
        with pytest.raises(ConfigError, match="holds another benchmark"):
            build("sample", another, n=2, checks=checks, out=tmp_path / "b", settings=settings)


class Fragile(Numbered):
    """Its first draft is rejected, then its model goes down."""

    down: ClassVar[bool] = True

    def make(self, job: int, kit: Kit, rejections: Sequence[Rejection]) -> Iterable[Draft]:
        if job == 1 and rejections and self.down:
            raise ModelError("down")
        yield from super().make(job, kit, rejections)


def test_what_was_rejected_before_a_failure_is_kept(settings: Settings) -> None:
    built = build(Fragile(jobs=3), benchmark_of(1), checks=[Picky()], settings=settings)
    assert [(failure.item_id, failure.error) for failure in built.failures] == [("job1", "down")]
    assert [entry.question_id for entry in built.rejected].count("q1") == 1


def test_failed_jobs_of_a_finished_build_are_tried_again_when_asked(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(retry_failed: bool) -> Benchmark:
        return build(
            Fragile(jobs=3),
            benchmark_of(1),
            checks=[Picky()],
            out=tmp_path / "b",
            settings=settings,
            retry_failed=retry_failed,
        )

    first = make(False)
    monkeypatch.setattr(Fragile, "down", False)
    assert make(False) == first
    healed = make(True)
    assert (len(first.failures), len(healed.failures)) == (1, 0)
    assert [question.id for question in healed.questions] == ["q0", "q1"]
    assert load_benchmark(tmp_path / "b") == healed


def test_a_document_with_a_known_id_and_another_text_is_an_error(settings: Settings) -> None:
    taken = Benchmark(documents=(Document(id="made0", text="another text"),))
    with pytest.raises(DataError, match="another document with the id 'made0'"):
        build(Numbered(jobs=1), taken, checks=[], settings=settings)


def test_another_model_is_another_benchmark(settings: Settings, tmp_path: Path) -> None:
    class Asking(Numbered):
        """Uses the reader."""

        uses: ClassVar = ("reader",)

    for name in ("one", "two"):
        (tmp_path / f"{name}.jsonl").write_text("", "utf-8")

    def make(script: str) -> Benchmark:
        models = {"reader": f"scripted:{tmp_path / script}.jsonl"}
        chosen = settings.model_copy(update={"models": models})
        return build(Asking(jobs=1), benchmark_of(1), checks=[], out=tmp_path / "b", settings=chosen)

    make("one")
    assert "Model as reader: scripted:one.jsonl" in (tmp_path / "b" / "README.md").read_text("utf-8")
    with pytest.raises(ConfigError, match="holds another benchmark"):
        make("two")


def test_a_killed_build_goes_on_and_gives_the_same_files(settings: Settings, tmp_path: Path) -> None:
    class Counted(Numbered):
        """Counts its calls, and dies at the fourth."""

        calls: ClassVar[list[int]] = []
        dies: ClassVar[bool] = True

        def make(self, job: int, kit: Kit, rejections: Sequence[Rejection]) -> Iterable[Draft]:
            if len(self.calls) == 3 and self.dies:
                raise SystemExit
            self.calls.append(job)
            yield from super().make(job, kit, rejections)

    one_by_one = settings.model_copy(update={"concurrency": 1})

    def make(out: str) -> None:
        build(Counted(jobs=5), benchmark_of(1), checks=[], out=tmp_path / out, settings=one_by_one)

    with pytest.raises(SystemExit):
        make("killed")
    Counted.dies = False
    make("killed")
    assert Counted.calls == [0, 1, 2, 3, 4]
    make("plain")
    for path in (tmp_path / "plain").glob("[!.]*"):
        assert path.read_bytes() == (tmp_path / "killed" / path.name).read_bytes()


# ── the checks ───────────────────────────────────────────────────────────────────────────────────────────────────────


def verdict(check: Check, question: Question, *documents: Document, kept: Sequence[Question] = ()) -> Verdict:
    return check.check(Draft(question=question), Kit(documents={d.id: d for d in documents}, kept=kept))


NILE = Document(id="nile", title="Nile", text="It is 6,650 km long. It ends in the Mediterranean Sea.")


@pytest.mark.parametrize(
    ("answer", "kind", "passed"),
    [
        ("the Mediterranean Sea", "open", True),
        ("Nile", "open", True),  # in the title
        ("6650 km", "number", True),
        ("terra", "open", False),  # only inside a word
        ("yes", "yes_no", True),  # follows, does not stand there
        ("Black Sea", "open", False),
    ],
)
def test_an_answer_must_stand_in_the_evidence_unless_it_is_computed(answer: str, kind: str, passed: bool) -> None:
    evidence = ((Evidence(document_id="nile"),),)
    question = Question(id="q", text="?", answers=((answer,),), evidence=evidence, labels={"answer_kind": kind})
    assert verdict(Grounding(), question, NILE).passed is passed


def test_a_quote_must_be_verbatim_and_in_its_place() -> None:
    def with_quote(quote: str, start: int | None) -> Question:
        end = None if start is None else start + len(quote)
        piece = Evidence(document_id="nile", quote=quote, start=start, end=end)
        return Question(id="q", text="?", answers=(("Nile",),), evidence=((piece,),))

    assert verdict(Grounding(), with_quote("It is 6,650 km long.", 0), NILE).passed
    assert verdict(Grounding(), with_quote("It ends", None), NILE).passed
    assert not verdict(Grounding(), with_quote("It is 6,650 km long.", 1), NILE).passed
    assert not verdict(Grounding(), with_quote("it ends", None), NILE).passed
    assert "does not exist" in verdict(Grounding(), with_quote("x", None)).reason


def test_a_question_without_evidence_is_not_grounded() -> None:
    assert verdict(Grounding(), Question(id="q", text="?", answers=(("x",),))).reason == "it has no evidence"


def test_a_reworded_twin_is_a_duplicate_and_a_question_with_other_choices_is_not() -> None:
    def asked(id: str, text: str, *choices: str) -> Question:
        return Question(id=id, text=text, choices=choices)

    long = "in which sea does the great old river that flows through all of egypt from south to north finally end"
    kept = [asked("a", long), asked("b", "What is soft?", "rock", "wool", "iron")]
    assert (
        verdict(Duplicates(), asked("c", long.title() + "?"), kept=kept).reason == "100% the same words as question a"
    )
    assert verdict(Duplicates(), asked("d", "What is soft?", "silk", "glass", "stone"), kept=kept).passed
    assert not verdict(Duplicates(), asked("e", "what is soft", "rock", "wool", "iron"), kept=kept).passed
    assert Sample().checks == ("grounding", "duplicates")
