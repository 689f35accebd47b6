"""The folder format: whole files or none, hashes that notice, journals that survive."""

import json
import os
from pathlib import Path

import pytest
from pydantic import ValidationError

import ragstone
from ragstone.errors import ConfigError, DataError
from ragstone.files import write_bytes
from ragstone.journal import Journal, claim
from ragstone.store import fingerprint, load_benchmark, problems, save
from ragstone.types import Answer, Benchmark, Document, Evidence, Made, Passage, Question, Score, Step


def test_a_saved_benchmark_comes_back_as_it_was(rivers: Benchmark, tmp_path: Path) -> None:
    save(rivers, tmp_path / "bench")
    assert load_benchmark(tmp_path / "bench") == rivers


def test_saving_twice_gives_the_same_bytes(rivers: Benchmark, tmp_path: Path) -> None:
    for name in ("one", "two"):
        save(rivers, tmp_path / name)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_a_benchmark_is_not_saved_among_other_things(rivers: Benchmark, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("do not lose me")
    with pytest.raises(ConfigError, match="holds no benchmark"):
        save(rivers, tmp_path)
    assert os.listdir(tmp_path) == ["thesis.tex"]


def test_a_changed_data_file_is_noticed(rivers: Benchmark, tmp_path: Path) -> None:
    save(rivers, tmp_path)
    with (tmp_path / "questions.jsonl").open("a") as file:
        file.write("\n")
    with pytest.raises(DataError, match=r"questions.jsonl was changed"):
        load_benchmark(tmp_path)


def test_a_folder_without_a_manifest_is_not_complete(rivers: Benchmark, tmp_path: Path) -> None:
    save(rivers, tmp_path)
    (tmp_path / "manifest.json").unlink()
    with pytest.raises(DataError, match="not complete"):
        load_benchmark(tmp_path)


def test_a_bad_record_is_named_by_file_line_and_field(rivers: Benchmark, tmp_path: Path) -> None:
    save(rivers, tmp_path)
    path = tmp_path / "questions.jsonl"
    first, *rest = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([first, '{"id": "q", "text": 7}', *rest]), "utf-8")
    manifest = json.loads((tmp_path / "manifest.json").read_text("utf-8"))
    manifest["sha256"] = {}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    with pytest.raises(DataError, match=r"questions.jsonl, line 2: text: input should be a valid string"):
        load_benchmark(tmp_path)


def test_the_canary_stands_in_manifest_and_card_and_changes_with_the_data(rivers: Benchmark, tmp_path: Path) -> None:
    save(rivers, tmp_path / "a")
    save(rivers.model_copy(update={"questions": rivers.questions[:1]}), tmp_path / "b")
    canaries = [json.loads((tmp_path / name / "manifest.json").read_bytes())["canary"] for name in "ab"]
    assert canaries[0] != canaries[1]
    assert canaries[0] in (tmp_path / "a" / "README.md").read_text("utf-8")


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    write_bytes(path, b"old")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ConfigError, match="no space left on device; choose another place or make room"):
        write_bytes(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"evidence": ((Evidence(document_id="thames"),),)}, "evidence points to document 'thames'"),
        ({"evidence": ((Evidence(document_id="nile", quote="wrong", start=0, end=5),),)}, "evidence is not at 0–5"),
        ({"scope": ("thames",)}, "scope names document 'thames'"),
        ({"hidden": ("thames",)}, "hidden names document 'thames'"),
        ({"answers": (("",),)}, "an answer is empty"),
        ({"text": " "}, "its text is empty"),
        ({"answers": (), "evidence": ()}, "neither an answer nor evidence"),
    ],
)
def test_a_pointer_to_nowhere_is_a_problem(rivers: Benchmark, change: dict[str, object], problem: str) -> None:
    broken = rivers.questions[0].model_copy(update=change)
    [found] = problems(rivers.model_copy(update={"questions": (broken, *rivers.questions[1:])}))
    assert problem in found


def test_ids_that_appear_twice_are_problems(rivers: Benchmark) -> None:
    twice = rivers.model_copy(
        update={
            "documents": rivers.documents + rivers.documents[:1],
            "questions": rivers.questions + rivers.questions[:1],
        }
    )
    assert list(problems(twice)) == ["document 'nile' appears twice", "question 'q-nile' appears twice"]


def test_not_a_number_cannot_be_written() -> None:
    with pytest.raises(ValidationError):
        Score(value=float("nan"))
    with pytest.raises(ValidationError):
        Passage(document_id="d", score=float("inf"))


def test_records_refuse_fields_that_they_do_not_have_and_do_not_change() -> None:
    with pytest.raises(ValidationError):
        Answer(text="x", retreived=())  # type: ignore[call-arg]
    question = Question(id="q", text="?")
    with pytest.raises(ValidationError):
        question.text = "!"  # type: ignore[misc]


def test_the_fingerprint_depends_on_data_and_not_on_where_it_came_from(rivers: Benchmark) -> None:
    moved = rivers.model_copy(update={"about": ragstone.load("sample").about})
    longer = Document(id="new", text="more")
    assert fingerprint(moved) == fingerprint(rivers)
    assert fingerprint(rivers.model_copy(update={"documents": (*rivers.documents, longer)})) != fingerprint(rivers)


# ── journals and folders ─────────────────────────────────────────────────────────────────────────────────────────────


def test_a_journal_drops_a_torn_last_line_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal = Journal(path)
    journal.add("a", {"value": 1})
    journal.close()
    with path.open("ab") as file:
        file.write(b'{"id": "b", "val')
    journal = Journal(path)
    assert "a" in journal
    assert "b" not in journal
    journal.add("c", {"value": 3})
    journal.close()
    assert [json.loads(line)["id"] for line in path.read_text("utf-8").splitlines()] == ["a", "c"]


def test_two_commands_cannot_work_in_one_folder(tmp_path: Path) -> None:
    order = a_step("one")
    with claim(tmp_path / "out", order), pytest.raises(ConfigError, match="another command is working in"):  # noqa: SIM117
        with claim(tmp_path / "out", order):
            pass


def a_step(recipe: str) -> Step:
    return Step(recipe=recipe, made=Made(component={}), ragstone="0", input="")


def claimed(folder: Path, recipe: str) -> None:
    """Begins some work in the folder and leaves it unfinished."""
    with claim(folder, a_step(recipe)) as journal:
        journal.add("item", {"value": 1})


def test_a_folder_with_other_things_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("do not lose me")
    with pytest.raises(ConfigError, match="is not empty"):
        claimed(tmp_path, "one")
    assert os.listdir(tmp_path) == ["thesis.tex"]


def test_unfinished_work_with_other_settings_is_not_mixed_in(tmp_path: Path) -> None:
    claimed(tmp_path / "out", "one")
    with pytest.raises(ConfigError, match="unfinished work with other settings"):
        claimed(tmp_path / "out", "two")
    claimed(tmp_path / "out", "one")


def test_a_journal_goes_when_the_files_hold_all_of_it_and_keeps_the_rest_until_then(tmp_path: Path) -> None:
    with claim(tmp_path / "out", a_step("one")) as journal:
        journal.add("a", {"value": 1})
        journal.add("b", {"value": 2})
        journal.forget({"a"})
    with claim(tmp_path / "out", a_step("one")) as journal:
        assert "a" not in journal
        assert journal.get("b") == {"value": 2}
        journal.forget({"b"})
    assert not (tmp_path / "out").exists()


class Killed(BaseException):
    """As abrupt as a kill."""


@pytest.mark.parametrize("moves", range(6))
def test_a_kill_while_files_are_replaced_leaves_all_the_old_or_all_the_new(
    moves: int, rivers: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fewer = rivers.model_copy(update={"questions": rivers.questions[:1]})
    save(rivers, tmp_path / "b")
    done: list[str | Path] = []

    def dying(source: str | Path, target: str | Path) -> None:
        if Path(target).parent == tmp_path / "b":
            if len(done) == moves:
                raise Killed
            done.append(target)
        real_replace(source, target)

    real_replace = os.replace
    monkeypatch.setattr(os, "replace", dying)
    with pytest.raises(Killed):
        save(fewer, tmp_path / "b")
    monkeypatch.undo()
    assert load_benchmark(tmp_path / "b") == fewer
    save(rivers, tmp_path / "b")
    assert load_benchmark(tmp_path / "b") == rivers
    assert not (tmp_path / "b" / ".staged").exists()


def test_a_kill_before_all_is_staged_leaves_the_old_files(rivers: Benchmark, tmp_path: Path) -> None:
    save(rivers, tmp_path)
    (tmp_path / ".staged").mkdir()
    (tmp_path / ".staged" / "documents.jsonl").write_text("half")
    assert load_benchmark(tmp_path) == rivers
    save(rivers, tmp_path)
    assert not (tmp_path / ".staged").exists()
