"""The database of this machine's service, for the operator: keys and figures are read even if no service runs.

With a remote service (`TRAITBENCH_API_URL`) there is no local database, and the pages say so.
"""

import threading

from sqlalchemy import Engine

from traitbench.encoders.registry import EncoderUnavailable, load_encoder
from traitbench.settings import read_settings
from traitbench.store.migrate import open_store

_ENGINES: dict[str, Engine] = {}
_LOCK = threading.Lock()


def available() -> bool:
    """Whether the database with the keys is on this machine."""
    return read_settings().api_url is None


def engine() -> Engine:
    """The database of the settings; opened once, and its schema brought up to date."""
    settings = read_settings()
    with _LOCK:
        if settings.database_url not in _ENGINES:
            _ENGINES[settings.database_url] = open_store(settings)
        return _ENGINES[settings.database_url]


def encoder() -> str:
    """The id of the encoder for new trainings, or why there is none."""
    settings = read_settings()
    try:
        return load_encoder(settings.encoder, cache=settings.cache).id
    except EncoderUnavailable as error:
        return f"none: {error}"
