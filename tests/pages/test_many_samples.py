"""The Samples page of a model with many samples: the service searches and counts, and sends one page of rows."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.drive import Workbench, copied_link, words
from traitbench.client import Traitbench
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput
from traitbench_app.workspace import sample_table
from traitbench_app.workspace.sample_table import A_PAGE

MANY = 2 * A_PAGE + 100


@pytest.fixture
def many(client: Traitbench, namespace: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A draft with more samples than the page holds; one of them is at neither pole."""
    monkeypatch.setattr(sample_table, "MOST_HELD", A_PAGE)
    handle = f"{namespace}.many"
    client.models.create(handle)
    client.traits.add(handle, [TraitInput(name="Warmth", positive_label="warm", negative_label="cold")])
    qualities = [0.5, *(float(number % 2) for number in range(1, MANY))]
    client.samples.add(
        handle,
        [SampleInput(trait="warmth", text=f"Text {at}", quality=quality) for at, quality in enumerate(qualities)],
    )
    return handle


def reads_all(at: AppTest) -> bool:
    """Whether the page has read all samples."""
    return "samples.held" in at.session_state


def edit_row(at: AppTest, row: int, text: str) -> AppTest:
    at.session_state[str(at.dataframe[0].key)] = {
        "edited_rows": {row: {"text": text}},
        "deleted_rows": [],
        "added_rows": [],
    }
    return at.run()


def test_pages_and_searches_show_what_is_there(workbench: Workbench, many: str) -> None:
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


def test_an_edit_is_saved_without_the_other_samples(workbench: Workbench, client: Traitbench, many: str) -> None:
    at = edit_row(workbench.open("samples", model=many), 0, "Another text")
    at.button(key="samples.save").click().run()
    assert client.samples.list(many, newest_first=True, limit=1).items[0].text == "Another text"
    assert client.samples.list(many, text=f"Text {MANY - 1}", count=True).count == 0
    at.button(key="samples.undo_button").click().run()
    assert client.samples.list(many, text=f"Text {MANY - 1}", count=True).count == 1
    assert client.traits.get(many, "warmth").sample_count == MANY
    assert not reads_all(at)


def test_an_edit_that_someone_overtook_is_not_saved_and_not_lost(
    workbench: Workbench, client: Traitbench, many: str
) -> None:
    at = edit_row(workbench.open("samples", model=many), 0, "My text")
    newest = client.samples.list(many, newest_first=True, limit=1).items[0]
    client.samples.delete(many, newest.id)
    at.button(key="samples.save").click().run()
    assert client.samples.list(many, text="My text", count=True).count == 0
    assert "1 sample that you edited was changed or deleted by someone else" in words(at)
    at.button(key="samples.conflict.both:0").click().run()
    assert client.samples.list(many, text="My text", count=True).count == 1


@pytest.mark.parametrize(("page", "row"), [("1", 0), ("2", 1)])
def test_an_edit_that_someone_overtook_is_shown_when_its_rows_are_listed_again(
    workbench: Workbench, client: Traitbench, many: str, page: str, row: int
) -> None:
    at = edit_row(workbench.open("samples", model=many, page=page), row, "My text")
    edited = client.samples.list(many, newest_first=True, offset=(int(page) - 1) * A_PAGE + row, limit=1).items[0]
    assert "someone else" not in words(at.run())
    client.samples.delete(many, edited.id)
    at.run()
    assert "1 sample that you edited was changed or deleted by someone else" in words(at)
    assert "My text" in words(at)
    assert at.button(key="samples.save").disabled


def test_rows_named_in_a_link_are_found(workbench: Workbench, client: Traitbench, many: str) -> None:
    oldest = client.samples.list(many, limit=1).items[0]
    at = workbench.open("samples", model=many, rows=str(oldest.id))
    assert at.dataframe[0].value["text"].tolist() == ["Text 0"]
