"""Models put into every state by requests. No worker moves them on, so what is busy stays busy."""

from itertools import count
from typing import Any

from tests.contract.world import World
from traitbench.contract.models import State

LOW = {"effort": "low"}
RETRAIN_AFTER = 3
FEEDBACK = [
    {
        **{"trait": "tone", "text": f"I like it here {number}", "quality": 1.0},
        **{"provenance": "score_feedback", "pending": True, "score_then": 40},
    }
    for number in range(RETRAIN_AFTER)
]
# By what a model is busy with: the kind of the run, and the request that starts it.
BUSY: dict[str, tuple[str, str, Any]] = {
    "training": ("train", "train", LOW),
    "retuning": ("retune", "train", {**LOW, "reoptimize_params": True}),
    "retraining": ("retrain", "retrain", None),
    "discovering": ("discover", "traits/discover", LOW),
    "synthesizing": ("synthesize", "samples/synthesize", LOW),
}
COLUMNS: dict[str, State] = {
    "draft": "draft",
    **dict.fromkeys(BUSY, "busy"),
    "ready": "ready",
    "failed": "failed",
    "archived": "archived",
}
_TRAINED = ("retuning", "retraining", "ready", "archived")


class Stage:
    """Hands out models in any state. What is busy, failed or archived got there by requests."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._numbers = count()
        self._shared: dict[str, str] = {}

    def fresh(self, column: str, *, feedback: bool = False) -> str:
        """A model of its own, to be changed; with `feedback`, as many pending samples as start a retrain."""
        bundle = self.world.bundles["ready" if column in _TRAINED else "draft"]
        if feedback or column == "retraining":
            bundle = {**bundle, "samples": [*bundle["samples"], *FEEDBACK]}
        handle = self.world.bring_in(f"stage.m{next(self._numbers)}", bundle)
        if column in BUSY:
            self._start(handle, column)
        if column == "failed":
            self._start(handle, "training")
            self.world.fail(handle)
        if column == "archived":
            assert self.world.call("DELETE", f"/v1/models/{handle}").status == 200
        assert self.model(handle)["state"] == COLUMNS[column]
        return handle

    def shared(self, column: str) -> str:
        """One model for all requests that change nothing."""
        if column not in self._shared:
            self._shared[column] = self.fresh(column)
        return self._shared[column]

    def model(self, handle: str) -> dict[str, Any]:
        """The model as it is read."""
        result: dict[str, Any] = self.world.call("GET", f"/v1/models/{handle}").body
        return result

    def _start(self, handle: str, column: str) -> None:
        kind, path, body = BUSY[column]
        assert self.world.call("POST", f"/v1/models/{handle}/{path}", json=body).status == 202
        assert self.model(handle)["last_operation"]["kind"] == kind
