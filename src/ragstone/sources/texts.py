"""From a file to its title and text: plain text, Markdown, HTML, Word, PDF. What cannot be read is a `DataError`."""

import io
import re
import zipfile
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from typing import NamedTuple
from xml.etree import ElementTree

from ragstone.errors import ConfigError, DataError

LARGEST = 100_000_000  # bytes of unpacked XML: more is a zip bomb, or no text for people
HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t]*#*$", re.MULTILINE)
WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


class Read(NamedTuple):
    """What a file says; without a title, its name will do."""

    title: str
    text: str


def plain(data: bytes) -> Read:
    return Read("", decode(data))


def markdown(data: bytes) -> Read:
    content = decode(data)
    heading = HEADING.search(content)
    return Read(heading[1] if heading else "", content)


def decode(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise DataError(f"is not UTF-8 text (byte {error.start + 1}); convert it to UTF-8") from error


# ── HTML ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def html(data: bytes) -> Read:
    page = Page()
    page.feed(decode(data))
    page.close()
    page.end_paragraph()
    return Read(page.title, "\n\n".join(page.paragraphs))


class Page(HTMLParser):
    """Keeps the paragraphs of a page and leaves out what is not for reading."""

    LEFT_OUT = frozenset(("script", "style", "nav", "noscript", "template", "svg"))
    INLINE = frozenset(
        ("a", "abbr", "b", "cite", "code", "del", "dfn", "em", "font", "i", "ins", "kbd", "mark", "q", "s", "samp")
    ).union(("small", "span", "strong", "sub", "sup", "time", "u", "var", "wbr"))

    def __init__(self) -> None:
        super().__init__()
        self.paragraphs: list[str] = []
        self.title = ""  # the page's title, or else its first heading
        self._left_out: list[str] = []  # the open elements that are not for reading
        self._words: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in self.INLINE:
            self.end_paragraph()
        if tag in self.LEFT_OUT:
            self._left_out.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("title", "h1") and not self.title:
            self.title = self.paragraph()
        if tag == "title":
            self._words.clear()
        if tag not in self.INLINE:
            self.end_paragraph()
        if tag in self._left_out:
            del self._left_out[self._left_out.index(tag) :]

    def handle_data(self, data: str) -> None:
        if not self._left_out:
            self._words.append(data)

    def paragraph(self) -> str:
        return " ".join("".join(self._words).split())

    def end_paragraph(self) -> None:
        if paragraph := self.paragraph():
            self.paragraphs.append(paragraph)
        self._words.clear()


# ── Word ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def docx(data: bytes) -> Read:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = archive.getinfo("word/document.xml").file_size
            if size > LARGEST:
                raise DataError(f"unpacks to {size:,} bytes of XML, more than the {LARGEST:,} allowed; split it")
            content = archive.read("word/document.xml")
        return word(content)
    except (zipfile.BadZipFile, KeyError, ElementTree.ParseError, NotImplementedError, RuntimeError) as error:
        raise DataError(f"is no readable Word document ({error}); save it anew as .docx") from error


def word(content: bytes) -> Read:
    if b"<!DOCTYPE" in content:
        raise DataError("has a document type definition, which Word never writes; save it anew as .docx")
    paragraphs = list(ElementTree.fromstring(content).iter(f"{WORD}p"))  # noqa: S314 (no definitions, so no bombs)
    titles = [said(paragraph) for paragraph in paragraphs if style(paragraph).startswith(("Title", "Heading"))]
    return Read(titles[0] if titles else "", "\n\n".join(filter(None, map(said, paragraphs))))


def said(paragraph: ElementTree.Element) -> str:
    breaks = {f"{WORD}tab": "\t", f"{WORD}br": "\n"}
    return "".join(
        (node.text or "") if node.tag == f"{WORD}t" else breaks.get(node.tag, "") for node in paragraph.iter()
    ).strip()


def style(paragraph: ElementTree.Element) -> str:
    found = paragraph.find(f"{WORD}pPr/{WORD}pStyle")
    return found.get(f"{WORD}val", "") if found is not None else ""


# ── PDF ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def pdf(data: bytes) -> Read:
    try:
        from pypdfium2 import PdfDocument, PdfiumError
    except ImportError as error:
        raise ConfigError("reading PDF files needs pypdfium2: pip install 'ragstone[documents]'") from error
    try:
        with PdfDocument(data) as document:
            pages = [page.get_textpage().get_text_range() for page in document]
            title = document.get_metadata_value("Title")
    except PdfiumError as error:
        raise DataError(f"is encrypted or damaged ({error}); save it anew without a password") from error
    joined = "\n\n".join(pages).replace("\r\n", "\n")
    return Read(title.strip(), joined.replace("\ufffe", ""))  # that mark is a hyphen at the end of a line


READERS: Mapping[str, Callable[[bytes], Read]] = {
    ".txt": plain,
    ".md": markdown,
    ".html": html,
    ".htm": html,
    ".docx": docx,
    ".pdf": pdf,
}
