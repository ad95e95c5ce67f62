# Made from client/proposed.py by `python -m tests.client.generate`: edit that file, not this one.
"""`client.proposed`: list and delete the labels that other programs proposed."""

from collections.abc import Sequence

from traitbench.client._sync.connection import Connection
from traitbench.client.pages import Pages
from traitbench.contract import operations
from traitbench.contract.proposed import ProposedDeleted, ProposedLabel


class ProposedLabels:
    """Labels that other programs proposed for texts. Nothing is trained with them."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(self, handle: str, *, limit: int = 500, cursor: str | None = None) -> Pages[ProposedLabel]:
        """List the proposed labels of a model, newest first."""
        return Pages(
            lambda at: self._connection.get(
                operations.PROPOSED_LIST, handle=handle, params={"limit": limit, "cursor": at}
            ),
            cursor,
        )

    def delete(self, handle: str, ids: Sequence[int] | None = None) -> ProposedDeleted:
        """Delete proposed labels: all, or at most 500 by their ids. Ids that the model does not have are left out."""
        params = {"ids": None if ids is None else ",".join(map(str, ids))}
        return self._connection.send(operations.PROPOSED_DELETE, handle=handle, params=params)
