"""The table of error codes (core/docs/contract.md, section 1): each code by a request that earns it."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.contract.conftest import FAULT
from tests.contract.world import World
from traitbench.errors import TraitbenchError
from traitbench.operations import keys

Row = tuple[str, int, str, str, dict[str, Any]]


def row(code: str, status: int, request: str, json: Any = None, **more: Any) -> Row:
    """An error, and a request that earns it."""
    method, _, path = request.partition(" ")
    return code, status, method, path, more if json is None else {"json": json, **more}


ROWS = [
    row("invalid_request", 400, "GET /v1/models", headers={"Host": "a b"}),
    row("invalid_json", 400, "POST /v1/models", raw=b"{"),
    row("empty_body", 400, "POST /v1/models"),
    row("invalid_parameter", 400, "GET /v1/models?limit=0"),
    row("invalid_parameter", 400, "GET /v1/models/mine.draft?verbose=1"),
    *(
        row("invalid_parameter", 400, f"GET /v1/models/mine.draft/samples?held_out={bad}")
        for bad in ("", "1", "True", "yes", "null", "true&held_out=true")
    ),
    row("invalid_cursor", 400, "GET /v1/models?cursor=ours"),
    row("unauthenticated", 401, "GET /v1/models", key=None),
    row("insufficient_scope", 403, "DELETE /v1/models/mine.draft", key="scoring"),
    row("namespace_forbidden", 403, "DELETE /v1/models/other.ready"),
    row("namespace_forbidden", 403, "GET /v1/models?namespace=other"),
    row("host_not_allowed", 403, "GET /v1/models", headers={"Host": "evil.example"}),
    row("origin_not_allowed", 403, "POST /v1/models", headers={"Origin": "https://evil.example"}),
    row("model_not_found", 404, "GET /v1/models/mine.absent"),
    row("trait_not_found", 404, "GET /v1/models/mine.draft/traits/absent"),
    row("trait_not_found", 404, "GET /v1/models/mine.draft/samples?trait=absent"),
    row("sample_not_found", 404, "DELETE /v1/models/mine.draft/samples/999999999"),
    row("sample_not_found", 404, "DELETE /v1/models/mine.draft/samples/one"),
    row("sample_not_found", 404, "DELETE /v1/models/mine.draft/samples/" + "9" * 40),
    row("sample_not_found", 404, "PATCH /v1/models/mine.draft/samples/999999999", {"quality": 1}),
    row("text_not_found", 404, "DELETE /v1/models/mine.draft/texts/1/decisions/tone"),
    row("text_not_found", 404, "PUT /v1/models/mine.draft/texts/one/decisions/tone", {"quality": 1.0}),
    row("change_not_found", 404, "POST /v1/models/mine.draft/samples/changes/999999999/undo"),
    row("change_not_found", 404, "POST /v1/models/mine.draft/samples/changes/one/undo"),
    row("version_not_found", 404, "GET /v1/models/mine.ready/versions/v99"),
    row("version_not_found", 404, "GET /v1/models/mine.ready/versions/absent"),
    row("version_not_found", 404, "GET /v1/models/mine.draft/versions/active"),
    row("version_not_found", 404, "POST /v1/models/mine.ready@v99/score", {"content": "x"}),
    row("version_not_found", 404, "POST /v1/versions/compare", {"a": "mine.ready", "b": "mine.ready@v99"}),
    row("model_not_found", 404, "POST /v1/versions/compare", {"a": "mine.absent", "b": "mine.ready"}),
    row("tag_not_found", 404, "DELETE /v1/models/mine.ready/versions/absent"),
    row("tag_not_found", 404, "PUT /v1/models/mine.ready/versions/active", {"tag": "absent"}),
    row("validation_failed", 422, "PUT /v1/models/mine.ready/versions/active", {}),
    row("validation_failed", 422, "POST /v1/versions/compare", {"a": "mine.ready", "b": "mine.ready", "explain": True}),
    row("attribute_not_found", 404, "GET /v1/namespaces/mine/attributes/ABSENT"),
    row("namespace_forbidden", 403, "GET /v1/namespaces/other/attributes"),
    row("route_not_found", 404, "GET /v1/nothing"),
    row("method_not_allowed", 405, "PUT /v1/models"),
    row("not_acceptable", 406, "GET /v1/models", headers={"Accept": "text/html"}),
    row("not_acceptable", 406, "GET /v1/models/mine.ready", headers={"Accept": "text/plain"}),
    row("not_acceptable", 406, "POST /v1/models/mine.ready/score", headers={"Accept": "image/png"}),
    row("not_acceptable", 406, "POST /v1/models/mine.ready/score/batch", headers={"Accept": "application/json"}),
    row("not_acceptable", 406, "POST /v1/models/mine.ready/compare", headers={"Accept": "text/markdown"}),
    row("handle_taken", 409, "POST /v1/models", {"handle": "mine.draft"}),
    row("handle_taken", 409, "POST /v1/models", {"handle": "mine.archived"}),
    row("model_not_draft", 409, "DELETE /v1/models/mine.ready/traits/tone"),
    row("model_busy", 409, "DELETE /v1/models/mine.busy/traits/tone"),
    row("model_archived", 409, "PATCH /v1/models/mine.archived", {"description": "x"}),
    row("model_not_trained", 409, "POST /v1/models/mine.draft/score", {"content": "x"}),
    row("promotion_conflict", 409, "POST /v1/models/mine.ready/promote", {"from": "mine.silent"}),
    row("validation_failed", 422, "POST /v1/models/mine.ready/promote", {"from": "mine.ready"}),
    row("duplicate_run", 409, "POST /v1/models/mine.discovered/traits/discover", {"effort": "low"}),
    row("samples_purged", 409, "POST /v1/models/mine.silent/train", {"reoptimize_params": True}),
    row(
        "feature_unavailable", 409, "POST /v1/models/mine.silent/score", {"content": "x", "feedback": {"tone": "good"}}
    ),
    row("feature_unavailable", 409, "POST /v1/models/mine.discovered/train", {"encoder": "ngrams"}),
    row("feature_unavailable", 409, "POST /v1/models/mine.draft/traits/discover", {"language_model": True}),
    row("feature_unavailable", 409, "POST /v1/models/mine.draft/samples/synthesize", {"language_model": True}),
    row("body_too_large", 413, "POST /v1/models", raw=b" " * 100_000),
    row("unsupported_media_type", 415, "POST /v1/models", data={"handle": "mine.z"}),
    row("validation_failed", 422, "POST /v1/models", {"handle": "mine.z", "max_depth": 4}),
    row("validation_failed", 422, "PATCH /v1/models/mine.draft", {"state": "ready"}),
    row("validation_failed", 422, "PATCH /v1/models/mine.draft", {"main_trait": ""}),
    row("validation_failed", 422, "POST /v1/models/mine.draft/train", {"effort": "xhigh"}),
    row(
        "validation_failed",
        422,
        "POST /v1/versions/compare",
        {"a": "mine.ready", "b": "mine.ready", "traits": ["absent"]},
    ),
    row("validation_failed", 422, "PATCH /v1/models/mine.draft", {"version_retention_policy": {"keep_unnamed": -1}}),
    row("validation_failed", 422, "POST /v1/models/mine.draft/traits/discover", {"effort": "huge"}),
    row("validation_failed", 422, "POST /v1/models/mine.draft/samples/synthesize", {"effort": "huge"}),
    row("validation_failed", 422, "POST /v1/models/import", {}),
    row("validation_failed", 422, "POST /v1/extract", {"url": " "}),
    row("invalid_handle", 422, "POST /v1/models", {"handle": "Mine.z"}),
    row("invalid_handle", 422, "GET /v1/models/mine"),
    row("invalid_handle", 422, "POST /v1/versions/compare", {"a": "mine.ready", "b": "mine"}),
    row("invalid_tag", 422, "POST /v1/models/mine.ready/versions/active"),
    row("unsupported_kind", 422, "POST /v1/models", {"handle": "mine.z", "kind": "retrieval"}),
    row("unsupported_scoring_method", 422, "POST /v1/models", {"handle": "mine.z", "scoring_method": "cosine"}),
    row("unsupported_scoring_method", 422, "PATCH /v1/models/mine.draft", {"scoring_method": "cosine"}),
    row("unsupported_synth_type", 422, "POST /v1/models/mine.draft/samples/synthesize", {"synth_type": "enrich"}),
    row("insufficient_samples", 422, "POST /v1/models/mine.empty/train"),
    row("url_not_fetchable", 422, "POST /v1/extract", {"url": "http://127.0.0.1:8501/v1/health"}),
    row("url_not_fetchable", 422, "POST /v1/extract", {"url": "file:///etc/passwd"}),
    row("url_not_fetchable", 422, "POST /v1/models/mine.ready/score", {"content": "https://nowhere.example"}),
    row("url_not_fetchable", 422, "POST /v1/models/mine.ready/compare", {"a": "x", "b": " http://[::1]/ "}),
    row("duplicate_trait", 422, "POST /v1/models/mine.draft/traits", {"traits": [{"name": "A b"}, {"name": "a B"}]}),
    row("duplicate_trait", 422, "POST /v1/models/mine.draft/traits", {"traits": [{"name": "Tone", "key": "other"}]}),
    row("internal_error", 500, "POST /v1/extract", {"url": FAULT}),
    row("unavailable", 503, "GET /v1/health", key=None),
]

# What is told beside the code, of most errors, enough to fix it: a detail, and the errors that have it.
DETAILS = {
    "host": "invalid_request host_not_allowed",
    "reason": "invalid_json url_not_fetchable",
    "media_types": "empty_body unsupported_media_type",
    "parameter": "invalid_parameter invalid_cursor",
    "scope": "insufficient_scope",
    "namespace": "namespace_forbidden",
    "header": "origin_not_allowed",
    "handle": (
        "model_not_found handle_taken model_not_draft model_busy model_archived "
        "model_not_trained duplicate_run samples_purged promotion_conflict"
    ),
    "trait": "trait_not_found",
    "sample_id": "sample_not_found",
    "text_id": "text_not_found",
    "change_id": "change_not_found",
    "version": "version_not_found",
    "tag": "tag_not_found",
    "attribute": "attribute_not_found",
    "allow": "method_not_allowed",
    "offers": "not_acceptable",
    "state": "model_not_draft model_busy model_archived model_not_trained",
    "run_id": "model_busy duplicate_run",
    "status": "duplicate_run",
    "forked_after_version_no": "promotion_conflict",
    "from": "promotion_conflict",
    "newer_versions": "promotion_conflict",
    "reasons": "promotion_conflict",
    "field": (
        "feature_unavailable invalid_handle invalid_tag unsupported_kind unsupported_scoring_method "
        "unsupported_synth_type"
    ),
    "max_bytes": "body_too_large",
    "errors": "validation_failed",
    "pattern": "invalid_handle invalid_tag",
    "choices": "unsupported_kind unsupported_scoring_method unsupported_synth_type",
    "traits": "insufficient_samples",
    "keys": "duplicate_trait",
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
    assert {detail for detail, codes in DETAILS.items() if code in codes.split()} <= set(answer.details)
    assert code not in HEADERS or answer.headers[HEADERS[code]]
    assert code != "insufficient_samples" or answer.details["traits"] == {"tone": {"positive": 0, "negative": 0}}


def test_the_table_has_every_code_that_a_service_can_answer() -> None:
    classes = [cls for cls in tree(TraitbenchError) if cls.__module__ == TraitbenchError.__module__ and cls.code]
    codes = {cls.code: cls.status for cls in classes}
    del codes["unreachable"]  # the client's own
    of_two_requests = {("sample_changed", 409), ("idempotency_conflict", 409)}
    assert {(code, status) for code, status, *_ in ROWS} | of_two_requests == set(codes.items())


def test_a_sample_that_someone_else_has_changed(world: World) -> None:
    path = "/v1/models/mine.draft/samples"
    first = world.call("GET", path, params={"limit": 1}).body["items"][0]
    for method, place, body in (
        ("PATCH", f"{path}/{first['id']}", {"quality": 0.5, "revision": 99}),
        ("POST", f"{path}/changes", {"deletes": [{"id": first["id"], "revision": 99}]}),
    ):
        answer = world.call(method, place, json=body)
        assert (answer.status, answer.code) == (409, "sample_changed")
        [shown] = answer.details["samples"]
        assert (shown["text"], shown["revision"]) == (first["text"], first["revision"])


def tree(root: type[TraitbenchError]) -> Iterator[type[TraitbenchError]]:
    for cls in root.__subclasses__():
        yield cls
        yield from tree(cls)


def test_401_says_how_to_authenticate_and_not_what_was_wrong(world: World) -> None:
    good, gone = world.secrets["authoring"], world.issue("authoring", "mine")
    assert world.context is not None
    keys.revoke(world.context.engine, keys.every(world.context.engine).items()[-1].id)
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
