"""A model beside the draft that is to replace it: what changed, and which texts got worse."""

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.processes import eventually
from tests.comparing import COLD_TESTS, LEARNED, TESTS, WARM_TESTS, inputs, trained_model
from tests.conftest import WARM, Service, Trained, make_draft, not_none, train
from tests.pages.drive import Workbench, charts, copied_link, frame, html, labelled, links, words
from tests.pages.versions.reading import side_by_side
from traitbench.client import Traitbench
from traitbench.contract.samples import SampleInput
from traitbench_app.versions import text_comparison

_MORE = ("It rained in the morning.", "The meeting was moved to Thursday at noon.", "There is a new bus to the lake.")


@pytest.fixture(scope="module")
def improved(service: Service) -> Iterator[Trained]:
    """A model with test samples, and `twice.better-next` with two relabelled: one is a regression, as labels go."""
    handle, key = "twice.better", service.issue(namespaces=("twice",))
    with Traitbench(service.base_url, key) as client:
        make_draft(client, handle)
        client.samples.add(handle, [_test_sample(text, 1.0, must_pass=True) for text in WARM_TESTS])
        client.samples.add(handle, [_test_sample(text, 0.0) for text in COLD_TESTS])
        train(client, handle)
        draft = client.models.fork(handle, f"{handle}-next").handle
        warm = [sample for sample in client.samples.list(draft, held_out=False) if sample.quality == 1.0]
        for sample in warm[2:]:
            client.samples.delete(draft, sample.id)
        client.samples.add(draft, [SampleInput(trait="warmth", text=each.text, quality=0.0) for each in warm[2:]])
        train(client, draft)
        yield Trained(handle, client)


def _test_sample(text: str, quality: float, *, must_pass: bool = False) -> SampleInput:
    return SampleInput(trait="warmth", text=text, quality=quality, held_out=True, must_pass=must_pass)


@pytest.fixture(scope="module")
def untested(service: Service) -> Iterator[Trained]:
    """A model without test samples that learned its lengthened texts, and `twice.untested-next` that learned more."""
    handle, key = "twice.untested", service.issue(namespaces=("twice",))
    lengthened = [(f"{text} {more}", quality) for more in _MORE for text, quality in LEARNED]
    with Traitbench(service.base_url, key) as client:
        trained_model(client, handle, inputs(lengthened))
        draft = client.models.fork(handle, f"{handle}-next").handle
        client.samples.add(draft, inputs(TESTS))
        train(client, draft)
        yield Trained(handle, client)


@pytest.fixture
def worse(workbench: Workbench, improved: Trained) -> AppTest:
    """The draft compared with its original, on the test samples."""
    at = side_by_side(workbench, f"{improved.handle}-next", table="true")
    comparison = not_none(text_comparison.find(str(at.query_params["comparison"])))
    assert eventually(lambda: comparison.state != "running")
    return at.run()


def test_a_draft_is_compared_with_the_version_it_was_made_from(workbench: Workbench, improved: Trained) -> None:
    at = side_by_side(workbench, f"{improved.handle}-next")
    pinned = f"{improved.handle}@v1"
    assert copied_link(at) == {"model": f"{improved.handle}-next", "view": "Compare", "a": pinned, "b": "v1"}
    assert f"{improved.handle}-next@v1" in side_by_side(workbench, improved.handle).selectbox(key="b").options
    at.selectbox(key="a").set_value("v1").run()
    assert "Both sides show the same version" in words(at)


def test_the_verdict_is_the_title_and_its_picture_has_a_table_of_all_figures(worse: AppTest, improved: Trained) -> None:
    truth = improved.client.versions.compare(f"{improved.handle}@v1", f"{improved.handle}-next@v1")
    assert truth.verdict == "worse"
    assert worse.header[0].value == "The draft is worse at Warmth"
    failed = truth.traits["warmth"].must_pass.newly_failed
    assert f"{failed} texts that should never be wrong are wrong now." in html(worse)
    worse.toggle(key="versions.verdict.as_table").set_value(True).run()
    figures = frame(worse, "Change (95 % interval)").iloc[0]
    difference = not_none(truth.traits["warmth"].auroc)
    assert figures["AUROC the draft"] == pytest.approx(difference.b, abs=0.001)
    assert f"{difference.delta:+.3f}" in figures["Change (95 % interval)"]
    assert "relabelled" in words(worse)


def test_a_worse_draft_is_not_offered_for_use(worse: AppTest) -> None:
    assert any(link.startswith("Keep twice") for link in links(worse))
    assert "Use the draft" not in links(worse)
    assert not [button.label for button in worse.button if button.proto.type == "primary"]


@pytest.mark.parametrize(("verdict", "link"), [("worse", "Use the draft"), ("better", "Keep twice")])
def test_a_draft_at_the_left_is_better_where_the_other_is_worse(
    workbench: Workbench, improved: Trained, monkeypatch: pytest.MonkeyPatch, verdict: str, link: str
) -> None:
    draft = f"{improved.handle}-next"
    truth = improved.client.versions.compare(f"{draft}@v1", f"{improved.handle}@v1")
    said = truth.model_copy(update={"verdict": verdict})
    monkeypatch.setattr("traitbench_app.versions.compare.compared", lambda *_: said)
    at = side_by_side(workbench, draft, a="v1", b=f"{improved.handle}@v1")
    offered = [each for each in links(at) if each.startswith(("Use", "Keep"))]
    assert [each.startswith(link) for each in offered] == [True]


def test_texts_that_became_worse_come_first_and_can_be_filtered(worse: AppTest) -> None:
    table = frame(worse, "delta")
    assert set(table["text"]) == {*WARM_TESTS, *COLD_TESTS}
    regressions = table["kind"].str.contains("Worse")
    assert 0 < regressions.sum() <= len(WARM_TESTS)
    assert regressions.tolist() == sorted(regressions, reverse=True)
    assert f"{regressions.sum()} worse" in words(worse)
    assert "that should never be wrong are wrong" in words(worse)
    worse.button_group(key="versions.show").set_value("Must pass failed").run()
    assert set(frame(worse, "delta")["text"]) <= {*WARM_TESTS}


def test_a_text_opens_the_reasons_and_the_samples_that_moved_it(worse: AppTest) -> None:
    labelled(worse.button, "Why").click().run()
    assert sum("tb-why" in part.proto.body and "<span title" in part.proto.body for part in worse.get("html")) == 2
    assert "Expected: **" in words(worse)
    moved = frame(worse, "Moved the score by")
    assert set(moved["Change"]) == {"relabelled"}
    assert set(moved["Sample"].str.slice(0, 20)) <= {text[:20] for text in WARM}


def test_a_discarded_comparison_is_not_made_again_by_itself(worse: AppTest) -> None:
    worse.button(key="versions.comparison.discard").click().run()
    assert "comparison" not in worse.query_params
    assert "Texts that moved" not in words(worse)


def test_without_test_samples_both_are_trained_again_on_fewer_texts(workbench: Workbench, untested: Trained) -> None:
    client, pinned = untested.client, f"{untested.handle}-next"
    before = [version.param_hash for version in client.versions.list(pinned)]
    at = side_by_side(workbench, pinned)
    assert at.header[0].value.startswith(":gray[Not known whether the draft is better")
    at.button(key="versions.again.go").click().run()
    assert "This is of both trained again without 20 texts" in words(at)
    assert "of 20" in charts(at)[0]
    assert [version.param_hash for version in client.versions.list(pinned)] == before
    assert not list(client.samples.list(pinned, held_out=True))
