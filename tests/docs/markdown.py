"""Reads the Markdown pages under `core/docs`: sections, tables, and the names and paths in backticks."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "core" / "docs"

Row = Mapping[str, str]

_HEADING = re.compile(r"^(#+) (.+)$")
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_CELL = re.compile(r"(?<!\\)\|")
_CODE = re.compile(r"`([^`\n]+)`")


def read(name: str) -> str:
    """The text of a page, by its path below `core/docs`."""
    return (DOCS / name).read_text(encoding="utf-8")


def section(page: str, heading: str) -> str:
    """The text below a heading, up to the next heading of its level or above. Raise `KeyError` if there is none."""
    lines, level, kept = page.splitlines(), 0, list[str]()
    for line in lines:
        match = _HEADING.match(line)
        if match and level and len(match[1]) <= level:
            break
        if level:
            kept.append(line)
        elif match and match[2] == heading:
            level = len(match[1])
    if not level:
        raise KeyError(heading)
    return "\n".join(kept)


def headings(page: str) -> list[str]:
    """Every heading of a page, in order."""
    return [match[2] for line in _FENCE.sub("", page).splitlines() if (match := _HEADING.match(line))]


def tables(text: str) -> list[list[Row]]:
    """Every table of a text: its rows as mappings from column name to cell."""
    result, block = list[list[Row]](), list[str]()
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            block.append(line)
        elif block:
            result.append(list(_rows(block)))
            block = []
    return result


def table(page: str, heading: str) -> list[Row]:
    """The first table below a heading."""
    return tables(section(page, heading))[0]


def codes(text: str) -> list[str]:
    """What stands in backticks, code blocks left out."""
    return _CODE.findall(_FENCE.sub("", text))


def only_code(cell: str) -> str:
    """The single name in backticks of a cell."""
    (name,) = _CODE.findall(cell)
    return str(name)


def _rows(block: Sequence[str]) -> Iterator[Row]:
    names = _cells(block[0])
    for line in block[2:]:
        cells = _cells(line)
        assert len(cells) == len(names), f"{len(cells)} cells where the table has {len(names)} columns: {line}"
        yield dict(zip(names, cells, strict=True))


def _cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in _CELL.split(line.strip().strip("|"))]
