"""The connections that a test opens, as reported by the interpreter."""

import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

_heard: dict[int, list[Any]] = {}


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.connect" and (calls := _heard.get(threading.get_ident())) is not None:
        calls.append(arguments[1][:2])


sys.addaudithook(_hear)


@pytest.fixture
def connections() -> Iterator[list[Any]]:
    """(host, port) of every connection that the test's own thread tries to open."""
    calls: list[Any] = []
    _heard[threading.get_ident()] = calls
    yield calls
    del _heard[threading.get_ident()]
