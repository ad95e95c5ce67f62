"""The Versions page: list, one, two compared; with none, with one, and with the service away."""

import json
from collections.abc import Iterator

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import TextInput

from tests.app.processes import eventually
from tests.conftest import COLD, WARM, Service, Trained, free_port, make_draft
from tests.pages.drive import Workbench, add_version, charts, copied_link, links, make_old, words
from traitbench.app.jobs import background, batches, version_comparisons
from traitbench.app.jobs.version_comparisons import Comparison, Labelled
from traitbench.app.shell.navigation import entry
from traitbench.barchart import DOTS
from traitbench.client import Traitbench
from traitbench.contract.confidence import REASONS
from traitbench.contract.models import VersionRetentionPolicy
from traitbench.contract.samples import SampleInput
from traitbench.contract.scores import ConfidenceReason
from traitbench.contract.traits import TraitInput
from traitbench.sample_data import demo_models

TEXTS = ("Thank you so much, it was lovely.", "Your request is denied.", "The train leaves at nine.")


@pytest.fixture
def workbench(monkeypatch: pytest.MonkeyPatch, service: Service, namespace: str) -> Workbench:
    return Workbench(monkeypatch, service, service.issue(namespaces=(namespace, "trained", "twice")))


@pytest.fixture(autouse=True, scope="module")
def _nothing_left() -> Iterator[None]:
    yield
    for job_id in background.held():
        background.discard(job_id)


@pytest.fixture(scope="module")
def twice(service: Service) -> Iterator[Trained]:
    """A model with two versions, v2 active."""
    handle, key = "twice.tone", service.issue(namespaces=("twice",))
    with pytest.MonkeyPatch.context() as environment, Traitbench(service.base_url, key) as client:
        Workbench(environment, service, key)
        make_draft(client, handle)
        client.models.train(handle)
        client.models.wait(handle)
        assert add_version(service.context, handle, client) == 2
        yield Trained(handle, client)


def test_before_the_first_training_there_is_none(workbench: Workbench, client: Traitbench, namespace: str) -> None:
    client.models.create(f"{namespace}.new")
    at = workbench.open("versions", model=f"{namespace}.new")
    assert "No versions yet" in words(at)
    assert "Train this model" in links(at)


# ---- all of them -----------------------------------------------------------------------------------------------------


def test_the_list_is_newest_first_and_says_which_one_scores(workbench: Workbench, twice: Trained) -> None:
    table = workbench.open("versions", model=twice.handle).dataframe[0].value
    assert table["Version"].tolist() == ["v2", "v1"]
    assert table["Created by"].tolist() == ["Refit", "First training"]
    assert table["Samples"].tolist() == [10, 20]
    active = twice.client.models.get(twice.handle).version_no
    assert table.set_index("Version")["Status"].to_dict()[f"v{active}"] == "active"


def test_the_list_has_the_figure_of_each_trait_with_its_interval(workbench: Workbench, twice: Trained) -> None:
    table = workbench.open("versions", model=twice.handle, figures="true").dataframe[1].value.set_index("Version")
    figures = twice.client.versions.get(twice.handle, "v1").metrics.traits["warmth"].model_dump()
    low, high = figures["auroc_interval"]
    assert table.loc["v1", "AUROC Warmth"] == f"{figures['auroc']:.2f} ({low:.2f} to {high:.2f})"


def test_the_list_says_which_ones_the_next_version_pushes_out_and_that_a_tag_keeps_them(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    handle = ready(client, f"{namespace}.tone")
    for _ in range(2):
        client.models.train(handle, reoptimize_params=True)
        client.models.wait(handle)
    at = workbench.open("versions", model=handle)
    assert at.dataframe[0].value["After the next version"].tolist() == ["kept (among the newest 100)"] * 3
    assert "The next version removes none of these" in words(at)
    assert "View or change this rule" in links(at)
    client.models.update(
        handle, version_retention_policy=VersionRetentionPolicy(keep_unnamed=2, keep_first_of_month=False)
    )
    client.versions.tag(handle, "good")
    assert client.versions.list(handle).items[0].tags == ["good"]
    client.models.update(
        handle, version_retention_policy=VersionRetentionPolicy(keep_unnamed=1, keep_first_of_month=False)
    )
    at.run()
    assert at.dataframe[0].value["After the next version"].to_list() == ["kept (tagged)", "removed unless tagged"]
    assert "**The next version removes 1 version: v2.**" in words(at)


# ---- one in detail ---------------------------------------------------------------------------------------------------


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
        "AUROC": f"{figures['auroc']:.2f}",
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
    assert any(f"{curve[0]['samples']} samples: {curve[0]['auroc']:.2f}, between" in chart for chart in charts(at))


def test_details_say_what_was_tried_and_what_the_faster_modes_cost(workbench: Workbench, twice: Trained) -> None:
    at = workbench.open("versions", model=twice.handle, view="Details", version="v1", search="true", modes="true")
    document = twice.client.versions.get(twice.handle, "v1").metrics.traits["warmth"].model_dump()
    assert f"**{document['search']['tried']} settings tried.**" in words(at)
    modes = frame(at, "Mode")
    assert modes["Mode"].tolist() == ["Full", "Layer 4 only", "Static"]
    price = document["modes"]["layer4"]["auroc"] - document["auroc"]
    assert modes["Against full"].tolist()[1] == pytest.approx(price)
    assert "**Layer 4 only**: AUROC " in words(at)


def test_a_version_of_before_shows_what_it_has_and_says_what_it_lacks(
    workbench: Workbench, service: Service, client: Traitbench, namespace: str
) -> None:
    handle = ready(client, f"{namespace}.tone")
    make_old(service.context, handle)
    at = workbench.open("versions", model=handle, view="Details", figures="true")
    assert not at.exception
    assert "No learning curve: this version was trained by an older release" in words(at)
    assert "No table: this version was trained by an older release" in words(at)
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


# ---- two side by side ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", [{"view": "Compare", "a": "v9", "b": "v1"}, {"view": "Details", "version": "v9"}])
def test_a_link_to_a_version_that_is_gone_says_so_and_shows_no_other(
    workbench: Workbench, twice: Trained, query: dict[str, str]
) -> None:
    at = workbench.open("versions", model=twice.handle, **query)
    for _ in range(2):
        assert "**v9** does not exist any more" in at.error[0].value
        assert not charts(at)
        assert "gets" not in words(at)
        at.run()
    at.selectbox(key="b" if query["view"] == "Compare" else "version").set_value("v2").run()
    assert not at.error


def test_a_cell_of_the_table_of_tiers_opens_its_texts(workbench: Workbench, twice: Trained) -> None:
    confusion = twice.client.versions.get(twice.handle, "v1").metrics.traits["warmth"].confusion
    assert confusion
    tier, number = next((tier, number) for tier, number in confusion["positive"].items() if number)
    at = workbench.open("versions", model=twice.handle, view="Details", version="v1")
    assert f'data-cell="positive.{tier}"' in cells(at)
    at.session_state["versions.trait.tiers.cells.open"] = f"positive.{tier}"
    at.run()
    assert f"**▲ warm in tier {tier}**" in words(at)
    texts = frame(at, "Says")
    assert len(texts) == number
    assert set(texts["Text"]) <= set(WARM)
    assert "changed since" not in words(at), "these are the samples of the training"


def test_one_version_alone_compares_nothing_and_says_what_to_do(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("versions", model=trained.handle, view="Compare")
    assert "Only one version so far" in words(at)
    assert {"Give feedback on a score", "Refit the model"} <= set(links(at))
    assert "Compare two texts" in links(at)
    assert not charts(at)


def test_the_link_names_both_versions(workbench: Workbench, twice: Trained) -> None:
    at = workbench.open("versions", model=twice.handle, view="Compare", a="v2", b="v1")
    assert (at.selectbox(key="a").value, at.selectbox(key="b").value) == ("v2", "v1")
    assert copied_link(at) == {"model": twice.handle, "view": "Compare", "a": "v2", "b": "v1"}


def test_without_a_choice_the_active_one_stands_beside_the_one_before(workbench: Workbench, twice: Trained) -> None:
    at = workbench.open("versions", model=twice.handle, view="Compare")
    assert copied_link(at) == {"model": twice.handle, "view": "Compare", "a": "v1", "b": "v2"}


def test_the_figures_of_both_are_in_one_chart(workbench: Workbench, twice: Trained) -> None:
    at = workbench.open("versions", model=twice.handle, view="Compare", a="v1", b="v2", own="true")
    names = {trace.get("name") for trace in json.loads(charts(at)[0])["data"]}
    assert {"v1", "v2"} <= names


def test_the_comparison_says_how_both_were_made_and_why_it_cannot_be_told_which_is_better(
    workbench: Workbench, twice: Trained
) -> None:
    at = workbench.open("versions", model=twice.handle, view="Compare", a="v1", b="v2", own="true")
    assert "**v1**  First training" in words(at)
    assert "**v2**  Refit" in words(at)
    assert "Cannot be compared with v1 yet" in words(at)
    assert "set test samples aside before you train" in words(at)
    assert "Open Samples" in links(at)
    assert "separates the poles" not in words(at)
    assert "so the figures do not show which version is better" in words(at)


def test_every_figure_of_both_stands_side_by_side_with_its_change(workbench: Workbench, twice: Trained) -> None:
    at = workbench.open("versions", model=twice.handle, view="Compare", a="v1", b="v2", own="true")
    table = frame(at, "Figure").set_index("Figure")
    document = [
        twice.client.versions.get(twice.handle, name).metrics.traits["warmth"].model_dump() for name in ("v1", "v2")
    ]
    assert [table.loc["Brier", name] for name in ("v1", "v2")] == pytest.approx([each["brier"] for each in document])
    assert table.loc["Brier", "Change"] == pytest.approx(document[1]["brier"] - document[0]["brier"])
    assert sum("Held-out scores by tier" in html.proto.body for html in at.get("html")) == 2


def test_pasted_lines_are_scored_with_both_versions(workbench: Workbench, twice: Trained) -> None:
    at = workbench.open("versions", model=twice.handle, view="Compare", a="v1", b="v2")
    at.segmented_control(key=f"versions.from:{twice.handle}").set_value("Pasted lines").run()
    at.text_area(key="batch.pasted").set_value("\n".join(TEXTS)).run()
    job = compared(at)
    assert (job.total, job.name, job.handles) == (3, "pasted lines", (twice.handle,))
    table = frame(at, "delta").set_index("text")
    for text in TEXTS:
        a, b = (
            twice.client.scores.score(f"{twice.handle}@{version}", text).scores["warmth"] for version in ("v1", "v2")
        )
        assert tuple(table.loc[text, ["score_a", "score_b", "delta"]]) == (a, b, b - a)
    assert "of 3 texts changed sides" in words(at)
    assert "expected" not in table.columns


def test_with_a_scoring_key_texts_are_pasted_and_no_samples_are_offered(
    monkeypatch: pytest.MonkeyPatch, service: Service, twice: Trained
) -> None:
    scorer = Workbench(monkeypatch, service, service.issue("scoring", ("twice",)))
    at = scorer.open("versions", model=twice.handle, view="Compare", a="v1", b="v2")
    assert at.segmented_control(key=f"versions.from:{twice.handle}").options == ["A file", "Pasted lines"]
    at.text_area(key="batch.pasted").set_value(TEXTS[0]).run()
    compared(at)
    assert "of 1 text changed sides" in words(at)


def test_the_same_version_twice_is_no_comparison(workbench: Workbench, twice: Trained) -> None:
    at = workbench.open("versions", model=twice.handle, view="Compare", a="v2", b="active")
    assert "Both sides show the same version" in words(at)
    assert not at.dataframe


def test_an_archived_model_shows_figures_and_compares_no_texts(
    workbench: Workbench, service: Service, client: Traitbench, namespace: str
) -> None:
    handle = ready(client, f"{namespace}.tone")
    add_version(service.context, handle, client)
    client.models.delete(handle)
    at = workbench.open("versions", model=handle, view="Compare", own="true")
    assert not at.exception
    assert "its versions cannot be compared on texts" in words(at)
    assert frame(at, "Figure") is not None


# ---- a model and its draft -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def improved(service: Service) -> Iterator[Trained]:
    """A model with test samples, and `twice.better-next` with two relabelled: one is a regression, as labels go."""
    handle, key = "twice.better", service.issue(namespaces=("twice",))
    with pytest.MonkeyPatch.context() as environment, Traitbench(service.base_url, key) as client:
        Workbench(environment, service, key)
        make_draft(client, handle)
        client.samples.add(handle, [_test_sample(text, 1.0, must_pass=True) for text in WARM_TESTS])
        client.samples.add(handle, [_test_sample(text, 0.0) for text in COLD_TESTS])
        client.models.train(handle, effort="low")
        client.models.wait(handle)
        draft = client.models.fork(handle, f"{handle}-next").handle
        warm = [sample for sample in client.samples.list(draft, held_out=False) if sample.quality == 1.0]
        for sample in warm[2:]:
            client.samples.delete(draft, sample.id)
        client.samples.add(draft, [SampleInput(trait="warmth", text=each.text, quality=0.0) for each in warm[2:]])
        client.models.train(draft, effort="low")
        assert client.models.wait(draft).state == "ready"
        yield Trained(handle, client)


WARM_TESTS = (
    "We are so happy to have you, and we will gladly help.",
    "Thanks a million for your patience, you are wonderful.",
    "How kind of you to write, it made our day.",
    "I would love to help you with that, just ask.",
    "You are most welcome, come back whenever you like.",
)
COLD_TESTS = (
    "Do not bother us again with this nonsense.",
    "Your complaint is of no interest to this office.",
    "Read the manual before you waste our time.",
    "We owe you nothing, and you will get nothing.",
    "That is your own problem. The matter is closed.",
)


def _test_sample(text: str, quality: float, *, must_pass: bool = False) -> SampleInput:
    return SampleInput(trait="warmth", text=text, quality=quality, held_out=True, must_pass=must_pass)


@pytest.fixture
def worse(workbench: Workbench, improved: Trained) -> AppTest:
    """The draft compared with its original, on the test samples."""
    at = workbench.open("versions", model=f"{improved.handle}-next", view="Compare")
    compared(at)
    return at


def test_a_draft_is_compared_with_the_version_it_was_made_from(workbench: Workbench, improved: Trained) -> None:
    at = workbench.open("versions", model=f"{improved.handle}-next", view="Compare")
    pinned = f"{improved.handle}@v1"
    assert copied_link(at) == {"model": f"{improved.handle}-next", "view": "Compare", "a": pinned, "b": "v1"}
    assert (
        f"{improved.handle}-next@v1"
        in workbench.open("versions", model=improved.handle, view="Compare").selectbox(key="b").options
    )
    at.selectbox(key="a").set_value("v1").run()
    assert "Both sides show the same version" in words(at)


def test_the_verdict_comes_first_with_its_figures_and_what_changed(worse: AppTest, improved: Trained) -> None:
    truth = improved.client.versions.compare(f"{improved.handle}@v1", f"{improved.handle}-next@v1")
    assert truth.verdict == "worse"
    assert worse.subheader[0].value == f"Worse than {improved.handle}@v1"
    figures = frame(worse, "Change (95 % interval)").iloc[0]
    difference = truth.traits["warmth"].auroc
    assert difference is not None
    assert figures["AUROC v1"] == difference.b
    assert f"{difference.delta:+.3f}" in figures["Change (95 % interval)"]
    assert "relabelled" in words(worse)


def test_regressions_come_first_and_can_be_filtered(worse: AppTest) -> None:
    table = frame(worse, "delta")
    assert set(table["text"]) == {*WARM_TESTS, *COLD_TESTS}
    regressions = table["kind"].str.contains("Regression")
    assert 0 < regressions.sum() <= 5
    assert regressions.tolist() == sorted(regressions, reverse=True)
    assert f"{regressions.sum()} regression" in words(worse)
    assert "that must pass fail" in words(worse)
    worse.segmented_control(key="texts").set_value("Must pass failed").run()
    assert set(frame(worse, "delta")["text"]) <= {*WARM_TESTS}
    worse.segmented_control(key="texts").set_value("Fixed").run()
    assert "No texts match." in words(worse)


def test_a_row_opens_the_reasons_of_both_versions_and_the_samples_that_moved_it(
    worse: AppTest, improved: Trained
) -> None:
    job_id = worse.query_params["comparison"]
    worse.session_state[f"versions.table:{job_id}:10:warmth:All"] = {
        "selection": {"rows": [0], "columns": [], "cells": []}
    }
    worse.run()
    assert not worse.exception
    assert sum("tb-why" in html.proto.body and "<span title" in html.proto.body for html in worse.get("html")) == 2
    assert "Expected: **" in words(worse)
    moved = frame(worse, "Moved the score by")
    assert set(moved["Change"]) == {"relabelled"}
    assert set(moved["Sample"].str.slice(0, 20)) <= {text[:20] for text in WARM}


def test_under_zero_retention_texts_are_kept_for_minutes_and_lines_are_offered(
    workbench: Workbench, service: Service, client: Traitbench, namespace: str
) -> None:
    handle = ready(client, f"{namespace}.tone")
    add_version(service.context, handle, client)
    client.models.update(handle, zero_data_retention=True)
    at = workbench.open("versions", model=handle, view="Compare")
    assert not at.exception
    assert "15 minutes after you last viewed them" in words(at)
    compared_with = at.segmented_control(key=f"versions.from:{handle}")
    compared_with.set_value("Test samples").run()
    at.button(key="versions.compare").click().run()
    assert "There are no test samples" in at.warning[0].value


def test_a_comparison_that_is_gone_says_so(workbench: Workbench, twice: Trained) -> None:
    at = workbench.open("versions", model=twice.handle, view="Compare", a="v1", b="v2", comparison="gone")
    assert "This comparison is no longer in memory" in words(at)
    at.run()
    assert "This comparison is no longer in memory" not in words(at)


def test_a_comparison_that_the_service_leaves_keeps_its_texts_and_can_go_on(
    workbench: Workbench, twice: Trained
) -> None:
    a, b = (f"{twice.handle}@{version}" for version in ("v1", "v2"))
    with Traitbench(f"http://127.0.0.1:{free_port()}", "key") as nobody:
        job = Comparison(nobody, a, b, [Labelled(TEXTS[0])], keys=["warmth"], name="one.csv")
        background.start(job)
        assert eventually(lambda: job.state == "failed")
        at = workbench.open("versions", model=twice.handle, view="Compare", a="v1", b="v2", comparison=job.id)
    assert "The comparison failed after 0 of 1 texts" in at.error[0].value
    assert at.button(key="versions.job.go_on").label == "Resume"
    at.button(key="versions.job.discard").click().run()
    assert version_comparisons.find(job.id) is None


def test_the_texts_of_the_batch_of_this_tab_can_be_compared(workbench: Workbench, twice: Trained) -> None:
    at = workbench.open("batch", model=twice.handle)
    at.segmented_control(key="batch.from").set_value("Pasted lines").run()
    at.text_area(key="batch.pasted").set_value("\n".join(TEXTS)).run()
    at.button(key="batch.start").click().run()
    batch = batches.find(str(at.query_params["batch"]))
    assert batch is not None
    assert eventually(lambda: batch.state == "done")
    at.query_params.update({"view": "Compare", "a": "v1", "b": "v2"})
    at.switch_page(str(entry("versions").file)).run()
    at.segmented_control(key="view").set_value("Compare").run()
    assert "The batch" in at.segmented_control(key=f"versions.from:{twice.handle}").options
    assert compared(at).total == 3


def test_labels_of_a_file_make_regressions_known(workbench: Workbench, twice: Trained) -> None:
    at = workbench.open("versions", model=twice.handle, view="Compare", a="v1", b="v2")
    at.segmented_control(key=f"versions.from:{twice.handle}").set_value("A file").run()
    rows = "\n".join(f'{{"text": "{text}", "label": "cold"}}' for text in TEXTS)
    at.file_uploader[0].upload("labelled.jsonl", rows.encode())
    at.run()
    assert next(each for each in at.selectbox if each.label == "Expected quality (optional)").value == "label"
    compared(at)
    assert frame(at, "delta")["expected"].str.contains("cold").all()


def test_tiers_and_changes_count_every_text(worse: AppTest) -> None:
    assert any("Tiers of" in html.proto.body for html in worse.get("html"))
    worse.toggle(key="versions.changes.as_table").set_value(True).run()
    assert frame(worse, "Texts")["Texts"].sum() == 10


def test_without_a_service_it_says_so(monkeypatch: pytest.MonkeyPatch, service: Service) -> None:
    away = Workbench(monkeypatch, service, "no key", base_url=f"http://127.0.0.1:{free_port()}")
    at = away.open("versions", model="local.tone")
    assert not at.exception
    assert "The service does not answer" in words(at)


def test_a_version_that_the_next_model_lacks_gives_way_to_the_active_one(
    workbench: Workbench, twice: Trained, trained: Trained
) -> None:
    at = workbench.open("versions", model=twice.handle, view="Details", version="v2")
    assert at.selectbox(key="version").value == "v2"
    at.sidebar.selectbox(key="model").set_value(trained.handle).run()
    assert not at.exception
    assert at.selectbox(key="version").value == "active"
    assert copied_link(at)["version"] == "v1"


def frame(at: AppTest, column: str) -> pd.DataFrame:
    """The table that has this column."""
    result: pd.DataFrame = next(each.value for each in at.dataframe if column in each.value)
    return result


def ready(client: Traitbench, handle: str) -> str:
    make_draft(client, handle)
    client.models.train(handle)
    client.models.wait(handle)
    return handle


def new_tag(at: AppTest) -> TextInput:
    return next(field for field in at.text_input if field.label == "New tag")


def tag(at: AppTest, name: str) -> AppTest:
    new_tag(at).set_value(name)
    next(button for button in at.button if button.label == "Add tag").click()
    return at.run()


def compared(at: AppTest) -> Comparison:
    """Press the button, and wait for the comparison, which is found by its id in the address."""
    at.button(key="versions.compare").click().run()
    job = version_comparisons.find(str(at.query_params["comparison"]))
    assert job is not None
    assert eventually(lambda: job.state != "running")
    at.run()
    return job


def cells(at: AppTest) -> str:
    """The table of tiers, whose cells are buttons."""
    component = next(part for part in at.get("bidi_component") if part.proto.component_name == "traitbench_cells")
    return str(json.loads(component.proto.json)["html"])
