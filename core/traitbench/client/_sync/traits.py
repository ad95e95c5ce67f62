# Made from client/traits.py by `python -m tests.client.generate`: edit that file, not this one.
"""`client.traits`: add, list, get, update, delete, and discover traits in the samples."""

import builtins
from collections.abc import Sequence
from typing import Unpack

from traitbench.client._sync.connection import Connection
from traitbench.client.pages import ListedRows
from traitbench.client.wire import bodies
from traitbench.contract import operations
from traitbench.contract.models import Effort, ModelDeleted, RunStarted
from traitbench.contract.texts import values_of
from traitbench.contract.traits import Trait, TraitFields, TraitInput


class Traits:
    """The traits of a model. Methods take the key of a trait, or its name."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, handle: str, traits: Sequence[TraitInput]) -> builtins.list[Trait]:
        """Add traits, or change those whose key exists, and return them in the order given.

        Raise `DuplicateTrait` if a name gives the key of a trait with another name. Then send a `key`:
        `details["errors"]` has a free one for each such trait, as `free_key`.
        """
        body = {"traits": bodies(traits, TraitInput, "traits")}
        answer = self._connection.send(operations.TRAITS_ADD, handle=handle, body=body)
        return ListedRows(answer.traits)

    def list(self, handle: str) -> ListedRows[Trait]:
        """List all traits of the model."""
        answer = self._connection.get(operations.TRAITS_LIST, handle=handle)
        return ListedRows(answer.traits, answer.unreadable)

    def get(self, handle: str, key: str) -> Trait:
        """Return one trait."""
        return self._connection.get(operations.TRAITS_GET, handle=handle, key=key)

    def update(self, handle: str, key: str, **fields: Unpack[TraitFields]) -> Trait:
        """Change the given fields. The key does not change."""
        answer = self._connection.send(operations.TRAITS_UPDATE, handle=handle, key=key, body=fields)
        return answer.traits[0]

    def delete(self, handle: str, key: str) -> ModelDeleted:
        """Remove the trait and its samples."""
        return self._connection.send(operations.TRAITS_DELETE, handle=handle, key=key)

    def discover(
        self,
        handle: str,
        *,
        effort: Effort | None = None,
        texts: Sequence[str] = (),
        language_model: bool | None = None,
    ) -> RunStarted:
        """Start a run that looks for traits in the samples and in `texts` without labels, at most 2,000.

        The language model of the service, if there is one, names the traits unless `language_model` is False. Call
        `client.models.wait` for the result; then `list` includes the new traits.
        """
        body: dict[str, object] = {"effort": effort, **({"texts": given} if (given := [*values_of(texts)]) else {})}
        body |= {} if language_model is None else {"language_model": language_model}
        return self._connection.send(operations.TRAITS_DISCOVER, handle=handle, body=body)
