"""What is said beforehand of the versions that the next one will push out."""

from datetime import UTC, datetime

from traitbench.contract.models import Model, VersionRetentionPolicy
from traitbench.contract.versions import Version
from traitbench_app.parts.version_figures import fates, goes_next, names_of_versions

NOW = datetime(2026, 11, 21, tzinfo=UTC)


def test_by_default_hundreds_are_kept() -> None:
    assert goes_next(model(None), versions(99), NOW) == []


def test_the_next_version_counts_as_one_of_the_newest_and_takes_the_place_of_the_one_that_scores() -> None:
    one = model(VersionRetentionPolicy(keep_unnamed=1, keep_first_of_month=False))
    assert [each.version_no for each in goes_next(one, versions(2), NOW)] == [2, 1]


def test_each_version_is_told_what_keeps_it() -> None:
    policy = VersionRetentionPolicy(keep_unnamed=2, keep_first_of_month=True)
    assert list(fates(model(policy), versions(4, tagged=(3,)), NOW).values()) == [
        "kept (among the newest 2)",
        "kept (tagged)",
        "removed unless tagged",
        "kept (first of Nov 2026)",
    ]


def test_many_versions_are_counted_and_a_few_named() -> None:
    assert names_of_versions(versions(2)) == "v2, v1"
    assert names_of_versions(versions(9), most=2) == "v9, v8 and 7 more"


def model(policy: VersionRetentionPolicy | None) -> Model:
    return Model.model_construct(handle="local.tone", version_no=1, version_retention_policy=policy)


def versions(number: int, *, tagged: tuple[int, ...] = ()) -> list[Version]:
    """Newest first, all of one month."""
    return [
        Version.model_construct(
            version_id=100 + each, version_no=each, created_at=NOW, tags=["good"] if each in tagged else []
        )
        for each in range(number, 0, -1)
    ]
