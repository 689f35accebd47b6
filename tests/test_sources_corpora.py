"""Corpora: tables of facts and folders of texts in every supported file format."""

import io
import json
import sys
import zipfile
from pathlib import Path

import pytest

from ragstone import store
from ragstone.errors import ConfigError, DataError
from ragstone.load import load
from ragstone.sources import texts
from ragstone.types import Benchmark, Document, Question

# ── facts ────────────────────────────────────────────────────────────────────────────────────────────────────────────

FACT = {"parent": "Planets", "dimension": "planet", "child": "Mars", "predicate": "moons", "value": 2, "licence": "CC0"}


def test_a_row_of_facts_becomes_a_line_with_its_columns_as_labels(tmp_path: Path) -> None:
    path = tmp_path / "facts.jsonl"
    path.write_text(json.dumps(FACT | {"id": "F1", "unit": "pieces"}))
    benchmark = load(path)
    assert benchmark.documents == (
        Document(
            id="F1",
            title="Mars",
            text="Mars — moons: 2 pieces",
            labels={
                "parent": "Planets",
                "dimension": "planet",
                "child": "Mars",
                "predicate": "moons",
                "value": "2",
                "licence": "CC0",
                "unit": "pieces",
            },
        ),
    )
    assert benchmark.about.licences == ("CC0",)
    assert benchmark.questions == ()


def test_a_csv_of_facts_reads_like_json_lines_and_repeated_rows_are_merged(tmp_path: Path) -> None:
    (tmp_path / "facts.jsonl").write_text(json.dumps(FACT))
    row = '"Planets",planet,Mars,moons,2,CC0\n'
    (tmp_path / "facts.csv").write_text("\ufeffparent,dimension,child,predicate,value,licence\n" + row * 3)
    from_csv = load(tmp_path / "facts.csv")
    assert from_csv.documents == load(tmp_path / "facts.jsonl").documents
    assert from_csv.about.notes == ("2 rows that repeat a fact merged",)


def test_bad_rows_of_a_csv_are_named_by_line_and_can_be_skipped(tmp_path: Path) -> None:
    path = tmp_path / "facts.csv"
    good, no_value, too_long = "a,b,c,d,e\n", "a,b,c,d,\n", "a,b,c,d,e,f\n"
    path.write_text("parent,dimension,child,predicate,value\n" + good + no_value + too_long)
    with pytest.raises(DataError, match="line 3: value: string should have at least 1 character"):
        load(path)
    benchmark = load(path, skip_bad=True)
    assert len(benchmark.documents) == 1
    assert benchmark.about.notes[0].startswith("2 bad records skipped; the first: ")


# ── folders ──────────────────────────────────────────────────────────────────────────────────────────────────────────

PAGE = """<html><head><title>Of  Tea</title><style>p {color: red}</style></head><body><nav>Home | About</nav>
<h1>Tea</h1><p>Tea is <b>hot</b>,
often.<p>It cools &amp; stays.<script>var x = "no";</script><ul><li>green</li><li>black</li></ul></body></html>"""


def word_file(*paragraphs: tuple[str, str], size_lie: str = "") -> bytes:
    body = "".join(
        f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'
        for style, text in paragraphs
    )
    xml = f'{size_lie}<w:document xmlns:w="{texts.WORD[1:-1]}"><w:body>{body}</w:body></w:document>'
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", xml)
    return data.getvalue()


def pdf_file(*lines: str, trailer: str = "") -> bytes:
    """The smallest PDF that shows these lines."""
    shown = "BT /F1 12 Tf 14 TL 50 700 Td " + " ".join(f"({line}) Tj T*" for line in lines) + " ET"
    page = "/Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >>"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< {page} >>",
        f"<< /Length {len(shown)} >>\nstream\n{shown}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        "<< /Title (On Boats) >>",
    ]
    data, places = "%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    end = f"trailer << /Size {size} /Root 1 0 R /Info 6 0 R {trailer}>>\nstartxref\n{len(data)}\n%%EOF\n"
    return (data + f"xref\n0 {size}\n0000000000 65535 f \n{table}" + end).encode()


def test_a_folder_gives_a_document_for_each_text_and_counts_what_it_ignores(tmp_path: Path) -> None:
    (tmp_path / "law" / "eu").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "notes.txt").write_text("hidden")
    (tmp_path / "law" / "eu" / "act.txt").write_bytes("\ufeffThe act.\r\nIt holds.".encode())
    (tmp_path / "guide.md").write_text("intro\n\n## The Guide ##\n\ntext")
    (tmp_path / "data.csv").write_text("a,b")
    (tmp_path / "picture.PNG").write_bytes(b"\x89PNG")
    benchmark = load(tmp_path)
    assert [(document.id, document.title, document.labels) for document in benchmark.documents] == [
        ("guide", "The Guide", {}),
        ("law/eu/act", "act", {"domain": "law"}),
    ]
    assert benchmark.documents[1].text == "The act.\nIt holds."
    assert benchmark.about.notes == ("files that are no texts ignored: 1 .csv, 1 .png",)


def test_files_that_differ_in_their_suffix_alone_keep_it_in_their_ids(tmp_path: Path) -> None:
    for name in ("a.txt", "a.md", "b.txt"):
        (tmp_path / name).write_text("text")
    assert [document.id for document in load(tmp_path).documents] == ["a.md", "a.txt", "b"]


def test_a_manifest_gives_titles_domains_and_licences(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text")
    (tmp_path / "manifest.jsonl").write_text('{"file": "a.txt", "title": "A", "domain": "art", "licence": "CC0"}\n')
    benchmark = load(tmp_path)
    assert (benchmark.documents[0].title, benchmark.documents[0].labels) == ("A", {"domain": "art", "licence": "CC0"})
    assert (benchmark.about.licences, benchmark.about.notes) == (("CC0",), ())


def test_a_manifest_row_for_a_missing_file_is_bad(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text")
    (tmp_path / "manifest.jsonl").write_text('{"file": "b.txt"}\n')
    with pytest.raises(DataError, match=r"manifest.jsonl, line 1: file 'b.txt' does not exist"):
        load(tmp_path)


def test_html_keeps_paragraphs_and_drops_navigation_and_scripts() -> None:
    assert texts.html(PAGE.encode()) == ("Of Tea", "Tea\n\nTea is hot, often.\n\nIt cools & stays.\n\ngreen\n\nblack")
    assert texts.html(b"<h1>First</h1><h1>Second</h1>").title == "First"


def test_a_word_file_gives_its_paragraphs_and_its_first_heading() -> None:
    data = word_file(("Normal", "by Ann"), ("Heading1", "Boats"), ("Normal", "They float."))
    assert texts.docx(data) == ("Boats", "by Ann\n\nBoats\n\nThey float.")


def test_a_word_file_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "LARGEST", 1000)
    with pytest.raises(DataError, match="unpacks to"):
        texts.docx(word_file(("Normal", "a" * 5000)))
    with pytest.raises(DataError, match="document type definition"):
        texts.docx(word_file(("Normal", "a"), size_lie='<!DOCTYPE x [<!ENTITY a "b">]>'))


def test_a_pdf_gives_its_lines_with_words_that_were_broken_made_whole() -> None:
    pytest.importorskip("pypdfium2", reason="needs the extra ragstone[documents]")
    assert texts.pdf(pdf_file("Boats on the environ-", "ment of rivers.", "They float.")) == (
        "On Boats",
        "Boats on the environment of rivers.\nThey float.",
    )


def test_a_pdf_without_the_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    with pytest.raises(ConfigError, match=r"pip install 'ragstone\[documents\]'"):
        texts.pdf(pdf_file("text"))


LOCK = "/ID [<00><00>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O (" + "o" * 32 + ") /U (" + "u" * 32 + ") >> "


@pytest.mark.parametrize(
    ("name", "data", "problem"),
    [
        ("a.txt", b"caf\xe9", r"is not UTF-8 text \(byte 4\)"),
        ("a.html", b"<script>x</script>", "has no text"),
        ("a.docx", b"PK not a zip", "is no readable Word document"),
        ("a.docx", word_file(), "has no text"),
        ("a.pdf", pdf_file("text")[:200], "is encrypted or damaged"),
        ("a.pdf", pdf_file("text", trailer=LOCK), "is encrypted or damaged"),
        ("a.pdf", pdf_file(""), "has no text; a scan needs text recognition"),
    ],
)
def test_a_file_that_cannot_be_read_is_a_bad_record(tmp_path: Path, name: str, data: bytes, problem: str) -> None:
    (tmp_path / name).write_bytes(data)
    (tmp_path / "good.txt").write_text("text")
    with pytest.raises(DataError, match=f"{name}: {problem}"):
        load(tmp_path)
    assert [document.id for document in load(tmp_path, skip_bad=True).documents] == ["good"]


def test_a_single_file_is_a_corpus_of_one(tmp_path: Path) -> None:
    (tmp_path / "tea.html").write_text(PAGE)
    benchmark = load(tmp_path / "tea.html")
    assert [(document.id, document.title) for document in benchmark.documents] == [("tea", "Of Tea")]


# ── benchmark folders ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_saved_benchmark_is_read_back_unchanged(tmp_path: Path) -> None:
    question = Question(id="q", text="What?", answers=(("that",),), scope=("d",))
    benchmark = Benchmark(documents=(Document(id="d", text="That."),), questions=(question,))
    store.save(benchmark, tmp_path)
    assert load(tmp_path) == benchmark


def test_a_benchmark_folder_without_its_manifest_is_said_to_be_incomplete(tmp_path: Path) -> None:
    (tmp_path / "documents.jsonl").write_text("")
    (tmp_path / "questions.jsonl").write_text("")
    with pytest.raises(DataError, match="not complete"):
        load(tmp_path)
