"""Models put into every state by requests. No worker moves them on, so what is busy stays busy."""

from itertools import count
from typing import Any

from tests.contract.world import World, signed
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
    """Hands out models in any state. What is busy, failed or archived got there by requests.

    These requests are not what a test is about, so their answers are not compared with the OpenAPI document.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self._headers = {"Authorization": f"Bearer {world.secrets['maker']}"}
        self._bundles: dict[tuple[str, bool], Any] = {}
        self._numbers = count()
        self._shared: dict[str, str] = {}

    def fresh(self, column: str, *, feedback: bool = False) -> str:
        """A model of its own, to be changed; with `feedback`, as many pending samples as start a retrain."""
        handle = f"stage.m{next(self._numbers)}"
        name = "ready" if column in _TRAINED else "draft"
        bundle = self._bundle(name, feedback=feedback or column == "retraining")
        self._send("POST", "/import", params={"handle": handle}, json=bundle)
        if column in BUSY:
            self._start(handle, column)
        if column == "failed":
            self._start(handle, "training")
            self.world.fail(handle)
        if column == "archived":
            self._send("DELETE", f"/{handle}")
        return handle

    def shared(self, column: str) -> str:
        """One model for all requests that change nothing."""
        if column not in self._shared:
            self._shared[column] = self.fresh(column)
        return self._shared[column]

    def model(self, handle: str) -> dict[str, Any]:
        """The model as it is read."""
        result: dict[str, Any] = self._send("GET", f"/{handle}")
        return result

    def _start(self, handle: str, column: str) -> None:
        kind, path, body = BUSY[column]
        self._send("POST", f"/{handle}/{path}", json=body)
        assert self.model(handle)["last_operation"]["kind"] == kind

    def _bundle(self, name: str, *, feedback: bool) -> Any:
        if (name, feedback) not in self._bundles:
            bundle = self.world.bundles[name]
            more = {"samples": [*bundle["samples"], *FEEDBACK]} if feedback else {}
            self._bundles[name, feedback] = signed({**bundle, **more})
        return self._bundles[name, feedback]

    def _send(self, method: str, path: str, **request: Any) -> Any:
        answer = self.world.http.request(method, f"/v1/models{path}", headers=self._headers, **request)
        assert answer.is_success, answer.text
        return answer.json()
