"""`client.attributes`: list, get, put, delete."""

from traitbench.client.connection import AsyncConnection
from traitbench.client.pages import AsyncPages
from traitbench.contract import operations
from traitbench.contract.attributes import Attribute


class AsyncAttributes:
    """What attributes of Perspective's wire, such as `TOXICITY`, mean to the keys of a namespace."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def list(self, namespace: str, *, limit: int = 100, cursor: str | None = None) -> AsyncPages[Attribute]:
        """List the aliases of a namespace by name."""
        return await AsyncPages.begin(
            lambda at: self._connection.get(
                operations.ATTRIBUTES_LIST, namespace=namespace, params={"limit": limit, "cursor": at}
            ),
            cursor,
        )

    async def get(self, namespace: str, name: str) -> Attribute:
        """Return the alias of an attribute."""
        return await self._connection.get(operations.ATTRIBUTES_GET, namespace=namespace, name=name)

    async def put(self, namespace: str, name: str, handle: str, trait: str) -> Attribute:
        """Say which trait an attribute means: of a model, whose handle may be pinned (`a.b@v3`, `a.b@tag`)."""
        body = {"handle": handle, "trait": trait}
        return await self._connection.send(operations.ATTRIBUTES_PUT, namespace=namespace, name=name, body=body)

    async def delete(self, namespace: str, name: str) -> Attribute:
        """Remove the alias of an attribute, and return it as it was."""
        return await self._connection.send(operations.ATTRIBUTES_DELETE, namespace=namespace, name=name)
