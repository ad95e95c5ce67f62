"""Small pieces of HTML for notebooks and reports, and a page around them.

Everything that is not a piece already is escaped. The pieces load nothing and need no style sheet: text has the page's
own colour and bars have a mid-tone, so that both are legible on light and dark pages.
"""

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from traitbench.display.text import beginning

BAR = "#1A8F84"
BEHIND = "rgba(128,128,128,.22)"
MOST_CHARACTERS = 400

Row = tuple[object, ...]

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }}
main {{ overflow-x: auto; }}
</style>
</head>
<body>
<main>
<h1>{title}</h1>
{body}
</main>
</body>
</html>
"""


class Html(str):
    """Text that is already HTML. All other text is escaped when it is inserted."""


def table(heads: Sequence[str], rows: Iterable[Row]) -> str:
    """Return a table; whole numbers are aligned to the right."""
    head = f"<thead><tr>{''.join(_cell('th', each) for each in heads)}</tr></thead>" if heads else ""
    body = "".join(f"<tr>{''.join(_cell('td', each) for each in row)}</tr>" for row in rows)
    return f'<table style="border-collapse:collapse;color:inherit">{head}<tbody>{body}</tbody></table>'


def line(*parts: object) -> str:
    """Return a line of parts with dots between them; empty parts are left out."""
    return f'<div style="margin:.2em 0">{" · ".join(safe(part) for part in parts if str(part))}</div>'


def small(text: str) -> str:
    """Return a line in small print; nothing for an empty text."""
    return f'<div style="font-size:.85em;opacity:.7">{safe(text)}</div>' if text else ""


def quoted(text: str) -> str:
    """Return a text of a person with its line breaks, cut if it is long."""
    shown = escape(beginning(text, MOST_CHARACTERS) + ("…" if len(text) > MOST_CHARACTERS else ""))
    return f'<div style="white-space:pre-wrap;border-left:3px solid {BEHIND};padding-left:.7em">{shown}</div>'


def bar(score: int) -> Html:
    """Return a bar from 0 to 100."""
    width = min(max(score, 0), 100)
    full = f'<div style="width:{width}%;height:100%;background:{BAR}"></div>'
    return Html(f'<div style="width:11em;height:.75em;margin-top:.3em;background:{BEHIND}">{full}</div>')


def bold(value: object) -> Html:
    """Return a value in bold."""
    return Html(f"<b>{safe(value)}</b>")


def safe(value: object) -> str:
    """Return a value as HTML, escaped unless it is HTML."""
    return value if isinstance(value, Html) else escape(str(value))


def write_page(path: str | Path, title: str, body: str) -> None:
    """Write a page that needs no other file, follows the reader's light or dark theme, and loads nothing."""
    page = _PAGE.format(title=escape(title), body=body)
    Path(path).write_text(page, encoding="utf-8", errors="xmlcharrefreplace")  # half of a surrogate pair has no UTF-8


def _cell(tag: str, value: object) -> str:
    side = "right" if isinstance(value, int) else "left"
    return f'<{tag} style="text-align:{side};padding:.15em .7em .15em 0;vertical-align:top">{safe(value)}</{tag}>'
