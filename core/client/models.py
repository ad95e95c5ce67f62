"""`client.models`: create, list, get, update, delete, train, wait for what runs; the card, the whole as a bundle."""

import time
from collections.abc import Callable
from itertools import chain, repeat
from typing import Any, TypedDict, Unpack

from traitbench.client.connection import Connection, segment
from traitbench.client.pages import Pages
from traitbench.contract.bundles import Bundle
from traitbench.contract.models import Model, ModelDeleted, RunStarted, TrainEffort, VersionRetentionPolicy
from traitbench.contract.page import ModelPage

_POLLS = (0.1, 0.2, 0.4)
_POLL_SECONDS = 0.8


class CreateFields(TypedDict, total=False):
    """What a model may be given at its creation."""

    description: str
    scoring_method: str
    max_depth: int
    kind: str
    additional_terms: str | None
    upstream_sources: list[dict[str, Any]] | None
    readme_markdown: str | None
    zero_data_retention: bool


class UpdateFields(TypedDict, total=False):
    """What may be changed: a field left out stays, None resets it to its default."""

    description: str | None
    scoring_method: str | None
    max_depth: int | None
    additional_terms: str | None
    upstream_sources: list[dict[str, Any]] | None
    readme_markdown: str | None
    zero_data_retention: bool | None
    version_retention_policy: VersionRetentionPolicy | None


class Models:
    """The models that the key may see."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(self, handle: str, **fields: Unpack[CreateFields]) -> Model:
        """Make a draft."""
        return self._connection.send("POST", "/models", Model, body={"handle": handle, **fields})

    def list(
        self,
        *,
        namespace: str | None = None,
        state: str | None = None,
        kind: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Pages[Model]:
        """The models of a namespace; without one, those of the public catalog."""
        filters = {"namespace": namespace, "state": state, "kind": kind, "limit": limit}
        return Pages(lambda at: self._connection.get("/models", ModelPage, params={**filters, "cursor": at}), cursor)

    def get(self, handle: str) -> Model:
        """One model."""
        return self._connection.get(f"/models/{segment(handle)}", Model)

    def update(self, handle: str, **fields: Unpack[UpdateFields]) -> Model:
        """Change what is given."""
        return self._connection.send("PATCH", f"/models/{segment(handle)}", Model, body=fields)

    def delete(self, handle: str) -> ModelDeleted:
        """Archive the model."""
        return self._connection.send("DELETE", f"/models/{segment(handle)}", ModelDeleted)

    def train(
        self,
        handle: str,
        *,
        effort: TrainEffort | None = None,
        reoptimize_params: bool = False,
        use_labels: bool = True,
    ) -> RunStarted:
        """Start a training, or meet the one that runs; `wait` sees it through.

        A model that is ready is trained again only with `reoptimize_params`, which searches anew. With `use_labels` it
        learns from the words for the traits and their poles too, as far as the samples bear them out.
        """
        body = {"effort": effort, "reoptimize_params": reoptimize_params}
        if not use_labels:
            body["use_labels"] = False
        return self._connection.send("POST", f"/models/{segment(handle)}/train", RunStarted, body=body)

    def wait(self, handle: str, *, on_progress: Callable[[Model], None] | None = None, timeout: float = 600.0) -> Model:
        """The model once it is no longer busy; `on_progress` sees it at every look."""
        deadline = time.monotonic() + timeout
        for pause in chain(_POLLS, repeat(_POLL_SECONDS)):
            model = self.get(handle)
            if on_progress is not None:
                on_progress(model)
            if model.state != "busy":
                return model
            if time.monotonic() + pause > deadline:
                break
            time.sleep(pause)
        raise TimeoutError(f"{handle} is still busy after {timeout:g} s; what it does goes on in the service.")

    def card(self, handle: str) -> str:
        """The model card, in markdown."""
        return self._connection.get_text(f"/models/{segment(handle)}", "text/markdown")

    def export(self, handle: str) -> Bundle:
        """The whole model as one document: definition, versions and, unless under zero data retention, samples."""
        return self._connection.get(f"/models/{segment(handle)}/export", Bundle, long=True)

    def import_(self, bundle: Bundle, *, handle: str | None = None) -> Model:
        """Bring an exported model in, under its own handle or another; a bundle that was changed is refused."""
        return self._connection.send("POST", "/models/import", Model, params={"handle": handle}, body=bundle, long=True)
