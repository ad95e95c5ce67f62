"""A typed client for the service, with one attribute per resource: `Client`, and `AsyncClient` for an event loop.

    client = Client("http://127.0.0.1:8501", api_key="...")
    client.models.create("local.tone")
    client.scores.score("local.tone", "Well done, thank you.")

Methods return the types of `traitbench.contract` and raise the errors of `traitbench.errors`. Both clients have the
same methods. `Traitbench` is the first name of `Client`, and stays.
"""

from typing import TYPE_CHECKING, Any

from traitbench.client._sync.client import Client
from traitbench.client.pages import AsyncPages, Pages

if TYPE_CHECKING:
    from traitbench.client.client import AsyncClient

Traitbench = Client

__all__ = ["AsyncClient", "AsyncPages", "Client", "Pages", "Traitbench"]

# Hidden from the type checker, which would otherwise accept any name.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Load the asynchronous client when it is first used (PEP 562)."""
        if name != "AsyncClient":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from traitbench.client.client import AsyncClient

        return AsyncClient
