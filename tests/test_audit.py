"""The audit: what a model knows before and after, told apart from luck, and everything that needs no model."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from fault_server import FaultServer
from ragstone.audit import Audit, audit, foresee_audit
from ragstone.audit.models import Work
from ragstone.audit.originals import names_only, paired
from ragstone.audit.records import ModelRow, Split
from ragstone.audit.runs import Runs
from ragstone.config import Settings
from ragstone.errors import BudgetReached, ConfigError, DataError, Waiting
from ragstone.slots import bind_all, values
from ragstone.store import fingerprint, load_benchmark, save
from ragstone.types import (
    Benchmark,
    Document,
    Draft,
    Entity,
    Entry,
    Evidence,
    Fact,
    Made,
    Question,
    ReasoningGraph,
    Rejection,
    Slot,
    Step,
    Template,
)

RAGSTONE = Path(sys.executable).parent / "ragstone"
BRIEF = "Give only the answer, in as few words as possible."

BOOKS = {
    "Ulysses": "Joyce",
    "Emma": "Austen",
    "Walden": "Thoreau",
    "Middlemarch": "Eliot",
    "Lolita": "Nabokov",
    "Candide": "Voltaire",
    "Faust": "Goethe",
    "Hamlet": "Shakespeare",
    "Dracula": "Stoker",
    "Frankenstein": "Shelley",
    "Beloved": "Morrison",
    "Nostromo": "Conrad",
}
COINED = (
    "Brevalin Ostrike Calmoor Drenvick Elmaroth Fostrane Garbolen Hestwick Ivarole Jastmere Kelbrant Lomerick "
    "Mirvale Norstane Orbelin Pastrove Quelmar Rostiver Selbrane Torvenal Umberick Valstrom Westorin Yarbolen"
).split()
TITLES, AUTHORS = list(BOOKS), list(BOOKS.values())


def library(closed: int = 0) -> Benchmark:
    """Who wrote each of twelve books, all names coined; and so many yes-or-no questions of which half are yes."""
    names = [*TITLES, *AUTHORS]
    slots = tuple(
        Slot(id=f"n{i}", kind="other" if i < 12 else "surname", original=name, value=COINED[i])
        for i, name in enumerate(names)
    )
    documents = tuple(
        Document(
            id=f"d{i}", title=f"{{{{n{i}}}}}", text=f"{{{{n{i}}}}} is a book. It was written by {{{{n{i + 12}}}}}."
        )
        for i in range(12)
    )
    asked = [who_wrote(i) for i in range(12)] + [same_author(i) for i in range(closed)]
    template = Template(documents=documents, questions=tuple(asked), slots=slots)
    bound_documents, questions = bind_all(template, values(slots))
    return Benchmark(documents=bound_documents, questions=questions, template=template)


def who_wrote(i: int) -> Question:
    title, author = f"{{{{n{i}}}}}", f"{{{{n{i + 12}}}}}"
    graph = ReasoningGraph(
        entities=(Entity(id="a", name=title), Entity(id="b", name=author)),
        facts=(Fact(subject="a", relation="author", object="b"),),
    )
    return Question(
        id=f"q{i}",
        text=f"Who wrote {title}?",
        answers=((author,),),
        evidence=((Evidence(document_id=f"d{i}"),),),
        graph=graph,
        parent=f"old-{i}",
        remembered=((AUTHORS[i],),),
    )


def same_author(i: int) -> Question:
    other = (i + 1) % 12
    gold = "yes" if i % 2 else "no"
    return Question(
        id=f"c{i}",
        text=f"Did {{{{n{i + 12}}}}} write {{{{n{other if i % 2 == 0 else i}}}}}?",
        answers=((gold,),),
        evidence=((Evidence(document_id=f"d{i}"),),),
        remembered=((gold,),),
    )


def script(path: Path, replies: Mapping[str, str]) -> str:
    """A model that replies to prompts holding these words; of several the longest counts."""
    path.write_text(
        "".join(json.dumps({"when": when, "reply": reply}) + "\n" for when, reply in replies.items()), "utf-8"
    )
    return f"scripted:{path}"


def by_heart(question: Question) -> str:
    """How the prompt ends when the best guess is wanted."""
    return f"from what you know.\n{BRIEF}\n\n{question.text}"


def may_decline(question: Question) -> str:
    return f"{BRIEF}\nIf you do not know the answer, you may reply UNKNOWN.\n\n{question.text}"


def with_evidence(question: Question) -> str:
    return f"from the documents.\n{BRIEF}\n\n{question.text}"


def well_read(benchmark: Benchmark) -> dict[str, str]:
    """Knows every original by heart, reads every document, and knows nothing else."""
    pair = paired(benchmark, None)
    assert pair.before is not None
    known = {"what you know": "nothing comes to mind"}
    known |= {with_evidence(q): q.answers[0][0] for side in (pair.before, pair.after) for q in side.questions}
    known |= {form(q): q.answers[0][0] for q in pair.before.questions for form in (by_heart, may_decline)}
    known |= {by_heart(q): "Dickens" for q in pair.after.questions}
    return known | {may_decline(q): "UNKNOWN" for q in pair.after.questions}


def with_model(tmp_path: Path, spec: str, **more: object) -> Settings:
    models = {"embedder": "wordllama", "reader": spec}
    return Settings.model_validate({"cache": tmp_path / "cache", "models": models, **more})


def only_row(found: Audit) -> ModelRow:
    [row] = found.models
    return row


def part(row: ModelRow, name: str) -> Split:
    [mine] = [split for split in row.parts if split.part == name]
    return mine


# ── what a model shows ───────────────────────────────────────────────────────────────────────────────────────────────


def test_a_model_that_knows_the_original_and_not_the_benchmark_certifies_it(tmp_path: Path) -> None:
    bench = library()
    spec = script(tmp_path / "m.jsonl", well_read(bench))
    found = audit(bench, draws=0, settings=with_model(tmp_path, spec))
    split = part(only_row(found), "open")
    assert split.before is not None
    assert split.before.leakage is not None
    assert split.after.leakage is not None
    assert split.after.gold is not None
    assert (split.before.leakage.raw.value, split.after.leakage.raw.value, split.after.gold.raw.value) == (1, 0, 1)
    assert split.after.leakage.raw.high == pytest.approx(0.2425, abs=1e-4)  # Wilson, 0 of 12
    assert (split.found, split.why) == ("certified", "at most 24.2% is known above chance (95 %)")
    assert split.reduction is not None
    assert split.reduction.value == 1
    assert split.after.answerability is not None
    assert split.after.answerability.value == 1
    assert split.gold_change is not None
    assert (split.gold_change.value, split.gold_p) == (0, 1)
    assert split.said.none == 12
    assert split.said_before is not None
    assert split.said_before.leak == 12


def test_a_model_that_does_not_know_the_original_is_no_evidence(tmp_path: Path) -> None:
    bench = library()
    known = well_read(bench)
    replies = {when: known[when] if "from the documents" in when else "Dickens" for when in known}
    found = audit(bench, draws=0, settings=with_model(tmp_path, script(tmp_path / "m.jsonl", replies)))
    split = part(only_row(found), "open")
    assert split.found == "no evidence"
    assert "no better than guessing" in split.why
    assert split.reduction is None
    assert "no evidence: on the original" in str(found)


def test_a_benchmark_that_is_known_by_heart_leaks(tmp_path: Path) -> None:
    bench = library()
    replies = well_read(bench) | {by_heart(question): question.answers[0][0] for question in bench.questions[:6]}
    found = audit(bench, draws=0, settings=with_model(tmp_path, script(tmp_path / "m.jsonl", replies)))
    split = part(only_row(found), "open")
    assert split.found == "leaks"
    assert split.reduction is not None
    assert split.reduction.value == pytest.approx(0.5)
    assert split.reduction.low < 0.5 < split.reduction.high


def test_guessing_yes_or_no_is_luck_and_told_apart_from_knowing(tmp_path: Path) -> None:
    """The model says yes to everything new: half right, and nothing above chance."""
    bench = library(closed=12)
    replies = well_read(bench) | {by_heart(question): "yes" for question in bench.questions if question.id[0] == "c"}
    found = audit(bench, draws=0, settings=with_model(tmp_path, script(tmp_path / "m.jsonl", replies)))
    split = part(only_row(found), "closed")
    assert split.after.leakage is not None
    assert split.after.leakage.corrected is not None
    assert (split.after.leakage.raw.value, split.after.leakage.corrected.value) == (0.5, 0)
    assert split.after.leakage.chance == 0.5
    assert split.found == "certified"
    assert [mine.part for mine in only_row(found).parts] == ["all", "open", "closed"]
    [everything] = [line for line in found.baselines if line.part == "closed"]
    assert (everything.answer, everything.after.value) in {("yes", 0.5), ("no", 0.5)}


def test_wrong_answers_from_memory_are_inconsistent_and_others_confabulated(tmp_path: Path) -> None:
    bench = library()
    replies = well_read(bench)
    for i, question in enumerate(bench.questions[:6]):
        replies[may_decline(question)] = AUTHORS[i] if i < 4 else "Dickens"
    replies[with_evidence(bench.questions[0])] = AUTHORS[
        0
    ]  # says what it remembers although the document says otherwise
    row = only_row(audit(bench, draws=0, settings=with_model(tmp_path, script(tmp_path / "m.jsonl", replies))))
    said = part(row, "open").said
    assert (said.leak, said.inconsistent, said.confabulated, said.none) == (0, 4, 2, 6)
    assert row.memory is not None
    assert row.memory.value == pytest.approx(1 / 12)


def test_what_the_names_alone_tell_is_measured_on_the_names_alone(tmp_path: Path) -> None:
    bench = library(closed=2)
    named = names_only(bench)
    assert named is not None
    assert [question.text for question in named.questions][-3:] == ["Lomerick", "Mirvale, Ostrike", "Norstane, Ostrike"]
    replies = well_read(bench) | {f"from what you know.\n{BRIEF}\n\n{COINED[0]}": COINED[12]}
    row = only_row(audit(bench, draws=0, settings=with_model(tmp_path, script(tmp_path / "m.jsonl", replies))))
    assert row.names_only is not None
    assert row.names_only.raw.n == 14
    assert row.names_only.raw.value == pytest.approx(1 / 14)


def test_failed_questions_are_counted_apart_and_never_as_wrong(tmp_path: Path) -> None:
    bench = library()
    replies = well_read(bench)
    del replies[with_evidence(bench.questions[3])]
    spec = script(tmp_path / "m.jsonl", replies)
    row = only_row(audit(bench, draws=0, settings=with_model(tmp_path, spec)))
    gold = part(row, "open").after.gold
    assert gold is not None
    assert (gold.raw.value, gold.raw.n, gold.failed) == (1, 11, 1)
    assert part(row, "open").gold_change is not None


# ── without a model ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_without_a_model_the_rest_is_measured_and_the_audit_says_what_is_missing(settings: Settings) -> None:
    found = audit(library(), draws=0, settings=settings)
    assert found.models == ()
    assert [(one.system, one.after.n) for one in found.retrieval] == [("bm25", 12), ("dense", 12)]
    assert found.original == "rebuilt from the template"
    assert ["--model SPEC" in line for line in found.missing] == [True, False]
    assert "--model SPEC" in str(found)


def test_retrieval_of_a_pure_renaming_is_the_same_for_bm25_and_few_questions_cannot_show_it(settings: Settings) -> None:
    [bm25, _] = audit(library(), draws=0, settings=settings).retrieval
    assert bm25.before is not None
    assert bm25.difference is not None
    assert (bm25.before.value, bm25.after.value, bm25.difference.value) == (1, 1, 0)
    assert bm25.equivalent is False  # twelve questions that all agree are too few for five points
    assert bm25.difference.high > 0.05


def test_the_structure_of_a_drawn_benchmark_is_the_same_by_construction(settings: Settings) -> None:
    [found] = audit(library(), draws=0, settings=settings).structure
    assert (found.label, found.n, found.after["edges"]) == ("by construction", 12, 1)
    assert set(found.drift.values()) == {0}


def test_graphs_that_were_found_again_are_re_extracted_and_may_drift(settings: Settings) -> None:
    bench = library()
    source = paired(bench, None).before
    lost = [
        q.model_copy(update={"graph": ReasoningGraph(entities=q.graph.entities)}) for q in bench.questions if q.graph
    ]
    changed = bench.model_copy(update={"questions": tuple(lost), "template": None})
    [found] = audit(changed, original=source, draws=0, settings=settings).structure
    assert found.label == "re-extracted"
    assert found.drift["edges"] == 1


def test_the_evidence_of_both_sides_is_read_anew_where_that_is_wanted(settings: Settings) -> None:
    question, again = audit(library(), draws=0, re_extract=True, settings=settings).structure
    assert (question.of, again.of, again.label) == ("question graphs", "evidence documents", "re-extracted")
    assert 0 < again.n <= 12
    assert again.before["edges"] > 0


def test_the_funnel_counts_rejections_by_check_and_by_what_their_reasons_have_in_common(settings: Settings) -> None:
    bench = library()
    draft = Draft(question=bench.questions[0])
    reasons = ("known without any document: 2 of 3 replies", "known without any document: 3 of 3 replies", "empty")
    rejected = tuple(
        Entry[Rejection](question_id="q0", by="leakage", value=Rejection(check="leakage", reason=why, draft=draft))
        for why in reasons
    )
    counts = {"planned": 15, "drafted": 15, "kept": 12, "rejected": 3, "failed": 0}
    step = Step(recipe="reseed", made=Made(component={}), ragstone="0", input="", counts=counts)
    [found] = audit(
        bench.model_copy(update={"rejected": rejected, "steps": (step,)}), draws=0, settings=settings
    ).funnel
    assert found.counts == counts
    assert found.rejected == {"leakage": {"known without any document: … of … replies": 2, "empty": 1}}


def test_three_examples_stand_beside_their_originals_and_direct_ones(settings: Settings) -> None:
    bench = library()
    direct = Benchmark(questions=(Question(id="x", parent="old-5", text="Who made it?", answers=(("Me",),)),))
    found = audit(bench, direct=direct, draws=0, settings=settings).examples
    assert len(found) == 3
    assert found[0].id == "q5"
    assert found[0].direct is not None
    assert found[0].original is not None
    assert (found[0].original.question, found[0].original.answer) == ("Who wrote Candide?", "Voltaire")
    assert found[0].reseeded.evidence == ("Fostrane is a book. It was written by Rostiver.",)


def test_fresh_draws_show_how_much_figures_vary(settings: Settings) -> None:
    found = audit(library(), draws=3, settings=settings).stability
    assert [(one.system, list(one.values), one.n) for one in found] == [
        ("bm25", ["1", "2", "3"], 12),
        ("dense", ["1", "2", "3"], 12),
    ]
    assert (found[0].mean, found[0].sd) == (1, 0)


# ── originals ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_original_that_is_given_is_matched_by_what_questions_were_made_from(settings: Settings) -> None:
    bench = library()
    before = paired(bench, None).before
    assert before is not None
    old = tuple(q.model_copy(update={"id": f"old-{i}", "parent": ""}) for i, q in enumerate(before.questions[:5]))
    decoy = old[0].model_copy(update={"id": "q1", "text": "Something else?"})
    source = before.model_copy(update={"questions": (*old, decoy)})
    matched = paired(bench, source).before
    assert matched is not None
    assert [(q.id, q.text) for q in matched.questions][:2] == [("q0", "Who wrote Ulysses?"), ("q1", "Who wrote Emma?")]
    found = audit(bench.model_copy(update={"template": None}), original=source, draws=0, settings=settings)
    assert found.questions == 5
    assert found.retrieval[0].difference is not None
    assert found.retrieval[0].difference.n == 5


def test_with_fewer_questions_both_sides_and_every_draw_search_as_many_documents(settings: Settings) -> None:
    bench = library()
    assert bench.template is not None

    def scoped(question: Question) -> Question:
        own = int(question.id[1:])
        return question.model_copy(update={"scope": (f"d{own}", f"d{(own + 1) % 12}")})

    template = bench.template.model_copy(update={"questions": tuple(map(scoped, bench.template.questions))})
    few = bench.model_copy(update={"questions": tuple(map(scoped, bench.questions[:3])), "template": template})
    pair = paired(few, None)
    work = Work(pair, Runs(settings), draws=2)
    corpora = [pair.after, pair.before, *(drawn for _, drawn in work.drawn())]
    assert [[it.id for it in one.documents] for one in corpora if one] == [["d0", "d1", "d2", "d3"]] * 4


def test_a_source_that_has_nothing_to_do_with_the_benchmark_is_refused(settings: Settings, rivers: Benchmark) -> None:
    with pytest.raises(DataError, match="no question of the benchmark was made from one in"):
        audit(library(), original=rivers, settings=settings)


def test_any_benchmark_can_be_audited_and_without_an_original_nothing_is_certified(
    tmp_path: Path, rivers: Benchmark
) -> None:
    spec = script(tmp_path / "m.jsonl", {"question": "North Sea"})
    found = audit(rivers, settings=with_model(tmp_path, spec))
    split = part(only_row(found), "open")
    assert (split.found, split.before) == ("no evidence", None)
    assert "no original" in split.why
    assert any("--original" in line for line in found.missing)
    assert found.stability == ()


# ── files, budget, further models ────────────────────────────────────────────────────────────────────────────────────


def test_the_audit_lies_beside_the_benchmark_and_the_benchmark_stays_whole(tmp_path: Path, settings: Settings) -> None:
    place = tmp_path / "bench"
    save(library(), place)
    found = audit(place, draws=0, settings=settings)
    assert Audit.model_validate_json((place / "audit.json").read_bytes()) == found
    assert (place / "AUDIT.md").read_text("utf-8").startswith("# Audit\n")
    assert fingerprint(load_benchmark(place)) == found.benchmark
    save(library(closed=1), place)  # another benchmark: the audit is still there, and known to be of another one
    assert (place / "audit.json").exists()
    with pytest.raises(ConfigError, match="no audit of these questions"):
        audit(place, add_model="embedded", draws=0, settings=settings)


def test_a_second_audit_asks_nothing_again_and_a_further_model_adds_a_dated_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGSTONE_API_KEY", "key")
    place = tmp_path / "bench"
    save(library(), place)
    with FaultServer() as server:
        chosen = with_model(tmp_path, "openai:one", base_url=server.url)
        first = audit(place, draws=0, settings=chosen)
        asked = len(server.requests)
        assert asked == 12 * 3 * 2 + 12
        assert audit(place, draws=0, settings=chosen) == first
        assert len(server.requests) == asked
        nobody = Settings(cache=tmp_path / "cache", base_url=server.url)
        grown = audit(place, add_model="openai:two", settings=nobody)
        assert len(server.requests) == 2 * asked
    assert [row.model.partition("@")[0] for row in grown.models] == ["openai:one", "openai:two"]
    assert all(row.at for row in grown.models)
    assert grown.models[0] == first.models[0]
    assert grown.model_copy(update={"models": ()}) == first.model_copy(update={"models": ()})


def test_all_runs_of_an_audit_share_one_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGSTONE_API_KEY", "key")
    place = tmp_path / "bench"
    save(library(), place)
    with FaultServer() as server:
        chosen = with_model(tmp_path, "openai:one", base_url=server.url, budget="50calls", concurrency=1)
        with pytest.raises(BudgetReached, match="of 50 calls"):
            audit(place, draws=0, settings=chosen)
        assert len(server.requests) == 50
        with pytest.raises(BudgetReached):
            audit(place, draws=0, settings=chosen)
        assert len(server.requests) == 50
        more = chosen.model_copy(update={"budget": "84calls"})
        assert len(audit(place, draws=0, settings=more).models) == 1
        assert len(server.requests) == 84


def test_the_command_prints_tables_for_people_and_json_for_machines(tmp_path: Path) -> None:
    bench = library()
    save(bench, tmp_path / "bench")
    spec = script(tmp_path / "m.jsonl", well_read(bench))
    command = [str(RAGSTONE), "audit", str(tmp_path / "bench"), "--model", spec, "--draws", "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "certified: at most 24.2% is known above chance" in done.stdout
    assert "how hard the evidence is to find among all documents" in done.stdout
    machine = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    assert Audit.model_validate_json(machine.stdout).models[0].parts[0].found == "certified"


def test_a_dry_run_counts_the_calls_of_every_run_and_makes_none(tmp_path: Path) -> None:
    spec = script(tmp_path / "m.jsonl", {"x": "y"})
    chosen = with_model(tmp_path, spec, budget="1calls")
    stages = {stage.stage: stage.calls for stage in foresee_audit(library(), settings=chosen) if stage.calls}
    assert stages == {
        "after: closed_book": 12,
        "after: closed_book(refusal=allowed)": 12,
        "after: oracle": 12,
        "before: closed_book": 12,
        "before: closed_book(refusal=allowed)": 12,
        "before: oracle": 12,
        "names: closed_book": 12,
    }


def test_a_model_that_knows_the_names_is_inconsistent_where_it_is_wrong(tmp_path: Path) -> None:
    bench = library()
    replies = well_read(bench) | {may_decline(question): "Dickens" for question in bench.questions[:3]}
    replies[f"<document 1>\n{COINED[0]}\n"] = '{"what": "a town in Ohio", "knows": true}'
    replies |= dict.fromkeys(COINED, '{"what": "", "knows": false}')
    spec = script(tmp_path / "m.jsonl", replies)
    row = only_row(audit(bench, draws=0, familiarity=True, settings=with_model(tmp_path, spec)))
    said = part(row, "open").said
    assert row.familiarity
    assert (said.inconsistent, said.confabulated, said.none) == (1, 2, 9)


def test_models_are_asked_on_fresh_draws_only_if_that_is_wanted(tmp_path: Path) -> None:
    bench = library()
    spec = script(tmp_path / "m.jsonl", well_read(bench))
    found = audit(bench, draws=2, ask_draws=True, settings=with_model(tmp_path, spec)).stability
    [asked] = [one for one in found if one.system.startswith("closed_book")]
    assert (list(asked.values), asked.mean, asked.n) == (["1", "2"], 0, 12)


def test_a_batch_of_all_that_models_are_asked_is_written_at_once(tmp_path: Path) -> None:
    save(library(), tmp_path / "bench")
    with pytest.raises(Waiting):
        audit(tmp_path / "bench", draws=0, settings=with_model(tmp_path, f"batch:some-model@{tmp_path / 'batch'}"))
    requests = (tmp_path / "batch" / "requests.jsonl").read_text("utf-8").splitlines()
    assert len(requests) == 12 * 3 * 2 + 12
