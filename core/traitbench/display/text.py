"""Format text, counts and times for people."""

import re
import unicodedata
from datetime import UTC, datetime

_ADDRESS = re.compile(r"https?://[^\s/?#]\S*", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufff9-\ufffb]")
# Streamlit finds names of icons and emoji, and addresses, despite the escapes. A zero-width character prevents that.
_JOINER = "\u2060"
_SYNTAX = re.compile(r":(?=[\w+/-]+:)|(?<=[a-z]:)(?=//)|(?<=www)(?=\.)|(?<=[\w.+-]@)(?=[\w-])", re.IGNORECASE)
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|~<>$:^=&])")


def plain(text: str) -> str:
    r"""Escape `text` so that Markdown shows every character; line breaks become spaces.

    Control characters and characters that change the text direction become `\ufffd`, so that a name cannot change how
    the text around it reads; neither can one that is read from right to left (`isolated`).
    """
    line = _CONTROL.sub("\ufffd", " ".join(text.split()))
    return isolated(_MARKDOWN.sub(r"\\\1", _SYNTAX.sub(lambda match: f"{match[0]}{_JOINER}", line)))


def unlinked(name: str) -> str:
    """Escape a name like `plain`. An e-mail address is shown in small type, because Markdown would make it a link."""
    before, at, after = name.partition("@")
    return f":small[{plain(before)}@]:small[{plain(after)}]" if before and at and after else plain(name)


def is_address(text: str) -> bool:
    """Whether a text is only an http or https address, which the service would fetch."""
    return _ADDRESS.fullmatch(text.strip()) is not None


def count(number: int, one: str, many: str | None = None) -> str:
    """Format a count: `1 sample`, `1,240 samples`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def shortened(text: str, length: int) -> str:
    """Return `text` on one line, cut at a word with an ellipsis if it is longer than `length`."""
    line = _first_line(text, length)
    if len(line) <= length:
        return line
    start = beginning(line, length - 1)
    if not _UNSPACED.match(start[-1:]):
        start = start.rsplit(" ", 1)[0]
    return start.rstrip(",;:.") + "…"


def isolated(text: str) -> str:
    """Return `text` so that it keeps its place in a line of English, also if it is read from right to left."""
    is_turned = not text.isascii() and any(unicodedata.bidirectional(character) in ("R", "AL") for character in text)
    return f"\u2068{text}\u2069" if is_turned else text


def beginning(text: str, length: int) -> str:
    """Return at most `length` code points of `text`; no emoji, flag or letter with its marks is divided."""
    start = text[:length]
    if len(text) <= length or text[: length + 1].isascii():
        return start
    # Imported here because most texts are short, and ICU's data takes a moment.
    from icu4py.breakers import CharacterBreaker

    # One code point more, which shows whether the last character goes on.
    *whole, _ = CharacterBreaker(text[: length + 1].encode(errors="replace").decode(), "en")
    return text[: sum(map(len, whole))] or start


def _first_line(text: str, length: int) -> str:
    """Return `text` on one line; of a long text, only a start that is longer than `length`."""
    read = 4 * length
    while len(line := " ".join(text[:read].split())) <= length and read < len(text):
        read *= 4
    return line


def ago(time: datetime, now: datetime | None = None) -> str:
    """Format a time: `just now`, `12 min ago`, `3 h ago`, `5 days ago`, then the date."""
    seconds = ((now or datetime.now(UTC)) - time).total_seconds()
    if seconds < 60:
        return "just now"
    for size, unit, limit in ((60, "min", 3_600), (3_600, "h", 86_400), (86_400, "days", 14 * 86_400)):
        if seconds < limit:
            number = int(seconds // size)
            return f"{number} {'day' if unit == 'days' and number == 1 else unit} ago"
    return f"on {time:%-d %b %Y}"


def capitalised(words: str) -> str:
    """Return the words with a capital letter first."""
    return words[:1].upper() + words[1:]


def span(seconds: float) -> str:
    """Format a duration: `40 s`, `5 min`, `2 h 10 min`. A negative one, after a clock was set back, counts as 0."""
    seconds = max(seconds, 0.0)
    if seconds < 100:
        return f"{round(seconds)} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
