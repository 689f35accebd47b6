"""Of identical calls under way one is made; errors reach everyone who asked; nothing grows with the calls."""

import gc
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from ragstone.errors import BudgetReached, ConfigError, DataError, ModelError, RagstoneError, Waiting
from ragstone.llm.budget import Budget, Limits, Spent
from ragstone.llm.cache import ReplyCache
from ragstone.llm.meter import tallied
from ragstone.llm.model import LanguageModel, asked, call_key
from ragstone.llm.prices import Price
from ragstone.llm.samples import sampled
from ragstone.types import Call, Reply


class Answering:
    """A backend that answers by a function and counts its calls."""

    name = "answering"

    def __init__(self, answer: Callable[[Call], Reply], keeps: bool = True) -> None:
        self.keeps = keeps
        self.made = 0
        self._answer = answer
        self._lock = threading.Lock()

    def complete(self, call: Call) -> Reply:
        with self._lock:
            self.made += 1
        return self._answer(call)


def echo(call: Call) -> Reply:
    return Reply(text=call.messages[-1].content.upper(), input_tokens=100, output_tokens=50)


def together(model: LanguageModel, backend: Answering, gate: threading.Event, n: int) -> list[Reply | BaseException]:
    """What n threads get that ask the same while the first call waits at the gate."""
    arrived = threading.Barrier(n + 1)

    def one(_: int) -> Reply | BaseException:
        arrived.wait()
        try:
            return model.ask(asked("same"))
        except RagstoneError as error:
            return error

    with ThreadPoolExecutor(n) as pool:
        results = [pool.submit(one, number) for number in range(n)]
        arrived.wait()
        threading.Timer(0.2, gate.set).start()
        return [result.result() for result in results]


@pytest.mark.parametrize("keeps", [True, False])
def test_sixty_four_threads_that_ask_the_same_make_one_call(tmp_path: Path, keeps: bool) -> None:
    gate = threading.Event()
    backend = Answering(lambda call: (gate.wait(), echo(call))[1], keeps)
    budget = Budget()
    replies = together(LanguageModel(backend, ReplyCache(tmp_path), budget), backend, gate, 64)
    assert replies == [echo(asked("same"))] * 64
    assert backend.made == 1
    assert budget.spent == Spent(1, 150, 0.0)


@pytest.mark.parametrize("kind", [ModelError, Waiting, ConfigError])
def test_an_error_reaches_everyone_who_waits_as_an_error_of_their_own(kind: type[RagstoneError]) -> None:
    gate = threading.Event()

    def failing(call: Call) -> Reply:
        gate.wait()
        raise kind("no reply to this")

    backend = Answering(failing)
    errors = together(LanguageModel(backend), backend, gate, 16)
    assert backend.made == 1
    assert {type(error) for error in errors} == {kind}
    assert {str(error) for error in errors} == {"no reply to this"}
    assert len({id(error) for error in errors}) == 16, "what one does with its error would show in another's"


def test_after_a_failure_the_same_call_is_made_again() -> None:
    outcomes = iter([ModelError("not now"), None])

    def answer(call: Call) -> Reply:
        if error := next(outcomes):
            raise error
        return echo(call)

    model = LanguageModel(Answering(answer))
    with pytest.raises(ModelError, match="not now"):
        model.ask(asked("a"))
    assert model.ask(asked("a")).text == "A"


def test_a_bug_in_a_backend_stays_a_bug() -> None:
    def broken(call: Call) -> Reply:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        LanguageModel(Answering(broken)).ask(asked("a"))


def test_calls_that_fail_count_too_and_are_remembered(tmp_path: Path) -> None:
    def failing(call: Call) -> Reply:
        error = ModelError("the thought was cut off")
        error.tries, error.tokens = 4, (100, 50)
        raise error

    budget = Budget(Limits(calls=2))
    model = LanguageModel(Answering(failing), ReplyCache(tmp_path, "run"), budget, Price(input=1, output=10))
    for prompt in ("a", "b"):
        with pytest.raises(ModelError):
            model.ask(asked(prompt))
    assert budget.spent == pytest.approx(Spent(2, 300, 0.0012))
    assert ReplyCache(tmp_path).spent("run") == pytest.approx(Spent(2, 300, 0.0012))
    with pytest.raises(BudgetReached, match="2 of 2 calls"):
        model.ask(asked("c"))


def test_a_reply_that_nobody_could_use_is_asked_for_anew_only_when_it_is_tried_again(tmp_path: Path) -> None:
    backend = Answering(echo)
    model = LanguageModel(backend, ReplyCache(tmp_path))
    for _ in range(2):
        with pytest.raises(ModelError, match="no usable"):
            model.ask_for(Price, "a price, please")
    assert backend.made == 2  # with a turn to repair it; the second time both are in the cache
    trying_again = LanguageModel(backend, ReplyCache(tmp_path), asks_anew=True)
    with pytest.raises(ModelError, match="no usable"):
        trying_again.ask_for(Price, "a price, please")
    assert backend.made == 4


def test_a_call_that_waits_for_a_batch_is_not_counted() -> None:
    def waiting(call: Call) -> Reply:
        raise Waiting("written down")

    budget = Budget(Limits(calls=1))
    model = LanguageModel(Answering(waiting), budget=budget)
    for prompt in ("a", "b", "c"):
        with pytest.raises(Waiting):
            model.ask(asked(prompt))
    assert budget.spent == Spent()


def test_of_samples_that_wait_all_are_asked_for_whatever_becomes_of_one() -> None:
    seen = []

    def ask(number: int, temperature: float) -> None:
        seen.append(number)
        raise ModelError("failed in the batch") if number == 1 else Waiting("written down")

    with pytest.raises(Waiting):
        list(sampled(ask, 4))
    assert seen == [0, 1, 2, 3]


def test_recalled_replies_cost_no_budget_and_no_call(tmp_path: Path) -> None:
    backend = Answering(echo)
    budget = Budget(Limits(calls=1))
    model = LanguageModel(backend, ReplyCache(tmp_path), budget, Price(input=1, output=10))
    with tallied() as tally:
        first = model.ask(asked("a"))
        assert [model.ask(asked("a")) for _ in range(3)] == [first] * 3
    assert (backend.made, budget.spent.calls) == (1, 1)
    assert (tally.calls, tally.input_tokens, tally.output_tokens) == (4, 400, 200)
    assert tally.cost == pytest.approx(4 * 0.0006), "what an answer takes does not depend on who asked before"
    assert budget.spent.money == pytest.approx(0.0006)
    with pytest.raises(BudgetReached):
        model.ask(asked("b"))


def test_the_budget_is_never_passed_and_nearly_used_up_however_many_calls_are_under_way(tmp_path: Path) -> None:
    """A call takes 150 tokens and may take 202 or so: when the last begins there is room for that."""
    budget = Budget(Limits(tokens=3000))
    model = LanguageModel(Answering(echo), ReplyCache(tmp_path), budget)

    def one(number: int) -> None:
        with suppress(BudgetReached):
            model.ask(asked(f"question {number}", max_tokens=200))

    with ThreadPoolExecutor(64) as pool:
        list(pool.map(one, range(200)))
    assert 3000 - 210 < budget.spent.tokens <= 3000
    assert ReplyCache(tmp_path).summary().models[0].tokens == budget.spent.tokens, "what was paid for is kept"


def test_calls_differ_by_everything_that_a_reply_depends_on() -> None:
    call = asked("a")
    others = [
        asked("b"),
        asked("a", sample=1),
        asked("a", temperature=0.5),
        asked("a", temperature=None),
        asked("a", max_tokens=5),
        call.model_copy(update={"reply_schema": {"type": "object"}}),
        call.model_copy(update={"logprobs": True}),
    ]
    keys = {call_key("m", call), call_key("other", call), *(call_key("m", other) for other in others)}
    assert len(keys) == 2 + len(others)
    assert call_key("m", asked("a")) == call_key("m", call)


def test_a_prompt_that_cannot_be_written_is_an_error_of_its_item() -> None:
    with pytest.raises(DataError, match="half a character"):
        LanguageModel(Answering(echo)).ask(asked("\ud800"))


def test_a_hundred_thousand_calls_leave_nothing_behind(tmp_path: Path) -> None:
    def answer(call: Call) -> Reply:
        if call.messages[0].content.endswith("7"):
            raise ModelError("no")
        return echo(call)

    model = LanguageModel(Answering(answer, keeps=False), budget=Budget(Limits(calls=10**9)))
    numbers = iter(range(10**9))

    def ask(times: int) -> None:
        for _ in range(times):
            with suppress(ModelError):
                model.ask(asked(f"question {next(numbers)}"))

    gc.disable()  # what only the collector would free counts as left behind
    try:
        ask(1000)
        before = sys.getallocatedblocks()
        ask(100_000)
        assert sys.getallocatedblocks() - before < 1000
    finally:
        gc.enable()
