"""Models put into every state by what the contract offers; no worker is there to move them on.

Busy models have a run that waits for its worker. Failed ones have a trait that was discovered with an encoder that does
not train here: such a model can be brought in from elsewhere, and its first training fails.
"""

import base64
from collections.abc import Sequence
from itertools import count
from typing import Any

import numpy as np

from tests.contract.world import World
from traitbench.contract.models import State
from traitbench.encoders.registry import NAMES, load_encoder

STATES: dict[str, State] = {
    "draft": "draft",
    "training": "busy",
    "retuning": "busy",
    "discovering": "busy",
    "synthesizing": "busy",
    "ready": "ready",
    "failed": "failed",
    "archived": "archived",
}
FAILED = tuple(f"stage.failed{number}" for number in range(20))
LOW = {"effort": "low"}
FEEDBACK = {
    "trait": "tone",
    "text": "I like it here",
    "quality": 1.0,
    "provenance": "score_feedback",
    "pending": True,
    "score_then": 40,
}

_RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "training": ("train", LOW),
    "retuning": ("train", {**LOW, "reoptimize_params": True}),
    "discovering": ("traits/discover", LOW),
    "synthesizing": ("samples/synthesize", LOW),
}
_TRAINED = ("retuning", "ready", "archived")


class StateFixtures:
    """Hands out models by their state."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._failed = iter(FAILED)
        self._numbers = count()
        self._shared: dict[str, str] = {}

    def fresh(self, state: str, *, feedback: bool = False) -> str:
        """A model of its own, to be changed; with `feedback`, one pending sample. No failed model has any."""
        if state == "failed":
            return next(self._failed)
        bundle = self._world.bundles["ready" if state in _TRAINED else "draft"]
        if feedback:
            bundle = {**bundle, "samples": [*bundle["samples"], FEEDBACK]}
        handle = self._world.bring_in(f"stage.m{next(self._numbers)}", bundle)
        if state in _RUNS:
            path, body = _RUNS[state]
            assert self._world.call("POST", f"/v1/models/{handle}/{path}", json=body).status == 202
        if state == "archived":
            assert self._world.call("DELETE", f"/v1/models/{handle}").status == 200
        return handle

    def shared(self, state: str) -> str:
        """One model for all that change nothing."""
        if state not in self._shared:
            self._shared[state] = self.fresh(state)
        return self._shared[state]


def fail_first_trainings(world: World, handles: Sequence[str]) -> None:
    """Make models whose first training fails, and let it; this takes a worker."""
    bundle = {**world.bundles["draft"], "traits": [*world.bundles["draft"]["traits"], _stored_elsewhere(world)]}
    for handle in handles:
        world.bring_in(handle, bundle)
        assert world.call("POST", f"/v1/models/{handle}/train", key="maker", json=LOW).status == 202
    for handle in handles:
        world.wait(handle, "failed")


def _stored_elsewhere(world: World) -> dict[str, Any]:
    assert world.context is not None
    cache, here = world.context.settings.cache, world.context.encoder.digest
    encoder = next(each for name in NAMES if (each := load_encoder(name, cache=cache)).digest != here)
    axis = np.full(encoder.dimension, encoder.dimension**-0.5, "<f4")
    return {
        "name": "Found",
        "key": "found",
        "intrinsic": {
            "axis": base64.b64encode(axis.tobytes()).decode(),
            "encoder_digest": encoder.digest,
            "discrimination": 0.7,
            "explained_variance": 0.1,
            "anchors": None,
            "discovery": {},
        },
    }
