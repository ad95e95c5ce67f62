"""A worker for the tests: the real engine with a body that only counts, and logs what it does.

`python -m tests.runs.process` reads one line of JSON from standard input, and ends when that input ends.
"""

import json
import os
import sys
import time
from pathlib import Path
from threading import Thread

from sqlalchemy import Engine
from sqlalchemy.event import listen

from traitbench.operations import model_runs
from traitbench.runs.execution import Execution
from traitbench.runs.executor import Worker, serve
from traitbench.runs.recovery import WatchdogIntervals
from traitbench.store.database import open_engine, writing


def main() -> None:
    document = json.loads(sys.stdin.buffer.readline())
    log = Path(document["log"])
    engine = open_engine(document["url"])

    def write(*words: object) -> None:
        with log.open("a") as file:
            file.write(" ".join(map(str, (document["executor_id"], *words))) + "\n")

    def count(execution: Execution) -> None:
        write("begins", execution.run.id)
        for step in range(document["steps"]):
            time.sleep(0.05)
            execution.report("counting", step, document["steps"], fraction=step / document["steps"])
        with writing(engine) as connection:
            execution.succeed(connection, phase="counting", total=document["steps"])
        write("ends", execution.run.id)

    def note(event: str, arguments: tuple[object, ...]) -> None:
        if event == "socket.connect":
            write("connects", arguments[1])

    def note_search(*event: object) -> None:
        if "partitions" in str(event[2]):
            write("searches")

    sys.addaudithook(note)
    listen(Engine, "before_cursor_execute", note_search)
    Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(0)), daemon=True).start()
    worker = Worker(engine, document["url"], document["executor_id"], {"train": count}, model_runs.fail)
    intervals = WatchdogIntervals(
        heartbeat_s=0.2, expiry_s=document["expiry_s"], reconcile_every=2, keep_s=document["keep_s"]
    )
    serve(worker, ready=lambda: write("ready"), intervals=intervals)
    write("buried")
    os._exit(1)


if __name__ == "__main__":
    main()
