"""Cuts documents into the pieces that are indexed, retrieved and read."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from semantic_text_splitter import TextSplitter

from ragstone.text import is_unspaced
from ragstone.types import Document

CHARACTERS_PER_TOKEN = 4
"""For spaced text; a character of an unspaced script counts as a token."""

UNBROKEN = re.compile(r"\w{5000}")


class Chunk(NamedTuple):
    """A piece of a document: `document.text[start:end]`."""

    document_id: str
    start: int
    end: int
    text: str  # what is indexed and read: the title, if there is one, and the piece


def chunk(documents: Sequence[Document], size: int | None) -> list[Chunk]:
    """The documents in pieces of at most `size` tokens, cut at paragraphs, sentences or words; None: left whole.

    The title is not counted. A document that fits is one chunk of exactly its extent, a document with only a title is
    one chunk too, and one with neither title nor text gives none.
    """
    return [
        Chunk(document.id, start, end, titled(document.title, document.text[start:end]))
        for document in documents
        for start, end in extents(document, size)
    ]


def extents(document: Document, size: int | None) -> Iterator[tuple[int, int]]:
    text = document.text
    if not text.strip():
        yield from [(0, len(text))] if document.title.strip() else []
    elif size is None or len(text) <= capacity(text, size):
        yield 0, len(text)
    else:
        splitter = TextSplitter(capacity(text, size))
        for offset, block in blocks(text, 16 * capacity(text, size)):
            for start, piece in splitter.chunk_indices(block):
                yield offset + start, offset + start + len(piece)


def blocks(text: str, size: int) -> Iterator[tuple[int, str]]:
    """The text whole or, where it has a very long run without a border, in blocks: there the splitter is slow."""
    step = size if UNBROKEN.search(text) else len(text)
    return ((start, text[start : start + step]) for start in range(0, len(text), step))


def capacity(text: str, size: int) -> int:
    """The characters that `size` tokens stand for."""
    return size if is_unspaced(text) else size * CHARACTERS_PER_TOKEN


def titled(title: str, piece: str) -> str:
    """What is indexed and read of a piece: the title, if there is one, above it."""
    return "\n".join(part for part in (title, piece) if part.strip())
