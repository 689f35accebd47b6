"""A process that reads texts: a batch of titles and texts per line in, their graphs per line out."""

import sys

import orjson

from ragstone.extract.reading import Text, read
from ragstone.files import encode


def answered(line: bytes) -> bytes:
    texts = [Text(*pair) for pair in orjson.loads(line)]
    return orjson.dumps([encode(graph).decode() for graph in read(texts)]) + b"\n"


def main() -> None:
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(answered(line))
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
