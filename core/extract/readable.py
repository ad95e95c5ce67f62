"""HTML on standard input, its readable text on standard output. A process of its own, started by its path for one page.

Pages are hostile: some take minutes or gigabytes to read. So the reader is bounded from within by the kernel, from
without by being killed, and with it goes every trace of the text. It imports nothing of ours and opens no connection.
"""

import re
import resource
import sys
from contextlib import suppress

import trafilatura

_MOST_CPU_SECONDS = 30  # only for a reader whose parent is gone: the parent's clock is much stricter
_MOST_BYTES = 1024 * 1024 * 1024

# A line of a list or of a table stays with the one above it; every other line is a paragraph.
_PARAGRAPH_END = re.compile(r"\n+(?!- |\|)")


def main() -> None:
    """Read, extract, write."""
    _bound()
    text = readable(sys.stdin.buffer.read().decode("utf-8", "replace"))
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))


def readable(html: str) -> str:
    """The text that a person came to the page for, in paragraphs; failing that, all of its text; perhaps none."""
    found = trafilatura.extract(html, fast=True, include_comments=False)
    return _PARAGRAPH_END.sub("\n\n", found) if found else trafilatura.html2txt(f"<html><body>{html}</body></html>")


def _bound() -> None:
    for limit, most in (
        (resource.RLIMIT_CPU, _MOST_CPU_SECONDS),
        (resource.RLIMIT_AS, _MOST_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):  # not every system has every limit
            resource.setrlimit(limit, (most, most))


if __name__ == "__main__":
    main()
