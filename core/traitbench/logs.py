"""The log of every process: one line per event on stderr, as JSON or as text, and never the content of a text.

`configure` is called once per process, by the service and by the worker. An event has a name and fields
(`event(...)`); a record of another library becomes the event `log` with its message. Errors are written as types and
locations in the code, because their messages may hold content. Secrets, query strings and bodies are never fields.

The same event more than `MOST_A_MINUTE` times a minute is counted instead of written. The next line of that
event, or of any event after the minute, says how many were `suppressed`.
"""

import json
import logging
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, TextIO

Form = Literal["json", "text"]
LEVELS: Mapping[str, int] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}
MOST_A_MINUTE = 20

_FIELDS = "traitbench_fields"
_WINDOW_SECONDS = 60.0
_MOST_EVENTS = 1_000
# Libraries that install handlers of their own, which would bypass ours.
_LIBRARIES = ("streamlit", "dbos", "uvicorn")


def configure(*, level: str = "warning", form: Form | None = None, stream: TextIO | None = None) -> None:
    """Send the log of the whole process to `stream` (default: stderr).

    Without a `form`, write text to a terminal and JSON to anything else.
    """
    stream = stream or sys.stderr
    handler = LogHandler(stream, form or ("text" if stream.isatty() else "json"))
    handler.setLevel(LEVELS[level])
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(LEVELS[level])


def adopt() -> None:
    """Remove the handlers that libraries installed; call this once, after they are imported."""
    for name in [*logging.root.manager.loggerDict]:
        if name.partition(".")[0] in _LIBRARIES:
            logger = logging.getLogger(name)
            logger.handlers.clear()
            logger.propagate = True


def event(logger: logging.Logger, level: int, name: str, /, **fields: Any) -> None:
    """Write an event. Its name must be constant, and its fields must not hold the content of texts."""
    if logger.isEnabledFor(level):
        logger.log(level, name, extra={_FIELDS: fields})


def locations(error: BaseException | None) -> Iterator[str]:
    """Yield the types and code locations of an error and its causes, without messages or values."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield f"{type(error).__module__}.{type(error).__qualname__}"
        for frame in traceback.extract_tb(error.__traceback__):
            yield f"  {frame.filename}:{frame.lineno} {frame.name}"
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


@dataclass
class _Window:
    """Counts for one event within one minute."""

    ends: float
    written: int = 0
    suppressed: int = 0


class LogHandler(logging.StreamHandler[TextIO]):
    """Writes records as lines, and bounds how often the same event is written."""

    def __init__(self, stream: TextIO, form: Form, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(stream)
        self._write = _WRITERS[form]
        self._clock = clock
        self._windows: dict[tuple[str, str, int], _Window] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record unless its event is over the limit. The caller holds the handler's lock."""
        key, now = (record.name, str(record.msg), record.levelno), self._clock()
        self._summarise(now, besides=key)
        window = self._windows.get(key)
        before = 0
        if window is None or window.ends <= now:
            before = window.suppressed if window else 0
            window = self._windows[key] = _Window(now + _WINDOW_SECONDS)
        if window.written >= MOST_A_MINUTE:
            window.suppressed += 1
            return
        window.written += 1
        self._line(_entry(record) | ({"suppressed": before} if before else {}))

    def close(self) -> None:
        """Write the suppressed counts that are still pending."""
        with self.lock or nullcontext():
            self._summarise(float("inf"))
        super().close()

    def _summarise(self, now: float, *, besides: tuple[str, str, int] | None = None) -> None:
        """Write the suppressed counts of expired windows, and drop those windows."""
        if len(self._windows) < _MOST_EVENTS and all(each.ends > now for each in self._windows.values()):
            return
        for key, window in [*self._windows.items()]:
            if key != besides and (window.ends <= now or len(self._windows) >= _MOST_EVENTS):
                del self._windows[key]
                if window.suppressed:
                    logger, name, level = key
                    self._line(_head(level, name, logger) | {"suppressed": window.suppressed})

    def _line(self, entry: Mapping[str, Any]) -> None:
        try:
            self.stream.write(self._write(entry) + "\n")
            self.flush()
        except (OSError, ValueError):
            # The log's reader is gone. That is no reason to fail a request.
            return


def _entry(record: logging.LogRecord) -> dict[str, Any]:
    fields = getattr(record, _FIELDS, None)
    if fields is None:
        entry = _head(record.levelno, "log", record.name) | {"message": record.getMessage()}
    else:
        entry = _head(record.levelno, str(record.msg), record.name) | fields
    if record.exc_info and record.exc_info[1] is not None:
        entry["error"] = [*locations(record.exc_info[1])]
    return entry


def _head(level: int, name: str, logger: str) -> dict[str, Any]:
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"time": now, "level": logging.getLevelName(level).lower(), "event": name, "logger": logger}


def _as_json(entry: Mapping[str, Any]) -> str:
    # Pure ASCII, so that no foreign character can break a line or a terminal.
    return json.dumps(entry, default=str, separators=(",", ":"))


def _as_text(entry: Mapping[str, Any]) -> str:
    head = f"{entry['time']} {str(entry['level']).upper():<7} {entry['logger']}: {entry.get('message', entry['event'])}"
    rest = {name: value for name, value in entry.items() if name not in ("time", "level", "logger", "event", "message")}
    locations_of = rest.pop("error", [])
    line = " ".join([_printable(head), *(f"{name}={_value(value)}" for name, value in rest.items())])
    return "\n".join([line, *(f"    {location}" for location in locations_of)])


def _value(value: Any) -> str:
    text = _printable(str(value))
    return f'"{text}"' if " " in text or not text else text


def _printable(text: str) -> str:
    return "".join(each if each.isprintable() or each == "\n" else ascii(each)[1:-1] for each in text)


_WRITERS: Mapping[Form, Callable[[Mapping[str, Any]], str]] = {"json": _as_json, "text": _as_text}
