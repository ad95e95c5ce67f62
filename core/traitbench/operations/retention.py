"""Delete old versions by the model's retention policy, or by the contract's defaults (`contract.versions`).

Samples that a promotion replaced go with the last version that was trained with them.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy import Connection

from traitbench.contract.models import VersionRetentionPolicy
from traitbench.contract.versions import PrunableVersion, versions_to_keep
from traitbench.store import models, replaced_samples, versions
from traitbench.store.models import ModelRow
from traitbench.store.rows import readable


def prune(
    connection: Connection, model: ModelRow, *, active_version_id: int | None, held_version_id: int | None = None
) -> None:
    """Delete the versions of a locked model that its policy does not keep; none if the policy is damaged."""
    policy = readable(lambda: _policy(models.version_retention_policy(connection, model.id)))
    if policy is not None:
        _prune(connection, model.id, policy, active_version_id, held_version_id)


def prune_by(connection: Connection, model: ModelRow, policy: Mapping[str, Any] | None) -> None:
    """Prune by a policy that the model was just given; None means the defaults."""
    _prune(connection, model.id, _policy(policy), model.active_version_id, model.held_version_id)


def _policy(given: Mapping[str, Any] | None) -> VersionRetentionPolicy:
    return VersionRetentionPolicy.model_validate({} if given is None else given)


def _prune(
    connection: Connection,
    model_id: int,
    policy: VersionRetentionPolicy,
    active_version_id: int | None,
    held_version_id: int | None,
) -> None:
    existing = [
        PrunableVersion(
            row.id,
            row.version_no,
            row.created_at,
            row.tagged,
            active=row.id == active_version_id,
            held=row.id == held_version_id,
        )
        for row in versions.ages(connection, model_id)
    ]
    to_keep = versions_to_keep(existing, **policy.model_dump())
    versions.remove(connection, [version.version_id for version in existing if version.version_id not in to_keep])
    replaced_samples.prune(connection, model_id)


_log = logging.getLogger(__name__)
_MAX_REMEMBERED = 1_000
_failed: dict[tuple[str, int], str] = {}


def each(sweep: str, model_ids: Iterable[int], act: Callable[[int], bool]) -> Iterator[int]:
    """Yield the models for which `act` returns True; one that fails is skipped, and logged the first time."""
    for model_id in model_ids:
        try:
            if act(model_id):
                yield model_id
            _failed.pop((sweep, model_id), None)
        except Exception as error:
            # Only the type: a message may hold a text. A sweep runs every few seconds, so the same failure is logged
            # once.
            kind = type(error).__name__
            if _failed.get((sweep, model_id)) != kind and len(_failed) < _MAX_REMEMBERED:
                _log.warning("the %s skipped the model with the id %d: %s", sweep, model_id, kind)
                _failed[(sweep, model_id)] = kind
