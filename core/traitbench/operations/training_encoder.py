"""The encoder of a training: the one that the request names, else the one that was chosen for the active version.

Else it is the one of TRAITBENCH_ENCODER. Without this setting, it is the encoder of the active version, so that a new
release with another default changes no model by itself. For a first version, it is the best one installed. A fork
without a version keeps the encoder of the model that it was made from.

A retrain from feedback keeps the encoder of the active version, as it keeps its parameters. Only built-in encoders and
the encoder of the service can be named: no request makes the service read a folder.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from threading import Lock
from time import sleep
from typing import TYPE_CHECKING, Generic, TypeVar

from sqlalchemy import Connection, Engine

from traitbench.contract.metrics import EncoderName
from traitbench.encoders import Encoder, EncoderUnavailable
from traitbench.encoders.registry import NAMES, built_in, load_encoder, name_of
from traitbench.errors import FeatureUnavailable, Unavailable
from traitbench.operations import rules
from traitbench.runs.execution import Execution
from traitbench.runs.heartbeat import EncoderState
from traitbench.settings import Settings
from traitbench.store import models, versions
from traitbench.store.database import reading
from traitbench.store.models import ModelRow

if TYPE_CHECKING:
    from traitbench.operations.context import Context  # at run time, a worker would import it for nothing

_LOADING = "loading the encoder"


@dataclass(frozen=True)
class EncoderChoice:
    """An encoder, and its name if it is not the encoder of the service."""

    encoder: Encoder
    name: str | None = None


def named(context: "Context", name: str) -> Encoder:
    """The installed encoder that a request names; raise `ValidationFailed` that names the known ones."""
    if name == context.encoder.id:
        return context.encoder
    if known_name := built_in(name):
        try:
            return load_encoder(known_name, cache=context.settings.cache)
        except EncoderUnavailable as error:
            reason = f"is not installed ({error})"
        except (OSError, MemoryError) as error:
            raise Unavailable(
                f"The encoder {name} could not be loaded ({type(error).__name__}). Free memory or file descriptors on"
                " the service's machine, then try again."
            ) from error
    else:
        reason = "is not known"
    known = _known(context)
    problem = rules.problem(["encoder"], "unknown_encoder", f"{rules.quoted(name)} {reason}; use {', '.join(known)}")
    raise rules.invalid([problem], thing="The training", known={"known_encoders": known})


def last_encoder(connection: Connection, model: ModelRow) -> str | None:
    """The name of the encoder that was chosen for the active version; None if it was that of the service."""
    encoder = _of_active(connection, model)
    return None if encoder is None else built_in(encoder.chosen)


def of_run(engine: Engine, settings: Settings, execution: Execution, *, default: Encoder) -> EncoderChoice:
    """The encoder of a training or discovery; `default` is that of the service.

    Raise `FeatureUnavailable` if it is not installed.
    """
    run, given = execution.run, execution.run.options.get("encoder")
    if run.kind == "discover":
        # Its axes belong to one encoder, so it is that of the training that follows.
        with reading(engine) as connection:
            model = models.find_by_id(connection, run.model_id)
            given = None if model is None else last_encoder(connection, model)
    name = built_in(given)
    if run.kind == "retrain" or (given is None and settings.encoder is None):
        name = _of_active_version(engine, settings, run.model_id, default)
    if name is None:
        return EncoderChoice(default)
    execution.report(_LOADING, 0, 1, fraction=0.0)
    load = partial(load_encoder, name, cache=settings.cache)
    waiting = partial(execution.report, _LOADING, 0, 1, fraction=0.0)
    encoder = Loading(load, on_state=lambda _state: None).wait(waiting=waiting)
    return EncoderChoice(default) if encoder.digest == default.digest else EncoderChoice(encoder, name)


def _of_active_version(engine: Engine, settings: Settings, model_id: int, default: Encoder) -> str | None:
    """The name of the active version's encoder, if it is not that of the service and is built in and installed."""
    with reading(engine) as connection:
        model = models.find_by_id(connection, model_id)
        encoder = None if model is None else _of_active(connection, model)
    if encoder is None or encoder.id in (None, default.id):
        return None
    return built_in(encoder.chosen) or name_of(encoder.id, cache=settings.cache)


def _of_active(connection: Connection, model: ModelRow) -> EncoderName | None:
    """The encoder of the active version; of a fork without a version, that of the model it was made from."""
    version_id = model.active_version_id or _forked_version(connection, model)
    version = None if version_id is None else versions.read_if_readable(connection, version_id)
    return None if version is None else version.metrics.encoder


def _forked_version(connection: Connection, model: ModelRow) -> int | None:
    lineage = models.lineage(connection, model.id)
    original = models.find(connection, lineage.forked_from) if lineage.forked_from is not None else None
    if original is None or lineage.forked_from_version_no is None or lineage.forked_after_version_no is None:
        return None
    version = versions.by_number(connection, original.id, lineage.forked_from_version_no)
    return None if version is None else version.id


def _id_of(name: str, settings: Settings) -> str | None:
    try:
        return load_encoder(name, cache=settings.cache).id
    except (EncoderUnavailable, OSError, MemoryError):
        return None


def _known(context: "Context") -> list[str]:
    built_in = [name for name in NAMES if _id_of(name, context.settings) is not None]
    in_folder = all(_id_of(name, context.settings) != context.encoder.id for name in built_in)
    return [*built_in, context.encoder.id] if in_folder else built_in


Made = TypeVar("Made")

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0

_log = logging.getLogger(__name__)


class Loading(Generic[Made]):
    """The result of `make`, which is called until it succeeds once; `on_state` is called with the state."""

    def __init__(self, make: Callable[[], Made], *, on_state: Callable[[EncoderState], None]) -> None:
        self._make = make
        self._on_state = on_state
        self._made: Made | None = None
        self._lock = Lock()

    def get(self) -> Made:
        """The result, made by the first call; raise the error if that fails, and the next call tries again."""
        with self._lock:
            if self._made is None:
                try:
                    self._made = self._make()
                except Exception:
                    self._on_state("failed")
                    raise
                self._on_state("loaded")
            return self._made

    def try_once(self) -> None:
        """Load before the first call of `get`. A failure is only logged; `get` tries again."""
        try:
            self.get()
        except Exception as error:
            _log.warning("the encoder could not be loaded (%s: %s); the next run will try again", _name(error), error)

    def wait(self, *, waiting: Callable[[], None]) -> Made:
        """The result, with as many attempts as it takes.

        `waiting` is called before each pause and may raise to end the wait. Raises `FeatureUnavailable` if the encoder
        is not installed: waiting does not install it.
        """
        pause = _FIRST_PAUSE
        while True:
            try:
                return self.get()
            except EncoderUnavailable as error:
                raise FeatureUnavailable(str(error)) from None
            except Exception as error:
                _log.warning(
                    "the encoder could not be loaded (%s: %s); trying again in %.1f s", _name(error), error, pause
                )
            waiting()
            sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)


def _name(error: Exception) -> str:
    return type(error).__name__
