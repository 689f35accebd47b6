"""A folder of texts, or a single one: a corpus with a document for each file."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from ragstone.errors import DataError
from ragstone.files import read_bytes
from ragstone.kit import BadRecords, Source
from ragstone.sources.reading import Row, Said, rows, sampled_language
from ragstone.sources.texts import READERS
from ragstone.types import About, Benchmark, Document

MANIFEST = "manifest.jsonl"


class FileRow(Row):
    """What a manifest may say of a file."""

    file: Said
    title: str | None = None
    domain: str | None = None
    licence: str | None = None


class Folder(Source):
    """Text, Markdown, HTML, Word and PDF files, in folders of any depth."""

    def recognises(self, path: Path) -> bool:
        return any(is_text(file) for file in visible(path))

    def load(self, path: Path, bad: BadRecords) -> Benchmark:
        root = path if path.is_dir() else path.parent
        files = sorted(visible(path))
        texts = [file for file in files if is_text(file)]
        told = manifest(root, bad) if path.is_dir() else {}
        read = (document(file, id, told.get(file), root, bad) for file, id in ids(texts, root).items())
        documents = tuple(found for found in read if found)
        licences = dict.fromkeys(str(found.labels["licence"]) for found in documents if "licence" in found.labels)
        about = About(
            name=path.resolve().name if path.is_dir() else path.stem,
            language=sampled_language(documents),
            sources=(path.resolve().name,),
            licences=tuple(licences),
            notes=ignored(file for file in files if not is_text(file) and file != root / MANIFEST),
        )
        return Benchmark(documents=documents, about=about)


def visible(path: Path) -> Iterator[Path]:
    """The files of a folder at any depth, or the one file; what begins with a dot is hidden."""
    for file in path.rglob("*") if path.is_dir() else (path,):
        inner = file.relative_to(path).parts
        if file.is_file() and not any(part.startswith(".") for part in inner):
            yield file


def is_text(file: Path) -> bool:
    return file.suffix.lower() in READERS


def manifest(root: Path, bad: BadRecords) -> Mapping[Path, FileRow]:
    """What the folder's manifest says of its files, if it has one."""
    told = {}
    for where, row in rows(root / MANIFEST, FileRow, bad) if (root / MANIFEST).is_file() else ():
        if (root / row.file).is_file():
            told[root / row.file] = row
        else:
            bad(where, f"file {row.file!r} does not exist")
    return told


def ids(files: Sequence[Path], root: Path) -> dict[Path, str]:
    """Each file's path without its suffix, which stays where two files would share an id."""
    plain = {file: file.relative_to(root).with_suffix("").as_posix() for file in files}
    count = Counter(plain.values())
    return {file: id if count[id] == 1 else file.relative_to(root).as_posix() for file, id in plain.items()}


def document(file: Path, id: str, told: FileRow | None, root: Path, bad: BadRecords) -> Document | None:
    """The file as a document; one that cannot be read, or says nothing, is bad."""
    try:
        title, text = READERS[file.suffix.lower()](read_bytes(file))
        if not text.strip():
            raise DataError("has no text; a scan needs text recognition first")
    except DataError as error:
        bad(str(file), str(error))
        return None
    above = file.relative_to(root).parts[:-1]
    told = told or FileRow(file=file.name)
    labels = {"domain": told.domain or "".join(above[:1]), "licence": told.licence}
    return Document(
        id=id,
        title=told.title or title or file.stem,
        text=text,
        labels={name: value for name, value in labels.items() if value},
    )


def ignored(files: Iterable[Path]) -> tuple[str, ...]:
    """Says which files were no texts, by suffix."""
    counts = Counter(file.suffix.lower() or "no suffix" for file in files)
    listed = ", ".join(f"{count:,} {suffix}" for suffix, count in sorted(counts.items()))
    return (f"files that are no texts ignored: {listed}",) if counts else ()
