"""Makes the synchronous client from the asynchronous one: `python -m tests.client.generate`.

Each method is written once, in `core/traitbench/client`. The synchronous file, in `_sync` below it, has the same lines
without `async` and `await`, and with the names of the synchronous twins.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "core" / "traitbench" / "client"
# What the client asks, by resource. The other modules serve both clients.
NAMES = (
    *("attributes", "client", "connection", "labelling", "models", "proposed", "samples", "scores"),
    *("traits", "versions"),
)

_HEADER = "# Made from client/{name} by `python -m tests.client.generate`: edit that file, not this one.\n"
_RULES = tuple(
    (re.compile(pattern), made)
    for pattern, made in (
        (r"\bfrom asyncio import sleep\b", "from time import sleep"),
        (rf"\btraitbench\.client\.({'|'.join(NAMES)})\b", r"traitbench.client._sync.\1"),
        (rf"\btraitbench\.client import ({'|'.join(NAMES)})\b", r"traitbench.client._sync import \1"),
        (r"\bawait AsyncPages\.begin\(", "Pages("),
        (r"\b(?:async|await) ", ""),
        (r"\b__a(iter|enter|exit)__\b", r"__\1__"),
        (r"\bIterable\[str\] \| AsyncIterable\[str\]", "Iterable[str]"),
        (r"\ba(read|close|iter_bytes|iter_of|next)\b", r"\1"),
        (r"\bAsync(\w+)", r"\1"),
        (r"\bbetween tasks\b", "between threads"),
    )
)


def main() -> None:
    """Write the files."""
    for path, text in made():
        path.write_text(text, "utf-8")


def made() -> Iterator[tuple[Path, str]]:
    """Yield each synchronous file and its text."""
    for name in NAMES:
        source = SOURCE / f"{name}.py"
        path = SOURCE / "_sync" / source.name
        yield path, _formatted(path, _HEADER.format(name=source.name) + synchronous(source.read_text("utf-8")))


def synchronous(text: str) -> str:
    """Return a program without `async` and `await`."""
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text


def _formatted(path: Path, text: str) -> str:
    for command in (["check", "--select", "I,UP028", "--fix", "--unsafe-fixes", "--quiet"], ["format", "--quiet"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(path), "-"]
        text = subprocess.run(ruff, input=text, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return text


if __name__ == "__main__":
    main()
