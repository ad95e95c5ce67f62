"""A version with its encoder, loaded once per process and shared by its threads."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

from cachetools import LRUCache

from traitbench.contract.extracts import is_url
from traitbench.encoders import Encoder, EncoderUnavailable
from traitbench.encoders.registry import load_encoder_of
from traitbench.encoders.scheduler import SCHEDULER, BatchQueue
from traitbench.local.texts import size_problem, text_problem
from traitbench.scoring import card
from traitbench.scoring.card import ScoreCard
from traitbench.scoring.snapshot import Snapshot
from traitbench.settings import encoder_name, read_settings

_AT_ONCE = 256
_ADDRESS = "the text is a web address. Nothing is fetched here: pass the text of the page."


class Choice(NamedTuple):
    """What a process loads: the hash of the parameters, the mode, and the name or folder of a configured encoder."""

    param_hash: str
    mode: str
    encoder: str | None


@dataclass(frozen=True)
class Loaded:
    """A version in one mode, ready to score; safe to call from several threads."""

    snapshot: Snapshot
    encoder: Encoder
    mode: str
    most_words: int

    def cards(self, texts: Sequence[Any], chosen: Sequence[int]) -> Iterator[ScoreCard | str]:
        """Yield the card of each text, or the sentence that says why it has none. Equal texts are scored once."""
        problems = [self._problem(text) for text in texts]
        distinct = list(dict.fromkeys(text for text, problem in zip(texts, problems, strict=True) if not problem))
        placed = dict(zip(distinct, self._placed(distinct), strict=True))
        for text, problem in zip(texts, problems, strict=True):
            yield problem or card.read(self.snapshot, chosen, placed[text])

    def _placed(self, texts: Sequence[str]) -> Iterator[card.Placed]:
        encode, queue = partial(self.encoder.encode, mode=self.mode), BatchQueue()
        for first in range(0, len(texts), _AT_ONCE):
            # In a slot the encoder starts no threads: an engine has a worker for each processor already.
            with SCHEDULER.slot(queue):
                placed = card.place(self.snapshot, encode, texts[first : first + _AT_ONCE])
            yield from placed

    def _problem(self, text: Any) -> str | None:
        if problem := text_problem(text):
            return _sentence(problem)
        if is_url(text):
            return _sentence(_ADDRESS)
        problem = size_problem(text, most_words=self.most_words, count_tokens=self.encoder.count_tokens)
        return problem and _sentence(problem)


def load_once(choice: Choice, read: Callable[[], Snapshot]) -> Loaded:
    """Return what this process has loaded for a choice; `read` is called the first time only."""
    with _one_at_a_time:
        if choice not in _loaded:
            _loaded[choice] = _load(read(), choice)
        return _loaded[choice]


def _load(snapshot: Snapshot, choice: Choice) -> Loaded:
    settings = read_settings()
    configured = encoder_name(choice.encoder) if choice.encoder else settings.encoder
    try:
        encoder = load_encoder_of(snapshot.encoder, configured=configured, cache=settings.cache)
    except EncoderUnavailable as error:
        raise ValueError(str(error)) from error
    return Loaded(snapshot.in_mode(choice.mode), encoder, choice.mode, settings.max_text_words)


def _sentence(problem: str) -> str:
    return problem[0].upper() + problem[1:]


_loaded: LRUCache[Choice, Loaded] = LRUCache(16)
_one_at_a_time = Lock()
