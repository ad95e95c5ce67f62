"""A text is encoded once, in whatever way it is asked for, and its vector reaches the service of the same process."""

import pickle
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest

from tests.app.processes import serving
from tests.app.streamlit_socket import render
from tests.conftest import COLD, WARM, make_draft
from traitbench.contract.samples import text_hash
from traitbench.encoders import FULL, Vectors
from traitbench.encoders.ngrams import load
from traitbench.local import vectors
from traitbench.local.samples import LocalSample, local_trait
from traitbench.local.training import TrainingSettings, train

TEXTS = {text_hash(text): text for text in (*WARM, *COLD)}


class Counting:
    """An encoder that counts the texts that it encodes."""

    modes: Mapping[str, slice] = {}

    def __init__(self, folder: Path) -> None:
        self._encoder, self.encoded = load(cache=folder), 0
        self.id, self.dimension, self.digest = "counting", self._encoder.dimension, str(folder)
        self.count_tokens, self.counted, self.words = (
            self._encoder.count_tokens,
            self._encoder.counted,
            self._encoder.words,
        )

    def encode(self, texts: Sequence[str], *, mode: str = FULL) -> Vectors:
        self.encoded += len(texts)
        return self._encoder.encode(texts, mode=mode)


@pytest.fixture
def encoder(tmp_path: Path) -> Iterator[Counting]:
    yield Counting(tmp_path)
    vectors.listen(None)


def test_a_text_is_encoded_once_and_in_turns_to_the_same_vector(encoder: Counting) -> None:
    progress: list[tuple[int, int]] = []
    in_background = vectors.vectors_of(encoder, TEXTS, on_progress=lambda *each: progress.append(each))
    assert progress[-1] == (len(TEXTS), len(TEXTS))
    assert vectors.unread(encoder, TEXTS | {"new": "A text that is new."}) == {"new"}
    assert vectors.vectors_of(encoder, TEXTS) == in_background
    assert encoder.encoded == len(TEXTS)
    vectors.forget()
    alone = vectors.vectors_of(encoder, TEXTS)
    assert all(np.array_equal(alone[key], row) for key, row in in_background.items())
    assert np.array_equal(vectors.in_background(encoder, [*TEXTS.values()]), [*alone.values()])


def test_the_listener_gets_the_new_vectors_of_samples_only(encoder: Counting) -> None:
    samples = [LocalSample(at, "warmth", text, 1.0, key) for at, (key, text) in enumerate(TEXTS.items())]
    known = vectors.vectors_of(encoder, {each.content_sha256: each.text for each in samples[:2]})
    new: dict[int, tuple[str, vectors.Vector]] = {}
    vectors.listen(lambda digest, some: new.update(some) if digest == encoder.digest else None)
    every = vectors.sample_vectors(encoder, samples)
    assert sorted(new) == [each.id for each in samples if each.content_sha256 not in known]
    assert all(every[key] is row for key, row in new.values())


def test_texts_that_look_the_same_have_one_vector(encoder: Counting) -> None:
    alike = ["Größe stimmt, schön!", "Gro\u0308ße stimmt, scho\u0308n!", "Grö\xadße stimmt,\u200b schön!\ufeff"]
    samples = [LocalSample(at, "warmth", text, 1.0, text_hash(text)) for at, text in enumerate(alike)]
    new: dict[int, tuple[str, vectors.Vector]] = {}
    vectors.listen(lambda digest, some: new.update(some) if digest == encoder.digest else None)
    rows = [vectors.sample_vectors(encoder, samples)[text_hash(text)] for text in alike]
    assert encoder.encoded == 1
    assert sorted(new) == [0, 1, 2]
    assert all(np.array_equal(row, rows[0]) for row in rows)


@pytest.mark.usefixtures("here")
def test_a_pickled_version_has_no_encoder_and_scores_the_same() -> None:
    samples = [
        LocalSample(at, "warmth", text, float(text in WARM), key) for at, (key, text) in enumerate(TEXTS.items())
    ]
    version = train([local_trait("warmth", ("cold", "warm"))], samples, TrainingSettings("low", encoder="ngrams"))
    cards = version.score(["How kind!"])
    content = pickle.dumps(version)
    assert "encoder" not in vars(pickle.loads(content))
    assert pickle.loads(content).score(["How kind!"]) == cards


def test_a_check_in_the_workbench_leaves_the_vectors_with_the_service(tmp_path: Path) -> None:
    with serving(tmp_path) as started, started.client() as client:
        make_draft(client, "local.tone")
        render(started.port, "samples", urlencode({"model": "local.tone", "task": "Check"}))
        samples = {sample.id for sample in client.samples.list("local.tone")}
        with sqlite3.connect(f"file:{tmp_path / 'traitbench.db'}?mode=ro", uri=True) as database:
            stored = {row[0] for row in database.execute("SELECT sample_id FROM tb_vectors")}
    assert samples
    assert samples <= stored
