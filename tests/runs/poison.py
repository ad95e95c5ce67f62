"""A worker for the tests: real trainings, with an encoder that does not survive one text.

`python -m tests.runs.poison`, configured by a supervisor like the real worker.
"""

import ctypes
import json
import os
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from threading import Thread

from traitbench.encoders import FULL, Encoder, Vectors
from traitbench.encoders.registry import load_encoder
from traitbench.operations import model_runs, training
from traitbench.runs.executor import Worker, serve
from traitbench.runs.heartbeat import Heartbeat, WorkerExit
from traitbench.store.database import open_engine
from traitbench.synthesis.label_axis import Described, LabelAxes


class Brittle:
    """An encoder that reads invalid memory when the text comes."""

    def __init__(self, encoder: Encoder, poison: str) -> None:
        self._encoder, self._poison = encoder, poison
        self.id, self.dimension, self.digest = encoder.id, encoder.dimension, encoder.digest
        self.modes: Mapping[str, slice] = encoder.modes

    def encode(self, texts: Sequence[str], *, mode: str = FULL) -> Vectors:
        if self._poison in texts:
            ctypes.string_at(0)
        return self._encoder.encode(texts, mode=mode)

    def count_tokens(self, text: str) -> int:
        return self._encoder.count_tokens(text)

    def counted(self, texts: Sequence[str], *, mode: str = FULL) -> tuple[Vectors, list[int]]:
        return self._encoder.counted(texts, mode=mode)

    def words(self) -> Sequence[str]:
        return self._encoder.words()


class HangingLabels(LabelAxes):
    """Label axes that hang for the trait `hang`, in native code that does not hold the interpreter's lock."""

    def __init__(self) -> None:
        """Without a vocabulary: no axis is made, and no word has to be read."""
        self.unread = lambda: 0

    def is_known(self, trait: Described) -> bool:
        return False

    def of(self, trait: Described) -> None:
        if trait.name == "hang":
            ctypes.CDLL(None).pause()


def main() -> None:
    document = json.loads(sys.stdin.buffer.readline())
    heartbeat = Heartbeat(every_s=0.2, longest_step_s=2.0) if document.get("hangs") else Heartbeat()
    heartbeat.start()
    Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(0)), daemon=True).start()
    engine = open_engine(document["url"])
    encoder = Brittle(load_encoder("ngrams", cache=Path(document["cache"])), document["poison"])
    labels = HangingLabels() if document.get("hangs") else None
    bodies = {"train": partial(training.run, engine, encoder, labels=labels)}
    deaths = [WorkerExit.from_json(each) for each in document.get("deaths", ())]
    worker = Worker(
        engine, document["url"], document["executor_id"], bodies, model_runs.fail, deaths=deaths, tell=heartbeat.at
    )
    serve(worker, ready=heartbeat.ready, judged=heartbeat.judged)
    os._exit(1)


if __name__ == "__main__":
    main()
