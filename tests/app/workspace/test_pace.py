"""The work of a training depends on the encoder, and on whether its vocabulary was read before."""

from pathlib import Path

from tests.real_encoder import KEPT
from traitbench.encoders.registry import load_encoder
from traitbench.encoders.vocabulary import load_vocabulary
from traitbench.fitting import work
from traitbench.synthesis.label_axis import WORDS
from traitbench_app.workspace import pace

LENGTHS = [100] * 500


def test_a_light_encoder_takes_a_fraction_of_the_time() -> None:
    usual, light = (pace.work(name, "low", [500], LENGTHS, cache=KEPT, cold=False) for name in ("full", "static"))
    assert usual.reading == work.reading(LENGTHS)
    assert light.reading < usual.reading / 4
    assert pace.relative(load_encoder("full", cache=KEPT)) == 1.0


def test_a_first_training_also_reads_the_words_of_the_vocabulary(tmp_path: Path) -> None:
    cold, known = (pace.work("static", "low", [20], [], cache=tmp_path, cold=cold) for cold in (True, False))
    assert cold.reading > known.reading == 0.0
    assert cold.searching == known.searching + work.FIRST
    load_vocabulary(load_encoder("static", cache=tmp_path), cache=tmp_path, size=WORDS)
    assert pace.work("static", "low", [20], [], cache=tmp_path, cold=True) == known


def test_an_encoder_that_is_not_installed_costs_the_usual() -> None:
    assert pace.work("oracle", "low", [20], LENGTHS, cache=KEPT, cold=True) == pace.Work(
        work.reading(LENGTHS), work.searching("low", [20])
    )
