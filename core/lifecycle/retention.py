"""Which old versions go: the model's policy, or the defaults of the contract, applied by the rule of
`traitbench.prune`.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

from traitbench.contract.models import VersionRetentionPolicy
from traitbench.prune import PrunableVersion, keep
from traitbench.store import models, versions
from traitbench.store.models import ModelRow
from traitbench.store.rows import readable


def prune(connection: Connection, model: ModelRow, *, active_version_id: int | None) -> None:
    """Remove what the policy of a held model does not keep, snapshots and all; nothing when the policy is damaged."""
    policy = readable(lambda: _policy(models.version_retention_policy(connection, model.id)))
    if policy is not None:
        _prune(connection, model.id, policy, active_version_id)


def prune_by(connection: Connection, model: ModelRow, policy: Mapping[str, Any] | None) -> None:
    """As `prune`, by a policy that the model has only just been given; None stands for the defaults."""
    _prune(connection, model.id, _policy(policy), model.active_version_id)


def _policy(given: Mapping[str, Any] | None) -> VersionRetentionPolicy:
    return VersionRetentionPolicy.model_validate({} if given is None else given)


def _prune(
    connection: Connection, model_id: int, policy: VersionRetentionPolicy, active_version_id: int | None
) -> None:
    there = [
        PrunableVersion(row.id, row.version_no, row.created_at, row.tagged, active=row.id == active_version_id)
        for row in versions.ages(connection, model_id)
    ]
    stay = keep(there, **policy.model_dump())
    versions.remove(connection, [version.version_id for version in there if version.version_id not in stay])
