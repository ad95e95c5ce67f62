"""The estimated time of a training depends on the encoder, and on whether its vocabulary was read before."""

from pathlib import Path

import pytest

from tests.real_encoder import KEPT
from traitbench.encoders.registry import NAMES, load_encoder
from traitbench.encoders.vocabulary import load_vocabulary
from traitbench.fitting import work
from traitbench.fitting.speed import Speed
from traitbench.local import pace
from traitbench.synthesis.label_axis import WORDS

LENGTHS = [100] * 500


def test_a_light_encoder_takes_a_fraction_of_the_time() -> None:
    usual, light = (pace.work(name, "low", [500], LENGTHS, cache=KEPT, cold=False) for name in (NAMES[0], "static"))
    assert usual.reading == work.reading(LENGTHS)
    assert light.reading < usual.reading / 4
    assert pace.relative(load_encoder(None, cache=KEPT)) == 1.0


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


@pytest.mark.parametrize(
    ("least", "most", "words"),
    [
        (0.1, 0.4, "less than a second"),
        (0.2, 1.4, "about 1 s"),
        (0.5, 3.2, "up to 3 s"),
        (3.6, 4.4, "about 4 s"),
        (4, 15, "4 to 15 s"),
        (40, 180, "40 s to 3 min"),
        (170, 190, "about 3 min"),
        (120, 600, "2 to 10 min"),
    ],
)
def test_a_time_is_about_so_long_or_lies_between_two(least: float, most: float, words: str) -> None:
    assert pace.duration(least, most, (least * most) ** 0.5) == words


def test_a_cost_is_in_words() -> None:
    assert pace.Cost(2.0, 1.0, Speed(1.0, 1.0, 1.0, 1.0)).in_short == "about 3 s"
    assert pace.Cost(2.0, 1.0, Speed(2.0, 6.0, 4.0, 1.0)).in_short == "6 to 18 s"
