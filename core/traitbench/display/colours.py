"""Tables of colours and signs.

Pole colours are mid-tones with a contrast of at least 3:1 on both backgrounds, so that a chart stays readable when the
theme changes. Indigo is the negative pole at the left, amber the positive one at the right, and nothing else has these
hues. They are distinct with colour blindness but nearly equally light, so colour is never the only sign: every state,
pole and tier has a symbol too. Python never sets text colours. Backgrounds are in `.streamlit/config.toml`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from traitbench.contract.models import State
from traitbench.contract.scores import Tier
from traitbench.display.sides import COLOURS, SIGNS
from traitbench.display.tokens import token

BadgeColour = Literal["red", "orange", "yellow", "blue", "green", "violet", "gray", "primary"]


@dataclass(frozen=True)
class Palette:
    """The colours of charts."""

    positive: str
    negative: str
    neutral: str
    accent: str
    bad: str
    grid: str
    faint: str


PALETTE = Palette(
    positive=COLOURS[True],
    negative=COLOURS[False],
    neutral=COLOURS[None],
    accent="#1A8F84",
    bad="#D0493F",
    grid="rgba(128, 128, 128, 0.25)",
    faint="rgba(128, 128, 128, 0.14)",
)


@dataclass(frozen=True)
class Sign:
    """How a state is shown: label, icon, badge colour and tooltip."""

    label: str
    icon: str
    colour: BadgeColour
    hint: str


STATES: Mapping[State, Sign] = {
    "draft": Sign("Draft", ":material/edit_note:", "gray", "Not trained yet. You can edit traits and samples."),
    "busy": Sign("Busy", ":material/progress_activity:", "gray", "An operation is running on this model."),
    "ready": Sign("In use", ":material/check_circle:", "green", "It scores texts. Traits and samples are frozen."),
    "failed": Sign("Failed", ":material/error:", "red", "The first training failed. An edit makes it a draft again."),
    "archived": Sign("Archived", ":material/inventory_2:", "gray", "Read-only. You can restore it for 30 days."),
}


@dataclass(frozen=True)
class TierSign:
    """A tier's colour, its glyph (fuller is higher) and the nearest badge colour."""

    colour: str
    glyph: str
    badge: BadgeColour


TIERS: Mapping[Tier, TierSign] = {
    "Strong": TierSign("#1A8F84", "●", "green"),
    "Solid": TierSign("#3E86C4", "◕", "blue"),
    "Developing": TierSign("#A8801A", "◑", "yellow"),
    "Weak": TierSign("#C2574A", "◔", "red"),
}

TIER_NAMES: tuple[Tier, ...] = tuple(reversed([*TIERS]))
"""The tiers, the lowest first."""

NO_TIER = TierSign("#808080", "○", "gray")
"""For scores with low confidence, which have no tier."""

POSITIVE_SIGN, NEGATIVE_SIGN, NEUTRAL_SIGN = SIGNS[True], SIGNS[False], SIGNS[None]

DISCOVERED_SIGN = "◇"
"""Marks the name of an intrinsic trait."""


@dataclass(frozen=True)
class SideSign:
    """A side's colour in charts, its sign, its badge colour, and the CSS colour of words about it.

    Words need more contrast than bars, so their colour depends on the theme.
    """

    colour: str
    sign: str
    badge: BadgeColour
    words: str


SIDES: Mapping[bool | None, SideSign] = {
    True: SideSign(PALETTE.positive, POSITIVE_SIGN, "orange", token("right-ink")),
    False: SideSign(PALETTE.negative, NEGATIVE_SIGN, "blue", token("left-ink")),
    None: SideSign(PALETTE.neutral, NEUTRAL_SIGN, "gray", token("ink-2")),
}
"""How the sides of `display.sides` are shown, by `Side.positive`: a pole has the same colour on every page."""


def pole_sign(quality: float) -> str:
    """Return the sign of the pole that a sample's quality is nearer to."""
    return POSITIVE_SIGN if quality > 0.5 else NEGATIVE_SIGN if quality < 0.5 else NEUTRAL_SIGN


def seen_through(colour: str, opacity: float) -> str:
    """Return a palette colour, `#rrggbb`, as a transparent background for text in either theme."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {opacity:.2f})"
