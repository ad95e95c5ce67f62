"""Run keys: two runs of a model with the same key do the same work. A run is stored with its key.

A training is matched only while it is live, when traits and samples cannot change, so its key contains neither.
Discovery and synthesis are also matched after they have succeeded. Samples never change and ids are never reused, so
the ids stand for the samples.

See core/docs/contract.md, section 5.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import Connection

from traitbench.contract.models import OperationKind
from traitbench.store import samples, traits

Digest = Callable[[Connection, int], str]


def run_key(
    connection: Connection, model_id: int, kind: OperationKind, *, effort: str, options: Mapping[str, Any] | None = None
) -> str:
    """The key of a run of this kind that starts now."""
    parts = {"effort": effort, **(options or {})}
    parts |= {name: digest(connection, model_id) for name, digest in _DIGESTS.get(kind, {}).items()}
    return " ".join([kind, *(f"{name}={_to_text(parts[name])}" for name in sorted(parts))])


def _samples(connection: Connection, model_id: int) -> str:
    return _digest(samples.ids(connection, model_id))


def _traits(connection: Connection, model_id: int) -> str:
    return _digest([vars(trait) for trait in traits.rows(connection, model_id)])


def _digest(values: Any) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def _to_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


_DIGESTS: Mapping[OperationKind, Mapping[str, Digest]] = {
    "discover": {"samples": _samples},
    "synthesize": {"samples": _samples, "traits": _traits},
}
