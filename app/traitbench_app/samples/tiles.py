"""The traits above the list, each with its strip of samples: a click narrows the list to a trait or a side."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

import streamlit as st

from traitbench.contract.metrics import Pole as Side
from traitbench.contract.traits import Trait
from traitbench.display.pictures import strip
from traitbench.display.text import isolated, shortened

_LONGEST, _MOST = 28, 6
_WIDTH, _WIDE, _HEIGHT, _RADIUS = 346, 1120, 44, 1.9

_CSS = """
:host { display: block; font: 13px/20px var(--st-font); color: var(--tb-ink); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 260px), 1fr)); gap: 16px; }
.tile {
  position: relative; min-width: 0; padding: 11px 16px 10px; background: var(--tb-surface);
  border: 1px solid var(--tb-line); border-radius: 10px; box-sizing: border-box;
}
.tile.on { border-color: var(--tb-ink); box-shadow: inset 0 0 0 1px var(--tb-ink); }
button { all: unset; box-sizing: border-box; cursor: pointer; border-radius: 6px; }
button:focus-visible { outline: 2px solid var(--tb-accent-ink); outline-offset: 1px; }
.whole { position: absolute; inset: 0; border-radius: 10px; }
.whole:hover { background: color-mix(in srgb, var(--tb-ink) 3%, transparent); }
.top, .cor, .poles { position: relative; pointer-events: none; }
.top { display: flex; gap: 8px; align-items: baseline; justify-content: space-between; }
.top b { font-weight: 600; font-variant-numeric: tabular-nums; }
.top > b { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.top span { color: var(--tb-ink-3); white-space: nowrap; }
.top span b { color: var(--tb-ink); }
.cor { margin-top: 4px; padding: 12px 0; }
.cor button, .poles button { pointer-events: auto; }
.pole { font-size: 12px; line-height: 24px; min-width: 24px; font-variant-numeric: tabular-nums; }
.pole:hover, .pole[aria-pressed="true"] { text-decoration: underline; text-underline-offset: 3px; }
.pole[aria-pressed="true"] { font-weight: 600; }
.pole.left { color: var(--tb-left-ink); }
.pole.right { color: var(--tb-right-ink); }
.cor .pole { position: absolute; z-index: 2; }
.cor .pole.left { left: 0; top: -4px; }
.cor .pole.right { right: 0; bottom: -4px; }
.cor [data-cell*="."]:hover { background: color-mix(in srgb, var(--tb-ink) 8%, transparent); }
.poles { display: flex; justify-content: space-between; gap: 8px; margin-top: 6px; }
.split { display: flex; gap: 2px; height: 6px; margin-top: 4px; border-radius: 3px; overflow: hidden; }
.split .left { background: var(--tb-left); }
.split .right { background: var(--tb-right); }
.more { justify-self: start; padding: 4px 8px; color: var(--tb-ink-2); text-decoration: underline; }
"""

_JS = """
export default function ({ data, parentElement, setStateValue }) {
  const place = parentElement.querySelector('.place')
  if (place.dataset.shown !== data.html) {
    place.innerHTML = data.html
    place.dataset.shown = data.html
  }
  for (const button of place.querySelectorAll('button')) {
    const trait = button.closest('[data-trait]')?.dataset.trait ?? ''
    const cell = `${button.dataset.cell} ${trait}`
    // Twenty stops for each trait would lie before the list, whose order and filters reach the same samples by keys.
    if (button.dataset.cell?.includes('.')) button.tabIndex = -1
    if (!button.classList.contains('more')) button.setAttribute('aria-pressed', String(cell === data.pressed))
    button.onclick = () => setStateValue('pressed', `${Date.now()} ${cell}`)
  }
}
"""

_tiles = st.components.v2.component("traitbench_tiles", html='<div class="place"></div>', css=_CSS, js=_JS)


@dataclass(frozen=True)
class TraitTile:
    """A trait with its samples by pole, and by score if they were scored; `counts` is None before that."""

    trait: Trait
    negatives: int
    positives: int
    counts: Mapping[Side, Sequence[int]] | None


@dataclass(frozen=True)
class PressedTile:
    """What was pressed: a trait, with the side and the first score of the tenth if those were."""

    trait: str
    side: Side | None = None
    tenth: int | None = None

    @classmethod
    def read(cls, sent: object) -> "PressedTile | None":
        """Read what the browser sent; None if that is no tile."""
        parts = sent.split(" ", 2) if isinstance(sent, str) else []
        if len(parts) != 3 or not parts[2]:
            return None
        _, cell, trait = parts
        side, _, tenth = cell.partition(".")
        if side not in ("negative", "positive"):
            return cls(trait)
        return cls(trait, side, int(tenth) if tenth.isdecimal() and len(tenth) < 3 else None)  # type: ignore[arg-type]

    @property
    def cell(self) -> str:
        """How the page names it."""
        tenth = "" if self.tenth is None else f".{self.tenth}"
        return f"{self.side or 'trait'}{tenth} {self.trait}"


def draw_tiles(
    tiles: Sequence[TraitTile], *, pressed: PressedTile | None, on_press: Callable[[PressedTile], None]
) -> None:
    """Draw the tiles; `on_press` is called before the page runs again."""

    def press() -> None:
        state = st.session_state[_KEY]
        if (sent := PressedTile.read(state.get("pressed"))) is not None:
            on_press(sent)

    shown = tiles if st.session_state.get(_ALL) or len(tiles) <= _MOST else tiles[:_MOST]
    html = tiles_html(shown, pressed=pressed)
    _tiles(data={"html": html, "pressed": pressed.cell if pressed else ""}, key=_KEY, on_pressed_change=press)
    if len(shown) < len(tiles):
        st.button(f"Show {len(tiles) - len(shown)} more", type="tertiary", key="samples.more_tiles", on_click=_show_all)


_KEY, _ALL = "samples.tiles", "samples.all_tiles"


def _show_all() -> None:
    st.session_state[_ALL] = True


def tiles_html(tiles: Sequence[TraitTile], *, pressed: PressedTile | None) -> str:
    """Return the tiles as HTML, whose buttons name a cell in `data-cell` and its trait in a parent's `data-trait`."""
    among = [tile.counts for tile in tiles if tile.counts is not None]
    width = _WIDTH if len(tiles) > 2 else _WIDE // max(len(tiles), 1)
    each = (_tile(tile, among, width, is_on=pressed is not None and pressed.trait == tile.trait.key) for tile in tiles)
    return f'<div class="tiles">{"".join(each)}</div>'


def _tile(tile: TraitTile, among: Sequence[Mapping[Side, Sequence[int]]], width: int, *, is_on: bool) -> str:
    trait, name = tile.trait, escape(shortened(tile.trait.name, _LONGEST))
    whole = f'<button class="whole" data-cell="trait" aria-label="Show only {escape(trait.name)}"></button>'
    top = f'<div class="top"><b title="{escape(trait.name)}">{name}</b>{_said(tile)}</div>'
    left = _pole("negative", "left", tile.negatives, trait.negative_label)
    right = _pole("positive", "right", tile.positives, trait.positive_label)
    if tile.counts is None:
        parts = (("left", tile.negatives), ("right", tile.positives))
        split = "".join(f'<i class="{side}" style="flex:{number or 0.02}"></i>' for side, number in parts)
        body = f'<div class="poles">{left}{right}</div><div class="split" aria-hidden="true">{split}</div>'
    else:
        picture = strip(
            tile.counts, negative=trait.negative_label, positive=trait.positive_label, width=width, height=_HEIGHT,
            radius=_RADIUS, opens=True, among=among, is_labelled=False,
        )  # fmt: skip
        body = f'<div class="cor">{picture}{left}{right}</div>'
    classes = "tile on" if is_on else "tile"
    return f'<section class="{classes}" data-trait="{escape(trait.key)}">{whole}{top}{body}</section>'


def wrong_in(counts: Mapping[Side, Sequence[int]]) -> int:
    """Return how many samples score on the wrong side; a score of 50 is on neither."""
    return sum(counts["negative"][50:]) + sum(counts["positive"][:51])


def _said(tile: TraitTile) -> str:
    if tile.counts is None:
        return "<span>not scored yet</span>" if tile.negatives + tile.positives else ""
    return f"<span><b>{wrong_in(tile.counts):,}</b> on the wrong side</span>"


def _pole(side: Side, where: str, number: int, label: str) -> str:
    word = f"{number:,} {isolated(shortened(label, _LONGEST))}"
    return f'<button class="pole {where}" data-cell="{side}"><bdi>{escape(word)}</bdi></button>'
