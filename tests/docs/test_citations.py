"""No file cites a document that is not in the repository, and every section that is cited exists."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, headings

FOLDERS = ("app", "core", "pages", "sample_data", "tests", ".ci", ".github")
KINDS = {".py", ".md", ".toml", ".yml", ".conf", ".txt", ".html", ".css", ".svg", ""}

# Names in capitals, as documents of a project are often called: with the suffix of a file, a number or a heading.
_NAMES = "ARCHITECTURE|CONTRACT|DESIGN|ENGLISH|EXAMPLES|RUNS|SCORING|SPEC|SPECIFICATION|STREAMLIT"
_IN_CAPITALS = re.compile(rf'\b([A-Z]{{4,}})\.md\b|\b({_NAMES})(?: \d|, "[A-Z])')
_PLACE = re.compile(
    r"(core/docs/[\w./-]+\.(?:md|toml|conf)|(?<![\w./-])docs/[\w./-]+\.md)"
    r'(?:, (?:sections? (\d+)(?: and (\d+))?|"([^"]+)"))?'
)


def files() -> Iterator[Path]:
    """Every text file of ours."""
    yield from (path for path in ROOT.iterdir() if path.is_file() and path.suffix in KINDS - {".txt"})
    for folder in FOLDERS:
        yield from (
            path
            for path in (ROOT / folder).rglob("*")
            if path.is_file() and path.suffix in KINDS and "__pycache__" not in path.parts
        )


TEXTS = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in files() if path != Path(__file__)}


@pytest.mark.parametrize(
    ("text", "results"),
    [
        ("as SPEC 2.6 says", ["SPEC"]),
        ('(CONTRACT 1, "Bodies")', ["CONTRACT"]),
        ('(ARCHITECTURE, "Import rules")', ["ARCHITECTURE"]),
        ("see RUNS.md", ["RUNS"]),
        ("core/docs/contract.md, section 1; README.md", []),
        ("HTTP 200, CONTRACT_LIMITS, IN ACTION OF CONTRACT, TORT", []),
    ],
)
def test_what_counts_as_a_citation(text: str, results: list[str]) -> None:
    assert [*missing(text)] == results


def missing(text: str) -> Iterator[str]:
    """Documents in capitals that a text cites and the repository does not have."""
    for match in _IN_CAPITALS.finditer(text):
        name = match[1] or match[2]
        if not any((ROOT / folder / f"{name}.md").exists() for folder in ("", ".github", "core/traitbench/agents")):
            yield name


def test_no_file_cites_a_document_that_is_not_here() -> None:
    assert {name: cited for name, text in TEXTS.items() if (cited := [*missing(text)])} == {}


def test_every_place_that_is_cited_exists() -> None:
    wrong = [
        (name, place)
        for name, text in TEXTS.items()
        for place in places(text, below=ROOT / "core" if name == "core/README.md" else ROOT)
    ]
    assert wrong == []


def places(text: str, *, below: Path) -> Iterator[str]:
    """Places in our documentation that a text names and that do not exist; `below` is where relative paths begin."""
    flat = re.sub(r"\s+(?:# )?", " ", text)
    for match in _PLACE.finditer(flat):
        path = (ROOT if match[1].startswith("core/") else below) / match[1]
        if not path.exists():
            yield match[1]
            continue
        there = headings(path.read_text("utf-8")) if match[2] or match[4] else []
        numbers = [number for number in match.group(2, 3) if number]
        if not all(any(heading.startswith(f"{number}. ") for heading in there) for number in numbers):
            yield match[0]
        if match[4] and match[4] not in there:
            yield match[0]


def test_a_place_that_does_not_exist_is_found() -> None:
    text = 'core/docs/contract.md, "No such heading"; core/docs/absent.md; core/docs/contract.md, section 99'
    assert [*places(text, below=ROOT)] == text.split("; ")


def test_there_are_citations() -> None:
    assert sum("core/docs/contract.md" in text for name, text in TEXTS.items() if name.startswith("core/")) > 20
