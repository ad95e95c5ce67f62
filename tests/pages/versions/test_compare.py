"""Two versions side by side."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.processes import eventually
from tests.conftest import Service, Trained, free_port, not_none
from tests.pages.drive import (
    Workbench,
    add_version,
    charts,
    copied_link,
    frame,
    html,
    labelled,
    links,
    press,
    upload,
    words,
)
from tests.pages.versions.reading import compared, side_by_side
from traitbench.client import Traitbench
from traitbench_app.shell.navigation import entry
from traitbench_app.versions import text_comparison
from traitbench_app.versions.text_comparison import ComparedInput, TextComparison
from traitbench_app.workspace import background, batches

TEXTS = ("Thank you so much, it was lovely.", "Your request is denied.", "The train leaves at nine.")
PASTED = "\n".join(TEXTS)


@pytest.fixture
def at(workbench: Workbench, twice: Trained) -> AppTest:
    """The two versions, with the figures of each."""
    return side_by_side(workbench, twice.handle, a="v1", b="v2", table="true")


def source(at: AppTest, twice: Trained, name: str) -> AppTest:
    """Choose where the texts come from."""
    return at.segmented_control(key=f"versions.from:{twice.handle}").set_value(name).run()


# ---- what is compared ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("link", ["versions?view=Compare&a=v9&b=v1", "versions?view=Details&version=v9"])
def test_a_link_to_a_missing_version_shows_no_other(workbench: Workbench, twice: Trained, link: str) -> None:
    at = workbench.follow(link, model=twice.handle)
    for _ in range(2):
        assert "**v9** does not exist" in at.error[0].value
        assert not charts(at)
        assert "gets" not in words(at)
        at.run()
    at.selectbox(key="b" if "Compare" in link else "version").set_value("v2").run()
    assert not at.error


def test_one_version_alone_compares_nothing_and_says_what_to_do(workbench: Workbench, trained: Trained) -> None:
    at = side_by_side(workbench, trained.handle)
    assert "Only one version so far" in words(at)
    assert {"Correct a score", "Train again", "Compare two texts"} <= set(links(at))
    assert not charts(at)


@pytest.mark.parametrize(
    ("chosen", "shown"), [({"a": "v2", "b": "v1"}, ("v2", "v1")), ({}, ("v1", "v2"))], ids=["chosen", "by default"]
)
def test_the_link_names_both_versions_also_by_default(
    workbench: Workbench, twice: Trained, chosen: dict[str, str], shown: tuple[str, str]
) -> None:
    at = side_by_side(workbench, twice.handle, **chosen)
    a, b = shown
    assert copied_link(at) == {"model": twice.handle, "view": "Compare", "a": a, "b": b}
    assert not chosen or (at.selectbox(key="a").value, at.selectbox(key="b").value) == shown


def test_the_same_version_twice_is_no_comparison(workbench: Workbench, twice: Trained) -> None:
    at = side_by_side(workbench, twice.handle, a="v2", b="in use")
    assert "Both sides show the same version" in words(at)
    assert not at.dataframe


# ---- figures ---------------------------------------------------------------------------------------------------------


def test_the_comparison_says_which_versions_these_are_and_that_nothing_is_known(at: AppTest) -> None:
    assert at.header[0].value == ":gray[Not known whether v2 is better than v1]"
    assert "**A** v1, 20 samples against **B** v2, in use, 10 samples." in words(at)
    assert "There are no test samples that both versions were measured on" in words(at)
    assert "separates the poles" not in words(at)
    assert not charts(at)
    press(at, "versions.details_of:v1")
    assert (at.segmented_control(key="view").value, at.selectbox(key="version").value) == ("Details", "v1")


def test_nothing_unproven_is_offered_by_the_primary_button(at: AppTest) -> None:
    primary = [button.label for button in at.button if button.proto.type == "primary"]
    assert primary == ["Set texts aside and train both again"]


@pytest.mark.parametrize(
    ("verdict", "label", "is_primary"),
    [("better", "Use v1", True), ("no_difference", "Use v1", False), ("worse", "Keep v2", False)],
)
def test_only_a_better_version_is_offered_by_the_primary_button(
    workbench: Workbench, twice: Trained, monkeypatch: pytest.MonkeyPatch, verdict: str, label: str, is_primary: bool
) -> None:
    truth = twice.client.versions.compare(f"{twice.handle}@v2", f"{twice.handle}@v1")
    said = truth.model_copy(update={"verdict": verdict})
    monkeypatch.setattr("traitbench_app.versions.compare.compared", lambda *_: said)
    at = side_by_side(workbench, twice.handle, a="v2", b="v1")
    button = at.button(key="versions.use")
    assert (button.label, button.proto.type == "primary") == (label, is_primary)


def test_a_version_can_be_put_in_use_from_the_comparison(
    workbench: Workbench, service: Service, client: Traitbench, ready: str
) -> None:
    add_version(service.context, ready, client)
    at = side_by_side(workbench, ready, a="v2", b="v1")
    button = at.button(key="versions.use")
    assert (button.label, button.proto.type) == ("Use v1 anyway", "secondary")
    button.click().run()
    assert client.models.get(ready).version_no == 1
    assert "**B** v1, in use" in words(at)


def test_a_version_that_another_tab_put_in_use_is_not_replaced_unread(
    workbench: Workbench, service: Service, client: Traitbench, ready: str
) -> None:
    for _ in range(2):
        add_version(service.context, ready, client)
    client.versions.activate(ready, version="v1")
    at = side_by_side(workbench, ready, a="v1", b="v2")
    client.versions.activate(ready, version="v3")
    press(at, "versions.use")
    assert client.models.get(ready).version_no == 3
    assert "This has changed meanwhile" in words(at)
    press(at, "versions.use")
    assert client.models.get(ready).version_no == 2


def test_versions_whose_samples_changed_are_not_trained_again(at: AppTest) -> None:
    press(at, "versions.again.go")
    assert "The samples of v2 have changed since it was trained" in words(at)


def test_archived_models_compare_no_texts(
    workbench: Workbench, service: Service, client: Traitbench, ready: str
) -> None:
    add_version(service.context, ready, client)
    client.models.delete(ready)
    at = side_by_side(workbench, ready)
    assert "its versions cannot be compared on texts" in words(at)


# ---- on texts --------------------------------------------------------------------------------------------------------


def test_pasted_lines_are_scored_with_both_versions(at: AppTest, twice: Trained) -> None:
    source(at, twice, "Pasted lines").text_area(key="batch.pasted").set_value(PASTED).run()
    comparison = compared(at)
    assert (comparison.total, comparison.name, comparison.handles) == (3, "pasted lines", (twice.handle,))
    table = frame(at, "delta").set_index("text")
    score = twice.client.scores.score
    for text in TEXTS:
        a, b = (score(f"{twice.handle}@{version}", text).scores["warmth"] for version in ("v1", "v2"))
        assert tuple(table.loc[text, ["score_a", "score_b", "delta"]]) == (a, b, b - a)
    assert "of 3 texts changed sides" in words(at)
    assert "expected" not in table.columns
    assert html(at).count('<div class="words"') == 2 * len(TEXTS), "the words that decide, of both versions"


def test_labels_of_a_file_make_regressions_known(at: AppTest, twice: Trained) -> None:
    rows = "\n".join(f'{{"text": "{text}", "label": "cold"}}' for text in TEXTS)
    upload(source(at, twice, "A file"), "labelled.jsonl", rows)
    assert labelled(at.selectbox, "Expected quality (optional)").value == "label"
    compared(at)
    assert frame(at, "delta")["expected"].str.contains("cold").all()


def test_the_texts_of_the_batch_of_this_tab_can_be_compared(workbench: Workbench, twice: Trained) -> None:
    at = workbench.open("batch", model=twice.handle)
    at.segmented_control(key="batch.from").set_value("Pasted lines").run()
    at.text_area(key="batch.pasted").set_value(PASTED).run()
    at.button(key="batch.start").click().run()
    batch = not_none(batches.find(str(at.query_params["batch"])))
    assert eventually(lambda: batch.state == "done")
    at.query_params.update({"view": "Compare", "a": "v1", "b": "v2"})
    at.switch_page(str(entry("versions").file)).run()
    at.segmented_control(key="view").set_value("Compare").run()
    assert "The batch" in at.segmented_control(key=f"versions.from:{twice.handle}").options
    assert compared(at).total == 3


def test_with_a_scoring_key_texts_are_pasted_and_no_samples_are_offered(scorer: Workbench, twice: Trained) -> None:
    at = side_by_side(scorer, twice.handle, a="v1", b="v2")
    assert at.segmented_control(key=f"versions.from:{twice.handle}").options == ["A file", "Pasted lines"]
    at.text_area(key="batch.pasted").set_value(TEXTS[0]).run()
    compared(at)
    assert "of 1 text changed sides" in words(at)


def test_zero_retention_keeps_texts_for_minutes(
    workbench: Workbench, service: Service, client: Traitbench, ready: str
) -> None:
    add_version(service.context, ready, client)
    client.models.update(ready, zero_data_retention=True)
    at = side_by_side(workbench, ready)
    assert "15 minutes after you last viewed them" in words(at)
    at.segmented_control(key=f"versions.from:{ready}").set_value("Test samples").run()
    assert "There are no test samples" in press(at, "versions.compare").warning[0].value


def test_a_comparison_that_is_gone_says_so(workbench: Workbench, twice: Trained) -> None:
    at = side_by_side(workbench, twice.handle, a="v1", b="v2", comparison="gone")
    assert "This comparison is no longer in memory" in words(at)
    assert "This comparison is no longer in memory" not in words(at.run())


def test_a_comparison_that_the_service_leaves_can_go_on(workbench: Workbench, twice: Trained) -> None:
    a, b = (f"{twice.handle}@{version}" for version in ("v1", "v2"))
    with Traitbench(f"http://127.0.0.1:{free_port()}", "key") as nobody:
        comparison = TextComparison(nobody, a, b, [ComparedInput(TEXTS[0])], keys=["warmth"], name="one.csv")
        background.start(comparison)
        assert eventually(lambda: comparison.state == "failed")
        at = side_by_side(workbench, twice.handle, a="v1", b="v2", comparison=comparison.id)
    assert "The comparison failed after 0 of 1 texts" in at.error[0].value
    assert "Resume when the service runs again" in at.error[0].value
    assert at.button(key="versions.comparison.go_on").label == "Resume"
    press(at, "versions.comparison.discard")
    assert text_comparison.find(comparison.id) is None
