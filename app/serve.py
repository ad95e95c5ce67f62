"""From an application to a process one starts and stops: one port, one home folder, two lines when it answers.

The home folder is held while its SQLite database serves: a second process would execute the same runs. A signal ends
the process with 0 within seconds, whatever it was doing. What cannot be started says why in a sentence (`NotStarted`).
"""

import fcntl
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
from traitbench.app.connections import limits_for, protocol, raise_file_limit
from traitbench.settings import Settings

_BESIDES = 2**20  # bytes of a message from a page that are not the text in it; files are sent over HTTP
_STOP_SECONDS = 2
_LOOK_SECONDS = 0.05
_KEEP_ALIVE = 75  # longer than any client of ours keeps an idle connection


class NotStarted(Exception):
    """The process cannot start; the message says why and the way out."""


def serve(
    make: Callable[[Settings], ASGIApp],
    settings: Settings,
    *,
    path: str,
    ready: Sequence[str],
    further: Callable[[Settings], Sequence[str]] = lambda _settings: (),
) -> None:
    """Serve until a signal comes; once every path of `ready` has answered, print address, home folder and the lines
    of `further`.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)
    with held(settings), _listening(settings) as listener:
        settings = replace(settings, port=listener.getsockname()[1])
        os.environ["TRAITBENCH_PORT"] = str(settings.port)
        logs.configure(level=settings.log_level, form=settings.log_form)
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
    """Keeps what its application's lifespan failed with, which uvicorn would log and forget."""

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
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=_STOP_SECONDS,
        access_log=False,
        log_config=None,
        log_level=logging.WARNING,
        server_header=False,
        proxy_headers=False,
    )


def _quieten(server: uvicorn.Server) -> None:
    """Warnings only, and none about what this module tells in words; a filter, for Streamlit resets the levels."""
    logs.adopt()
    logging.getLogger("uvicorn.access").disabled = True
    logging.getLogger("uvicorn.error").addFilter(
        lambda record: record.levelno >= logging.WARNING and server.started and not server.should_exit
    )


@contextmanager
def held(settings: Settings) -> Iterator[None]:
    """The home folder, made if need be, and ours alone as long as SQLite serves from it."""
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
                f"Another Traitbench runs on the home folder {settings.home}. "
                "Use that one, stop it, or set TRAITBENCH_HOME to another folder."
            ) from error
        yield


@contextmanager
def _listening(settings: Settings) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # With its protocol named, or each small answer would wait 40 ms: asyncio turns Nagle's delay off for TCP only.
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((settings.host, settings.port))
        except OSError as error:
            raise NotStarted(
                f"Port {settings.port} on {settings.host} cannot be used: {error.strerror}. "
                "Stop what uses it, or set TRAITBENCH_PORT (and TRAITBENCH_HOST) to another one."
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
    """Uvicorn hands a signal on when it has stopped; before it runs, there is nothing to stop."""
    sys.exit(0)


def until_told(ready: Callable[[], bool], line: str) -> None:
    """Wait for the signal to end, and print the line as soon as it is true."""
    told = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: told.set())
    while not ready() and not told.wait(_LOOK_SECONDS):
        pass
    if not told.is_set():
        _print(line)
    told.wait()


def _print(*lines: str) -> None:
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.flush()
