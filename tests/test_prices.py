"""Tokens have the price of the server that counts them, or none."""

import socket
from pathlib import Path

import pytest

from ragstone.errors import ConfigError
from ragstone.llm.prices import FREE, Price, Tier, price_of

OPENAI = "https://api.openai.com/v1"


def test_a_call_costs_its_tokens() -> None:
    assert Price(input=0.15, output=0.6).of(1_000_000, 500_000) == pytest.approx(0.45)
    assert FREE.of(1_000_000, 1_000_000) == 0


def test_every_token_of_a_long_call_costs_what_its_tier_says() -> None:
    tiers = (Tier(above=1000, input=2, output=20), Tier(above=5000, input=4, output=40))
    price = Price(input=1, output=10, call=0.5, tiers=tiers)
    assert price.of(1000, 100) == pytest.approx(0.5 + (1000 * 1 + 100 * 10) / 1e6)
    assert price.of(1001, 100) == pytest.approx(0.5 + (1001 * 2 + 100 * 20) / 1e6)
    assert price.of(6000, 100) == pytest.approx(0.5 + (6000 * 4 + 100 * 40) / 1e6)


def test_list_prices_are_those_of_the_provider_at_the_address() -> None:
    assert price_of("gpt-4o-mini") == price_of("gpt-4o-mini", OPENAI) == Price(input=0.15, output=0.6)
    claude = price_of("claude-3-haiku-20240307", "https://api.anthropic.com/v1/")
    assert claude == Price(input=0.25, output=1.25)


def test_a_price_that_grows_with_the_input_has_its_tiers() -> None:
    price = price_of("gemini-2.5-pro", "https://generativelanguage.googleapis.com/v1beta/openai/")
    assert price
    assert price.tiers
    tier = price.tiers[0]
    assert price.of(tier.above, 0) < price.of(tier.above + 1, 0) / 1.5
    assert tier.output > price.output


def test_a_price_may_have_a_part_for_each_call() -> None:
    price = price_of("sonar", "https://api.perplexity.ai")
    assert price
    assert price.of(0, 0) == price.call > 0


@pytest.mark.parametrize(
    ("model", "base_url"),
    [
        ("gpt-4o", "http://127.0.0.1:8000/v1"),
        ("gpt-4o", "http://localhost:8000/v1"),
        ("gpt-4o", "https://models.example.org/v1"),
        ("no-such-model", OPENAI),
        ("tts-1", OPENAI),  # not sold by tokens
    ],
)
def test_a_price_that_nobody_told_is_not_known(model: str, base_url: str) -> None:
    assert price_of(model, base_url) is None


def test_the_price_file_comes_first(tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text('["gpt-4o-mini"]\ninput = 1\noutput = 2.5\n["my-llama"]\ninput = 0\noutput = 0\n')
    assert price_of("gpt-4o-mini", OPENAI, file) == Price(input=1, output=2.5)
    assert price_of("my-llama", "http://127.0.0.1:8000/v1", file) == FREE
    assert price_of("gpt-4o", OPENAI, file) == price_of("gpt-4o", OPENAI)
    as_json = tmp_path / "prices.json"
    as_json.write_text('{"my-llama": {"input": 3, "output": 4, "tiers": [{"above": 9, "input": 5, "output": 6}]}}')
    assert price_of("my-llama", "", as_json) == Price(input=3, output=4, tiers=(Tier(above=9, input=5, output=6),))


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("input = ", "prices.toml"),
        ("gpt = 5", "gpt"),
        ('["gpt"]\ninput = 1', "output: field required"),
        ('["gpt"]\ninput = -1\noutput = 1', "greater than or equal to 0"),
        ('["gpt"]\ninput = 1\noutput = 1\nuotput = 1', "uotput"),
        (b"\xff\xfe", "utf-8"),
    ],
)
def test_a_wrong_price_file_is_one_line_with_an_example(tmp_path: Path, written: str | bytes, problem: str) -> None:
    file = tmp_path / "prices.toml"
    file.write_bytes(written if isinstance(written, bytes) else written.encode())
    with pytest.raises(ConfigError, match=r'\["gpt-4o-mini"\]') as raised:
        price_of("gpt", "", file)
    assert problem in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_missing_price_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"prices\.toml: no such file"):
        price_of("gpt", "", tmp_path / "prices.toml")


def test_prices_are_never_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("something was to be fetched")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    assert price_of("gpt-4o")
