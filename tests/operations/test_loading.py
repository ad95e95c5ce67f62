"""A failed load of the encoder is tried again; only a missing encoder ends a run."""

import os
import resource
from contextlib import suppress
from pathlib import Path

import pytest

from tests.contexts import ON_SQLITE
from traitbench.encoders import EncoderUnavailable, packaged
from traitbench.errors import FeatureUnavailable
from traitbench.operations.training_encoder import Loading
from traitbench.runs.execution import Fenced

pytestmark = ON_SQLITE

NEVER: list[str] = []


def _failing(*errors: Exception) -> tuple[Loading[str], list[str]]:
    """A load that fails with each error in turn and then succeeds, and the states that it reported."""
    left, states = list(errors), list[str]()

    def make() -> str:
        if left:
            raise left.pop(0)
        return "made"

    return Loading(make, on_state=states.append), states


def test_what_was_made_is_made_once() -> None:
    loading, states = _failing()
    assert [loading.get(), loading.get(), loading.wait(waiting=NEVER.clear)] == ["made"] * 3
    assert states == ["loaded"]


def test_a_failure_is_not_kept() -> None:
    loading, states = _failing(OSError(24, "Too many open files"))
    loading.try_once()
    assert states == ["failed"]
    assert loading.get() == "made"
    assert states == ["failed", "loaded"]


def test_a_run_waits_through_what_passes_and_ends_when_it_is_cancelled() -> None:
    loading, _ = _failing(MemoryError(), OSError(24, "Too many open files"))
    waited: list[int] = []
    assert loading.wait(waiting=lambda: waited.append(1)) == "made"
    assert len(waited) == 2

    def cancelled() -> None:
        raise Fenced("run_1")

    loading, _ = _failing(MemoryError())
    with pytest.raises(Fenced):
        loading.wait(waiting=cancelled)


def test_an_encoder_that_is_not_there_is_said_and_not_waited_for() -> None:
    loading, _ = _failing(EncoderUnavailable("The package is not installed; install it."))
    with pytest.raises(FeatureUnavailable, match="install it"):
        loading.wait(waiting=NEVER.clear)


def test_a_file_that_cannot_be_opened_for_the_moment_is_no_missing_file(tmp_path: Path) -> None:
    file = tmp_path / "weights"
    file.write_bytes(b"weights")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = max(int(name) for name in os.listdir("/proc/self/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + 1, hard))
    taken = []
    try:
        with suppress(OSError):
            while True:
                taken.append(file.open())
        with pytest.raises(OSError, match="Too many open files"):
            packaged.read(file, sha256="")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for each in taken:
            each.close()
    with pytest.raises(EncoderUnavailable):
        packaged.read(tmp_path / "none", sha256="")
