"""A large bundle is imported by a process of its own, which this one waits for.

To parse and check 240 MB holds Python's lock for seconds and takes several times the memory: here neither is the
service's. `python -m traitbench.service.import_process` reads what to do from its standard input, the bundle from an
open file, and writes one line of JSON: the model, or the error.
"""

import json
import logging
import mmap
import resource
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import IO, Any

from traitbench import logs
from traitbench.contract.bundles import Bundle
from traitbench.contract.models import Model
from traitbench.errors import BodyTooLarge, InternalError, TraitbenchError, Unavailable, error_for
from traitbench.lifecycle import bundles
from traitbench.lifecycle.bench import open_bench
from traitbench.lifecycle.callers import Caller
from traitbench.service.body import parsed_json, validated
from traitbench.settings import Settings, child_environment

MIN_BYTES = 4 * 2**20
"""Smaller bundles are parsed in a tenth of a second, less than a process takes to start."""

MAX_MEMORY = 2**30
"""Bytes that the bundle may take as values."""

_PATIENCE_SECONDS = 600.0

_log = logging.getLogger("traitbench.service")


def imported(settings: Settings, caller: Caller, file: IO[bytes], handle: str | None) -> Model:
    """Make a model of the bundle in `file`, which is closed; errors are those of `bundles.import_`."""
    told = {
        "settings": settings.to_json(),
        "caller": {"key_id": caller.key_id, "scope": caller.scope, "namespaces": sorted(caller.namespaces)},
        "handle": handle,
        "file": file.fileno(),
    }
    with closing(file):
        try:
            done = subprocess.run(
                [sys.executable, "-P", "-m", __name__],
                input=json.dumps(told).encode(),
                stdout=subprocess.PIPE,
                env=child_environment(),
                pass_fds=[file.fileno()],
                timeout=_PATIENCE_SECONDS,
            )
        except subprocess.TimeoutExpired:
            raise Unavailable(f"The import took longer than {_PATIENCE_SECONDS:g} s; nothing was imported.") from None
        except OSError as error:
            raise Unavailable(f"No process could be started to import the bundle ({error.strerror}).") from error
    return _answer(done.returncode, done.stdout)


def _answer(code: int, line: bytes) -> Model:
    if code == -signal.SIGABRT:  # how compiled code ends that gets no memory
        raise _takes_too_much()
    try:
        answer = json.loads(line)
    except ValueError:
        raise Unavailable("The import broke off. Look whether the model is there before you try again.") from None
    if "error" in answer:
        told = answer["error"]
        raise error_for(told["code"], told["status"])(told["message"], details=told["details"])
    return Model.model_validate(answer["model"])


def main() -> None:
    """Import one bundle."""
    told = json.load(sys.stdin.buffer)
    settings = Settings.from_json(told["settings"])
    logs.configure(level=settings.log_level, form=settings.log_form)
    caller = Caller(**{**told["caller"], "namespaces": frozenset(told["caller"]["namespaces"])})
    try:
        answer = {"model": _import(settings, caller, told["file"], told["handle"]).model_dump(mode="json")}
    except TraitbenchError as error:
        answer = {"error": _fields(error)}
    except MemoryError:
        answer = {"error": _fields(_takes_too_much())}
    except Exception as error:
        logs.event(_log, logging.ERROR, "fault", error=[*logs.places(error)])
        answer = {"error": _fields(InternalError("The import failed; the log of the service has the reason."))}
    sys.stdout.write(json.dumps(answer))


def _import(settings: Settings, caller: Caller, file: int, handle: str | None) -> Model:
    bench = open_bench(settings, runs=False)
    try:
        _bound_memory()
        with mmap.mmap(file, 0, access=mmap.ACCESS_READ) as content:
            raw = bytearray(content)
        bundle = validated(Bundle, parsed_json(raw))
        return bundles.import_(bench, caller, bundle, handle=handle)
    finally:
        bench.close()


def _bound_memory() -> None:
    """Let this process take `MAX_MEMORY` bytes more than it has."""
    status = Path("/proc/self/status")
    if not status.exists():
        return
    [has] = [int(line.split()[1]) * 1024 for line in status.read_text().splitlines() if line.startswith("VmData:")]
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (has + MAX_MEMORY, hard))


def _takes_too_much() -> BodyTooLarge:
    message = f"The bundle takes more than {MAX_MEMORY // 2**20} MiB of memory once it is read."
    return BodyTooLarge(message, details={"max_memory_bytes": MAX_MEMORY})


def _fields(error: TraitbenchError) -> dict[str, Any]:
    return {"code": error.code, "status": error.status, "message": error.message, "details": error.details}


if __name__ == "__main__":
    main()
