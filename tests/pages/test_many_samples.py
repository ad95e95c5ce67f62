"""The Samples page of a model with many samples: the service searches and counts, and sends one page of rows."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.drive import Workbench, copied_link, edit, press, words
from traitbench.client import Traitbench
from traitbench.contract.samples import Sample, SampleInput
from traitbench_app.workspace import samples
from traitbench_app.workspace.samples import A_PAGE

MANY = 2 * A_PAGE + 100
OVERTAKEN = "1 sample that you edited was changed or deleted by someone else"


@pytest.fixture
def many(client: Traitbench, empty: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A draft with more samples than the page holds; one of them is at neither pole."""
    monkeypatch.setattr(samples, "MOST_LOADED", A_PAGE)
    qualities = [0.5, *(float(number % 2) for number in range(1, MANY))]
    numbered = enumerate(qualities)
    client.samples.add(empty, [SampleInput(trait="warmth", text=f"Text {n}", quality=each) for n, each in numbered])
    return empty


def reads_all(at: AppTest) -> bool:
    """Whether the page has read all samples."""
    return "samples.held" in at.session_state


def newest(client: Traitbench, handle: str, place: int = 0) -> Sample:
    return client.samples.list(handle, newest_first=True, offset=place, limit=1).items[0]


def named(client: Traitbench, handle: str, text: str) -> int | None:
    """How many samples have this in their text."""
    return client.samples.list(handle, text=text, count=True).count


def test_pages_searches_and_links_show_what_is_there(workbench: Workbench, client: Traitbench, many: str) -> None:
    at = workbench.open("samples", model=many)
    assert f"{MANY:,} samples, newest first" in words(at)
    assert at.dataframe[0].value["text"].tolist() == [f"Text {MANY - 1 - row}" for row in range(A_PAGE)]
    last = workbench.open("samples", model=many, page="3")
    assert last.dataframe[0].value["text"].tolist() == [f"Text {99 - row}" for row in range(100)]
    assert copied_link(last) == {"model": many, "page": "3"}
    last.text_input(key="find").set_value("TEXT 7").run()
    found = [number for number in range(MANY) if "7" in str(number)]
    assert f"{len(found)} of {MANY} samples, newest first" in words(last)
    assert last.dataframe[0].value["text"].tolist() == [f"Text {number}" for number in reversed(found)]
    last.selectbox(key="pole").set_value("in between").run()
    assert "No samples match." in words(last)
    last.text_input(key="find").set_value("").run()
    assert last.dataframe[0].value["text"].tolist() == ["Text 0"]
    assert not reads_all(at)
    assert not reads_all(last)
    linked = workbench.open("samples", model=many, rows=str(client.samples.list(many, limit=1).items[0].id))
    assert linked.dataframe[0].value["text"].tolist() == ["Text 0"]


def test_an_edit_is_saved_without_the_other_samples(workbench: Workbench, client: Traitbench, many: str) -> None:
    at = edit(workbench.open("samples", model=many), rows={0: {"text": "Another text"}})
    press(at, "samples.save")
    assert newest(client, many).text == "Another text"
    assert named(client, many, f"Text {MANY - 1}") == 0
    press(at, "samples.undo_button")
    assert named(client, many, f"Text {MANY - 1}") == 1
    assert client.traits.get(many, "warmth").sample_count == MANY
    assert not reads_all(at)


def test_an_edit_that_someone_overtook_is_kept_apart(workbench: Workbench, client: Traitbench, many: str) -> None:
    at = edit(workbench.open("samples", model=many), rows={0: {"text": "My text"}})
    client.samples.delete(many, newest(client, many).id)
    press(at, "samples.save")
    assert named(client, many, "My text") == 0
    assert OVERTAKEN in words(at)
    press(at, "samples.conflict.both:0")
    assert named(client, many, "My text") == 1


@pytest.mark.parametrize(("page", "row"), [("1", 0), ("2", 1)])
def test_an_overtaken_edit_is_shown_when_its_rows_are_listed(
    workbench: Workbench, client: Traitbench, many: str, page: str, row: int
) -> None:
    at = edit(workbench.open("samples", model=many, page=page), rows={row: {"text": "My text"}})
    assert "someone else" not in words(at.run())
    client.samples.delete(many, newest(client, many, (int(page) - 1) * A_PAGE + row).id)
    at.run()
    assert OVERTAKEN in words(at)
    assert "My text" in words(at)
    assert at.button(key="samples.save").disabled
