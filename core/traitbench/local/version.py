"""A version in memory, with its encoder: the only place that makes cards and explanations without the service.

The rehearsal of a draft, a fitted estimator, a version of the service and one in a file are scored here by the code of
the service. So they give its numbers and refuse the texts that it refuses.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, partial
from threading import RLock
from typing import Any, NamedTuple

import numpy as np
from cachetools import LRUCache

from traitbench.as_read import as_read
from traitbench.contract.explanations import Explanation
from traitbench.contract.scores import Card, Comparison
from traitbench.encoders import Encoder, EncoderUnavailable, leave_one_out_of
from traitbench.encoders.registry import load_encoder_of
from traitbench.errors import BodyTooLarge, LocalError
from traitbench.local.samples import LocalTrait
from traitbench.local.texts import Problem, scored_size, text_problem
from traitbench.local.vectors import vectors_of
from traitbench.scoring import card, segments
from traitbench.scoring.card import certain
from traitbench.scoring.explain import explain
from traitbench.scoring.segments import Encode
from traitbench.scoring.snapshot import FULL, Snapshot, param_hash
from traitbench.settings import encoder_name, read_settings

LOCAL = "local"
"""The request id on cards that are made here."""

_AT_ONCE, _MOST_LOADED = 512, 64
_NOT_COMPARED = "Similar samples are shown by the service, once the model is trained there."


class PreviewUnavailable(LocalError, ValueError):
    """Nothing can be scored or trained here; the message says why."""


@dataclass(frozen=True, eq=False)
class LocalVersion:
    """A version in one mode, ready to score; safe to call from several threads.

    `metrics` are those of a training in memory or in a file; a version of the service has its own. `configured` is the
    name or folder of an encoder that is not built in, and `name` says on cards which version this is, by default its
    hash. `number` is the one in the file that it was read from. With `keeps_vectors`, the vectors of scored texts stay
    in memory.

    Pickled, it has no encoder: that is found again by its digest.
    """

    snapshot: Snapshot
    traits: Sequence[LocalTrait] = ()
    metrics: dict[str, Any] = field(default_factory=dict)
    samples: int = 0
    finished_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    configured: str | None = None
    mode: str = FULL
    name: str = ""
    keeps_vectors: bool = False
    number: int | None = None

    @cached_property
    def param_hash(self) -> str:
        """The hash of the parameters, as the service computes it."""
        return param_hash(self.snapshot)

    @cached_property
    def encoder(self) -> Encoder:
        """The encoder of the training; raise `PreviewUnavailable` if it is not installed here."""
        settings = read_settings()
        configured = encoder_name(self.configured) if self.configured else settings.encoder
        try:
            return load_encoder_of(self.snapshot.encoder, configured=configured, cache=settings.cache)
        except EncoderUnavailable as error:
            raise PreviewUnavailable(str(error)) from error

    @property
    def encode(self) -> Encode:
        """The encoder in the mode of this version: pieces of text to (n_pieces, d)."""
        return self.encoder.encode if self.mode == FULL else partial(self.encoder.encode, mode=self.mode)

    def score(self, texts: Sequence[str], *, traits: Sequence[str] | None = None) -> list[Card]:
        """Return the card of each text; raise `BodyTooLarge` for a text that the service refuses.

        `traits` are keys or names, all when None.
        """
        texts = [self._checked(text) for text in texts]
        chosen = card.choose(self.snapshot, traits)
        metadata = {"request_id": LOCAL, "version_id": self.name or self.param_hash, "sample_ids": []}
        return [
            Card.model_validate(
                {
                    **card.read(self.snapshot, chosen, placed).to_wire(),
                    "input_tokens": self.encoder.count_tokens(text),
                    "metadata": metadata,
                }
            )
            for text, placed in zip(texts, self.project(texts), strict=True)
        ]

    def explain(self, text: str) -> dict[str, Explanation]:
        """Return by trait key why a text has its score; raise `BodyTooLarge` as `score` does."""
        self._checked(text)
        left = {"nearest": None, "note": _NOT_COMPARED}
        leave_one_out = leave_one_out_of(self.encoder, mode=self.mode)
        reasons = explain(self.snapshot, self.encode, text, leave_one_out=leave_one_out).traits
        return {key: Explanation.model_validate(each.to_wire() | left) for key, each in reasons.items()}

    def compare(self, a: Card, b: Card) -> Comparison:
        """Compare two cards of this version."""
        return Comparison.of(a, b, certain(self.snapshot, a.detail, b.detail))

    def project(self, texts: Sequence[str]) -> list[card.Placed]:
        """Return where checked texts are on all traits of the snapshot. Equal texts are placed once."""
        distinct = list(dict.fromkeys(texts))
        placed = dict(zip(distinct, self._placed(distinct), strict=True))
        return [placed[text] for text in texts]

    def problems(self, texts: Sequence[Any]) -> list[Problem]:
        """Return what is wrong with each text, for which the service would refuse it; None if nothing is."""
        too_large = scored_size(self.encoder.count_tokens)
        return [text_problem(text) or too_large(text) for text in texts]

    def _placed(self, texts: Sequence[str]) -> Iterator[card.Placed]:
        for first in range(0, len(texts), _AT_ONCE):
            some = texts[first : first + _AT_ONCE]
            if not self.keeps_vectors or not card.is_scored_whole(self.snapshot):
                yield from card.project(self.snapshot, self.encode, some)
                continue
            read = [as_read(text, self.snapshot.reading).text for text in some]
            known = vectors_of(self.encoder, {text: text for text in read}, reading=self.snapshot.reading)
            yield from card.project_whole(self.snapshot, read, np.array([known[text] for text in read], np.float32))

    def _checked(self, text: str) -> str:
        """The text as it is read; raise `BodyTooLarge` if the service would."""
        read = as_read(text, self.snapshot.reading).text
        try:
            segments.check(read, most_words=read_settings().max_text_words, count_tokens=self.encoder.count_tokens)
        except segments.TextTooLarge as error:
            raise BodyTooLarge(str(error), details=error.details) from None
        return read

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "encoder"}


class VersionChoice(NamedTuple):
    """What a process loads: the hash of the parameters, the mode, and the name or folder of a configured encoder."""

    param_hash: str
    mode: str = FULL
    encoder: str | None = None


def load_once(choice: VersionChoice, read: Callable[[], Snapshot]) -> LocalVersion:
    """Return what this process has loaded for a choice; `read` is called the first time only."""
    with _one_at_a_time:
        if choice not in _loaded:
            _loaded[choice] = LocalVersion(read().in_mode(choice.mode), configured=choice.encoder, mode=choice.mode)
        return _loaded[choice]


_loaded: LRUCache[VersionChoice, LocalVersion] = LRUCache(_MOST_LOADED)
_one_at_a_time = RLock()
