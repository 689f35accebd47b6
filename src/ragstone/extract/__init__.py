"""Entities and facts from text without a model: spaCy's small English pipeline, titles, word lists and rules.

Names, types, forms and genders are good enough to rename them; facts tell which things a sentence joins, and by which
words. What a source says of its own questions is taken over as it is.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import orjson
from pydantic import ValidationError

from ragstone.extract import kept
from ragstone.extract.processes import read_all
from ragstone.extract.questions import question_graph
from ragstone.extract.reading import Text
from ragstone.types import Document, ReasoningGraph

__all__ = ["extract", "question_graph"]


def extract(
    documents: Sequence[Document],
    cache: Path | None = None,
    workers: int | None = None,
    tick: Callable[[str, bool], None] = lambda id, failed: None,
) -> dict[str, ReasoningGraph]:
    """The graph of each document by its id; empty for what is not English.

    Of a very long text only the beginning is read: 200,000 characters.

    `cache` is a folder: a text that was read before, by the same rules, is not read again. `workers` are processes;
    None takes one for each core if there is enough to read. `tick` is told of each finished document.
    """
    sharing: dict[bytes, list[Document]] = {}
    for document in documents:
        sharing.setdefault(kept.key(Text(document.title, document.text)), []).append(document)
    graphs: dict[str, ReasoningGraph] = {}

    def finish(found: Mapping[bytes, bytes]) -> None:
        for key, data in found.items():
            for document in sharing[key]:
                if graph := placed(data, document.id):
                    graphs[document.id] = graph
                    tick(document.id, False)

    finish(kept.recall(cache, sharing))
    left = {key: same[0] for key, same in sharing.items() if same[0].id not in graphs}
    keys = {Text(document.title, document.text): key for key, document in left.items()}
    for batch, found in read_all(list(keys), workers):
        new = {keys[text]: graph for text, graph in zip(batch, found, strict=True)}
        kept.keep(cache, new)
        finish(new)
    return {document.id: graphs[document.id] for document in documents}


def placed(data: bytes, document_id: str) -> ReasoningGraph | None:
    """The graph with its evidence in this document; equal texts share a graph, and not an id."""
    own = b'"document_id":' + orjson.dumps(document_id)
    try:
        return ReasoningGraph.model_validate_json(data.replace(b'"document_id":""', own))
    except ValidationError:
        return None
