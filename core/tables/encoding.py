"""The encoding of a text file."""

import codecs
import hashlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from traitbench.tables.rows import Unreadable

_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_CHUNK = 1 << 20


def encoding_of(file: IO[bytes]) -> tuple[str, str, tuple[str, ...]]:
    """Return the encoding of the file, its digest, and notes for the person; raise `Unreadable` if it is not text."""
    file.seek(0)
    beginning = file.read(4)
    for mark, encoding in _BOMS:
        if beginning.startswith(mark):
            try:
                return encoding, _text_digest(file, encoding), ()
            except UnicodeDecodeError as error:
                raise Unreadable(f"The file claims to be {encoding.upper()} but is not. Save it as UTF-8.") from error
    try:
        return "utf-8", _text_digest(file, "utf-8"), ()
    except UnicodeDecodeError:
        pass
    try:
        digest = _text_digest(file, "cp1252")
    except UnicodeDecodeError as error:
        raise Unreadable("The file is neither UTF-8 nor Windows-1252. Save it as UTF-8 and try again.") from error
    note = "The file is not UTF-8 and was read as Windows-1252. Check accents and quotation marks in the preview."
    return "cp1252", digest, (note,)


def _text_digest(file: IO[bytes], encoding: str) -> str:
    file.seek(0)
    hashed, decoder, blank = hashlib.sha256(), codecs.getincrementaldecoder(encoding)(), True
    while chunk := file.read(_CHUNK):
        hashed.update(chunk)
        blank = not decoder.decode(chunk).strip() and blank
    if not decoder.decode(b"", final=True).strip() and blank:
        raise Unreadable("The file is empty.")
    return hashed.hexdigest()


@contextmanager
def text_of(file: IO[bytes], encoding: str, newline: str) -> Iterator[io.TextIOWrapper]:
    """Open the file as text from its start; the file itself stays open."""
    file.seek(0)
    text = io.TextIOWrapper(file, encoding, newline=newline)
    try:
        yield text
    finally:
        if not file.closed:
            text.detach()
