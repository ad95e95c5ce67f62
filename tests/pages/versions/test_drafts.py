"""A model beside the draft that is to replace it: what changed, and which texts got worse."""

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from tests.comparing import COLD_TESTS, WARM_TESTS
from tests.conftest import WARM, Service, Trained, make_draft
from tests.pages.drive import Workbench, copied_link, frame, html, words
from tests.pages.versions.reading import compared, side_by_side
from traitbench.client import Traitbench
from traitbench.contract.samples import SampleInput

TESTS = len(WARM_TESTS) + len(COLD_TESTS)


@pytest.fixture(scope="module")
def improved(service: Service) -> Iterator[Trained]:
    """A model with test samples, and `twice.better-next` with two relabelled: one is a regression, as labels go."""
    handle, key = "twice.better", service.issue(namespaces=("twice",))
    with Traitbench(service.base_url, key) as client:
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


def _test_sample(text: str, quality: float, *, must_pass: bool = False) -> SampleInput:
    return SampleInput(trait="warmth", text=text, quality=quality, held_out=True, must_pass=must_pass)


@pytest.fixture
def worse(workbench: Workbench, improved: Trained) -> AppTest:
    """The draft compared with its original, on the test samples."""
    at = side_by_side(workbench, f"{improved.handle}-next")
    compared(at)
    return at


def test_a_draft_is_compared_with_the_version_it_was_made_from(workbench: Workbench, improved: Trained) -> None:
    at = side_by_side(workbench, f"{improved.handle}-next")
    pinned = f"{improved.handle}@v1"
    assert copied_link(at) == {"model": f"{improved.handle}-next", "view": "Compare", "a": pinned, "b": "v1"}
    assert f"{improved.handle}-next@v1" in side_by_side(workbench, improved.handle).selectbox(key="b").options
    at.selectbox(key="a").set_value("v1").run()
    assert "Both sides show the same version" in words(at)


def test_the_verdict_comes_first_with_its_figures_and_what_changed(worse: AppTest, improved: Trained) -> None:
    truth = improved.client.versions.compare(f"{improved.handle}@v1", f"{improved.handle}-next@v1")
    assert truth.verdict == "worse"
    assert worse.subheader[0].value == f"Worse than {improved.handle}@v1"
    figures = frame(worse, "Change (95 % interval)").iloc[0]
    difference = truth.traits["warmth"].auroc
    assert difference is not None
    assert figures["AUROC v1"] == pytest.approx(difference.b, abs=0.0005)
    assert f"{difference.delta:+.3f}" in figures["Change (95 % interval)"]
    assert "relabelled" in words(worse)


def test_regressions_come_first_and_can_be_filtered(worse: AppTest) -> None:
    table = frame(worse, "delta")
    assert set(table["text"]) == {*WARM_TESTS, *COLD_TESTS}
    regressions = table["kind"].str.contains("Regression")
    assert 0 < regressions.sum() <= len(WARM_TESTS)
    assert regressions.tolist() == sorted(regressions, reverse=True)
    assert f"{regressions.sum()} regression" in words(worse)
    assert "that must pass fail" in words(worse)
    worse.segmented_control(key="texts").set_value("Must pass failed").run()
    assert set(frame(worse, "delta")["text"]) <= {*WARM_TESTS}
    worse.segmented_control(key="texts").set_value("Fixed").run()
    assert "No texts match." in words(worse)


def test_a_row_opens_the_reasons_and_the_samples_that_moved_it(worse: AppTest, improved: Trained) -> None:
    job_id = worse.query_params["comparison"]
    selected = {"selection": {"rows": [0], "columns": [], "cells": []}}
    worse.session_state[f"versions.table:{job_id}:{TESTS}:warmth:All"] = selected
    worse.run()
    assert not worse.exception
    assert sum("tb-why" in part.proto.body and "<span title" in part.proto.body for part in worse.get("html")) == 2
    assert "Expected: **" in words(worse)
    moved = frame(worse, "Moved the score by")
    assert set(moved["Change"]) == {"relabelled"}
    assert set(moved["Sample"].str.slice(0, 20)) <= {text[:20] for text in WARM}


def test_tiers_and_changes_count_every_text(worse: AppTest) -> None:
    assert "Tiers of" in html(worse)
    worse.toggle(key="versions.changes.as_table").set_value(True).run()
    assert frame(worse, "Texts")["Texts"].sum() == TESTS
