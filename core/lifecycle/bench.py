"""What every operation needs in its hand: settings, store, runs, encoder; opened once, closed once."""

import os
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn, TypeVar

from sqlalchemy import Engine

from traitbench.encoders import Encoder
from traitbench.lifecycle.health import Health
from traitbench.lifecycle.pipeline import Pipelines
from traitbench.lifecycle.snapshots import Snapshots
from traitbench.lifecycle.vector_cache import MEBIBYTE, VectorCache
from traitbench.runs import RunEngine
from traitbench.settings import Settings
from traitbench.store.engine import check_file, open_engine, sqlite_file
from traitbench.store.migrate import migrate
from traitbench.store.trouble import StoreUnavailable, reason_of
from traitbench.store.unchanged import Unchanged

if TYPE_CHECKING:
    from traitbench.extract import Extracted

Value = TypeVar("Value")

_CHECK_SECONDS = 2.0


class NotAtHand(Exception):
    """To tell, the database has to be asked."""


def _not_at_hand() -> NoReturn:
    raise NotAtHand


def _extract(url: str) -> "Extracted":
    # Imported when the first address comes: few models are ever asked about one, and it brings in a web client.
    from traitbench.extract import extract

    return extract(url)


def _fetch_nothing(_url: str) -> NoReturn:
    from traitbench.extract.refusals import refusal

    raise refusal("off")


@dataclass(frozen=True)
class Bench:
    """The open workbench of the service; `extract` reads the text behind an address."""

    settings: Settings
    engine: Engine
    runs: RunEngine
    encoder: Encoder
    snapshots: Snapshots = field(default_factory=Snapshots)
    vectors: VectorCache = field(default_factory=lambda: VectorCache(0))
    batches: Pipelines = field(default_factory=Pipelines)
    unchanged: Unchanged | None = None
    extract: Callable[[str], "Extracted"] = _extract
    may_read: bool = True

    def recall(self, asked: Hashable, read: Callable[[], Value]) -> Value:
        """What `read` says, or said when it was asked last, if nothing was written since."""
        ask = read if self.may_read else _not_at_hand
        return ask() if self.unchanged is None else self.unchanged.get(asked, ask)

    @cached_property
    def from_memory(self) -> "Bench":
        """The same, where `recall` raises `NotAtHand` instead of reading."""
        return replace(self, may_read=False)

    def forget(self, model_id: int) -> None:
        """Let go of what is in memory of a model that may keep nothing any more."""
        self.snapshots.clear()
        self.vectors.forget(model_id)
        if self.unchanged is not None:
            self.unchanged.forget()

    def close(self) -> None:
        """Stop batches and runs, and let go of the database."""
        self.batches.close()
        self.runs.close()
        self.health.close()
        if self.unchanged is not None:
            self.unchanged.close()
        self.engine.dispose()

    @cached_property
    def health(self) -> Health:
        """Whether store, encoder and runs are up."""
        file = sqlite_file(self.settings.database_url)
        return Health(self.engine, self.runs, file.parent if file else self.settings.home)

    def healthy(self) -> bool:
        """Whether nothing is wrong."""
        return not self.health.state().wrong


def open_bench(settings: Settings, *, runs: bool = True) -> Bench:
    """Open everything, and execute runs, unless `runs` is False: then they are only queued."""
    # Imported here, so that the commands about keys wait for neither run engine nor encoder.
    from traitbench.encoders.registry import load_encoder
    from traitbench.lifecycle.greeting import WORKER, greeting
    from traitbench.runs.engine import Runs

    engine = open_store(settings, check_s=_CHECK_SECONDS)
    service = Runs(settings.database_url, module=WORKER, greeting=greeting(settings))
    try:
        if runs:
            service.start()
        vectors = VectorCache(settings.vector_memory_mb * MEBIBYTE)
        encoder = load_encoder(settings.encoder, cache=settings.cache)
    except BaseException:
        service.close()
        engine.dispose()
        raise
    return Bench(
        settings,
        engine,
        service,
        encoder,
        vectors=vectors,
        unchanged=Unchanged(engine),
        extract=_extract if settings.fetch_urls else _fetch_nothing,
    )


def open_store(settings: Settings, *, check_s: float = 0.0) -> Engine:
    """The database, its schema up to date: all that the commands about keys need.

    `check_s` are the seconds to look for damage in a SQLite file. Raise `StoreUnavailable` when it cannot be used.
    """
    file = sqlite_file(settings.database_url)
    try:
        settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        if file:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # SQLite gives the files beside it the same mode.
            os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        where = settings.home if file is None or error.filename is None else error.filename
        raise StoreUnavailable(
            f"{where} cannot be used: {error.strerror}. Make it writable for this user, free some space, or let"
            " TRAITBENCH_HOME or TRAITBENCH_DATABASE_URL name another place.",
            reason=reason_of(error) or "no_file",
        ) from error
    engine = open_engine(settings.database_url)
    if check_s:
        check_file(engine, within_s=check_s)
    migrate(engine)
    return engine
