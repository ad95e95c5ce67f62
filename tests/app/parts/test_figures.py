"""What is said of a version's figures: its gain against the one before, and what was measured on what."""

from typing import Any

import pytest

from traitbench.contract.metrics import HeldOutFigures, Metrics
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench_app.parts.version_figures import measured_on, names_of, pair_on_tests, series

NAMES = {"warmth": "Warmth", "clarity": "Clarity"}


WIDE = (0.9, 0.8, 0.95)


def test_nothing_is_claimed_of_what_was_not_measured() -> None:
    assert measured_on(series(version(1, warmth=None), NAMES)) == ""
    assert measured_on(series(version(1, warmth=None, clarity=(0.9, 0.8, 1.0)), NAMES)).endswith(" (Clarity).")


def test_a_trait_that_discovery_found_bears_its_sign() -> None:
    assert names_of([trait("warmth", "extrinsic"), trait("axis_1", "intrinsic")]) == {
        "warmth": "warmth",
        "axis_1": "◇ axis_1",
    }


def trait(name: str, kind: Any) -> Trait:
    return Trait.model_construct(key=name, name=name, kind=kind)


def version(number: int, **traits: tuple[float, float | None, float | None] | None) -> Version:
    """A version with an AUROC and its interval for each trait."""
    figures = {
        key: {
            "auroc": result and result[0],
            "auroc_interval": list(result[1:]) if result and result[1] is not None else None,
            "measured_on": "10 folds",
        }
        for key, result in traits.items()
    }
    means = [result[0] for result in traits.values() if result]
    metrics = Metrics.model_validate({"auroc": sum(means) / len(means) if means else None, "traits": figures})
    return Version.model_construct(version_id=number, version_no=number, metrics=metrics)


SET_A, SET_B = "a" * 64, "b" * 64


def with_tests(number: int, **tests: tuple[float, str | None]) -> Version:
    """A version with an AUROC on ten test samples of a set for each trait."""
    wide: dict[str, Any] = dict.fromkeys(tests, WIDE)
    made = version(number, **wide)
    for key, (area, test_set) in tests.items():
        made.metrics.traits[key] = made.metrics.traits[key].model_copy(
            update={
                "test": HeldOutFigures(
                    auroc=area, auroc_interval=(0.5, 1.0), positive=4, negative=6, error=0.1, test_set=test_set
                )
            }
        )
    return made


@pytest.mark.parametrize("sets", [(SET_A, SET_B), (None, None), (SET_A, None)])
def test_figures_on_different_test_samples_are_never_compared(sets: tuple[str | None, str | None]) -> None:
    before, after = (with_tests(at, warmth=(0.8 + at / 100, each)) for at, each in enumerate(sets, start=1))
    drawn, said = pair_on_tests(before, after, NAMES)
    assert [one.label for one in drawn] == ["v2"]
    assert said == "v1 was measured on different test samples, so these figures are not compared (Warmth)."


def test_only_the_traits_with_the_same_test_samples_are_drawn_together() -> None:
    before = with_tests(1, warmth=(0.8, SET_A), clarity=(0.7, SET_A))
    after = with_tests(2, warmth=(0.9, SET_A), clarity=(0.9, SET_B))
    drawn, said = pair_on_tests(before, after, NAMES)
    assert [(one.label, [each.name for each in one.figures]) for one in drawn] == [
        ("v1", ["Warmth"]),
        ("v2", ["Warmth", "Clarity"]),
    ]
    assert "(Clarity)" in said
