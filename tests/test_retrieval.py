"""Chunks, BM25, dense and hybrid search, and the indexes kept on disk."""

import math
import os
import resource
import shutil
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragstone import text
from ragstone.errors import ConfigError, DataError
from ragstone.kit import Embedder
from ragstone.retrieval.bm25 import STOP_WORDS, Bm25Index, words
from ragstone.retrieval.chunks import Chunk, chunk
from ragstone.retrieval.dense import DenseIndex, unit
from ragstone.retrieval.embedders import open_embedder
from ragstone.retrieval.hybrid import HybridIndex
from ragstone.retrieval.index_cache import kept
from ragstone.retrieval.ranking import Hit, Retriever
from ragstone.types import Document

ANIMALS = (
    "The red fox hunts mice at night.",
    "Grey wolves hunt deer in packs.",
    "A violin has four strings and a bow.",
    "The fox and the wolf are canids; the fox is smaller.",
)


def pieces(*texts: str) -> list[Chunk]:
    return chunk([Document(id=f"d{number}", text=each) for number, each in enumerate(texts)], None)


def ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.chunk.document_id for hit in hits]


@pytest.fixture(scope="module")
def wordllama() -> Embedder:
    return open_embedder("wordllama")


# ── chunks ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_short_document_is_one_chunk_of_exactly_its_extent() -> None:
    document = Document(id="d", title="Foxes", text=" Foxes hunt.\n")
    assert chunk([document], 512) == [Chunk("d", 0, 13, "Foxes\n Foxes hunt.\n")]
    assert chunk([document], None) == chunk([document], 512)


def test_a_document_with_only_a_title_is_one_chunk_and_an_empty_one_is_none() -> None:
    documents = [Document(id="a", title="Foxes", text=""), Document(id="b", text=" \n"), Document(id="c", text="")]
    assert chunk(documents, 512) == [Chunk("a", 0, 0, "Foxes")]


def test_a_long_document_is_cut_between_sentences_and_each_chunk_has_the_title() -> None:
    sentence = "Foxes hunt mice at night and sleep through the day. "
    document = Document(id="d", title="Foxes", text=sentence * 20)
    found = chunk([document], 32)
    assert len(found) > 5
    assert all(each.text == "Foxes\n" + document.text[each.start : each.end] for each in found)
    assert all(each.text.endswith(".") and each.end - each.start <= 32 * 4 for each in found)


def test_a_token_is_one_character_of_an_unspaced_script() -> None:
    found = chunk([Document(id="d", text="狐狸在夜里捕捉老鼠。" * 20)], 32)
    assert max(each.end - each.start for each in found) <= 32


def test_a_document_without_a_title_is_not_copied() -> None:
    document = Document(id="d", text="Foxes hunt mice. " * 9)
    assert chunk([document], None)[0].text is document.text


@given(st.text(st.sampled_from("ab é.\n狐狸、\U0001f98a\u0301\r"), max_size=300), st.integers(1, 20))
def test_offsets_point_at_the_piece_and_only_blanks_are_lost(body: str, size: int) -> None:
    found = chunk([Document(id="d", text=body)], size)
    assert all(each.text == body[each.start : each.end] for each in found)
    ends = [0, *(each.end for each in found)]
    starts = [*(each.start for each in found), len(body)]
    assert all(end <= start and not body[end:start].strip() for end, start in zip(ends, starts, strict=True))


# ── BM25 ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@given(st.text())
def test_words_of_spaced_text_are_the_tokens_without_stop_words(body: str) -> None:
    spaced = text.UNSPACED_CHARACTER.sub(" ", text.fold(body))
    assert words(spaced) == [token for token in text.tokens(spaced) if token not in STOP_WORDS]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("狐狸捕鼠", ["狐狸", "狸捕", "捕鼠"]),
        ("鼠", ["鼠"]),
        ("用Python写的狐狸", ["用", "python", "写的", "的狐", "狐狸"]),
        ("ｷﾂﾈ", ["キツ", "ツネ"]),
        ("The Ｆｏｘ of Straße", ["fox", "strasse"]),
    ],
)
def test_words_are_folded_and_unspaced_scripts_give_pairs(body: str, expected: list[str]) -> None:
    assert words(body) == expected


def test_a_bm25_score_is_the_sum_that_lucene_defines() -> None:
    [hit] = Bm25Index(pieces("fox fox wolf", "wolf deer", "violin bow string oboe")).search("Foxes? A fox!", 5)
    idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    assert hit.score == pytest.approx(idf * 2 / (2 + 1.5 * (0.25 + 0.75 * 3 / 3)), abs=1e-6)
    assert hit.row == 0


def test_k1_and_b_change_the_score() -> None:
    chunks = pieces("fox fox wolf deer bear", "wolf", "deer")
    plain, flat = (Bm25Index(chunks, k1=1.5, b=b).search("fox", 1)[0].score for b in (0.75, 0.0))
    assert plain < flat
    assert flat == pytest.approx(math.log(1 + 2.5 / 1.5) * 2 / (2 + 1.5), abs=1e-6)


def test_the_rarer_word_decides_and_chunks_without_any_word_are_no_hits() -> None:
    hits = Bm25Index(pieces(*ANIMALS)).search("Which fox hunts mice?", 10)
    assert ids(hits) == ["d0", "d3"]
    assert hits[0].score > hits[1].score > 0
    assert hits[0].chunk.text == ANIMALS[0]


@pytest.mark.parametrize("query", ["", "?!", "What is it of the", "xylophone"])
def test_a_query_without_a_known_word_finds_nothing(query: str) -> None:
    assert Bm25Index(pieces(*ANIMALS)).search(query, 10) == []


def test_a_word_counts_once_however_often_the_query_says_it() -> None:
    index = Bm25Index(pieces(*ANIMALS))
    assert index.search("fox fox FOX wolf", 10) == index.search("fox wolf", 10)


def test_equal_scores_come_in_the_order_of_the_chunks() -> None:
    index = Bm25Index(pieces(*["grey wolf", "red fox"] * 20))
    assert [hit.row for hit in index.search("fox", 5)] == [1, 3, 5, 7, 9]


@pytest.mark.parametrize(("k", "rows"), [(0, []), (-1, []), (1, [0]), (2, [0, 3]), (100, [0, 3])])
def test_at_most_k_hits_come_back(k: int, rows: list[int]) -> None:
    assert [hit.row for hit in Bm25Index(pieces(*ANIMALS)).search("fox mice", k)] == rows


@pytest.mark.parametrize("texts", [[], ["…", "?!"], ["the of"]])
def test_a_corpus_without_words_can_be_opened_and_finds_nothing(texts: list[str], tmp_path: Path) -> None:
    for cache in (None, tmp_path, tmp_path):
        assert Bm25Index(pieces(*texts), cache=cache).search("the fox", 5) == []


def test_chinese_is_found_by_pairs_of_characters() -> None:
    index = Bm25Index(
        pieces("红狐在夜里捕捉老鼠。", "灰狼成群地捕猎鹿。", "小提琴有四根弦和一把弓。", "狐和狼都是犬科动物。")
    )
    assert ids(index.search("小提琴有几根弦？", 5)) == ["d2"]
    assert ids(index.search("哪种动物捕捉老鼠？", 1)) == ["d0"]


# ── scope ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(params=["bm25", "dense", "hybrid"])
def retriever(request: pytest.FixtureRequest, wordllama: Embedder) -> Retriever:
    chunks = pieces(*ANIMALS)
    bm25, dense = Bm25Index(chunks), DenseIndex(chunks, wordllama)
    made: dict[str, Retriever] = {"bm25": bm25, "dense": dense, "hybrid": HybridIndex([bm25, dense])}
    return made[request.param]


def test_only_documents_in_scope_are_found(retriever: Retriever) -> None:
    assert ids(retriever.search("the fox hunts", 10, ["d3", "d3", "nowhere"])) == ["d3"]
    assert set(ids(retriever.search("fox wolf deer violin", 10, None))) == {"d0", "d1", "d2", "d3"}


def test_an_empty_scope_finds_nothing(retriever: Retriever) -> None:
    assert retriever.search("fox", 10, ()) == []


CORPUS = [
    Chunk(f"d{row // 2}", 0, 0, " ".join(("fox", "wolf", "deer", "bear", "mole")[at % 5] for at in range(row, row * 2)))
    for row in range(60)
]
BM25 = Bm25Index(CORPUS)


@given(st.sets(st.integers(0, 35)), st.integers(1, 70), st.sampled_from(["fox", "wolf bear", "mole deer fox wolf"]))
def test_a_scope_leaves_scores_and_order_as_they_are(documents: set[int], k: int, query: str) -> None:
    scope = {f"d{number}" for number in documents}
    expected = [hit for hit in BM25.search(query, len(CORPUS)) if hit.chunk.document_id in scope]
    assert BM25.search(query, k, scope) == expected[:k]


def test_a_small_scope_is_searched_without_scoring_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = BM25.search("fox", 5, ["d8", "d9"])
    monkeypatch.setattr(Bm25Index, "_score_all", lambda *_: pytest.fail("it scored all"))
    assert BM25.search("fox", 5, ["d8", "d9"]) == expected != []


# ── dense ────────────────────────────────────────────────────────────────────────────────────────────────────────────


class Given:
    """An embedder whose vectors are known beforehand; counts the texts that it was asked for."""

    def __init__(self, vectors: Mapping[str, Sequence[float]], name: str = "given") -> None:
        self.vectors = vectors
        self.name = name
        self.languages: tuple[str, ...] = ()
        self.asked = 0

    def embed(self, texts: Sequence[str], role: Literal["query", "passage"]) -> NDArray[np.float32]:
        self.asked += len(texts)
        return unit(np.array([self.vectors[each] for each in texts], dtype=np.float32))


def test_dense_search_finds_what_means_the_same(wordllama: Embedder) -> None:
    hits = DenseIndex(pieces(*ANIMALS), wordllama).search("musical instrument", 4)
    assert len(hits) == 4
    assert hits[0].chunk.document_id == "d2"
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(-1 <= hit.score <= 1 for hit in hits)


def test_a_dense_score_is_the_cosine() -> None:
    embedder = Given({"a": (1, 0), "b": (3, 4), "c": (-1e-8, 1), "query": (2, 0)})
    hits = DenseIndex(pieces("a", "b", "c"), embedder).search("query", 3)
    assert [(hit.row, hit.score) for hit in hits] == [(0, 1.0), (1, 0.6), (2, 0.0)]
    assert [math.copysign(1, hit.score) for hit in hits] == [1, 1, 1]


def test_equal_cosines_come_in_the_order_of_the_chunks() -> None:
    vectors = {f"{row}": (1.0, 2.0, 3.0) for row in range(500)}
    index = DenseIndex(pieces(*vectors), Given({**vectors, "query": (1.0, 1.0, 1.0)}))
    assert [hit.row for hit in index.search("query", 7)] == list(range(7))


def test_cosines_that_differ_only_by_the_order_of_adding_are_equal() -> None:
    rng = np.random.default_rng(3)
    numbers = rng.standard_normal(256)
    vectors = {f"{row}": rng.permutation(numbers).tolist() for row in range(500)}
    index = DenseIndex(pieces(*vectors), Given({**vectors, "query": [1.0] * 256}))
    assert [hit.row for hit in index.search("query", 7)] == list(range(7))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 400), st.sets(st.integers(0, 299)) | st.none())
def test_dense_search_is_exact(seed: int, k: int, documents: set[int] | None) -> None:
    drawn = np.random.default_rng(seed).integers(-2, 3, size=(301, 6))
    vectors = {f"{row}": tuple(map(float, vector)) for row, vector in enumerate(drawn)}
    index = DenseIndex(pieces(*[str(row) for row in range(300)]), Given(vectors))
    scope = None if documents is None else {f"d{number}" for number in documents}
    table = unit(drawn.astype(np.float32)).astype(np.float64)
    cosines = np.round(table[:300] @ table[300], 6)
    allowed = range(300) if documents is None else sorted(documents)
    expected = sorted(allowed, key=lambda row: -cosines[row])[:k] if drawn[300].any() else []
    found = index.search("300", k, scope)
    assert [hit.row for hit in found] == expected
    assert [hit.score for hit in found] == [cosines[row] for row in expected]


@pytest.mark.parametrize("query", ["", " \n"])
def test_a_blank_query_finds_nothing_by_meaning(query: str, wordllama: Embedder) -> None:
    assert DenseIndex(pieces(*ANIMALS), wordllama).search(query, 3) == []


def test_a_query_whose_vector_is_zero_finds_nothing() -> None:
    assert DenseIndex(pieces("a"), Given({"a": (1, 0), "query": (0, 0)})).search("query", 3) == []


def test_a_dense_index_of_nothing_finds_nothing(wordllama: Embedder, tmp_path: Path) -> None:
    for cache in (None, tmp_path, tmp_path):
        assert DenseIndex([], wordllama, cache).search("fox", 3) == []


def test_a_corpus_in_a_language_that_the_embedder_does_not_know_is_refused(wordllama: Embedder) -> None:
    with pytest.raises(
        ConfigError, match=r"corpus looks like zh, and the embedder wordllama:\S+ knows en; set --model"
    ):
        DenseIndex(pieces(*["红狐在夜里捕捉老鼠。"] * 9), wordllama)
    german = "Der Fuchs ist nicht mit dem Wolf auf der Jagd, und die Maus ist von dem Fuchs im Wald. " * 3
    with pytest.raises(ConfigError, match="looks like de"):
        DenseIndex(pieces(german), wordllama)


def test_a_query_in_a_script_that_the_embedder_does_not_know_is_refused(wordllama: Embedder) -> None:
    index = DenseIndex(pieces(*ANIMALS), wordllama)
    with pytest.raises(DataError, match="query looks like zh"):
        index.search("狐狸捕什么？", 3)


def test_an_english_list_of_nouns_is_not_taken_for_another_language(wordllama: Embedder) -> None:
    query = "What can be used to measure feet? lamphreys a graduated cylinder a metal a barometer a microscope a meter"
    assert len(DenseIndex(pieces(*ANIMALS), wordllama).search(f"{query} a stick a rock a base", 4)) == 4


def test_an_embedder_that_knows_any_language_may_index_any() -> None:
    vectors = {"红狐在夜里捕捉老鼠。": (1.0, 0.0), "狐狸": (1.0, 1.0)}
    assert len(DenseIndex(pieces("红狐在夜里捕捉老鼠。"), Given(vectors)).search("狐狸", 1)) == 1


def test_vectors_of_another_length_than_the_index_has_are_an_error() -> None:
    with pytest.raises(DataError, match="given gives vectors of 3 numbers, and the index has vectors of 2"):
        DenseIndex(pieces("a"), Given({"a": (1, 0), "query": (0, 0, 1)})).search("query", 3)


# ── hybrid ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class Fixed:
    """A retriever whose ranking is known beforehand."""

    def __init__(self, *rows: int) -> None:
        self.rows = rows

    def search(self, query: str, k: int, scope: Collection[str] | None = None) -> list[Hit]:
        return [Hit(row, Chunk(f"d{row}", 0, 1, "x"), 9.0) for row in self.rows[:k]]


def test_fusion_sums_reciprocal_ranks() -> None:
    hits = HybridIndex([Fixed(7, 3, 5), Fixed(3, 9)]).search("query", 10)
    assert [(hit.row, hit.score) for hit in hits] == [
        (3, round(1 / 62 + 1 / 61, 6)),
        (7, round(1 / 61, 6)),
        (9, round(1 / 62, 6)),
        (5, round(1 / 63, 6)),
    ]


def test_fused_ties_come_in_the_order_of_the_chunks() -> None:
    assert [hit.row for hit in HybridIndex([Fixed(8, 2), Fixed(5, 1)]).search("query", 3)] == [5, 8, 1]


def test_fusion_looks_as_deep_as_told_and_never_less_deep_than_k() -> None:
    deep = Fixed(*range(200))
    assert len(HybridIndex([deep], depth=100).search("query", 150)) == 150
    assert [hit.row for hit in HybridIndex([deep, Fixed(3)], depth=2).search("query", 2)] == [0, 3]


# ── the cache ────────────────────────────────────────────────────────────────────────────────────────────────────────


def only_index(cache: Path) -> Path:
    [folder] = (cache / "indexes").iterdir()
    return folder


def test_a_kept_bm25_index_gives_identical_hits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = Bm25Index(CORPUS).search("wolf bear", 60)
    assert Bm25Index(CORPUS, cache=tmp_path).search("wolf bear", 60) == fresh
    monkeypatch.setattr("ragstone.retrieval.bm25.weigh", lambda *_: pytest.fail("it was made again"))
    again = Bm25Index(CORPUS, cache=tmp_path)
    assert again.search("wolf bear", 60) == fresh
    assert again.search("wolf bear", 60, ["d7"]) == [hit for hit in fresh if hit.chunk.document_id == "d7"]


def test_a_kept_dense_index_gives_identical_hits_and_embeds_only_the_query(tmp_path: Path) -> None:
    embedder = Given({"a": (1, 0), "b": (3, 4), "query": (2, 1)})
    first = DenseIndex(pieces("a", "b"), embedder, tmp_path).search("query", 2)
    again = DenseIndex(pieces("a", "b"), embedder, tmp_path).search("query", 2)
    assert again == first == DenseIndex(pieces("a", "b"), embedder).search("query", 2)
    assert embedder.asked == (2 + 1) + 1 + (2 + 1)


def test_other_settings_other_texts_and_other_embedders_are_other_indexes(tmp_path: Path) -> None:
    Bm25Index(pieces("ab", "c"), cache=tmp_path)
    Bm25Index(pieces("ab", "c"), k1=0.9, cache=tmp_path)
    Bm25Index(pieces("a", "bc"), cache=tmp_path)
    for name in ("one", "other"):
        DenseIndex(pieces("a"), Given({"a": (1, 0)}, name), tmp_path)
    Bm25Index(pieces("a\x1e\x1fb"), cache=tmp_path)
    Bm25Index(pieces("a", "b"), cache=tmp_path)
    Bm25Index([Chunk("renamed", 5, 7, "ab"), Chunk("x", 0, 1, "c")], cache=tmp_path)  # as the first
    assert len(list((tmp_path / "indexes").iterdir())) == 7


@pytest.mark.parametrize("name", ["meta.json", "weights.npy", "postings.npy", "starts.npy", "words.npy"])
@pytest.mark.parametrize("damage", ["flipped", "cut", "gone", "empty"])
def test_a_damaged_index_is_named_with_what_to_do(name: str, damage: str, tmp_path: Path) -> None:
    Bm25Index(pieces(*ANIMALS), cache=tmp_path)
    folder = only_index(tmp_path)
    file = folder / name
    content = file.read_bytes()
    file.write_bytes(
        {"flipped": content[:-3] + bytes([content[-3] ^ 1]) + content[-2:], "cut": content[:-1]}.get(damage, b"")
    )
    if damage == "gone":
        file.unlink()
    with pytest.raises(DataError) as raised:
        Bm25Index(pieces(*ANIMALS), cache=tmp_path)
    assert str(raised.value).startswith(f"index cache {folder} is damaged (")
    assert str(raised.value).endswith("; delete it and run again")
    assert "\n" not in str(raised.value)
    shutil.rmtree(folder)
    assert Bm25Index(pieces(*ANIMALS), cache=tmp_path).search("mice", 1)


@pytest.mark.parametrize(
    "meta", [b"[]", b'{"format": 99, "sha256": {}}', b'{"format": 1}', b'{"format": 1, "sha256": 3}']
)
def test_a_strange_meta_file_is_a_damaged_index(meta: bytes, tmp_path: Path) -> None:
    Bm25Index(pieces(*ANIMALS), cache=tmp_path)
    (only_index(tmp_path) / "meta.json").write_bytes(meta)
    with pytest.raises(DataError, match="is damaged"):
        Bm25Index(pieces(*ANIMALS), cache=tmp_path)


@contextmanager
def without_rights() -> Iterator[None]:
    """Root may write anywhere, so it steps down for a while."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


def test_a_cache_that_cannot_be_written_is_named_before_any_work(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    embedder = Given({"a": (1, 0)})
    with (
        without_rights(),
        pytest.raises(ConfigError, match=f"cannot write {tmp_path}.*permission denied; it is the index cache"),
    ):
        DenseIndex(pieces("a"), embedder, tmp_path)
    assert embedder.asked == 0
    tmp_path.chmod(0o755)
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_place_of_the_cache_folder_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigError, match=f"cannot write {tmp_path}/file"):
        Bm25Index(pieces(*ANIMALS), cache=tmp_path / "file")


def test_a_full_disk_is_an_error_that_names_the_place_and_leaves_nothing(tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    vectors = {f"{row}": (1, 2, 3, 4) for row in range(1000)}
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(
            ConfigError, match=f"cannot write {tmp_path}/indexes/dense-.*: file too large; it is the index cache"
        ):
            DenseIndex(pieces(*vectors), Given(vectors), tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list((tmp_path / "indexes").iterdir()) == []


def test_an_error_while_indexing_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        DenseIndex(pieces("unknown"), Given({}), tmp_path)
    assert list((tmp_path / "indexes").iterdir()) == []


def test_of_two_that_make_the_same_index_at_once_either_may_win(tmp_path: Path) -> None:
    chunks = pieces("a")

    def make() -> dict[str, NDArray[np.float32]]:
        return {"vectors": np.ones((1, 2), dtype=np.float32)}

    def overtaken() -> dict[str, NDArray[np.float32]]:
        kept(tmp_path, "dense", {}, chunks, make)
        return make()

    assert kept(tmp_path, "dense", {}, chunks, overtaken)["vectors"].tolist() == [[1, 1]]
    assert only_index(tmp_path).name.startswith("dense-")


def test_text_without_any_border_is_cut_in_time() -> None:
    text = "水" * 100_000
    started = time.process_time()
    chunks = chunk([Document(id="d", text=text)], size=512)
    assert time.process_time() - started < 2
    assert "".join(text[piece.start : piece.end] for piece in chunks) == text
