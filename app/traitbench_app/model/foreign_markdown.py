"""Make Markdown from other people safe to show on a page.

A browser fetches an image when it draws it, which tells the server of the image who is looking; so images become links.
Links may lead to the web, to a mail address or to a relative address. A link with another scheme (`javascript:`,
`data:`) is shown as it was typed. So is Streamlit's own syntax for colours, icons and formulas, except in code. HTML is
harmless, because Streamlit shows it as text.
"""

import re
from collections import defaultdict, deque
from collections.abc import Iterator

_JOINER = "\u2060"
"""A zero-width character: syntax that contains it looks the same but has no effect."""

_IMAGE = re.compile(r"!(?=\[)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_BACKTICKS = re.compile(r"`++")
_OURS = re.compile(r"\\?:(?=[A-Za-z_][\w/+-]*(?:\[|:))|\\?\$")
_LEADS_AWAY = re.compile(
    r"""(?<=\])\((?!\s?<?(?:https?://|mailto:|[#/?.][^\s:&\\]{0,200}[)\s>]|[\w/-]{1,200}(?:\.\w{1,9})?[)\s]))"""
    r"""|<(?=[A-Za-z][\w+.-]*:)(?!https?://|mailto:)""",
    re.IGNORECASE,
)
"""The start of a link, inline or in angle brackets, with an address that is not allowed."""

_DEFINITION = re.compile(r"^( {0,3}(?:>\s?)*)\[(?=[^\]]*\]:(?!\s*<?(?:https?://|mailto:|#)))", re.IGNORECASE)
"""The start of a link definition with an address that is not allowed."""

_HEADING = re.compile(r"^( {0,3}#{1,5})(?=[ \t])")


def shown(markdown: str) -> str:
    """Return safe Markdown for `st.markdown` below a page's title; headings become one level smaller."""
    return _IMAGE.sub(f"!{_JOINER}", "\n".join(_lines(markdown.split("\n"))))


def _lines(lines: list[str]) -> Iterator[str]:
    fence = ""
    for line in lines:
        mark = _FENCE.match(line)
        if fence:
            yield line
            closed = mark and mark[1].startswith(fence) and not line.strip().strip(fence[0])
            fence = "" if closed else fence
        elif mark:
            yield line
            fence = mark[1]
        else:
            yield _HEADING.sub(r"\1#", _outside_code(_DEFINITION.sub(r"\1&#91;", line)))


def _outside_code(line: str) -> str:
    parts, end = [], 0
    for start, behind in _codes(line):
        parts += [_plain_signs(line[end:start]), line[start:behind]]
        end = behind
    return "".join([*parts, _plain_signs(line[end:])])


def _codes(line: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each code span: from a run of backticks to the next run of equal length."""
    runs = [run.span() for run in _BACKTICKS.finditer(line)]
    of_length = defaultdict[int, deque[int]](deque)
    for start, end in runs:
        of_length[end - start].append(start)
    done = 0
    for start, end in runs:
        same = of_length[end - start]
        while same and same[0] < max(end, done):
            same.popleft()
        if start >= done and same:
            done = same[0] + end - start
            yield start, done


def _plain_signs(text: str) -> str:
    text = _OURS.sub(lambda sign: "&#36;" if sign[0][-1] == "$" else f"&#58;{_JOINER}", text)
    return _LEADS_AWAY.sub(lambda sign: "&#40;" if sign[0] == "(" else "&lt;", text)
