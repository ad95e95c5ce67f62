"""Explain a score: how much each sentence contributes to the position of a text on every axis.

A trait's reasons add up: baseline + the sum of all contributions = the position of the text. The baseline is the
position of a text that points to neither pole: the middle, score 50. A position is a logit (the score is its expit) if
one vector decides: for whole texts, and for the part with the maximum or minimum. The mean over several parts is a mean
of scores, so there the position is a score in 0..1.

Method: a text's vector is the unit mean of its segments' vectors, so the share of each segment needs no further
encoding. Within a segment, a sentence counts by its Shapley value: what it adds to the segment's share, averaged over
the orders in which the sentences could be added. Up to four sentences use every order. More sentences use a few fixed
orders, each with its reverse: the values are then estimates, but still add up exactly. In a text of few segments, words
or phrases are explained too.

Encodings do not depend on the trait, so all traits share them, and the reasons of a trait never depend on which other
traits are requested. The work is limited: in a long text, only the segments that count most are divided. The number of
parts is limited too: in a very long text, neighbouring passages that were not divided become one part.
"""

import math
import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise, permutations
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from traitbench.scoring.segments import (
    Encode,
    Segment,
    Shortened,
    Vectors,
    mean,
    parts,
    phrases,
    segments,
    sentences,
    shorten,
)
from traitbench.scoring.snapshot import Snapshot
from traitbench.scoring.words import characters, with_endings

Unit = Literal["logit", "score"]
Floats = NDArray[np.float64]
Pieces = Sequence[Segment]

MOST_ENCODED = 256
"""The most texts that are encoded to explain segments, not counting the segments themselves."""

MOST_LOOKED_AT = 50_000
"""The most tokens in these texts, as estimated without a tokenizer."""

MOST_PARTS = 1_000
"""About how many parts a trait has at most; beyond that, neighbouring passages are merged."""

# About 90 encodings for twenty words. Leaving out one part at a time is cheaper, but such contributions do not add up.
ORDERS = 6
"""The most orders in which the pieces of a passage are added."""

_EVERY_ORDER_UP_TO = 4  # pieces: these have 24 orders, five have 120
_ORDERS_OF_MANY = 4
_FEWEST_PIECES, _MOST_PIECES = 4, 16
_WORDS_IN_PIECES = 660
_TOKEN = re.compile(r"[^\W_]{1,4}|[^\w\s]|_")
_SPACE = re.compile(r"\s")
_MIDDLE: Mapping[Unit, float] = {"logit": 0.0, "score": 0.5}
_DECIDES: Mapping[str, Callable[[Floats], np.intp]] = {"max": np.argmax, "min": np.argmin, "whole": np.argmax}


@dataclass(frozen=True)
class Share:
    """A stretch of the text, `text[start:end]`, and its contribution to the position."""

    start: int
    end: int
    contribution: float


@dataclass(frozen=True)
class TextPart(Share):
    """A sentence, or a longer stretch that was not divided; `pieces` are its words or phrases, empty if not divided."""

    pieces: tuple[Share, ...]


Stretch = TypeVar("Stretch", Segment, Share, TextPart)


@dataclass(frozen=True)
class Reasons:
    """The reasons of one trait: baseline + all contributions = position.

    `refined` is False if a stretch of several sentences was not divided. `decided_by` is the part whose score is the
    text's, under the aggregations max and min.
    """

    unit: Unit
    position: float
    baseline: float
    parts: tuple[TextPart, ...]
    refined: bool
    decided_by: Segment | None

    def to_wire(self) -> dict[str, Any]:
        """The keys of an explanation on the wire, without the samples."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Explained:
    """The reasons by trait key, and the vector of the whole text."""

    vector: Vectors
    traits: Mapping[str, Reasons]


def explain(snapshot: Snapshot, encode: Encode, text: str, *, look: Encode | None = None) -> Explained:
    """Explain the score of a text on every trait.

    `look` encodes the additional texts that only an explanation needs; it must give the same vectors as `encode`, which
    is used when `look` is None.
    """
    short = shorten(text)
    views = _views(snapshot, encode, short.text)
    insides = _look_inside(snapshot, look or encode, short.text, views)
    reasons = {
        i: _in_the_original(short, _in_whole_characters(_reasons(view, inside, at), moved))
        for view, inside in zip(views, insides, strict=True)
        for moved in [_inside_characters(short.text, view.passages)]
        for at, i in enumerate(view.traits)
    }
    return Explained(views[0].vectors[0], {trait.key: reasons[i] for i, trait in enumerate(snapshot.traits)})


# ---- passages and their shares ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Verdict:
    """How the position of a trait follows from the logits of the parts: each is multiplied by its gain and added to the
    baseline.
    """

    unit: Unit
    position: float
    gains: Floats
    decided: int | None


@dataclass(frozen=True, eq=False)
class _View:
    """The text as one vector, or as parts that are scored separately, with the traits that are scored this way.

    A passage is what was encoded at once. Its vector v contributes slope * (axis . v) + constant, or nothing if it has
    no token. Slopes, constants and shares are (n_passages, n_traits); shares are those contributions and add up.
    """

    traits: Sequence[int]
    passages: Pieces
    verdicts: Sequence[_Verdict]
    decided: Sequence[Segment | None]
    vectors: Vectors
    slopes: Floats
    constants: Floats
    shares: Floats


def _views(snapshot: Snapshot, encode: Encode, text: str) -> list[_View]:
    """The view of the whole text, then that of the parts if traits use them and some part has a token."""
    every = range(len(snapshot.traits))
    deep = [i for i in every if snapshot.traits[i].aggregation != "none"]
    stretches = parts(text, snapshot.max_depth) if snapshot.max_depth > 1 and deep else ()
    rules = [snapshot.traits[i].aggregation for i in deep]
    divided = [_view(snapshot, encode, text, stretches, deep, rules)] if stretches else []
    non_empty = [view for view in divided if view.vectors.any()]
    whole_only = [i for i in every if not non_empty or i not in deep]
    return [_view(snapshot, encode, text, [Segment(0, len(text))], whole_only, ["whole"] * len(whole_only)), *non_empty]


def _view(
    snapshot: Snapshot, encode: Encode, text: str, stretches: Pieces, traits: Sequence[int], rules: Sequence[str]
) -> _View:
    passages, encoded, own = _encoded(encode, text, stretches)
    vectors = np.array([mean(encoded[rows]) if rows else np.zeros_like(encoded[0]) for rows in own])
    non_empty = [at for at, vector in enumerate(vectors) if vector.any()]
    axes, offsets = snapshot.matrix[list(traits)], snapshot.offsets[list(traits)]
    logits = np.array([_dot(axes, vectors[at]) + offsets for at in non_empty]).reshape(len(non_empty), len(traits))
    verdicts = [_verdict(rule, logits[:, j]) for j, rule in enumerate(rules)]

    slopes, constants, dots = np.zeros((3, len(passages), len(traits)))
    for part, at in enumerate(non_empty):
        gains = np.array([verdict.gains[part] for verdict in verdicts])
        with_token = [row for row in own[at] if encoded[row].any()]
        slopes[with_token] = gains / _length(encoded[own[at]])
        constants[with_token] = gains * offsets / len(with_token)
        dots[with_token] = [_dot(axes, encoded[row]) for row in with_token]
    targets = np.array([verdict.position - _MIDDLE[verdict.unit] for verdict in verdicts])
    return _View(
        traits=traits,
        passages=passages,
        verdicts=verdicts,
        decided=[None if each.decided is None else stretches[non_empty[each.decided]] for each in verdicts],
        vectors=vectors,
        slopes=slopes,
        constants=constants,
        shares=_adding_up(slopes * dots + constants, targets),
    )


def _encoded(encode: Encode, text: str, stretches: Pieces) -> tuple[Pieces, Vectors, Sequence[Sequence[int]]]:
    """All passages, their vectors (n_passages, d), and the rows of each stretch; one row of zeros without passages."""
    divided = [_within(text, stretch, segments) for stretch in stretches]
    passages = [each for pieces in divided for each in pieces]
    ends = np.cumsum([len(pieces) for pieces in divided]).tolist()
    rows = [range(end - len(pieces), end) for pieces, end in zip(divided, ends, strict=True)]
    return passages, encode([text[each.start : each.end] for each in passages] or [""]), rows


def _verdict(rule: str, logits: Floats) -> _Verdict:
    """The position and the gains, by the same arithmetic as `card`."""
    if not len(logits):
        return _Verdict("logit", _MIDDLE["logit"], logits, None)
    scores = expit(logits)
    if rule == "mean":
        # This is the slope of the secant from the middle to the logit, so the parts of the logit share the score in
        # proportion.
        slopes = np.divide(scores - _MIDDLE["score"], logits, out=np.full(len(logits), 0.25), where=logits != 0)
        return _Verdict("score", float(scores.mean()), slopes / len(logits), None)
    at = int(_DECIDES[rule](scores))
    gains = np.zeros(len(logits))
    gains[at] = 1.0
    return _Verdict("logit", float(logits[at]), gains, None if rule == "whole" else at)


def _length(vectors: Vectors) -> float:
    """The divisor that makes the sum of the vectors the vector of the text."""
    total = vectors.astype(np.float64).sum(axis=0)
    return 1.0 if len(vectors) == 1 else float(np.sqrt(np.square(total).sum()))


# ---- inside a passage ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Plan:
    """How to explain a passage: the pieces of each sentence, the orders to add them in, and the texts to encode.

    There are no orders if there is only one piece, or if there are `too_many` pieces.
    """

    sentences: Sequence[Pieces]
    orders: Sequence[Sequence[int]]
    texts: Mapping[frozenset[int], str]
    too_many: bool = False


@dataclass(frozen=True)
class _Inside:
    """What was explained in the passages of a view: per sentence its pieces, each with (n_traits,) contributions."""

    sentences: Mapping[int, Sequence[Sequence[tuple[Segment, Floats]]]]
    left: frozenset[int]


def _look_inside(snapshot: Snapshot, encode: Encode, text: str, views: Sequence[_View]) -> list[_Inside]:
    """Explain the passages that count most, up to the limit; `left` are the others with several sentences."""
    weights = {(v, s): _weight(view, s) for v, view in enumerate(views) for s in range(len(view.passages))}
    chosen: dict[tuple[int, int], _Plan] = {}
    left: set[tuple[int, int]] = set()
    asked: dict[str, None] = {}
    tokens = 0.0
    for v, s in sorted((at for at, weight in weights.items() if weight > 0), key=lambda at: -weights[at]):
        if left:
            left.add((v, s))
            continue
        passage = views[v].passages[s]
        plan = _plan(text, passage, most=_MOST_PIECES // len(views[v].passages))
        new = dict.fromkeys(each for each in plan.texts.values() if each not in asked)
        new_tokens = sum(map(len, new)) * _tokens_per_character(text[passage.start : passage.end])
        if plan.too_many or len(asked) + len(new) > MOST_ENCODED or tokens + new_tokens > MOST_LOOKED_AT:
            left.add((v, s))
        elif plan.orders:
            chosen[v, s] = plan
            asked |= new
            tokens += new_tokens
    vectors = dict(zip(asked, encode(list(asked)), strict=True)) if asked else {}
    return [
        _Inside(
            {s: _contributions(snapshot, views[v], s, plan, vectors) for (of, s), plan in chosen.items() if of == v},
            frozenset(s for of, s in left if of == v and len(_within(text, views[v].passages[s], sentences)) > 1),
        )
        for v in range(len(views))
    ]


def _weight(view: _View, passage: int) -> float:
    return float(np.abs(view.shares[passage]).max(initial=0.0))


def _plan(text: str, passage: Segment, *, most: int) -> _Plan:
    own = _within(text, passage, sentences)
    finely = most >= _FEWEST_PIECES
    divided = [_phrases(text, each, passage, most) for each in own] if finely else [[each] for each in own]
    pieces = [piece for each in divided for piece in each]
    if len(pieces) < 2:
        return _Plan(divided, (), {})
    if len(pieces) > MOST_ENCODED:
        return _Plan(divided, (), {}, too_many=True)
    most_orders = ORDERS if most == _MOST_PIECES else _ORDERS_OF_MANY
    added = _orders(len(pieces), max(2, min(most_orders, MOST_ENCODED // len(pieces))))
    sets = {frozenset(order[:size]) for order in added for size in range(1, len(pieces))}
    texts = {each: _joined(text, pieces, each) for each in sorted(sets, key=sorted)}
    return _Plan(divided, added, texts)


def _tokens_per_character(passage: str) -> float:
    return sum(1 for _ in _TOKEN.finditer(passage)) / max(1, len(passage))


def _phrases(text: str, sentence: Segment, passage: Segment, most: int) -> Pieces:
    """The words of a sentence if the passage has few, else phrases: about `most` per passage, fewer if it is long."""
    own, of = (len(with_endings(text[each.start : each.end])) for each in (sentence, passage))
    most = min(most, _WORDS_IN_PIECES // of)
    count = own if of <= most else max(1, round(most * own / of))
    return _within(text, sentence, lambda own: phrases(own, count))


def _orders(count: int, most: int) -> Sequence[Sequence[int]]:
    """Every order of a few pieces. For more, rotations of the text's own order, every second one in strides; each
    reversed.
    """
    if count <= _EVERY_ORDER_UP_TO:
        return list(permutations(range(count)))
    orders: list[Sequence[int]] = []
    for pair in range(most // 2):
        first = pair * count // (most // 2)
        order = [*range(first, count), *range(first)]
        order = order[::2] + order[1::2] if pair % 2 else order
        orders += [order, order[::-1]]
    return orders


def _joined(text: str, pieces: Pieces, chosen: frozenset[int]) -> str:
    """The text of the chosen pieces: the original text between neighbours. Where pieces are left out there is a space,
    but only if the text has one there: Chinese has none.
    """
    joined, end = "", 0
    for at in sorted(chosen):
        piece = pieces[at]
        if at - 1 in chosen:
            joined += text[end : piece.start]
        elif joined and _SPACE.search(text, end, piece.start):
            joined += " "
        joined += text[piece.start : piece.end]
        end = piece.end
    return joined


def _contributions(
    snapshot: Snapshot, view: _View, passage: int, plan: _Plan, vectors: Mapping[str, Vectors]
) -> Sequence[Sequence[tuple[Segment, Floats]]]:
    axes = snapshot.matrix[list(view.traits)]
    values_of_sets = {
        chosen: view.slopes[passage] * _dot(axes, vectors[text]) + view.constants[passage]
        if vectors[text].any()
        else np.zeros(len(axes))
        for chosen, text in plan.texts.items()
    }
    pieces = sum(map(len, plan.sentences))
    values_of_sets |= {frozenset(): np.zeros(len(axes)), frozenset(range(pieces)): view.shares[passage]}
    contributions = np.zeros((pieces, len(axes)))
    for order in plan.orders:
        for size, piece in enumerate(order):
            contributions[piece] += (
                values_of_sets[frozenset(order[: size + 1])] - values_of_sets[frozenset(order[:size])]
            )
    rows = iter(_adding_up(contributions / len(plan.orders), view.shares[passage]))
    return [[(piece, next(rows)) for piece in own] for own in plan.sentences]


# ---- the reasons -----------------------------------------------------------------------------------------------------


def _reasons(view: _View, inside: _Inside, at: int) -> Reasons:
    verdict = view.verdicts[at]
    together = -(-len(view.passages) // MOST_PARTS)
    parts, pending = list[TextPart](), list[int]()

    def merge() -> None:
        if pending:
            start, end = view.passages[pending[0]].start, view.passages[pending[-1]].end
            parts.append(TextPart(start, end, math.fsum(view.shares[pending, at]), ()))
            pending.clear()

    for number in range(len(view.passages)):
        if number in inside.sentences and view.slopes[number, at]:
            merge()
            parts += [_part(pieces, at) for pieces in inside.sentences[number]]
        else:
            pending.append(number)
            if len(pending) == together:
                merge()
    merge()
    return Reasons(
        unit=verdict.unit,
        position=verdict.position,
        baseline=_MIDDLE[verdict.unit],
        parts=tuple(parts),
        refined=together < 2 and not any(view.shares[number, at] for number in inside.left),
        decided_by=view.decided[at],
    )


def _inside_characters(text: str, passages: Pieces) -> Mapping[int, int]:
    """The borders of passages inside a character of several code points, and where that character ends."""
    tight = [before.end for before, after in pairwise(passages) if before.end == after.start]
    if not tight or text.isascii():
        return {}
    ends = characters(text)
    moved = {at: ends[bisect_left(ends, at)] for at in tight}
    return {at: end for at, end in moved.items() if at != end}


def _in_whole_characters(reasons: Reasons, moved: Mapping[int, int]) -> Reasons:
    """The same reasons with borders moved; a piece without text left counts with the one before it."""
    if not moved:
        return reasons
    parts: list[list[Share]] = []
    for part in reasons.parts:
        own: list[Share] = []
        for each in part.pieces or (Share(part.start, part.end, part.contribution),):
            piece = replace(each, start=moved.get(each.start, each.start), end=moved.get(each.end, each.end))
            if piece.start < piece.end or not (own or parts):
                own.append(piece)
            else:
                last = own or parts[-1]
                last[-1] = replace(last[-1], contribution=last[-1].contribution + piece.contribution)
        if own:
            parts.append(own)
    return replace(reasons, parts=tuple(map(_part_of, parts)))


def _in_the_original(short: Shortened, reasons: Reasons) -> Reasons:
    """The same reasons with positions in the original text."""
    if not short.after:
        return reasons

    def placed(stretch: Stretch) -> Stretch:
        return replace(stretch, start=short.origin(stretch.start), end=short.origin(stretch.end))

    parts = tuple(replace(placed(part), pieces=tuple(map(placed, part.pieces))) for part in reasons.parts)
    decided = reasons.decided_by
    return replace(reasons, parts=parts, decided_by=None if decided is None else placed(decided))


def _part(pieces: Sequence[tuple[Segment, Floats]], at: int) -> TextPart:
    return _part_of([Share(piece.start, piece.end, float(values[at])) for piece, values in pieces])


def _part_of(own: Sequence[Share]) -> TextPart:
    total = math.fsum(each.contribution for each in own)
    return TextPart(own[0].start, own[-1].end, total, tuple(own) if len(own) > 1 else ())


# ---- arithmetic ------------------------------------------------------------------------------------------------------


def _dot(axes: Floats, vector: Vectors) -> Floats:
    """(n_traits,): dot products by plain sums, as in `card`."""
    dots: Floats = (axes * vector.astype(np.float64)).sum(axis=1)
    return dots


def _adding_up(counts: Floats, totals: Floats) -> Floats:
    """(n, n_traits): the counts, corrected for rounding at the largest of each column so that columns sum to the
    totals.
    """
    right = counts + 0.0
    for column, total in enumerate(totals if len(counts) else ()):
        at = int(np.abs(right[:, column]).argmax())
        right[at, column] += float(total) - math.fsum(right[:, column])
    return right


def _within(text: str, stretch: Segment, divide: Callable[[str], Pieces]) -> Pieces:
    """The pieces of a stretch, with positions in the whole text."""
    inner = divide(text[stretch.start : stretch.end])
    return [Segment(stretch.start + each.start, stretch.start + each.end) for each in inner]
