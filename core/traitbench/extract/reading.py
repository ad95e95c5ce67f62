"""Turn the bytes of a page into text: decode it, make it readable, cut it.

HTML is read in a separate process with a limit on its processor time (`readable.py`). Starting it takes about 0.2 s,
little compared with a fetch, and contains whatever a hostile page does to it. Plain text is used as it is.
"""

import codecs
import math
import re
import subprocess
import sys
from pathlib import Path

from traitbench.extract.fetch import FetchedPage, FetchLimits
from traitbench.extract.refusals import refusal

_READER = Path(__file__).with_name("readable.py")
_WAITS = 4
"""How many times its processor seconds a reader may take on a busy machine."""

_BYTE_ORDER_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_DECLARED = re.compile(rb"<(?:meta|\?xml)[^<>]*?(?:charset|encoding)\s*+=\s*+(?:[\"']\s*+)?([\w:.-]++)", re.IGNORECASE)
_DECLARED_WITHIN = 1_024

# The encodings of the web, by Python's names. Python has more, and some of them decompress or transform.
_ENCODINGS = re.compile(
    r"utf-8|utf-16(-[lb]e)?|cp125\d|cp874|cp866|iso8859-\d+|koi8-[ru]|mac-(roman|cyrillic)"
    r"|gb2312|gbk|gb18030|big5(hkscs)?|euc_jp|iso2022_jp|shift_jis|cp932|euc_kr|cp949"
)
# On the web, Latin-1 and ASCII mean Windows-1252, Latin-5 means Windows-1254, and GB 2312 means GB 18030.
_READ_AS = {"ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "gb2312": "gb18030", "gbk": "gb18030"}


def text_of(page: FetchedPage, limits: FetchLimits) -> str:
    """The page's text, at most `content_bytes` of UTF-8; raise `UrlNotFetchable` if there is none."""
    text = _decoded(page)
    if page.media_type != "text/plain":
        text = _readable(text, limits.reading_seconds)
    text = cut(text.replace("\0", ""), limits.content_bytes)
    if not text.strip():
        raise refusal("no_text")
    return text


def cut(text: str, most: int) -> str:
    """The longest beginning of a text that fits into this many bytes of UTF-8."""
    return text.encode()[:most].decode(errors="ignore")


def _decoded(page: FetchedPage) -> str:
    """The text by byte order mark, header or declared encoding; else UTF-8 if valid, else Windows-1252."""
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if page.body.startswith(mark):
            return page.body[len(mark) :].decode(encoding, "replace")
    named = _encoding(page.charset) or _encoding(_declared(page))
    if named:
        return page.body.decode(named, "replace")
    try:
        return page.body.decode()
    except UnicodeDecodeError:
        return page.body.decode("cp1252", "replace")


def _declared(page: FetchedPage) -> str | None:
    if page.media_type == "text/plain":
        return None
    match = _DECLARED.search(page.body[:_DECLARED_WITHIN])
    return match and match[1].decode("ascii", "replace")


def _encoding(label: str | None) -> str | None:
    """Python's name for the encoding of a label; None if it is not an encoding of the web."""
    try:
        name = codecs.lookup(label or "").name
    except (LookupError, ValueError):
        return None
    name = _READ_AS.get(name, name)
    return name if _ENCODINGS.fullmatch(name) else None


def _readable(html: str, seconds: float) -> str:
    command = [sys.executable, "-I", str(_READER), str(math.ceil(seconds))]
    try:
        reader = subprocess.run(
            command,
            input=html.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_WAITS * seconds,
            check=True,
        )
    except subprocess.SubprocessError as error:
        raise refusal("no_text", max_seconds=seconds) from error
    return reader.stdout.decode("utf-8", "replace")
