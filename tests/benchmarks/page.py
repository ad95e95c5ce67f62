"""The shape that all benchmarks share: tables on the page, figures in a file.

Each is a script, `python -m tests.benchmarks.<name> [--data FOLDER] [--quick] [--out FILE]`: it measures, prints its
tables, and writes them with all figures as JSON when asked. `Table` is what a reader sees, `figures` what a program may
want to know.
"""

# ruff: noqa: T201

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Table:
    """Cells are printed as they are: format them where the unit is known."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def plain(self) -> str:
        """For a terminal: the first column to the left, the others to the right."""
        lines = [self.columns, *self.rows]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.columns))]
        results = [
            "  ".join(
                cell.ljust(width) if i == 0 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]
        return "\n".join([self.title, "", *results, *(["", self.note] if self.note else [])])

    def markdown(self) -> str:
        """For a page."""
        head = ["| " + " | ".join(self.columns) + " |", "|---" * len(self.columns) + "|"]
        body = ["| " + " | ".join(row) + " |" for row in self.rows]
        return "\n".join([f"**{self.title}**", "", *head, *body, *(["", self.note] if self.note else [])])


@dataclass(frozen=True)
class Measured:
    """What a benchmark found."""

    tables: Sequence[Table]
    figures: Mapping[str, Any] = field(default_factory=dict)


def parser(says: str | None) -> argparse.ArgumentParser:
    """The arguments that every benchmark takes."""
    made = argparse.ArgumentParser(description=says, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--quick", action="store_true", help="less of everything: a first idea in a minute or two")
    made.add_argument("--out", type=Path, help="write tables and figures to this file, as JSON")
    return made


def run(
    name: str,
    measure: Callable[..., Measured],
    *,
    quick: Mapping[str, Any],
    whole: Mapping[str, Any],
    data: bool = False,
) -> None:
    """Run a benchmark as a script, to one of two extents; `data` is whether it needs the folder of the sets."""
    arguments = parser(sys.modules[measure.__module__].__doc__)
    if data:
        arguments.add_argument("--data", type=Path, required=True, help="the folder of the sets")
    asked = arguments.parse_args()
    extent = quick if asked.quick else whole
    publish(name, lambda: measure(asked.data, **extent) if data else measure(**extent), asked.out)


def publish(name: str, measure: Callable[[], Measured], out: Path | None) -> None:
    """Measure, print, and write when asked."""
    began = time.perf_counter()
    result = measure()
    seconds = time.perf_counter() - began
    print("\n\n".join(table.plain() for table in result.tables))
    print(f"\n{name}: {seconds:.0f} s on {machine()}")
    if out is not None:
        fields = {
            "benchmark": name,
            "seconds": round(seconds, 1),
            "machine": machine(),
            "tables": [vars(table) for table in result.tables],
            "figures": result.figures,
        }
        out.write_text(json.dumps(fields, indent=1) + "\n", encoding="utf-8")


def machine() -> str:
    """What it was measured on, as far as it matters."""
    return f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
