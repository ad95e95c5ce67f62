# Made from client/attributes.py by `python -m tests.client.generate`: edit that file, not this one.
"""`client.attributes`: list, get, put, delete."""

from traitbench.client._sync.connection import Connection
from traitbench.client.pages import Pages
from traitbench.contract import operations
from traitbench.contract.attributes import Attribute


class Attributes:
    """What attributes of Perspective's wire, such as `TOXICITY`, mean to the keys of a namespace."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(self, namespace: str, *, limit: int = 100, cursor: str | None = None) -> Pages[Attribute]:
        """List the aliases of a namespace by name."""
        return Pages(
            lambda at: self._connection.get(
                operations.ATTRIBUTES_LIST, namespace=namespace, params={"limit": limit, "cursor": at}
            ),
            cursor,
        )

    def get(self, namespace: str, name: str) -> Attribute:
        """Return the alias of an attribute."""
        return self._connection.get(operations.ATTRIBUTES_GET, namespace=namespace, name=name)

    def put(self, namespace: str, name: str, handle: str, trait: str) -> Attribute:
        """Say which trait an attribute means: of a model, whose handle may be pinned (`a.b@v3`, `a.b@tag`)."""
        body = {"handle": handle, "trait": trait}
        return self._connection.send(operations.ATTRIBUTES_PUT, namespace=namespace, name=name, body=body)

    def delete(self, namespace: str, name: str) -> Attribute:
        """Remove the alias of an attribute, and return it as it was."""
        return self._connection.send(operations.ATTRIBUTES_DELETE, namespace=namespace, name=name)
