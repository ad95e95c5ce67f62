"""`client.proposed`: list and delete the labels that other programs proposed."""

from collections.abc import Sequence

from traitbench.client.connection import AsyncConnection
from traitbench.client.pages import AsyncPages
from traitbench.contract import operations
from traitbench.contract.proposed import ProposedDeleted, ProposedLabel


class AsyncProposedLabels:
    """Labels that other programs proposed for texts. Nothing is trained with them."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def list(self, handle: str, *, limit: int = 500, cursor: str | None = None) -> AsyncPages[ProposedLabel]:
        """List the proposed labels of a model, newest first."""
        return await AsyncPages.begin(
            lambda at: self._connection.get(
                operations.PROPOSED_LIST, handle=handle, params={"limit": limit, "cursor": at}
            ),
            cursor,
        )

    async def delete(self, handle: str, ids: Sequence[int] | None = None) -> ProposedDeleted:
        """Delete proposed labels: all, or at most 500 by their ids. Ids that the model does not have are left out."""
        params = {"ids": None if ids is None else ",".join(map(str, ids))}
        return await self._connection.send(operations.PROPOSED_DELETE, handle=handle, params=params)
