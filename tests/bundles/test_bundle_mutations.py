"""A real bundle, spoilt in one place and signed again: the service refuses it, or everything it serves goes on."""

import copy
import json
from collections.abc import Iterator

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.bundles import material
from tests.bundles.material import Json
from tests.conftest import Service, Trained
from tests.patience import PATIENCE_S
from tests.size import sized

CASES = sized(20, 2_000)
TEXT = {"content": "Thank you so much. Do not write to this office again."}
READS: list[tuple[str, str, Json | None, str]] = [
    ("GET", "", None, "application/json"),
    ("GET", "", None, "text/markdown"),
    ("GET", "/traits", None, "application/json"),
    ("GET", "/traits/warmth", None, "application/json"),
    ("GET", "/samples", None, "application/json"),
    ("GET", "/versions", None, "application/json"),
    ("GET", "/versions/active", None, "application/json"),
    ("GET", "/export", None, "application/json"),
    ("POST", "/score", TEXT, "application/json"),
    ("POST", "/score", TEXT | {"explain": True}, "application/json"),
    ("POST", "/score/batch", {"contents": ["Thank you.", "Go away."]}, "application/x-ndjson"),
    ("POST", "/compare", {"a": "Thank you.", "b": "Go away."}, "application/json"),
]


class Door:
    """The service's own HTTP, with a key of one namespace."""

    def __init__(self, http: httpx.Client, base: Json) -> None:
        self.http, self.base, self.made = http, base, 0

    def bring_in(self, result: Json) -> tuple[str, httpx.Response]:
        self.made += 1
        handle = f"mutations.m{self.made}"
        headers = {"Content-Type": "application/json"}
        path = f"/v1/models/import?handle={handle}"
        return handle, self.http.post(path, content=material.raw(result), headers=headers)


@pytest.fixture(scope="module")
def door(service: Service, trained_by_default: Trained) -> Iterator[Door]:
    bundle = trained_by_default.client.models.export(trained_by_default.handle)
    base = material.rich(json.loads(bundle.model_dump_json()))
    headers = {"Authorization": f"Bearer {service.issue(namespaces=('mutations',))}"}
    with httpx.Client(base_url=service.base_url, headers=headers, timeout=PATIENCE_S) as http:
        yield Door(http, base)


def _goes_on(door: Door, handle: str, what: str) -> None:
    """Every read of the model and the list that it is in."""
    page = door.http.get("/v1/models", params={"namespace": "mutations"}).json()
    assert handle in [model["handle"] for model in page["items"]], what
    assert "unreadable" not in page, what
    for method, path, body, accept in READS:
        answer = door.http.request(method, f"/v1/models/{handle}{path}", json=body, headers={"Accept": accept})
        assert answer.status_code == 200, (what, method, path, accept, answer.text[:500])
        assert path == "/export" or '"unreadable"' not in answer.text, (what, path)


def test_the_bundle_itself_comes_in_and_goes_out_again(door: Door) -> None:
    handle, answer = door.bring_in(door.base)
    assert answer.status_code == 201, answer.text
    _goes_on(door, handle, "as it is")
    again = door.http.get(f"/v1/models/{handle}/export").json()
    assert again["activations"].pop()["cause"] == "import"
    same = {"handle", "sha256", "versions"}
    assert {**again, **dict.fromkeys(same)} == {**door.base, **dict.fromkeys(same)}


@given(seed=st.integers(0, 2**32))
@settings(
    max_examples=CASES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_a_spoilt_bundle_is_refused_or_served(door: Door, seed: int) -> None:
    result, what = material.spoilt(door.base, seed)
    handle, answer = door.bring_in(result)
    assert answer.status_code in (201, 400, 409, 422), (what, answer.text[:500])
    if answer.status_code == 201:
        _goes_on(door, handle, what)
        assert door.http.delete(f"/v1/models/{handle}").status_code == 200
    else:
        assert len(answer.text) < 100_000, what
        assert answer.json()["error"]["message"], what


# ---- one by one; more is in `tests/operations/test_bundles.py` -------------------------------------------------------


@pytest.mark.parametrize(("place", "value"), [("traits.0.name", "a" * 201), ("versions.1.sample_count", 2**31)])
def test_a_value_beyond_its_bounds_is_refused_at_its_place(door: Door, place: str, value: object) -> None:
    document = copy.deepcopy(door.base)
    path = [int(part) if part.isdigit() else part for part in place.split(".")]
    material.at(document, tuple(path[:-1]))[path[-1]] = value
    _, answer = door.bring_in(material.signed(document))
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "validation_failed"), answer.text[:300]
    assert path in [error["loc"] for error in answer.json()["error"]["details"]["errors"]]


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("quartiles", {"positive": [90, 50, 60], "negative": [1, 2, 3]}, "quartiles must be in ascending order"),
        ("breaks", {"developing": 60, "solid": 40, "strong": 50}, "breaks must be in ascending order"),
        ("name", "a" * 201, "name: use 1 to 200"),
        ("offset", 1e30, "vector and offset: numbers from -1,000,000"),
        ("labels", {"vector": "AAAAAA==", "offset": 0.0}, "a vector has 4 bytes"),
        ("modes", {"other": None}, "a mode that the encoder does not have"),
        ("modes", {"layer6": "AAAAAA=="}, "vectors of 1 numbers"),
    ],
)
def test_a_snapshot_that_no_training_makes_is_refused(door: Door, field: str, value: object, says: str) -> None:
    document = copy.deepcopy(door.base)
    snapshot = document["versions"][1]["snapshot"]
    snapshot.pop("resemblance", None)  # its modes are those of the traits
    for trait in snapshot["traits"]:
        if field == "modes" and isinstance(value, dict):
            [(name, vector)] = value.items()
            old = trait["modes"]["layer6"]
            old.pop("labels", None)  # its vector is as long as that of the mode
            trait["modes"] = {name: old if vector is None else old | {"vector": vector}}
        else:
            trait[field] = value
    _, answer = door.bring_in(material.signed(document))
    assert answer.status_code == 422
    assert says in answer.text


@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_sources_keep_their_bound_however_they_come(door: Door, method: str) -> None:
    handle, _ = door.bring_in(door.base)
    path, fields = ("/v1/models", {"handle": f"{handle}-new"}) if method == "POST" else (f"/v1/models/{handle}", {})
    for sources, status in (([{"a": "b" * 60_000}], 2), ([{"a": "b" * 65_536}], 4), ([{"a": material.nested(30)}], 4)):
        answer = door.http.request(method, path, json=fields | {"upstream_sources": sources})
        assert answer.status_code // 100 == status, answer.text[:300]
        assert status == 2 or answer.json()["error"]["details"]["errors"][0]["loc"][0] == "upstream_sources"
