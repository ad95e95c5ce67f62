"""What stops a start with an OpenID provider, where its answer goes, and what the end of a session does."""

import asyncio
import logging
import ssl
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request

from tests.app.openid_provider import MUCH, OpenIdProvider, providing
from tests.app.processes import run
from tests.conftest import Service, free_port
from traitbench.client import Traitbench
from traitbench.errors import InsufficientScope, Unauthenticated
from traitbench.operations import keys
from traitbench.settings import SettingInvalid, Settings, read_settings
from traitbench_app.process.openid import OpenId, ProviderFailed, discover
from traitbench_app.process.sign_in import SignIn
from traitbench_app.shell.people import OPERATOR, Person, Sessions


@pytest.fixture(scope="module")
def provider() -> Iterator[OpenIdProvider]:
    with providing() as provider:
        yield provider


@pytest.fixture
def with_provider(provider: OpenIdProvider, tmp_path: Path) -> Settings:
    return read_settings({**provider.environment, "TRAITBENCH_HOME": str(tmp_path)})


@pytest.mark.parametrize("name", ["issuer", "client_id", "client_secret"])
def test_a_setting_that_is_missing_stops_the_start(with_provider: Settings, name: str) -> None:
    missing: dict[str, Any] = {f"oidc_{name}": None}
    with pytest.raises(SettingInvalid, match=f"TRAITBENCH_OIDC_{name.upper()}, which is not set"):
        discover(replace(with_provider, **missing))


def test_another_service_has_no_keys_for_sessions(with_provider: Settings) -> None:
    with pytest.raises(SettingInvalid, match="TRAITBENCH_API_URL names another"):
        OpenId(replace(with_provider, api_url="https://traitbench.example.org"))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ({"issuer": "https://evil.example"}, "names the issuer 'https://evil.example'"),
        ({"token_endpoint": "http://evil.example/token"}, "no usable token_endpoint"),
        ({"jwks_uri": None}, "no usable jwks_uri"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "no usable authorization_endpoint"),
        ({"userinfo_endpoint": 1}, "no usable userinfo_endpoint"),
    ],
)
def test_a_provider_that_describes_itself_wrongly_stops_the_start(
    with_provider: Settings, provider: OpenIdProvider, monkeypatch: pytest.MonkeyPatch, text: dict[str, Any], why: str
) -> None:
    document = {**provider.discovery(), **text}
    monkeypatch.setattr(provider, "discovery", lambda: document)
    with pytest.raises(SettingInvalid, match="TRAITBENCH_OIDC_ISSUER") as refusal:
        discover(with_provider)
    assert why in str(refusal.value)


def test_a_provider_that_is_away_stops_the_start_in_a_sentence(provider: OpenIdProvider, tmp_path: Path) -> None:
    nowhere = {**provider.environment, "TRAITBENCH_OIDC_ISSUER": f"http://127.0.0.1:{free_port()}"}
    code, out, err = run(tmp_path, **nowhere)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "TRAITBENCH_OIDC_ISSUER is http://127.0.0.1" in err
    assert "cannot be reached" in err


def test_a_description_without_end_is_not_read(with_provider: Settings, provider: OpenIdProvider) -> None:
    provider.endless = "/.well-known/openid-configuration"
    with pytest.raises(SettingInvalid, match="sends more than 1 MB"):
        discover(with_provider)
    assert 0 < provider.sent < MUCH / 4
    provider.behave()


def test_a_description_of_lists_in_lists_stops_the_start_in_a_sentence(
    with_provider: Settings, provider: OpenIdProvider
) -> None:
    provider.nested = "/.well-known/openid-configuration"
    with pytest.raises(SettingInvalid, match="is not JSON"):
        discover(with_provider)
    provider.behave()


def test_the_path_of_an_issuer_counts(with_provider: Settings, provider: OpenIdProvider) -> None:
    assert discover(replace(with_provider, oidc_issuer=f"{provider.issuer}/")).issuer == provider.issuer
    with pytest.raises(SettingInvalid, match="answers with status 404"):
        discover(replace(with_provider, oidc_issuer=f"{provider.issuer}/realm"))


def test_behind_a_proxy_the_answer_comes_to_the_address_that_is_set(with_provider: Settings) -> None:
    def redirect_uri(openid: OpenId) -> str:
        started = asyncio.run(openid.begin("http://127.0.0.1:8501", "/", choose=False))
        return httpx.URL(started.url).params["redirect_uri"]

    assert redirect_uri(OpenId(with_provider)) == "http://127.0.0.1:8501/sign-in/callback"
    named = replace(with_provider, oidc_redirect_url="https://bench.example.org/")
    assert redirect_uri(OpenId(named)) == "https://bench.example.org/sign-in/callback"


def test_an_attempt_reads_no_certificates(with_provider: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    openid = OpenId(with_provider)
    monkeypatch.setattr(ssl, "create_default_context", None)
    started = asyncio.run(openid.begin("http://127.0.0.1:8501", "/", choose=False))
    assert started.url.startswith(f"{openid.provider.issuer}/authorize?")


def test_an_address_may_begin_so_many_sign_ins_a_minute(with_provider: Settings) -> None:
    door = SignIn(Starlette(), with_provider, secret="s" * 40, openid=OpenId(with_provider))

    async def statuses(address: str, times: int) -> list[tuple[int, str | None]]:
        transport = httpx.ASGITransport(door, client=(address, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8501") as client:
            answers = [await client.get("/sign-in/start") for _ in range(times)]
        return [(each.status_code, each.headers.get("Retry-After")) for each in answers]

    assert asyncio.run(statuses("192.0.2.1", 301)) == [(303, None)] * 300 + [(429, "60")]
    assert asyncio.run(statuses("192.0.2.2", 1)) == [(303, None)]


def test_a_browser_has_so_many_attempts_at_once(with_provider: Settings) -> None:
    openid, cookies = OpenId(with_provider), {"of_another_program": "x"}
    for _ in range(30):
        started = asyncio.run(openid.begin("http://127.0.0.1:8501", "/", choose=False))
        for name in openid.surplus(cookies):
            del cookies[name]
        cookies[started.cookie] = started.secret
    assert len(cookies) == 9
    newest = OpenId(with_provider)
    assert sorted(newest.surplus(cookies)) == sorted(cookies.keys() - {"of_another_program"})


@pytest.mark.parametrize("offered", [None, 1, "", "javascript:alert(1)", "http://evil.example/logout"])
def test_a_provider_without_a_usable_sign_out_is_left_alone(
    with_provider: Settings, provider: OpenIdProvider, monkeypatch: pytest.MonkeyPatch, offered: object
) -> None:
    document = {**provider.discovery(), "end_session_endpoint": offered}
    monkeypatch.setattr(provider, "discovery", lambda: document)
    openid = OpenId(with_provider)
    assert openid.provider.sign_out is None
    door = SignIn(Starlette(), with_provider, secret="s" * 40, openid=openid)

    async def left() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(door), base_url="http://127.0.0.1:8501") as client:
            assert "Sign out" not in (await client.get("/sign-in")).text
            return await client.get("/sign-in/out")

    assert asyncio.run(left()).headers["location"] == "/sign-in"


def test_a_provider_that_does_not_name_itself_need_not(
    with_provider: Settings, provider: OpenIdProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = {**provider.discovery(), "authorization_response_iss_parameter_supported": False}
    monkeypatch.setattr(provider, "discovery", lambda: document)
    request = Request({"type": "http", "query_string": b"error=access_denied", "headers": []})
    with pytest.raises(ProviderFailed, match="did not sign you in: access_denied"):
        asyncio.run(discover(with_provider).finish(request))


def test_no_secret_of_an_attempt_is_logged(with_provider: Settings, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        asyncio.run(OpenId(with_provider).begin("http://127.0.0.1:8501", "/", choose=False))
    assert "verifier" not in caplog.text


def test_a_session_ends_once_when_its_person_may_not_come_in_any_more() -> None:
    allowed, ended = [True], list[int]()
    forgotten: list[Person] = []
    sessions = Sessions()
    sessions.when_ended(forgotten.append)
    tokens = [sessions.begin(OPERATOR, lasts=lambda: allowed[0], ended=lambda: ended.append(1)) for _ in range(3)]
    other = sessions.begin(OPERATOR)
    assert [sessions.find(each) for each in tokens] == [OPERATOR] * 3
    sessions.sweep()
    assert not ended
    sessions.end(tokens[0])
    sessions.end(tokens[0])
    assert len(ended) == 1
    allowed[0] = False
    assert (sessions.find(tokens[1]), len(ended)) == (None, 2)
    sessions.sweep()
    assert (len(ended), len(forgotten)) == (3, 3)
    assert sessions.find(other) is OPERATOR
    sessions.end_all()
    assert (sessions.find(other), len(forgotten)) == (None, 4)


def test_sign_ins_of_one_person_end_nobody_elses_session() -> None:
    sessions = Sessions()
    operator, ann = sessions.begin(OPERATOR), sessions.begin(Person("ann", "Ann", "scoring"))
    many = [sessions.begin(Person("bob", "Bob", "scoring")) for _ in range(1_200)]
    assert sum(sessions.find(each) is not None for each in many) == 100
    assert all(sessions.find(each) for each in (operator, ann, many[-1]))
    # Eleven more do the same: those who have most lose theirs.
    for person in range(11):
        for _ in range(100):
            sessions.begin(Person(f"{person}", "Many", "scoring"))
    assert all(sessions.find(each) for each in (operator, ann))


def test_the_key_of_a_session_is_enforced_by_the_service_and_ends_with_it(service: Service, namespace: str) -> None:
    engine, day = service.context.engine, timedelta(days=1)
    programs = keys.create(engine, scope="scoring", namespaces=[namespace], name="session_x")
    begin = partial(
        keys.create_for_session, engine, person="ann", scope="scoring", namespaces=[namespace], name="ann@example.org"
    )
    first, second = begin(longest=day), begin(longest=day)
    with Traitbench(service.base_url, second.secret) as client:
        again = client.me()
    with Traitbench(service.base_url, first.secret) as client:
        me = client.me()
        assert (me.person, me.name, me.key_id) == ("ann", "ann@example.org", first.key.id)
        assert (again.person, again.key_id) == ("ann", second.key.id)
        assert list(client.models.list(namespace=namespace)) == []
        with pytest.raises(InsufficientScope):
            client.models.create(f"{namespace}.crafted")
        keys.remove(engine, first.key.id)
        with pytest.raises(Unauthenticated):
            client.models.list(namespace=namespace)
    # What a crash has left is deleted once no session can be so old; keys of programs stay.
    third = begin(longest=timedelta(0))
    left = {key.id for key in keys.every(engine).items()}
    assert {first.key.id, second.key.id, third.key.id, programs.key.id} & left == {third.key.id, programs.key.id}
    keys.remove(engine, third.key.id)
