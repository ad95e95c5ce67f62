# Made from client/client.py by `python -m tests.client.generate`: edit that file, not this one.
"""The client. Create one per service, share it between threads, and close it at the end."""

from copy import copy
from types import TracebackType

import httpx

from traitbench.client import wire
from traitbench.client._sync.attributes import Attributes
from traitbench.client._sync.connection import Connection
from traitbench.client._sync.labelling import UnlabelledTexts
from traitbench.client._sync.models import Models
from traitbench.client._sync.proposed import ProposedLabels
from traitbench.client._sync.samples import Samples
from traitbench.client._sync.scores import Scores
from traitbench.client._sync.traits import Traits
from traitbench.client._sync.versions import Versions
from traitbench.contract import operations
from traitbench.contract.envelope import Health, Me
from traitbench.contract.texts import Extracted


class Client:
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
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._use(
            Connection(
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

    def with_timeout(self, seconds: float) -> "Client":
        """Return a client with another timeout, for one call or for many: `client.with_timeout(5).health()`.

        It shares the connections of this client, which closes them.
        """
        other = copy(self)
        other._use(self._connection.with_timeout(seconds))
        return other

    def health(self) -> Health:
        """Check that the service is ready; raise `Unavailable` if it is not, `Unreachable` if nothing answers."""
        return self._connection.get(operations.HEALTH, at_once=True)

    def me(self) -> Me:
        """Return who the service takes you for: the key's id, name, scope and namespaces, and the person who has it."""
        return self._connection.get(operations.ME)

    def extract(self, url: str) -> Extracted:
        """Return the readable text of a web page, which the service fetches."""
        return self._connection.send(operations.EXTRACT, body={"url": url})

    def close(self) -> None:
        """Close the connections."""
        self._connection.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_url!r})"

    def _use(self, connection: Connection) -> None:
        self._connection = connection
        self.models = Models(connection)
        self.traits = Traits(connection)
        self.samples = Samples(connection)
        self.versions = Versions(connection)
        self.scores = Scores(connection)
        self.attributes = Attributes(connection)
        self.proposed = ProposedLabels(connection)
        self.texts = UnlabelledTexts(connection)
