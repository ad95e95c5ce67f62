"""A bundle too large for the service's own process is imported by another: the same answers, the same model."""

import json
import threading
import time
from collections.abc import Callable, Iterator

import httpx
import pytest

from tests.bundles import material
from tests.bundles.material import Json
from tests.conftest import Service, Trained
from tests.patience import PATIENCE_S
from traitbench.contract.bundles import FORMAT
from traitbench.service.import_process import MIN_BYTES

TEXTS = 1_100  # of 5,000 characters each
PATH = "/v1/models/import"


@pytest.fixture(scope="module")
def large(trained: Trained) -> Json:
    """A trained model with more samples than it was trained with."""
    document = material.rich(json.loads(trained.client.models.export(trained.handle).model_dump_json()))
    document["samples"] += [
        material.sample(f"Letter {number}. " + "Thank you for it all. " * 225, "score_feedback") | {"pending": True}
        for number in range(TEXTS)
    ]
    return material.signed(document)


@pytest.fixture(scope="module")
def http(service: Service) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {service.issue(namespaces=('large',))}", "Content-Type": "application/json"}
    with httpx.Client(base_url=service.base_url, headers=headers, timeout=PATIENCE_S) as http:
        yield http


def test_it_comes_in_as_a_small_one_does_and_a_second_time_not(http: httpx.Client, large: Json) -> None:
    content = material.raw(large)
    assert len(content) > MIN_BYTES
    headers = {"Idempotency-Key": "large"}
    answer = http.post(PATH, params={"handle": "large.letters"}, content=content, headers=headers)
    assert answer.status_code == 201, answer.text
    assert (answer.json()["handle"], answer.json()["state"]) == ("large.letters", "ready")
    again = http.get("/v1/models/large.letters/export").json()
    assert again["activations"].pop()["cause"] == "import"
    same = {"handle", "sha256", "versions"}
    assert {**again, **dict.fromkeys(same)} == {**large, **dict.fromkeys(same)}
    assert http.post("/v1/models/large.letters/score", json={"content": "Thank you."}).status_code == 200

    repeated = http.post(PATH, params={"handle": "large.letters"}, content=content, headers=headers)
    assert (repeated.status_code, repeated.content) == (201, answer.content)
    answer = http.post(PATH, params={"handle": "large.letters"}, content=content)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "handle_taken")
    assert answer.json()["error"]["details"] == {"handle": "large.letters"}
    # Else the worker would learn all this feedback, for half a minute.
    assert http.delete("/v1/models/large.letters").status_code == 200


_KEY_TWICE = (lambda raw: raw[:-1] + b',"handle":"a.b"}', 400, "invalid_json", "twice")
_CHANGED = (lambda raw: raw.replace(b"Letter 7.", b"Letter X."), 422, "validation_failed", "sha256")


# One that is no JSON and one that is not valid; bundles of all sizes are spoilt in `test_bundle_mutations`.
@pytest.mark.parametrize(
    ("spoil", "status", "code", "says"),
    [_KEY_TWICE, _CHANGED],
    ids=["a key twice", "changed"],
)
def test_what_is_wrong_with_it_is_said_as_of_a_small_one(
    http: httpx.Client, large: Json, spoil: Callable[[bytes], bytes], status: int, code: str, says: str
) -> None:
    answer = http.post(PATH, params={"handle": "large.wrong"}, content=spoil(material.raw(large)))
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), answer.text[:500]
    assert says in answer.json()["error"]["message"]
    assert answer.headers["x-request-id"]
    assert http.get("/v1/models/large.wrong").status_code == 404


@pytest.mark.soak
def test_values_that_fill_the_memory_are_refused_and_the_service_answers_meanwhile(
    http: httpx.Client, service: Service
) -> None:
    tiny = b'{"format":"%s","samples":[' % FORMAT.encode() + b"[]," * 13_000_000 + b"[]]}"
    answers: list[httpx.Response] = []
    importing = threading.Thread(target=lambda: answers.append(http.post(PATH, content=tiny)))
    importing.start()
    slowest = 0.0
    with httpx.Client(base_url=service.base_url) as other:
        while importing.is_alive():
            began = time.perf_counter()
            assert other.get("/v1/health").status_code == 200
            slowest = max(slowest, time.perf_counter() - began)
            time.sleep(0.1)
    [answer] = answers
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "body_too_large"), answer.text
    assert "memory" in answer.json()["error"]["message"]
    assert slowest < 2.0  # parsed in the service's own process it was 6 s
