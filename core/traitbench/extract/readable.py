"""Read HTML from standard input and write its readable text to standard output; runs as a process of its own.

The argument is the number of processor seconds that it may take. Pages may be hostile: some take minutes or gigabytes
to read. So the kernel limits the process from inside, and its parent can kill it, which also removes every trace of the
text. It imports none of our modules and opens no connection.
"""

import re
import resource
import sys
from contextlib import suppress

import trafilatura

_MOST_BYTES = 1024 * 1024 * 1024

# A line of a list or table stays with the one above; every other line is a paragraph.
_PARAGRAPH_END = re.compile(r"\n+(?!- |\|)")


def main() -> None:
    """Extract the text of standard input to standard output."""
    _bound(int(sys.argv[1]))
    text = readable(sys.stdin.buffer.read().decode("utf-8", "replace"))
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))


def readable(html: str) -> str:
    """The main text of the page, in paragraphs; otherwise all of its text, which may be empty."""
    main_text = trafilatura.extract(html, fast=True, include_comments=False)
    return (
        _PARAGRAPH_END.sub("\n\n", main_text)
        if main_text
        else trafilatura.html2txt(f"<html><body>{html}</body></html>")
    )


def _bound(seconds: int) -> None:
    for limit, most in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, _MOST_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):  # some systems lack a limit
            resource.setrlimit(limit, (most, most))


if __name__ == "__main__":
    main()
