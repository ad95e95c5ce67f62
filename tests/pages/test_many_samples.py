"""The Samples page of a model with many samples: the service searches and counts, and sends only the rows shown."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.drive import Workbench, components, listed, pick, plain, press, retype, words
from traitbench.client import Traitbench
from traitbench.contract.samples import SampleInput
from traitbench_app.samples import listing

MANY = 120


@pytest.fixture(autouse=True)
def _few_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "MOST_LOADED", 10)


@pytest.fixture
def many(client: Traitbench, empty: str) -> str:
    """A draft with more samples than the page holds; one of them is at neither pole."""
    qualities = [0.5, *(float(number % 2) for number in range(1, MANY))]
    numbered = enumerate(qualities)
    client.samples.add(empty, [SampleInput(trait="warmth", text=f"Text {n}", quality=each) for n, each in numbered])
    return empty


def reads_all(at: AppTest) -> bool:
    """Whether the page has read all samples."""
    return "samples.held" in at.session_state


def said(at: AppTest) -> str:
    return str(components(at, "samples")[0]["foot"]["said"])


def test_pages_searches_and_links_show_what_is_there(workbench: Workbench, client: Traitbench, many: str) -> None:
    at = workbench.open("samples", model=many)
    assert f"{MANY} samples" in words(at)
    assert (listed(at)[:2], said(at)) == ([f"Text {MANY - 1}", f"Text {MANY - 2}"], f"50 of {MANY}, newest first")
    at.text_input(key="find").set_value("TEXT 7").run()
    found = [number for number in range(MANY) if "7" in str(number)]
    assert listed(at) == [f"Text {number}" for number in reversed(found)]
    assert listed(workbench.open("samples", model=many, pole="in between")) == ["Text 0"]
    linked = workbench.open("samples", model=many, rows=str(client.samples.list(many, limit=1).items[0].id))
    assert listed(linked) == ["Text 0"]
    assert not reads_all(at)
    assert not reads_all(linked)


def test_those_without_a_group_are_listed_by_the_service(workbench: Workbench, client: Traitbench, many: str) -> None:
    assert "no group" not in str(workbench.open("samples", model=many).get("button_group")[0].proto)
    ids = [each.id for each in client.samples.list(many, limit=500)]
    client.samples.update(many, ids[3:], group="Case 1")
    at = workbench.open("samples", model=many, show="no group")
    assert listed(at) == ["Text 2", "Text 1", "Text 0"]
    assert "no group 3" in str(at.get("button_group")[0].proto)
    assert not reads_all(at)


def test_copies_are_counted_without_the_other_samples(workbench: Workbench, client: Traitbench, many: str) -> None:
    three = [SampleInput(trait="warmth", text="So there are three of us.", quality=1.0) for _ in range(3)]
    client.samples.add(many, three)
    at = workbench.open("samples", model=many)
    drawn = "\n".join(str(each.proto.body) for each in at.get("html"))
    assert "2 copies of it." in drawn
    at = pick(at, client, many, "Text 100")
    assert "No copy of it." in "\n".join(str(each.proto.body) for each in at.get("html"))
    assert not reads_all(at)


def test_an_edit_is_saved_without_the_other_samples(workbench: Workbench, client: Traitbench, many: str) -> None:
    newest = f"Text {MANY - 1}"
    at = retype(pick(workbench.open("samples", model=many), client, many, newest), "Another text")
    assert listed(at)[0] == "Another text"
    assert client.samples.list(many, text=newest, count=True).count == 0
    press(at, "samples.undo_button")
    assert listed(at)[0] == newest
    assert not reads_all(at)


def test_a_large_model_in_use_lists_the_farthest_first_and_narrows(
    own_workbench: Workbench, client: Traitbench, ready: str
) -> None:
    at = own_workbench.open("samples", model=ready)
    rows = components(at, "samples")[0]["rows"]
    far = [100 - row["score"] if row["label"]["side"] == "right" else row["score"] for row in rows]
    assert (len(rows), far) == (20, sorted(far, reverse=True))
    assert not reads_all(at)
    wrong = components(own_workbench.open("samples", model=ready, show="wrong"), "samples")
    expected = [row["id"] for row in rows if row["wrong"]]
    assert [row["id"] for each in wrong for row in each["rows"]] == expected
    cold = own_workbench.open("samples", model=ready, trait="Warmth", pole="cold")
    assert {row["label"]["word"] for row in components(cold, "samples")[0]["rows"]} == {"cold"}
    assert len(listed(own_workbench.open("samples", model=ready, find="the"))) < 20


def test_the_first_edit_of_a_large_model_in_use_opens_a_draft(
    own_workbench: Workbench, client: Traitbench, ready: str
) -> None:
    at = press(own_workbench.open("samples", model=ready), "samples.label.3")
    assert at.selectbox(key="model").value == f"{ready}-next"
    assert "your draft, 1 change" in plain(at)
