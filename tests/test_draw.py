"""Draws: the same template under new names, the same files for the same draw, and checks that run when asked."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragstone.build import build
from ragstone.checks.grounding import Grounding
from ragstone.config import Settings
from ragstone.draw import draw, foresee_draw, secret
from ragstone.errors import ConfigError, DataError, ModelError
from ragstone.files import sha256
from ragstone.kit import Check, Kit
from ragstone.load import load
from ragstone.slots import NAMES, bind_all, originals, restored, values
from ragstone.store import load_benchmark, problems, save
from ragstone.types import (
    About,
    Benchmark,
    Document,
    Draft,
    Evidence,
    Made,
    Question,
    Slot,
    Step,
    Template,
    Verdict,
)
from test_cli import RAGSTONE, complains, ragstone

SALT = "correct horse battery staple"

SLOTS = (
    Slot(id="n1", kind="given", original="Thomas", traits={"gender": "m"}),
    Slot(id="n2", kind="surname", original="Stanley"),
    Slot(id="n3", kind="given", original="Mary", traits={"gender": "f"}),
    Slot(id="n4", kind="place", original="Oshawa"),
    Slot(id="n5", kind="place", original="Lathom"),
    Slot(id="y1754", kind="year", original="1754", group="corpus"),
    Slot(id="y1788", kind="year", original="1788", group="corpus"),
    Slot(id="v1", kind="word", original="older", choices=("older", "younger"), group="age"),
    Slot(id="v2", kind="word", original="{{n4}}", choices=("{{n4}}", "{{n5}}"), group="age"),
)

TEXTS = {
    "d-1": ("{{n1}} {{n2}}", "{{n1}} {{n2}} was born in {{n4}} in {{y1754}}. {{n2}}'s sister was {{n3}} {{n2}}."),
    "d-2": ("{{n3}} {{n2}}", "{{n3}} {{n2}} ({{y1788}}) lived in {{n5}}, and is {{v1}} than some."),
    "d-3": ("{{n5}}", "{{n5}} is {{n5.article}} {{n5}} like {{n4.upper}}; it has no {{{{braces}}."),
}


def evidence(id: str, first: str, last: str) -> Evidence:
    text = TEXTS[id][1]
    start, end = text.index(first), text.index(last) + len(last)
    return Evidence(document_id=id, quote=text[start:end], start=start, end=end)


QUESTIONS = (
    Question(
        id="q1",
        text="Where was {{n3}} {{n2}}'s brother born?",
        answers=(("{{n4}}",),),
        evidence=((evidence("d-1", "{{n1}}", "{{y1754}}."),), (evidence("d-1", "{{n2}}'s", "{{n2}}."),)),
        remembered=(("Oshawa",),),
        parent="hotpot-1",
    ),
    Question(
        id="q2",
        text="Where did the sister of {{n1}} {{n2}} live?",
        answers=(("{{n5}}",),),
        evidence=((evidence("d-2", "{{n3}}", "{{n5}}"),),),
        remembered=(("Lathom",),),
    ),
    Question(id="q3", text="Which town is meant?", answers=(("{{v2}}",),), evidence=((Evidence(document_id="d-3"),),)),
)


@pytest.fixture
def stanleys() -> Benchmark:
    """A reseeded benchmark, small enough to work out by hand, under its original names."""
    documents = tuple(Document(id=id, title=title, text=text) for id, (title, text) in TEXTS.items())
    slots = tuple(slot.model_copy(update={"value": slot.original}) for slot in SLOTS)
    template = Template(documents=documents, questions=QUESTIONS, slots=slots, style="word_made")
    named = {**originals(SLOTS), "v2": "Oshawa"}
    bound, asked = bind_all(template, named)
    made = Made(component={"component": "ragstone.recipes.reseed.recipe:Reseed"})
    step = Step(
        recipe="reseed",
        made=made,
        ragstone="0",
        input="",
        checks={"grounding": Kit().made_by(Grounding())},
        not_run={"leakage": "no model is set for the role probe"},
    )
    about = About(name="Stanleys", language="en", notes=("1 of 4 seeds was skipped",))
    return Benchmark(documents=bound, questions=asked, about=about, steps=(step,), template=template)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# ── the template on disk ─────────────────────────────────────────────────────────────────────────────────────────────


def test_a_template_comes_back_with_its_benchmark_and_is_hashed(stanleys: Benchmark, tmp_path: Path) -> None:
    save(stanleys, tmp_path)
    assert load_benchmark(tmp_path) == load(tmp_path) == stanleys
    manifest = json.loads((tmp_path / "manifest.json").read_bytes())
    assert manifest["template"] == {"style": "word_made"}
    assert manifest["counts"]["slots"] == len(SLOTS)
    names = ("documents", "questions", "slots")
    assert {f"template/{name}.jsonl" for name in names} < set(manifest["sha256"])
    assert "9 slots can be filled anew: `ragstone draw FOLDER --draw N`" in (tmp_path / "README.md").read_text("utf-8")
    with (tmp_path / "template" / "slots.jsonl").open("a") as file:
        file.write("\n")
    with pytest.raises(DataError, match=r"template/slots.jsonl was changed"):
        load(tmp_path)


def test_a_benchmark_without_a_template_is_written_as_ever(rivers: Benchmark, tmp_path: Path) -> None:
    save(rivers, tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_bytes())
    assert list(manifest) == ["format", "ragstone", "canary", "about", "steps", "counts", "sha256"]
    files = ["documents.jsonl", "failures.jsonl", "questions.jsonl", "rejected.jsonl"]
    assert sorted(contents(tmp_path)) == [".lock", "README.md", *files[:2], "manifest.json", *files[2:]]
    assert load(tmp_path).template is None


def test_an_old_template_does_not_outlive_its_benchmark_and_what_people_added_does(
    stanleys: Benchmark, rivers: Benchmark, tmp_path: Path
) -> None:
    save(stanleys, tmp_path)
    for name in ("reviews.sqlite", "audit.json"):
        (tmp_path / name).write_text("by hand")
    (tmp_path / "template" / "notes.txt").write_text("by hand")
    save(stanleys, tmp_path)
    save(rivers, tmp_path)
    assert load(tmp_path) == rivers
    assert [path.name for path in (tmp_path / "template").iterdir()] == ["notes.txt"]
    (tmp_path / "template" / "notes.txt").unlink()
    save(stanleys, tmp_path)
    save(rivers, tmp_path)
    assert not (tmp_path / "template").exists()
    assert {(tmp_path / name).read_text() for name in ("reviews.sqlite", "audit.json")} == {"by hand"}


def test_a_manifest_cannot_name_files_elsewhere_to_be_removed(
    stanleys: Benchmark, rivers: Benchmark, tmp_path: Path
) -> None:
    (tmp_path / "thesis.tex").write_text("do not lose me")
    save(stanleys, tmp_path / "b")
    manifest = json.loads((tmp_path / "b" / "manifest.json").read_bytes())
    manifest["sha256"] |= {"../thesis.tex": "", "b/../../thesis.tex": "", str(tmp_path / "thesis.tex"): ""}
    (tmp_path / "b" / "manifest.json").write_text(json.dumps(manifest))
    save(rivers, tmp_path / "b")
    assert (tmp_path / "thesis.tex").read_text() == "do not lose me"


class Killed(BaseException):
    """As abrupt as a kill."""


def dies_after(moves: int, function: Callable[..., Any], folder: Path) -> Callable[..., Any]:
    """The function, until it was called so often on files of the folder itself."""
    done: list[object] = []

    def dying(*paths: Any, **options: Any) -> Any:
        if ".staged" not in Path(paths[-1]).parts and folder in Path(paths[-1]).parents:
            if len(done) == moves:
                raise Killed
            done.append(paths)
        return function(*paths, **options)

    return dying


@pytest.mark.parametrize("moves", range(9))
@pytest.mark.parametrize("back", [False, True])
def test_a_kill_while_a_template_comes_or_goes_leaves_all_the_new(
    moves: int, back: bool, stanleys: Benchmark, rivers: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after = (stanleys, rivers) if back else (rivers, stanleys)
    moved = 6 if back else 9
    save(before, tmp_path / "b")
    monkeypatch.setattr(os, "replace", dies_after(moves, os.replace, tmp_path / "b"))
    if moves < moved:
        with pytest.raises(Killed):
            save(after, tmp_path / "b")
    else:
        save(after, tmp_path / "b")
    monkeypatch.undo()
    assert load(tmp_path / "b") == after
    save(before, tmp_path / "b")
    save(after, tmp_path / "b")
    assert load(tmp_path / "b") == after
    assert (tmp_path / "b" / "template").exists() != back
    assert not (tmp_path / "b" / ".staged").exists()


@pytest.mark.parametrize("removed", range(3))
def test_a_kill_while_an_old_template_is_removed_leaves_the_new(
    removed: int, stanleys: Benchmark, rivers: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(stanleys, tmp_path / "b")
    monkeypatch.setattr(Path, "unlink", dies_after(removed, Path.unlink, tmp_path / "b" / "template"))
    with pytest.raises(Killed):
        save(rivers, tmp_path / "b")
    monkeypatch.undo()
    assert load(tmp_path / "b") == rivers
    save(rivers, tmp_path / "b")
    assert not (tmp_path / "b" / "template").exists()


def test_a_reader_whose_template_is_taken_away_reads_what_came_instead(
    stanleys: Benchmark, rivers: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(stanleys, tmp_path)
    really_read = Path.read_bytes

    def read_late(path: Path) -> bytes:
        if path == tmp_path / "template" / "slots.jsonl":
            monkeypatch.undo()
            save(rivers, tmp_path)
        return really_read(path)

    monkeypatch.setattr(Path, "read_bytes", read_late)
    assert load(tmp_path) == rivers


# ── drawing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_draw_has_new_names_and_the_same_reasoning(stanleys: Benchmark, tmp_path: Path) -> None:
    drawn = draw(stanleys, draw=7, out=tmp_path / "fresh")
    assert load(tmp_path / "fresh") == drawn
    assert drawn.template
    new = values(drawn.template.slots)
    text = f"{new['n1']} {new['n2']} was born in {new['n4']} in {new['y1754']}. {new['n2']}'s sister was {new['n3']} "
    assert drawn.documents[0].text == f"{text}{new['n2']}."
    assert drawn.documents[0].title == f"{new['n1']} {new['n2']}"
    assert drawn.questions[0].answers == ((new["n4"],),)
    assert drawn.questions[0].evidence[1][0].quote == f"{new['n2']}'s sister was {new['n3']} {new['n2']}."
    assert (drawn.questions[0].remembered, drawn.questions[0].parent) == ((("Oshawa",),), "hotpot-1")
    assert int(new["y1788"]) - int(new["y1754"]) == 1788 - 1754
    assert not list(problems(drawn))
    whole = " ".join(document.text for document in drawn.documents)
    assert not [slot.original for slot in SLOTS[:5] if slot.original.casefold() in whole.casefold()]
    assert restored(drawn.documents[2].text, drawn.template.slots) == stanleys.documents[2].text


def test_the_same_draw_gives_the_same_bytes_and_two_draws_share_no_name(stanleys: Benchmark, tmp_path: Path) -> None:
    save(stanleys, tmp_path / "bench")
    for name, number in (("a", 7), ("b", 7), ("c", 8)):
        draw(tmp_path / "bench", draw=number, out=tmp_path / name)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert contents(tmp_path / "a") != contents(tmp_path / "c")
    assert not coined(load(tmp_path / "a")) & coined(load(tmp_path / "c"))


def coined(benchmark: Benchmark) -> set[str]:
    assert benchmark.template
    slots = [slot for slot in benchmark.template.slots if slot.kind in NAMES and not slot.choices]
    return {slot.value.casefold() for slot in slots}


def test_a_draw_of_a_draw_is_the_draw_itself(stanleys: Benchmark, tmp_path: Path) -> None:
    first = draw(stanleys, draw=3, out=tmp_path / "first")
    assert draw(tmp_path / "first", draw=7) == draw(stanleys, draw=7)
    assert [step.recipe for step in draw(first, draw=7).steps] == ["reseed", "draw"]


def test_what_is_chosen_differs_between_draws_and_agrees_within_one(stanleys: Benchmark) -> None:
    outcomes = set()
    for number in range(8):
        drawn = draw(stanleys, draw=number)
        assert drawn.template
        new = values(drawn.template.slots)
        assert new["v2"] == new["n4"] if new["v1"] == "older" else new["v2"] == new["n5"]
        outcomes.add(new["v1"])
    assert outcomes == {"older", "younger"}


def test_manifest_and_card_tell_of_the_draw_and_that_it_is_not_verified(stanleys: Benchmark, tmp_path: Path) -> None:
    drawn = draw(stanleys, draw=7, out=tmp_path)
    note = "draw 7: not verified: no check has run on these names"
    assert drawn.about.notes == ("in the source: 1 of 4 seeds was skipped", note)
    step = drawn.steps[-1]
    assert (step.recipe, step.draw, step.counts) == ("draw", 7, {"documents": 3, "questions": 3, "slots": 9})
    assert step.made.component == {"component": "ragstone.draw:draw", "style": "word_made", "salt": ""}
    card = (tmp_path / "README.md").read_text("utf-8")
    assert note in card
    assert "`draw` (draw 7): 3 documents, 3 questions, 9 slots. Checks: none." in card


def test_a_salt_makes_another_draw_and_is_written_nowhere(
    stanleys: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = draw(stanleys, draw=7, salt=SALT, out=tmp_path / "held-out")
    assert drawn == draw(stanleys, draw=7, salt=SALT)
    assert coined(drawn) != coined(draw(stanleys, draw=7))
    assert coined(drawn) != coined(draw(stanleys, draw=7, salt=SALT[::-1]))
    assert drawn.steps[-1].made.component["salt"] == sha256(SALT.encode())
    assert not [name for name, data in contents(tmp_path / "held-out").items() if SALT.encode() in data]
    with pytest.raises(ConfigError, match="a salt of 6 characters can be guessed; take 16 or more"):
        draw(stanleys, draw=7, salt="secret")
    (tmp_path / "salt").write_text(f"{SALT}\n")
    assert secret(tmp_path / "salt") == SALT
    assert secret(None) == ""
    monkeypatch.setenv("RAGSTONE_SALT", SALT)
    assert secret(None) == SALT
    for data, complaint in ((b"", "is empty"), (b"\xff\xfe", "cannot read a salt")):
        (tmp_path / "bad").write_bytes(data)
        with pytest.raises(ConfigError, match=complaint):
            secret(tmp_path / "bad")


def test_a_finished_draw_is_found_and_nothing_else_is_overwritten(stanleys: Benchmark, tmp_path: Path) -> None:
    drawn = draw(stanleys, draw=7, out=tmp_path / "out")
    written = (tmp_path / "out" / "manifest.json").stat()
    assert draw(stanleys, draw=7, out=tmp_path / "out") == drawn
    assert (tmp_path / "out" / "manifest.json").stat().st_mtime_ns == written.st_mtime_ns
    with pytest.raises(ConfigError, match="holds another benchmark already"):
        draw(stanleys, draw=8, out=tmp_path / "out")
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "thesis.tex").write_text("do not lose me")
    with pytest.raises(ConfigError, match="is not empty and holds nothing of this kind"):
        draw(stanleys, draw=7, out=tmp_path / "thesis")
    assert os.listdir(tmp_path / "thesis") == ["thesis.tex"]


def test_what_has_no_template_cannot_be_drawn(rivers: Benchmark, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="this benchmark has no template to draw from; build one with"):
        draw(rivers, draw=1, out=tmp_path / "out")
    with pytest.raises(ConfigError, match="sample has no template"):
        draw("sample", draw=1)
    assert not (tmp_path / "out").exists()


def test_a_template_that_names_what_is_not_there_is_said_plainly(stanleys: Benchmark) -> None:
    assert stanleys.template
    fewer = stanleys.template.model_copy(update={"slots": SLOTS[1:]})
    with pytest.raises(DataError, match="the template names 'n1', which is no slot"):
        draw(stanleys.model_copy(update={"template": fewer}), draw=1)


# ── verifying ────────────────────────────────────────────────────────────────────────────────────────────────────────


class NotTheSecond(Check):
    """Rejects q2, and fails where a file says so."""

    def check(self, draft: Draft, kit: Kit) -> Verdict:
        if draft.question.id == "q3" and Path("broken").exists():
            raise ModelError("no reply")
        return Verdict(passed=draft.question.id != "q2", reason="it is the second")


def test_a_verified_draw_keeps_what_passes_and_tells_by_which_checks(
    stanleys: Benchmark, settings: Settings, tmp_path: Path
) -> None:
    asked: dict[str, Any] = {"draw": 7, "verify": True, "checks": ["grounding", NotTheSecond()], "settings": settings}
    drawn = draw(stanleys, **asked, out=tmp_path / "out")
    assert [question.id for question in drawn.questions] == ["q1", "q3"]
    [rejected] = drawn.rejected
    assert (rejected.question_id, rejected.by, rejected.value.reason) == ("q2", "not_the_second", "it is the second")
    assert drawn.about.notes[-1] == "draw 7: verified by grounding, not_the_second; 2 of 3 questions kept"
    assert drawn.documents == draw(stanleys, draw=7).documents
    assert [step.recipe for step in drawn.steps] == ["reseed", "draw", "verify"]
    assert drawn.template
    assert [question.id for question in drawn.template.questions] == ["q1", "q3"]
    assert load(tmp_path / "out") == drawn
    assert draw(stanleys, **asked, out=tmp_path / "out") == drawn
    again = draw(drawn, draw=8)
    assert [question.id for question in again.questions] == ["q1", "q3"]
    assert again.about.notes[-2].startswith("in the source: draw 7: verified by")


def test_the_checks_are_those_of_the_making_and_those_without_a_model_are_told(
    stanleys: Benchmark, settings: Settings
) -> None:
    drawn = draw(stanleys, draw=7, verify=True, settings=settings)
    assert drawn.about.notes[-1] == "draw 7: verified by grounding; 3 of 3 questions kept; not run: leakage"
    assert drawn.steps[-1].not_run == {"leakage": "no model is set for the role probe"}
    with pytest.raises(ConfigError, match="leakage needs a model as probe"):
        draw(stanleys, draw=7, verify=True, checks=["leakage"], settings=settings)
    unchecked = stanleys.model_copy(update={"steps": ()})
    with pytest.raises(ConfigError, match="made without checks; name those that should run by --check"):
        draw(unchecked, draw=7, verify=True, settings=settings)


def test_a_probe_that_knows_an_answer_takes_its_question_out(
    stanleys: Benchmark, tmp_path: Path, settings: Settings
) -> None:
    fresh = draw(stanleys, draw=7)
    lines = [{"when": question.text, "reply": "UNKNOWN"} for question in fresh.questions[1:]]
    lines.append({"when": fresh.questions[0].text, "reply": fresh.questions[0].answers[0][0]})
    (tmp_path / "probe.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    chosen = settings.model_copy(update={"models": {"probe": f"scripted:{tmp_path / 'probe.jsonl'}"}})
    drawn = draw(stanleys, draw=7, verify=True, settings=chosen)
    assert [entry.question_id for entry in drawn.rejected] == ["q1"]
    assert drawn.about.notes[-1] == "draw 7: verified by grounding, leakage; 2 of 3 questions kept"
    assert sum(row.calls for row in foresee_draw(stanleys, draw=7, settings=chosen)) > 0


def test_what_could_not_be_checked_is_told_and_tried_again(
    stanleys: Benchmark, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken").touch()
    asked: dict[str, Any] = {"draw": 7, "verify": True, "checks": [NotTheSecond()], "settings": settings, "out": "out"}
    drawn = draw(stanleys, **asked)
    assert drawn.about.notes[-1].endswith("1 of 3 questions kept, 1 could not be checked")
    Path("broken").unlink()
    assert [question.id for question in draw(stanleys, **asked, retry_failed=True).questions] == ["q1", "q3"]


def test_verify_is_a_recipe_for_any_benchmark(rivers: Benchmark, settings: Settings) -> None:
    built = build("verify", rivers, checks=[NotTheSecond(), "grounding"], settings=settings)
    assert built.questions == rivers.questions
    assert built.steps[-1].counts["kept"] == 3


# ── the command ──────────────────────────────────────────────────────────────────────────────────────────────────────


def command(tmp_path: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return ragstone("draw", "bench", "--draw", "7", *words, cwd=tmp_path)


def test_the_command_draws_and_tells_people_and_machines(stanleys: Benchmark, tmp_path: Path) -> None:
    save(stanleys, tmp_path / "bench")
    told = command(tmp_path, "--out", "fresh")
    assert told.stdout == (
        "fresh: 3 documents, 3 questions, 9 slots; draw 7: not verified: no check has run on these names\n"
    )
    (tmp_path / "salt").write_text(SALT)
    done = command(tmp_path, "--out", "secret", "--salt-file", "salt", "--verify", "--check", "grounding", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "out": "secret",
        "draw": 7,
        "verified": True,
        "counts": {"planned": 3, "exhausted": 0, "failed": 0, "drafted": 3, "kept": 3, "rejected": 0},
        "rejected_by": {},
        "note": "draw 7: verified by grounding; 3 of 3 questions kept",
    }
    assert load(tmp_path / "fresh").documents != load(tmp_path / "secret").documents
    assert SALT not in done.stdout + done.stderr


def test_the_command_complains_in_one_line(stanleys: Benchmark, tmp_path: Path) -> None:
    save(stanleys, tmp_path / "bench")
    complains(command(tmp_path), "give --out FOLDER")
    complains(command(tmp_path, "--out", "x", "--check", "grounding"), "give --verify too")
    complains(command(tmp_path, "--out", "x", "--salt-file", "nowhere"), "cannot read a salt in nowhere")
    complains(ragstone("draw", "sample", "--draw", "1", "--out", tmp_path / "x"), "sample has no template")
    assert os.listdir(tmp_path) == ["bench"]


def test_a_full_disk_leaves_nothing_behind_and_the_command_goes_on(stanleys: Benchmark, tmp_path: Path) -> None:
    save(stanleys, tmp_path / "bench")
    words = ("draw", tmp_path / "bench", "--draw", "7", "--out", tmp_path / "out")
    complains(ragstone(*words, limit_file_size=500), "cannot write", "file too large", "make room")
    assert not (tmp_path / "out").exists()
    assert ragstone(*words).returncode == 0
    assert load(tmp_path / "out") == draw(stanleys, draw=7)


SLOW = """
import time
import ragstone as rs

class Slow(rs.Check):
    def check(self, draft, kit):
        time.sleep(0.5)
        return rs.Verdict(passed=True)
"""


def test_after_ctrl_c_the_same_command_verifies_the_rest(stanleys: Benchmark, tmp_path: Path) -> None:
    save(stanleys, tmp_path / "bench")
    (tmp_path / "slow.py").write_text(SLOW, "utf-8")
    words = ["draw", "bench", "--draw", "7", "--verify", "--check", "slow:Slow", "--concurrency", "1", "--out", "out"]
    process = subprocess.Popen([str(RAGSTONE), *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while not any(path.stat().st_size for path in (tmp_path / "out").glob("journal-*")):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130, errors
    assert not (tmp_path / "out" / "manifest.json").exists()
    assert ragstone(*words, cwd=tmp_path).returncode == 0
    assert len(load(tmp_path / "out").questions) == 3
    assert sorted(path.name for path in (tmp_path / "out").glob("*.jsonl")) == [
        "documents.jsonl",
        "failures.jsonl",
        "questions.jsonl",
        "rejected.jsonl",
    ]
