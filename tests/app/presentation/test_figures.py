"""What is said of a version's figures: its gain against the one before, and what was measured on what."""

from datetime import UTC, datetime
from typing import Any

import pytest

from traitbench.app.presentation.figures import measured_on, names_of, outcome, series
from traitbench.contract.metrics import Metrics
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version

NAMES = {"warmth": "Warmth", "clarity": "Clarity"}


def test_equal_parameters_are_no_change() -> None:
    text = outcome(version(1, warmth=(0.9, 0.8, 0.95)), version(2, param_hash="sha256:1"), NAMES)
    assert text == "v2 has the same parameters as v1, so both give every text the same score."


@pytest.mark.parametrize(
    ("after", "verdict", "beyond"),
    [
        ((0.7, 0.65, 0.75), "worse", "More than chance: clearly worse: Warmth."),
        ((0.99, 0.97, 1.0), "better", "More than chance: clearly better: Warmth."),
        ((0.92, 0.85, 0.96), "better", "the difference may be chance"),
        ((0.9, 0.8, 0.95), "as well as before", "the difference may be chance"),
    ],
)
def test_a_change_is_named_and_chance_is_not_taken_for_one(
    after: tuple[float, float, float], verdict: str, beyond: str
) -> None:
    text = outcome(version(1, warmth=(0.9, 0.8, 0.95)), version(2, warmth=after), NAMES)
    assert f"Mean AUROC **0.90 → {after[0]:.2f}**: it separates the poles {verdict}." in text
    assert beyond in text


def test_other_samples_are_no_equal_ground() -> None:
    before, after = version(1, warmth=(0.9, 0.8, 0.95)), version(2, samples=30, warmth=(0.9, 0.8, 0.95))
    assert "v2 was measured on 10 samples more" in outcome(before, after, NAMES)


def test_nothing_is_claimed_of_what_was_not_measured() -> None:
    assert outcome(version(1), version(2), NAMES) == ""
    assert measured_on(series(version(1, warmth=None), NAMES)) == ""
    assert measured_on(series(version(1, warmth=None, clarity=(0.9, 0.8, 1.0)), NAMES)).endswith(" (Clarity).")


def test_a_trait_that_discovery_found_bears_its_sign() -> None:
    assert names_of([trait("warmth", "extrinsic"), trait("axis_1", "intrinsic")]) == {
        "warmth": "warmth",
        "axis_1": "◇ axis_1",
    }


def trait(name: str, kind: Any) -> Trait:
    return Trait(
        key=name,
        name=name,
        positive_label="positive",
        negative_label="negative",
        sample_count=0,
        positive_samples=0,
        negative_samples=0,
        description="",
        kind=kind,
        aggregation="mean",
        discrimination=None,
        explained_variance=None,
        anchor_sample_ids=None,
    )


def version(
    number: int, *, param_hash: str = "", samples: int = 20, **traits: tuple[float, float, float] | None
) -> Version:
    """A version with an AUROC and its interval for each trait."""
    figures = {
        key: {"auroc": result and result[0], "auroc_interval": result and list(result[1:]), "measured_on": "10 folds"}
        for key, result in traits.items()
    }
    means = [result[0] for result in traits.values() if result]
    return Version(
        version_id=number,
        version_no=number,
        triggered_by="train",
        param_hash=param_hash or f"sha256:{number}",
        sample_count=samples,
        created_at=datetime(2026, 11, 21, tzinfo=UTC),
        run_id=None,
        metrics=Metrics.model_validate({"auroc": sum(means) / len(means) if means else None, "traits": figures}),
        tags=[],
    )
