"""The heap of a model: texts without labels that a person brought, kept until they are labelled or discarded.

    added = heap.add(handle, texts, source)    # how many were new
    heap.texts(handle)                         # all of them, labelled or not
    heap.discard(handle)

Each person has a heap of their own for each model, in the home folder of the workbench (`heap_file`). Under zero data
retention it is only in the browser's session, and what was in the file before is removed. Only a person who may write
the model has a heap. Texts leave this machine only as samples or feedback, when they are labelled.
"""

import threading
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from traitbench.contract.models import Model
from traitbench.contract.samples import LONGEST_TEXT
from traitbench.local.assistant import HeapText, dismiss
from traitbench.settings import read_settings
from traitbench_app.shell import people, session
from traitbench_app.shell.permission import why_read_only
from traitbench_app.shell.service import client
from traitbench_app.workspace.heap_file import Decision, HeapFile, Place
from traitbench_app.workspace.samples import all_samples

MOST_TEXTS = 100_000
"""Texts in one heap."""

FILE = "heaps.db"
"""The file in the home folder."""

_SESSION = "label.heap"
_TEXTS = "label.heap_texts"
_LOCK = threading.Lock()


class NoHeap(Exception):
    """This person cannot have a heap for this model, or it is full; the message says why."""


def add(handle: str, texts: Iterable[str], source: str) -> int:
    """Add texts to the heap and return how many were new.

    Blank texts, texts longer than a sample may be, texts that are on the heap and texts that are samples of every
    trait are left out. `source` is shown to the person, such as the name of a file. Raise `NoHeap` if the person may
    not write the model or the heap would have more than `MOST_TEXTS` texts.
    """
    model = client().models.get(handle)
    if reason := why_not(model):
        raise NoHeap(reason)
    labelled = _labelled_for_all(model)
    wanted = dict.fromkeys(text for text in map(str.strip, texts) if text and len(text) <= LONGEST_TEXT)
    new = [text for text in wanted if text not in labelled]
    file, place = _open(model), _place(handle)
    room = MOST_TEXTS - file.state(place)[0]
    if len(new) > room:
        known = {each.text for each in file.texts(place)}
        new = [text for text in new if text not in known]
    if len(new) > room:
        raise NoHeap(f"A heap holds up to {MOST_TEXTS:,} texts, and this one has room for {room:,} more.")
    return file.add(place, new, source)


def texts(handle: str) -> Sequence[HeapText]:
    """Return all texts of the heap in the order in which they were added; none if the person may not write the model.

    They are cached in the session while the heap does not change.
    """
    model = client().models.get(handle)
    return () if why_not(model) else _texts(model)


def discard(handle: str) -> None:
    """Delete the heap of this person with the decisions about it. Samples that were saved stay."""
    _file(read_settings().home / FILE).discard(_place(handle))
    _session_file().discard(_place(handle))
    session.store(_TEXTS, None)
    dismiss(client().base_url, handle)


def discard_for_everyone(handle: str) -> None:
    """Delete the heaps of all people for a model, because zero data retention begins."""
    _file(read_settings().home / FILE).discard_model(client().base_url, handle)
    dismiss(client().base_url, handle)


def why_not(model: Model) -> str:
    """Say in Markdown why this person cannot have a heap for the model; "" if they can."""
    if model.state == "archived":
        return "This model was archived, so it takes no labels."
    return why_read_only(model)


# ---- decisions -------------------------------------------------------------------------------------------------------


def decisions(model: Model) -> list[Decision]:
    """Return what this person decided about the texts, the oldest first."""
    return _open(model).decisions(_place(model.handle))


def decide(model: Model, made: Sequence[Decision]) -> None:
    """Store decisions, so that a reload or a failed save does not lose them."""
    _open(model).decide(_place(model.handle), made)


def saved(model: Model, made: Sequence[Decision]) -> None:
    """Note the samples that the service made of decisions."""
    _open(model).saved(_place(model.handle), made)


def undo(model: Model, decision: Decision) -> None:
    """Remove a decision, so that its text is in the queue again."""
    _open(model).undo(_place(model.handle), decision.trait, decision.hash)


def sources(model: Model) -> list[tuple[str, int]]:
    """Return where the texts came from, with their numbers."""
    return _open(model).sources(_place(model.handle))


# ---- where it is kept ------------------------------------------------------------------------------------------------


def _open(model: Model) -> HeapFile:
    """Return the file, or the database in the session's memory under zero data retention."""
    kept = _file(read_settings().home / FILE)
    if not model.zero_data_retention:
        return kept
    place = _place(model.handle)
    if kept.state(place)[0]:
        kept.discard_model(place.service, model.handle)
    return _session_file()


def _session_file() -> HeapFile:
    held = session.get(_SESSION)
    if not isinstance(held, HeapFile):
        held = HeapFile(None)
        session.store(_SESSION, held)
    return held


def _file(path: Path) -> HeapFile:
    with _LOCK:
        return _opened(path)


@cache
def _opened(path: Path) -> HeapFile:
    return HeapFile(path)


def _place(handle: str) -> Place:
    return Place(client().base_url, handle, people.current().id)


def _texts(model: Model) -> Sequence[HeapText]:
    file, place = _open(model), _place(model.handle)
    state = (place, model.zero_data_retention, file.state(place))
    held = session.get(_TEXTS)
    if held is None or held[0] != state:
        held = (state, tuple(file.texts(place)))
        session.store(_TEXTS, held)
    kept: Sequence[HeapText] = held[1]
    return kept


def _labelled_for_all(model: Model) -> frozenset[str]:
    """Return the texts that are samples of every trait, test samples included."""
    traits = client().traits.list(model.handle)
    if not traits:
        return frozenset()
    by_text: dict[str, set[str]] = {}
    for sample in all_samples(model.handle, traits):
        by_text.setdefault(sample.text, set()).add(sample.trait)
    return frozenset(text for text, keys in by_text.items() if len(keys) == len(traits))
