"""Every column with JSON, a time or a number is damaged in turn: lists, zero retention and deletion still work.

The columns are taken from the tables, so new ones are tested too. They are damaged directly in the SQLite file, which
bypasses every check of the values.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Column, Float

from tests.contexts import AUTHOR, ON_SQLITE, SCORER, draft, new_handle
from tests.operations.author import score
from tests.operations.damage import in_file
from traitbench.contract.bundles import Bundle
from traitbench.contract.models import ModelUpdate, TrainRequest
from traitbench.errors import Unauthenticated
from traitbench.operations import (
    attributes,
    bundles,
    keys,
    labelling,
    model_runs,
    models,
    operating,
    proposed,
    sample_changes,
    samples,
    synthesis,
    training,
    traits,
    versions,
)
from traitbench.operations.context import Context
from traitbench.runs import recovery
from traitbench.runs.heartbeat import WorkerExit, WorkItem
from traitbench.store import runs as run_rows
from traitbench.store import tables
from traitbench.store.database import reading

pytestmark = ON_SQLITE

WORD = "quokkaplume"
ON = ModelUpdate(zero_data_retention=True)
OWNER = {
    "tb_models": "id",
    **dict.fromkeys(("tb_keys", "tb_workers", "tb_version_positions", "tb_attributes", "tb_decisions")),
}
"""What tells a model's rows, where it is not `model_id`; None for tables without a model, or with those of versions."""

KINDS: dict[type, Any] = {tables.Moment: "yesterday", Float: "high", type(tables.runs.c.options.type): f'[{{"{WORD}'}
COLUMNS = [
    (column, value)
    for table in tables.metadata.sorted_tables
    for column in table.columns
    for kind, value in KINDS.items()
    if type(column.type) is kind
] + [
    (tables.workers.c.seen_at, "yesterday"),
    (tables.models.c.upstream_sources, "7"),
    (tables.traits.c.discovery, "7"),
    (tables.runs.c.progress, "7"),
    (tables.models.c.version_retention_policy, "7"),
]


def _made(context: Context, exported: Bundle) -> str:
    """A trained model with a discovered trait, a run that has ended, and a row in every other table."""
    handle = new_handle()
    bundles.import_(context, AUTHOR, exported, handle)
    words = {"name": f"{WORD} name", "positive_label": f"{WORD} +", "negative_label": f"{WORD} -", "stability": 0.5}
    mine = "(SELECT id FROM tb_models WHERE handle = :handle)"
    for statement in (
        "INSERT OR REPLACE INTO tb_keys (id, name, hash, prefix, scope, namespaces, created_at)"
        " VALUES ('key_spoilt', 'spoilt', 'hash', 'tbs_0', 'scoring', '[\"local\"]', 1)",
        "INSERT OR REPLACE INTO tb_workers (executor_id, seen_at) VALUES ('elsewhere', 1)",
        "INSERT INTO tb_kept_vectors (model_id, encoder_digest, mode, place, text_hash, alone, size, used_at, vector)"
        f" SELECT {mine}, 'digest', 'full', random(), X'00', 1, 4, 1, X'00000000'",
        "INSERT INTO tb_runs (id, model_id, kind, effort, status, created_at, finished_at)"
        f" VALUES (:handle, {mine}, 'train', 'low', 'succeeded', 1, 2)",
        "INSERT INTO tb_rejected_texts (model_id, trait_id, text, quality, reason, generator)"
        f" SELECT {mine}, id, '{WORD} text', 1.0, 'copy', 'offline' FROM tb_traits WHERE model_id = {mine} LIMIT 1",
        "INSERT INTO tb_replaced_samples (sample_id, model_id, first_version_no, last_version_no, trait, text, quality,"
        " provenance, content_sha256, created_at, held_out, must_pass) SELECT random(), model_id, 1, 1, 'warmth',"
        f" '{WORD} text', quality, 'authored', '', 1, 0, 0 FROM tb_samples WHERE model_id = {mine} LIMIT 1",
        "INSERT INTO tb_sample_changes (model_id, at, first_sample_id, last_sample_id, undoable_until, entries)"
        f" VALUES ({mine}, 1, 1, 1, 2, X'00')",
        "INSERT INTO tb_undo_samples (change_id, sample_id, sample)"
        f" SELECT id, 1, '{WORD}' FROM tb_sample_changes WHERE model_id = {mine}",
        "INSERT INTO tb_proposed_labels (model_id, trait, text, content_sha256, value, proposed_at)"
        f" VALUES ({mine}, 'warmth', '{WORD}', '', 1.0, 1)",
        f"INSERT INTO tb_texts (model_id, text, content_sha256, added_at) VALUES ({mine}, '{WORD}', '', 1)",
        "INSERT INTO tb_decisions (text_id, trait, person, quality, made, note, decided_at)"
        f" SELECT id, 'warmth', '', 1.0, 0, '{WORD}', 1 FROM tb_texts WHERE model_id = {mine}",
        "INSERT INTO tb_answers (id, model_id, request, request_id, status, media_type, content, answered_at)"
        f" SELECT :handle, {mine}, '', '', 200, '', CAST('{WORD}' AS BLOB), 1",
        "INSERT OR REPLACE INTO tb_attributes (namespace, name, handle, trait, set_at)"
        " VALUES ('local', 'WARMTH', :handle, 'warmth', 1)",
        "UPDATE tb_models SET run_id = :handle WHERE handle = :handle",
        f"UPDATE tb_traits SET kind = 'intrinsic', name = '{WORD} name', positive_label = '{WORD} +', negative_label ="
        f" '{WORD} -', discrimination = 0.9, explained_variance = 0.5, discovery = :words WHERE model_id = {mine}",
        f"""UPDATE tb_snapshots SET snapshot = CAST(replace(CAST(snapshot AS TEXT), '"name":"Warmth"',
            '"name":"{WORD} name"') AS BLOB)
            WHERE version_id IN (SELECT id FROM tb_versions WHERE model_id = {mine})""",
    ):
        in_file(context, statement, handle=handle, words=json.dumps(words))
    holding = {"tb_traits", "tb_snapshots", "tb_rejected_texts", "tb_replaced_samples", "tb_undo_samples"}
    assert _holding(context, handle) == holding | {"tb_proposed_labels", "tb_texts", "tb_decisions", "tb_answers"}
    return handle


def _damage(context: Context, handle: str, column: Column[Any], value: Any) -> None:
    owner = OWNER.get(column.table.name, "model_id")
    where = f"{owner} IN (SELECT id FROM tb_models WHERE handle = :handle)" if owner else ":handle IS NOT NULL"
    changed = in_file(
        context, f"UPDATE {column.table.name} SET {column.name} = :value WHERE {where}", value=value, handle=handle
    ).changed
    assert changed >= 1
    if context.read_cache is not None:
        context.read_cache.clear()


def _lists(context: Context, handle: str, *, state: str) -> None:
    result = models.list_models(context, SCORER, namespace="local", state=state, limit=250)
    assert handle in [*(model.handle for model in result.items), *(row.item for row in result.unreadable)]
    read = traits.list_traits(context, SCORER, handle)
    assert len(read.traits) + len(read.unreadable) == 1
    kept = versions.list_versions(context, SCORER, handle)
    assert len(kept.items) + len(kept.unreadable) == 1
    samples.list_samples(context, AUTHOR, handle)
    synthesis.rejected(context, AUTHOR, handle)
    sample_changes.history(context, AUTHOR, handle)
    proposed.list_proposed(context, AUTHOR, handle)
    labelling.list_texts(context, AUTHOR, handle)
    labelling.list_decisions(context, AUTHOR, handle, everyone=True)
    aliases = attributes.list_attributes(context, SCORER, "local")
    assert [*(each.name for each in aliases.items), *(row.item for row in aliases.unreadable)] == ["WARMTH"]
    sample_changes.sweep(context.engine)
    assert "key_spoilt" in [
        *(key.id for key in keys.every(context.engine).items()),
        *(row.item for row in keys.every(context.engine).unreadable()),
    ]
    seen = operating.recent(context.engine, ended=1_000)
    assert handle in [*(run.id for run in seen.ended), *(row.item for row in seen.unreadable)]
    operating.overview(context.engine)


def _holding(context: Context, handle: str) -> set[str]:
    """The tables with rows of the model that contain the word."""
    mine = "(SELECT id FROM tb_models WHERE handle = :handle)"
    with_id = "tb_traits tb_samples tb_kept_vectors tb_versions tb_tags tb_rejected_texts tb_replaced_samples tb_runs"
    with_id += " tb_proposed_labels tb_texts tb_answers"
    of = {
        "tb_models": f"id = {mine}",
        "tb_snapshots": f"version_id IN (SELECT id FROM tb_versions WHERE model_id = {mine})",
        "tb_undo_samples": f"change_id IN (SELECT id FROM tb_sample_changes WHERE model_id = {mine})",
        "tb_decisions": f"text_id IN (SELECT id FROM tb_texts WHERE model_id = {mine})",
        "tb_vectors": f"sample_id IN (SELECT id FROM tb_samples WHERE model_id = {mine})",
        **dict.fromkeys(with_id.split(), f"model_id = {mine}"),
    }
    rows = {
        table: in_file(context, f"SELECT * FROM {table} WHERE {where}", handle=handle).rows
        for table, where in of.items()
    }
    return {table for table, result in rows.items() if WORD in str(result)}


@pytest.fixture(autouse=True)
def undone(own: Context) -> Iterator[None]:
    """After a test, repair what belongs to no model, and delete runs."""
    yield
    for statement in ("DELETE FROM tb_keys", "DELETE FROM tb_workers", "UPDATE tb_models SET run_id = NULL"):
        in_file(own, statement)
    in_file(own, "DELETE FROM tb_runs")


@pytest.mark.parametrize(("column", "value"), COLUMNS, ids=[f"{column}={value}" for column, value in COLUMNS])
def test_lists_zero_retention_and_deletion_survive_a_damaged_column(
    own: Context, exported: Bundle, column: Column[Any], value: Any
) -> None:
    purged, archived = _made(own, exported), _made(own, exported)
    for handle in (purged, archived):
        _damage(own, handle, column, value)
        _lists(own, handle, state="ready")
    assert models.update(own, AUTHOR, purged, ON).zero_data_retention
    assert samples.list_samples(own, AUTHOR, purged).items == []
    assert _holding(own, purged) == set()
    assert set(score(own, purged).scores) == {"warmth"}
    for handle in (purged, archived):
        assert models.delete(own, AUTHOR, handle).deleted
        _lists(own, handle, state="archived")


@pytest.mark.parametrize("column", ["options", "progress", "struck_at", "created_at"])
def test_a_run_with_a_damaged_column_is_cancelled(own: Context, column: str) -> None:
    handles = [draft(own, warm=2, cold=2) for _ in range(2)]
    for handle in handles:
        training.start(own, AUTHOR, handle, TrainRequest(effort="low"))
        _damage(own, handle, tables.runs.c[column], "[{")
    assert models.update(own, AUTHOR, handles[0], ON).state == "failed"
    assert models.delete(own, AUTHOR, handles[1]).deleted
    with reading(own.engine) as connection:
        assert run_rows.live(connection) == []


@pytest.mark.parametrize("damage", ["[{", "7", '{"phase": "learning"}'])
def test_a_run_whose_last_strike_cannot_be_read_does_not_hold_up_the_worker(own: Context, damage: str) -> None:
    handle = draft(own, warm=2, cold=2)
    run_id = str(training.start(own, AUTHOR, handle, TrainRequest(effort="low"))[0].run_id)
    _damage(own, handle, tables.runs.c.struck_at, damage)
    recovery.judge(own.engine, [WorkerExit("slow", {run_id: WorkItem("learning", 3)})], model_runs.fail)
    with reading(own.engine) as connection:
        run = run_rows.read(connection, run_id)
    assert run is not None
    assert (run.strikes, run.struck_at) == (1, WorkItem("learning", 3).to_json())


def test_a_key_that_cannot_be_read_is_revoked(own: Context, exported: Bundle) -> None:
    issued = keys.create(own.engine, scope="scoring", namespaces=["local"])
    for column, damage in (("namespaces", "[{"), ("created_at", "then"), ("last_used_at", "then")):
        in_file(own, f"UPDATE tb_keys SET {column} = :damage", damage=damage)
    assert [row.item for row in keys.every(own.engine).unreadable()] == [issued.key.id]
    with pytest.raises(Unauthenticated):
        keys.caller(own.engine, issued.secret)
    keys.revoke(own.engine, issued.key.id)
    assert in_file(own, "SELECT revoked_at IS NOT NULL FROM tb_keys").rows == [(1,)]
