"""The table of error codes (core/docs/contract.md, section 1): each code by a request that earns it."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.contract.conftest import FAULT
from tests.contract.world import World
from traitbench.errors import TraitbenchError
from traitbench.operations import keys

ROWS: list[tuple[str, int, str, str, dict[str, Any]]] = [
    ("invalid_request", 400, "GET", "/v1/models", {"headers": {"Host": "a b"}}),
    ("invalid_json", 400, "POST", "/v1/models", {"raw": b"{"}),
    ("empty_body", 400, "POST", "/v1/models", {"raw": b""}),
    ("empty_body", 400, "POST", "/v1/models", {}),
    ("invalid_parameter", 400, "GET", "/v1/models?limit=0", {}),
    ("invalid_parameter", 400, "GET", "/v1/models/mine.draft?verbose=1", {}),
    *(
        ("invalid_parameter", 400, "GET", f"/v1/models/mine.draft/samples?held_out={bad}", {})
        for bad in ("", "1", "True", "yes", "null", "true&held_out=true")
    ),
    ("invalid_cursor", 400, "GET", "/v1/models?cursor=ours", {}),
    ("unauthenticated", 401, "GET", "/v1/models", {"key": None}),
    ("insufficient_scope", 403, "DELETE", "/v1/models/mine.draft", {"key": "scoring"}),
    ("namespace_forbidden", 403, "DELETE", "/v1/models/other.ready", {}),
    ("namespace_forbidden", 403, "GET", "/v1/models?namespace=other", {}),
    ("host_not_allowed", 403, "GET", "/v1/models", {"headers": {"Host": "evil.example"}}),
    ("origin_not_allowed", 403, "POST", "/v1/models", {"headers": {"Origin": "https://evil.example"}}),
    ("model_not_found", 404, "GET", "/v1/models/mine.absent", {}),
    ("trait_not_found", 404, "GET", "/v1/models/mine.draft/traits/absent", {}),
    ("trait_not_found", 404, "GET", "/v1/models/mine.draft/samples?trait=absent", {}),
    ("sample_not_found", 404, "DELETE", "/v1/models/mine.draft/samples/999999999", {}),
    ("sample_not_found", 404, "DELETE", "/v1/models/mine.draft/samples/one", {}),
    ("sample_not_found", 404, "DELETE", "/v1/models/mine.draft/samples/" + "9" * 40, {}),
    ("version_not_found", 404, "GET", "/v1/models/mine.ready/versions/v99", {}),
    ("version_not_found", 404, "GET", "/v1/models/mine.ready/versions/absent", {}),
    ("version_not_found", 404, "GET", "/v1/models/mine.draft/versions/active", {}),
    ("version_not_found", 404, "POST", "/v1/models/mine.ready@v99/score", {"json": {"content": "x"}}),
    ("version_not_found", 404, "POST", "/v1/versions/compare", {"json": {"a": "mine.ready", "b": "mine.ready@v99"}}),
    ("model_not_found", 404, "POST", "/v1/versions/compare", {"json": {"a": "mine.absent", "b": "mine.ready"}}),
    ("tag_not_found", 404, "DELETE", "/v1/models/mine.ready/versions/absent", {}),
    ("route_not_found", 404, "GET", "/v1/nothing", {}),
    ("method_not_allowed", 405, "PUT", "/v1/models", {}),
    ("not_acceptable", 406, "GET", "/v1/models", {"headers": {"Accept": "text/html"}}),
    ("not_acceptable", 406, "GET", "/v1/models/mine.ready", {"headers": {"Accept": "text/plain"}}),
    ("not_acceptable", 406, "POST", "/v1/models/mine.ready/score", {"headers": {"Accept": "image/png"}}),
    ("not_acceptable", 406, "POST", "/v1/models/mine.ready/score/batch", {"headers": {"Accept": "application/json"}}),
    ("not_acceptable", 406, "POST", "/v1/models/mine.ready/compare", {"headers": {"Accept": "text/markdown"}}),
    ("handle_taken", 409, "POST", "/v1/models", {"json": {"handle": "mine.draft"}}),
    ("handle_taken", 409, "POST", "/v1/models", {"json": {"handle": "mine.archived"}}),
    ("model_not_draft", 409, "DELETE", "/v1/models/mine.ready/traits/tone", {}),
    ("model_busy", 409, "DELETE", "/v1/models/mine.busy/traits/tone", {}),
    ("model_archived", 409, "PATCH", "/v1/models/mine.archived", {"json": {"description": "x"}}),
    ("model_not_trained", 409, "POST", "/v1/models/mine.draft/score", {"json": {"content": "x"}}),
    ("model_not_trained", 409, "POST", "/v1/models/mine.draft/versions/best", {}),
    ("model_not_trained", 409, "POST", "/v1/models/mine.draft/score/batch", {"json": {"contents": ["x"]}}),
    ("model_not_trained", 409, "POST", "/v1/models/mine.draft/compare", {"json": {"a": "x", "b": "y"}}),
    ("handle_taken", 409, "POST", "/v1/models/mine.ready/fork", {"json": {"handle": "mine.archived"}}),
    ("promotion_conflict", 409, "POST", "/v1/models/mine.ready/promote", {"json": {"from": "mine.silent"}}),
    ("validation_failed", 422, "POST", "/v1/models/mine.ready/promote", {"json": {"from": "mine.ready"}}),
    ("model_not_trained", 409, "POST", "/v1/versions/compare", {"json": {"a": "mine.ready", "b": "mine.draft"}}),
    ("duplicate_run", 409, "POST", "/v1/models/mine.discovered/traits/discover", {"json": {"effort": "low"}}),
    ("samples_purged", 409, "POST", "/v1/models/mine.silent/train", {"json": {"reoptimize_params": True}}),
    (
        "feature_unavailable",
        409,
        "POST",
        "/v1/models/mine.silent/score",
        {"json": {"content": "x", "feedback": {"tone": "good"}}},
    ),
    ("feature_unavailable", 409, "POST", "/v1/models/mine.discovered/train", {"json": {"encoder": "ngrams"}}),
    *(
        ("feature_unavailable", 409, "POST", f"/v1/models/mine.draft/{path}", {"json": {"language_model": True}})
        for path in ("traits/discover", "samples/synthesize")
    ),
    ("body_too_large", 413, "POST", "/v1/models", {"raw": b" " * 100_000}),
    ("unsupported_media_type", 415, "POST", "/v1/models", {"data": {"handle": "mine.z"}}),
    ("validation_failed", 422, "POST", "/v1/models", {"json": {"handle": "mine.z", "max_depth": 4}}),
    ("validation_failed", 422, "PATCH", "/v1/models/mine.draft", {"json": {"state": "ready"}}),
    ("validation_failed", 422, "POST", "/v1/models/mine.draft/train", {"json": {"effort": "xhigh"}}),
    (
        "validation_failed",
        422,
        "POST",
        "/v1/models/mine.ready/score",
        {"json": {"content": "x", "traits": ["absent"]}},
    ),
    (
        "validation_failed",
        422,
        "POST",
        "/v1/models/mine.ready/compare",
        {"json": {"a": "x", "b": "y", "traits": ["absent"]}},
    ),
    (
        "validation_failed",
        422,
        "POST",
        "/v1/versions/compare",
        {"json": {"a": "mine.ready", "b": "mine.ready", "traits": ["absent"]}},
    ),
    (
        "validation_failed",
        422,
        "POST",
        "/v1/models/mine.ready/score",
        {"json": {"content": "x", "feedback": {"tone": "so so"}}},
    ),
    (
        "validation_failed",
        422,
        "PATCH",
        "/v1/models/mine.draft",
        {"json": {"version_retention_policy": {"keep_unnamed": -1}}},
    ),
    ("validation_failed", 422, "POST", "/v1/models/mine.draft/traits/discover", {"json": {"effort": "huge"}}),
    ("validation_failed", 422, "POST", "/v1/models/mine.draft/samples/synthesize", {"json": {"effort": "huge"}}),
    ("validation_failed", 422, "POST", "/v1/models/import", {"json": {}}),
    ("validation_failed", 422, "POST", "/v1/extract", {"json": {"url": " "}}),
    ("invalid_handle", 422, "POST", "/v1/models", {"json": {"handle": "Mine.z"}}),
    ("invalid_handle", 422, "GET", "/v1/models/mine", {}),
    ("invalid_handle", 422, "POST", "/v1/versions/compare", {"json": {"a": "mine.ready", "b": "mine"}}),
    ("invalid_tag", 422, "POST", "/v1/models/mine.ready/versions/v7", {}),
    ("invalid_tag", 422, "POST", "/v1/models/mine.ready/versions/active", {}),
    ("unsupported_kind", 422, "POST", "/v1/models", {"json": {"handle": "mine.z", "kind": "retrieval"}}),
    (
        "unsupported_scoring_method",
        422,
        "POST",
        "/v1/models",
        {"json": {"handle": "mine.z", "scoring_method": "cosine"}},
    ),
    ("unsupported_scoring_method", 422, "PATCH", "/v1/models/mine.draft", {"json": {"scoring_method": "cosine"}}),
    (
        "unsupported_synth_type",
        422,
        "POST",
        "/v1/models/mine.draft/samples/synthesize",
        {"json": {"synth_type": "enrich"}},
    ),
    ("insufficient_samples", 422, "POST", "/v1/models/mine.empty/train", {}),
    ("insufficient_samples", 422, "POST", "/v1/models/mine.empty/traits/discover", {}),
    (
        "insufficient_samples",
        422,
        "POST",
        "/v1/models/mine.empty/samples/synthesize",
        {"json": {"synth_type": "diversify"}},
    ),
    ("url_not_fetchable", 422, "POST", "/v1/extract", {"json": {"url": "http://127.0.0.1:8501/v1/health"}}),
    ("url_not_fetchable", 422, "POST", "/v1/extract", {"json": {"url": "file:///etc/passwd"}}),
    ("url_not_fetchable", 422, "POST", "/v1/models/mine.ready/score", {"json": {"content": "https://nowhere.example"}}),
    (
        "url_not_fetchable",
        422,
        "POST",
        "/v1/models/mine.ready/compare",
        {"json": {"a": "x", "b": " http://[::1]/ "}},
    ),
    (
        "duplicate_trait",
        422,
        "POST",
        "/v1/models/mine.draft/traits",
        {"json": {"traits": [{"name": "A b"}, {"name": "a B"}]}},
    ),
    (
        "duplicate_trait",
        422,
        "POST",
        "/v1/models/mine.draft/traits",
        {"json": {"traits": [{"name": "Tone", "key": "other"}]}},
    ),
    ("internal_error", 500, "POST", "/v1/extract", {"json": {"url": FAULT}}),
    ("unavailable", 503, "GET", "/v1/health", {"key": None}),
]

# What is told beside the code, of most errors: enough to fix it.
DETAILS: dict[str, set[str]] = {
    "invalid_request": {"host"},
    "invalid_json": {"reason"},
    "empty_body": {"media_types"},
    "invalid_parameter": {"parameter"},
    "invalid_cursor": {"parameter"},
    "insufficient_scope": {"scope"},
    "namespace_forbidden": {"namespace"},
    "host_not_allowed": {"host"},
    "origin_not_allowed": {"header"},
    "model_not_found": {"handle"},
    "trait_not_found": {"trait"},
    "sample_not_found": {"sample_id"},
    "version_not_found": {"version"},
    "tag_not_found": {"tag"},
    "method_not_allowed": {"allow"},
    "not_acceptable": {"offers"},
    "handle_taken": {"handle"},
    "model_not_draft": {"handle", "state"},
    "model_busy": {"handle", "state", "run_id"},
    "model_archived": {"handle", "state"},
    "model_not_trained": {"handle", "state"},
    "duplicate_run": {"handle", "run_id", "status"},
    "samples_purged": {"handle"},
    "promotion_conflict": {"handle", "from", "reasons", "newer_versions", "forked_after_version_no"},
    "feature_unavailable": {"field"},
    "body_too_large": {"max_bytes"},
    "unsupported_media_type": {"media_types"},
    "validation_failed": {"errors"},
    "invalid_handle": {"field", "pattern"},
    "invalid_tag": {"field", "pattern"},
    "unsupported_kind": {"field", "choices"},
    "unsupported_scoring_method": {"field", "choices"},
    "unsupported_synth_type": {"field", "choices"},
    "insufficient_samples": {"traits"},
    "duplicate_trait": {"keys"},
    "url_not_fetchable": {"reason"},
}
HEADERS = {
    "unauthenticated": "www-authenticate",
    "method_not_allowed": "allow",
    "unavailable": "retry-after",
    "model_busy": "x-run-id",
    "duplicate_run": "x-run-id",
}


@pytest.mark.parametrize(
    ("code", "status", "method", "path", "request_"), ROWS, ids=[f"{row[0]}-{row[3]}" for row in ROWS]
)
def test_each_code_by_a_request_that_earns_it(
    world: World, code: str, status: int, method: str, path: str, request_: dict[str, Any]
) -> None:
    answer = world.call(method, path, **request_)
    assert (answer.status, answer.code) == (status, code)
    assert DETAILS.get(code, set()) <= set(answer.details)
    assert code not in HEADERS or answer.headers[HEADERS[code]]


def test_the_table_has_every_code_that_a_service_can_answer() -> None:
    classes = [cls for cls in tree(TraitbenchError) if cls.__module__ == TraitbenchError.__module__ and cls.code]
    codes = {cls.code: cls.status for cls in classes}
    del codes["unreachable"]  # the client's own
    assert {(code, status) for code, status, *_ in ROWS} == set(codes.items())


def tree(root: type[TraitbenchError]) -> Iterator[type[TraitbenchError]]:
    for cls in root.__subclasses__():
        yield cls
        yield from tree(cls)


def test_401_says_how_to_authenticate_and_not_what_was_wrong(world: World) -> None:
    good, gone = world.secrets["authoring"], world.issue("authoring", "mine")
    assert world.context is not None
    keys.revoke(world.context.engine, keys.list_keys(world.context.engine)[-1].id)
    secrets = ["x", "tba_" + "0" * 49, good[:-1], good + "0", good.swapcase(), gone, "\u00e9"]
    headers = [{"Authorization": f"Bearer {secret}".encode()} for secret in secrets]
    answers = [world.call("GET", "/v1/models", key=None, headers=header) for header in [{}, *headers]]
    assert {answer.status for answer in answers} == {401}
    assert {answer.headers["www-authenticate"] for answer in answers} == {"Bearer"}
    assert len({answer.body["error"]["message"] for answer in answers}) == 1
    assert {str(answer.details) for answer in answers} == {"{}"}


@pytest.mark.parametrize("scheme", ["Bearer {}", "bearer {}", "BEARER   {}"])
def test_the_scheme_has_no_case(world: World, scheme: str) -> None:
    header = {"Authorization": scheme.format(world.secrets["scoring"])}
    assert world.call("GET", "/v1/models", key=None, headers=header).status == 200


@pytest.mark.parametrize("header", ["{}", "Basic {}", "Bearer", "Bearer {} {}", "Bearer{}", "Token {}"])
def test_no_other_scheme_is_read(world: World, header: str) -> None:
    secret = world.secrets["scoring"]
    answer = world.call("GET", "/v1/models", key=None, headers={"Authorization": header.format(secret, secret)})
    assert (answer.status, answer.code) == (401, "unauthenticated")


def test_busy_names_the_run(world: World) -> None:
    run_id = world.call("GET", "/v1/models/mine.busy").body["last_operation"]["run_id"]
    answer = world.call("POST", "/v1/models/mine.busy/traits", json={"traits": [{"name": "New"}]})
    assert (answer.status, answer.code, answer.headers["x-run-id"]) == (409, "model_busy", run_id)


def test_insufficient_samples_counts_each_trait(world: World) -> None:
    answer = world.call("POST", "/v1/models/mine.empty/train")
    assert answer.details["traits"] == {"tone": {"positive": 0, "negative": 0}}


@pytest.mark.parametrize(
    ("query", "parameter", "bound"),
    [
        ("limit=0", "limit", {"ge": 1}),
        ("limit=251", "limit", {"le": 250}),
        ("limit=-1", "limit", {"ge": 1}),
        ("limit=true", "limit", {}),
        ("limit=1_0", "limit", {}),
        ("limit=%201", "limit", {}),
        ("limit=1.5", "limit", {}),
        ("limit=", "limit", {}),
        ("limit=" + "9" * 5000, "limit", {}),
        ("state=gone", "state", {"expected": "'draft', 'busy', 'ready', 'failed' or 'archived'"}),
        ("state=", "state", {"expected": "'draft', 'busy', 'ready', 'failed' or 'archived'"}),
        ("kind=retrieval", "kind", {"expected": "'scoring'"}),
        ("namespace=%00", "namespace", {}),
    ],
)
def test_a_bad_query_names_parameter_and_bound(world: World, query: str, parameter: str, bound: dict[str, Any]) -> None:
    answer = world.call("GET", f"/v1/models?{query}")
    assert (answer.status, answer.code) == (400, "invalid_parameter")
    assert answer.details["parameter"] == parameter
    (error,) = answer.details["errors"]
    assert error["loc"] == [parameter]
    assert bound.items() <= error.items()


@pytest.mark.parametrize("limit", ["1", "250", "7.0", "250.000"])
def test_a_whole_number_is_a_limit(world: World, limit: str) -> None:
    assert world.call("GET", f"/v1/models?limit={limit}").body["limit"] == int(float(limit))


@pytest.mark.parametrize(
    ("query", "parameter"), [("limt=5", "limt"), ("limit=5&limit=6", "limit"), ("a%20b=1", "(key)")]
)
def test_an_unknown_or_repeated_parameter_is_refused(world: World, query: str, parameter: str) -> None:
    answer = world.call("GET", f"/v1/models?{query}")
    assert (answer.status, answer.code) == (400, "invalid_parameter")
    assert answer.details == {
        "parameter": parameter,
        "known": ["cursor", "forked_from", "kind", "limit", "namespace", "state"],
    }
