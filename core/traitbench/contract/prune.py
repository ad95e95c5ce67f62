"""The retention rule for versions (core/docs/contract.md, section 7). It only decides; it removes nothing.

A version stays when any of these holds. All others are pruned.

- It is tagged, active or on hold.
- It is among the newest `keep_unnamed` versions without a tag. An untagged active version counts as one of them. A
  limit of 100 leaves 100 unnamed versions, or 101 while an older one is active.
- `keep_first_of_month` is on, and it is the first of its calendar month (UTC) among all versions that still exist,
  including tagged and active ones.

Newer means a higher number, because numbers only rise, whereas clocks can step back and imported versions have old
dates. Therefore the first version of a month stays the first while the switch is on, pruning is idempotent, and pruning
after every training leaves the same versions as pruning once at the end. A version that was pruned does not come back
when a tag moves.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True)
class PrunableVersion:
    """What the rule needs to know about an existing version."""

    version_id: int
    version_no: int
    created_at: datetime
    tagged: bool
    active: bool
    held: bool = False

    def __post_init__(self) -> None:
        if self.created_at.utcoffset() is None:
            raise ValueError(f"v{self.version_no} has a creation time without a UTC offset, so its month is unknown.")


def versions_to_keep(
    versions: Sequence[PrunableVersion], *, keep_unnamed: int, keep_first_of_month: bool
) -> frozenset[int]:
    """Return the `version_id`s of the versions that stay."""
    oldest_first = sorted(versions, key=lambda version: version.version_no)
    stay = [version for version in versions if version.tagged or version.active or version.held]
    stay += _newest_unnamed(oldest_first, keep_unnamed)
    if keep_first_of_month:
        stay += _first_of_month(oldest_first)
    return frozenset(version.version_id for version in stay)


def _newest_unnamed(oldest_first: Sequence[PrunableVersion], count: int) -> Sequence[PrunableVersion]:
    unnamed = [version for version in oldest_first if not version.tagged]
    return unnamed[max(0, len(unnamed) - count) :]


def _first_of_month(oldest_first: Sequence[PrunableVersion]) -> Sequence[PrunableVersion]:
    first: dict[tuple[int, int], PrunableVersion] = {}
    for version in oldest_first:
        created = version.created_at.astimezone(UTC)
        first.setdefault((created.year, created.month), version)
    return list(first.values())
