"""API keys and the state of the service, for the operator. It reads the database directly, even if no service runs.

With a remote service (`TRAITBENCH_API_URL`) there is no local database, and the pages say so.
"""

import threading
from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import Engine

from traitbench.contract.fields import Unreadable
from traitbench.encoders.registry import EncoderUnavailable, load_encoder
from traitbench.operations import keys, operating
from traitbench.operations.keys import Issued, KeyNotFound, of_session
from traitbench.operations.operating import Overview, Recent, build
from traitbench.settings import Settings, read_settings
from traitbench.store.keys import ApiKey, Scope
from traitbench.store.migrate import open_store
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
    "build",
    "encoder",
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
    """Whether the database with the keys is on this machine."""
    return read_settings().api_url is None


def issue(*, scope: Scope, namespaces: Sequence[str], name: str = "") -> Issued:
    """Create a key and return it with its secret, which is shown only once."""
    return keys.create(_engine(read_settings()), scope=scope, namespaces=namespaces, name=name)


def issue_for_session(*, scope: Scope, namespaces: Sequence[str], name: str, longest: timedelta) -> Issued:
    """Create a key for a person's session in the workbench; `longest` is the maximum length of a session."""
    engine = _engine(read_settings())
    return keys.create_for_session(engine, scope=scope, namespaces=namespaces, name=name, longest=longest)


def remove(key_id: str) -> None:
    """Revoke and delete the key of a session; do nothing if it does not exist."""
    keys.remove(_engine(read_settings()), key_id)


def list_keys() -> list[ApiKey]:
    """Return all keys, oldest first, including revoked ones."""
    return keys.list_keys(_engine(read_settings()))


def unreadable_keys() -> list[Unreadable]:
    """Return the keys that `list_keys` leaves out because their rows are damaged."""
    return keys.unreadable_keys(_engine(read_settings()))


def revoke(key_id: str) -> None:
    """Revoke a key at once; raise `KeyNotFound` if there is none with this id."""
    keys.revoke(_engine(read_settings()), key_id)


def overview() -> Overview:
    """Runs, workers and storage in numbers."""
    return operating.overview(_engine(read_settings()))


def recent() -> Recent:
    """Return the active runs, the failed ones that were not retried, and the last 200 that ended."""
    return operating.recent(_engine(read_settings()), ended=200)


def encoder() -> str:
    """Return the id of the encoder for new trainings, or why there is none."""
    settings = read_settings()
    try:
        return load_encoder(settings.encoder, cache=settings.cache).id
    except EncoderUnavailable as error:
        return f"none: {error}"


def rows() -> dict[str, int]:
    """Return the numbers of models, versions and samples."""
    return operating.rows(_engine(read_settings()))


def free_bytes() -> int | None:
    """Return the free bytes on the disk of the home folder, or None if the folder is gone."""
    return operating.free_bytes(read_settings())


def _engine(settings: Settings) -> Engine:
    with _LOCK:
        if settings.database_url not in _ENGINES:
            _ENGINES[settings.database_url] = open_store(settings)
        return _ENGINES[settings.database_url]
