"""Markdown of others: it loads nothing, its signs stay its own, code stays code."""

import pytest

from traitbench_app.model.foreign_markdown import shown

WJ = "\u2060"


@pytest.mark.parametrize(
    "image",
    ["![logo](https://example.org/a.png)", "![logo][ref]", "[![badge](https://a.b/c.svg)](https://a.b)", "\\\\![x](y)"],
)
def test_an_image_becomes_a_link(image: str) -> None:
    assert "![" not in shown(image)
    assert shown(image).replace(WJ, "") == image


def test_an_image_in_what_only_looks_like_code_becomes_a_link_too() -> None:
    assert "![" not in shown("`not closed ![x](https://example.org/a.png)")
    assert "![" not in shown("```\n![x](https://example.org/a.png)")


@pytest.mark.parametrize(
    ("typed", "drawn"),
    [
        ("costs $5 or $6", "costs &#36;5 or &#36;6"),
        (":red[alarm]", f"&#58;{WJ}red[alarm]"),
        (":material/home: and :smile:", f"&#58;{WJ}material/home: and &#58;{WJ}smile:"),
        ("at 10:30:15, see https://example.org:80/a", "at 10:30:15, see https://example.org:80/a"),
        ("`$HOME` and ``:red[x]``", "`$HOME` and ``:red[x]``"),
        ("```sh\necho $HOME\n# a comment\n```\n$1", "```sh\necho $HOME\n# a comment\n```\n&#36;1"),
        ("~~~\n```\n$1\n~~~\n$2", "~~~\n```\n$1\n~~~\n&#36;2"),
        ("# Title\n## Part\n####### no heading", "## Title\n### Part\n####### no heading"),
        ("[x](javascript:alert(1))", "[x]&#40;javascript:alert(1))"),
        ("[x](data:text/html;base64,AA)", "[x]&#40;data:text/html;base64,AA)"),
        ("[x]( <java&#115;cript:alert(1)>)", "[x]&#40; <java&#115;cript:alert(1)>)"),
        ("[x](\njavascript:alert(1))", "[x]&#40;\njavascript:alert(1))"),
        ("[x]: javascript:alert(1)", "&#91;x]: javascript:alert(1)"),
        ("> [x]: data:a", "> &#91;x]: data:a"),
        ("<javascript:alert(1)>", "&lt;javascript:alert(1)>"),
        ("[x](https://a.b/c) [y](#z) [z](/a/b) [w](mailto:a@b.c)", None),
        ("[x](other.md) <https://a.b> [r]: https://a.b", None),
        ("[r]: https://a.b/c", None),
        ("#hash and # hash", "#hash and # hash"),
        ("", ""),
    ],
)
def test_what_only_streamlit_understands_is_shown_as_typed(typed: str, drawn: str | None) -> None:
    assert shown(typed) == (typed if drawn is None else drawn)
