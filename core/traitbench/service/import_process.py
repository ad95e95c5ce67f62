"""Imports a large bundle in a child process.

Parsing and checking 240 MB holds the GIL for seconds and takes several times as much memory. The child process spares
the service both. `python -m traitbench.service.import_process` reads its task from standard input and the bundle from
an open file, and writes one line of JSON: the model or the error.
"""

import gc
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
from traitbench.contract import operations
from traitbench.contract.bundles import Bundle
from traitbench.contract.models import Model
from traitbench.errors import BodyTooLarge, InternalError, TraitbenchError, Unavailable, error_for
from traitbench.operations import bundles, repeats
from traitbench.operations.access import Caller
from traitbench.operations.context import open_context
from traitbench.operations.repeats import KeyedRequest, SentAnswer
from traitbench.service.body import parsed_json, validated
from traitbench.service.idempotency import SentKey, answer_of
from traitbench.settings import Settings, child_environment

MIN_BYTES = 4 * 2**20
"""Smaller bundles are parsed in 0.1 s, less than a process takes to start."""

MAX_MEMORY = 2**30
"""Bytes of memory that the parsed bundle may take."""

_PATIENCE_SECONDS = 600.0

_log = logging.getLogger("traitbench.service")


def imported(
    settings: Settings, caller: Caller, file: IO[bytes], handle: str | None, key: SentKey | None = None
) -> Model:
    """Import the bundle in `file`, and close the file; raise the errors of `bundles.import_`.

    The answer is stored under the idempotency key, if there is one.
    """
    task = {
        "settings": settings.to_json(),
        "caller": {**vars(caller), "namespaces": sorted(caller.namespaces)},
        "handle": handle,
        "file": file.fileno(),
        "keyed": key and vars(key.keyed()),
    }
    with closing(file):
        try:
            # This takes two seconds longer, and the bundle is on the disk meanwhile. A streaming parser would need
            # neither, but would hold the GIL just as long.
            done = subprocess.run(
                # -P: a folder named traitbench where the service was started must not be taken for ours.
                [sys.executable, "-P", "-m", __name__],
                input=json.dumps(task).encode(),
                stdout=subprocess.PIPE,
                env=child_environment(),
                pass_fds=[file.fileno()],
                timeout=_PATIENCE_SECONDS,
            )
        except subprocess.TimeoutExpired:
            raise Unavailable(
                f"The import took longer than {_PATIENCE_SECONDS:g} s and was stopped. Nothing was imported."
            ) from None
        except OSError as error:
            raise Unavailable(f"The import process could not be started ({error.strerror}). Try again.") from error
    return _answer(done.returncode, done.stdout)


def _answer(code: int, line: bytes) -> Model:
    if code == -signal.SIGABRT:  # how native code ends when it runs out of memory
        raise _takes_too_much()
    try:
        answer = json.loads(line)
    except ValueError:
        raise Unavailable("The import broke off. Check whether the model exists before you try again.") from None
    if "error" in answer:
        error = answer["error"]
        raise error_for(error["code"], error["status"])(error["message"], details=error["details"])
    return Model.model_validate(answer["model"])


def main() -> None:
    """Import the bundle that standard input describes."""
    # This process ends soon. To look for garbage among millions of values takes longer than to read them.
    gc.disable()
    task = json.load(sys.stdin.buffer)
    settings = Settings.from_json(task["settings"])
    logs.configure(level=settings.log_level, form=settings.log_form)
    caller = Caller(**{**task["caller"], "namespaces": frozenset(task["caller"]["namespaces"])})
    try:
        keyed = task["keyed"] and KeyedRequest(**task["keyed"])
        answer = {"model": _import(settings, caller, task["file"], task["handle"], keyed)}
    except TraitbenchError as error:
        answer = {"error": _fields(error)}
    except MemoryError:
        answer = {"error": _fields(_takes_too_much())}
    except Exception as error:
        logs.event(_log, logging.ERROR, "fault", error=[*logs.locations(error)])
        answer = {"error": _fields(InternalError("The import failed. The service's log has the reason."))}
    sys.stdout.write(json.dumps(answer))


def _import(
    settings: Settings, caller: Caller, file: int, handle: str | None, keyed: KeyedRequest | None
) -> dict[str, Any]:
    context = open_context(settings)
    try:
        _bound_memory()
        with mmap.mmap(file, 0, access=mmap.ACCESS_READ) as content:
            raw = bytearray(content)
        bundle = validated(Bundle, parsed_json(raw))

        def carry_out() -> SentAnswer:
            return answer_of(operations.MODELS_IMPORT, bundles.import_(context, caller, bundle, handle=handle))

        answer = carry_out() if keyed is None else repeats.once(context.engine, keyed, carry_out)
        model: dict[str, Any] = json.loads(answer.content)
        return model
    finally:
        context.close()


def _bound_memory() -> None:
    """Limit this process to `MAX_MEMORY` bytes more than it has now."""
    status = Path("/proc/self/status")
    if not status.exists():
        return
    [has] = [int(line.split()[1]) * 1024 for line in status.read_text().splitlines() if line.startswith("VmData:")]
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (has + MAX_MEMORY, hard))


def _takes_too_much() -> BodyTooLarge:
    message = f"The bundle takes more than {MAX_MEMORY // 2**20} MiB of memory when it is read. Import a smaller one."
    return BodyTooLarge(message, details={"max_memory_bytes": MAX_MEMORY})


def _fields(error: TraitbenchError) -> dict[str, Any]:
    return {"code": error.code, "status": error.status, "message": error.message, "details": error.details}


if __name__ == "__main__":
    main()
