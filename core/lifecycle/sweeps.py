"""A sweep goes on when one of its models fails: what is stored of it may be unreadable."""

import logging
from collections.abc import Callable, Iterable, Iterator

_log = logging.getLogger(__name__)
_MOST_REMEMBERED = 1_000
_failed: dict[tuple[str, int], str] = {}


def each(sweep: str, model_ids: Iterable[int], act: Callable[[int], bool]) -> Iterator[int]:
    """The models for which `act` says yes; one that fails is left out, and logged when it first fails like that."""
    for model_id in model_ids:
        try:
            if act(model_id):
                yield model_id
            _failed.pop((sweep, model_id), None)
        except Exception as error:
            # Only the type: a message may hold a text. A sweep comes every few seconds, so this is said once.
            kind = type(error).__name__
            if _failed.get((sweep, model_id)) != kind and len(_failed) < _MOST_REMEMBERED:
                _log.warning("the %s left out the model with the id %d: %s", sweep, model_id, kind)
                _failed[(sweep, model_id)] = kind
