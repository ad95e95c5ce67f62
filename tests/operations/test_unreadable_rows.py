"""One unreadable row hides no other, in every list and in the worker's sweeps, and it is named with the reason.

Rows are damaged directly in the SQLite file, which bypasses every check of the values.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.contexts import AUTHOR, ON_SQLITE, SCORER, draft, new_handle
from tests.operations.author import give_feedback, score
from tests.operations.damage import in_file
from traitbench.contract.bundles import Bundle, BundledVersion, digest
from traitbench.contract.fields import Unreadable
from traitbench.contract.models import ModelUpdate, TrainRequest, VersionRetentionPolicy
from traitbench.errors import UnreadableRow
from traitbench.operations import (
    bundles,
    model_cards,
    model_runs,
    models,
    retraining,
    samples,
    training,
    traits,
    versions,
    zero_retention,
)
from traitbench.operations.context import Context
from traitbench.store import runs as run_rows
from traitbench.store.database import writing

pytestmark = ON_SQLITE  # rows are damaged in its file

LATE = 253_402_350_000_000_000 + 10**15


@pytest.fixture
def made(own: Context, exported: Bundle) -> str:
    """A trained model for one test, made quickly."""
    handle = new_handle()
    bundles.import_(own, AUTHOR, exported, handle)
    return handle


Spoil = Callable[[str, str, Any], None]


@pytest.fixture
def spoil(own: Context) -> Iterator[Spoil]:
    """Write a value into a column of a model's rows; the old values are restored after the test."""
    undo: list[tuple[str, tuple[Any, ...]]] = []

    def write(handle: str, column: str, value: Any) -> None:
        table, name = column.split(".")
        own_id = "id" if table == "tb_models" else "model_id"
        where = f"{own_id} = (SELECT id FROM tb_models WHERE handle = ?)"
        [(row, before)] = in_file(
            own, f"SELECT rowid, {name} FROM {table} WHERE {where} ORDER BY rowid LIMIT 1", handle
        ).rows
        in_file(own, f"UPDATE {table} SET {name} = ? WHERE rowid = ?", value, row)
        undo.append((f"UPDATE {table} SET {name} = ? WHERE rowid = ?", (before, row)))
        if own.read_cache is not None:
            own.read_cache.clear()

    yield write
    for statement, values in reversed(undo):
        in_file(own, statement, *values)


NOT_UTF_8 = "CAST(X'ff' AS TEXT)"

MODELS: list[tuple[str, Any, str]] = [
    ("upstream_sources", "[{", "JSON"),
    ("upstream_sources", "[NaN]", "JSON"),
    ("upstream_sources", '[{"a": 1e999}]', "JSON"),
    ("upstream_sources", '["\\ud800"]', "JSON"),
    ("upstream_sources", "[" * 400 + "]" * 400, "JSON"),
    ("upstream_sources", "7", "upstream_sources"),
    ("version_retention_policy", '{"keep_unnamed": "many"}', "version_retention_policy"),
    ("version_retention_policy", "[", "JSON"),
    ("state", "lost", "state"),
    ("max_depth", "deep", "max_depth"),
    ("description", b"\xff\xfe", "description"),
    ("tb_traits.name", b"\xff\xfe", "traits"),
]


@pytest.mark.parametrize(("column", "value", "reason"), MODELS)
def test_a_list_of_models_goes_on_without_one_that_cannot_be_read(
    own: Context, made: str, spoil: Spoil, column: str, value: Any, reason: str
) -> None:
    other = draft(own)
    spoil(made, column if "." in column else f"tb_models.{column}", value)
    page = models.list_models(own, SCORER, namespace="local", limit=250)
    assert other in [model.handle for model in page.items]
    assert made not in [model.handle for model in page.items]
    assert [row.item for row in page.unreadable] == [made]
    assert reason in page.unreadable[0].reason
    with pytest.raises(UnreadableRow, match="cannot be read"):
        models.get(own, SCORER, made)
    assert models.get(own, SCORER, other).handle == other


def test_pages_of_a_list_lose_and_repeat_nothing(own: Context, exported: Bundle, spoil: Spoil) -> None:
    handles = sorted(new_handle() for _ in range(5))
    for handle in handles:
        bundles.import_(own, AUTHOR, exported, handle)
    spoil(handles[1], "tb_models.state", "lost")
    spoil(handles[2], "tb_models.upstream_sources", "{")
    seen, apart, cursor = [], [], None
    while True:
        page = models.list_models(own, SCORER, namespace="local", limit=1, cursor=cursor)
        seen += [model.handle for model in page.items]
        apart += [row.item for row in page.unreadable]
        if (cursor := page.next_cursor) is None:
            break
    assert [handle for handle in seen if handle in handles] == [handles[0], *handles[3:]]
    assert apart == handles[1:3]


def test_a_handle_that_is_no_text_does_not_hold_up_a_list(own: Context, made: str, spoil: Spoil) -> None:
    other = draft(own)
    spoil(made, "tb_models.handle", b"local.\xff")
    page = models.list_models(own, SCORER, namespace="local", limit=250)
    assert other in [model.handle for model in page.items]
    assert len(page.unreadable) == 1
    assert page.unreadable[0].item.startswith("row ")


@pytest.mark.parametrize(
    ("column", "value"),
    [
        *(("tb_versions.created_at", value) for value in (LATE, -1, "then")),
        *(("tb_versions.metrics", value) for value in ("{", "[]", '{"auroc": Infinity}')),
        ("tb_versions.triggered_by", "magic"),
        ("tb_versions.sample_count", "many"),
        ("tb_versions.param_hash", b"\xff"),
    ],
)
def test_a_list_of_versions_goes_on_without_one_that_cannot_be_read(
    own: Context, exported: Bundle, spoil: Spoil, column: str, value: Any
) -> None:
    handle = _with_two_versions(own, exported)
    spoil(handle, column, value)
    page = versions.list_versions(own, SCORER, handle)
    assert [each.version_no for each in page.items] == [2]
    assert [row.item for row in page.unreadable] == ["v1"]
    with pytest.raises(UnreadableRow, match="cannot be read"):
        versions.get(own, SCORER, handle, "v1")
    assert versions.get(own, SCORER, handle, "v2").version_no == 2
    assert models.get(own, SCORER, handle).version_no == 2
    assert handle in model_cards.card(own, SCORER, handle).replace("\\", "")
    assert score(own, handle).composite >= 0


def test_a_snapshot_that_is_damaged_is_said_in_plain_words(own: Context, made: str) -> None:
    in_file(own, "UPDATE tb_snapshots SET snapshot = X'7b' WHERE version_id = (SELECT active_version_id FROM tb_models"
             " WHERE handle = ?)", made)  # fmt: skip
    with pytest.raises(UnreadableRow, match="The snapshot of the version cannot be read"):
        score(own, made)
    assert versions.list_versions(own, SCORER, made).items


@pytest.mark.parametrize(
    ("column", "value"),
    [
        *(("tb_samples.created_at", LATE), ("tb_samples.quality", "good"), ("tb_samples.quality", float("inf"))),
        *(("tb_samples.provenance", "found"), ("tb_samples.text", b"\xff"), ("tb_samples.source_url", b"\xff")),
    ],
)
def test_a_list_of_samples_goes_on_without_one_that_cannot_be_read(
    own: Context, made: str, spoil: Spoil, column: str, value: Any
) -> None:
    before = samples.list_samples(own, AUTHOR, made).items
    spoil(made, column, value)
    page = samples.list_samples(own, AUTHOR, made)
    assert page.items == before[1:]
    assert [row.item for row in page.unreadable] == [str(before[0].id)]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("tb_traits.anchor_sample_ids", "{"),
        ("tb_traits.aggregation", "median"),
        ("tb_traits.kind", "other"),
        ("tb_traits.discrimination", "high"),
        ("tb_traits.positive_label", b"\xff"),
    ],
)
def test_a_list_of_traits_goes_on_without_one_that_cannot_be_read(
    own: Context, made: str, spoil: Spoil, column: str, value: Any
) -> None:
    columns = "model_id, key, name, description, positive_label, negative_label, aggregation, kind"
    values = "id, 'other', 'Other', '', 'a', 'b', 'mean', 'extrinsic'"
    in_file(own, f"INSERT INTO tb_traits ({columns}) SELECT {values} FROM tb_models WHERE handle = ?", made)
    spoil(made, column, value)
    page = traits.list_traits(own, SCORER, made)
    assert [trait.key for trait in page.traits] == ["other"]
    assert [row.item for row in page.unreadable] == ["warmth"]
    assert made in [model.handle for model in models.list_models(own, SCORER, namespace="local", limit=250).items]


def test_text_that_is_not_utf_8_is_named_without_its_content(own: Context, made: str) -> None:
    in_file(own, f"UPDATE tb_models SET description = {NOT_UTF_8} WHERE handle = ?", made)
    page = models.list_models(own, SCORER, namespace="local", limit=250)
    assert Unreadable(item=made, reason="a text is not UTF-8") in page.unreadable
    models.delete(own, AUTHOR, made)
    assert made not in [row.item for row in models.list_models(own, SCORER, namespace="local", limit=250).unreadable]


# ---- sweeps ----------------------------------------------------------------------------------------------------------


def _with_two_versions(context: Context, exported: Bundle) -> str:
    """A model whose first version may be damaged, and whose second one scores."""
    [first] = exported.versions
    second = first.model_copy(update={"version_no": 2, "tags": []})
    return _imported(context, exported, [first.model_copy(update={"active": False}), second])


def _imported(context: Context, exported: Bundle, versions_of_it: list[BundledVersion]) -> str:
    handle, bundle = new_handle(), exported.model_copy(update={"versions": versions_of_it})
    bundles.import_(context, AUTHOR, bundle.model_copy(update={"sha256": digest(bundle)}), handle)
    return handle


def test_feedback_of_other_models_is_learnt_when_one_cannot_be_read(
    own: Context, exported: Bundle, spoil: Spoil
) -> None:
    handles = [new_handle() for _ in range(3)]
    eager = replace(own, settings=replace(own.settings, retrain_after_samples=99, retrain_after_seconds=0))
    for handle in handles:
        bundles.import_(own, AUTHOR, exported, handle)
        give_feedback(own, handle)
    spoil(handles[0], "tb_models.version_retention_policy", "{")
    spoil(handles[1], "tb_versions.metrics", "{")
    retraining.sweep(own.engine, own.runs, eager.settings)
    states = "SELECT state FROM tb_models WHERE handle IN (?, ?, ?) ORDER BY id"
    # A damaged policy keeps every version and does not prevent a training.
    assert in_file(own, states, *handles).rows == [("busy",), ("ready",), ("busy",)]


def test_purges_are_settled_when_the_time_of_one_cannot_be_read(own: Context, exported: Bundle) -> None:
    handles = [new_handle() for _ in range(2)]
    for handle in handles:
        bundles.import_(own, AUTHOR, exported, handle)
    for handle, since in zip(handles, ("then", 1), strict=True):
        in_file(own, "UPDATE tb_models SET unsettled_purge = ? WHERE handle = ?", since, handle)
    zero_retention.sweep(own.engine)
    left = in_file(own, "SELECT handle FROM tb_models WHERE unsettled_purge IS NOT NULL").rows
    assert not {handle for (handle,) in left} & set(handles)


def test_a_version_of_unknown_age_stays_and_the_others_are_pruned(own: Context, exported: Bundle, spoil: Spoil) -> None:
    [first] = exported.versions
    when = datetime(2026, 1, 5, tzinfo=UTC)
    three = [
        first.model_copy(update={"version_no": number, "active": number == 4, "tags": [], "created_at": when})
        for number in (1, 2, 3, 4)
    ]
    handle = _imported(own, exported, three)
    spoil(handle, "tb_versions.created_at", "then")
    policy = VersionRetentionPolicy(keep_unnamed=0, keep_first_of_month=False)
    models.update(own, AUTHOR, handle, ModelUpdate(version_retention_policy=policy))
    page = versions.list_versions(own, SCORER, handle)
    assert ([each.version_no for each in page.items], [row.item for row in page.unreadable]) == ([4], ["v1"])


def test_a_run_with_damaged_options_is_settled_with_the_others(own: Context, spoil: Spoil) -> None:
    busy = [draft(own, warm=2, cold=2) for _ in range(2)]
    started = [training.start(own, AUTHOR, handle, TrainRequest(effort="low"))[0].run_id for handle in busy]
    spoil(busy[0], "tb_runs.options", "{")
    with writing(own.engine) as connection:
        alive = {run.id: run for run in run_rows.live(connection)}
        for run_id in started:
            assert model_runs.fail(connection, alive[str(run_id)], code="interrupted", message="The run was lost.")
    assert [models.get(own, SCORER, handle).state for handle in busy] == ["failed", "failed"]
