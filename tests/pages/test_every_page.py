"""Every page three times: nothing there, something there, service away. And what all of them share: the shell."""

import pytest

from tests.conftest import Service, Trained
from tests.pages.drive import Workbench, away, buttons, copied_link, links, plain, words
from traitbench_app.shell.navigation import PAGES

NAMES = [page.name for page in PAGES]
ABOUT_A_MODEL = [name for name in NAMES if name not in ("catalog", "from_file", "operations", "console")]


@pytest.mark.parametrize("name", NAMES)
def test_a_page_opens_when_nothing_is_there(workbench: Workbench, name: str) -> None:
    at = workbench.open(name)
    page = next(page for page in PAGES if page.name == name)
    [title] = at.title
    assert title.value == page.title or name == "catalog"
    offers = "Choose a model first" in words(at) or "No models yet" in words(at)
    assert offers == (name in ABOUT_A_MODEL)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_opens_on_a_model(workbench: Workbench, trained: Trained, name: str) -> None:
    at = workbench.open(name, model=trained.handle)
    assert not at.error
    if name in ABOUT_A_MODEL:
        assert at.selectbox(key="model").value == trained.handle
        assert copied_link(at)["model"] == trained.handle
        assert not at.selectbox(key="model").help, "a tooltip there covers the menu on a narrow screen"
        assert name == "label" or buttons(at, "shell.improve_button"), "a model in use can be improved from everywhere"


@pytest.mark.parametrize("name", ABOUT_A_MODEL)
def test_a_page_shows_nothing_of_another_teams_model(own_workbench: Workbench, trained: Trained, name: str) -> None:
    at = own_workbench.open(name, model=trained.handle)
    assert "Choose a model first" in words(at) or "No models yet" in words(at)
    assert "warm" not in words(at).lower()


@pytest.mark.parametrize("name", ["catalog", *ABOUT_A_MODEL])
def test_without_a_service_a_page_says_what_to_do(monkeypatch: pytest.MonkeyPatch, service: Service, name: str) -> None:
    at = away(monkeypatch, service).open(name)
    assert "The service does not answer" in words(at)
    assert "TRAITBENCH_API_URL" in words(at)
    assert plain(at).count("answer") == 2, "the card says once that nothing answers, and where"
    assert at.button(key="try_again")


def test_a_page_returns_with_the_service(monkeypatch: pytest.MonkeyPatch, service: Service, trained: Trained) -> None:
    at = away(monkeypatch, service, service.issue(namespaces=("trained",))).open("traits")
    monkeypatch.setenv("TRAITBENCH_API_URL", service.base_url)
    at.button(key="try_again").click().run()
    assert "Choose a model first" in words(at)


def test_a_key_that_is_not_accepted_is_said_with_the_way_out(monkeypatch: pytest.MonkeyPatch, service: Service) -> None:
    at = Workbench(monkeypatch, service, "wrong").open("catalog")
    assert "does not accept this workbench's API key" in words(at)
    assert "TRAITBENCH_API_KEY" in words(at)


def test_a_model_of_the_card_is_one_click_away_and_so_are_all_models(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("traits")
    assert "See all models" in links(at)
    at.button(key=f"shell.choose.{trained.handle}").click().run()
    assert at.selectbox(key="model").value == trained.handle
    assert trained.handle in plain(at)


def test_a_link_to_a_model_that_does_not_exist_says_so(workbench: Workbench, namespace: str) -> None:
    assert "Choose a model first" in words(workbench.open("traits", model=f"{namespace}.nothing"))


@pytest.mark.parametrize("name", ["score", "batch"])
def test_a_link_to_a_missing_version_says_which_scores(workbench: Workbench, trained: Trained, name: str) -> None:
    at = workbench.open(name, model=trained.handle, version="v9")
    assert [toast.value for toast in at.toast] == ["v9 does not exist. The version in use scores instead."]
    assert not at.run().toast


def test_state_and_version_stand_beside_the_handle_only(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("score", model=trained.handle)
    badges = [each.value for each in at.markdown if "-badge[" in each.value]
    assert ("v1 in use" in badges[0], len(badges)) == (True, 1)
