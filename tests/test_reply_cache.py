"""Replies are kept, counted, pruned, moved and recalled fast."""

import gc
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ragstone.errors import ConfigError
from ragstone.files import sha256
from ragstone.llm.budget import Spent
from ragstone.llm.cache import FILE, Kept, ReplyCache
from ragstone.llm.model import LanguageModel, asked
from ragstone.llm.moving import move
from ragstone.types import Call, Reply

CALL = asked("In which sea does the Nile end?")
REPLY = Reply(text="The Mediterranean “Sea”", thought="hm", input_tokens=12, output_tokens=5, logprobs=(-0.1, -2.5))


def key(name: object) -> str:
    return sha256(str(name).encode())


def keep(cache: ReplyCache, name: object, model: str = "m", cost: float | None = 0.25) -> None:
    cache.commit(key(name), f"reply {name}".encode(), Kept(model=model, tokens=10, cost=cost))


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[ReplyCache]:
    with closing(ReplyCache(tmp_path / "cache", purpose="run-1")) as cache:
        yield cache


# ── keeping ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_reply_comes_back_whole(cache: ReplyCache) -> None:
    assert cache.get(key("a")) is None
    assert cache.put(key("a"), "m", CALL, REPLY, 0.5) == REPLY
    assert cache.get(key("a")) == REPLY
    with closing(ReplyCache(cache.path.parent)) as other:
        assert other.get(key("a")) == REPLY


def test_the_first_reply_counts(cache: ReplyCache) -> None:
    cache.put(key("a"), "m", CALL, REPLY, None)
    assert cache.put(key("a"), "m", CALL, Reply(text="other"), None) == REPLY
    assert cache.get(key("a")) == REPLY


def test_a_cache_that_nobody_closed_leaves_no_warning(tmp_path: Path) -> None:
    unclosed = ReplyCache(tmp_path)
    keep(unclosed, "a")
    del unclosed
    gc.collect()  # a connection that is still open would warn, and warnings are errors
    assert not (tmp_path / f"{FILE}-wal").exists(), "the last one to close tidies up"


def test_what_was_spent_is_known_for_each_purpose(cache: ReplyCache) -> None:
    cache.put(key("a"), "m", CALL, Reply(text="a", input_tokens=7, output_tokens=3, tries=4), 0.5)
    cache.put(key("b"), "free", CALL, Reply(text="b", input_tokens=1), None)
    with closing(ReplyCache(cache.path.parent, purpose="run-2")) as other:
        keep(other, "a")  # another was faster, and yet it was paid for
        keep(other, "c")
        other.spend(5, 0.125)  # a call that failed
    assert cache.prune(model="m") == 2
    assert cache.spent("run-1") == Spent(calls=2, tokens=11, money=0.5)
    assert cache.spent("run-2") == Spent(calls=3, tokens=25, money=0.625)
    assert cache.spent("run-3") == Spent()


def test_the_summary_tells_what_each_model_has(cache: ReplyCache) -> None:
    begun = time.time()
    for name in range(3):
        keep(cache, name, model="dear")
    keep(cache, "x", model="unpriced", cost=None)
    summary = cache.summary()
    dear, unpriced = summary.models
    assert (summary.entries, dear.model, dear.entries, dear.tokens, dear.cost) == (4, "dear", 3, 30, 0.75)
    assert (unpriced.model, unpriced.entries, unpriced.cost) == ("unpriced", 1, None)
    assert begun <= dear.oldest <= dear.newest <= unpriced.newest <= time.time()
    assert summary.bytes == sum(path.stat().st_size for path in cache.path.parent.iterdir())


def test_pruning_removes_by_age_and_by_model_and_gives_the_room_back(cache: ReplyCache) -> None:
    for name in range(2000):
        keep(cache, name, model="old" if name < 1990 else "new")
    full = cache.summary().bytes
    assert cache.prune(older_than=3600) == 0
    assert cache.prune(older_than=3600, model="old") == 0
    assert cache.prune(model="old") == 1990
    assert [model.model for model in cache.summary().models] == ["new"]
    assert cache.summary().bytes < full / 3
    assert cache.prune(older_than=0) == 10
    assert cache.summary().entries == 0


def test_pruning_without_saying_what_is_refused(cache: ReplyCache) -> None:
    keep(cache, "a")
    with pytest.raises(ConfigError, match="which replies"):
        cache.prune()
    assert cache.summary().entries == 1


# ── moving ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def filled(folder: Path, names: range) -> Path:
    with closing(ReplyCache(folder, purpose="run")) as cache:
        for name in names:
            keep(cache, name)
    return folder


def test_moving_merges_and_then_removes_the_source(tmp_path: Path) -> None:
    source, target = filled(tmp_path / "a", range(60)), filled(tmp_path / "b", range(40, 100))
    assert move(source, target) == 40
    assert not list(source.iterdir())
    with closing(ReplyCache(target)) as cache:
        assert all(cache.recall(key(name)) == f"reply {name}".encode() for name in range(100))
        assert cache.spent("run") == Spent(120, 1200, 30.0)  # twenty were paid for in both places


def test_a_cache_that_another_process_uses_is_not_moved(tmp_path: Path) -> None:
    source = filled(tmp_path / "a", range(5))
    with closing(ReplyCache(source)) as in_use:
        with pytest.raises(ConfigError, match="another process uses it"):
            move(source, tmp_path / "b")
        keep(in_use, "late")
    assert move(source, tmp_path / "b") == 6


def test_a_move_from_nowhere_or_to_itself_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no reply cache in"):
        move(tmp_path, tmp_path / "b")
    assert not (tmp_path / "b").exists()
    source = filled(tmp_path / "a", range(5))
    (tmp_path / "link").symlink_to(source)
    with pytest.raises(ConfigError, match="already"):
        move(source, tmp_path / "link")
    with closing(ReplyCache(source)) as cache:
        assert cache.summary().entries == 5


# ── what must not be in it, and how fast it is ───────────────────────────────────────────────────────────────────────


class WithKey:
    """A backend that needs a key to reply."""

    name = "openai:with-key"
    keeps = True

    def __init__(self, secret: str) -> None:
        self._secret = secret

    def complete(self, call: Call) -> Reply:
        assert self._secret
        return Reply(text="The Mediterranean Sea. " * 5, input_tokens=500, output_tokens=30)


def test_a_key_never_gets_into_the_cache(cache: ReplyCache) -> None:
    model = LanguageModel(WithKey("sk-very-secret-5150"), cache)
    model.ask(CALL)
    model.ask(CALL)
    files = list(cache.path.parent.iterdir())
    assert len(files) == 3, "with the log, where the reply is"
    written = b"".join(path.read_bytes() for path in files)
    assert b"Mediterranean" in written
    assert b"very-secret" not in written
