"""`client.samples`: add any number, list, delete, synthesize.

The API takes at most 500 samples a request, each request whole or not at all. `add` keeps that promise for any number:
it sends as many requests as it needs, and when one fails it removes what the ones before it brought in.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from traitbench.client.connection import Connection, segment
from traitbench.client.pages import Pages
from traitbench.contract.models import Effort, ModelDeleted, RunStarted
from traitbench.contract.page import SamplePage
from traitbench.contract.samples import MOST_SAMPLES, Sample, SampleIds, SampleInput
from traitbench.errors import TraitbenchError

SynthType = Literal["from_traits", "diversify"]

_MOST_BYTES = 2**20  # far below the operator's limit on a body, and no slower than one large request


class Samples:
    """The labelled texts of a model."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, handle: str, samples: Sequence[SampleInput]) -> list[int]:
        """Add samples, all or none; their ids rise in the order given.

        In an error `details.errors` counts the samples as they were given here, and `details.left_behind` has the ids
        of those that could not be removed again (there are none unless the service went away).
        """
        ids: list[int] = []
        for batch in _batches(samples):
            try:
                ids += self._connection.send("POST", _path(handle), SampleIds, body={"samples": batch}).ids
            except BaseException as error:
                left_behind = self._remove(handle, ids)
                if isinstance(error, TraitbenchError):
                    _recount(error, len(ids), left_behind)
                raise
        return ids

    def list(
        self, handle: str, *, trait: str | None = None, limit: int = 100, cursor: str | None = None
    ) -> Pages[Sample]:
        """The samples of the model, or of one of its traits, by id."""
        filters = {"trait": trait, "limit": limit}
        return Pages(
            lambda at: self._connection.get(_path(handle), SamplePage, params={**filters, "cursor": at}), cursor
        )

    def delete(self, handle: str, sample_id: int) -> ModelDeleted:
        """Remove one sample."""
        return self._connection.send("DELETE", _path(handle, sample_id), ModelDeleted)

    def synthesize(
        self, handle: str, *, synth_type: SynthType = "from_traits", effort: Effort | None = None
    ) -> RunStarted:
        """Start making samples: from the traits, or variations of those there are (`diversify`).

        `client.models.wait` sees it through.
        """
        body = {"synth_type": synth_type, "effort": effort}
        return self._connection.send("POST", f"{_path(handle)}/synthesize", RunStarted, body=body)

    def _remove(self, handle: str, ids: Sequence[int]) -> Sequence[int]:
        """Remove the samples, and answer with those that could not be."""
        for position, sample_id in enumerate(ids):
            try:
                self.delete(handle, sample_id)
            except TraitbenchError:
                return ids[position:]
        return ()


def _path(handle: str, sample_id: int | None = None) -> str:
    return f"/models/{segment(handle)}/samples" + ("" if sample_id is None else f"/{segment(sample_id)}")


def _batches(samples: Sequence[SampleInput]) -> Iterator[list[dict[str, Any]]]:
    """Consecutive samples as they are sent, bounded in number and in size."""
    batch: list[dict[str, Any]] = []
    size = 0
    for sample in samples:
        wire = sample.model_dump(exclude_unset=True)
        length = len(json.dumps(wire, ensure_ascii=False))
        if batch and (len(batch) == MOST_SAMPLES or size + length > _MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(wire)
        size += length
    if batch:
        yield batch


def _recount(error: TraitbenchError, before: int, left_behind: Sequence[int]) -> None:
    """Count the elements that an error names from the first sample given, not from the first of its request."""
    for place in error.details.get("errors", ()):
        match place:
            case {"loc": ["samples", int(index), *rest]}:
                place["loc"] = ["samples", index + before, *rest]
    if left_behind:
        error.details["left_behind"] = list(left_behind)
