"""The multilingual encoder: equal meaning in other languages is near, and a vector depends on its text alone."""

import numpy as np
import pytest

from tests.real_encoder import KEPT
from traitbench.encoders.multilingual import Multilingual
from traitbench.encoders.registry import load_encoder
from traitbench.encoders.style import centre, generic_texts, load_statistics
from traitbench.scoring.segments import Segment

POSTPONED = (
    "The meeting was postponed.",
    "Das Treffen wurde verschoben.",
    "La réunion a été reportée.",
    "会議は延期されました。",
    "تم تأجيل الاجتماع.",
    "बैठक स्थगित कर दी गई।",
    "การประชุมถูกเลื่อนออกไป",
)
WHALES = "Whales feed on tiny shrimp."


@pytest.fixture(scope="module")
def encoder() -> Multilingual:
    encoder = load_encoder("multilingual", cache=KEPT)
    assert isinstance(encoder, Multilingual)
    return encoder


@pytest.mark.parametrize("text", POSTPONED[1:])
def test_a_translation_is_nearer_than_another_sentence_of_the_language(encoder: Multilingual, text: str) -> None:
    one, same, other = encoder.encode([POSTPONED[0], text, WHALES])
    assert one @ same > one @ other + 0.2


def test_a_vector_depends_on_its_text_alone(encoder: Multilingual) -> None:
    together = encoder.encode([*POSTPONED, WHALES, *POSTPONED])
    for row, text in zip(together, (*POSTPONED, WHALES, *POSTPONED), strict=True):
        np.testing.assert_array_equal(row, encoder.encode([text])[0])


def test_layer_6_alone_is_bit_for_bit_that_of_a_whole_run(encoder: Multilingual) -> None:
    for text in POSTPONED:
        [[alone]], _ = encoder.transformer.blocks([text], whole=False)
        [[early], _], _ = encoder.transformer.blocks([text])
        np.testing.assert_array_equal(alone, early)


def test_a_text_beyond_one_window_is_read_to_its_end(encoder: Multilingual) -> None:
    long = " ".join(generic_texts()[:60])
    assert encoder.count_tokens(long) > 507
    assert encoder.encode([long])[0] @ encoder.encode([f"{long} {POSTPONED[3] * 40}"])[0] < 0.99


@pytest.mark.soak
def test_statistics_are_the_means_of_the_shipped_texts(encoder: Multilingual) -> None:
    shipped = load_statistics("multilingual")
    again = centre(np.array([encoder.means(text) for text in generic_texts(languages=True)]))
    np.testing.assert_allclose(shipped.mean, again.mean, atol=0.02)
    assert (shipped.deviation == 1).all()


def test_a_piece_is_left_out_of_what_was_read(encoder: Multilingual) -> None:
    text = "Das Essen war kalt, 会議は👍 延期された."
    pieces = [Segment(0, 9), Segment(10, 19), Segment(20, 24), Segment(24, len(text))]
    [(vector, *without), *alone] = encoder.leave_one_out(
        text, pieces, [range(4), *(range(at, at + 1) for at in range(4))]
    )
    np.testing.assert_allclose(np.linalg.norm([vector, *without], axis=1), 1, atol=1e-6)
    assert vector @ encoder.encode([text])[0] > 0.8
    for piece, (own, nothing) in zip(pieces, alone, strict=True):
        assert own @ encoder.encode([text[piece.start : piece.end]])[0] > 0.5
        assert not nothing.any()


def test_a_text_beyond_one_window_is_left_without_its_last_piece(encoder: Multilingual) -> None:
    before, last = " ".join(generic_texts()[:60]), POSTPONED[3] * 40
    text = f"{before} {last}"
    pieces = [Segment(0, len(before)), Segment(len(before) + 1, len(text))]
    [[whole, _, without_last]] = encoder.leave_one_out(text, pieces, [range(2)])
    assert without_last @ encoder.encode([before])[0] > whole @ encoder.encode([before])[0]


def test_white_space_is_left_without_anything(encoder: Multilingual) -> None:
    [rows] = encoder.leave_one_out("  \n", [Segment(0, 1), Segment(1, 3)], [range(2)])
    assert not rows.any()
