"""Run an application as a server process on one port and one home folder.

With SQLite, the process locks the home folder, because a second process would execute the same runs. A signal ends the
process within seconds with exit code 0. If it cannot start, `NotStarted` says why.
"""

import fcntl
import gc
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from http.client import HTTPConnection, HTTPException

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from traitbench import logs
from traitbench.errors import LocalError
from traitbench.service.connections import limits_for, protocol, raise_file_limit
from traitbench.settings import Settings

_BESIDES = 2**20  # bytes; overhead of a WebSocket message beside its text. Files are sent over HTTP
_STOP_SECONDS = 2
_LOOK_SECONDS = 0.05
_KEEP_ALIVE = 75  # seconds; longer than our clients keep an idle connection


class NotStarted(LocalError):
    """The process cannot start; the message says why and what to do."""


def serve(
    make: Callable[[Settings], ASGIApp],
    settings: Settings,
    *,
    path: str,
    ready: Sequence[str],
    further: Callable[[Settings], Sequence[str]] = lambda _settings: (),
) -> None:
    """Serve until a signal arrives.

    When all paths in `ready` answer, print the address, the home folder and the lines of `further`. Raise `NotStarted`
    if the port or the home folder cannot be used.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)
    with locked(settings), _listening(settings) as listener:
        settings = replace(settings, port=listener.getsockname()[1])
        os.environ["TRAITBENCH_PORT"] = str(settings.port)
        logs.configure(level=settings.log_level, form=settings.log_form)
        # What a start creates stays alive, so a garbage collection finds nothing. `_announce` turns it on again.
        gc.disable()
        application = _Watched(make(settings))
        server = uvicorn.Server(_config(application, settings))
        _quieten(server)
        threading.Thread(target=_announce, args=(server, settings, path, ready, further), daemon=True).start()
        try:
            server.run(sockets=[listener])
        finally:
            if application.failure is not None:
                raise application.failure from None


class _Watched:
    """Records the exception that ended the application's lifespan, which uvicorn would only log."""

    def __init__(self, application: ASGIApp) -> None:
        self._application = application
        self.failure: BaseException | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._application(scope, receive, send)
        except BaseException as error:
            if scope["type"] == "lifespan":
                self.failure = error
            raise


def _config(application: ASGIApp, settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        application,
        http=protocol(limits_for(raise_file_limit())),
        lifespan="on",
        ws_max_size=settings.max_body_bytes + _BESIDES,
        ws_per_message_deflate=False,  # compressing takes longer than sending, on this machine and in a local network
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=_STOP_SECONDS,
        access_log=False,
        log_config=None,
        log_level=logging.ERROR,
        server_header=False,
        proxy_headers=False,
    )


def _quieten(server: uvicorn.Server) -> None:
    """Let uvicorn log only errors while it serves. Its warnings say what a client did wrong, which the client is told.

    This is a filter, because Streamlit resets the levels.
    """
    logs.adopt()
    logging.getLogger("uvicorn.access").disabled = True
    logging.getLogger("uvicorn.error").addFilter(
        lambda record: record.levelno >= logging.ERROR and server.started and not server.should_exit
    )


@contextmanager
def locked(settings: Settings) -> Iterator[None]:
    """Create the home folder if needed and, with SQLite, lock it; raise `NotStarted` if another process has it."""
    if settings.api_url or not settings.database_url.startswith("sqlite"):
        yield
        return
    try:
        settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = (settings.home / "lock").open("a")
    except OSError as error:
        raise NotStarted(
            f"The home folder {settings.home} cannot be used: {error.strerror}. Set TRAITBENCH_HOME to another one."
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise NotStarted(
                f"Another Traitbench uses the home folder {settings.home}. "
                "Use that one, stop it, or set TRAITBENCH_HOME to another folder."
            ) from error
        yield


@contextmanager
def _listening(settings: Settings) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # Names TCP, because asyncio disables Nagle's algorithm only then; else each small response takes 40 ms longer.
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((settings.host, settings.port))
        except OSError as error:
            raise NotStarted(
                f"Port {settings.port} on {settings.host} cannot be used: {error.strerror}. "
                "Stop the program that uses it, or set TRAITBENCH_PORT (and TRAITBENCH_HOST) to another one."
            ) from error
        yield listener


def _announce(
    server: uvicorn.Server,
    settings: Settings,
    path: str,
    ready: Sequence[str],
    further: Callable[[Settings], Sequence[str]],
) -> None:
    host = settings.near_host
    while not (server.started and all(_answers(host, settings.port, each) for each in ready)):
        time.sleep(_LOOK_SECONDS)
    gc.enable()
    address = replace(settings, host=host, api_url=None).base_url
    where = f"Service: {settings.base_url}" if settings.api_url else f"Home folder: {settings.home}"
    _print(f"Traitbench is ready: {address}{path}", where, *further(settings))


def _answers(host: str, port: int, path: str) -> bool:
    connection = HTTPConnection(host, port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _leave(_number: int, _frame: object) -> None:
    """Exit with 0. Uvicorn raises a signal again after it has stopped; before it runs, there is nothing to stop."""
    sys.exit(0)


def until_signal(ready: Callable[[], bool], line: str) -> None:
    """Wait until a signal tells the process to end. Print the line as soon as `ready` returns True."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    while not ready() and not stop.wait(_LOOK_SECONDS):
        pass
    if not stop.is_set():
        _print(line)
    stop.wait()


def _print(*lines: str) -> None:
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.flush()
