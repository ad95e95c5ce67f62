"""With an encoder for many languages, a text may be in any language, but nonsense and other subjects are unlike.

A text longer than the samples needs a score further out for the same confidence.
"""

import random
import string
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.real_encoder import KEPT
from tests.scoring.hand import axis, snapshot
from traitbench.encoders import Encoder
from traitbench.encoders.registry import load_encoder
from traitbench.fitting.fit import EncoderIdentity, TraitSamples, fit
from traitbench.scoring.card import Placed, project_whole, read
from traitbench.scoring.certainty import Certainty, Levels
from traitbench.scoring.resemblance import Resemblance, background
from traitbench.scoring.segments import embed, segment_count, segments
from traitbench.scoring.snapshot import Snapshot, TierBreaks, canonical_bytes
from traitbench.scoring.spelling import spelling

ENGLISH = (
    "We loved the soup and the waiter made us laugh.",
    "The hotel was spotless and the view took our breath away.",
    "My new headphones sound superb and fit perfectly.",
    "A moving film with brilliant actors from start to finish.",
    "The tickets arrived the next morning, what great service.",
    "Our guide was patient, funny and knew every corner.",
    "This jacket keeps me warm and looks gorgeous.",
    "The best novel I have read this year, funny and wise.",
    "The soup was salty and the waiter ignored us.",
    "The hotel was filthy and our window faced a wall.",
    "My new headphones crackle and hurt my ears.",
    "A dreary film with wooden actors from start to finish.",
    "The tickets never came, what awful service.",
    "Our guide was late, bored and knew nothing.",
    "This jacket tore at once and looks cheap.",
    "The worst novel I have read this year, dull and silly.",
)
GERMAN = (
    "Die Suppe war köstlich und der Kellner brachte uns zum Lachen.",
    "Das Hotel war blitzsauber und die Aussicht atemberaubend.",
    "Meine neuen Kopfhörer klingen hervorragend und passen perfekt.",
    "Ein bewegender Film mit großartigen Schauspielern bis zum Schluss.",
    "Die Karten kamen am nächsten Morgen, was für ein toller Service.",
    "Unser Führer war geduldig, lustig und kannte jede Ecke.",
    "Diese Jacke hält mich warm und sieht wunderschön aus.",
    "Der beste Roman, den ich dieses Jahr gelesen habe, witzig und klug.",
    "Die Suppe war versalzen und der Kellner hat uns nicht beachtet.",
    "Das Hotel war dreckig und unser Fenster ging auf eine Mauer.",
    "Meine neuen Kopfhörer knistern und tun an den Ohren weh.",
    "Ein trister Film mit hölzernen Schauspielern bis zum Schluss.",
    "Die Karten sind nie angekommen, was für ein schrecklicher Service.",
    "Unser Führer kam zu spät, war gelangweilt und wusste nichts.",
    "Diese Jacke ist sofort gerissen und sieht billig aus.",
    "Der schlechteste Roman, den ich dieses Jahr gelesen habe, öde und albern.",
)
REVIEWS = {
    "English": ("The food was wonderful and the staff were friendly.", "What a boring film, I fell asleep."),
    "French": (
        "La nourriture était délicieuse et le personnel très aimable.",
        "Quel film ennuyeux, je me suis endormi.",
    ),
    "Portuguese": ("A comida estava maravilhosa e todos foram simpáticos.", "Que filme chato, eu dormi no meio."),
    "Turkish": ("Yemekler harikaydı ve personel çok güler yüzlüydü.", "Ne sıkıcı bir film, uyuyakaldım."),
    "Russian": ("Еда была замечательной, а персонал приветливым.", "Какой скучный фильм, я уснул."),
    "Hindi": ("खाना बहुत स्वादिष्ट था और कर्मचारी बहुत अच्छे थे।", "कितनी उबाऊ फ़िल्म है, मैं सो गया।"),
    "Japanese": ("料理はとてもおいしく、店員さんも親切でした。", "なんて退屈な映画でしょう。寝てしまいました。"),
}
ALPHABETS = (string.ascii_lowercase, string.digits, "?!.;#", "абвгдежзиклмнопрст", "的一是不了人在有我他这中大来上国")


@cache
def encoder() -> Encoder:
    return load_encoder("multilingual", cache=KEPT)


@cache
def trained(texts: tuple[str, ...]) -> Snapshot:
    """The first half of the texts positive."""
    of = encoder()
    y = np.array([1.0 if i < len(texts) / 2 else 0.0 for i in range(len(texts))])
    samples = TraitSamples(
        "mood",
        "Mood",
        "pleased",
        "annoyed",
        "mean",
        embed(of.encode, texts),
        y,
        list(range(len(texts))),
        spellings=spelling(texts),
    )
    return fit(
        [samples],
        encoder=EncoderIdentity.of(of),
        scoring_method="balanced_cosine",
        max_depth=1,
        effort="low",
        modes=of.modes,
    ).snapshot


def unlike(snapshot: Snapshot, texts: Sequence[str], mode: str = "full") -> NDArray[np.bool_]:
    vectors = embed(lambda pieces: encoder().encode(pieces, mode=mode), texts)
    return np.array([placed.unlike for placed in project_whole(snapshot.in_mode(mode), texts, vectors)])


def nonsense(alphabet: str) -> list[str]:
    lot = random.Random(3)
    return [" ".join("".join(lot.choices(alphabet, k=lot.randint(3, 9))) for _ in range(4 + i % 6)) for i in range(12)]


@pytest.mark.parametrize("samples", [ENGLISH, GERMAN], ids=["english", "german"])
@pytest.mark.parametrize("language", REVIEWS)
def test_a_text_on_the_same_subject_in_another_language_is_like_the_samples(
    samples: tuple[str, ...], language: str
) -> None:
    assert not unlike(trained(samples), REVIEWS[language]).any()


@pytest.mark.parametrize("mode", ["full", "layer6", "static"])
@pytest.mark.parametrize(("samples", "new"), [(ENGLISH, GERMAN), (GERMAN, ENGLISH)], ids=["to german", "to english"])
def test_samples_in_one_language_are_like_their_translation(
    samples: tuple[str, ...], new: tuple[str, ...], mode: str
) -> None:
    assert unlike(trained(samples), new, mode).mean() < 0.2


@pytest.mark.parametrize("alphabet", ALPHABETS, ids=["letters", "digits", "signs", "cyrillic", "chinese"])
@pytest.mark.parametrize("samples", [ENGLISH, GERMAN], ids=["english", "german"])
def test_nonsense_is_unlike_in_every_script(samples: tuple[str, ...], alphabet: str) -> None:
    assert unlike(trained(samples), nonsense(alphabet)).mean() > 0.9


def test_a_version_that_knows_many_languages_compares_no_letters() -> None:
    known = trained(ENGLISH).resemblance
    assert known is not None
    assert (known.surprise, known.letters, known.is_english, known.segments) == (None, None, False, 1)
    again = Snapshot.from_json(trained(ENGLISH).to_json())
    assert canonical_bytes(again) == canonical_bytes(trained(ENGLISH))
    assert unlike(again, nonsense("xyz")).all()


def test_only_an_encoder_for_many_languages_has_a_background() -> None:
    assert background("full-1", 1091) is None
    assert background(encoder().id, 3) is None
    known = background(encoder().id, encoder().dimension)
    assert known is not None
    assert np.allclose(known.languages @ known.languages.T, np.eye(len(known.languages)), atol=1e-5)


def test_a_longer_text_than_the_samples_needs_more_for_the_same_confidence() -> None:
    known = trained(ENGLISH).resemblance
    assert known is not None
    lengths = [1, 10, 60, 120, 500, 2_000, 5_000]
    factors = [known.shrinkage("word " * words) for words in lengths]
    assert factors[:3] == [1.0, 1.0, 1.0]
    assert factors == sorted(factors, reverse=True)
    assert 0.6 < factors[-1] < factors[3] < 1


def test_samples_as_long_as_the_text_know_its_length() -> None:
    known = Resemblance(trained(ENGLISH).resemblance.direction, None, None, segments=8)  # type: ignore[union-attr]
    assert known.shrinkage("word " * 480) == 1
    assert 0.9 < known.shrinkage("word " * 5_000) < 1


@pytest.mark.parametrize(
    ("position", "shrinkage", "expected"),
    [
        (0.72, 1.0, ("high", None)),
        (0.72, 0.66, ("moderate", "unlike_samples")),
        (0.28, 0.66, ("moderate", "unlike_samples")),
        (0.95, 0.66, ("high", None)),
        (0.56, 0.66, ("low", "unlike_samples")),
        (0.5, 0.66, ("low", "overlap")),
    ],
)
def test_the_confidence_of_a_longer_text_is_read_nearer_to_the_middle(
    position: float, shrinkage: float, expected: tuple[str, str | None]
) -> None:
    levels = Levels((30, 70), (45, 55))
    known = snapshot(axis(certainty=Certainty(levels, levels), breaks=TierBreaks(50, 50, 50)))
    card = read(known, [0], Placed([position], shrinkage=shrinkage)).traits["warmth"]
    assert (card.confidence, card.confidence_reason) == expected
    assert card.score == round(100 * position)


@pytest.mark.parametrize("text", ["", "word", "word " * 61, "word " * 95, "word. " * 700, "字" * 300])
def test_the_number_of_segments(text: str) -> None:
    assert segment_count(text) == max(1, len(segments(text)))
