"""The error envelope on the wire (core/docs/contract.md, section 1)."""

from typing import Any

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


class Health(Returned):
    """Answer of `GET /health`: `ok` and measurements, null if there is none."""

    status: str
    worker_heartbeat_age_s: float | None = None
    encoder: str | None = None
    oldest_queued_s: float | None = None
    free_disk_bytes: int | None = None
    database: str | None = None
