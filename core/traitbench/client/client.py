"""The client. Create one per service, share it between tasks, and close it at the end."""

from copy import copy
from types import TracebackType

import httpx

from traitbench.client import wire
from traitbench.client.attributes import AsyncAttributes
from traitbench.client.connection import AsyncConnection
from traitbench.client.labelling import AsyncUnlabelledTexts
from traitbench.client.models import AsyncModels
from traitbench.client.proposed import AsyncProposedLabels
from traitbench.client.samples import AsyncSamples
from traitbench.client.scores import AsyncScores
from traitbench.client.traits import AsyncTraits
from traitbench.client.versions import AsyncVersions
from traitbench.contract import operations
from traitbench.contract.envelope import Health, Me
from traitbench.contract.texts import Extracted


class AsyncClient:
    """The operations of the API. `base_url` is the address of the service, with or without `/v1`.

    Without it, the client reads address and key as the command line does: from `TRAITBENCH_API_URL` and
    `TRAITBENCH_API_KEY`, else those of the service on this machine. A key from there is never sent to an address given
    as `base_url`. Raises `SettingInvalid` if a setting is invalid.

    A service that has answered and then does not is waited for, for `restart_timeout` seconds (by default as
    many as `timeout`, and at most 60): it may be restarting.
    Reads, scores and requests that create, add or start something are then sent again. The latter have an idempotency
    key, so that nothing is done twice. One that never answered is given up after three attempts.
    """

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float = 60.0,
        restart_timeout: float | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._use(
            AsyncConnection(
                *wire.service_of(base_url, api_key),
                timeout=timeout,
                restart_timeout=restart_timeout,
                transport=transport,
            )
        )

    @property
    def base_url(self) -> str:
        """The address of the service, without `/v1`."""
        return self._connection.base_url

    def with_timeout(self, seconds: float) -> "AsyncClient":
        """Return a client with another timeout, for one call or for many: `client.with_timeout(5).health()`.

        It shares the connections of this client, which closes them.
        """
        other = copy(self)
        other._use(self._connection.with_timeout(seconds))
        return other

    async def health(self) -> Health:
        """Check that the service is ready; raise `Unavailable` if it is not, `Unreachable` if nothing answers."""
        return await self._connection.get(operations.HEALTH, at_once=True)

    async def me(self) -> Me:
        """Return who the service takes you for: the key's id, name, scope and namespaces, and the person who has it."""
        return await self._connection.get(operations.ME)

    async def extract(self, url: str) -> Extracted:
        """Return the readable text of a web page, which the service fetches."""
        return await self._connection.send(operations.EXTRACT, body={"url": url})

    async def close(self) -> None:
        """Close the connections."""
        await self._connection.close()

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_url!r})"

    def _use(self, connection: AsyncConnection) -> None:
        self._connection = connection
        self.models = AsyncModels(connection)
        self.traits = AsyncTraits(connection)
        self.samples = AsyncSamples(connection)
        self.versions = AsyncVersions(connection)
        self.scores = AsyncScores(connection)
        self.attributes = AsyncAttributes(connection)
        self.proposed = AsyncProposedLabels(connection)
        self.texts = AsyncUnlabelledTexts(connection)
