"""Which versions stay when old ones are pruned. Pure: it decides, and removes nothing.

A version stays when any of these holds; all others go.

- It is tagged, or active.
- It is among the newest `keep_unnamed` versions without a tag. An untagged active version is one of them, so a bound of
  100 leaves 100 unnamed versions, and one more only while an older one is active.
- `keep_first_of_month` is on and it is the first of its calendar month in UTC, among all versions still there, tagged
  and active ones included.

Newer means a higher number: numbers only rise, whereas clocks step back and imported versions bring old dates. So the
first of a month stays its first for as long as the switch is on, pruning twice is pruning once, and pruning after every
training leaves what pruning once at the end would have left. A tag moved in between cannot bring back what has gone.

See core/docs/contract.md, section 7.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True)
class PrunableVersion:
    """What the rule needs to know of a version that is still there."""

    version_id: int
    version_no: int
    created_at: datetime
    tagged: bool
    active: bool

    def __post_init__(self) -> None:
        if self.created_at.utcoffset() is None:
            raise ValueError(f"v{self.version_no} was created at a time without an offset; its month is not known.")


def keep(versions: Sequence[PrunableVersion], *, keep_unnamed: int, keep_first_of_month: bool) -> frozenset[int]:
    """The `version_id`s of those that stay."""
    oldest_first = sorted(versions, key=lambda version: version.version_no)
    stay = [version for version in versions if version.tagged or version.active]
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
