"""The scores of a model's samples by models that had not seen them, for a model in use and for a draft made from one.

A draft has copies of the samples of its origin. A copy whose text is the same has the score of its original.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.page import LARGEST_SAMPLE_PAGE
from traitbench.contract.samples import Sample
from traitbench.contract.scores import Confidence
from traitbench.contract.versions import Version
from traitbench.errors import ModelNotFound, NamespaceForbidden
from traitbench.local.preview import PreviewUnavailable
from traitbench.local.unseen import UnseenRow, UnseenScore, axes_of
from traitbench_app.parts.scored_samples import NotKnown, draw_not_known
from traitbench_app.parts.scored_samples import of as rows_of
from traitbench_app.samples.listed import Unseen
from traitbench_app.shell.service import active_version, client, reader
from traitbench_app.shell.service import version as whole_version


@dataclass(frozen=True, eq=False)
class ScoresOfSamples:
    """The scores of samples, the model and its version that they are from, and why they are not known, if so.

    Those of a version are in `rows`, those of copies in a draft in `by_id`. `model` is the origin of a draft, or the
    model itself. `changed` has the samples that a draft changed or added, None if it has no origin.
    """

    model: Model | None = None
    version: Version | None = None
    rows: Mapping[int, UnseenRow] = field(default_factory=dict)
    by_id: Mapping[int, Unseen] = field(default_factory=dict)
    changed: frozenset[int] | None = None
    not_known: NotKnown | None = None

    @property
    def handle(self) -> str:
        """The handle of the model whose version scored; empty if there is none."""
        return self.model.handle if self.model else ""

    def of(self, sample: Sample) -> Unseen | None:
        """Return the score of a sample."""
        row = self.rows.get(sample.id)
        points = None if row is None else row.points
        return self.by_id.get(sample.id) if points is None else Unseen(points, sample.quality)

    def sureness(self, trait: str, points: int) -> Confidence:
        """Return how sure a score is; of nothing if this workbench cannot read the version."""
        if (trait, points) not in self._known:
            axis = self._axes.get(trait)
            sure = "low" if axis is None else UnseenScore((), points / 100, axis).score.confidence
            self._known[trait, points] = sure
        return self._known[trait, points]

    @cached_property
    def _known(self) -> dict[tuple[str, int], Confidence]:
        return {}

    @cached_property
    def _axes(self) -> Mapping[str, Any]:
        try:
            return axes_of(whole_version(self.handle, self.version)) if self.version else {}
        except PreviewUnavailable:
            return {}


def unseen_scores(model: Model, samples: Sequence[Sample]) -> ScoresOfSamples:
    """Return the scores of a model's samples; of a draft that is not trained, those of the version it was made from."""
    version = active_version(model)
    if version is not None:
        rows = rows_of(model, version)
        if isinstance(rows, NotKnown):
            return ScoresOfSamples(model, version, not_known=rows)
        return ScoresOfSamples(model, version, rows)
    origin = _origin(model)
    if origin is None:
        return ScoresOfSamples()
    rows = rows_of(*origin)
    if isinstance(rows, NotKnown):
        return ScoresOfSamples(*origin, not_known=rows)
    number, hashed = origin[1].version_no, origin[1].param_hash
    by_id, changed = copied_scores(samples, _originals(reader(), origin[0].handle, number, hashed), rows)
    return ScoresOfSamples(*origin, by_id=by_id, changed=changed)


def draw_why_not(scores: ScoresOfSamples) -> None:
    """Draw why samples have no scores; while they are worked out, look again every few seconds."""
    if scores.not_known is not None and scores.model is not None and scores.version is not None:
        draw_not_known(scores.model, scores.version, scores.not_known)


@dataclass(frozen=True)
class OriginalSample:
    """A sample of the model that a draft was made from, without its text."""

    sample_id: int
    trait: str
    content_sha256: str
    quality: float
    held_out: bool
    group: str | None
    note: str | None = None


def copied_scores(
    samples: Sequence[Sample], originals: Sequence[OriginalSample], rows: Mapping[int, UnseenRow]
) -> tuple[dict[int, Unseen], frozenset[int]]:
    """Return the scores of the copies by id, and the ids of samples that are no unchanged copies.

    Copies are in the order of their originals. Of several originals with the same text, one with the same label is
    matched first.
    """
    left: dict[tuple[str, str], list[OriginalSample]] = defaultdict(list)
    for original in originals:
        left[original.trait, original.content_sha256].append(original)
    originals_of: dict[int, OriginalSample] = {}
    for is_exact in (True, False):
        for sample in samples:
            same = left[sample.trait, sample.content_sha256] if sample.id not in originals_of else []
            match = next((each for each in same if not is_exact or each.quality == sample.quality), None)
            if match is not None:
                same.remove(match)
                originals_of[sample.id] = match
    scores = {
        each: Unseen(points, original.quality)
        for each, original in originals_of.items()
        if (row := rows.get(original.sample_id)) is not None and (points := row.points) is not None
    }
    return scores, frozenset(sample.id for sample in samples if _differs(sample, originals_of.get(sample.id)))


def _differs(sample: Sample, original: OriginalSample | None) -> bool:
    return original is None or any(
        getattr(sample, name) != getattr(original, name) for name in ("quality", "held_out", "group", "note")
    )


def _origin(model: Model) -> tuple[Model, Version] | None:
    """The model and the version that a draft was made from; None if it is gone, or cannot be read with this key."""
    if model.forked_from is None or model.forked_from.version_no is None:
        return None
    handle, number = model.forked_from.handle, model.forked_from.version_no
    try:
        origin = client().models.get(handle)
        return next(((origin, each) for each in client().versions.list(handle) if each.version_no == number), None)
    except (ModelNotFound, NamespaceForbidden):
        return None


@st.cache_resource(max_entries=16, show_spinner=False)
def _originals(reader: tuple[str, str], handle: str, version_no: int, param_hash: str) -> Sequence[OriginalSample]:
    # `reader`, the number and the hash are only part of the cache's key: the samples of a version in use stay the same.
    return [
        OriginalSample(each.id, each.trait, each.content_sha256, each.quality, each.held_out, each.group, each.note)
        for each in client().samples.list(handle, limit=LARGEST_SAMPLE_PAGE)
    ]
