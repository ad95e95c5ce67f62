"""Words for what kind of texts are at the ends of an axis, such as long and short, or positive and negative ones.

A kind is either counted in the texts themselves, or is a contrast between words, whose direction the encoder knows. An
axis has the kind whose values correlate most with its scores, if any does by at least `LEAST_CORRELATION`. What is
counted must also differ by half as much again between the outer thirds of the texts.
"""

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from traitbench.fitting.phrases import words

Floats = NDArray[np.float64]
Kind = tuple[str, str]
"""What texts at the positive and at the negative end are, in the plural."""

LEAST_CORRELATION, _TIMES = 0.5, 1.5

_HANDLE, _TAG = re.compile(r"(?<!\w)@\w"), re.compile(r"(?<!\w)#\w")
_EMOJI = re.compile("[\u2600-\u27bf\U0001f300-\U0001faff]")

_COUNTED: Mapping[Kind, Callable[[str], float]] = {
    ("long texts", "short texts"): lambda text: len(words(text)),
    ("questions", "statements"): lambda text: len(re.findall("[?？؟]", text)),
    ("exclamations", "calm sentences"): lambda text: len(re.findall("[!！]", text)),
    ("many capitals", "few capitals"): lambda text: sum(map(str.isupper, text)) / (len(text) + 1),
    ("many digits", "few digits"): lambda text: sum(map(str.isdigit, text)) / (len(text) + 1),
    ("texts with @", "texts without @"): lambda text: len(_HANDLE.findall(text)),
    ("texts with #", "texts without #"): lambda text: len(_TAG.findall(text)),
    ("texts with links", "texts without links"): lambda text: text.count("http") + text.count("www."),
    ("texts with emoji", "texts without emoji"): lambda text: len(_EMOJI.findall(text)),
}
_CONTRASTS: Mapping[Kind, tuple[Sequence[str], Sequence[str]]] = {
    ("positive texts", "negative texts"): (
        ("happy", "positive", "great", "love", "praise"),
        ("sad", "negative", "terrible", "hate", "complaint"),
    ),
    ("personal messages", "announcements"): (
        ("a personal message", "a reply to a friend", "chatting"),
        ("an announcement", "an advertisement", "news"),
    ),
    ("feelings", "facts"): (("feelings", "emotions", "personal experience"), ("facts", "figures", "information")),
    ("casual texts", "formal texts"): (("casual", "slang", "informal"), ("formal", "official", "professional")),
    ("playful texts", "serious texts"): (("funny", "playful", "a joke"), ("serious", "grave", "sober")),
    ("texts about people", "texts about things"): (
        ("about people", "about a person"),
        ("about things", "about objects", "about technology"),
    ),
}
KINDS = frozenset((*_COUNTED, *_CONTRASTS))
"""All kinds, with the end first that is the positive one unless qualities say otherwise."""

_FRAMES = ("{}", "This text is {}.", "The tone is {}.", "It is {}.", "a text about {}")


def contrasts(encode: Callable[[Sequence[str]], NDArray[np.float32]]) -> Floats:
    """(n_contrasts, d): the direction of each contrast between words; `encode` gives the vectors (n, d) of texts."""
    ends = [end for both in _CONTRASTS.values() for end in both]
    vectors = encode([frame.format(word) for end in ends for word in end for frame in _FRAMES]).astype(np.float64)
    cuts = np.cumsum([len(end) * len(_FRAMES) for end in ends])[:-1]
    means = np.array([part.mean(axis=0) for part in np.split(vectors, cuts)])
    directions: Floats = means[0::2] - means[1::2]
    return directions


class Tones:
    """The values of each kind in the texts."""

    def __init__(self, texts: Sequence[str], X: Floats, directions: Floats) -> None:
        """`directions` are those of `contrasts` in the space of the vectors X (n, d), or none (0, d)."""
        self._counts = np.array([[count(text) for text in texts] for count in _COUNTED.values()], np.float64)
        values = np.vstack([self._counts, directions @ X.T])
        values -= values.mean(axis=1, keepdims=True)
        self._values = values / np.maximum(np.sqrt(np.square(values).sum(axis=1, keepdims=True)), 1e-12)
        self._kinds = [*_COUNTED, *_CONTRASTS][: len(values)]

    def kind(self, scores: Floats) -> Kind | None:
        """The kind of texts at the two ends of these scores (n,), None if none is clear."""
        centred = scores - scores.mean()
        correlations = self._values @ centred / max(float(np.sqrt(np.square(centred).sum())), 1e-12)
        # A difference that nobody sees names nothing, however regular it is.
        low, high = (self._counts[:, end].mean(axis=1) for end in _outer_thirds(scores))
        correlations[: len(low)][np.maximum(low, high) < _TIMES * np.minimum(low, high)] = 0.0
        best = int(np.abs(correlations).argmax())
        if abs(correlations[best]) < LEAST_CORRELATION:
            return None
        positive, negative = self._kinds[best]
        return (positive, negative) if correlations[best] > 0 else (negative, positive)


def _outer_thirds(scores: Floats) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    low, high = np.quantile(scores, [1 / 3, 2 / 3])
    return scores <= low, scores >= high
