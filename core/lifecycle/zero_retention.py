"""Zero data retention: samples, all that holds words of them, and vectors are gone before anybody is told.

A purge is two acts. `purge` deletes, in the caller's transaction; SQLite overwrites what it deletes (`secure_delete`).
`settle` then has the database's file written anew, for copies still stand in its gaps, and its log emptied, where the
old pages do. A log that is being read cannot be emptied, and a full disk has no room for a new file: `check` waits for
readers and looks at the disk before anything is deleted, so that a refusal changes nothing. If `settle` fails all the
same, the model is marked until it succeeds, the caller is told so, and the worker tries again (`sweep`).
On PostgreSQL deleted rows are overwritten in the server's own time, by VACUUM, and its log is its operator's.

See core/docs/contract.md, section 9.
"""

import logging
from collections.abc import Mapping
from functools import partial
from typing import Any

from sqlalchemy import Connection, Engine

from traitbench.errors import Unavailable, UnreadableRow
from traitbench.lifecycle import outcomes, rules, sweeps
from traitbench.scoring.snapshot import Snapshot, SnapshotInvalid, param_hash
from traitbench.store import damage, kept_vectors, models, runs, samples, traits, versions
from traitbench.store.engine import clean, cleanable, reading, writing
from traitbench.store.models import ModelRow
from traitbench.store.trouble import StoreUnavailable, unavailable

_PATIENCE_SECONDS = 10.0
_SWEEP_PATIENCE_SECONDS = 1.0
_REMNANTS = (
    "Zero data retention is on and the samples are deleted, but the database's files still hold copies, which are"
    " removed as soon as that is possible."
)
_NEUTRAL = {"positive_label": "positive", "negative_label": "negative", "description": ""}

_log = logging.getLogger(__name__)


def cancel(connection: Connection, model: ModelRow) -> str | None:
    """End what a held model is busy with, before its samples go: it will store nothing. The id of the run, if any."""
    run = runs.read_to_end(connection, model.run_id) if model.state == "busy" and model.run_id else None
    if run is None:
        return None
    outcomes.fail(connection, run, code="cancelled", message="Zero data retention was switched on.")
    return run.id


def check(engine: Engine, *, patience_s: float = _PATIENCE_SECONDS) -> None:
    """Wait until a purge can be completed; raise `Unavailable` when others keep reading for all that time."""
    if not cleanable(engine, patience_s=patience_s):
        raise Unavailable(
            f"Another process has read the database's log for {patience_s:g} s, so samples could not be removed from"
            " it. Nothing was changed. Try again when it has ended, a backup perhaps.",
            headers={"Retry-After": "10"},
        )


def purge(connection: Connection, model_id: int) -> None:
    """Delete the samples of a held model and all that holds words of them; `settle` has to follow the commit."""
    samples.purge(connection, model_id)
    kept_vectors.forget(connection, model_id)
    _forget_words(connection, model_id)
    # What is in damaged JSON is unknown.
    damage.clear(connection, model_id)
    models.clear_damage(connection, model_id, now=rules.now())
    models.change(connection, model_id, now=rules.now(), unsettled_purge=rules.now())


def settle(engine: Engine, model_id: int, *, patience_s: float = _PATIENCE_SECONDS) -> bool:
    """Clean the database's files of what a purge deleted; False when others did not let it happen in time."""
    with reading(engine) as connection:
        since = models.unsettled_purges(connection).get(model_id)
    if since is None:
        return True
    if not clean(engine, patience_s=patience_s):
        return False
    with writing(engine) as connection:
        # One that came later settles itself.
        models.purge_settled(connection, model_id, since)
    return True


def settle_or_say(engine: Engine, model_id: int, *, patience_s: float = _PATIENCE_SECONDS) -> None:
    """Raise `Unavailable` unless the purge is complete: a 200 is a promise."""
    try:
        settled = settle(engine, model_id, patience_s=patience_s)
    except StoreUnavailable as error:
        raise unavailable(error.reason, nothing=_REMNANTS) from None
    if not settled:
        raise Unavailable(
            f"Another process reads the database's log. {_REMNANTS} Send this again to learn whether that is done.",
            headers={"Retry-After": "10"},
        )


def sweep(engine: Engine) -> None:
    """Settle the purges that were not."""
    with reading(engine) as connection:
        unsettled = list(models.unsettled_purges(connection))
    for _ in sweeps.each("purge sweep", unsettled, partial(_is_held_up, engine)):
        return


def _is_held_up(engine: Engine, model_id: int) -> bool:
    try:
        settled = settle(engine, model_id, patience_s=_SWEEP_PATIENCE_SECONDS)
    except StoreUnavailable as error:
        _log.warning("samples that were purged cannot be removed from the database's files: %s", error.reason)
        return True
    if not settled:
        _log.warning("another process reads the database's log, which still holds samples that were purged")
    return not settled


def _forget_words(connection: Connection, model_id: int) -> None:
    """Names that discovery made of words of the samples give way to the traits' keys, in the versions too."""
    found = traits.discovered(connection, model_id)
    for trait in found:
        neutral = {"name": _free_name(connection, model_id, trait), **_NEUTRAL}
        # Where the note of what discovery found is damaged, every word may be one that it found.
        words = trait.given if trait.words is None else trait.words
        fields = {name: neutral[name] for name, word in words.items() if trait.given[name] == word}
        numbers = {name: value for name, value in (trait.discovery or {}).items() if isinstance(value, int | float)}
        nobody: dict[str, list[int]] = {"positive": [], "negative": []}
        traits.change(connection, trait.id, {**fields, "discovery": numbers, "anchor_sample_ids": nobody})
    if found:
        _forget_in_versions(connection, model_id, {trait.key: trait.words for trait in found})


def _forget_in_versions(connection: Connection, model_id: int, words: Mapping[str, Mapping[str, str] | None]) -> None:
    for version_id in versions.ids(connection, model_id):
        try:
            snapshot = versions.snapshot(connection, version_id)
            told = [_without_words(trait, words.get(trait["key"], {})) for trait in snapshot["traits"]]
            again = param_hash(Snapshot.from_json({**snapshot, "traits": told}))
        except (UnreadableRow, SnapshotInvalid, LookupError, TypeError, AttributeError):
            # It cannot score, and nobody can tell which words are in it: nothing of it stays.
            versions.rewrite(connection, version_id, {}, param_hash="")
            continue
        if told != snapshot["traits"]:
            snapshot["traits"] = told
            versions.rewrite(connection, version_id, snapshot, param_hash=again)


def _without_words(trait: Mapping[str, Any], words: Mapping[str, str] | None) -> dict[str, Any]:
    neutral = {"name": trait["key"], **_NEUTRAL}
    found = (
        neutral.keys() & trait.keys() if words is None else {name for name in words if trait.get(name) == words[name]}
    )
    return {**trait, **{name: neutral[name] for name in found}}


def _free_name(connection: Connection, model_id: int, trait: traits.Discovered) -> str:
    taken = {row.name for row in traits.rows(connection, model_id) if row.id != trait.id}
    name = trait.key
    while name in taken:
        name += "_"
    return name
