"""Two versions side by side."""

import json

import pytest

from tests.app.processes import eventually
from tests.conftest import WARM, Service, Trained, free_port
from tests.pages.drive import Workbench, add_version, charts, copied_link, links, words
from tests.pages.versions.reading import cells, compared, frame, ready
from traitbench.client import Traitbench
from traitbench_app.shell.navigation import entry
from traitbench_app.versions import text_comparison
from traitbench_app.versions.text_comparison import Comparison, Labelled
from traitbench_app.workspace import background, batches

TEXTS = ("Thank you so much, it was lovely.", "Your request is denied.", "The train leaves at nine.")


@pytest.mark.parametrize("query", [{"view": "Compare", "a": "v9", "b": "v1"}, {"view": "Details", "version": "v9"}])
def test_a_link_to_a_version_that_is_gone_says_so_and_shows_no_other(
    workbench: Workbench, twice: Trained, query: dict[str, str]
) -> None:
    at = workbench.open("versions", model=twice.handle, **query)
    for _ in range(2):
        assert "**v9** does not exist" in at.error[0].value
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
    assert "Resume when the service runs again" in at.error[0].value
    assert at.button(key="versions.job.go_on").label == "Resume"
    at.button(key="versions.job.discard").click().run()
    assert text_comparison.find(job.id) is None


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
