"""What may be spent is read, counted and kept to."""

import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from ragstone.errors import BudgetReached, ConfigError, Waiting
from ragstone.llm.budget import Budget, Limits, Spent, check_priced, read_limits
from ragstone.llm.opening import Opener
from ragstone.llm.options import read_spec
from ragstone.llm.prices import FREE, Price


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("", Limits()),
        ("5", Limits(money=5)),
        ("$5", Limits(money=5)),
        ("0.25", Limits(money=0.25)),
        ("5usd", Limits(money=5)),
        ("5 USD", Limits(money=5)),
        ("1000calls", Limits(calls=1000)),
        ("1 call", Limits(calls=1)),
        ("0calls", Limits(calls=0)),
        ("2000000tokens", Limits(tokens=2_000_000)),
        ("2Mtokens", Limits(tokens=2_000_000)),
        ("1.5M tokens", Limits(tokens=1_500_000)),
        ("50k tokens", Limits(tokens=50_000)),
        ("$5, 1kcalls,2Mtokens", Limits(money=5, calls=1000, tokens=2_000_000)),
    ],
)
def test_a_budget_is_dollars_or_says_what_it_limits(text: str, limits: Limits) -> None:
    assert read_limits(text) == limits


@pytest.mark.parametrize(
    "text", ["five", "-1", "5eur", "2M", "$5calls", "1.5calls", "5,", ",", "nan", "inf", "1e3", "5 5", "calls", "1_000"]
)
def test_what_is_no_budget_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ConfigError, match="500calls") as raised:
        read_limits(text)
    assert repr(text) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_thing_that_is_limited_twice_is_refused() -> None:
    with pytest.raises(ConfigError, match="twice"):
        read_limits("5,$6")


def made(budget: Budget, most: Spent = Spent(1), tokens: int = 0, cost: float | None = 0.0) -> bool:  # noqa: B008
    """A call that may take `most` and takes the rest, if the budget lets it."""
    try:
        with budget.held(most) as bill:
            bill.pay(tokens, cost)
    except BudgetReached:
        return False
    return True


def test_the_limit_of_calls_is_exact_however_many_threads_ask() -> None:
    budget = Budget(Limits(calls=100))
    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(lambda _: made(budget), range(1000))) == 100
    assert budget.spent.calls == 100


def test_a_call_that_could_pass_a_limit_is_not_made() -> None:
    for limits in (Limits(tokens=1000), Limits(money=0.5)):
        budget = Budget(limits)
        assert made(budget, Spent(1, 500, 0.25), 400, 0.2)
        assert made(budget, Spent(1, 600, 0.3), 600, 0.3)
        assert not made(budget, Spent(1, 1, 0.01))


def test_a_call_waits_for_those_under_way_which_may_take_less_than_they_could() -> None:
    budget = Budget(Limits(tokens=1000))
    began, released = Event(), Event()

    def slow() -> None:
        with budget.held(Spent(1, 900)) as bill:
            began.set()
            released.wait()
            bill.pay(100, 0.0)

    with ThreadPoolExecutor(2) as pool:
        pool.submit(slow)
        began.wait()
        second = pool.submit(made, budget, Spent(1, 900), 900)
        time.sleep(0.05)
        assert not second.done()
        released.set()
        assert second.result()
    assert budget.spent == Spent(2, 1000)


def test_once_it_is_reached_no_call_is_made_not_even_a_small_one() -> None:
    budget = Budget(Limits(tokens=1000))
    assert made(budget, Spent(1, 900), 900)
    assert not made(budget, Spent(1, 200))
    assert not made(budget, Spent(1, 10))
    assert budget.spent == Spent(1, 900)


def test_what_is_held_becomes_what_is_spent_at_once() -> None:
    """With threads that change all the time, a moment in between would be found."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(20):
            budget = Budget(Limits(calls=20))
            with ThreadPoolExecutor(64) as pool:
                assert sum(pool.map(lambda _: made(budget), range(64))) == 20  # noqa: B023
    finally:
        sys.setswitchinterval(before)


def test_a_budget_that_would_be_forgotten_or_has_no_bound_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="a budget needs the cache"):
        Opener(purpose="run", limits=Limits(calls=5))
    opener = Opener(base_url="http://127.0.0.1:9/v1", cache=tmp_path, limits=Limits(tokens=500))
    for options in ("max_tokens=none", "max_completion_tokens=50000, max_tokens=none"):
        with pytest.raises(ConfigError, match="set it by max_tokens alone"):
            opener.model(f"openai:m({options})")


def test_a_call_that_was_not_made_after_all_costs_nothing() -> None:
    budget = Budget(Limits(calls=1))
    with pytest.raises(Waiting), budget.held(Spent(1)):
        raise Waiting("written down")
    assert budget.spent == Spent()
    assert made(budget)


def test_what_was_spent_before_counts_too() -> None:
    assert not made(Budget(Limits(calls=100), Spent(calls=100)))
    assert made(Budget(Limits(calls=101), Spent(calls=100)))


def test_a_reached_budget_says_what_was_spent_of_what_and_how_to_go_on() -> None:
    said = {
        "$0.4900 of $0.5 are spent, and the next call may take $0.0200": Budget(Limits(money=0.5), Spent(money=0.49)),
        "1,990 of 2,000 tokens are spent, and the next call may take 40": Budget(
            Limits(tokens=2000), Spent(tokens=1990)
        ),
        "7 of 7 calls are spent": Budget(Limits(calls=7), Spent(calls=7)),
    }
    for amount, budget in said.items():
        with pytest.raises(BudgetReached) as raised, budget.held(Spent(1, 40, 0.02)):
            pass
        assert str(raised.value) == f"the budget is reached: {amount}; raise --budget to go on from here"


def test_a_budget_in_dollars_needs_every_price() -> None:
    prices = {"known": Price(input=1, output=2), "local": FREE, "mystery-7b": None}
    check_priced(Limits(calls=5), prices)
    check_priced(Limits(money=5), {"known": Price(input=1, output=2), "local": FREE})
    with pytest.raises(ConfigError, match=r'price of mystery-7b is not known.*\["mystery-7b"\]') as raised:
        check_priced(Limits(money=5), prices)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("spec", ["openai:mine", "batch:mine@calls", "embedder"])
def test_a_price_written_as_the_error_says_is_found(tmp_path: Path, spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    prices = tmp_path / "prices.toml"

    def opened() -> object:
        file = prices if prices.exists() else None
        opener = Opener(base_url="http://127.0.0.1:9/v1", cache=tmp_path, limits=Limits(money=5), prices=file)
        return opener.endpoint(read_spec("openai:mine")) if spec == "embedder" else opener.model(spec)

    with pytest.raises(ConfigError, match="is not known") as raised:
        opened()
    table = re.search(r"write (\[.*\]) and under it", str(raised.value))
    assert table
    prices.write_text(f"{table[1]}\ninput = 1\noutput = 2\n")
    assert opened()


def test_what_was_spent_is_told_in_short() -> None:
    assert Budget(None, Spent(340, 1_234_567, 0.01234)).spent_text() == "$0.0123 · 1.2M tokens · 340 calls"
    assert Budget(None, Spent(12_345, 45_678, 0.0)).spent_text() == "45.7k tokens · 12.3k calls"
    unpriced = Budget()
    assert made(unpriced, tokens=999, cost=None)
    assert unpriced.spent_text() == "cost not known · 999 tokens · 1 calls"
