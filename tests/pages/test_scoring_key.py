"""A workbench whose key may score but not change models: each page says so, and offers nothing that would fail."""

import pytest

from tests.conftest import Service, Trained
from tests.pages.drive import Workbench, links, words
from traitbench.client import Traitbench

_WHY = "may score but not change models"


@pytest.fixture
def scoring(monkeypatch: pytest.MonkeyPatch, service: Service, namespace: str) -> Workbench:
    """A session with a scoring key."""
    return Workbench(monkeypatch, service, service.issue("scoring", (namespace, "trained")))


def test_the_samples_page_says_why_it_is_closed(scoring: Workbench, trained: Trained) -> None:
    at = scoring.open("samples", model=trained.handle)
    assert [title.value for title in at.title] == ["Samples"]
    assert _WHY in words(at)
    assert not at.error


@pytest.mark.parametrize("page", ["traits", "samples", "train", "versions", "model"])
def test_no_page_leads_to_what_the_key_may_not_do(
    scoring: Workbench, client: Traitbench, namespace: str, page: str
) -> None:
    client.models.create(f"{namespace}.new")
    at = scoring.open(page, model=f"{namespace}.new")
    assert not at.error
    assert "This model has no traits yet." in words(at)
    assert not {"Add traits", "Add samples", "Train this model", "Create your own model"} & {*links(at)}


def test_no_model_can_be_created(scoring: Workbench, trained: Trained) -> None:
    at = scoring.open("catalog")
    assert at.button(key="catalog.new_button").disabled
    assert at.button(key="catalog.import_button").disabled
    assert "You cannot try ideas here." in words(scoring.open("idea"))
