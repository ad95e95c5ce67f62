"""Words for people."""

from datetime import UTC, datetime, timedelta

import pytest

from traitbench.display.charts.layout import as_is
from traitbench.display.text import ago, count, isolated, plain, shortened, span, unlinked

NOW = datetime(2026, 3, 14, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("*a* [b](c) $x$ :red[d]", r"\*a\* \[b\]\(c\) \$x\$ \:red\[d\]"),
        (":material/home: :smile: 10:30", "\\:\u2060material/home\\: \\:\u2060smile\\: 10\\:30"),
        ("see HTTPS://a.b/c, www.a.b", "see HTTPS\\:\u2060//a\\.b/c, www\u2060\\.a\\.b"),
        ("ann@example.org", "ann@\u2060example\\.org"),
        ("a\u202eb\x1bc\u2066d", "a\ufffdb\ufffdc\ufffdd"),
    ],
    ids=["markdown", "icons and emoji", "addresses", "an address of mail", "characters that turn the text around them"],
)
def test_a_name_is_shown_as_typed_and_not_obeyed(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_counts_agree_with_their_nouns() -> None:
    assert [count(number, "sample") for number in (0, 1, 1240)] == ["0 samples", "1 sample", "1,240 samples"]


def test_a_long_text_is_cut_at_a_word() -> None:
    assert shortened("one two,  three four", 14) == "one two…"
    assert shortened("short", 14) == "short"


@pytest.mark.parametrize(
    ("text", "length", "shown"),
    [
        ("Wow この映画はとても面白かったです", 12, "Wow この映画はとて…"),
        ("ร้านนี้อาหารอร่อย", 8, "ร้านนี้…"),
        ("👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧", 12, "👨‍👩‍👧👨‍👩‍👧…"),
        ("🇩🇪🇫🇷🇯🇵🇮🇳", 6, "🇩🇪🇫🇷…"),
        ("नमस्ते दुनिया", 10, "नमस्ते…"),
        ("e\u0301" * 9, 6, "e\u0301e\u0301…"),
        ("Z" + "\u0337" * 60, 6, "Z" + "\u0337" * 4 + "…"),
        ("日本\ud83d語と中国語", 6, "日本\ud83d語と…"),
    ],
)
def test_a_text_is_cut_between_characters_in_every_script(text: str, length: int, shown: str) -> None:
    assert shortened(text, length) == shown


@pytest.mark.parametrize(
    ("before", "text"),
    [
        (timedelta(seconds=5), "just now"),
        (timedelta(minutes=12), "12 min ago"),
        (timedelta(hours=3), "3 h ago"),
        (timedelta(days=1), "1 day ago"),
        (timedelta(days=5), "5 days ago"),
        (timedelta(days=30), "on 12 Feb 2026"),
    ],
)
def test_times_are_told_as_one_would(before: timedelta, text: str) -> None:
    assert ago(NOW - before, NOW) == text


def test_an_excerpt_of_a_long_text_is_that_of_its_beginning() -> None:
    for text in ("one two " * 500, " " * 5_000 + "one two " * 50, "x" * 5_000, "a" + "\n" * 300 + "b c"):
        line = " ".join(text.split())
        result = line if len(line) <= 40 else line[:39].rsplit(" ", 1)[0].rstrip(",;:.") + "…"
        assert shortened(text, 40) == result


def test_words_from_right_to_left_keep_their_place_in_a_line() -> None:
    assert [isolated(text) for text in ("قذرة", "日本", "warm")] == ["\u2068قذرة\u2069", "日本", "warm"]
    assert f"5 {plain('סבלני!')}, 8" == "5 \u2068סבלני\\!\u2069, 8"
    assert as_is("<b>סבלני") == "\u2068&lt;b&gt;סבלני\u2069"


def test_no_span_and_no_age_is_less_than_nothing() -> None:
    assert span(-7_200) == "0 s"
    now = datetime(2026, 11, 22, tzinfo=UTC)
    assert ago(now + timedelta(hours=3), now) == "just now"


def test_an_address_of_a_person_is_no_link() -> None:
    assert unlinked("ann@example.org") == r":small[ann@]:small[example\.org]"
    assert [unlinked(name) for name in ("Ann", "@ann", "ann@", "")] == ["Ann", "@ann", "ann@", ""]
