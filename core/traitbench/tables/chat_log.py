"""A chat exported from WhatsApp as text: a message begins with date, time and name, in one of many forms."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import IO

from traitbench.display.text import count
from traitbench.tables.rows import Cells, Encoding, Kind

_BLANK = "[ \u00a0\u202f]"
_DATE = rf"\d{{1,4}}[./-]{_BLANK}?\d{{1,2}}[./-]{_BLANK}?\d{{1,4}}\.?"
_TIME = r"(?:\D{1,6}?)??\d{1,2}[:.]\d\d(?:[:.]\d\d)?" + rf"(?:{_BLANK}?(?:[AaPp]\.?{_BLANK}?[Mm]\.?|[^\W\d_]{{1,4}}))?"
_WHEN = rf"{_DATE},?{_BLANK}+{_TIME}"
_START = re.compile(rf"[\u200e\u200f\ufeff]*(?:\[({_WHEN})\]|({_WHEN}){_BLANK}[-–]){_BLANK}(.*)", re.DOTALL)
_SAID = re.compile(r"[\u200e\u202a\u2068]*([^:\n]{1,80}?)[\u202c\u2069]*: ?(.*)", re.DOTALL)
_NOTICE = re.compile(r"<[^<>\n]{3,60}>|\u200e.*", re.DOTALL)
_HEAD, _SHARE, _FEWEST = 40, 0.4, 2


class ChatLog:
    """The messages of a chat, each a row with the number of its first line; notices of the app are left out."""

    kind: Kind = "csv"
    columns: tuple[str, ...] = ("date", "person", "text")
    empty = "The chat has no messages."

    def __init__(self, file: IO[bytes], encoding: Encoding) -> None:
        self._file, self._encoding = file, encoding
        self._left_out = 0

    def __iter__(self) -> Iterator[Cells]:
        self._left_out = 0
        for number, when, rest in self._entries():
            said = _SAID.fullmatch(rest)
            if said is None or not said[2].strip() or _NOTICE.fullmatch(said[2].strip()):
                self._left_out += 1
            else:
                yield number, [when, said[1].strip(), said[2].strip("\n")]

    @property
    def notes(self) -> list[str]:
        """What to say about the file; complete after an iteration."""
        notes = [self._encoding.note] if self._encoding.note else []
        notes.append("The file is read as an exported chat: each message is a text, with its date and person.")
        if self._left_out:
            lines = count(self._left_out, "line is", "lines are")
            notes.append(f"{lines} left out: a notice of the app, or an attachment.")
        return notes

    def summary(self, rows: int) -> str:
        """Return how many messages there are."""
        return count(rows, "message")

    def _entries(self) -> Iterator[tuple[int, str, str]]:
        """Yield the first line, the time and the rest of each entry, which may have several lines."""
        entry: tuple[int, str, str] | None = None
        with self._encoding.text(self._file, "") as text:
            for number, raw in enumerate(text, start=1):
                line = raw.rstrip("\r\n")
                if start := _START.fullmatch(line):
                    if entry:
                        yield entry
                    entry = number, start[1] or start[2], start[3]
                elif entry:
                    entry = *entry[:2], f"{entry[2]}\n{line}"
        if entry:
            yield entry


def is_chat_log(file: IO[bytes], encoding: Encoding) -> bool:
    """Whether the first lines of a file are an exported chat."""
    with encoding.text(file, "") as text:
        head = [line.rstrip("\r\n") for line in islice(text, _HEAD) if line.strip()]
    starts = [_START.fullmatch(line) is not None for line in head]
    return starts[:1] == [True] and sum(starts) >= max(_FEWEST, _SHARE * len(starts))
