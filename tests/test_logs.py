"""The log: one line per event, never content, and bounded however often the same thing happens."""

import io
import json
import logging
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from traitbench import logs
from traitbench.logs import MOST_A_MINUTE, LogHandler

SECRET = "the content of a text"


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def logger_to(handler: logging.Handler) -> logging.Logger:
    logger = logging.Logger("traitbench.test", logging.DEBUG)
    logger.addHandler(handler)
    return logger


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_an_event_is_one_line_of_json_with_time_level_and_its_fields() -> None:
    stream = io.StringIO()
    logs.event(logger_to(LogHandler(stream, "json")), logging.WARNING, "key_refused", request_id="req_1", peer="::1")
    (line,) = lines(stream)
    assert line.pop("time").endswith("Z")
    assert line == {
        **{"level": "warning", "event": "key_refused", "logger": "traitbench.test"},
        **{"request_id": "req_1", "peer": "::1"},
    }


@pytest.mark.parametrize("form", ["json", "text"])
def test_what_a_caller_made_cannot_break_a_line_or_a_terminal(form: logs.Form) -> None:
    stream = io.StringIO()
    logs.event(logger_to(LogHandler(stream, form)), logging.ERROR, "odd", peer="\x1b[2J\u202e\u2028\r")
    (line,) = stream.getvalue().splitlines()
    assert all(character.isprintable() for character in line)


def test_an_error_is_written_as_types_and_places_without_its_message() -> None:
    stream = io.StringIO()
    logger = logger_to(LogHandler(stream, "json"))
    try:
        try:
            raise KeyError(SECRET)
        except KeyError as error:
            raise ValueError(f"cannot use {SECRET}") from error
    except ValueError:
        logger.exception("a page failed")
    (line,) = lines(stream)
    assert line["message"] == "a page failed"
    assert [each for each in line["error"] if not each.startswith(" ")] == ["builtins.ValueError", "builtins.KeyError"]
    assert SECRET not in stream.getvalue()


def repeated(logger: logging.Logger, times: int, level: int = logging.WARNING, name: str = "key_refused") -> None:
    for number in range(times):
        logs.event(logger, level, name, request_id=f"req_{number}")


@pytest.mark.parametrize(
    "next_line",
    [
        lambda logger: repeated(logger, 1),
        lambda logger: repeated(logger, 1, name="another"),
        lambda logger: logger.handlers[0].close(),
    ],
    ids=["the same event", "another event", "the end of the process"],
)
def test_more_of_the_same_is_counted_and_the_count_is_written_later(
    next_line: Callable[[logging.Logger], None],
) -> None:
    stream, clock = io.StringIO(), Clock()
    logger = logger_to(LogHandler(stream, "json", clock=clock))
    repeated(logger, MOST_A_MINUTE + 500)
    assert len(lines(stream)) == MOST_A_MINUTE
    clock.now += 61
    next_line(logger)
    results = [line for line in lines(stream) if line["event"] == "key_refused" and "suppressed" in line]
    assert [line["suppressed"] for line in results] == [500]


def test_one_event_does_not_silence_another() -> None:
    stream = io.StringIO()
    logger = logger_to(LogHandler(stream, "json"))
    repeated(logger, MOST_A_MINUTE * 3)
    repeated(logger, 1, name="fault", level=logging.ERROR)
    assert lines(stream)[-1]["event"] == "fault"


def test_events_without_end_take_no_memory_without_end() -> None:
    stream = io.StringIO()
    handler = LogHandler(stream, "json")
    logger = logger_to(handler)
    for number in range(3_000):
        logger.warning(f"a message of its own {number}")
    assert len(handler._windows) <= 1_001


def test_a_log_that_nobody_reads_fails_nobody() -> None:
    stream = io.StringIO()
    logger = logger_to(LogHandler(stream, "json"))
    stream.close()
    repeated(logger, 1)


def test_one_place_configures_the_log_for_other_libraries_too() -> None:
    program = (
        "import logging; from traitbench import logs\n"
        "import streamlit.logger\n"
        "noisy = streamlit.logger.get_logger('streamlit.somewhere')\n"
        "logs.configure(level='warning', form='json'); logs.adopt()\n"
        "noisy.warning('careful'); noisy.info('chat'); logging.getLogger('else').error('down')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    document = [json.loads(line) for line in done.stderr.splitlines()]
    assert [(line["logger"], line["level"], line["message"]) for line in document] == [
        ("streamlit.somewhere", "warning", "careful"),
        ("else", "error", "down"),
    ]
