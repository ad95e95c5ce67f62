"""Unsaved edits of the samples table: kept until they are saved or discarded, also across a reload.

They wait in the session and in a file in the home folder, one for each person and model. Under zero retention nothing
is written to disk. An edit keeps the sample as it was, so that both can be shown if someone else changes the sample.
"""

import hashlib
import json
import os
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from traitbench.contract.models import Model
from traitbench.contract.samples import Sample, SampleInput
from traitbench.settings import read_settings
from traitbench_app.shell import people, session
from traitbench_app.workspace.changes import Changes, as_input

STORED_DAYS = 30
"""Days after which a file of unsaved edits is deleted."""

FOLDER = "unsaved"
"""The folder in the home folder."""

_KEY, _DISCARDED = "samples.unsaved", "samples.discarded"
# The API replaces a sample that is edited, so "their text" is the newer sample that resembles the edited one most. That
# is a guess, and the page says so.
_SIMILAR, _COMPARED = 0.5, 2_000
_DAY = 86_400.0


@dataclass(frozen=True)
class Unsaved:
    """Unsaved changes, and the samples that they change as they were, by id."""

    changes: Changes = field(default_factory=Changes)
    originals: Mapping[int, Sample] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.changes)

    def without(self, ids: Iterable[int]) -> "Unsaved":
        """Return the unsaved changes of all other samples."""
        gone = frozenset(ids)
        originals = {each: sample for each, sample in self.originals.items() if each not in gone}
        return Unsaved(self.changes.without(gone), originals)

    def under(self, newer: "Unsaved") -> "Unsaved":
        """Return these unsaved changes with newer ones, which win where both change a sample."""
        return Unsaved(self.changes.under(newer.changes), {**self.originals, **newer.originals})


@dataclass(frozen=True)
class EditConflict:
    """An unsaved edit of a sample that someone else changed or deleted.

    `theirs` is the newer sample that resembles it most, or None if no newer sample does.
    """

    original: Sample
    mine: SampleInput
    theirs: Sample | None


# ---- keep ------------------------------------------------------------------------------------------------------------


def unsaved(handle: str) -> Unsaved:
    """Return the unsaved changes of a model: those of this session or, after a reload, those in the home folder."""
    pending: dict[str, Unsaved] = session.get(_KEY, {})
    if handle not in pending:
        pending[handle] = _read(_file(handle))
        session.store(_KEY, pending)
    return pending[handle]


def keep(model: Model, changes: Changes, samples: Iterable[Sample]) -> None:
    """Keep the unsaved changes of a model; `samples` has the samples that they change, unless they are known."""
    before = unsaved(model.handle)
    if changes == before.changes:
        return
    touched = changes.ids
    originals = {sample.id: sample for sample in samples if sample.id in touched}
    originals |= {each: sample for each, sample in before.originals.items() if each in touched}
    _store(model.handle, Unsaved(changes, originals), on_disk=not model.zero_data_retention)


def drop(model: Model, ids: Iterable[int]) -> None:
    """Forget the unsaved changes of some samples."""
    _store(model.handle, unsaved(model.handle).without(ids), on_disk=not model.zero_data_retention)


def forget(handle: str) -> None:
    """Forget all unsaved changes of a model, in the session and on disk, and those that were discarded."""
    session.get(_KEY, {}).pop(handle, None)
    session.get(_DISCARDED, {}).pop(handle, None)
    with suppress(OSError):
        _file(handle).unlink(missing_ok=True)


def discard(handle: str, ids: Iterable[int] | None = None, *, on_disk: bool) -> None:
    """Discard all unsaved changes of a model, or those of some samples; until a save, they can be brought back."""
    pending = unsaved(handle)
    left = pending.without(pending.changes.ids if ids is None else ids)
    session.store(_DISCARDED, {handle: pending.without(left.changes.ids)})
    _store(handle, left, on_disk=on_disk)


def discarded(handle: str) -> int:
    """Return how many discarded changes of a model can be brought back."""
    return len(session.get(_DISCARDED, {}).get(handle, ()))


def bring_back(handle: str, *, on_disk: bool) -> None:
    """Undo the last discard. A sample that was edited again since stays as it is."""
    gone: Unsaved = session.get(_DISCARDED, {}).get(handle, Unsaved())
    _store(handle, gone.under(unsaved(handle)), on_disk=on_disk)
    forget_discarded()


def forget_discarded() -> None:
    """Forget what was discarded."""
    session.store(_DISCARDED, {})


def _store(handle: str, now: Unsaved, *, on_disk: bool) -> None:
    session.store(_KEY, session.get(_KEY, {}) | {handle: now})
    file = _file(handle)
    if not on_disk or not len(now):
        with suppress(OSError):
            file.unlink(missing_ok=True)
        return
    with suppress(OSError):  # a full disk must not stop an edit: the session still has it
        write(file, now)


# ---- other people ----------------------------------------------------------------------------------------------------


def settle(model: Model, samples: Sequence[Sample]) -> list[EditConflict]:
    """Return the unsaved edits of samples that are gone; forget deletions and edits that are already done."""
    pending = unsaved(model.handle)
    if not len(pending):
        return []
    there = {sample.id for sample in samples}
    lost = pending.changes.ids - there
    if not lost:
        return []
    mine = {each: _wanted(pending, each) for each in lost if each not in pending.changes.deletions}
    same = {(sample.trait, sample.text, sample.quality) for sample in samples}
    done = lost & pending.changes.deletions | {
        each for each, own in mine.items() if own is None or (own.trait, own.text, own.quality) in same
    }
    if done:
        drop(model, done)
    return [
        EditConflict(pending.originals[each], own, _counterpart(pending.originals[each], samples))
        for each, own in sorted(mine.items())
        if own is not None and each not in done
    ]


def take_mine(model: Model, conflict: EditConflict) -> None:
    """Turn an edit of a sample that is gone into an edit of the newer sample."""
    assert conflict.theirs is not None
    pending = unsaved(model.handle).without([conflict.original.id])
    edits = {**pending.changes.edits, conflict.theirs.id: conflict.mine}
    originals = {**pending.originals, conflict.theirs.id: conflict.theirs}
    now = Unsaved(Changes(edits, pending.changes.deletions, pending.changes.marks), originals)
    _store(model.handle, now, on_disk=not model.zero_data_retention)


def moved(pending: Unsaved, samples: Iterable[Sample]) -> Changes:
    """Return unsaved changes for a copy of the model: its samples are found by trait and text."""
    # A copy has other ids.
    id_of = {(sample.trait, sample.content_sha256): sample.id for sample in samples}
    ids = {each: id_of.get((old.trait, old.content_sha256)) for each, old in pending.originals.items()}
    changes = pending.changes
    return Changes(
        {new: edit for each, edit in changes.edits.items() if (new := ids.get(each)) is not None},
        frozenset(new for each in changes.deletions if (new := ids.get(each)) is not None),
        {new: mark for each, mark in changes.marks.items() if (new := ids.get(each)) is not None},
    )


def _wanted(pending: Unsaved, sample_id: int) -> SampleInput | None:
    """Return the sample that the person wants in place of one that is gone."""
    if edit := pending.changes.edits.get(sample_id):
        return edit
    original = pending.originals.get(sample_id)
    if original is None:
        return None
    held_out, must_pass = pending.changes.marks[sample_id]
    marks = {"held_out": held_out, "must_pass": must_pass}
    return as_input(original.model_copy(update=marks))


def _counterpart(original: Sample, samples: Sequence[Sample]) -> Sample | None:
    """Return the newer sample of the same trait that resembles the original most."""
    newer = [each for each in samples if each.id > original.id and each.trait == original.trait][-_COMPARED:]
    best, most = None, _SIMILAR
    for each in newer:
        # The beginnings only, because the time grows with the square of the length. With junk detection, which begins
        # at 200 characters, frequent letters would not count.
        matcher = SequenceMatcher(None, original.text[:500], each.text[:500], autojunk=False)
        # Two upper bounds, the cheaper one first.
        if matcher.real_quick_ratio() > most and matcher.quick_ratio() > most and (ratio := matcher.ratio()) > most:
            best, most = each, ratio
    return best


# ---- the home folder -------------------------------------------------------------------------------------------------


def remove_of(folder: Path, handles: Collection[str], *, service: str, owners: Collection[str] = ()) -> None:
    """Remove the unsaved edits of models of a service, whoever's they are.

    Files of an earlier release do not say whose model they are about. If `owners` names all people, theirs are found;
    else all of these files are removed.
    """
    names = {_digest(service, handle) for handle in handles}
    old = {_digest(owner, service, handle) for owner in owners for handle in handles}
    for file in folder.glob("*"):
        model, _, rest = file.name.partition(".")
        is_old = "." not in rest
        if model in (old if is_old else names) or (is_old and not owners):
            with suppress(OSError):
                file.unlink(missing_ok=True)


def file_of(folder: Path, handle: str, *, service: str, owner: str) -> Path:
    """Return the file of a person's unsaved edits of a model. Its name begins with that of the model's files."""
    return folder / f"{_digest(service, handle)}.{_digest(owner, service, handle)}.json"


def _file(handle: str) -> Path:
    settings, owner = read_settings(), people.current().id
    folder, service = settings.home / FOLDER, settings.base_url
    file = file_of(folder, handle, service=service, owner=owner)
    with suppress(OSError):  # an earlier release named it in another way
        (folder / f"{_digest(owner, service, handle)}.json").rename(file)
    return file


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def write(file: Path, now: Unsaved) -> None:
    """Write unsaved changes to a file; raise `OSError` if that fails."""
    changes = now.changes
    content = {
        "edits": {each: edit.model_dump(exclude_unset=True) for each, edit in changes.edits.items()},
        "deletions": sorted(changes.deletions),
        "marks": changes.marks,
        "originals": [sample.model_dump(mode="json") for sample in now.originals.values()],
    }
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # A kill leaves the old file or the new one.
    new = file.with_suffix(".new")
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
        json.dump(content, out)
    new.replace(file)


def _read(file: Path) -> Unsaved:
    """Return what a file holds; nothing if there is none, or if it is old or damaged."""
    try:
        age = time.time() - file.stat().st_mtime
        if age > STORED_DAYS * _DAY:
            file.unlink(missing_ok=True)
            return Unsaved()
        if age < 0:
            # The clock was wrong when it was written. Its days begin now, otherwise it would stay until then.
            os.utime(file)
        content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        # Not validated: an unsaved text may be too long or empty.
        edits = {int(each): SampleInput.model_construct(**edit) for each, edit in content["edits"].items()}
        marks = {int(each): (bool(mark[0]), bool(mark[1])) for each, mark in content["marks"].items()}
        # As JSON, because the models are strict: in Python mode, a time must not be a text.
        originals = {each["id"]: Sample.model_validate_json(json.dumps(each)) for each in content["originals"]}
        return Unsaved(Changes(edits, frozenset(content["deletions"]), marks), originals)
    except (OSError, ValueError, KeyError, TypeError):
        return Unsaved()
