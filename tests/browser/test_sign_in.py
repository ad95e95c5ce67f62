"""Signing in: what a stranger reaches, who comes in, what each may do, and how it ends."""

import re
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.app.processes import Started, serving
from tests.app.streamlit_socket import refusal
from tests.browser.conftest import HOME, settled
from tests.cli.asking import call
from tests.conftest import make_draft, not_none, train
from tests.patience import PATIENCE_MS, PATIENCE_S
from traitbench.contract.operations import PREFIXES

LINK = re.compile(r"Sign in: (http://127\.0\.0\.1:\d+/sign-in\?token=[\w-]{43})$")


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """A workbench with a sign-in, in an empty home."""
    with serving(tmp_path_factory.mktemp("guarded-home"), TRAITBENCH_SIGN_IN="token") as started:
        yield started


@pytest.fixture(scope="module")
def link(guarded: Started) -> str:
    """The link that the start has printed."""
    result = LINK.match(not_none(guarded.process.stdout).readline().rstrip("\n"))
    assert result
    return result[1]


def key(guarded: Started, scope: str, name: str) -> str:
    code, secret, err = call(guarded.home, "key", "create", "--scope", scope, "--namespace", "local", "--name", name)
    assert code == 0, err
    return secret.strip()


@pytest.fixture
def another_window(browser: Browser) -> Iterator[BrowserContext]:
    with browser.new_context(viewport={"width": 1440, "height": 1000}) as context:
        context.set_default_timeout(PATIENCE_MS)
        yield context


def paste(window: BrowserContext, guarded: Started, secret: str, path: str = "/") -> Page:
    """A page of somebody who signs in with a key."""
    page = window.new_page()
    page.goto(guarded.base_url + path)
    page.get_by_label("Secret or API key").fill(secret)
    page.get_by_role("button", name="Sign in").click()
    return page


def answer(guarded: Started, method: str, path: str, **headers: str) -> tuple[int, str]:
    with closing(HTTPConnection("127.0.0.1", guarded.port, timeout=PATIENCE_S)) as connection:
        connection.request(method, path, headers={"Connection": "close", **headers})
        response = connection.getresponse()
        response.read()
        return response.status, response.headers.get("Location", "")


def test_a_stranger_reaches_nothing_but_the_sign_in_and_the_api(guarded: Started) -> None:
    for path in ("/", "/console", "/_stcore/health", "/_stcore/host-config", "/media/x", "/static/x", "/favicon.png"):
        assert answer(guarded, "GET", path)[0] == 401
    assert answer(guarded, "PUT", "/_stcore/upload_file/a/b")[0] == 401
    assert answer(guarded, "GET", "/", Cookie=f"traitbench_session_{guarded.port}=guess")[0] == 401
    asked_to = "/sign-in?next=%2Fscore%3Fmodel%3Da.b"
    assert answer(guarded, "GET", "/score?model=a.b", Accept="text/html") == (303, asked_to)
    assert answer(guarded, "GET", "/v1/health")[0] == 200
    assert answer(guarded, "GET", "/v1/models")[0] == 401
    assert {answer(guarded, "POST", f"{prefix}/nothing")[0] for prefix in PREFIXES} == {404}
    assert refusal(guarded.port, origin=guarded.base_url) == 403


def test_a_wrong_secret_is_refused_and_too_many_are_not_even_looked_at(guarded: Started) -> None:
    """From an address of its own, so that the others can still sign in."""
    with httpx.Client(base_url=guarded.base_url, transport=httpx.HTTPTransport(local_address="127.0.0.2")) as visitor:
        pasted = visitor.post("/sign-in", data={"token": "tba_wrong"}, headers={"Origin": guarded.base_url})
        assert "This is neither the secret of the sign-in link nor a valid API key." in pasted.text
        wrong = f"/sign-in?token={'x' * 43}"
        assert [visitor.get(wrong).status_code for _ in range(10)] == [403] * 9 + [429]
        assert visitor.get(f"/sign-in?token={key(guarded, 'authoring', 'by link')}").status_code == 429
        assert not visitor.cookies


@pytest.mark.browser
def test_the_link_signs_in_until_the_operator_signs_out(guarded: Started, link: str, window: BrowserContext) -> None:
    page = window.new_page()
    page.goto(link)
    settled(page)
    assert page.url == f"{guarded.base_url}/"
    assert page.evaluate("document.cookie.includes('traitbench')") is False
    [cookie] = [each for each in window.cookies() if each["name"].startswith("traitbench_session")]
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")

    page.get_by_role("link", name="Console", exact=True).click()
    expect(page.get_by_role("button", name="New key")).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("You are signed out")).to_be_visible()
    assert answer(guarded, "GET", "/", Cookie=f"{cookie['name']}={cookie['value']}")[0] == 401
    page.get_by_role("link", name="Sign in").click()
    expect(page.get_by_role("heading", name="Sign in to Traitbench")).to_be_visible()


@pytest.mark.browser
def test_a_scoring_person_only_scores_and_a_revoked_key_ends_it(guarded: Started, window: BrowserContext) -> None:
    page = paste(window, guarded, key(guarded, "scoring", "Ada Reader"), "/console")
    settled(page)
    assert page.url == f"{guarded.base_url}/console"
    expect(page.get_by_text("Only the operator can manage API keys")).to_be_visible()
    expect(page.get_by_text("Ada Reader")).to_be_visible()
    assert page.get_by_role("button", name="New key").count() == 0
    page.goto(f"{guarded.base_url}/operations")
    expect(page.get_by_text("Only the operator can see operations")).to_be_visible()
    expect(page.get_by_role("navigation", name="Pages").get_by_role("link")).to_have_count(1)

    page.get_by_role("link", name="Home", exact=True).click()
    expect(page.get_by_role("heading", name=HOME, level=1)).to_be_visible()
    settled(page)
    expect(page.get_by_role("button", name="Paste", exact=True)).to_be_disabled()
    expect(page.get_by_role("button", name="Import")).to_be_disabled()

    key_id = call(guarded.home, "key", "list")[1].splitlines()[-1].split()[0]
    assert call(guarded.home, "key", "revoke", key_id)[0] == 0
    page.get_by_role("link", name="Home", exact=True).click()
    expect(page.get_by_text("Your API key is no longer valid")).to_be_visible()
    assert answer(guarded, "GET", "/", Cookie=f"{window.cookies()[0]['name']}={window.cookies()[0]['value']}")[0] == 401


@pytest.mark.soak
@pytest.mark.browser
def test_a_batch_is_seen_by_its_owner_only(
    guarded: Started, link: str, window: BrowserContext, another_window: BrowserContext, handle: str
) -> None:
    with guarded.client() as client:
        make_draft(client, handle)
        train(client, handle)
    page = paste(window, guarded, key(guarded, "authoring", "Bea"), f"/batch?model={handle}")
    settled(page)
    page.get_by_text("Pasted lines").click()
    text = page.get_by_role("textbox", name="Texts, one per line")
    text.fill("A secret headline of Bea\nAnother one")
    text.press("Control+Enter")
    page.get_by_role("button", name="Score 2 texts").click()
    expect(page.get_by_text("A secret headline of Bea").first).to_be_attached()
    expect(page).to_have_url(re.compile("batch="))

    stranger = another_window.new_page()
    stranger.goto(link)
    settled(stranger)
    stranger.goto(page.url)
    expect(stranger.get_by_text("These results were discarded, or they belong to someone else")).to_be_visible()
    settled(stranger)
    assert "secret headline" not in stranger.content()
    page.reload()
    settled(page)
    assert page.get_by_text("These results were discarded, or they belong to someone else").count() == 0
