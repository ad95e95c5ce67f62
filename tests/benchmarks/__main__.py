"""All benchmarks, one after the other, each in a process of its own, on one page.

    make bench [DATA=FOLDER] [WHOLE=1] [OUT=page.md]

Quick versions unless the whole is asked for. Quality needs `DATA`, the folder of the sets (`protocol.SETS` says which);
without it the rest runs. The page is also written to `OUT`, as Markdown.
"""

# ruff: noqa: T201

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.page import Table

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Benchmark:
    """A script of this folder."""

    name: str
    needs_data: bool = False
    only_whole: bool = False


BENCHMARKS = (
    Benchmark("quality", needs_data=True),
    Benchmark("confidence", needs_data=True),
    Benchmark("probabilities", needs_data=True),
    Benchmark("versions", needs_data=True),
    Benchmark("shortcuts", needs_data=True),
    Benchmark("discovery", needs_data=True),
    Benchmark("explanations", needs_data=True),
    Benchmark("synthesis", needs_data=True),
    Benchmark("finetuned", needs_data=True, only_whole=True),
    Benchmark("names"),
    Benchmark("training"),
    Benchmark("encoding"),
    Benchmark("score_latency"),
    Benchmark("perspective"),
    Benchmark("anonymous"),
    Benchmark("uploads"),
    Benchmark("batch"),
    Benchmark("engines"),
    Benchmark("files", needs_data=True),
    Benchmark("workbench", only_whole=True),
)


def main() -> None:
    """Read the arguments and run them all; exit 1 when one of them fails."""
    arguments = argparse.ArgumentParser(description="All benchmarks on one page.")
    arguments.add_argument("--data", type=Path, help="the folder of the sets, for quality")
    arguments.add_argument("--whole", action="store_true", help="all that is measured, an hour or so, not a first idea")
    arguments.add_argument("--out", type=Path, help="write the page to this file, as Markdown")
    asked = arguments.parse_args()
    wanted = [each for each in BENCHMARKS if asked.whole or not each.only_whole]
    missing = [each.name for each in wanted if each.needs_data and asked.data is None]
    if missing:
        print(f"Not measured: {', '.join(missing)}. Name the folder of the sets: make bench DATA=FOLDER\n")
    result = {each.name: _run(each, asked.data, whole=asked.whole) for each in wanted if each.name not in missing}
    if asked.out is not None:
        write(asked.out, [outcome for outcome in result.values() if outcome is not None])
    sys.exit(None in result.values())


def write(path: Path, results: Sequence[Mapping[str, Any]]) -> None:
    """Write the page."""
    path.write_text("\n\n".join(["# Benchmarks", *map(_markdown, results)]) + "\n", encoding="utf-8")


def _markdown(content: Mapping[str, Any]) -> str:
    tables = [Table(**table).markdown() for table in content["tables"]]
    head = f"## {content['benchmark']}\n\n{content['seconds']:.0f} s on {content['machine']}."
    return "\n\n".join([head, *tables])


def _run(benchmark: Benchmark, data: Path | None, *, whole: bool) -> Mapping[str, Any] | None:
    """What the script wrote, None when it failed; what it prints is seen as it comes."""
    print(f"== {benchmark.name}\n", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        command = [sys.executable, "-m", f"tests.benchmarks.{benchmark.name}", "--out", str(out)]
        command += [] if whole else ["--quick"]
        command += ["--data", str(data.resolve())] if benchmark.needs_data and data is not None else []
        done = subprocess.run(command, cwd=ROOT)
        print(flush=True)
        if done.returncode != 0:
            return None
        document: Mapping[str, Any] = json.loads(out.read_text(encoding="utf-8"))
        return document


if __name__ == "__main__":
    main()
