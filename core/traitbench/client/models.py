"""`client.models`: create, list, get, update, delete, restore, train, retrain, wait, fork, promote, cards, bundles.

`namespaces` are those of the key.
"""

from asyncio import sleep
from collections.abc import Callable
from itertools import chain, repeat
from time import monotonic
from typing import Any, Unpack

from traitbench.client.connection import AsyncConnection
from traitbench.client.pages import AsyncPages, is_of_listing, joined, namespace_of
from traitbench.client.wire import CreateFields, UpdateFields
from traitbench.contract import operations
from traitbench.contract.bundles import Bundle
from traitbench.contract.models import Model, ModelDeleted, RunStarted, TrainEffort
from traitbench.contract.page import LARGEST_PAGE, ModelPage
from traitbench.contract.versions import Version

_POLLS = (0.1, 0.2, 0.4)
_POLL_SECONDS = 0.8


class AsyncModels:
    """The models that the key may see."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def create(self, handle: str, **fields: Unpack[CreateFields]) -> Model:
        """Create a draft model."""
        return await self._connection.send(operations.MODELS_CREATE, body={"handle": handle, **fields})

    async def list(
        self,
        *,
        namespace: str | None = None,
        state: str | None = None,
        kind: str | None = None,
        forked_from: str | None = None,
        public: bool = False,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> AsyncPages[Model]:
        """List the models of the key's own namespaces, then those of the public catalog, each once and by handle.

        `namespace` lists one namespace that the key owns, `public` the public catalog alone. With a `limit`, the number
        of models in a page, or a cursor of the service, the listing is as on the wire: one namespace or the public
        catalog. With `forked_from`, list the forks of that model, archived or not, in one or all of the key's
        namespaces. Raise `NamespaceForbidden` if the key does not own the namespace.
        """
        filters = {
            "namespace": namespace,
            "state": state,
            "kind": kind,
            "forked_from": forked_from,
            "limit": limit or 50,
        }

        async def page(at: str | None, **query: str | int | None) -> ModelPage:
            return await self._connection.get(operations.MODELS_LIST, params=filters | query | {"cursor": at})

        if namespace is not None or forked_from is not None or public or limit is not None or not is_of_listing(cursor):
            return await AsyncPages.begin(page, cursor)
        owned = await self.namespaces()

        async def step(at: str | None) -> ModelPage:
            owner, there = namespace_of(at, owned)
            return joined(await page(there, namespace=owner or None, limit=LARGEST_PAGE), owner, owned)

        async def of_all(at: str | None) -> ModelPage:
            some = await step(at)
            while not some.items and not some.unreadable and some.next_cursor is not None:
                some = await step(some.next_cursor)
            return some

        return await AsyncPages.begin(of_all, cursor)

    async def namespaces(self) -> tuple[str, ...]:
        """Return the namespaces that the key owns, sorted."""
        return tuple((await self._connection.get(operations.ME)).namespaces)

    async def get(self, handle: str) -> Model:
        """Return one model."""
        return await self._connection.get(operations.MODELS_GET, handle=handle)

    async def update(self, handle: str, **fields: Unpack[UpdateFields]) -> Model:
        """Change the given fields."""
        return await self._connection.send(operations.MODELS_UPDATE, handle=handle, body=fields)

    async def delete(self, handle: str) -> ModelDeleted:
        """Archive the model; `restore` brings it back within 30 days."""
        return await self._connection.send(operations.MODELS_DELETE, handle=handle)

    async def restore(self, handle: str) -> Model:
        """Bring an archived model back to the state that it was archived from; another model stays as it is.

        Raise `ModelArchived` if it was archived more than 30 days ago.
        """
        return await self._connection.send(operations.MODELS_RESTORE, handle=handle)

    async def train(
        self,
        handle: str,
        *,
        effort: TrainEffort | None = None,
        reoptimize_params: bool = False,
        use_labels: bool = True,
        encoder: str | None = None,
    ) -> RunStarted:
        """Start a training, or return the run that is already training; call `wait` for the result.

        A model that is ready is trained again only with `reoptimize_params`, which searches for new parameters. With
        `use_labels`, training also uses the names, labels and descriptions of the traits as far as the samples confirm
        them. `encoder` names an encoder that is installed in the service; later trainings of the model keep it.
        """
        body: dict[str, Any] = {"effort": effort, "reoptimize_params": reoptimize_params}
        if not use_labels:
            body["use_labels"] = False
        if encoder is not None:
            body["encoder"] = encoder
        return await self._connection.send(operations.MODELS_TRAIN, handle=handle, body=body)

    async def retrain(self, handle: str) -> RunStarted:
        """Learn the waiting feedback now, or return the retrain in flight; call `wait` for the result.

        `run_id` is None if no feedback waits.
        """
        return await self._connection.send(operations.MODELS_RETRAIN, handle=handle)

    async def wait(
        self, handle: str, *, on_progress: Callable[[Model], None] | None = None, timeout: float = 600.0
    ) -> Model:
        """Wait until the model is no longer busy, and return it; call `on_progress` with the model at every poll.

        Raise `TimeoutError` after `timeout` seconds; the run continues in the service.
        """
        deadline = monotonic() + timeout
        for pause in chain(_POLLS, repeat(_POLL_SECONDS)):
            model = await self.get(handle)
            if on_progress is not None:
                on_progress(model)
            if model.state != "busy":
                return model
            if monotonic() + pause > deadline:
                break
            await sleep(pause)
        raise TimeoutError(f"{handle} is still busy after {timeout:g} s. Its run continues in the service.")

    async def card(self, handle: str) -> str:
        """Return the model card as Markdown."""
        return await self._connection.get_text(operations.MODELS_CARD, handle=handle)

    async def export(self, handle: str) -> Bundle:
        """Return the whole model as one document: definition, versions and, without zero data retention, samples."""
        return await self._connection.get(operations.MODELS_EXPORT, handle=handle, long=True)

    async def import_(self, bundle: Bundle, *, handle: str | None = None) -> Model:
        """Import an exported model under its own handle or another one. A bundle that was changed is refused."""
        return await self._connection.send(operations.MODELS_IMPORT, params={"handle": handle}, body=bundle, long=True)

    async def fork(self, handle: str, new_handle: str) -> Model:
        """Make a draft with the traits, samples and settings of a model, to improve it without touching it."""
        body = {"handle": new_handle}
        return await self._connection.send(operations.MODELS_FORK, handle=handle, body=body, long=True)

    async def promote(self, handle: str, *, from_: str, force: bool = False, keep: bool = False) -> Version:
        """Make the active version of the fork `from_` the next version of a model, with its traits and samples.

        The fork is archived unless `keep`. Raise `PromotionConflict` if the model has moved on since the fork was made,
        unless `force`.
        """
        body = {"from": from_, "force": force, "keep": keep}
        return await self._connection.send(operations.MODELS_PROMOTE, handle=handle, body=body, long=True)
