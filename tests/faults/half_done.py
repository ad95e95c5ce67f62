"""Forks, promotions, imports, purges and changes of samples in processes that kill themselves before a given statement.

`python -m tests.faults.half_done HOME DATABASE_URL` reads lines `operation handle handle number`. It carries out each
operation in a process of its own, which ends with SIGKILL before its statement of that number, counted from 1, or
before its commit if the number is 0. It prints `killed` or `done`.
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any, cast

from sqlalchemy import event

from tests.contexts import AUTHOR, ENCODER, export_of
from traitbench.contract.models import ForkRequest, ModelUpdate, PromoteRequest
from traitbench.contract.sample_changes import SamplesApply
from traitbench.encoders import Encoder
from traitbench.encoders.registry import load_encoder
from traitbench.operations import bundles, models, promotion, sample_changes, samples
from traitbench.operations.context import Context
from traitbench.settings import Settings
from traitbench.store.database import open_engine


def main() -> None:
    home, url = sys.argv[1:]
    settings = Settings(home=Path(home), database_url=url)
    encoder = load_encoder(ENCODER, cache=settings.cache)
    for line in sys.stdin:
        operation, handle, other, number = line.split()
        process = os.fork()
        if not process:
            _act(settings, encoder, operation, handle, other, int(number))
        _, status = os.waitpid(process, 0)
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        sys.stdout.write("killed\n" if killed else "done\n" if status == 0 else f"failed {status}\n")
        sys.stdout.flush()


def _act(settings: Settings, encoder: Encoder, operation: str, handle: str, other: str, number: int) -> None:
    """Carry out an operation, then end the process."""
    engine, left = open_engine(settings.database_url), max(1, number)

    def count(*_: Any) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    # None needs a worker.
    context = Context(settings, engine, runs=cast("Any", None), encoder=encoder)
    bundle = export_of(context, AUTHOR, handle) if operation == "import" else None
    event.listen(engine, "commit" if number == 0 else "before_cursor_execute", count)
    try:
        if operation == "fork":
            promotion.fork(context, AUTHOR, handle, ForkRequest(handle=other))
        elif bundle is not None:
            bundles.import_(context, AUTHOR, bundle, handle=other)
        elif operation == "change":
            first, second, *_ = samples.list_samples(context, AUTHOR, handle).items
            new = {"trait": first.trait, "text": "new", "quality": 1.0}
            edit = {"id": first.id, "text": "else", "quality": 0.5}
            body = {"adds": [new], "updates": [edit], "deletes": [{"id": second.id}]}
            sample_changes.apply(context, AUTHOR, handle, SamplesApply.model_validate(body))
        elif operation == "undo":
            sample_changes.undo(context, AUTHOR, handle, int(other))
        elif operation == "purge":
            models.update(context, AUTHOR, handle, ModelUpdate(zero_data_retention=True))
        else:
            promotion.promote(context, AUTHOR, handle, PromoteRequest.model_validate({"from": other}))
    except BaseException:
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    main()
