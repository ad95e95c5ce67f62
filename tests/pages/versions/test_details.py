"""One version in detail: its figures, its tags, and how far its scores can be trusted."""

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import TextInput

from tests.conftest import COLD, WARM, Service, Trained, make_draft
from tests.pages.drive import Workbench, add_version, charts, copied_link, leave_few_figures, links, words
from tests.pages.versions.reading import cells, frame, ready
from traitbench.client import Traitbench
from traitbench.contract.rounding import in_decimals
from traitbench.contract.samples import SampleInput
from traitbench.contract.scores import ConfidenceReason
from traitbench.contract.traits import TraitInput
from traitbench.display.barchart import DOTS
from traitbench.display.words import REASONS
from traitbench.sample_data import demo_models


def test_details_show_figures_parameters_hash_and_snapshot(workbench: Workbench, twice: Trained) -> None:
    at = workbench.open("versions", model=twice.handle, view="Details", version="v1", figures="true", parameters="true")
    version = twice.client.versions.get(twice.handle, "v1")
    assert "Measured on:" in words(at)
    assert version.param_hash in [code.value for code in at.code]
    assert any(set(version.metrics.traits["warmth"].parameters) < set(frame.value.columns) for frame in at.dataframe)
    assert "Download snapshot (JSON)" in [button.label for button in at.download_button]


def test_a_tag_is_added_and_removed(workbench: Workbench, client: Traitbench, namespace: str) -> None:
    handle = ready(client, f"{namespace}.tone")
    at = tag(workbench.open("versions", model=handle, view="Details", tags="true"), "best-so-far")
    assert client.versions.get(handle).tags == ["best-so-far"]
    assert new_tag(at).value == ""
    at.button(key="versions.untag:best-so-far").click().run()
    assert client.versions.get(handle).tags == []


@pytest.mark.parametrize("name", ["v3", "active", "two words", "-first", "", "x" * 65])
def test_a_wrong_tag_is_refused_beside_its_field_and_stays_there(
    workbench: Workbench, trained: Trained, name: str
) -> None:
    at = tag(workbench.open("versions", model=trained.handle, view="Details", tags="true"), name)
    assert ":red[:material/error: A tag is 1" in words(at)
    assert new_tag(at).value == name
    assert trained.client.versions.get(trained.handle).tags == []


def test_another_version_can_be_made_the_active_one(
    workbench: Workbench, service: Service, client: Traitbench, namespace: str
) -> None:
    handle = ready(client, f"{namespace}.tone")
    add_version(service.context, handle, client)
    at = workbench.open("versions", model=handle, view="Details", version="v1", tags="true")
    next(field for field in at.text_input if field.label == "Note (optional)").set_value("As it was.")
    tag(at, "before")
    assert client.versions.get(handle, "v1").tag_notes == {"before": "As it was."}
    assert "**before**: As it was" in words(at)
    at.button(key="versions.activate").click().run()
    assert client.models.get(handle).version_no == 1
    assert "Active: this version scores" in words(at)


def test_a_scoring_key_reads_figures_and_no_snapshot(
    monkeypatch: pytest.MonkeyPatch, service: Service, twice: Trained
) -> None:
    scorer = Workbench(monkeypatch, service, service.issue("scoring", ("twice",)))
    at = scorer.open("versions", model=twice.handle, view="Details", version="v1", figures="true", parameters="true")
    assert "To read snapshots" in words(at)
    assert "Measured on:" in words(at)


def test_details_show_for_each_trait_how_far_its_scores_can_be_trusted(workbench: Workbench, twice: Trained) -> None:
    at = workbench.open("versions", model=twice.handle, view="Details", version="v1")
    figures = twice.client.versions.get(twice.handle, "v1").metrics.traits["warmth"].model_dump()
    shown = {metric.label: metric.value for metric in at.metric}
    assert shown == {
        "AUROC": in_decimals(figures["auroc"]),
        "Brier": f"{figures['brier']:.3f}",
        "Calibration error": f"{figures['calibration_error']:.3f}",
        "Cross-entropy": f"{figures['cross_entropy']:.3f}",
    }
    tiers = cells(at)
    counts = [number for pole in figures["confusion"].values() for number in pole.values()]
    assert sum(counts) > 0
    for count in counts:
        assert f"<b>{count}</b>" in tiers
    assert "Gain from more samples" in words(at)
    curve = figures["curve"]
    assert len(curve) > 1
    first = f"{curve[0]['samples']} samples: {in_decimals(curve[0]['auroc'])}, between"
    assert any(first in chart for chart in charts(at))


def test_details_say_what_was_tried_and_what_the_faster_modes_cost(workbench: Workbench, twice: Trained) -> None:
    at = workbench.open("versions", model=twice.handle, view="Details", version="v1", search="true", modes="true")
    document = twice.client.versions.get(twice.handle, "v1").metrics.traits["warmth"].model_dump()
    assert f"**{document['search']['tried']} settings tried.**" in words(at)
    modes = frame(at, "Mode")
    assert modes["Mode"].tolist() == ["Full", "Layer 4 only", "Static"]
    price = document["modes"]["layer4"]["auroc"] - document["auroc"]
    assert modes["Against full"].tolist()[1] == pytest.approx(price)
    assert "**Layer 4 only**: AUROC " in words(at)


def test_a_version_shows_the_figures_it_has_and_says_what_it_lacks(
    workbench: Workbench, service: Service, client: Traitbench, namespace: str
) -> None:
    handle = ready(client, f"{namespace}.tone")
    leave_few_figures(service.context, handle)
    at = workbench.open("versions", model=handle, view="Details", figures="true")
    assert not at.exception
    assert "No learning curve was measured" in words(at)
    assert "No table was measured" in words(at)
    assert len(charts(at)) == 1
    assert workbench.open("train", model=handle).exception == []


def test_a_trait_without_a_measurement_says_why_and_draws_nothing(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    handle = f"{namespace}.two"
    client.models.create(handle)
    client.traits.add(handle, [TraitInput(name="Warmth", positive_label="warm", negative_label="cold")])
    pair = [("Thank you, dear.", 1.0), ("Go away.", 0.0)]
    client.samples.add(handle, [SampleInput(trait="warmth", text=text, quality=quality) for text, quality in pair])
    client.models.train(handle, effort="low")
    client.models.wait(handle)
    at = workbench.open("versions", model=handle, view="Details", figures="true")
    assert "**Not measured in v1:** one distinct text at the" in words(at)
    assert not charts(at)
    assert not at.metric
    assert f"- **Warmth:** {REASONS['few_samples'].trait}" in words(at)
    assert "Give feedback on scores to add samples" in links(at)


def test_details_count_the_held_out_samples_by_confidence_and_how_many_are_right(
    workbench: Workbench, trained: Trained
) -> None:
    known = trained.client.versions.get(trained.handle).metrics.traits["warmth"].confidence
    assert known
    assert sum(each.samples for each in known.values()) == 20
    at = workbench.open("versions", model=trained.handle, view="Details", figures="true")
    row = frame(at, "●●● High").iloc[0]
    for level, dots in DOTS.items():
        each, cell = known[level], row[f"{dots} {level.capitalize()}"]
        assert cell == (f"{each.samples} ({100 * each.right // each.samples} % right)" if each.samples else "0")


@pytest.mark.parametrize(("reason", "link"), [("few_samples", "feedback"), ("not_separable", "Read the samples")])
def test_a_trait_that_is_never_sure_says_what_is_wrong_and_what_to_do(
    workbench: Workbench, client: Traitbench, namespace: str, reason: ConfidenceReason, link: str
) -> None:
    """Three samples at each pole, or many whose labels mean nothing."""
    handle = f"{namespace}.{reason.replace('_', '-')}"
    client.models.create(handle)
    client.traits.add(handle, [TraitInput(name="Warmth", positive_label="warm", negative_label="cold")])
    unrelated = [sample["text"] for sample in demo_models()[0].samples[::4]]
    texts = [text for pair in zip(WARM[:3], COLD[:3], strict=True) for text in pair]
    inputs = [
        SampleInput(trait="warmth", text=text, quality=1.0 - number % 2)
        for number, text in enumerate(texts if reason == "few_samples" else unrelated)
    ]
    client.samples.add(handle, inputs)
    client.models.train(handle, effort="low", use_labels=False)
    client.models.wait(handle)
    assert client.versions.get(handle).metrics.traits["warmth"].confidence_reason == reason
    for page in ("train", "versions"):
        view = {"view": "Details"} if page == "versions" else {}
        at = workbench.open(page, model=handle, figures="true", **view)
        assert f"- **Warmth:** {REASONS[reason].trait}" in words(at)
        assert any(link in each for each in links(at))


def test_the_link_names_the_trait_that_is_looked_at(workbench: Workbench, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.tone"
    make_draft(client, handle)
    client.traits.add(handle, [TraitInput(name="Clarity", positive_label="clear", negative_label="muddled")])
    again = [(sample.text, sample.quality) for sample in client.samples.list(handle)]
    client.samples.add(handle, [SampleInput(trait="clarity", text=text, quality=quality) for text, quality in again])
    client.models.train(handle, effort="low")
    client.models.wait(handle)
    at = workbench.open("versions", model=handle, view="Details", trait="Clarity")
    assert at.selectbox(key="trait").value == "clarity"
    assert copied_link(at) == {"model": handle, "view": "Details", "version": "v1", "trait": "Clarity"}


def new_tag(at: AppTest) -> TextInput:
    return next(field for field in at.text_input if field.label == "New tag")


def tag(at: AppTest, name: str) -> AppTest:
    new_tag(at).set_value(name)
    next(button for button in at.button if button.label == "Add tag").click()
    return at.run()
