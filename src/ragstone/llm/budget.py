"""What a command may spend."""

import re
from collections.abc import Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import contextmanager
from threading import Condition
from typing import NamedTuple

from pydantic import NonNegativeFloat, NonNegativeInt

from ragstone.errors import BudgetReached, ConfigError
from ragstone.llm.prices import Price
from ragstone.parallel import interruption
from ragstone.types import Record

MONEY = re.compile(r"\$ ?(?P<signed>\d+(?:\.\d+)?)|(?P<plain>\d+(?:\.\d+)?) ?(?:usd)?")
COUNT = re.compile(r"(?P<number>\d+(?:\.\d+)?) ?(?P<times>[km]?) ?(?P<kind>call|token)s?")
LOOK_SECONDS = 0.5  # how often a waiting call looks whether someone interrupts
TIMES = {"": 1, "k": 1_000, "m": 1_000_000}


class Limits(Record):
    """The most that may be spent; None: no limit."""

    calls: NonNegativeInt | None = None
    tokens: NonNegativeInt | None = None
    money: NonNegativeFloat | None = None  # in US dollars


class Spent(NamedTuple):
    """What calls took."""

    calls: int = 0  # a call that is tried again is the same call
    tokens: int = 0
    money: float = 0.0  # in US dollars, as far as prices are known


NOTHING = Spent()


def read_limits(text: str) -> Limits:
    """`5` is five dollars, `500calls` and `2Mtokens` say what they are, commas join several, nothing is no limit."""
    read = [read_limit(part.strip().lower(), text) for part in text.split(",")] if text.strip() else []
    limits = dict(read)
    if len(limits) < len(read):
        raise ConfigError(f"the budget {text!r} limits the same thing twice; write each limit once")
    return Limits.model_validate(limits)


def read_limit(part: str, text: str) -> tuple[str, float]:
    """What one part limits, and how much of it."""
    if money := MONEY.fullmatch(part):
        return "money", float(money["signed"] or money["plain"])
    count = COUNT.fullmatch(part)
    amount = round(float(count["number"]) * TIMES[count["times"]], 6) if count else 0.5
    if not count or amount % 1:
        raise ConfigError(f"cannot read the budget {text!r}; write dollars as 5, or 500calls, 2Mtokens or 5,500calls")
    return f"{count['kind']}s", int(amount)


def check_priced(limits: Limits, prices: Mapping[str, Price | None]) -> None:
    """Refuses a limit in dollars for a model, named as in a price file, whose price nobody knows."""
    unknown = [model for model, price in prices.items() if price is None]
    if limits.money is not None and unknown:
        raise ConfigError(
            f"the price of {unknown[0]} is not known, and a budget in dollars needs it; in the file that `prices` "
            f'names, write ["{unknown[0]}"] and under it input = … and output = …, in dollars for a million tokens'
        )


class Bill:
    """What one call took; nothing, if it was not made after all."""

    def __init__(self) -> None:
        self.spent = Spent()
        self.priced = True

    def pay(self, tokens: int, cost: float | None) -> None:
        """Without a cost, no price is known."""
        self.spent, self.priced = Spent(1, tokens, cost or 0.0), cost is not None


def paid(tokens: int, cost: float | None) -> Bill:
    """The bill of a call that was made elsewhere."""
    bill = Bill()
    bill.pay(tokens, cost)
    return bill


class Budget:
    """Counts what calls take, and stops before one that could pass a limit.

    What a call may take at most is held while it is under way. Where that leaves no room, the next call waits until
    those under way have taken less, and only then is the budget reached: so it is passed only by a call that takes more
    than it was thought it could.
    """

    def __init__(self, limits: Limits | None = None, already: Spent | None = None) -> None:
        self.limits = limits or Limits()
        self._spent, self._held = already or Spent(), Spent()
        self._unpriced = False
        self._reached = ""  # what there is too little of
        self._room = Condition()

    @property
    def is_limited(self) -> bool:
        return self.limits != Limits()

    @property
    def spent(self) -> Spent:
        """Everything so far, with what was spent before."""
        return self._spent

    @contextmanager
    def held(self, most: Spent) -> Iterator[Bill]:
        """Holds what a call may take at most, until it is known what it took."""
        self._admit(most)
        bill = Bill()
        try:
            yield bill
        finally:
            self.add(bill, most)

    def add(self, bill: Bill, held: Spent = NOTHING) -> None:
        """Adds what was spent, in place of what was held for it."""
        with self._room:
            self._held = minus(self._held, held)
            self._spent = plus(self._spent, bill.spent)
            self._unpriced |= not bill.priced
            self._room.notify_all()

    def _admit(self, most: Spent) -> None:
        with self._room:
            while kind := self._reached or self._lacking(most):
                if not self._held.calls:
                    self._reached = kind  # from now on for every call, also for one that would fit
                    raise BudgetReached(told(kind, getattr(self.limits, kind), self._spent, most))
                self._room.wait(LOOK_SECONDS)
                if interruption().is_set():
                    raise CancelledError
            self._held = plus(self._held, most)

    def _lacking(self, most: Spent) -> str:
        """What there is too little of for such a call, if anything."""
        needed = plus(plus(self._spent, self._held), most)._asdict()
        return next((kind for kind, limit in self.limits if limit is not None and needed[kind] > limit), "")

    def spent_text(self) -> str:
        """What was spent, for a progress bar; calls that are free have no price."""
        calls, tokens, money = self.spent
        price = f"${money:.4f} · " if money else ""
        return f"{'cost not known · ' if self._unpriced else price}{short(tokens)} tokens · {short(calls)} calls"


def plus(one: Spent, other: Spent) -> Spent:
    return Spent(one.calls + other.calls, one.tokens + other.tokens, one.money + other.money)


def minus(one: Spent, other: Spent) -> Spent:
    return Spent(one.calls - other.calls, one.tokens - other.tokens, one.money - other.money)


def told(kind: str, limit: float, spent: Spent, most: Spent) -> str:
    """What is spent of what, and what the next call may take."""
    shown = {
        "money": (f"${spent.money:.4f} of ${limit:g}", f"${most.money:.4f}"),
        "tokens": (f"{spent.tokens:,} of {limit:,} tokens", f"{most.tokens:,}"),
        "calls": (f"{spent.calls:,} of {limit:,} calls", ""),
    }
    amount, further = shown[kind]
    next_call = f", and the next call may take {further}" if further else ""
    return f"the budget is reached: {amount} are spent{next_call}; raise --budget to go on from here"


def short(number: int) -> str:
    """1234567 as 1.2M, and 340 as it is."""
    for size, sign in ((1_000_000, "M"), (10_000, "k")):
        if number >= size:
            return f"{number / (1_000 if sign == 'k' else size):.1f}{sign}"
    return str(number)
