"""A text that has nothing to do with the samples is said to be so, and one of their kind is not."""

import json
import random
import string
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.benchmarks.confidence import OTHER_LANGUAGES
from tests.scoring.hand import axis, directions, encode, fitted, samples, snapshot
from traitbench.fitting.fit import Trained
from traitbench.scoring.card import project, project_whole, score
from traitbench.scoring.certainty import Certainty, Levels
from traitbench.scoring.resemblance import Direction, Resemblance, resemblance
from traitbench.scoring.snapshot import Snapshot, SnapshotInvalid, SnapshotOutdated, canonical_bytes
from traitbench.scoring.spelling import spelling

ENGLISH = [
    "Thank you for the quick reply, everything works again.",
    "The parcel arrived two days late and the box was open.",
    "Could you tell me when the shop opens on Sunday?",
    "I have been waiting for an answer since last week.",
    "What a lovely surprise, we will come back for sure.",
    "The manual does not say how to change the battery.",
    "He asked for a refund, but nobody called him back.",
    "Please send the invoice to the new address.",
]
GERMAN = [
    "Vielen Dank für die schnelle Antwort, jetzt geht alles wieder.",
    "Das Paket kam zwei Tage zu spät und der Karton war offen.",
    "Wann öffnet der Laden am Sonntag?",
    "Ich warte seit letzter Woche auf eine Antwort.",
    "Was für eine schöne Überraschung, wir kommen gerne wieder.",
    "In der Anleitung steht nicht, wie man die Batterie wechselt.",
]
DEGREES = [0.0, 10, 20, 30, 150, 160, 170, 180]
SURE = Certainty(Levels((30, 70), (40, 60)), Levels((30, 70), (40, 60)))


def trained(texts: list[str], degrees: list[float]) -> Trained:
    """Samples at these angles, the first half of them warm."""
    X = directions(*degrees)
    y = [1.0 if i < len(texts) / 2 else 0.0 for i in range(len(texts))]
    return fitted(replace(samples(X, y), spellings=spelling(texts)))


def by_spelling(texts: list[str]) -> Resemblance:
    """The resemblance to these texts by their spelling alone."""
    found = resemblance(np.ones((len(texts), 1), np.float32), range(len(texts)), spelling(texts), {})
    assert found is not None
    return found


def judged(known: Resemblance, new: list[str]) -> NDArray[np.bool_]:
    """Whether new texts are unlike the known ones."""
    return known.unlike(new, np.ones((len(new), 1), np.float32))


def gibberish(seed: int, alphabet: str, words: int) -> str:
    lot = random.Random(seed)
    return " ".join("".join(lot.choices(alphabet, k=lot.randint(3, 9))) for _ in range(words))


@pytest.mark.parametrize("texts", [ENGLISH, GERMAN, ENGLISH[:3]], ids=["english", "german", "three"])
@pytest.mark.parametrize("alphabet", [string.ascii_lowercase, string.digits, "абвгдежз", "的一是不了人", "!?.;#"])
def test_random_letters_digits_signs_and_foreign_scripts_are_unlike(texts: list[str], alphabet: str) -> None:
    new = [gibberish(seed, alphabet, words=4 + seed % 5) for seed in range(40)]
    assert judged(by_spelling(texts), new).mean() > 0.9


@pytest.mark.parametrize(("texts", "new"), [(ENGLISH[::2], ENGLISH[1::2]), (GERMAN[::2], GERMAN[1::2])])
def test_new_texts_of_the_same_kind_are_not_unlike(texts: list[str], new: list[str]) -> None:
    assert not judged(by_spelling(texts), new).any()


def test_a_letter_whose_lower_case_has_two_characters_is_like_any_letter_with_an_accent() -> None:
    assert spelling(["İstanbul", "Vİ İ"]).tolist() == spelling(["Östanbul", "VÖ Ö"]).tolist()


def test_other_languages_in_latin_script_are_unlike_english_samples() -> None:
    assert judged(by_spelling(ENGLISH), [*GERMAN, *OTHER_LANGUAGES["German, French, Spanish"]]).all()
    assert not judged(by_spelling(ENGLISH), ["We saw La Vie en Rose in a cinema near the Champs-Élysées."]).any()


def test_samples_in_two_languages_are_like_texts_in_both() -> None:
    both = by_spelling([*ENGLISH, *GERMAN[::2]])
    assert both.other_languages
    assert not judged(both, [*GERMAN[1::2], *ENGLISH]).any()


@pytest.mark.parametrize(("texts", "mentioned"), [(ENGLISH, False), ([*ENGLISH, *GERMAN], True)])
def test_a_snapshot_mentions_languages_only_if_samples_are_not_english(texts: list[str], mentioned: bool) -> None:
    snapshot = trained(texts, [float(at) for at in range(len(texts))]).snapshot
    assert (b"other_languages" in canonical_bytes(snapshot)) is mentioned
    assert canonical_bytes(Snapshot.from_json(snapshot.to_json())) == canonical_bytes(snapshot)


def test_a_version_of_german_samples_from_before_languages_were_looked_at_scores_german() -> None:
    assert not judged(replace(by_spelling(GERMAN), other_languages=False), GERMAN).any()


def test_a_vector_far_from_all_samples_is_from_another_source() -> None:
    texts = [*ENGLISH, *ENGLISH]
    snapshot = trained(texts, [20, 25, 30, 35, 15, 22, 28, 33, -20, -25, -30, -35, -15, -22, -28, -33]).snapshot
    placed = project_whole(snapshot, ["Please send the parcel."] * 3, directions(0, 30, 180))
    near, beside, far = (each.same for each in placed)
    assert near >= beside > 50
    assert far == 0
    assert not any(each.unlike for each in placed)


def test_a_version_of_an_earlier_release_refuses_a_vector_far_from_all_samples() -> None:
    known = Direction(directions(0)[0], 0.5)
    rows = directions(0, 30, 180).astype(np.float64)
    assert known.far(rows).tolist() == [False, False, True]
    assert known.chance_of_same(rows).tolist() == [100, 100, 100]


def test_an_unlike_text_has_low_confidence_no_tier_and_says_why() -> None:
    known = Resemblance(Direction(directions(0)[0], 0.5), None, None)
    sure = replace(snapshot(axis(certainty=SURE)), resemblance=known)
    near, far = score(sure, encode, "east").traits["warmth"], score(sure, encode, "west").traits["warmth"]
    assert (near.confidence, near.confidence_reason, near.label) == ("high", None, "Strong")
    assert (far.confidence, far.confidence_reason, far.label, far.headroom) == ("low", "unlike_samples", None, None)
    assert far.score == 12  # the number itself stays


def test_a_text_without_a_token_is_unlike() -> None:
    known = Resemblance(Direction(directions(0)[0], -1.0), None, None)
    [placed] = project(replace(snapshot(), resemblance=known), encode, ["nothing here"])
    assert placed.unlike


def test_a_version_of_too_few_samples_has_no_resemblance_and_scores() -> None:
    few = snapshot()
    assert b"resemblance" not in canonical_bytes(few)
    assert score(few, encode, "east").traits["warmth"].confidence == "high"
    assert Snapshot.from_json(few.to_json()).resemblance is None


def test_a_snapshot_before_0_2_0_is_refused_with_a_way_out() -> None:
    values = snapshot().to_json()
    del values["traits"][0]["certainty"]
    with pytest.raises(SnapshotOutdated, match=r"before release 0\.2\.0, so it cannot be scored here\. Train it again"):
        Snapshot.from_json(values)


def test_a_snapshot_keeps_what_it_needs_and_no_text() -> None:
    """A bundle is refused if its snapshot reads as other JSON; with tuples, every version with a certainty was."""
    snapshot = trained(ENGLISH, DEGREES).snapshot
    stored = json.loads(json.dumps(snapshot.to_json()))
    again = Snapshot.from_json(stored)
    assert stored == snapshot.to_json() == again.to_json()
    assert canonical_bytes(again) == canonical_bytes(snapshot)
    content = canonical_bytes(snapshot)
    assert not any(word.encode() in content for text in ENGLISH for word in text.split() if len(word) > 7)
    texts = [*ENGLISH, gibberish(1, string.digits, 5)]
    vectors = directions(*range(0, 180, 20))
    assert project_whole(again, texts, vectors) == project_whole(snapshot, texts, vectors)


def test_the_order_of_the_samples_does_not_matter() -> None:
    order = [7, 2, 5, 0, 3, 6, 1, 4]
    one = samples(directions(*DEGREES), [1, 1, 1, 1, 0, 0, 0, 0], groups=[*"abcdefgh"])
    one = replace(one, spellings=spelling(ENGLISH))
    other = replace(one, X=one.X[order], y=one.y[order], groups=["abcdefgh"[i] for i in order])
    other = replace(other, spellings=spelling([ENGLISH[i] for i in order]))
    assert canonical_bytes(fitted(one).snapshot) == canonical_bytes(fitted(other).snapshot)


DAMAGE: list[tuple[str, dict[str, object]]] = [
    ("resemblance", {"least": "0.5"}),
    ("resemblance", {"surprise": [1.0]}),
    ("resemblance", {"surprise": [1.0, float("nan")]}),
    ("resemblance", {"letters": 3}),
    ("resemblance", {"mean": "AAAA"}),
    ("resemblance", {"modes": None}),
    ("resemblance", {"modes": {"static": {}}}),
    ("certainty", {"limit": "bored"}),
    ("certainty", {"proven": None}),
    ("certainty", {"proven": {"high": [20, 80]}}),
    ("certainty", {"proven": {"high": [40, 60], "moderate": [30, 70]}}),
    ("certainty", {"likely": {"high": [-2, 80], "moderate": [30, 70]}}),
    ("certainty", {"likely": {"high": [20, 80, 90], "moderate": [30, 70]}}),
    ("certainty", {"difference": 0}),
    ("certainty", {"difference": -1.5}),
    ("certainty", {"difference": "2"}),
    ("certainty", {"difference": float("nan")}),
]


@pytest.mark.parametrize(("part", "damage"), DAMAGE)
def test_a_damaged_resemblance_or_certainty_is_refused(part: str, damage: dict[str, object]) -> None:
    version = replace(snapshot(axis(certainty=SURE)), resemblance=trained(ENGLISH, DEGREES).snapshot.resemblance)
    values = version.to_json()
    Snapshot.from_json(values)
    at = values if part == "resemblance" else values["traits"][0]
    at[part] = at[part] | damage
    with pytest.raises(SnapshotInvalid):
        Snapshot.from_json(values)


@given(st.text(max_size=300))
def test_every_text_has_a_spelling(text: str) -> None:
    [[surprise, letters, other, segments]] = spelling([text]).tolist()
    assert 0 <= surprise < 20
    assert 0 <= letters <= 1
    assert other in (0, 1)
    assert ((surprise, letters) == (0, 0)) >= (not text.strip())
    assert segments >= bool(text.strip())


@given(st.lists(st.text(max_size=60), max_size=8))
def test_a_spelling_depends_on_its_text_alone(texts: list[str]) -> None:
    together = spelling(texts)
    assert together.shape == (len(texts), 4)
    assert all((spelling([text])[0] == row).all() for text, row in zip(texts, together, strict=True))


def test_one_group_of_samples_is_compared_with_nothing() -> None:
    assert resemblance(directions(0, 1), ["same", "same"], None, {}) is None
    assert resemblance(directions(), [], None, {}) is None
