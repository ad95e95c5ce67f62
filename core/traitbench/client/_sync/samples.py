# Made from client/samples.py by `python -m tests.client.generate`: edit that file, not this one.
"""`client.samples`: add any number, list, change, undo, hold out, delete, synthesize.

The API takes up to 500 samples per request and stores all of them or none. `add` does the same for any number of
samples: it sends as many requests as it needs, and if one fails, it removes the samples of the previous ones. It cannot
do so if the service, or the program itself, goes down for good.
"""

import builtins
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from traitbench.client._sync.connection import Connection
from traitbench.client.pages import Pages
from traitbench.client.wire import SynthType, bodies
from traitbench.contract import operations
from traitbench.contract.models import Effort, ModelDeleted, RunStarted
from traitbench.contract.sample_changes import SampleChange, SampleEdit, SampleRemoval
from traitbench.contract.samples import (
    MOST_SAMPLES,
    Pole,
    Provenance,
    RejectedText,
    Sample,
    SampleInput,
    SampleQuery,
    SynthesisPlan,
)
from traitbench.errors import TraitbenchError, Unavailable, Unreachable

__all__ = ["Samples", "SynthType"]

_POSITION = re.compile(r"\b(samples[.\[])(\d{1,3})\b")
_AT_ONCE = 2.0  # seconds
_MOST_BYTES = 2**20  # far below the operator's limit on a body, and no slower than one large request


class Samples:
    """The labelled texts of a model."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, handle: str, samples: Sequence[SampleInput]) -> list[int]:
        """Add all samples or none, and return their ids, which ascend in the order given.

        Raise `TypeError`, before anything is sent, for what is no `SampleInput`.

        If the service restarts meanwhile, the rest is added when it is back, and nothing twice. In an error,
        `details.errors` counts from the first sample given here. If the service does not come back,
        `details.left_behind` has the ids of the samples that are stored, because they could not be removed again, and
        `details.unanswered` the positions of the first and the last sample of a request without an answer: either all
        of these are stored too, or none.
        """
        ids: list[int] = []
        for batch in [*_batches(samples)]:
            try:
                added = self._connection.send(operations.SAMPLES_ADD, handle=handle, body={"samples": batch})
                ids += added.ids
            # Also after Ctrl+C: all samples are added or none.
            except BaseException as error:
                # Whoever has waited for the service, or wants to stop, does not want to wait for the removal.
                away = not isinstance(error, TraitbenchError) or isinstance(error, Unavailable)
                left_behind = self._remove(handle, ids, at_once=away)
                if isinstance(error, TraitbenchError):
                    _recount(error, len(ids), left_behind)
                if isinstance(error, Unreachable):
                    error.details["unanswered"] = [len(ids), len(ids) + len(batch) - 1]
                raise
        return ids

    def list(
        self,
        handle: str,
        *,
        trait: str | None = None,
        held_out: bool | None = None,
        pending: bool | None = None,
        provenance: Provenance | None = None,
        pole: Pole | None = None,
        text: str | None = None,
        newest_first: bool = False,
        offset: int = 0,
        count: bool = False,
        ids: Sequence[int] | None = None,
        grouped: bool | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Pages[Sample]:
        """List the samples of the model, or of one of its traits, by id.

        `held_out=True` lists only the test samples, `held_out=False` only the samples to train with. `pending=True`
        lists only feedback that the model has not learned yet, `pending=False` only the other samples. `text` has words
        that the texts must contain, in any case. `offset` skips samples at the beginning. With `count=True`, the
        listing's `count` is the number of all samples that pass the filters. With `ids`, at most 500, list only these;
        ids that the model does not have are left out. `grouped=False` lists only samples without a group.
        """
        chosen = None if ids is None else tuple(ids)
        first = SampleQuery(
            trait, held_out, pending, provenance, pole, text or None, newest_first, offset, count, chosen, grouped
        )
        others = replace(first, offset=0, count=False)
        return Pages(
            lambda at: self._connection.get(
                operations.SAMPLES_LIST,
                handle=handle,
                # Counted and skipped once: the cursor of a page knows where it ends.
                params={**(first if at == cursor else others).parameters(), "limit": limit, "cursor": at},
            ),
            cursor,
        )

    def update(
        self,
        handle: str,
        ids: Sequence[int],
        *,
        held_out: bool | None = None,
        must_pass: bool | None = None,
        group: str | None = None,
    ) -> builtins.list[int]:
        """Hold samples of a draft out as test samples, mark those that must pass, or say that they belong together;
        return their ids.

        `group` names what they belong to, such as a conversation; a blank one takes them out of their group. Up to 500
        samples are changed as a whole or not at all. More are sent in batches: an error leaves the batches before it
        changed.
        """
        changed: builtins.list[int] = []
        for first in range(0, len(ids), MOST_SAMPLES):
            fields = {"held_out": held_out, "must_pass": must_pass, "group": group}
            body: dict[str, Any] = {"ids": [*ids[first : first + MOST_SAMPLES]]}
            body |= {field: value for field, value in fields.items() if value is not None}
            answer = self._connection.send(operations.SAMPLES_UPDATE, handle=handle, body=body)
            changed += answer.ids
        return changed

    def change(
        self,
        handle: str,
        sample_id: int,
        *,
        revision: int | None = None,
        text: str | None = None,
        quality: float | None = None,
        trait: str | None = None,
        held_out: bool | None = None,
        must_pass: bool | None = None,
        group: str | None = None,
        note: str | None = None,
    ) -> Sample:
        """Change one sample of a draft, or feedback that was not learned yet, and return it; its id and origin stay.

        With a `revision`, raise `SampleChanged` if the sample has another one: `details.samples` has it as it is. A
        blank `group` or `note` is removed.
        """
        fields = {"revision": revision, "text": text, "quality": quality, "trait": trait}
        fields |= {"held_out": held_out, "must_pass": must_pass, "group": group, "note": note}
        body = {name: value for name, value in fields.items() if value is not None}
        return self._connection.send(operations.SAMPLES_CHANGE, handle=handle, sample_id=sample_id, body=body)

    def apply(
        self,
        handle: str,
        *,
        adds: Sequence[SampleInput] = (),
        updates: Sequence[SampleEdit] = (),
        deletes: Sequence[SampleRemoval | int] = (),
        note: str | None = None,
    ) -> SampleChange:
        """Add, change and delete up to 500 samples of a draft: all of it or none. `undo` takes it back for 24 hours.

        Deletions are ids, or say which revision was seen. Raise `SampleChanged` if a sample has another revision by now
        or was deleted: `details.samples` has each as it is, and who changed it.
        """
        body: dict[str, Any] = {
            "adds": bodies(adds, SampleInput, "adds"),
            "updates": bodies(updates, SampleEdit, "updates"),
            "deletes": bodies(
                [SampleRemoval(id=each) if isinstance(each, int) else each for each in deletes],
                SampleRemoval,
                "deletes",
            ),
        }
        body |= {} if note is None else {"note": note}
        return self._connection.send(operations.SAMPLES_APPLY, handle=handle, body=body)

    def undo(self, handle: str, change_id: int) -> SampleChange:
        """Undo a change as a whole and return the change that did it, which can be undone too.

        Raise `SampleChanged` if a sample has moved since, and `FeatureUnavailable` after 24 hours and under zero
        retention.
        """
        return self._connection.send(operations.SAMPLES_UNDO, handle=handle, change_id=change_id)

    def changes(
        self,
        handle: str,
        *,
        sample_id: int | None = None,
        sample_ids: Sequence[int] | None = None,
        limit: int = 20,
        cursor: str | None = None,
    ) -> Pages[SampleChange]:
        """List who changed which samples when, newest first.

        With `sample_id` or `sample_ids`, at most 500, list only changes of these samples, each with only what it did to
        them.
        """
        ids = None if sample_ids is None else ",".join(map(str, sample_ids))
        return Pages(
            lambda at: self._connection.get(
                operations.SAMPLES_CHANGES,
                handle=handle,
                params={"sample_id": sample_id, "sample_ids": ids, "limit": limit, "cursor": at},
            ),
            cursor,
        )

    def delete(self, handle: str, sample_id: int) -> ModelDeleted:
        """Remove one sample of a draft, or withdraw feedback that a ready model has not learned yet."""
        return self._connection.send(operations.SAMPLES_DELETE, handle=handle, sample_id=sample_id)

    def delete_many(self, handle: str, ids: Sequence[int]) -> builtins.list[int]:
        """Remove samples of a draft, or withdraw feedback that a ready model has not learned yet; return their ids.

        Up to 500 samples are removed as a whole or not at all. More are sent in batches: an error leaves the batches
        before it removed.
        """
        deleted: builtins.list[int] = []
        for first in range(0, len(ids), MOST_SAMPLES):
            body = {"ids": [*ids[first : first + MOST_SAMPLES]]}
            deleted += (self._connection.send(operations.SAMPLES_DELETE_MANY, handle=handle, body=body)).ids
        return deleted

    def plan(
        self,
        handle: str,
        *,
        synth_type: SynthType = "from_traits",
        effort: Effort | None = None,
        language_model: bool | None = None,
    ) -> SynthesisPlan:
        """Return what a synthesis would make, what it would cost, and what it would send to a language model."""
        asked = {"synth_type": synth_type, "effort": effort, "language_model": language_model}
        return self._connection.get(operations.SAMPLES_PLAN, handle=handle, params=asked)

    def synthesize(
        self,
        handle: str,
        *,
        synth_type: SynthType = "from_traits",
        effort: Effort | None = None,
        language_model: bool | None = None,
    ) -> RunStarted:
        """Start a run that makes samples from the traits, or variations of existing samples (`diversify`).

        `language_model=False` makes them offline, even if the service has a language model. Call `client.models.wait`
        for the result.
        """
        body: dict[str, Any] = {"synth_type": synth_type, "effort": effort}
        body |= {} if language_model is None else {"language_model": language_model}
        return self._connection.send(operations.SAMPLES_SYNTHESIZE, handle=handle, body=body)

    def rejected(self, handle: str) -> builtins.list[RejectedText]:
        """Return texts that the last synthesis rejected, with the reasons; they are deleted at the model's next run."""
        return (self._connection.get(operations.SAMPLES_REJECTED, handle=handle)).items

    def _remove(self, handle: str, ids: Sequence[int], *, at_once: bool) -> Sequence[int]:
        """Remove the samples, and return the ids of those that could not be removed."""
        samples = Samples(self._connection.with_timeout(_AT_ONCE)) if at_once else self
        for first in range(0, len(ids), MOST_SAMPLES):
            try:
                samples.delete_many(handle, ids[first : first + MOST_SAMPLES])
            except TraitbenchError:
                return ids[first:]
        return ()


def _batches(samples: Sequence[SampleInput]) -> Iterator[list[dict[str, Any]]]:
    """Yield the JSON of consecutive samples, in batches of limited number and size."""
    batch: list[dict[str, Any]] = []
    size = 0
    for sample in bodies(samples, SampleInput, "samples"):
        length = len(json.dumps(sample, ensure_ascii=False))
        if batch and (len(batch) == MOST_SAMPLES or size + length > _MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(sample)
        size += length
    if batch:
        yield batch


def _recount(error: TraitbenchError, before: int, left_behind: Sequence[int]) -> None:
    """Make the positions in an error count from the first sample given, not from the first in its request."""
    for fault in error.details.get("errors", ()):
        match fault:
            case {"loc": ["samples", int(index), *rest]}:
                fault["loc"] = ["samples", index + before, *rest]
    error.message = _POSITION.sub(lambda match: f"{match[1]}{int(match[2]) + before}", error.message, count=1)
    if left_behind:
        error.details["left_behind"] = list(left_behind)
