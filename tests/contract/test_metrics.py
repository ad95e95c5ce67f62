"""Reading a version's metrics: all there, of before there were such figures, and of any other shape."""

import copy
import json
from typing import Any

import pytest
from pydantic import ValidationError

from tests.conftest import not_none
from traitbench.contract.metrics import CurvePoint, Forecast, Metrics, Sureness, TraitMetrics

TIERS = {"Weak": 1, "Developing": 2, "Solid": 3, "Strong": 4}
WHOLE: dict[str, Any] = {
    "auroc": 0.84,
    "auroc_interval": [0.7, 0.92],
    "brier": 0.15,
    "calibration_error": 0.04,
    "cross_entropy": 0.45,
    "measured_on": "out-of-fold, 10 folds, 84 samples",
    "counts": {"positive": 40, "negative": 44},
    "confusion": {"positive": TIERS, "negative": TIERS},
    "score_counts": {"positive": [0] * 49 + [1, 2, 4] + [0] * 49, "negative": [0] * 49 + [8, 16, 32] + [0] * 49},
    "curve": [{"samples": 40, "auroc": 0.8, "interval": [0.6, 0.9]}],
    "forecast": {"more": 20, "samples": 104, "auroc": 0.86, "interval": [0.8, 0.9]},
    "feed": {"pole": "negative", "why": "it has fewer samples"},
    "search": {
        "says": "nine directions",
        "tried": 54,
        "levels": [
            {"level": "low", "tried": 2, "cross_entropy": 0.47, "chosen": False},
            {"level": "medium", "tried": 54, "cross_entropy": 0.45, "chosen": True},
        ],
        "chosen": {"shrinkage": 0.75},
        "gained": 0.02,
    },
    "labels": {"used": True, "share": 0.31, "gain": 0.01, "why": "they agree with the samples"},
    "modes": {
        "layer4": {"auroc": 0.834, "auroc_interval": [0.7, 0.9], "brier": 0.16, "calibration_error": 0.05},
        "static": {"auroc": None, "measured_on": "not measured: too few"},
    },
}


def read(**traits: Any) -> dict[str, TraitMetrics]:
    return Metrics.model_validate({"traits": traits}).traits


def test_everything_that_a_version_says_of_a_trait_is_read() -> None:
    metrics = Metrics.model_validate({"traits": {"warmth": WHOLE}, "use_labels": False})
    assert metrics == Metrics.checked(metrics.model_dump())
    figures = metrics.traits["warmth"]
    assert (figures.auroc, figures.auroc_interval, figures.brier) == (0.84, (0.7, 0.92), 0.15)
    assert figures.curve == [CurvePoint(samples=40, auroc=0.8, interval=(0.6, 0.9))]
    assert figures.forecast == Forecast(samples=104, auroc=0.86, interval=(0.8, 0.9), more=20)
    assert figures.feed is not None
    assert list(not_none(figures.confusion)["negative"].values()) == [1, 2, 3, 4]
    assert figures.sides == {"positive": Sureness(samples=7, right=4), "negative": Sureness(samples=56, right=8)}
    assert figures.modes["layer4"].auroc == 0.834
    assert metrics.use_labels is False


def test_a_version_of_before_has_what_it_has() -> None:
    old = {name: WHOLE[name] for name in ("auroc", "auroc_interval", "measured_on")}
    figures = read(warmth=old)["warmth"]
    assert figures.auroc == 0.84
    assert (figures.curve, figures.confusion, figures.forecast, figures.feed) == (None, None, None, None)
    assert figures.sides is None
    assert (figures.search, figures.labels, figures.modes) == (None, None, {})
    assert (Metrics.model_validate({}).use_labels, Metrics.model_validate({}).languages) == (None, None)


@pytest.mark.parametrize("wrong", [None, 3, "text", [], [None], [1, "x"], {"a": 1}, {"auroc": "high"}, float("nan")])
def test_metrics_from_elsewhere_may_have_any_shape(wrong: Any) -> None:
    figures = read(warmth=dict.fromkeys(WHOLE, wrong))["warmth"]
    assert figures.auroc_interval is None
    assert figures.confusion is None
    assert figures.forecast is None
    assert read(warmth=WHOLE, other=wrong)["warmth"] == read(warmth=WHOLE)["warmth"]
    assert isinstance(Metrics.model_validate({"traits": wrong}).traits, dict)


def test_one_wrong_item_hides_no_other() -> None:
    curve = [{"samples": -1, "auroc": 0.5}, *WHOLE["curve"], None]
    figures = read(
        warmth={**WHOLE, "curve": curve, "auroc_interval": [0.5, "x"], "counts": {"positive": 4, "new": "x"}}
    )
    assert figures["warmth"].curve == [CurvePoint(samples=40, auroc=0.8, interval=(0.6, 0.9))]
    assert (figures["warmth"].auroc, figures["warmth"].auroc_interval) == (0.84, None)
    assert figures["warmth"].counts == {"positive": 4}


def test_what_goes_out_is_what_came_in_to_the_byte() -> None:
    written = (
        '{"new":{"b":[1.0,1,5e-324,null],"a":0.30000000000000004},"auroc":1,'
        '"traits":{"warmth":{"x":1,"curve":[7],"brier":"?"},"odd":3},"effort":null}'
    )
    metrics = Metrics.model_validate_json(written)
    assert metrics.model_dump_json() == written
    assert json.dumps(metrics.model_dump(mode="json"), separators=(",", ":")) == written
    assert Metrics.model_validate_json("{}").model_dump_json() == "{}"


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        (("auroc",), 1.5),
        (("elapsed_s",), "long"),
        (("languages", "texts"), {"de": -1}),
        (("traits",), []),
        (("traits", "warmth"), 7),
        (("traits", "warmth", "curve"), [{"samples": 3}]),
        (("traits", "warmth", "forecast"), "soon"),
        (("traits", "warmth", "auroc_interval"), [0.5]),
        (("traits", "warmth", "confusion"), {"positive": TIERS}),
        (("traits", "warmth", "search", "levels"), [None]),
        (("traits", "warmth", "modes", "layer4", "brier"), True),
    ],
)
def test_checked_metrics_hold_to_every_type(place: tuple[str, ...], wrong: Any) -> None:
    metrics: dict[str, Any] = copy.deepcopy({"traits": {"warmth": WHOLE}, "languages": {"texts": {}}, "unknown": [{}]})
    Metrics.checked(metrics)
    inner = metrics
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = wrong
    with pytest.raises(ValidationError) as caught:
        Metrics.checked(metrics)
    assert {each["loc"][: len(place)] for each in caught.value.errors()} == {place}
    Metrics.model_validate(metrics)


def test_what_was_not_measured_says_why() -> None:
    figures = read(warmth=WHOLE)["warmth"]
    assert figures.why_not == ""
    assert figures.modes["static"].why_not == "too few"


@pytest.mark.parametrize(
    ("auroc", "without", "says"),
    [
        (0.86, 0.81, "The names of the poles raised the held-out AUROC from 0.81 to 0.86."),
        (0.81, 0.86, "The names of the poles lowered the held-out AUROC from 0.86 to 0.81."),
        (0.861, 0.859, "The names of the poles did not change the held-out AUROC (0.86)."),
        (0.86, None, ""),
        (None, 0.81, ""),
    ],
)
def test_a_trait_says_what_the_names_of_its_poles_added(auroc: float | None, without: float | None, says: str) -> None:
    labels = {"used": True, "share": 0.3, "auroc_without": without}
    traits = {"warmth": {"auroc": auroc, "labels": labels}}
    assert Metrics.model_validate({"traits": traits}).traits["warmth"].names_say == says
