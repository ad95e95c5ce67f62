"""What the browser is given to draw and what it may answer: tiles and rows, with any words and any answers."""

from html.parser import HTMLParser

import pytest

from tests.app.samples.test_listed import sample
from tests.app.samples.test_words import WARMTH
from traitbench_app.samples.listed import Chosen, Unseen
from traitbench_app.samples.narrowing import chosen_in, pressed_tile, query_of
from traitbench_app.samples.sample_list import ListEvent, list_data, row_of
from traitbench_app.samples.tiles import PressedTile, TraitTile, tiles_html

WILD = "<img src=x onerror=alert(1)>\"'&"


def counted(**scores: int) -> list[int]:
    return [scores.get(f"at{score}", 0) for score in range(101)]


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.cells += [value or "" for name, value in attrs if name == "data-cell"]


def test_a_tile_counts_what_is_wrong_and_has_a_button_for_each_part() -> None:
    tile = TraitTile(WARMTH, 2, 3, {"negative": counted(at10=1, at97=1), "positive": counted(at92=2, at8=1)})
    html = tiles_html([tile], pressed=None)
    tags = _Tags()
    tags.feed(html)
    assert "<b>2</b> on the wrong side" in html
    assert tags.cells == ["trait", "negative.10", "negative.90", "positive.0", "positive.90", "negative", "positive"]


def test_words_of_a_trait_are_no_markup() -> None:
    trait = WARMTH.model_copy(update={"key": WILD, "name": WILD, "positive_label": WILD, "negative_label": WILD})
    html = tiles_html([TraitTile(trait, 1, 1, {"negative": counted(at1=1), "positive": counted(at9=1)})], pressed=None)
    tags = _Tags()
    tags.feed(html)
    assert "img" not in tags.tags
    assert "not scored yet" in tiles_html([TraitTile(trait, 1, 1, None)], pressed=None)


@pytest.mark.parametrize("sent", ["", None, 7, "1 trait ", "1 trait", {"a": 1}])
def test_no_tile_is_pressed_by_what_names_none(sent: object) -> None:
    assert PressedTile.read(sent) is None


@pytest.mark.parametrize(
    "tile",
    [PressedTile("warmth"), PressedTile("warmth", "negative"), PressedTile("a b", "positive", 90)],
    ids=str,
)
def test_a_pressed_part_is_read_as_it_was_named(tile: PressedTile) -> None:
    assert PressedTile.read(f"17 {tile.cell}") == tile
    assert pressed_tile(Chosen(trait=tile.trait, pole=tile.side, tenth=tile.tenth)) == tile


def test_a_row_has_its_text_as_it_is_and_not_all_of_it() -> None:
    own = sample(7, 0.0, text=f"{WILD}\n{'x ' * 50_000}"[:50_000], held_out=True, group="g" * 500)
    row = row_of(own, WARMTH, Unseen(97, 0.0), "high", changed=True).to_wire()
    assert row["text"].startswith(f"{WILD} x x")
    assert len(row["text"]) < 400
    assert (row["score"], row["wrong"], row["test"], row["changed"]) == (97, True, "test", True)
    assert row["label"] == {"how": "", "word": "cold", "side": "left"}
    assert row["says"] == "Scored 97, on the wrong side of cold"
    assert row_of(own, WARMTH, None, "low", changed=False).to_wire()["score"] is None


def test_a_list_says_how_much_of_it_is_shown() -> None:
    rows = [row_of(sample(each), WARMTH, None, "low", changed=False) for each in range(1, 51)]
    some = list_data(rows, 412, picked=1, scored=True, order="newest first", step=50)
    assert some["foot"] == {"said": "50 of 412, newest first", "more": "Show 50 more"}
    assert list_data(rows, 60, picked=1, scored=True, order="newest first", step=50)["foot"]["more"] == "Show 10 more"
    whole = list_data(rows, 50, picked=1, scored=False, order="newest first", step=50)
    assert whole["foot"] == {"said": "50 samples, newest first", "more": ""}
    assert not whole["columns"]["grouped"]


@pytest.mark.parametrize(
    ("sent", "event"),
    [
        ("17 pick 4", ListEvent("pick", 4)),
        ("17 more ", ListEvent("more")),
        ("17 paste ", ListEvent("paste")),
        *((each, None) for each in ("", None, "17 pick x", "17 pick ", "17 drop 4", "pick 4", f"1 pick {'9' * 400}")),
    ],
)
def test_an_event_of_the_list_is_read_or_left(sent: object, event: ListEvent | None) -> None:
    assert ListEvent.read(sent) == event


# ---- the address -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "chosen"),
    [
        ({"trait": "Warmth", "pole": "negative"}, Chosen(trait="warmth", pole="negative")),
        ({"trait": "warmth", "pole": "cold", "score": "90"}, Chosen(trait="warmth", pole="negative", tenth=90)),
        ({"show": "no group", "order": "Newest first"}, Chosen(chip="no group", newest_first=True)),
        ({"use": "Test samples", "find": "a b"}, Chosen(chip="test", words="a b")),
        ({"origin": "Synthesized"}, Chosen(chip="synthesized")),
        ({"rows": "3, 5,x"}, Chosen(ids=frozenset({3, 5}))),
        ({"trait": "gone", "pole": "sour", "score": "95", "show": "me", "order": "?", "rows": "-"}, Chosen()),
    ],
    ids=str,
)
def test_an_address_asks_for_a_list(query: dict[str, str], chosen: Chosen) -> None:
    assert chosen_in(query, [WARMTH]) == chosen
    again = chosen_in({**query_of(chosen, [WARMTH]), "find": chosen.words}, [WARMTH])
    assert again == chosen
