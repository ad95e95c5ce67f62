"""Zero data retention: samples, words taken from them and their vectors are gone before the response.

A purge has two steps. `purge` deletes in the caller's transaction, and SQLite overwrites what it deletes
(`secure_delete`). `settle` then rewrites the database file, because free space in it still holds copies, and truncates
the log, which holds old pages. A log that is being read cannot be truncated, and a full disk has no room for a new
file. So `check` waits for readers and checks the free space on the disk before anything is deleted: a refusal changes
nothing. If `settle` fails all the same, the caller gets an error, and the model stays marked until the worker has
succeeded (`sweep`).

On PostgreSQL, VACUUM overwrites deleted rows later, and the log is the operator's responsibility.

See core/docs/contract.md, section 9.
"""

import logging
from collections.abc import Mapping
from functools import partial
from typing import Any

from sqlalchemy import Connection, Engine

from traitbench.errors import Unavailable, UnreadableRow
from traitbench.operations import model_runs, retention, rules
from traitbench.store import (
    answers,
    models,
    proposed_labels,
    rejected_texts,
    replaced_samples,
    runs,
    sample_changes,
    samples,
    text_vectors,
    texts,
    traits,
    version_positions,
    version_samples,
    versions,
)
from traitbench.store.database import clean, cleanable, reading, writing
from traitbench.store.errors import StoreUnavailable, unavailable
from traitbench.store.models import ModelRow

_PATIENCE_SECONDS = 10.0
_SWEEP_PATIENCE_SECONDS = 1.0
_REMNANTS = (
    "Zero data retention is on and the samples are deleted, but the database's files still hold copies. These are"
    " removed as soon as possible."
)
_NEUTRAL = {"positive_label": "positive", "negative_label": "negative", "description": ""}

_log = logging.getLogger(__name__)


def cancel(connection: Connection, model: ModelRow) -> str | None:
    """Cancel the run of a locked model before its samples are purged; return the id of the run, if any."""
    run = runs.read_to_end(connection, model.run_id) if model.state == "busy" and model.run_id else None
    if run is None:
        return None
    model_runs.fail(connection, run, code="cancelled", message="Zero data retention was switched on.")
    return run.id


def check(engine: Engine, *, patience_s: float = _PATIENCE_SECONDS) -> None:
    """Wait until a purge can be completed; raise `Unavailable` if others are still reading after `patience_s`."""
    if not cleanable(engine, patience_s=patience_s):
        raise Unavailable(
            f"Another process, perhaps a backup, has been reading the database's log for {patience_s:g} s, so samples"
            " could not be removed from it. Nothing was changed. Try again when that process has ended.",
            headers={"Retry-After": "10"},
        )


def purge(connection: Connection, model_id: int) -> None:
    """Delete the samples of a locked model and everything that contains their words; call `settle` after the commit."""
    samples.purge(connection, model_id)
    sample_changes.purge(connection, model_id)
    rejected_texts.forget(connection, model_id)
    proposed_labels.remove(connection, model_id)
    answers.purge(connection, model_id)
    texts.remove(connection, model_id)
    replaced_samples.purge(connection, model_id)
    version_samples.purge(connection, model_id)
    version_positions.purge(connection, model_id)
    text_vectors.forget(connection, model_id)
    _remove_words(connection, model_id)
    # Damaged JSON may hold words of the samples.
    models.clear(connection, model_id)
    versions.forget_test_sets(connection, model_id)
    models.clear_damage(connection, model_id, now=rules.now())
    models.change(connection, model_id, now=rules.now(), demo_texts=None, unsettled_purge=rules.now())


def settle(engine: Engine, *model_ids: int, patience_s: float = _PATIENCE_SECONDS) -> bool:
    """Remove what purges of models deleted from the database's files, which are rewritten once for all of them.

    False if other processes prevented it for `patience_s`.
    """
    with reading(engine) as connection:
        unsettled = models.unsettled_purges(connection)
    times = {model_id: unsettled[model_id] for model_id in model_ids if model_id in unsettled}
    if not times:
        return True
    if not clean(engine, patience_s=patience_s):
        return False
    with writing(engine) as connection:
        for model_id, since in times.items():
            # The request of a later purge settles that one itself.
            models.purge_settled(connection, model_id, since)
    return True


def settle_or_say(engine: Engine, *model_ids: int, patience_s: float = _PATIENCE_SECONDS) -> None:
    """Raise `Unavailable` unless the purges are complete: a 200 is a promise."""
    try:
        settled = settle(engine, *model_ids, patience_s=patience_s)
    except StoreUnavailable as error:
        raise unavailable(error.reason, nothing=_REMNANTS) from None
    if not settled:
        raise Unavailable(
            f"Another process is reading the database's log. {_REMNANTS} Send the request again to see"
            " whether that is done.",
            headers={"Retry-After": "10"},
        )


def handles(engine: Engine) -> frozenset[str]:
    """The handles of all models under zero data retention, archived or not."""
    with reading(engine) as connection:
        return models.under_zero_retention(connection)


def sweep(engine: Engine) -> None:
    """Complete the purges that `settle` could not complete before."""
    with reading(engine) as connection:
        unsettled = list(models.unsettled_purges(connection))
    for _ in retention.each("purge sweep", unsettled, partial(_is_blocked, engine)):
        return


def _is_blocked(engine: Engine, model_id: int) -> bool:
    try:
        settled = settle(engine, model_id, patience_s=_SWEEP_PATIENCE_SECONDS)
    except StoreUnavailable as error:
        _log.warning("purged samples cannot be removed from the database's files: %s", error.reason)
        return True
    if not settled:
        _log.warning("another process is reading the database's log, which still holds purged samples")
    return not settled


def _remove_words(connection: Connection, model_id: int) -> None:
    """Replace names that discovery made from words of the samples with neutral ones, in the versions too."""
    traits.forget_dismissed(connection, model_id)
    discovered = traits.discovered(connection, model_id)
    for trait in discovered:
        neutral = {"name": _free_name(connection, model_id, trait), **_NEUTRAL}
        # If the record of the discovery is damaged, any word may come from the samples.
        words = trait.given if trait.words is None else trait.words
        fields = {name: neutral[name] for name, word in words.items() if trait.given[name] == word}
        numbers = {name: value for name, value in (trait.discovery or {}).items() if isinstance(value, int | float)}
        no_anchors: dict[str, list[int]] = {"positive": [], "negative": []}
        traits.change(connection, trait.id, {**fields, "discovery": numbers, "anchor_sample_ids": no_anchors})
    if discovered:
        _remove_from_versions(connection, model_id, {trait.key: trait.words for trait in discovered})


def _remove_from_versions(connection: Connection, model_id: int, words: Mapping[str, Mapping[str, str] | None]) -> None:
    # Imported here, because every worker would import scipy for it when it starts.
    from traitbench.scoring.snapshot import Snapshot, SnapshotInvalid, param_hash

    for version_id in versions.ids(connection, model_id):
        try:
            snapshot = versions.snapshot(connection, version_id)
            cleaned = [_without_words(trait, words.get(trait["key"], {})) for trait in snapshot["traits"]]
            new_hash = param_hash(Snapshot.from_json({**snapshot, "traits": cleaned}))
        except (UnreadableRow, SnapshotInvalid, LookupError, TypeError, AttributeError):
            # It cannot score, and the words in it are unknown, so it is emptied.
            versions.rewrite(connection, version_id, {}, param_hash="")
            continue
        if cleaned != snapshot["traits"]:
            snapshot["traits"] = cleaned
            versions.rewrite(connection, version_id, snapshot, param_hash=new_hash)


def _without_words(trait: Mapping[str, Any], words: Mapping[str, str] | None) -> dict[str, Any]:
    neutral = {"name": trait["key"], **_NEUTRAL}
    fields = (
        neutral.keys() & trait.keys() if words is None else {name for name in words if trait.get(name) == words[name]}
    )
    return {**trait, **{name: neutral[name] for name in fields}}


def _free_name(connection: Connection, model_id: int, trait: traits.StoredDiscovery) -> str:
    taken = {row.name for row in traits.rows(connection, model_id) if row.id != trait.id}
    name = trait.key
    while name in taken:
        name += "_"
    return name
