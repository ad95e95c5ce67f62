"""How files of other people and their programs are read: rows, texts, refusals, notes, time and memory.

    python -m tests.benchmarks.files --data FOLDER [--quick]

200 files that `tests.foreign_files` draws, the large ones, and the real sets in five formats. Each is
read in a process of its own, of at most 60 seconds. Memory is the peak of that process or of one that it started,
about 100 MiB of which are Python and its libraries. A kind is right if nothing is wrong with any
of its files.
"""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import cycle, islice
from pathlib import Path
from textwrap import shorten
from typing import Any

import pyarrow as pa

from tests.benchmarks.page import Measured, Table, run
from tests.benchmarks.protocol import SETS
from tests.foreign_files.cases import Case, Rows, Verdict, drawn
from tests.foreign_files.delimited import DELIMITED, quoted, unquoted
from tests.foreign_files.hostile import HOSTILE
from tests.foreign_files.reading import Reader
from tests.foreign_files.records import RECORDS, lines, packed
from tests.foreign_files.sheets import FORBIDDEN, SHEETS, Sheet, workbook

FAMILIES = {"delimited": DELIMITED, "JSON and Parquet": RECORDS, "sheets": SHEETS, "hostile": HOSTILE}
FILES = 200

_LABELS = ("negative", "neutral", "positive")
_LANGUAGES = ("english", "french", "german", "hindi", "portuguese")

Texts = Sequence[tuple[str, str]]


def measure(folder: Path | None = None, *, quick: bool = False, only: Sequence[str] = ()) -> Measured:
    """Read every file, and return a table for each family and one for the real sets."""
    tables, figures = list[Table](), dict[str, Any]()
    with Reader() as reader:
        for family, kinds in FAMILIES.items():
            rows = list[tuple[str, list[Verdict]]]()
            for name, seeds in _seeds(kinds.small, quick=quick).items():
                if not only or name in only:
                    rows.append((name, [reader.read(drawn(kinds.small[name], name, seed)) for seed in seeds]))
            for name, kind in kinds.large.items():
                if name in only or not (only or quick):
                    rows.append((name, [reader.read(drawn(kind, name, 0))]))
            if rows:
                tables.append(_table(f"Files drawn: {family}", rows))
            figures |= {name: [asdict(verdict) for verdict in verdicts] for name, verdicts in rows}
        if folder is not None and not only:
            sets = list(_sets(folder))[: 2 if quick else None]
            rows = [(f"{name} {kind}", [reader.read(case)]) for name, texts in sets for kind, case in formats(texts)]
            tables.append(_table("Real sets", rows))
            figures |= {name: [asdict(verdict) for verdict in verdicts] for name, verdicts in rows}
    verdicts = [each for verdicts in figures.values() for each in verdicts]
    totals = {
        "files": len(verdicts),
        "right": sum(not each["faults"] for each in verdicts),
        "texts changed": sum(each["changed"] for each in verdicts),
        "processes that died": sum(any(fault.startswith(_DIED) for fault in each["faults"]) for each in verdicts),
        "errors raised": sum(any(fault.startswith("raised") for fault in each["faults"]) for each in verdicts),
        "most MiB": round(max(each["mib"] for each in verdicts)),
    }
    tables.append(Table("All", [*totals], [[str(each) for each in totals.values()]]))
    return Measured(tables, {"totals": totals, "files": figures})


_DIED = ("was killed", "ended with", "did not end")


def _seeds(kinds: Mapping[str, Any], *, quick: bool) -> dict[str, range]:
    """Return the seeds of each kind, so that all families together have as many files as they should."""
    every = [name for family in FAMILIES.values() for name in family.small]
    counts = dict.fromkeys(every, 1 if quick else 0)
    for name in () if quick else islice(cycle(every), FILES):
        counts[name] += 1
    return {name: range(counts[name]) for name in kinds}


def _table(title: str, rows: Sequence[tuple[str, list[Verdict]]]) -> Table:
    columns = ("kind", "files", "rows in", "out", "problems", "changed", "s", "MiB", "refused", "notes", "not right")
    return Table(title, columns, [_row(name, verdicts) for name, verdicts in rows])


def _row(name: str, verdicts: list[Verdict]) -> list[str]:
    counts = (
        sum(each) for each in zip(*((v.rows_in, v.rows_out, v.problems, v.changed) for v in verdicts), strict=True)
    )
    refused = dict.fromkeys(each.refused for each in verdicts if each.refused)
    notes = dict.fromkeys(note for each in verdicts for note in each.notes)
    faults = dict.fromkeys(fault for each in verdicts for fault in each.faults)
    return [
        name,
        str(len(verdicts)),
        *map(str, counts),
        f"{max(each.seconds for each in verdicts):.2f}",
        f"{max(each.mib for each in verdicts):.0f}",
        _short(refused),
        _short(notes),
        "; ".join(faults) or "-",
    ]


def _short(sentences: Mapping[str, None]) -> str:
    """Return how sentences begin."""
    return " / ".join(shorten(sentence, 60, placeholder="...") for sentence in sentences) or "-"


# ---- real sets -------------------------------------------------------------------------------------------------------


def _sets(folder: Path) -> Iterator[tuple[str, Texts]]:
    """Yield the real sets, each with the labels that its publisher gives."""
    for name, source in SETS.items():
        if name != "emobank_a":
            learn, judge = source.read(folder)
            yield name, [(f"{label:g}", text) for text, label in (*learn, *judge)]
    for language in _LANGUAGES:
        texts, labels = (
            (folder / "xlmt" / f"{language}_train_{part}.txt").read_text("utf-8").removesuffix("\n").split("\n")
            for part in ("text", "labels")
        )
        yield f"tweets {language}", [(_LABELS[int(label)], text) for label, text in zip(labels, texts, strict=True)]


def formats(texts: Texts) -> Iterator[tuple[str, Case]]:
    """Yield the files of a set: with numbers of rows, labels and texts."""
    columns = ("id", "label", "text")
    rows = [(str(at), label, text) for at, (label, text) in enumerate(texts, start=1)]
    writers: Mapping[str, tuple[str, Callable[[Sequence[tuple[str, ...]]], bytes]]] = {
        "unquoted TSV": ("a.tsv", lambda each: unquoted([columns, *each], "\t").encode()),
        "semicolon CSV": ("a.csv", lambda each: quoted([columns, *each], ";", csv.QUOTE_MINIMAL).encode("utf-8-sig")),
        "XLSX": ("a.xlsx", lambda each: workbook(Sheet([columns, *each]), strings=())),
        "JSONL": ("a.jsonl", lambda each: lines((dict(zip(columns, row, strict=True)) for row in each), ascii=False)),
        "Parquet": (
            "a.parquet",
            lambda each: packed(pa.Table.from_pylist([dict(zip(columns, r, strict=True)) for r in each])),
        ),
    }
    for kind, (name, write) in writers.items():
        held = [row for row in rows if _holds(kind, row[2])]
        yield kind, Case(name, write(held), (Rows(columns, tuple(held)),))


def _holds(kind: str, text: str) -> bool:
    """Whether a format can hold a text as it is."""
    if kind == "unquoted TSV":
        return not set("\t\r\n") & set(text)
    return kind != "XLSX" or not FORBIDDEN.search(text)


if __name__ == "__main__":
    run("files", measure, data=True, quick={"quick": True}, whole={})
