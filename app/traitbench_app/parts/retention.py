"""Predicts which versions pruning will remove after the next training, by the service's rule
(`traitbench.contract.prune`)."""

from collections.abc import Sequence
from datetime import UTC, datetime

from traitbench.contract.models import Model, VersionRetentionPolicy
from traitbench.contract.prune import PrunableVersion, versions_to_keep
from traitbench.contract.versions import Version
from traitbench_app.parts.version_figures import label

GOES = "removed unless tagged"


def policy_of(model: Model) -> VersionRetentionPolicy:
    """Return the model's own retention policy, or the default."""
    return model.version_retention_policy or VersionRetentionPolicy()


def goes_next(model: Model, versions: Sequence[Version], now: datetime | None = None) -> list[Version]:
    """Return the versions that pruning will remove after the next training if the tags do not change."""
    stay = _keep(_with_next(versions, now), policy_of(model))
    return [each for each in versions if each.version_id not in stay]


def fates(model: Model, versions: Sequence[Version], now: datetime | None = None) -> dict[int, str]:
    """Say by `version_id` whether pruning after the next training keeps a version, and why."""
    policy, following = policy_of(model), _with_next(versions, now)
    newest = _keep(following, policy.model_copy(update={"keep_first_of_month": False}))
    monthly = _keep(following, policy.model_copy(update={"keep_unnamed": 0}))
    reasons = {}
    for each in versions:
        if each.tags:
            reasons[each.version_id] = "kept (tagged)"
        elif each.version_id in newest:
            reasons[each.version_id] = f"kept (among the newest {policy.keep_unnamed:,})"
        elif each.version_id in monthly:
            reasons[each.version_id] = f"kept (first of {each.created_at.astimezone(UTC):%b %Y})"
        else:
            reasons[each.version_id] = GOES
    return reasons


def names_of_versions(versions: Sequence[Version], most: int = 6) -> str:
    """List names of versions: `v3, v2 and 4 more`."""
    names = ", ".join(label(each) for each in versions[:most])
    return names + (f" and {len(versions) - most} more" if len(versions) > most else "")


def _with_next(versions: Sequence[Version], now: datetime | None) -> list[PrunableVersion]:
    """Return the versions after the next training, whose version is active and has no tag."""
    there = [
        PrunableVersion(each.version_id, each.version_no, each.created_at, tagged=bool(each.tags), active=False)
        for each in versions
    ]
    number = max((each.version_no for each in versions), default=0) + 1
    return [*there, PrunableVersion(-1, number, now or datetime.now(UTC), tagged=False, active=True)]


def _keep(versions: Sequence[PrunableVersion], policy: VersionRetentionPolicy) -> frozenset[int]:
    return versions_to_keep(versions, keep_unnamed=policy.keep_unnamed, keep_first_of_month=policy.keep_first_of_month)
