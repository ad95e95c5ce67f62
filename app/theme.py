"""Colours and signs, one table each.

Pole colours are mid-tones with at least 3:1 against both backgrounds, so a chart that is already drawn stays readable
when the theme is switched; blue and orange survive colour blindness but are equally light, so nothing is said by colour
alone: every state, pole and tier has a sign too. Text is never coloured from Python. The surfaces are in
`.streamlit/config.toml`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from traitbench.contract.models import State
from traitbench.contract.scores import Tier

BadgeColour = Literal["red", "orange", "yellow", "blue", "green", "violet", "gray", "primary"]


@dataclass(frozen=True)
class Palette:
    """What charts draw with."""

    positive: str
    negative: str
    neutral: str
    accent: str
    grid: str
    faint: str


PALETTE = Palette(
    positive="#3E86C4",
    negative="#C9701E",
    neutral="#808080",
    accent="#1A8F84",
    grid="rgba(128, 128, 128, 0.25)",
    faint="rgba(128, 128, 128, 0.14)",
)


@dataclass(frozen=True)
class Sign:
    """How a word of a closed set looks: a label, an icon, a badge colour and a sentence for the hint."""

    label: str
    icon: str
    colour: BadgeColour
    hint: str


STATES: Mapping[State, Sign] = {
    "draft": Sign("Draft", ":material/edit_note:", "gray", "Traits and samples can be edited; not trained yet."),
    "busy": Sign("Busy", ":material/progress_activity:", "blue", "An operation is running on this model."),
    "ready": Sign("Ready", ":material/check_circle:", "green", "Trained and scoring; traits and samples are frozen."),
    "failed": Sign("Failed", ":material/error:", "red", "The first training failed; an edit makes it a draft again."),
    "archived": Sign("Archived", ":material/inventory_2:", "gray", "Deleted: it can be read, nothing more."),
}


@dataclass(frozen=True)
class TierSign:
    """A tier's colour, its glyph (fuller is higher) and the badge colour that is nearest."""

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
"""A score whose confidence is low has no tier."""

POSITIVE_SIGN, NEGATIVE_SIGN, NEUTRAL_SIGN = "▲", "▼", "■"

FOUND_SIGN = "◇"
"""Before the name of a trait that discovery found."""


def pole_sign(quality: float) -> str:
    """The sign of the side that a sample's quality lies on."""
    return POSITIVE_SIGN if quality > 0.5 else NEGATIVE_SIGN if quality < 0.5 else NEUTRAL_SIGN


def seen_through(colour: str, opacity: float) -> str:
    """A colour of the palette, `#rrggbb`, as a ground on which text stays readable in either theme."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {opacity:.2f})"
