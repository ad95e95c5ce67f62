"""How far a version's scores can be trusted, trait by trait, as its metrics say it.

A version may be older than a figure, or come from elsewhere: whatever is not there, or not of its shape, is None or
empty here, and nothing is ever put in its place.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from traitbench.contract.scores import Tier
from traitbench.contract.versions import Version

Interval = tuple[float, float]
Pole = Literal["positive", "negative"]

POLES: tuple[Pole, ...] = get_args(Pole)
TIER_NAMES: tuple[Tier, ...] = ("Weak", "Developing", "Solid", "Strong")

Confusion = Mapping[Pole, Mapping[Tier, int]]
"""By pole of the samples: how many of their held-out scores lie in each tier."""


@dataclass(frozen=True)
class Point:
    """How well the poles were told apart with so many samples."""

    samples: int
    auroc: float
    interval: Interval | None


@dataclass(frozen=True)
class Forecast(Point):
    """The same, foretold for `more` samples than there were."""

    more: int


@dataclass(frozen=True)
class Feed:
    """The pole that more samples would help most, and why."""

    pole: Pole
    why: str


@dataclass(frozen=True)
class Level:
    """One effort of the search: what it tried, and what that was worth on samples left out."""

    name: str
    tried: int | None
    cross_entropy: float | None
    chosen: bool


@dataclass(frozen=True)
class Search:
    """What was tried for a trait, what was chosen, and what that gained over the level below."""

    says: str
    tried: int | None
    levels: tuple[Level, ...]
    chosen: Mapping[str, Any]
    gained: float | None


@dataclass(frozen=True)
class Labels:
    """Whether the words for the poles taught the trait too, how much they weigh, and what that gained."""

    used: bool
    share: float | None
    gain: float | None
    why: str


@dataclass(frozen=True)
class Figures:
    """How a trait was measured, in full or in one mode."""

    auroc: float | None
    interval: Interval | None
    brier: float | None
    calibration_error: float | None
    cross_entropy: float | None
    measured_on: str

    @property
    def why_not(self) -> str:
        """Why there is no figure; empty when there is one."""
        return "" if self.auroc is not None else self.measured_on.removeprefix("not measured: ") or "not said"


@dataclass(frozen=True)
class TraitFigures(Figures):
    """All that a version says of one of its traits; `curve` is None in a version of before there were curves."""

    key: str
    counts: Mapping[str, int]
    confusion: Confusion | None
    curve: tuple[Point, ...] | None
    forecast: Forecast | None
    feed: Feed | None
    search: Search | None
    labels: Labels | None
    modes: Mapping[str, Figures]


def trait_figures(version: Version) -> dict[str, TraitFigures]:
    """By trait key, in the order of the version."""
    found = version.metrics.get("traits")
    return {str(key): _read(str(key), _mapping(each)) for key, each in found.items()} if isinstance(found, dict) else {}


def used_labels(version: Version) -> bool | None:
    """Whether the training was allowed to learn from labels; None where it is not said."""
    said = version.metrics.get("use_labels")
    return said if isinstance(said, bool) else None


def _read(key: str, told: Mapping[str, Any]) -> TraitFigures:
    modes = {str(mode): _figures(_mapping(each)) for mode, each in _mapping(told.get("modes")).items()}
    figures = _figures(told)
    return TraitFigures(
        **figures.__dict__,
        key=key,
        counts={str(name): int(number) for name, number in _numbers(told.get("counts")).items()},
        confusion=_confusion(told.get("confusion")),
        curve=_curve(told.get("curve")),
        forecast=_forecast(_mapping(told.get("forecast"))),
        feed=_feed(_mapping(told.get("feed"))),
        search=_search(_mapping(told.get("search"))),
        labels=_labels(_mapping(told.get("labels"))),
        modes=modes,
    )


def _figures(told: Mapping[str, Any]) -> Figures:
    names = ("auroc", "brier", "calibration_error", "cross_entropy")
    auroc, brier, calibration_error, cross_entropy = (_number(told.get(name)) for name in names)
    measured_on = str(told.get("measured_on") or "not said")
    interval = _interval(told.get("auroc_interval")) if auroc is not None else None
    return Figures(auroc, interval, brier, calibration_error, cross_entropy, measured_on)


def _confusion(told: object) -> Confusion | None:
    found: dict[Pole, dict[Tier, int]] = {}
    for pole in POLES:
        counts = _numbers(_mapping(told).get(pole))
        if not set(TIER_NAMES) <= counts.keys():
            return None
        found[pole] = {tier: int(counts[tier]) for tier in TIER_NAMES}
    return found


def _curve(told: object) -> tuple[Point, ...] | None:
    return tuple(point for each in told if (point := _point(_mapping(each)))) if isinstance(told, list) else None


def _point(told: Mapping[str, Any]) -> Point | None:
    samples, auroc = _number(told.get("samples")), _number(told.get("auroc"))
    return None if samples is None or auroc is None else Point(int(samples), auroc, _interval(told.get("interval")))


def _forecast(told: Mapping[str, Any]) -> Forecast | None:
    point, more = _point(told), _number(told.get("more"))
    return None if point is None or more is None else Forecast(point.samples, point.auroc, point.interval, int(more))


def _feed(told: Mapping[str, Any]) -> Feed | None:
    pole = told.get("pole")
    return Feed(pole, str(told.get("why") or "")) if pole in POLES else None


def _search(told: Mapping[str, Any]) -> Search | None:
    if not told:
        return None
    levels = tuple(_level(_mapping(each)) for each in _list(told.get("levels")))
    tried = _number(told.get("tried"))
    chosen = _mapping(told.get("chosen"))
    says = str(told.get("says") or "")
    return Search(says, None if tried is None else int(tried), levels, chosen, _number(told.get("gained")))


def _level(told: Mapping[str, Any]) -> Level:
    tried = _number(told.get("tried"))
    name, chosen = str(told.get("level") or "not said"), told.get("chosen") is True
    return Level(name, None if tried is None else int(tried), _number(told.get("cross_entropy")), chosen)


def _labels(told: Mapping[str, Any]) -> Labels | None:
    if not isinstance(told.get("used"), bool):
        return None
    return Labels(told["used"], _number(told.get("share")), _number(told.get("gain")), str(told.get("why") or ""))


def _interval(told: object) -> Interval | None:
    ends = [_number(end) for end in _list(told)]
    return (ends[0], ends[1]) if len(ends) == 2 and ends[0] is not None and ends[1] is not None else None


def _number(told: object) -> float | None:
    real = isinstance(told, int | float) and not isinstance(told, bool) and math.isfinite(told)
    return float(told) if real else None  # type: ignore[arg-type]


def _numbers(told: object) -> dict[str, float]:
    return {str(name): number for name, each in _mapping(told).items() if (number := _number(each)) is not None}


def _mapping(told: object) -> Mapping[str, Any]:
    return told if isinstance(told, Mapping) else {}


def _list(told: object) -> Sequence[Any]:
    return told if isinstance(told, list | tuple) else ()
