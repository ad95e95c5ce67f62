"""Old versions: which ones a model's policy keeps, through the operations and the store."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import not_none
from tests.contexts import AUTHOR, ON_BOTH, SCORER, draft, trained_here
from tests.operations.author import active, refit, score, train
from tests.size import sized
from traitbench.contract.models import ModelUpdate, VersionRetentionPolicy
from traitbench.contract.versions import VersionActivate
from traitbench.errors import VersionNotFound
from traitbench.operations import models, retention, rules, versions
from traitbench.operations.context import Context
from traitbench.store import models as stored
from traitbench.store import versions as stored_versions
from traitbench.store.database import writing


@ON_BOTH
def test_a_test_is_on_the_database_it_names(context: Context, database: str) -> None:
    assert context.engine.dialect.name == database


def _add_version(context: Context, handle: str, created_at: datetime) -> int:
    """Add a version created at this time, like the end of a training; return its number."""
    with writing(context.engine) as connection:
        model = not_none(stored.hold(connection, handle))
        number = stored.next_version_no(connection, model.id)
        version_id = stored_versions.add(
            connection,
            snapshot={"traits": []},
            model_id=model.id,
            version_no=number,
            triggered_by="train",
            param_hash="sha256:0",
            sample_count=2,
            run_id=None,
            metrics={},
            created_at=created_at,
        )
        stored.change(connection, model.id, now=rules.now(), state="ready", active_version_id=version_id)
        retention.prune(connection, model, active_version_id=version_id)
    return number


def _numbers(context: Context, handle: str) -> list[int]:
    return [version.version_no for version in versions.list_versions(context, AUTHOR, handle, limit=250).items]


def _policy(**fields: Any) -> ModelUpdate:
    return ModelUpdate(version_retention_policy=VersionRetentionPolicy(**fields))


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ({}, {"keep_unnamed": 100, "keep_first_of_month": True}),
        ({"keep_unnamed": 3}, {"keep_unnamed": 3, "keep_first_of_month": True}),
        ({"keep_first_of_month": False}, {"keep_unnamed": 100, "keep_first_of_month": False}),
    ],
)
def test_a_key_that_is_missing_takes_its_default_and_null_clears(
    context: Context, sent: dict[str, Any], shown: dict[str, Any]
) -> None:
    handle = draft(context)
    changed = models.update(context, AUTHOR, handle, _policy(keep_unnamed=7, keep_first_of_month=False))
    changed = models.update(context, AUTHOR, handle, _policy(**sent))
    assert not_none(changed.version_retention_policy).model_dump() == shown
    assert models.update(context, AUTHOR, handle, ModelUpdate(description="x")) == changed.model_copy(
        update={"description": "x"}
    )
    assert models.get(context, SCORER, handle).version_retention_policy is not None
    cleared = models.update(context, AUTHOR, handle, ModelUpdate(version_retention_policy=None))
    assert cleared.version_retention_policy is None


@ON_BOTH
def test_versions_that_a_new_policy_does_not_keep_are_gone_by_the_answer(context: Context) -> None:
    handle = draft(context)
    for month in (1, 1, 1, 2, 2, 3):
        _add_version(context, handle, datetime(2026, month, 5, tzinfo=UTC))
    models.update(context, AUTHOR, handle, _policy(keep_unnamed=1))
    assert _numbers(context, handle) == [6, 4, 1]
    models.update(context, AUTHOR, handle, _policy(keep_unnamed=0, keep_first_of_month=False))
    assert _numbers(context, handle) == [6]


def test_without_a_policy_a_hundred_stay(context: Context) -> None:
    handle = draft(context)
    for _ in range(103):
        _add_version(context, handle, datetime(2026, 1, 5, tzinfo=UTC))
    assert _numbers(context, handle) == [*range(103, 3, -1), 1]


@ON_BOTH
def test_training_prunes_and_what_is_pruned_is_gone_with_its_snapshot(context: Context) -> None:
    handle = trained_here(context)
    models.update(context, AUTHOR, handle, _policy(keep_unnamed=1, keep_first_of_month=False))
    assert score(context, f"{handle}@v1").scores
    versions.tag(context, AUTHOR, handle, "first")
    refit(context, handle)
    assert _numbers(context, handle) == [2, 1]
    versions.untag(context, AUTHOR, handle, "first")
    refit(context, handle)
    assert _numbers(context, handle) == [3]
    for gone in ("v1", "v2"):
        with pytest.raises(VersionNotFound):
            active(context, handle, gone)
        with pytest.raises(VersionNotFound):
            score(context, f"{handle}@{gone}")


def test_the_policy_of_a_draft_is_there_for_its_first_version(context: Context) -> None:
    handle = draft(context, warm=2, cold=2)
    models.update(context, AUTHOR, handle, _policy(keep_unnamed=0, keep_first_of_month=False))
    train(context, handle)
    assert _numbers(context, handle) == [1]


# ---- any history -----------------------------------------------------------------------------------------------------


@dataclass
class History:
    """The versions that should exist, by an independent implementation of the rule."""

    created: dict[int, datetime] = field(default_factory=dict)
    tags: dict[str, int] = field(default_factory=dict)
    active: int = 0
    keep_unnamed: int = 100
    keep_first_of_month: bool = True

    def prune(self) -> None:
        named = set(self.tags.values())
        for number in [number for number in self.created if not self._stays(number, named)]:
            del self.created[number]

    def _stays(self, number: int, named: set[int]) -> bool:
        if number in named or number == self.active:
            return True
        newer = sum(other > number and other not in named for other in self.created)
        return newer < self.keep_unnamed or (self.keep_first_of_month and self._is_first_of_month(number))

    def _is_first_of_month(self, number: int) -> bool:
        month = f"{self.created[number]:%Y-%m}"
        return all(other >= number for other, made in self.created.items() if f"{made:%Y-%m}" == month)


_DAYS = st.integers(0, 90).map(lambda day: datetime.fromtimestamp(1_790_000_000 + day * 86_400, UTC))
_EVENTS = st.one_of(
    st.tuples(st.just("version"), _DAYS),
    st.tuples(st.just("version"), _DAYS),
    st.tuples(st.just("activate"), st.integers(0, 30)),
    st.tuples(st.just("tag"), st.sampled_from("ab")),
    st.tuples(st.just("untag"), st.sampled_from("ab")),
    st.tuples(st.just("policy"), st.tuples(st.integers(0, 4), st.booleans())),
)


@settings(max_examples=sized(15, 60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=_DAYS, events=st.lists(_EVENTS, min_size=4, max_size=25))
def test_whatever_happens_the_versions_that_stay_are_those_of_the_rule(
    context: Context, first: datetime, events: list[tuple[str, Any]]
) -> None:
    handle, history = draft(context), History()
    for _ in _policies(context, handle, history, [("version", first), *events]):
        assert _numbers(context, handle) == sorted(history.created, reverse=True)
        assert models.get(context, AUTHOR, handle).version_no == history.active


def _policies(context: Context, handle: str, history: History, events: list[tuple[str, Any]]) -> Iterator[None]:
    for event, value in events:
        if event == "version":
            history.active = _add_version(context, handle, value)
            history.created[history.active] = value
            history.prune()
        elif event == "activate":
            history.active = sorted(history.created)[value % len(history.created)]
            versions.activate(context, AUTHOR, handle, VersionActivate(version=f"v{history.active}"))
        elif event == "tag":
            history.tags[value] = versions.tag(context, AUTHOR, handle, value).version_no
        elif event == "untag" and value in history.tags:
            versions.untag(context, AUTHOR, handle, value)
            del history.tags[value]
        elif event == "policy":
            history.keep_unnamed, history.keep_first_of_month = value
            models.update(context, AUTHOR, handle, _policy(keep_unnamed=value[0], keep_first_of_month=value[1]))
            history.prune()
        yield
