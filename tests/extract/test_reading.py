"""From bytes to text: readable HTML, encodings, the cut, and readers that are killed."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from traitbench.errors import UrlNotFetchable
from traitbench.extract.fetch import CONTRACT_LIMITS, FetchedPage, FetchLimits
from traitbench.extract.reading import cut, text_of

ARTICLE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>The mill</title>
<style>p { color: red }</style><script>document.write("scripted")</script></head><body>
<header><nav><a href="/">Home</a> <a href="/shop">Shop</a> <a href="/about">About us</a></nav></header>
<article><h1>The mill by the weir</h1>
<p>Below the weir stands a mill that has ground no grain since the &quot;dry&quot; summer, and still its wheel
turns whenever the sluice is raised for the children of the village school.</p>
<p>Its keeper, a retired surveyor, greases the axle every spring and writes the height of the river into a ledger
that his grandmother began.</p>
<p>Three things are asked of visitors:</p>
<ul><li>that they leave the sluice alone,</li><li>that they close the gate,</li></ul>
<p>Whoever comes in the evening hears the water first, long before the path bends and the roof comes into sight.</p>
</article>
<section id="comments"><h2>Comments</h2><div class="comment"><p>First to comment on this lovely mill, hello!</p></div>
</section><footer><p>Copyright, imprint, and a notice about cookies</p></footer></body></html>"""


def text(
    body: str | bytes, kind: str = "text/html", charset: str | None = None, limits: FetchLimits = CONTRACT_LIMITS
) -> str:
    return text_of(FetchedPage(kind, charset, body if isinstance(body, bytes) else body.encode()), limits)


def reason(body: str | bytes, kind: str = "text/html", limits: FetchLimits = CONTRACT_LIMITS) -> str:
    with pytest.raises(UrlNotFetchable) as refused:
        text(body, kind, limits=limits)
    return str(refused.value.details["reason"])


def test_a_page_gives_its_article_in_paragraphs() -> None:
    assert text(ARTICLE).split("\n\n") == [
        "The mill by the weir",
        'Below the weir stands a mill that has ground no grain since the "dry" summer, and still its wheel turns '
        "whenever the sluice is raised for the children of the village school.",
        "Its keeper, a retired surveyor, greases the axle every spring and writes the height of the river into a "
        "ledger that his grandmother began.",
        "Three things are asked of visitors:\n- that they leave the sluice alone,\n- that they close the gate,",
        "Whoever comes in the evening hears the water first, long before the path bends and the roof comes into sight.",
    ]


@pytest.mark.parametrize(
    "html",
    ["<html><body><p>Short.</p></body></html>", "<p>Short.</p>", "Short."],
)
def test_a_page_too_small_to_have_an_article_gives_all_its_text(html: str) -> None:
    assert "Short." in text(html)


@pytest.mark.parametrize(
    "html", ["", "<html></html>", "<html><body><script>let a = 1</script><img src='x.png'></body></html>"]
)
def test_a_page_without_text_is_not_fetchable(html: str) -> None:
    assert reason(html) == "no_text"


def test_plain_text_is_taken_as_it_is() -> None:
    plain = "  <b>Not HTML</b> &amp; kept,\r\n\n\tto the last space. "
    assert text(plain, "text/plain") == plain


@pytest.mark.parametrize("blank", ["", " \n\t", "\0\0", "\ufeff"])
def test_plain_text_of_only_space_is_not_fetchable(blank: str) -> None:
    assert reason(blank, "text/plain") == "no_text"


def test_null_characters_are_removed() -> None:
    """Neither the contract nor PostgreSQL accepts them."""
    assert text("a\0b", "text/plain") == "ab"


WORDS = "Müller “grüßt” – 12 €"


@pytest.mark.parametrize(
    ("body", "charset", "expected"),
    [
        (WORDS.encode(), "utf-8", WORDS),
        (WORDS.encode(), "UTF8", WORDS),
        (WORDS.encode(), None, WORDS),
        (WORDS.encode("cp1252"), "windows-1252", WORDS),
        (WORDS.encode("cp1252"), "iso-8859-1", WORDS),
        (WORDS.encode("cp1252"), "us-ascii", WORDS),
        (WORDS.encode("cp1252"), None, WORDS),
        (WORDS.encode("utf-8-sig"), "iso-8859-1", WORDS),
        (WORDS.encode("utf-16"), None, WORDS),
        (WORDS.encode("utf-16-be"), "utf-16be", WORDS),
        ("Мельница".encode("koi8-r"), "KOI8-R", "Мельница"),
        ("水車小屋".encode("shift_jis"), "Shift_JIS", "水車小屋"),
        ("水车".encode("gb18030"), "gb2312", "水车"),
        (WORDS.encode(), "no-such-charset", WORDS),
        *[
            (WORDS.encode(), program, WORDS)
            for program in ("rot13", "zip", "idna", "punycode", "utf-7", "unicode_escape")
        ],
        (b"broken \xff\xfe end", "utf-8", "broken \ufffd\ufffd end"),
        (b"half a character \xe2\x82", "utf-8", "half a character \ufffd"),
        (b"undefined \x81", "windows-1252", "undefined \ufffd"),
        (b"o\x00d\x00d", "utf-16le", "od\ufffd"),
    ],
)
def test_plain_text_is_decoded_by_its_charset_however_broken(body: bytes, charset: str | None, expected: str) -> None:
    assert text(body, "text/plain", charset) == expected


@pytest.mark.parametrize(
    "head",
    [
        '<html><head><meta charset="windows-1252">',
        '<html><head><meta http-equiv="Content-Type" content="text/html; charset=ISO-8859-1">',
        '<?xml version="1.0" encoding="windows-1252"?><html xmlns="http://www.w3.org/1999/xhtml"><head>',
        "<html><head><META  charset = ' windows-1252'>",
        "<html><head><meta name=x><meta charset=windows-1252>",
    ],
)
def test_html_is_decoded_by_its_own_declaration_without_a_header(head: str) -> None:
    html = f"{head}<title>x</title></head><body><p>{WORDS}</p></body></html>"
    assert text(html.encode("cp1252")) == WORDS
    assert text(html.encode(), charset="utf-8") == WORDS


def test_no_page_has_a_character_that_utf_8_cannot_encode() -> None:
    assert text("<html><body><p>Half &#xD800; and none &#0; of it</p></body></html>").encode()


def test_reading_a_slow_page_is_stopped() -> None:
    slow = "<html><body>" + "<a href=x>y</a>" * 300_000
    assert reason(slow, limits=replace(CONTRACT_LIMITS, reading_seconds=0.5)) == "no_text"


def test_reading_an_extremely_nested_page_is_stopped() -> None:
    assert reason("<html><body>" + "<div>" * 100_000 + "Deep.") == "no_text"


@settings(deadline=None)
@given(st.text(max_size=20), st.integers(0, 60))
def test_cut_gives_the_longest_beginning_that_fits(whole: str, most: int) -> None:
    kept = cut(whole, most)
    assert whole.startswith(kept)
    assert len(kept.encode()) <= most
    assert kept == whole or len(whole[: len(kept) + 1].encode()) > most


@pytest.mark.parametrize(("character", "characters"), [("a", 50_000), ("ü", 25_000), ("水", 16_666), ("𝄞", 12_500)])
def test_content_is_cut_after_50_kilobytes_between_characters(character: str, characters: int) -> None:
    assert text(character * 60_000, "text/plain") == character * characters
