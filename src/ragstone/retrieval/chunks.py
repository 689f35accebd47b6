"""Cuts documents into the pieces that are indexed, retrieved and read."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from semantic_text_splitter import TextSplitter

from ragstone.text import is_unspaced
from ragstone.types import Document

CHARACTERS_PER_TOKEN = 4
"""For spaced text; a character of an unspaced script counts as a token."""


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
        for start, piece in TextSplitter(capacity(text, size)).chunk_indices(text):
            yield start, start + len(piece)


def capacity(text: str, size: int) -> int:
    """The characters that `size` tokens stand for."""
    return size if is_unspaced(text) else size * CHARACTERS_PER_TOKEN


def titled(title: str, piece: str) -> str:
    return "\n".join(part for part in (title, piece) if part.strip())
