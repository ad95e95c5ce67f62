import pytest

from traitbench.fitting.speed import Speed
from traitbench_app.parts.cost import Cost, duration


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
    assert duration(least, most, (least * most) ** 0.5) == words


def test_the_parts_of_a_cost_are_in_words() -> None:
    assert Cost(2.0, 1.0, 700, 2, Speed(1.0, 1.0, 1.0, 1.0)).in_short == "about 3 s"
    busy = Cost(2.0, 1.0, 700, 2, Speed(2.0, 6.0, 4.0, 1.0))
    assert busy.in_short == "6 to 18 s"
    assert busy.parts == "4 to 12 s to read 700 texts, 2 to 6 s to fit 2 traits"
    assert Cost(0.0, 1.0, 0, 1, Speed(1.0, 1.0, 1.0, 1.0)).parts == "no texts to read, about 1 s to fit 1 trait"
