"""Write texts from a trait's own words: short sentences that say only which pole they belong to.

The words that the encoder places nearest to one pole and farthest from the other go into short frames. Texts come in
pairs, with the same frame for both poles, so that they differ only in these words.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from traitbench.definitions import SECTION
from traitbench.fitting.phrases import names_the_rest, negates
from traitbench.fitting.pole_names import CARRIERS, PARTS, phrases, pole_labels, pole_vector
from traitbench.scoring.inputs import Vocabulary
from traitbench.scoring.segments import Encode, Vectors
from traitbench.synthesis import TraitPoles
from traitbench.synthesis.quality_filter import Reason, distinct, on_side

_FRAMES = (
    "This is {0}.",
    "It feels {0} and {1}.",
    "So {0}, so {1}!",
    "Quite {0}, I would say.",
    "{0}, {1}, {2}.",
    "How {0} it all is.",
    "The first word that comes to mind is {0}.",
    "All of it speaks of {0} and {1}.",
    "They wrote something {0} today.",
    "It begins {0} and ends {1}.",
    "Is it {0}? Yes, and {1} too.",
    "You can tell by the {0}, the {1} and the {2}.",
)
_FEWEST_WORDS, _MOST_WORDS = 24, 40
_SURPLUS = 2

_ANYTHING = "something"


@dataclass(frozen=True, eq=False)
class AxisSentences:
    """Pairs of texts, their vectors (n_pairs, d), and the direction (d,) from one pole's words to the other's.

    `rejected` are the pairs that were dropped before there were enough, each with the reason.
    """

    pairs: list[tuple[str, str]]
    positive: Vectors
    negative: Vectors
    axis: NDArray[np.float64]
    rejected: Sequence[tuple[tuple[str, str], Reason]]


def write(
    trait: TraitPoles, count: int, *, encode: Encode, vocabulary: Vocabulary, known: Collection[str] = ()
) -> AxisSentences:
    """Pairs of texts, at most `count`, that differ from one another and from the texts in `known`."""
    labels, described = pole_labels(trait), _described(trait)
    axis = pole_vector(encode, labels[0], described[0]) - pole_vector(encode, labels[1], described[1])
    lexicons = _lexicons(labels, axis, vocabulary, count)
    known = frozenset(known)
    pairs = [
        pair for pair in (*zip(*described, strict=False), *_pairs(labels, lexicons, count)) if not known & set(pair)
    ]
    return _filtered(pairs, encode, axis, count)


def topic(trait: TraitPoles, *, encode: Encode) -> NDArray[np.float64] | None:
    """The direction (d,) from sentences about anything to the one pole that has a meaning of its own.

    None unless exactly one label means the rest, such as "other text". The words nearest to such a label are random.
    None too if the description says what is at both poles.
    """
    labels = pole_labels(trait)
    is_rest = [names_the_rest(label) for label in labels]
    if is_rest[0] == is_rest[1] or _described(trait)[0]:
        return None
    side = is_rest.index(False)
    direction = pole_vector(encode, labels[side]) - pole_vector(encode, _ANYTHING)
    return -direction if side else direction


def doubts(trait: TraitPoles) -> list[str]:
    """Notes for a person on the reliability of texts made from these words."""
    positive, negative = pole_labels(trait)
    if (positive, negative) != (trait.positive_label, trait.negative_label):
        return [
            f"{trait.name}: it has the default labels, so the texts are made from its name only. Describe each pole"
            " in a word or two, then synthesize again."
        ]
    return [
        f"{trait.name}: the label {label} only says what a text is not, and words cannot show that. Say what such a"
        " text is, then synthesize again."
        for label in (negative, positive)
        if negates(label)
    ]


def _described(trait: TraitPoles) -> tuple[list[str], list[str]]:
    """What the description says about each pole, if it has the form `label: this, that.`"""
    sections = {label.strip().casefold(): words for label, words in SECTION.findall(trait.description)}
    labels = (trait.positive_label, trait.negative_label)
    descriptions = [
        [_sentence("{}.", [part]) for part in PARTS.split(sections.get(label.casefold(), "").strip(" .;")) if part]
        for label in labels
    ]
    return (descriptions[0], descriptions[1]) if all(descriptions) else ([], [])


def _lexicons(
    labels: tuple[str, str], axis: NDArray[np.float64], vocabulary: Vocabulary, count: int
) -> tuple[list[str], list[str]]:
    """The words for each pole, its own first; more words for more texts, and the same number for both poles."""
    size = min(_MOST_WORDS, _FEWEST_WORDS + count // 8)
    own = [[part for part in phrases(label) if " " not in part] or [label] for label in labels]
    order = np.argsort(-(vocabulary.vectors @ axis), kind="stable")
    ranked = [word for word in (vocabulary.words[i] for i in order) if word not in BLOCKLIST]
    ends = (ranked[:size], ranked[::-1][:size])
    lexicons = [list(dict.fromkeys([*mine, *end]))[:size] for mine, end in zip(own, ends, strict=True)]
    length = min(map(len, lexicons))
    return lexicons[0][:length], lexicons[1][:length]


def _pairs(labels: tuple[str, str], lexicons: tuple[list[str], list[str]], count: int) -> Iterator[tuple[str, str]]:
    """Texts for both poles, which share the frame and the ranks of their words in the lexicon; more than are needed,
    because some are filtered out.
    """
    for carrier in CARRIERS[1:]:
        yield _sentence(carrier, [labels[0]]), _sentence(carrier, [labels[1]])
    size = len(lexicons[0])
    for at in range(size):
        for number, frame in enumerate(_FRAMES):
            first, apart = 5 * number + 11 * at, 1 + at % max(1, size // 2 - 1)
            indices = [index % size for index in (first, first + apart, first + apart + size // 2)]
            one, other = (_sentence(frame, [lexicon[index] for index in indices]) for lexicon in lexicons)
            yield one, other
        if at * len(_FRAMES) > _SURPLUS * count:
            return


def _sentence(frame: str, words: Sequence[str]) -> str:
    text = frame.format(*words)
    return text[:1].upper() + text[1:]


def _filtered(pairs: Sequence[tuple[str, str]], encode: Encode, axis: NDArray[np.float64], count: int) -> AxisSentences:
    """The pairs in which both texts are new and on the side of their pole.

    A pair is kept or dropped as a whole, so that no frame reveals the pole.
    """
    pairs = list(dict.fromkeys(pair for pair in pairs if pair[0] != pair[1]))
    rejected: list[tuple[tuple[str, str], Reason]] = []
    positive, negative = (encode([pair[side] for pair in pairs]) for side in (0, 1))
    if pairs:
        right, left = on_side(positive, negative, axis)
        good = np.flatnonzero(right & left)
        selected = good[distinct(positive[good]) & distinct(negative[good])][:count]
        # If there are enough, the pairs after the last one that is kept were not needed.
        looked_at = int(selected[-1]) + 1 if len(selected) == count and count else len(pairs)
        repeats = {*good.tolist()}
        rejected = [
            (pairs[i], "near_duplicate" if i in repeats else "wrong_side")
            for i in sorted({*range(looked_at)} - {*selected.tolist()})
        ]
        pairs, positive, negative = [pairs[i] for i in selected.tolist()], positive[selected], negative[selected]
    return AxisSentences(pairs, positive, negative, axis, rejected)


# No made text may tie a pole to a group of people, or swear.
_PEOPLE = """
african africans american americans arab arabs arabic asian asians australian brazilian british bulgarian
canadian chinese croatian cuban czech danish dutch egyptian english european europeans filipino finnish french
german germans greek greeks hispanic hungarian indian indians indonesian iranian iraqi irish israeli italian
italians japanese korean latin latino latina malaysian mexican mexicans moroccan nigerian norwegian pakistani
palestinian polish portuguese romanian russian russians scottish serbian spanish swedish swiss syrian thai
turk turkish turks ukrainian vietnamese welsh africa afghanistan america asia china germany india iran iraq
israel japan korea mexico pakistan palestine poland russia syria turkey ukraine vietnam aboriginal black
blacks ethnic ethnicity foreigner foreigners gypsy immigrant immigrants immigration indigenous migrant
migrants native natives negro race racial refugee refugees tribal tribe tribes white whites buddhist catholic
catholics christian christianity christians hindu hinduism hindus islam islamic jew jewish jews judaism mosque
muslim muslims protestant sikh synagogue bisexual boy boys female females gay gender gentleman girl girls
heterosexual homosexual homosexuality ladies lady lesbian male males man men queer sex sexual sexuality
transgender woman women blind crippled deaf disabled disability elderly fat obese old retarded young
"""
_SWEARING = """
ass asshole bastard bitch bloody boobs breast breasts bullshit cock crap cum cunt damn damned dick erotic fuck
fucked fucker fucking goddamn hell hitler idiot incest lust motherfucker murder naked nazi nazis nigga nigger
nipple nipples nude orgasm penis piss porn prostitute prostitutes pussy rape raped rapist sexy shit slave
slavery slaves slut suck sucks suicide thigh thighs tits vagina whore
"""
BLOCKLIST = frozenset(f"{_PEOPLE} {_SWEARING}".split())
