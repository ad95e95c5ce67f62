"""Who may do what: requests by kind of key and whose namespace (core/docs/contract.md, section 3)."""

from typing import Any

OK = (200, "")
SCOPE = (403, "insufficient_scope")
NAMESPACE = (403, "namespace_forbidden")
HIDDEN = (404, "model_not_found")

LOW = {"effort": "low"}
TEXT = {"content": "a text"}

# By operation: method, path, body. One operation may be asked for in more than one way.
Asked = tuple[str, str, str, Any]
READS: list[Asked] = [
    ("models.get", "GET", "/v1/models/{}", None),
    ("models.card", "GET", "/v1/models/{}", None),
    ("traits.list", "GET", "/v1/models/{}/traits", None),
    ("traits.get", "GET", "/v1/models/{}/traits/tone", None),
    ("versions.list", "GET", "/v1/models/{}/versions", None),
    ("versions.get", "GET", "/v1/models/{}/versions/v1", None),
    ("versions.activations", "GET", "/v1/models/{}/activations", None),
    ("scores.score", "POST", "/v1/models/{}/score", TEXT),
    ("scores.compare", "POST", "/v1/models/{}/compare", {"a": "a text", "b": "another"}),
    ("scores.batch", "POST", "/v1/models/{}/score/batch", {"contents": ["a text", "another"]}),
]
OWNED_READS: list[Asked] = [
    ("samples.list", "GET", "/v1/models/{}/samples", None),
    ("samples.plan", "GET", "/v1/models/{}/samples/synthesize", None),
    ("samples.rejected", "GET", "/v1/models/{}/samples/rejected", None),
    ("models.export", "GET", "/v1/models/{}/export", None),
]
WRITES: list[Asked] = [
    ("models.update", "PATCH", "/v1/models/{}", {}),
    ("models.delete", "DELETE", "/v1/models/{}", None),
    ("models.restore", "POST", "/v1/models/{}/restore", None),
    ("models.train", "POST", "/v1/models/{}/train", {}),
    ("models.fork", "POST", "/v1/models/{}/fork", {"handle": "mine.new"}),
    ("models.promote", "POST", "/v1/models/{}/promote", {"from": "mine.ready"}),
    ("models.retrain", "POST", "/v1/models/{}/retrain", None),
    ("traits.add", "POST", "/v1/models/{}/traits", {"traits": [{"name": "x"}]}),
    ("traits.update", "PATCH", "/v1/models/{}/traits/tone", {}),
    ("traits.delete", "DELETE", "/v1/models/{}/traits/tone", None),
    ("traits.discover", "POST", "/v1/models/{}/traits/discover", LOW),
    ("samples.add", "POST", "/v1/models/{}/samples", {"samples": [{"trait": "tone", "text": "x", "quality": 1}]}),
    ("samples.update", "PATCH", "/v1/models/{}/samples", {"ids": [1]}),
    ("samples.delete", "DELETE", "/v1/models/{}/samples/1", None),
    ("samples.delete_many", "POST", "/v1/models/{}/samples/delete", {"ids": [1]}),
    ("samples.synthesize", "POST", "/v1/models/{}/samples/synthesize", LOW),
    ("versions.tag", "POST", "/v1/models/{}/versions/best", None),
    ("versions.untag", "DELETE", "/v1/models/{}/versions/best", None),
    ("versions.activate", "PUT", "/v1/models/{}/versions/active", {"version": "v1"}),
]
FEEDBACK: list[Asked] = [("scores.feedback", "POST", "/v1/models/{}/score", {**TEXT, "feedback": {"tone": 1}})]
WITHOUT_HANDLE = {"models.create", "models.list", "models.import", "versions.compare", "extract", "metrics"}

# Rows: operations and key. Columns: an owned, a public, a foreign model; then one that is not there, the same.
# What would change the owned model is walked in the table of states.
TABLE: list[tuple[list[Asked], str, list[tuple[int, str] | None]]] = [
    (READS, "authoring", [OK, OK, HIDDEN, HIDDEN, HIDDEN, HIDDEN]),
    (READS, "scoring", [OK, OK, HIDDEN, HIDDEN, HIDDEN, HIDDEN]),
    (OWNED_READS, "authoring", [OK, NAMESPACE, HIDDEN, HIDDEN, NAMESPACE, HIDDEN]),
    (OWNED_READS, "scoring", [SCOPE] * 6),
    (WRITES, "authoring", [None, NAMESPACE, NAMESPACE, HIDDEN, NAMESPACE, NAMESPACE]),
    (WRITES, "scoring", [SCOPE] * 6),
    (FEEDBACK, "authoring", [None, NAMESPACE, HIDDEN, HIDDEN, HIDDEN, HIDDEN]),
    (FEEDBACK, "scoring", [SCOPE, SCOPE, HIDDEN, HIDDEN, HIDDEN, HIDDEN]),
]
