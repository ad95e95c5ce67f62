"""Discovery finds planted axes, and none in noise."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.real_encoder import best
from traitbench.fitting.auroc import auroc
from traitbench.fitting.discover import (
    EFFORTS,
    FEWEST_TEXTS,
    DiscoveredTrait,
    Discovery,
    InsufficientTexts,
    discover,
    pole_difference,
)
from traitbench.sample_data import demo_models
from traitbench.scoring.segments import embed

TOPICS = (("garden", "roses", "spade"), ("engine", "brakes", "wheel"))
MOODS = (("joyful", "cheerful", "sunny"), ("gloomy", "dreary", "bitter"))


class Town:
    """Texts on one of two topics in one of two moods: topic along the first number, mood along the second."""

    def __init__(self, n: int = 120, d: int = 12, *, moods: float = 0.6) -> None:
        rng = np.random.default_rng(3)
        self.topic, self.mood = np.arange(n) % 2, np.arange(n) // 2 % 2
        X = rng.normal(size=(n, d)) * 0.25
        X[:, 0] += np.where(self.topic, -1.0, 1.0)
        X[:, 1] += np.where(self.mood, -moods, moods)
        self.X = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)
        self.texts = [
            f"The {TOPICS[topic][i % 3]} and a {TOPICS[topic][i % 2]}, {MOODS[mood][i % 3]} part{chr(97 + i % 26)} {i}"
            for i, (topic, mood) in enumerate(zip(self.topic, self.mood, strict=True))
        ]
        self.ids: Sequence[int] = range(1_000, 1_000 + n)
        self.quality = np.full(n, np.nan)

    def find(self, effort: str = "high", **more: Any) -> tuple[DiscoveredTrait, ...]:
        return self.search(effort, **more).traits

    def search(self, effort: str = "high", *, known: NDArray[np.floating] | None = None, **more: Any) -> Discovery:
        known = np.zeros((0, self.X.shape[1])) if known is None else known
        return discover(self.X, self.texts, ids=self.ids, quality=self.quality, known=known, effort=effort, **more)


def along(trait: DiscoveredTrait, number: int) -> float:
    return abs(float(trait.axis[number]))


def test_planted_axes_are_found_in_the_order_of_their_strength_as_unit_vectors() -> None:
    topic, mood = Town().find()
    assert along(topic, 0) > 0.95
    assert along(mood, 1) > 0.9
    assert topic.explained_variance > mood.explained_variance > 0
    assert topic.discrimination > 0.95
    assert min(topic.stability, mood.stability) > 0.9
    for trait in (topic, mood):
        assert trait.axis.dtype == np.float32
        assert np.linalg.norm(trait.axis) == pytest.approx(1, abs=1e-6)
        assert isinstance(trait.offset, float)


@pytest.mark.parametrize("d", [60, 120])
def test_an_axis_explains_no_more_of_the_texts_that_did_not_choose_it(d: int) -> None:
    """In many dimensions an axis fits its own texts better than the planted one does; on held-out texts it cannot."""
    town = Town(60, d)
    topic, _ = town.find()
    planted = town.X.var(axis=0)
    assert topic.explained_variance < planted[0] / planted.sum()


def test_an_axis_is_named_by_a_phrase_of_each_end_and_has_the_spread_of_its_texts() -> None:
    topic = Town().find()[0]
    assert {topic.phrases_positive[0], topic.phrases_negative[0]} <= {word for words in TOPICS for word in words}
    assert topic.positive_label == f"texts with “{topic.phrases_positive[0]}”"
    assert topic.name == f"{topic.negative_label} – {topic.positive_label}"
    assert 1 <= len(topic.phrases_positive) <= 3
    assert "120 texts" in topic.description
    assert (sum(topic.histogram), topic.texts) == (120, 120)
    assert max(topic.histogram[8:12]) < max(topic.histogram[:8]), "two topics lie at both ends"


def test_phrases_do_not_repeat_a_word_in_another_form() -> None:
    town = Town()
    town.texts = [text.replace("garden", "garden gardener") for text in town.texts]
    topic = town.find()[0]
    assert len([term for term in (*topic.phrases_positive, *topic.phrases_negative) if "garden" in term]) == 1


def test_a_name_says_what_kind_of_texts_are_at_both_ends() -> None:
    town = Town()
    town.texts = [
        text + " and so on and so forth" * 3 * (1 - topic) for text, topic in zip(town.texts, town.topic, strict=True)
    ]
    topic = town.find()[0]
    assert topic.negative_label.startswith("short texts with “")
    assert topic.positive_label.startswith("long texts with “")


def test_a_contrast_between_words_names_an_axis_that_follows_it() -> None:
    contrast = np.zeros((6, 12))
    contrast[0, 0] = 1.0
    topic, mood = Town().find(contrasts=contrast)
    assert topic.positive_label.startswith("positive texts with “")
    assert topic.negative_label.startswith("negative texts with “")
    assert topic.axis[0] > 0
    assert mood.positive_label.startswith("texts with “")


WILD = (
    "@anna_k {0}!! https://t.co/x1{1} 😀 #win",
    "RT @bob: {0} 10/10 &amp; www.shop{1}.example/a?b=c",
    "{0} x u 2 me &lt;3 mail me: kim{1}@mail.example",
    "<br />{0} … 24h 🔥🔥 http://a.example/{1}",
)


def test_handles_links_and_signs_are_no_words() -> None:
    """Each of them tells the two topics apart, so that words would be made of them if they could."""
    town = Town()
    town.texts = [
        WILD[i % 4].format(text.rsplit(" ", 1)[0], i % 3) if town.topic[i] else f"{text.rsplit(' ', 1)[0]} 5 ⭐"
        for i, text in enumerate(town.texts)
    ]
    for trait in town.find():
        shown = f"{trait.name} {' '.join((*trait.phrases_positive, *trait.phrases_negative))}".casefold()
        assert not re.search(r"@\w|http|www|amp|anna|bob|t\.co|shop|kim|mail\.|br /|\d|😀|🔥|⭐|“.”", shown), shown


def test_scripts_without_spaces_give_short_phrases() -> None:
    town = Town()
    town.texts = [
        f"{'电池寿命很长' if topic else '屏幕太暗了'}，{'上中下左右东西南北春夏秋冬'[i % 13]}{'一二三四五'[i % 5]}"
        for i, topic in enumerate(town.topic)
    ]
    topic = town.find()[0]
    ends = {topic.positive_label, topic.negative_label}
    assert all(3 <= len(label.split("“")[1]) <= 5 and len(label) <= 40 for label in ends), ends
    assert any(phrase in "电池寿命很长" for phrase in (topic.phrases_positive[0], topic.phrases_negative[0]))


def test_an_end_without_a_phrase_is_named_by_the_beginning_of_a_typical_text() -> None:
    town = Town()
    for i in np.flatnonzero(town.topic == 0):
        rare = " ".join(f"{letter * 3}{chr(97 + i % 26)}{chr(97 + i // 26)}" for letter in "bcdefg")
        town.texts[i] = f"The {rare} {i}"
    labels = [label for trait in town.find() for label in (trait.positive_label, trait.negative_label)]
    assert any(label.startswith("texts such as “") for label in labels), labels
    assert all(len(label) <= 40 for label in labels)


def test_anchors_are_the_texts_at_the_ends() -> None:
    town = Town()
    topic = town.find()[0]
    places = town.X @ topic.axis + topic.offset
    assert np.mean(places) == pytest.approx(0, abs=1e-5)
    highest, lowest = ([i - 1_000 for i in anchors] for anchors in (topic.anchor_positive, topic.anchor_negative))
    assert len(highest) == len(lowest) == 5
    assert places[highest].min() >= np.quantile(places, 0.9)
    assert places[lowest].max() <= np.quantile(places, 0.1)


def test_a_text_that_only_denies_a_pole_is_not_typical_of_it() -> None:
    town = Town()
    typical = town.find()[0].anchor_positive[0] - 1_000
    words = town.find()[0].phrases_positive
    town.texts[typical] = f"There is no {words[0]}, never any {words[-1]}"
    assert town.find()[0].anchor_positive[0] - 1_000 != typical


def test_the_order_of_the_texts_changes_nothing() -> None:
    town, turned = Town(), Town()
    order = np.random.default_rng(1).permutation(len(town.texts))
    turned.X, turned.texts, turned.ids = town.X[order], [town.texts[i] for i in order], (order + 1_000).tolist()
    assert facts(turned.find()) == facts(town.find())


def facts(result: Sequence[DiscoveredTrait]) -> list[dict[str, object]]:
    return [{**vars(trait), "axis": trait.axis.tobytes()} for trait in result]


def test_an_existing_trait_is_not_discovered_again() -> None:
    town = Town()
    topic = pole_difference(town.X, town.topic.astype(np.float64))
    (mood,) = town.find(known=topic[None])
    assert along(mood, 1) > 0.9
    both = np.stack([topic, pole_difference(town.X, town.mood.astype(np.float64))])
    assert town.find(known=both) == ()


def test_a_known_direction_of_zeros_has_no_effect() -> None:
    found = Town().find(known=np.zeros((2, 12)))
    assert {trait.overlaps for trait in found} == {(0.0, 0.0)}
    assert facts([replace(trait, overlaps=()) for trait in found]) == facts(Town().find())


@pytest.mark.parametrize("better", [0, 1])
def test_better_samples_are_at_the_positive_end(better: int) -> None:
    town = Town()
    town.quality = (town.topic == better).astype(np.float64)
    topic = town.find()[0]
    assert auroc(town.X.astype(np.float64) @ topic.axis, town.quality) > 0.95


def test_noise_has_no_axis() -> None:
    town = Town(n=200)
    town.X = np.random.default_rng(9).normal(size=(200, 40)).astype(np.float32)
    discovery = town.search("max")
    assert discovery.traits == ()
    rejected = discovery.rejected
    assert rejected.candidates == rejected.unstable + rejected.unexplained + rejected.repeated > 0


def test_near_duplicates_count_as_one_text() -> None:
    town = Town()
    town.X[: 120 - FEWEST_TEXTS + 1] = town.X[0]
    found = town.find("max")
    assert found
    assert all(np.isfinite(trait.axis).all() for trait in found)
    town.X[: 120 - FEWEST_TEXTS + 2] = town.X[0]
    with pytest.raises(InsufficientTexts, match=f"the model has {FEWEST_TEXTS - 1}"):
        town.find("max")


def test_an_axis_that_words_do_not_explain_is_not_shown() -> None:
    town = Town()
    town.texts = [f"entry number {i}" for i in range(120)]
    assert town.find("max") == ()


@pytest.mark.parametrize("distinct", [0, 1, FEWEST_TEXTS - 1])
def test_too_few_different_texts_are_refused_with_the_count(distinct: int) -> None:
    town = Town(n=60)
    town.texts = [f"text {i % distinct}" if distinct else f"text {i}" for i in range(60)]
    if distinct == 0:
        town.X[:] = 0
    with pytest.raises(InsufficientTexts, match=f"needs {FEWEST_TEXTS} different texts; the model has {distinct}") as e:
        town.find()
    assert (e.value.distinct, e.value.needed) == (distinct, FEWEST_TEXTS)


def test_a_repeated_text_is_one_text_with_its_lowest_id() -> None:
    town = Town()
    once = town.find()
    town.X, town.texts = np.vstack([town.X, town.X]), [*town.texts, *town.texts]
    town.ids, town.quality = range(1_000, 1_240), np.full(240, np.nan)
    assert facts(town.find()) == facts(once)


def test_near_duplicates_are_never_anchors_together() -> None:
    town = Town()
    first = Town().find()[0].anchor_positive[0] - 1_000
    town.X[[4, 8, 12]] = town.X[first]
    near_duplicates = {4, 8, 12, first}
    discovered = town.find()
    assert discovered
    for trait in discovered:
        assert len(near_duplicates & {i - 1_000 for i in (*trait.anchor_positive, *trait.anchor_negative)}) <= 1


def test_names_are_unique_and_avoid_those_taken() -> None:
    names = [trait.name for trait in Town().find()]
    again = [trait.name for trait in Town().find(taken=names)]
    assert len({*names, *again}) == 4
    assert again[0] == f"{names[0]} (2)"


def test_without_words_names_quote_no_text() -> None:
    topic, mood = Town().find(words=False)
    assert (topic.name, mood.name) == ("Axis 1", "Axis 2")
    assert (topic.positive_label, topic.negative_label) == ("high end", "low end")
    text = f"{topic.description} {mood.description}"
    assert not any(word in text for words in (*TOPICS, *MOODS) for word in words)


@pytest.mark.parametrize("effort", EFFORTS)
def test_an_effort_limits_the_number_of_axes(effort: str) -> None:
    assert 1 <= len(Town().find(effort)) <= EFFORTS[effort].shown


def test_a_trait_without_two_poles_has_no_direction() -> None:
    town = Town(n=20)
    assert not pole_difference(town.X, np.ones(20)).any()
    assert not pole_difference(town.X, np.full(20, 0.5)).any()
    assert pole_difference(np.vstack([town.X, np.zeros((1, 12), np.float32)]), np.r_[town.topic, 1.0]).any()


@pytest.mark.parametrize(
    ("handle", "hidden"),
    [
        ("demo.support-tone", ("warmth", "ownership")),
        pytest.param("demo.product-reviews", ("satisfaction", "experience"), marks=pytest.mark.soak),
        pytest.param("demo.headlines", ("clickbait", "mood"), marks=pytest.mark.soak),
    ],
)
def test_in_real_texts_discovery_finds_what_people_had_labelled(handle: str, hidden: tuple[str, str]) -> None:
    """Two traits mixed, without labels: for each, some axis orders its samples far better than chance."""
    model = next(model for model in demo_models() if model.handle == handle)
    labelled = [sample for sample in model.samples if sample["trait"] in hidden]
    X = embed(best().encode, [sample["text"] for sample in labelled])
    result = discover(
        X,
        [sample["text"] for sample in labelled],
        ids=range(len(labelled)),
        quality=np.full(len(labelled), np.nan),
        known=np.zeros((0, X.shape[1])),
        effort="high",
    ).traits
    for key in hidden:
        own = [i for i, sample in enumerate(labelled) if sample["trait"] == key]
        y = np.array([labelled[i]["quality"] for i in own], np.float64)
        recovered = [abs(2 * auroc(X[own].astype(np.float64) @ trait.axis, y) - 1) for trait in result]
        assert max(recovered) >= 0.5
