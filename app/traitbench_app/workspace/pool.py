"""The pool of a model: texts without labels, kept by the service, and what the person who looks decided about them.

    added = pool.add(handle, texts, source)    # how many were new
    pool.texts(handle)                         # all of them by hash, labelled or not
    pool.discard(handle)

All who may write the model see the same texts, and each has their own decisions. A label is one call, which makes its
sample. Under zero data retention the service stores no texts: they are in the browser's session only, and their labels
are sent as samples.
"""

import logging
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from cachetools import LRUCache

from traitbench.as_read import is_blank
from traitbench.contract.labelling import LONGEST_SOURCE, MOST_TEXTS
from traitbench.contract.models import Model
from traitbench.contract.page import LARGEST_POSITION_PAGE
from traitbench.contract.samples import LONGEST_TEXT, Sample, SampleInput, text_hash
from traitbench.errors import SampleNotFound, TextNotFound, TraitbenchError, TraitNotFound, ValidationFailed
from traitbench.local.label_session import LabelSession, item_id
from traitbench.settings import read_settings
from traitbench_app.shell import people, session
from traitbench_app.shell.permission import why_read_only
from traitbench_app.shell.service import client
from traitbench_app.workspace import earlier_pool
from traitbench_app.workspace.earlier_pool import FILE, PoolOwner
from traitbench_app.workspace.samples import all_samples

__all__ = ["FILE", "MOST_TEXTS", "Decided", "Decision", "NoPool", "PoolOwner"]

_TAB, _DECISIONS = "label.tab_texts", "label.decisions"
_LOCK = threading.Lock()
_SESSIONS: LRUCache[PoolOwner, LabelSession] = LRUCache(4)
_READ: "LRUCache[tuple[str, str], _ReadTexts]" = LRUCache(4)
_TAKEN_OVER = set[PoolOwner]()

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Decision:
    """What a person decided about a text: a quality from 0 to 1, or None for a skip. `sample_id` is None if unsaved."""

    trait: str
    hash: str
    quality: float | None
    sample_id: int | None = None

    @property
    def pending(self) -> bool:
        """Whether this label is no sample yet, because the text has another one."""
        return self.quality is not None and self.sample_id is None


class Decided(NamedTuple):
    """A stored decision, and the sample with another label that somebody gave the text, if there is one."""

    decision: Decision
    conflict: Sample | None = None


@dataclass(frozen=True)
class _ReadTexts:
    """The texts of a model as they were read: by hash in the order of the hashes, with ids, sources and the newest id.

    The order is random, and the same every time.
    """

    texts: Mapping[str, str] = field(default_factory=dict)
    ids: Mapping[str, int] = field(default_factory=dict)
    sources: Mapping[str, int] = field(default_factory=dict)
    newest: int = 0


@dataclass
class _TabTexts:
    """Texts and decisions that are only in the session, by model."""

    texts: dict[str, _ReadTexts] = field(default_factory=dict)
    decisions: dict[str, dict[str, Decision]] = field(default_factory=dict)


class NoPool(Exception):
    """This person cannot have a pool for this model, or it is full; the message says why."""


# ---- texts -----------------------------------------------------------------------------------------------------------


def add(handle: str, texts: Iterable[str], source: str) -> int:
    """Add texts to the pool and return how many were new.

    Blank texts, texts longer than a sample may be, texts that are in the pool and texts that are samples of every
    trait are left out. `source` is shown to people, such as the name of a file. Raise `NoPool` if the person may not
    write the model or the pool would have more than `MOST_TEXTS` texts.
    """
    model = client().models.get(handle)
    if reason := why_not(model):
        raise NoPool(reason)
    labelled = _labelled_for_all(model)
    wanted = dict.fromkeys(text for text in map(str.strip, texts) if not is_blank(text) and len(text) <= LONGEST_TEXT)
    there = {*_read(model).texts.values()}
    new = [text for text in wanted if text not in labelled and text not in there]
    if len(there) + len(new) > MOST_TEXTS:
        room = MOST_TEXTS - len(there)
        raise NoPool(f"A model has up to {MOST_TEXTS:,} texts to label, and there is room for {room:,} more.")
    if not new:
        return 0
    if model.zero_data_retention:
        tab = _tab()
        before = tab.texts.get(handle, _ReadTexts())
        tab.texts[handle] = _with(before, [(text_hash(text), text, 0, source) for text in new])
        return len(new)
    return client().texts.add(handle, new, source=source.strip()[:LONGEST_SOURCE] or None).added


def texts(handle: str) -> Mapping[str, str]:
    """Return all texts of the pool by hash; none if the person may not write the model.

    They are in the order of the hashes, and the same object as long as the pool does not change.
    """
    model = client().models.get(handle)
    return {} if why_not(model) else _read(model).texts


def sources(model: Model) -> list[tuple[str, int]]:
    """Return where the texts came from, with their numbers."""
    return [*_read(model).sources.items()]


def discard(handle: str) -> None:
    """Delete the texts of a model for everybody, with the decisions about them. Samples that were saved stay."""
    client().texts.delete(handle)
    _tab().texts.pop(handle, None)
    _tab().decisions.pop(handle, None)
    session.store(_DECISIONS, None)
    _forget_sessions(client().base_url, handle)


def remove_of(handles: Collection[str], *, service: str) -> None:
    """End the labelling sessions of models of a service, and remove what earlier releases kept of their texts."""
    earlier_pool.remove_of(read_settings().home / FILE, handles, service=service)
    for handle in handles:
        _forget_sessions(service, handle)


def why_not(model: Model) -> str:
    """Say in Markdown why this person cannot have a pool for the model; "" if they can."""
    if model.state == "archived":
        return "This model was archived, so it takes no labels."
    return why_read_only(model)


# ---- decisions -------------------------------------------------------------------------------------------------------


def decisions(model: Model) -> list[Decision]:
    """Return what this person decided about the texts, the oldest first."""
    return [*_decisions(model).values()]


def look_afresh() -> None:
    """Read the decisions again: this person may have labelled in another tab."""
    session.store(_DECISIONS, None)


def decide(model: Model, decision: Decision, *, replaces: int | None = None) -> Decided:
    """Store a decision, with the sample that a label makes; raise the service's error.

    With `replaces`, the sample of somebody else gets this label, if it still has that revision.
    """
    if model.zero_data_retention:
        stored = Decided(_decided_in_tab(model, decision))
    else:
        answer = client().texts.decide(
            model.handle, _id_of(model, decision.hash), decision.trait, decision.quality, replaces=replaces
        )
        stored = Decided(replace(decision, sample_id=answer.sample_id), answer.conflict)
    own = _decisions(model)
    own.pop(item_id(decision.hash, decision.trait), None)
    own[item_id(decision.hash, decision.trait)] = stored.decision
    return stored


def take_back(model: Model, decision: Decision) -> None:
    """Remove a decision with the sample that it made, so that its text is in the queue again."""
    if model.zero_data_retention:
        _delete_sample(model, decision)
    else:
        # In another tab, it may be taken back already.
        with suppress(TextNotFound, TraitNotFound):
            client().texts.take_back(model.handle, _id_of(model, decision.hash), decision.trait)
    _decisions(model).pop(item_id(decision.hash, decision.trait), None)


def _id_of(model: Model, content_hash: str) -> int:
    number = _read(model).ids.get(content_hash)
    if number is None:
        raise TextNotFound("This text was discarded meanwhile, so it takes no label.")
    return number


def _decisions(model: Model) -> dict[str, Decision]:
    """The decisions of this person by item; a change of the result is stored."""
    if model.zero_data_retention:
        return _tab().decisions.setdefault(model.handle, {})
    stored: tuple[str, dict[str, Decision]] | None = session.get(_DECISIONS)
    if stored is None or stored[0] != model.handle:
        hashes = {number: content_hash for content_hash, number in _read(model).ids.items()}
        listed = client().texts.decisions(model.handle, limit=LARGEST_POSITION_PAGE)
        own = [
            Decision(each.trait, hashes[each.text_id], each.quality, each.sample_id)
            for each in listed
            if each.text_id in hashes
        ]
        stored = (model.handle, {item_id(each.hash, each.trait): each for each in own})
        session.store(_DECISIONS, stored)
    return stored[1]


def _decided_in_tab(model: Model, decision: Decision) -> Decision:
    before = _decisions(model).get(item_id(decision.hash, decision.trait))
    if before is not None:
        _delete_sample(model, before)
    if decision.quality is None:
        return decision
    text = _read(model).texts.get(decision.hash)
    if text is None:
        raise TextNotFound("This text is not in this tab any more.")
    [sample_id] = client().samples.add(
        model.handle, [SampleInput(trait=decision.trait, text=text, quality=decision.quality)]
    )
    return replace(decision, sample_id=sample_id)


def _delete_sample(model: Model, decision: Decision) -> None:
    if decision.sample_id is not None:
        # Somebody else may have deleted it, or a training.
        with suppress(SampleNotFound):
            client().samples.delete(model.handle, decision.sample_id)


# ---- what is behind the page -----------------------------------------------------------------------------------------


def session_of(handle: str) -> LabelSession:
    """Return the labelling session of this person for a model; of many, the one used longest ago is dropped."""
    owner = _owner(handle)
    with _LOCK:
        if owner not in _SESSIONS:
            _SESSIONS[owner] = LabelSession()
        return _SESSIONS[owner]


def _forget_sessions(service: str, handle: str) -> None:
    """End the sessions of a model and drop their vectors and hints, because its pool is gone."""
    with _LOCK:
        _READ.pop((service, handle), None)
        for owner in [each for each in _SESSIONS if (each.service, each.model) == (service, handle)]:
            _SESSIONS.pop(owner).until = 0.0


def _owner(handle: str) -> PoolOwner:
    return PoolOwner(client().base_url, handle, people.current().id)


def _tab() -> _TabTexts:
    stored = session.get(_TAB)
    if not isinstance(stored, _TabTexts):
        stored = _TabTexts()
        session.store(_TAB, stored)
    return stored


def _read(model: Model) -> _ReadTexts:
    """The texts of a model, the same object as long as they are the same. Only new ones are fetched.

    All sessions share them; each asks the service with its own key whether it may see them.
    """
    if model.zero_data_retention:
        return _tab().texts.get(model.handle, _ReadTexts())
    _take_over(model)
    key = (client().base_url, model.handle)
    with _LOCK:
        read = _READ.get(key, _ReadTexts())
    for before in (read, _ReadTexts()):
        listing = client().texts.list(model.handle, after=before.newest, limit=LARGEST_POSITION_PAGE)
        new = [(each.content_sha256, each.text, each.id, each.source or "the API") for each in listing]
        # If some were deleted, all are read again.
        if len(before.ids) + len(new) == listing.count:
            break
    read = _with(before, new) if new else before
    with _LOCK:
        _READ[key] = read
    return read


def _with(before: _ReadTexts, new: Sequence[tuple[str, str, int, str]]) -> _ReadTexts:
    """The texts with new ones: the hash, text, id and source of each."""
    texts = {**before.texts, **{content_hash: text for content_hash, text, _, _ in new}}
    return _ReadTexts(
        dict(sorted(texts.items())),
        {**before.ids, **{content_hash: number for content_hash, _, number, _ in new}},
        Counter(before.sources) + Counter(source for _, _, _, source in new),
        max(before.newest, *(number for _, _, number, _ in new)),
    )


def _take_over(model: Model) -> None:
    """Hand the texts that an earlier release kept for this person to the service. If that fails, they stay there."""
    owner = _owner(model.handle)
    if owner in _TAKEN_OVER:
        return
    path = read_settings().home / FILE
    earlier = earlier_pool.read(path, owner)
    if earlier is not None:
        by_source = dict[str, list[str]]()
        for text, source in earlier.texts.values():
            by_source.setdefault(source, []).append(text)
        try:
            for source, some in by_source.items():
                client().texts.add(model.handle, some, source=source.strip()[:LONGEST_SOURCE] or None)
            ids = {each.content_sha256: each.id for each in client().texts.list(model.handle)}
            for (trait, content_hash), quality in earlier.undone.items():
                if content_hash in ids:
                    client().texts.decide(model.handle, ids[content_hash], trait, quality)
        except (ValidationFailed, TraitNotFound) as error:
            _log.warning("texts to label of an earlier release stay in %s: %s", FILE, error.code)
            _TAKEN_OVER.add(owner)
            return
        except TraitbenchError:
            return  # the next page tries again
        earlier_pool.remove(path, owner)
        _log.info("%d texts to label of an earlier release are kept by the service now", len(earlier.texts))
    _TAKEN_OVER.add(owner)


def _labelled_for_all(model: Model) -> frozenset[str]:
    """Return the texts that are samples of every trait, test samples included."""
    traits = client().traits.list(model.handle)
    if not traits:
        return frozenset()
    by_text: dict[str, set[str]] = {}
    for sample in all_samples(model.handle, traits):
        by_text.setdefault(sample.text, set()).add(sample.trait)
    return frozenset(text for text, keys in by_text.items() if len(keys) == len(traits))
