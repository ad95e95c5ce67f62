"""The error envelope on the wire, and what the service says about itself and its caller (core/docs/contract.md)."""

from typing import Any, Literal

from traitbench.contract.fields import Returned


class ErrorBody(Returned):
    """What went wrong and how to fix it."""

    code: str
    message: str
    request_id: str
    details: dict[str, Any]


class ErrorEnvelope(Returned):
    """Body of every response other than 2xx."""

    error: ErrorBody


class DecisionFault(Returned):
    """A wrong field, as clients of the decision wire read it."""

    loc: list[str | int]
    msg: str
    type: str


class DecisionRefusal(Returned):
    """Any other error, as clients of the decision wire read it."""

    error_type: str
    message: str


class DecisionError(ErrorEnvelope):
    """The envelope, and beside it what clients of the decision wire read: a list for 422, an object otherwise."""

    detail: list[DecisionFault] | DecisionRefusal


class PerspectiveErrorBody(Returned):
    """What went wrong, as Google's APIs say it. `code` is the status of HTTP, and `status` its name."""

    code: int
    message: str
    status: str
    details: list[dict[str, Any]]


class PerspectiveError(Returned):
    """Body of every response other than 2xx to clients of Perspective."""

    error: PerspectiveErrorBody


class Health(Returned):
    """Answer of `GET /health`: `ok` and measurements, null if there is none."""

    status: str
    worker_heartbeat_age_s: float | None = None
    encoder: str | None = None
    oldest_queued_s: float | None = None
    free_disk_bytes: int | None = None
    database: str | None = None


class Me(Returned):
    """Answer of `GET /me`: the key of the request, who has it, and what it may do.

    `person` stays the same when a person signs in again and gets another key. A key that was issued by hand is a person
    of its own: then it is the key's id. `namespaces` are those that the key owns, sorted.
    """

    key_id: str
    person: str
    name: str
    scope: Literal["scoring", "authoring"]
    namespaces: list[str]
