"""A service in its own process, to be killed: it opens everything, trains or retrains its models, and waits.

`python -m tests.faults.service_process HOME DATABASE_URL HANDLE...` prints the worker's process id once a run has
started.
"""

import sys
import time
from pathlib import Path

from tests.contexts import AUTHOR, ENCODER, until
from traitbench.contract.models import TrainRequest
from traitbench.operations import WORKER, models, retraining, training
from traitbench.operations.context import open_context
from traitbench.runs.engine import Runs
from traitbench.settings import Settings


def main() -> None:
    home, url, *handles = sys.argv[1:]
    context = open_context(Settings(home=Path(home), database_url=url, encoder=ENCODER), worker=WORKER)
    assert isinstance(context.runs, Runs)
    worker = context.runs.worker
    for handle in handles:
        if models.get(context, AUTHOR, handle).state == "ready":
            retraining.start(context, AUTHOR, handle)
        else:
            training.start(context, AUTHOR, handle, TrainRequest(effort="low"))

    def running(handle: str) -> bool:
        operation = models.get(context, AUTHOR, handle).last_operation
        return operation is not None and operation.status == "running"

    until(lambda: any(map(running, handles)), what="a run to begin")
    sys.stdout.write(f"{worker.pid}\n")
    sys.stdout.flush()
    time.sleep(600)


if __name__ == "__main__":
    main()
