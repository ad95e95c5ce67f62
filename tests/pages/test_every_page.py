"""Every page three times: nothing there, something there, service away. And what all of them share: the shell."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import Service, Trained, free_port
from tests.pages.drive import Workbench, copied_link, links, words
from traitbench.client import Traitbench
from traitbench_app.shell.navigation import PAGES

NAMES = [page.name for page in PAGES]
ABOUT_A_MODEL = [name for name in NAMES if name not in ("catalog", "idea", "operations", "console")]


def title(at: AppTest) -> list[str]:
    return [element.value for element in at.title]


@pytest.mark.parametrize("name", NAMES)
def test_a_page_opens_when_nothing_is_there(workbench: Workbench, service: Service, name: str) -> None:
    at = workbench.open(name)
    assert not at.exception
    assert title(at) == [next(page.title for page in PAGES if page.name == name)]
    offers = "Choose a model first" in words(at) or "No models yet" in words(at)
    assert offers == (name in ABOUT_A_MODEL)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_opens_on_a_model(workbench: Workbench, trained: Trained, name: str) -> None:
    at = workbench.open(name, model=trained.handle)
    assert not at.exception
    assert not at.error
    if name in ABOUT_A_MODEL:
        assert at.selectbox(key="model").value == trained.handle
        assert copied_link(at)["model"] == trained.handle
        assert not at.selectbox(key="model").help, "a tooltip there covers the menu on a narrow screen"


@pytest.mark.parametrize("name", ABOUT_A_MODEL)
def test_a_page_shows_nothing_of_another_teams_model(
    monkeypatch: pytest.MonkeyPatch, service: Service, trained: Trained, namespace: str, name: str
) -> None:
    at = Workbench(monkeypatch, service, service.issue(namespaces=(namespace,))).open(name, model=trained.handle)
    assert not at.exception
    assert "Choose a model first" in words(at) or "No models yet" in words(at)
    assert "warm" not in words(at).lower()


@pytest.mark.parametrize("name", ["catalog", *ABOUT_A_MODEL])
def test_a_page_says_what_to_do_when_the_service_is_away(
    monkeypatch: pytest.MonkeyPatch, service: Service, name: str
) -> None:
    at = Workbench(monkeypatch, service, "x", base_url=f"http://127.0.0.1:{free_port()}").open(name)
    assert not at.exception
    assert "The service does not answer" in words(at)
    assert "TRAITBENCH_API_URL" in words(at)
    assert words(at).replace("\\", "").count("answer") == 2, "the card says once that nothing answers, and where"
    assert at.button(key="try_again")


def test_a_page_comes_back_with_the_service(
    monkeypatch: pytest.MonkeyPatch, service: Service, trained: Trained, namespace: str
) -> None:
    key = service.issue(namespaces=(namespace, "trained"))
    at = Workbench(monkeypatch, service, key, base_url=f"http://127.0.0.1:{free_port()}").open("traits")
    monkeypatch.setenv("TRAITBENCH_API_URL", service.base_url)
    at.button(key="try_again").click().run()
    assert "Choose a model first" in words(at)


def test_a_key_that_is_not_accepted_is_said_with_the_way_out(monkeypatch: pytest.MonkeyPatch, service: Service) -> None:
    at = Workbench(monkeypatch, service, "wrong").open("catalog")
    assert not at.exception
    assert "does not accept this workbench's API key" in words(at)
    assert "TRAITBENCH_API_KEY" in words(at)


def test_a_model_of_the_card_is_one_click_away(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("traits")
    at.button(key=f"shell.choose.{trained.handle}").click().run()
    assert at.selectbox(key="model").value == trained.handle
    assert trained.handle in words(at).replace("\\", "")


def test_a_link_to_a_model_that_does_not_exist_says_so(workbench: Workbench, namespace: str) -> None:
    at = workbench.open("traits", model=f"{namespace}.nothing")
    assert "Choose a model first" in words(at)


@pytest.mark.parametrize("name", ["score", "batch"])
def test_a_link_to_a_version_that_does_not_exist_says_which_one_scores(
    workbench: Workbench, trained: Trained, name: str
) -> None:
    at = workbench.open(name, model=trained.handle, version="v9")
    assert [toast.value for toast in at.toast] == ["v9 does not exist. The active version scores instead."]
    assert not at.run().toast


def test_a_link_to_an_archived_model_opens_it(workbench: Workbench, client: Traitbench, namespace: str) -> None:
    client.models.create(f"{namespace}.old")
    client.models.delete(f"{namespace}.old")
    at = workbench.open("traits", model=f"{namespace}.old")
    assert at.selectbox(key="model").value == f"{namespace}.old"
    assert "was archived" in words(at)


def test_the_state_and_the_version_of_the_model_stand_beside_its_handle_and_nowhere_else(
    workbench: Workbench, trained: Trained
) -> None:
    at = workbench.open("score", model=trained.handle)
    badges = [each.value for each in at.markdown if "-badge[" in each.value]
    assert ("Ready" in badges[0], "v1" in badges[1], len(badges)) == (True, True, 2)


def test_names_with_markup_are_shown_as_they_are(workbench: Workbench, client: Traitbench, namespace: str) -> None:
    client.models.create(f"{namespace}.odd", description="**bold** :red[red] $x$ <b>b</b>")
    at = workbench.open("catalog")
    assert r"\*\*bold\*\* \:red\[red\] \$x\$ \<b\>b\</b\>" in words(at)


def test_the_card_leads_to_the_catalog(workbench: Workbench) -> None:
    assert "Open the catalog" in links(workbench.open("score"))
