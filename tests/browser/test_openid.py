"""Signing in through an OpenID provider: the whole way in Chromium once, and every way to abuse it over HTTP."""

import re
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, expect
from sqlalchemy import Engine

from tests.app.openid_provider import CLIENT, MUCH, SECRET, OpenIdProvider, providing
from tests.app.processes import Started, eventually, serving
from tests.browser.conftest import settled
from tests.conftest import not_none
from tests.patience import PATIENCE_MS, PATIENCE_S
from traitbench.operations import keys
from traitbench.settings import sqlite_url
from traitbench.store.database import open_engine
from traitbench.store.keys import ApiKey

SCORING = '["alice@example.org"]\nscope = "scoring"\nnamespaces = ["local"]\n'


@pytest.fixture(scope="module")
def listening() -> Iterator[OpenIdProvider]:
    with providing() as provider:
        yield provider


@pytest.fixture(scope="module")
def started(listening: OpenIdProvider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """A workbench with this provider, in an empty home."""
    with serving(tmp_path_factory.mktemp("openid-home"), **listening.environment) as started:
        yield started


@pytest.fixture
def provider(listening: OpenIdProvider, started: Started) -> Iterator[OpenIdProvider]:
    """The provider, keeping all rules; Alice may score."""
    listening.behave()
    (started.home / "people.toml").write_text(SCORING)
    yield listening
    listening.behave()


@pytest.fixture(scope="module")
def engine(started: Started) -> Iterator[Engine]:
    held = open_engine(sqlite_url(started.home / "traitbench.db"))
    yield held
    held.dispose()


@pytest.fixture
def visitor(started: Started) -> Iterator[httpx.Client]:
    """A browser's cookies and requests, without following redirects."""
    with httpx.Client(base_url=started.base_url, trust_env=False, timeout=PATIENCE_S) as client:
        yield client


def away_to(visitor: httpx.Client, query: str = "") -> str:
    """The address at the provider that the workbench sends a visitor to."""
    answer = visitor.get(f"/sign-in/start{query}")
    assert answer.status_code == 303
    return answer.headers["location"]


def back_from(address: str) -> str:
    """The address that the provider sends the visitor back to."""
    answer = httpx.get(address, trust_env=False)
    assert answer.status_code == 302
    return answer.headers["location"]


def sign_in(visitor: httpx.Client, query: str = "") -> httpx.Response:
    return visitor.get(back_from(away_to(visitor, query)))


def is_in(visitor: httpx.Client) -> bool:
    return visitor.get("/_stcore/health").status_code == 200


def of_sessions(engine: Engine) -> list[ApiKey]:
    return [key for key in keys.every(engine).items() if key.id.startswith("session_")]


@pytest.mark.browser
def test_a_person_signs_in_through_the_provider_and_does_what_the_list_says(
    started: Started, provider: OpenIdProvider, browser: Browser, engine: Engine
) -> None:
    provider.asks = True
    with browser.new_context(viewport={"width": 1440, "height": 1000}) as window:
        window.set_default_timeout(PATIENCE_MS)
        page = window.new_page()
        page.goto(f"{started.base_url}/console")
        expect(page.get_by_role("heading", name="Sign in to Traitbench")).to_be_visible()
        assert page.get_by_role("textbox").count() == 0
        page.get_by_role("link", name=f"Sign in with localhost:{provider.port}").click()
        page.get_by_role("link", name="Continue as Alice").click()
        settled(page)
        assert page.url == f"{started.base_url}/console"
        expect(page.get_by_text("Alice@Example.org")).to_be_visible()
        assert page.get_by_role("link", name="Example.org").count() == 0
        expect(page.get_by_text("Only the operator can manage API keys")).to_be_visible()
        ours = [each for each in window.cookies() if each["name"].startswith("traitbench_")]
        assert [(each["name"], each["httpOnly"], each["sameSite"]) for each in ours] == [
            (f"traitbench_session_{started.port}", True, "Strict")
        ]
        [key] = of_sessions(engine)
        assert (key.name, key.scope, key.namespaces) == ("Alice@Example.org", "scoring", ("local",))

        page.get_by_role("link", name="Home", exact=True).click()
        expect(page.get_by_role("button", name="Paste", exact=True)).to_be_disabled()
        settled(page)
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_text("You are signed out")).to_be_visible()
        assert eventually(lambda: not of_sessions(engine))
        expect(page.get_by_role("link", name=f"Sign out at localhost:{provider.port} too")).to_be_visible()
        page.get_by_role("link", name="Sign in").click()
        expect(page.get_by_role("link", name="Sign in with")).to_be_visible()


def test_the_way_to_the_provider_is_safe(visitor: httpx.Client, provider: OpenIdProvider, started: Started) -> None:
    answer = visitor.get("/sign-in/start?next=/score")
    address = httpx.URL(answer.headers["location"])
    assert str(address).startswith(f"{provider.issuer}/authorize?")
    sent = dict(address.params)
    assert sent.keys() == {
        *("response_type", "client_id", "redirect_uri", "scope", "state", "nonce"),
        *("code_challenge", "code_challenge_method"),
    }
    assert sent["redirect_uri"] == f"{started.base_url}/sign-in/callback"
    assert (sent["client_id"], sent["code_challenge_method"]) == (CLIENT, "S256")
    assert dict(httpx.URL(away_to(visitor, "?choose=1")).params)["prompt"] == "select_account"
    cookie = answer.headers["set-cookie"].lower()
    assert ["httponly" in cookie, "samesite=lax" in cookie, "path=/sign-in" in cookie] == [True] * 3
    assert "max-age=600" in cookie
    assert not is_in(visitor)
    assert sign_in(visitor, "?next=/score").text.count('content="0;url=/score"') == 1
    assert is_in(visitor)


# Named, not computed: the names of tests must be the same in every process of a session.
AN_HOUR_AGO, IN_AN_HOUR = "an hour ago", "in an hour"
AGES_AGO = "ages ago"


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"aud": "another-client"},
        {"aud": ["another-client"], "azp": CLIENT},
        {"aud": [CLIENT, "another-client"], "azp": "another-client"},
        {"aud": None},
        {"iss": "https://evil.example"},
        {"iss": None},
        {"exp": AN_HOUR_AGO},
        {"exp": None},
        {"exp": "tomorrow"},
        {"iat": IN_AN_HOUR},
        {"iat": AN_HOUR_AGO},
        {"iat": AGES_AGO},
        {"iat": None},
        {"nbf": IN_AN_HOUR},
        {"sub": None},
        {"sub": ["a-1"]},
        {"sub": ""},
        {"at_hash": "not-the-hash"},
    ],
    ids=str,
)
def test_a_wrong_claim_signs_nobody_in(visitor: httpx.Client, provider: OpenIdProvider, claims: dict[str, Any]) -> None:
    offsets = {AN_HOUR_AGO: -3_600, IN_AN_HOUR: 3_600, AGES_AGO: -(10**400)}
    now = int(time.time())
    provider.claims = {
        name: now + offsets[value] if isinstance(value, str) and value in offsets else value
        for name, value in claims.items()
    }
    answer = sign_in(visitor)
    assert (answer.status_code, "could not be verified" in answer.text) == (403, True)
    assert not is_in(visitor)


def test_a_token_of_another_signer_signs_nobody_in(visitor: httpx.Client, provider: OpenIdProvider) -> None:
    for algorithm in ("none", "HS256"):
        provider.algorithm = algorithm
        assert "could not be verified" in sign_in(visitor).text
    provider.algorithm, provider.forge_with = "RS256", provider.key.generate_key(2048)
    assert "could not be verified" in sign_in(visitor).text
    assert not is_in(visitor)


def test_a_key_that_the_provider_has_changed_is_fetched(visitor: httpx.Client, provider: OpenIdProvider) -> None:
    before = provider.key
    assert sign_in(visitor).status_code == 200
    provider.rotate()
    assert sign_in(visitor).status_code == 200
    provider.forge_with = before
    assert sign_in(visitor).status_code == 403


def test_an_answer_counts_once_for_its_asker(visitor: httpx.Client, provider: OpenIdProvider, started: Started) -> None:
    address = back_from(away_to(visitor))
    cookie = dict(visitor.cookies)
    with httpx.Client(base_url=started.base_url, trust_env=False) as stranger:
        assert "in another browser" in stranger.get(address).text
        away_to(stranger)
        assert stranger.get(address).status_code == 403
        assert not is_in(stranger)
    changed = httpx.URL(address).copy_set_param("state", "guess")
    assert visitor.get(changed, headers={"Cookie": _header(cookie)}).status_code == 403
    asked = len(provider.paths)
    assert visitor.get(address, headers={"Cookie": _header(cookie)}).status_code == 200
    assert provider.paths[asked:] == ["/token", "/jwks"]
    assert visitor.get(address, headers={"Cookie": _header(cookie)}).status_code == 403
    assert len(provider.paths) == asked + 2

    code = httpx.URL(address).params["code"]
    replayed = httpx.URL(back_from(away_to(visitor))).copy_set_param("code", code)
    answer = visitor.get(replayed)
    assert (answer.status_code, "did not accept the sign-in: invalid_grant" in answer.text) == (403, True)
    assert "&lt;b&gt;here" in answer.text
    assert visitor.get("/sign-in/callback").status_code == 403


def test_two_tabs_sign_in_at_once_and_a_link_cancels_neither(visitor: httpx.Client, provider: OpenIdProvider) -> None:
    first, second = back_from(away_to(visitor, "?next=/score")), back_from(away_to(visitor, "?next=/batch"))
    linked = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    for query in ("", "?state=guess&code=guess", "?state=guess&error=access_denied"):
        assert visitor.get(f"/sign-in/callback{query}", headers=linked).status_code == 403
    visitor.get("/sign-in/start", headers=linked)
    assert 'content="0;url=/batch"' in visitor.get(second).text
    session = dict(visitor.cookies)
    assert 'content="0;url=/score"' in visitor.get(first).text
    # The tab that signed in first is still in.
    assert visitor.get("/_stcore/health", headers={"Cookie": _header(session)}).status_code == 200
    assert [name for name in visitor.cookies if "attempt" in name] == []


def test_another_site_does_not_start_a_sign_in(visitor: httpx.Client, provider: OpenIdProvider) -> None:
    navigating = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    answer = visitor.get("/sign-in/start", headers={"Sec-Fetch-Site": "cross-site", **navigating})
    assert (answer.status_code, "set-cookie" in answer.headers) == (200, False)
    assert "Sign in with" in answer.text
    foreign = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    assert visitor.post("/sign-in/start", headers=foreign).status_code == 403
    assert visitor.get("/sign-in/start", headers={"Host": "evil.example"}).status_code == 403
    assert visitor.post("/sign-in/start").status_code == visitor.post("/sign-in/callback").status_code == 405
    assert visitor.post("/sign-in", data={"token": "tba_x"}).status_code == 405


def test_who_signs_out_is_led_to_the_sign_out_of_the_provider(visitor: httpx.Client, provider: OpenIdProvider) -> None:
    sign_in(visitor)
    linked = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    answer = visitor.get("/sign-in/out", headers=linked)
    assert (answer.status_code, "Sign out at localhost" in answer.text) == (200, True)
    assert is_in(visitor)
    session = dict(visitor.cookies)
    answer = visitor.get("/sign-in/out")
    # No token of a person is in the address, and nothing that the operator must have registered.
    assert answer.headers["location"] == f"{provider.issuer}/logout?realm=people&client_id={CLIENT}"
    assert visitor.get("/_stcore/health", headers={"Cookie": _header(session)}).status_code == 401


def test_what_the_provider_refuses_is_said(visitor: httpx.Client, provider: OpenIdProvider) -> None:
    state = httpx.URL(away_to(visitor)).params["state"]
    refusal = {"error": "access_denied", "error_description": "<script>alert(1)</script>", "state": state}
    refusal["iss"] = provider.issuer
    answer = visitor.get("/sign-in/callback", params=refusal)
    assert answer.status_code == 403
    assert "did not sign you in: access_denied" in answer.text
    assert ("<script>" in answer.text, "/sign-in/start" in answer.text) == (False, True)
    forged = visitor.get("/sign-in/callback", params={**refusal, "state": "guess", "error": "call +1 555"})
    assert "555" not in forged.text
    for issuers in ([], ["https://evil.example"], ["https://evil.example", provider.issuer], [""]):
        answered = httpx.URL(back_from(away_to(visitor)))
        named = {**answered.params, "iss": issuers}
        assert "could not be verified" in visitor.get(answered.copy_with(params=named)).text
    address = back_from(away_to(visitor))
    provider.away = True
    assert "does not answer" in visitor.get(address).text
    assert not is_in(visitor)


@pytest.mark.parametrize("path", ["/token", "/jwks", "/userinfo"])
def test_an_answer_without_end_is_not_read(visitor: httpx.Client, provider: OpenIdProvider, path: str) -> None:
    provider.claims = {"email": None}
    provider.endless = path
    answer = sign_in(visitor)
    assert answer.status_code == 403
    assert "sent more than 1 MB" in answer.text
    assert 0 < provider.sent < MUCH / 2
    assert not is_in(visitor)


def test_lists_in_lists_are_a_refusal_in_words(visitor: httpx.Client, provider: OpenIdProvider) -> None:
    provider.claims = {"email": None}
    for provider.nested in ("/token", "/jwks", "/userinfo"):
        answer = sign_in(visitor)
        assert answer.status_code == 403
        assert "could not be verified" in answer.text
        assert not is_in(visitor)


def test_only_a_verified_address_counts(visitor: httpx.Client, provider: OpenIdProvider, started: Started) -> None:
    for verified in (False, None, "true", 1):
        provider.claims = {"email_verified": verified}
        answer = sign_in(visitor)
        assert answer.status_code == 403
        assert "has not verified the address Alice@Example.org" in answer.text
    assert "<code>sub:a-1</code>" in answer.text
    (started.home / "people.toml").write_text(SCORING.replace("alice@example.org", "sub:a-1"))
    assert sign_in(visitor).status_code == 200
    assert is_in(visitor)


def test_an_address_may_come_from_userinfo_of_the_same_person(visitor: httpx.Client, provider: OpenIdProvider) -> None:
    provider.claims = {"email": None, "email_verified": None}
    provider.userinfo = {"sub": "b-2", "email": "alice@example.org", "email_verified": True}
    assert sign_in(visitor).status_code == 403
    provider.userinfo["sub"] = "a-1"
    assert sign_in(visitor).status_code == 200


def test_a_person_who_is_not_listed_is_sent_to_the_operator(visitor: httpx.Client, provider: OpenIdProvider) -> None:
    for address in ("<bob>@example.org", "alice@example.org.evil.example", "\u212aalice@example.org", "alice"):
        provider.person = {**provider.person, "email": address}
        answer = sign_in(visitor)
        assert answer.status_code == 403
        assert "may not use this workbench. Ask the operator to add you to people.toml." in answer.text
        assert "<bob>" not in answer.text
    assert "Use another account" in answer.text
    assert "choose=1" in answer.text
    assert not is_in(visitor)


def test_a_person_who_is_removed_or_changed_is_out_at_once(
    visitor: httpx.Client, provider: OpenIdProvider, started: Started, engine: Engine
) -> None:
    people = started.home / "people.toml"
    for changed in ("", SCORING.replace("scoring", "authoring"), SCORING.replace("local", "other")):
        people.write_text(SCORING)
        assert sign_in(visitor).status_code == 200
        assert is_in(visitor)
        people.write_text(SCORING + '\n["bob@example.org"]\nscope = "scoring"\nnamespaces = ["local"]\n')
        assert is_in(visitor)
        people.write_text(changed)
        assert not is_in(visitor)
    assert eventually(lambda: not of_sessions(engine))


def test_a_damaged_list_lets_nobody_in_and_names_its_line(
    visitor: httpx.Client, provider: OpenIdProvider, started: Started
) -> None:
    with httpx.Client(base_url=started.base_url, trust_env=False) as early:
        sign_in(early)
        (started.home / "people.toml").write_text(SCORING + '["bob@example.org"]\nscope = "all"\n')
        answer = sign_in(visitor)
        assert (answer.status_code, "sign-in does not work. Tell the operator" in answer.text) == (503, True)
        assert not is_in(visitor)
        assert is_in(early), "a file that is being edited signs nobody out"
    (started.home / "people.toml").unlink()
    assert "Ask the operator to add you" in sign_in(visitor).text


def test_an_operator_of_the_list_and_the_one_of_the_link_come_in(
    visitor: httpx.Client, provider: OpenIdProvider, started: Started, engine: Engine
) -> None:
    (started.home / "people.toml").write_text('["alice@example.org"]\noperator = true\n')
    assert sign_in(visitor).status_code == 200
    assert [(key.scope, key.namespaces) for key in of_sessions(engine)][-1] == ("authoring", ("local", "demo"))
    link, people = (not_none(started.process.stdout).readline().rstrip("\n") for _ in range(2))
    assert people == f"People who may sign in: {started.home / 'people.toml'}"
    match = re.search(r"/sign-in\?token=\S+$", link)
    assert match
    with httpx.Client(base_url=started.base_url, trust_env=False) as operator:
        wrong = operator.get("/sign-in?token=guess")
        assert (wrong.status_code, "sign-in link is out of date" in wrong.text) == (403, True)
        assert operator.get(match[0]).status_code == 303
        assert is_in(operator)


# ---- starts and the end; these stop what the others use --------------------------------------------------------------


def test_a_stop_leaves_no_key_of_a_session_and_no_secret_in_the_log(
    visitor: httpx.Client, provider: OpenIdProvider, started: Started, engine: Engine
) -> None:
    sign_in(visitor)
    assert of_sessions(engine)
    code, _, err = started.stop()
    assert code == 0
    assert not of_sessions(engine)
    damaged = next(line for line in err.splitlines() if "bob@example.org" in line)
    assert "Line 4, 'bob@example.org': scope must be scoring or authoring" in damaged
    assert "invalid_grant" in err
    for secret in (SECRET, "eyJ", "Bearer", "code="):
        assert secret not in err


def _header(cookies: dict[str, str]) -> str:
    return "; ".join(f"{name}={value}" for name, value in cookies.items())
