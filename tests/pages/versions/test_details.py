"""One version in detail: its figures, its tags, and how far its scores can be trusted."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import COLD, WARM, Service, Trained, not_none, train
from tests.pages.drive import (
    Workbench,
    add_version,
    charts,
    copied_link,
    frame,
    html,
    labelled,
    leave_few_figures,
    links,
    press,
    words,
)
from tests.pages.versions.reading import details
from traitbench.client import Traitbench
from traitbench.contract.rounding import in_decimals
from traitbench.contract.samples import SampleInput
from traitbench.contract.scores import ConfidenceReason
from traitbench.contract.traits import TraitInput
from traitbench.display.barchart import DOTS
from traitbench.display.words import REASONS
from traitbench.sample_data import demo_models

# ---- figures ---------------------------------------------------------------------------------------------------------


def test_details_show_figures_parameters_hash_and_snapshot(workbench: Workbench, twice: Trained) -> None:
    at = details(workbench, twice.handle, "figures", "parameters", "search", version="v1")
    version = twice.client.versions.get(twice.handle, "v1")
    known = version.metrics.traits["warmth"]
    assert "Measured on:" in words(at)
    assert version.param_hash in [code.value for code in at.code]
    assert any(set(known.parameters) < set(each.value.columns) for each in at.dataframe)
    assert "Download snapshot (JSON)" in [button.label for button in at.download_button]
    assert f"**{not_none(known.search).tried} settings tried.**" in words(at)


def test_details_show_for_each_trait_how_far_its_scores_can_be_trusted(workbench: Workbench, twice: Trained) -> None:
    at = details(workbench, twice.handle, version="v1")
    figures = twice.client.versions.get(twice.handle, "v1").metrics.traits["warmth"].model_dump()
    assert {metric.label: metric.value for metric in at.metric} == {
        "AUROC": in_decimals(figures["auroc"]),
        "Brier": f"{figures['brier']:.3f}",
        "Calibration error": f"{figures['calibration_error']:.3f}",
        "Cross-entropy": f"{figures['cross_entropy']:.3f}",
    }
    counts = [number for pole in figures["confusion"].values() for number in pole.values()]
    assert sum(counts) > 0
    assert all(f"<b>{count}</b>" in html(at) for count in counts)
    assert "Gain from more samples" in words(at)
    first, *rest = figures["curve"]
    assert rest
    point = f"{first['samples']} samples: {in_decimals(first['auroc'])}, between"
    assert any(point in chart for chart in charts(at))


def test_a_cell_of_the_table_of_tiers_opens_its_texts(workbench: Workbench, twice: Trained) -> None:
    confusion = twice.client.versions.get(twice.handle, "v1").metrics.traits["warmth"].confusion
    assert confusion
    tier, number = next((tier, number) for tier, number in confusion["positive"].items() if number)
    at = details(workbench, twice.handle, version="v1")
    assert f'data-cell="positive.{tier}"' in html(at)
    at.session_state["versions.trait.tiers.cells.open"] = f"positive.{tier}"
    at.run()
    assert f"**▲ warm in tier {tier}**" in words(at)
    texts = frame(at, "Says")
    assert len(texts) == number
    assert set(texts["Text"]) <= set(WARM)
    assert "changed since" not in words(at), "these are the samples of the training"


def test_details_count_right_held_out_samples_by_confidence(workbench: Workbench, trained: Trained) -> None:
    known = trained.client.versions.get(trained.handle).metrics.traits["warmth"].confidence
    assert known
    assert sum(each.samples for each in known.values()) == 20
    row = frame(details(workbench, trained.handle, "figures"), "●●● High").iloc[0]
    for level, dots in DOTS.items():
        each, cell = known[level], row[f"{dots} {level.capitalize()}"]
        assert cell == (f"{each.samples} ({100 * each.right // each.samples} % right)" if each.samples else "0")


def test_an_older_version_says_what_it_lacks(workbench: Workbench, service: Service, ready: str) -> None:
    leave_few_figures(service.context, ready)
    at = details(workbench, ready, "figures")
    assert "No learning curve was measured" in words(at)
    assert "No table was measured" in words(at)
    assert len(charts(at)) == 1
    workbench.open("train", model=ready)


def test_a_trait_without_a_measurement_says_why(workbench: Workbench, client: Traitbench, empty: str) -> None:
    pair = [("Thank you, dear.", 1.0), ("Go away.", 0.0)]
    client.samples.add(empty, [SampleInput(trait="warmth", text=text, quality=quality) for text, quality in pair])
    train(client, empty)
    at = details(workbench, empty, "figures")
    assert "**Not measured in v1:** one distinct text at the" in words(at)
    assert not charts(at)
    assert not at.metric
    assert f"- **Warmth:** {REASONS['few_samples'].trait}" in words(at)
    assert "Give feedback on scores to add samples" in links(at)


@pytest.mark.parametrize(("reason", "link"), [("few_samples", "feedback"), ("not_separable", "Read the samples")])
def test_a_trait_that_is_never_sure_says_what_is_wrong_and_what_to_do(
    workbench: Workbench, client: Traitbench, empty: str, reason: ConfidenceReason, link: str
) -> None:
    """Three samples at each pole, or many whose labels mean nothing."""
    unrelated = [sample["text"] for sample in demo_models()[0].samples[::4]]
    few = [text for pair in zip(WARM[:3], COLD[:3], strict=True) for text in pair]
    texts = enumerate(few if reason == "few_samples" else unrelated)
    client.samples.add(empty, [SampleInput(trait="warmth", text=text, quality=1.0 - n % 2) for n, text in texts])
    train(client, empty, use_labels=False)
    assert client.versions.get(empty).metrics.traits["warmth"].confidence_reason == reason
    for at in (details(workbench, empty, "figures"), workbench.open("train", model=empty, figures="true")):
        assert f"- **Warmth:** {REASONS[reason].trait}" in words(at)
        assert any(link in each for each in links(at))


def test_the_link_names_the_trait_that_is_looked_at(workbench: Workbench, client: Traitbench, draft: str) -> None:
    client.traits.add(draft, [TraitInput(name="Clarity", positive_label="clear", negative_label="muddled")])
    again = [(sample.text, sample.quality) for sample in client.samples.list(draft)]
    client.samples.add(draft, [SampleInput(trait="clarity", text=text, quality=quality) for text, quality in again])
    train(client, draft)
    at = details(workbench, draft, trait="Clarity")
    assert at.selectbox(key="trait").value == "clarity"
    assert copied_link(at) == {"model": draft, "view": "Details", "version": "v1", "trait": "Clarity"}


# ---- tags ------------------------------------------------------------------------------------------------------------


def tag(at: AppTest, name: str) -> AppTest:
    labelled(at.text_input, "New tag").set_value(name)
    labelled(at.button, "Add tag").click()
    return at.run()


def test_a_version_is_tagged_and_made_active(
    workbench: Workbench, service: Service, client: Traitbench, ready: str
) -> None:
    add_version(service.context, ready, client)
    at = details(workbench, ready, "tags", version="v1")
    labelled(at.text_input, "Note (optional)").set_value("As it was.")
    tag(at, "before")
    assert client.versions.get(ready, "v1").tag_notes == {"before": "As it was."}
    assert "**before**: As it was" in words(at)
    assert labelled(at.text_input, "New tag").value == ""
    press(at, "versions.untag:before")
    assert client.versions.get(ready, "v1").tags == []
    press(at, "versions.activate")
    assert client.models.get(ready).version_no == 1
    assert "In use" in words(at)


@pytest.mark.parametrize("name", ["v3", "active", "two words", "-first", "", "x" * 65])
def test_a_wrong_tag_is_refused_and_stays_in_its_field(workbench: Workbench, trained: Trained, name: str) -> None:
    at = tag(details(workbench, trained.handle, "tags"), name)
    assert ":red[:material/error: A tag is 1" in words(at)
    assert labelled(at.text_input, "New tag").value == name
    assert trained.client.versions.get(trained.handle).tags == []
