"""Sweeps over models: one that fails, perhaps because a row is unreadable, does not stop the others."""

import logging
from collections.abc import Callable, Iterable, Iterator

_log = logging.getLogger(__name__)
_MAX_REMEMBERED = 1_000
_failed: dict[tuple[str, int], str] = {}


def each(sweep: str, model_ids: Iterable[int], act: Callable[[int], bool]) -> Iterator[int]:
    """Yield the models for which `act` returns True; one that fails is skipped, and logged the first time."""
    for model_id in model_ids:
        try:
            if act(model_id):
                yield model_id
            _failed.pop((sweep, model_id), None)
        except Exception as error:
            # Only the type: a message may hold a text. A sweep runs every few seconds, so the same failure is logged
            # once.
            kind = type(error).__name__
            if _failed.get((sweep, model_id)) != kind and len(_failed) < _MAX_REMEMBERED:
                _log.warning("the %s skipped the model with the id %d: %s", sweep, model_id, kind)
                _failed[(sweep, model_id)] = kind
