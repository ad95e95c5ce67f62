"""Dependencies shared by all operations: settings, store, runs and encoder. Opened once, closed once."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from sqlalchemy import Engine

from traitbench.encoders import Encoder
from traitbench.operations import backups
from traitbench.operations.health import HealthCheck
from traitbench.operations.pipeline import Pipelines
from traitbench.operations.vector_cache import MEBIBYTE, Snapshots, VectorCache
from traitbench.runs import RunEngine
from traitbench.settings import Settings
from traitbench.store.database import sqlite_file
from traitbench.store.migrate import open_store
from traitbench.store.read_cache import ReadCache

if TYPE_CHECKING:
    from traitbench.extract import ReadableText
    from traitbench.operations.telemetry import Telemetry

Value = TypeVar("Value")


LISTING = 10
"""The weight of a cached listing: at most a hundred are kept."""

_CHECK_SECONDS = 2.0


class CacheMiss(Exception):
    """The value is not cached: reading it needs a database query."""


def _cache_miss() -> NoReturn:
    raise CacheMiss


def _extract(url: str) -> "ReadableText":
    # Imported on first use: few models are ever asked about an address, and the import loads a web client.
    from traitbench.extract import extract

    return extract(url)


def _fetch_nothing(_url: str) -> NoReturn:
    from traitbench.extract.refusals import refusal

    raise refusal("off")


@dataclass(frozen=True)
class Context:
    """The open dependencies of the service; `extract` reads the text behind an address.

    `telemetry` is None unless the operator has named a collector.
    """

    settings: Settings
    engine: Engine
    runs: RunEngine
    encoder: Encoder
    snapshots: Snapshots = field(default_factory=Snapshots)
    vectors: VectorCache = field(default_factory=lambda: VectorCache(0))
    batches: Pipelines = field(default_factory=Pipelines)
    read_cache: ReadCache | None = None
    extract: Callable[[str], "ReadableText"] = _extract
    may_query: bool = True
    telemetry: "Telemetry | None" = None

    def cached(self, asked: Hashable, read: Callable[[], Value], *, weight: int = 1) -> Value:
        """The cached result of `read` if nothing was written since; otherwise a new one. Listings have a `weight`."""
        # Check permission before, and never cache a listing of samples: deleted texts must not stay in memory.
        # Uncached, the queries of a score took a third of its time besides the encoder.
        ask = read if self.may_query else _cache_miss
        return ask() if self.read_cache is None else self.read_cache.get(asked, ask, weight=weight)

    @cached_property
    def cached_only(self) -> "Context":
        """A copy whose `cached` raises `CacheMiss` instead of reading."""
        return replace(self, may_query=False)

    def forget(self, model_id: int) -> None:
        """Drop everything cached for a model that may no longer store anything."""
        self.snapshots.clear()
        self.vectors.forget(model_id)
        if self.read_cache is not None:
            self.read_cache.clear()

    def close(self) -> None:
        """Stop batches and runs, and close the database."""
        self.batches.close()
        self.runs.close()
        self.health.close()
        if self.read_cache is not None:
            self.read_cache.close()
        self.engine.dispose()
        if self.telemetry is not None:
            self.telemetry.close()

    @cached_property
    def health(self) -> HealthCheck:
        """The health of database, worker, encoder and disk."""
        file = sqlite_file(self.settings.database_url)
        return HealthCheck(self.engine, self.runs, file.parent if file else self.settings.home)

    def healthy(self) -> bool:
        """Whether all parts are healthy."""
        return not self.health.state().wrong


def open_context(settings: Settings, *, worker: str = "") -> Context:
    """Open everything and start the worker, by the name of its module; without a name, runs are only queued."""
    # Imported here because most who need the type `Context` need neither the encoder nor the run engine.
    from traitbench.encoders.registry import load_encoder
    from traitbench.runs.engine import Runs

    engine = open_store(settings, check_s=_CHECK_SECONDS)
    backups.remove_left(settings.home)
    service = Runs(settings.database_url, module=worker, greeting=greeting(settings))
    try:
        if worker:
            service.start()
        vectors = VectorCache(settings.vector_memory_mb * MEBIBYTE)
        encoder = load_encoder(settings.encoder, cache=settings.cache)
    except BaseException:
        service.close()
        engine.dispose()
        raise
    return Context(
        settings,
        engine,
        service,
        encoder,
        vectors=vectors,
        read_cache=ReadCache(engine),
        extract=_extract if settings.fetch_urls else _fetch_nothing,
        telemetry=open_telemetry(settings),
    )


def open_telemetry(settings: Settings) -> "Telemetry | None":
    """Return where this process sends its traces and events; None, and nothing is imported, if that is nowhere."""
    if settings.otlp_url is None:
        return None
    from traitbench.operations.telemetry import Telemetry

    return Telemetry(settings.otlp_url)


def greeting(settings: Settings) -> Mapping[str, Any]:
    """What a service sends its worker process at the start, as JSON; the worker reads it with `Settings.from_json`."""
    return {"settings": settings.to_json(besides=["llm_key"])}
