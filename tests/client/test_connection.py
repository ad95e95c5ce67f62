"""What the client makes of good and bad weather. The transport is scripted; nothing else is."""

import json
import ssl
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from tests.client.bundle import BUNDLE, BUNDLE_BYTES
from tests.client.weather import HEALTHY, Answer, Weather, envelope
from traitbench.client import Traitbench
from traitbench.client._sync import versions
from traitbench.contract.models import VersionRetentionPolicy
from traitbench.contract.traits import TraitInput
from traitbench.errors import (
    BodyTooLarge,
    DuplicateRun,
    InternalError,
    ModelArchived,
    ModelNotFound,
    NotFound,
    TraitbenchError,
    Unauthenticated,
    Unreachable,
    ValidationFailed,
)

PAGE = httpx.Response(200, html="<!doctype html><title>Streamlit</title>")


@pytest.fixture
def under() -> Iterator[Callable[..., tuple[Traitbench, Weather]]]:
    """A client under a weather."""
    clients: list[Traitbench] = []

    def make(*answers: Answer) -> tuple[Traitbench, Weather]:
        weather = Weather(*answers)
        clients.append(Traitbench("http://service.test/v1/", api_key=" tb_key\n", transport=weather))
        return clients[-1], weather

    yield make
    for client in clients:
        client.close()


Under = Callable[..., tuple[Traitbench, Weather]]


def test_the_address_may_end_in_v1_and_the_key_travels_as_a_bearer(under: Under) -> None:
    client, weather = under(HEALTHY)
    client.health()
    assert str(weather.asked[0].url) == "http://service.test/v1/health"
    assert weather.asked[0].headers["Authorization"] == "Bearer tb_key"


def test_the_key_is_in_no_representation(under: Under) -> None:
    client, _ = under(HEALTHY)
    assert repr(client) == "Client('http://service.test')"


def test_an_envelope_becomes_the_error_of_its_code(under: Under) -> None:
    client, _ = under(envelope("duplicate_run", 409, headers={"X-Run-Id": "run_7"}, field="effort"))
    with pytest.raises(DuplicateRun) as caught:
        client.models.train("a.b")
    error = caught.value
    assert (error.message, error.request_id) == ("It is duplicate_run.", "req_1")
    assert (error.details, error.headers) == ({"field": "effort"}, {"X-Run-Id": "run_7"})


@pytest.mark.parametrize(
    ("code", "status", "error"),
    [
        ("unauthenticated", 401, Unauthenticated),
        ("model_not_found", 404, ModelNotFound),
        ("body_too_large", 413, BodyTooLarge),
        ("internal_error", 500, InternalError),
        ("code_of_a_newer_service", 404, NotFound),
    ],
)
def test_every_code_has_its_class_and_an_unknown_one_that_of_its_status(
    under: Under, code: str, status: int, error: type[TraitbenchError]
) -> None:
    client, _ = under(envelope(code, status))
    with pytest.raises(error):
        client.models.get("a.b")


@pytest.mark.parametrize(
    "answer",
    [
        PAGE,
        httpx.Response(404, html="<h1>Not found</h1>"),
        httpx.Response(401, text="login first"),
        httpx.Response(302, headers={"Location": "/login"}),
        httpx.Response(200, content=b"{}"),
    ],
)
def test_what_is_not_this_service_is_unreachable(under: Under, answer: httpx.Response) -> None:
    client, _ = under(answer)
    with pytest.raises(Unreachable, match="is not Traitbench") as caught:
        client.models.get("a.b")
    assert caught.value.details == {"base_url": "http://service.test"}


def test_json_of_another_shape_is_unreachable_and_not_a_parsing_error(under: Under) -> None:
    client, _ = under(httpx.Response(200, json={"hello": "world"}))
    with pytest.raises(Unreachable, match="same release"):
        client.models.get("a.b")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda c: c.traits.add("a.b", [TraitInput(name="X"), {"name": "Y"}]),
            r"traits\[1\]: a TraitInput is needed",
        ),
        (lambda c: c.traits.add("a.b", {"name": "Y"}), r"traits: a list of TraitInput is needed, not dict\."),
        (lambda c: c.traits.add("a.b", TraitInput(name="X")), "traits: a list of TraitInput is needed, not TraitInput"),
        (lambda c: c.traits.add("a.b", None), "traits: a list of TraitInput is needed, not NoneType"),
        (lambda c: c.samples.add("a.b", "Thanks."), "samples: a list of SampleInput is needed, not str"),
        (lambda c: c.samples.add("a.b", [{"text": "X"}]), r"not dict\. Write SampleInput\(\*\*fields\)"),
        (lambda c: c.samples.apply("a.b", adds=[{"text": "X"}]), r"adds\[0\]: a SampleInput is needed, not dict"),
        (lambda c: c.samples.apply("a.b", updates=[7]), r"updates\[0\]: a SampleEdit is needed, not int\.$"),
        (lambda c: c.samples.apply("a.b", deletes=["7"]), r"deletes\[0\]: a SampleRemoval is needed, not str"),
    ],
)
def test_values_of_another_type_are_named_before_anything_is_sent(
    under: Under, call: Callable[[Any], object], sentence: str
) -> None:
    client, weather = under(HEALTHY)
    with pytest.raises(TypeError, match=sentence):
        call(client)
    assert weather.asked == []


Asked = tuple[str, object, Callable[[Traitbench], object]]
ASKED: list[Asked] = [
    ("POST /v1/models/a.b/traits/discover", {"effort": "xhigh"}, lambda c: c.traits.discover("a.b", effort="xhigh")),
    ("POST /v1/models/a.b/traits/discover", {"effort": None}, lambda c: c.traits.discover("a.b")),
    (
        "POST /v1/models/a.b/samples/synthesize",
        {"synth_type": "diversify", "effort": "low"},
        lambda c: c.samples.synthesize("a.b", synth_type="diversify", effort="low"),
    ),
    (
        "POST /v1/models/a.b/train",
        {"effort": None, "reoptimize_params": True},
        lambda c: c.models.train("a.b", reoptimize_params=True),
    ),
    (
        "PATCH /v1/models/a.b",
        {"zero_data_retention": True, "version_retention_policy": None},
        lambda c: c.models.update("a.b", zero_data_retention=True, version_retention_policy=None),
    ),
    (
        "PATCH /v1/models/a.b",
        {"version_retention_policy": {"keep_unnamed": 3, "keep_first_of_month": True}},
        lambda c: c.models.update("a.b", version_retention_policy=VersionRetentionPolicy(keep_unnamed=3)),
    ),
    (
        "POST /v1/models/a.b%40v2/score",
        {"content": "text", "feedback": {"warmth": "good", "Clear": 0.5}},
        lambda c: c.scores.score("a.b@v2", "text", feedback={"warmth": "good", "Clear": 0.5}),
    ),
    ("POST /v1/models/a.b/score", {"content": "text"}, lambda c: c.scores.score("a.b", "text")),
    (
        "POST /v1/models/a.b%40best/compare",
        {"a": "one", "b": "two", "traits": ["warmth"]},
        lambda c: c.scores.compare("a.b@best", "one", "two", traits=("warmth",)),
    ),
    (
        "POST /v1/versions/compare",
        {"a": "a.b@best", "b": "c.d", "traits": ["warmth"], "texts": ["one", "two"]},
        lambda c: c.versions.compare("a.b@best", "c.d", texts=("one", "two"), traits=("warmth",)),
    ),
    ("POST /v1/versions/compare", {"a": "a.b", "b": "c.d"}, lambda c: c.versions.compare("a.b", "c.d")),
    (
        "POST /v1/versions/compare",
        {"a": "a.b", "b": "c.d", "texts": ["one"], "explain": True},
        lambda c: c.versions.compare("a.b", "c.d", texts=["one"], explain=True),
    ),
    ("POST /v1/extract", {"url": "https://x.test/a"}, lambda c: c.extract("https://x.test/a")),
    ("GET /v1/models/a.b/export", None, lambda c: c.models.export("a.b")),
    ("POST /v1/models/import?handle=c.d", json.loads(BUNDLE_BYTES), lambda c: c.models.import_(BUNDLE, handle="c.d")),
]


@pytest.mark.parametrize(("asked", "body", "call"), ASKED)
def test_every_operation_asks_what_the_contract_says(
    under: Under, asked: str, body: object, call: Callable[[Traitbench], object]
) -> None:
    client, weather = under(envelope("model_archived", 409))
    with pytest.raises(ModelArchived):
        call(client)
    [request] = weather.asked
    assert f"{request.method} {request.url.raw_path.decode()}" == asked
    assert (json.loads(request.content) if request.content else None) == body
    assert request.headers["Accept"] == "application/json"


def test_a_model_card_must_be_markdown_and_is_read_again_in_bad_weather(under: Under) -> None:
    card = httpx.Response(200, content="# Töne\n", headers={"Content-Type": "text/markdown; charset=utf-8"})
    client, weather = under(httpx.ConnectError("refused"), card)
    assert client.models.card("a.b") == "# Töne\n"
    assert [request.headers["Accept"] for request in weather.asked] == ["text/markdown"] * 2
    client, _ = under(PAGE)
    with pytest.raises(Unreachable, match="is not Traitbench"):
        client.models.card("a.b")


def test_later_texts_are_compared_by_the_versions_that_compared_the_first(
    under: Under, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(versions, "MOST_TEXTS", 1)
    changed = dict.fromkeys(("samples", "held_out", "unrecorded", "encoder"))
    changed |= {name: [] for name in ("traits_added", "traits_removed", "traits_changed", "parameters")}
    line = {"index": 0, "traits": {}, "composite": {"a": 1, "b": 2, "delta": 1}}
    answer = {
        **{
            "a": {"handle": "a.b", "version_no": 3, "param_hash": ""},
            "verdict": "unknown",
            "reason": "Not known.",
        },
        **{
            "b": {"handle": "c.d", "version_no": 4, "param_hash": ""},
            "traits": {},
            "changed": changed,
            "texts": [line],
        },
    }
    client, weather = under(*(httpx.Response(200, json=answer) for _ in range(3)))
    compared = client.versions.compare("a.b", "c.d@best", texts=["one", "two", "three"])
    assert [each.index for each in compared.texts or ()] == [0, 1, 2]
    sent = [json.loads(request.content) for request in weather.asked]
    assert [(each["a"], each["b"]) for each in sent] == [("a.b", "c.d@best"), *[("a.b@v3", "c.d@v4")] * 2]
    assert [each["texts"] for each in sent] == [["one"], ["two"], ["three"]]


def test_a_comparison_can_be_a_chart(under: Under) -> None:
    client, weather = under(httpx.Response(200, text="warmth  40  55\n"))
    assert client.scores.compare_chart("a.b", "one", "two") == "warmth  40  55\n"
    assert weather.asked[0].headers["Accept"] == "text/plain"
    assert json.loads(weather.asked[0].content) == {"a": "one", "b": "two"}


def test_a_bundle_goes_back_as_it_came_whatever_its_numbers(under: Under) -> None:
    """What was null stays null, and what was not there stays away, or its sum would not fit."""
    client, weather = under(httpx.Response(200, content=BUNDLE_BYTES, headers={"Content-Type": "application/json"}))
    bundle = client.models.export("a.b")
    with pytest.raises(Unreachable):
        client.models.import_(bundle)
    assert json.loads(weather.asked[1].content) == json.loads(BUNDLE_BYTES)


def test_what_carries_a_whole_model_may_take_long(under: Under) -> None:
    client, weather = under(envelope("model_archived", 409))
    for call in (
        lambda: client.models.export("a.b"),
        lambda: client.models.import_(BUNDLE),
        lambda: client.models.get("a.b"),
    ):
        with pytest.raises(ModelArchived):
            call()
    assert [request.extensions["timeout"]["read"] for request in weather.asked] == [900, 900, 60]


def test_a_chart_must_be_plain_text(under: Under) -> None:
    client, weather = under(httpx.Response(200, text="clarity  ███\n"))
    assert client.scores.chart("a.b", "text", traits=["clarity"]) == "clarity  ███\n"
    assert weather.asked[0].headers["Accept"] == "text/plain"
    assert json.loads(weather.asked[0].content) == {"content": "text", "traits": ["clarity"]}
    client, _ = under(PAGE)
    with pytest.raises(Unreachable):
        client.scores.chart("a.b", "text")


@pytest.mark.parametrize("base_url", ["", "service", "ftp://service.test", "http://"])
def test_what_is_no_address_is_refused_before_anything_is_sent(base_url: str) -> None:
    with pytest.raises(Unreachable, match="is not the address of a service"):
        Traitbench(base_url)


def test_a_key_that_cannot_be_a_header_is_refused() -> None:
    with pytest.raises(Unauthenticated):
        Traitbench(api_key="tb_schlüssel")


@pytest.mark.parametrize("content", ["half a pair: \ud83d"])
def test_text_that_json_cannot_carry_is_refused_before_it_is_sent(under: Under, content: str) -> None:
    client, weather = under(HEALTHY)
    with pytest.raises(ValidationFailed):
        client.scores.score("a.b", content)
    assert weather.asked == []


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("a.b@v3", b"/v1/models/a.b%40v3"),
        ("a/../b", b"/v1/models/a%2F..%2Fb"),
        ("..", b"/v1/models/%2E%2E"),
        ("a?b#c d", b"/v1/models/a%3Fb%23c%20d"),
    ],
)
def test_a_name_stays_one_segment_of_the_path(under: Under, name: str, path: bytes) -> None:
    client, weather = under(envelope("invalid_handle", 422))
    with pytest.raises(TraitbenchError):
        client.models.get(name)
    assert weather.asked[0].url.raw_path == path


def test_parameters_that_were_not_given_are_not_sent(under: Under) -> None:
    client, weather = under(httpx.Response(200, json={"items": [], "limit": 50, "next_cursor": None}))
    client.models.list(state="ready", public=True)
    assert dict(weather.asked[0].url.params) == {"state": "ready", "limit": "50"}


def test_a_client_of_this_machine_reads_no_certificates_and_any_other_does(monkeypatch: pytest.MonkeyPatch) -> None:
    read = list[str]()
    real = ssl.create_default_context

    def watched(**given: Any) -> ssl.SSLContext:
        read.append("read")
        return real(**given)

    monkeypatch.setattr(ssl, "create_default_context", watched)
    Traitbench("http://127.0.0.1:1").close()
    assert read == []
    for address in ("https://127.0.0.1:1", "http://traitbench.example"):
        read.clear()
        Traitbench(address).close()
        assert read != [], address
