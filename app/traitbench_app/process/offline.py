"""Prevents Streamlit from asking the internet for this machine's address.

When a page of another origin opens a WebSocket, Streamlit 1.67 compares that origin with this machine's own addresses:
it opens a socket towards 8.8.8.8, then asks an address service for the public one. No option prevents that. So both
functions are replaced by one that returns no address. The origin is still refused, without a request.
"""

from streamlit import net_util


def block_lookups() -> None:
    """Replace Streamlit's two lookups of this machine's addresses; call this once per process."""
    for name in ("get_external_ip", "get_internal_ip"):
        setattr(net_util, name, _unknown)


def _unknown() -> str | None:
    return None
