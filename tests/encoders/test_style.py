import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.encoders import style_reference
from tests.size import sized
from traitbench.encoders.style import COUNT, StyleBlock, generic_texts, load_statistics, measure, raw

PLAIN = "the train leaves at nine and comes back in the evening"


def changed(text: str) -> int:
    """The number of features that differ from those of the plain text."""
    return int((~np.isclose(raw(text), raw(PLAIN))).sum())


def test_there_are_sixty_seven_features() -> None:
    assert raw(PLAIN).shape == raw("").shape == (COUNT,) == (67,)


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.upper(),
        PLAIN + "!!!",
        PLAIN.capitalize() + ".",
        PLAIN + " www.example.org",
        PLAIN + " 080 1234",
        PLAIN + " 😀",
        PLAIN.replace("train", "you"),
        PLAIN.replace(" and ", "\n"),
        PLAIN + " lol",
    ],
)
def test_another_style_gives_other_features(text: str) -> None:
    assert changed(text) > 0


def test_the_shipped_figures_were_measured_on_the_shipped_texts() -> None:
    shipped, again = load_statistics("style"), measure(np.array([raw(text) for text in generic_texts()]))
    np.testing.assert_allclose(shipped.mean, again.mean, rtol=1e-5)
    np.testing.assert_allclose(shipped.deviation, again.deviation, rtol=1e-5)


def test_a_usual_text_has_about_length_one_and_clipped_features() -> None:
    block = StyleBlock()
    lengths = np.linalg.norm(block.rows(generic_texts()), axis=1)
    assert 0.7 < np.mean(lengths) < 1.1
    assert np.abs(block.rows(["!" * 10_000])).max() <= 3 / COUNT**0.5
    assert not block.rows([" "]).any()
    assert block.rows([]).shape == (0, COUNT)


WORDS = (
    "I'm",
    "You",
    "don’t",
    "LOL",
    "so",
    "x",
    "Wonderful",
    "İstanbul",
    "ΣΑΣ",
    "ß",
    "3rd",
    "www.a.b",
    "…",
    "!!",
    "\n\n",
)


@settings(max_examples=sized(50, 150), deadline=None)
@given(text=st.one_of(st.text(max_size=200), st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join)))
@example(text=" ".join(generic_texts()))
def test_the_fast_features_equal_the_reference_bit_for_bit(text: str) -> None:
    np.testing.assert_array_equal(raw(text), style_reference.raw(text))
