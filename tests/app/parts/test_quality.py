"""How figures are drawn that are not there: why, and what to do about it."""

from typing import Any

from streamlit.testing.v1 import AppTest

from tests.patience import PATIENCE_S


def draw_only_synthesized() -> None:
    from traitbench.display.charts.auroc import Measured, Series
    from traitbench_app.parts.quality import draw_quality

    reason = "not measured: only synthesized samples"
    figures = [Measured(name, None, None, reason, "only_synthesized") for name in ("Warmth", "Clarity")]
    draw_quality([Series("v1", figures)], [], key="quality", file_name="figures")


def draw_discovered() -> None:
    from traitbench.contract.traits import Trait
    from traitbench.display.charts.auroc import Measured, Series
    from traitbench_app.parts.quality import draw_quality
    from traitbench_app.parts.version_figures import names_of

    nothing = dict.fromkeys(("sample_count", "positive_samples", "negative_samples", "held_out_samples"), 0)
    words = {"positive_label": "near", "negative_label": "far", "description": "", "aggregation": "mean"}
    values = {"kind": "intrinsic", "discrimination": 0.86, "explained_variance": 0.1, "anchor_sample_ids": None}
    trait = Trait.model_validate({"key": "axis_1", "name": "near vs far", **words, **nothing, **values})
    reason = "not measured: no text has a label for this trait; the trait has the figures of its discovery"
    draw_quality(
        [Series("v1", [Measured(names_of([trait])["axis_1"], None, None, reason, "unlabelled")])],
        [trait],
        key="q",
        file_name="f",
    )


def test_without_any_figure_there_is_no_chart_but_the_reason_and_the_way_out() -> None:
    at = drawn(draw_only_synthesized)
    assert not at.get("plotly_chart")
    (texts,) = [element.value for element in at.markdown]
    assert "**Not measured in v1:**" in texts
    assert "- **Warmth**, **Clarity**: only synthesized samples. Synthesized samples are never used" in texts


def test_a_trait_that_discovery_found_bears_its_sign_and_what_discovery_measured() -> None:
    at = drawn(draw_discovered)
    (texts,) = [element.value for element in at.markdown]
    assert "- **◇ near vs far** (discrimination 0.86): no text has a label for this trait. Give feedback" in texts
    assert at.caption[-1].value.startswith("◇ discovered trait: its axis is fixed")


def drawn(page: Any) -> AppTest:
    at = AppTest.from_function(page, default_timeout=PATIENCE_S).run()
    assert not at.exception
    return at
