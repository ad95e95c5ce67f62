"""API keys for the console page and the command line: straight on the database, server running or not.

With a remote service (`TRAITBENCH_API_URL`) there is no database here, and the page says so instead.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import Engine

from core.errors import Unavailable
from core.lifecycle import keys
from core.lifecycle.bench import open_store
from core.lifecycle.keys import Issued, KeyNotFound
from core.settings import SettingInvalid, Settings, read_settings
from core.store.keys import ApiKey, Scope

__all__ = ["ApiKey", "Issued", "KeyNotFound", "Scope", "available", "issue", "list_keys", "revoke"]

_ENGINES: dict[str, Engine] = {}
_LOCK = threading.Lock()


def available() -> bool:
    """Whether the keys are this machine's to manage."""
    return read_settings().api_url is None


def issue(*, scope: Scope, namespaces: Sequence[str], name: str = "") -> Issued:
    """A new key and its secret, which is shown this once."""
    with _database() as engine:
        return keys.create(engine, scope=scope, namespaces=namespaces, name=name)


def list_keys() -> list[ApiKey]:
    """Every key, oldest first, the revoked ones too."""
    with _database() as engine:
        return keys.list_keys(engine)


def revoke(key_id: str) -> ApiKey:
    """End a key; whoever uses it is refused from now on. Raise `KeyNotFound` when there is none of that id."""
    with _database() as engine:
        return keys.revoke(engine, key_id)


@contextmanager
def _database() -> Iterator[Engine]:
    settings = read_settings()
    try:
        yield _engine(settings)
    except SettingInvalid as error:
        raise Unavailable(str(error)) from error


def _engine(settings: Settings) -> Engine:
    with _LOCK:
        if settings.database_url not in _ENGINES:
            _ENGINES[settings.database_url] = open_store(settings)
        return _ENGINES[settings.database_url]
