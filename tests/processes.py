"""`--processes 6`: runs the tests in several processes, forked once everything is collected, so that ten thousand tests
are imported and collected once.

Each process takes one piece of work after another, in their order, and sends its reports to the first process.
"""

import atexit
import os
import signal
import weakref
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pytest
from _pytest.capture import FDCaptureBase

from tests import schedule

_NUMBER_BYTES = 4

Pieces = Sequence[Sequence[pytest.Item]]


@dataclass(frozen=True, eq=False)
class Processes:
    """A plugin: pytest's loop over all tests, in `count` processes."""

    count: int

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Run every piece, or leave a session that runs nothing to pytest."""
        if session.testsfailed or session.config.option.collectonly:
            return None
        pieces = [list(items) for _, items in groupby(session.items, key=lambda item: schedule.piece(item.nodeid))]
        folder = session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        queue = _queue(len(pieces))
        workers = [_fork(session, folder / str(number), pieces, queue) for number in range(self.count)]
        try:
            _relay(session, [reports for _, reports in workers])
        finally:
            os.close(queue)
            for process, reports in workers:
                reports.close()
                _end(process)
        return True


def _queue(length: int) -> int:
    """A pipe from which each process reads the number of its next piece, and then that there is none."""
    reader, writer = os.pipe()
    for number in range(length):
        os.write(writer, number.to_bytes(_NUMBER_BYTES, "big"))
    os.close(writer)
    return reader


def _taken(pieces: Pieces, queue: int) -> Iterator[Sequence[pytest.Item]]:
    while number := os.read(queue, _NUMBER_BYTES):
        yield pieces[int.from_bytes(number, "big")]


def _fork(session: pytest.Session, folder: Path, pieces: Pieces, queue: int) -> tuple[int, Connection]:
    """A process that runs pieces, and what it reports."""
    reports, sender = Pipe(duplex=False)
    if process := os.fork():
        sender.close()
        return process, reports
    try:
        _become_worker(session.config, folder, sender)
        _run(session, _taken(pieces, queue))
        sender.send(None)
        atexit._run_exitfuncs()
    finally:
        os._exit(0)


def _become_worker(config: pytest.Config, folder: Path, sender: Connection) -> None:
    """Leave all output to the first process, and share no file with it."""
    folder.mkdir()
    for each in list(weakref.finalize._registry):  # type: ignore[attr-defined]
        each.atexit = False  # a folder that was made while tests were collected is everybody's
    config._tmp_path_factory._basetemp = folder  # type: ignore[attr-defined]
    config.pluginmanager.unregister(name="terminalreporter")
    config.pluginmanager.register(_Sender(config, sender))
    captured = config.pluginmanager.getplugin("capturemanager")._global_capturing
    for each in (captured.out, captured.err):
        if isinstance(each, FDCaptureBase):
            # The same object, because modules keep the stderr that they were imported with.
            with TemporaryFile(buffering=0) as own:
                os.dup2(own.fileno(), each.tmpfile.fileno(), inheritable=False)


@dataclass(frozen=True, eq=False)
class _Sender:
    """A plugin of a worker: sends its reports."""

    config: pytest.Config
    sender: Connection

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.sender.send(self.config.hook.pytest_report_to_serializable(config=self.config, report=report))


def _run(session: pytest.Session, pieces: Iterator[Sequence[pytest.Item]]) -> None:
    last = None
    for piece in pieces:
        _leave(session, last, piece[0])
        for item, following in zip(piece, [*piece[1:], piece[-1].parent], strict=True):
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        last = piece[-1]
    _leave(session, last, None)


def _leave(session: pytest.Session, last: pytest.Item | None, following: pytest.Item | None) -> None:
    """End what a piece has set up and the following one does not need."""
    if last is not None:
        call = pytest.CallInfo.from_call(lambda: session._setupstate.teardown_exact(following), "teardown")
        hook = session.config.hook
        hook.pytest_runtest_logreport(report=hook.pytest_runtest_makereport(item=last, call=call))


def _relay(session: pytest.Session, workers: Sequence[Connection]) -> None:
    """Report what the processes report, and fail what none of them has finished."""
    hook, unfinished = session.config.hook, {item.nodeid: item for item in session.items}
    for data in _received(workers):
        report = hook.pytest_report_from_serializable(config=session.config, data=data)
        hook.pytest_runtest_logreport(report=report)
        if report.when == "teardown":
            unfinished.pop(report.nodeid, None)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
    for nodeid, item in unfinished.items():
        lost = "Not finished: the process that ran it, or a test before it, has ended."
        hook.pytest_runtest_logreport(report=pytest.TestReport(nodeid, item.location, {}, "failed", lost, "call"))


def _received(workers: Sequence[Connection]) -> Iterator[Any]:
    waiting = list(workers)
    while waiting:
        ready = wait(waiting)
        for worker in [each for each in waiting if each in ready]:
            try:
                data = worker.recv()
            except EOFError:
                data = None
            if data is None:
                waiting.remove(worker)
            else:
                yield data


def _end(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
