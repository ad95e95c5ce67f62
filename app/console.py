"""API keys and the state of the service, for the operator: straight on the database, server running or not.

With a remote service (`TRAITBENCH_API_URL`) there is no database here, and the pages say so instead.
"""

import threading
from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import Engine

from traitbench.contract.unreadable import Unreadable
from traitbench.lifecycle import keys, operating
from traitbench.lifecycle.bench import open_store
from traitbench.lifecycle.keys import Issued, KeyNotFound, of_session
from traitbench.lifecycle.operating import Overview, Recent
from traitbench.settings import Settings, read_settings
from traitbench.store.keys import ApiKey, Scope
from traitbench.store.runs import Listed

__all__ = [
    "ApiKey",
    "Issued",
    "KeyNotFound",
    "Listed",
    "Overview",
    "Recent",
    "Scope",
    "available",
    "free_bytes",
    "issue",
    "issue_for_session",
    "list_keys",
    "of_session",
    "overview",
    "recent",
    "remove",
    "revoke",
    "rows",
    "unreadable_keys",
]

_ENGINES: dict[str, Engine] = {}
_LOCK = threading.Lock()


def available() -> bool:
    """Whether the keys are this machine's to manage."""
    return read_settings().api_url is None


def issue(*, scope: Scope, namespaces: Sequence[str], name: str = "") -> Issued:
    """A new key and its secret, which is shown this once."""
    return keys.create(_engine(read_settings()), scope=scope, namespaces=namespaces, name=name)


def issue_for_session(*, scope: Scope, namespaces: Sequence[str], name: str, longest: timedelta) -> Issued:
    """A new key for a person's session of the workbench; `longest` is how long a session can last."""
    engine = _engine(read_settings())
    return keys.create_for_session(engine, scope=scope, namespaces=namespaces, name=name, longest=longest)


def remove(key_id: str) -> None:
    """End the key of a session and delete it; nothing happens when it is gone."""
    keys.remove(_engine(read_settings()), key_id)


def list_keys() -> list[ApiKey]:
    """Every key, oldest first, the revoked ones too."""
    return keys.list_keys(_engine(read_settings()))


def unreadable_keys() -> list[Unreadable]:
    """The keys that `list_keys` leaves out, because their rows are damaged."""
    return keys.unreadable_keys(_engine(read_settings()))


def revoke(key_id: str) -> None:
    """End a key; whoever uses it is refused from now on. Raise `KeyNotFound` when there is none of that id."""
    keys.revoke(_engine(read_settings()), key_id)


def overview() -> Overview:
    """Runs, workers and storage in numbers."""
    return operating.overview(_engine(read_settings()))


def recent() -> Recent:
    """The runs that go on, those that failed and were not repeated, and those that ended last."""
    return operating.recent(_engine(read_settings()))


def rows() -> dict[str, int]:
    """How many models, versions and samples there are."""
    return operating.rows(_engine(read_settings()))


def free_bytes() -> int | None:
    """Free space for the home folder; None when it is gone."""
    return operating.free_bytes(read_settings())


def _engine(settings: Settings) -> Engine:
    with _LOCK:
        if settings.database_url not in _ENGINES:
            _ENGINES[settings.database_url] = open_store(settings)
        return _ENGINES[settings.database_url]
