"""What makes two runs of a model the same one, written out as a key that is kept with the run.

A training is matched in flight only, where traits and samples stand still, so its key needs neither. Discovery and
synthesis are matched when they are over too. Samples never change and their ids are never used again: the ids are the
samples.

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
    """The key of a run of this kind, begun now."""
    parts = {"effort": effort, **(options or {})}
    parts |= {name: digest(connection, model_id) for name, digest in _DIGESTS.get(kind, {}).items()}
    return " ".join([kind, *(f"{name}={_written(parts[name])}" for name in sorted(parts))])


def _samples(connection: Connection, model_id: int) -> str:
    return _digest(samples.ids(connection, model_id))


def _traits(connection: Connection, model_id: int) -> str:
    return _digest([vars(trait) for trait in traits.rows(connection, model_id)])


def _digest(values: Any) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


_DIGESTS: Mapping[OperationKind, Mapping[str, Digest]] = {
    "discover": {"samples": _samples},
    "synthesize": {"samples": _samples, "traits": _traits},
}
