"""Explain a score: how much each sentence contributes to the position of a text on every axis.

A trait's reasons add up: baseline + the sum of all contributions = the position of the text. The baseline is the
position of a text that points to neither pole: the middle, score 50. A position is a logit (the score is its expit) if
one vector decides: for whole texts, and for the part with the maximum or minimum. The mean over several parts is a mean
of scores, so there the position is a score in 0..1.

Method: a text's vector is the unit mean of its segments' vectors, so the share of each segment needs no further
encoding. A segment is a passage of pieces: words or phrases, or sentences in a text of many segments. A piece counts by
what it adds to its passage, at three sizes of context: what is lost if the passage is left without it, what is lost if
its neighbourhood of up to four pieces is left without it, and what it says alone. Its Shapley value is the mean over
all sizes; these three estimate it, and the whole passage counts half. What is missing to the passage's share is spread
evenly, so that the contributions add up exactly.

An encoder that can show the vectors of a text's tokens reads each context once and leaves pieces out of what it has
read (`LeaveOneOut`). That costs about four encodings of the passage, however many pieces it has. Other encoders encode
every neighbourhood without every piece, and skip the whole passage.

Vectors do not depend on the trait, so all traits share them, and the reasons of a trait never depend on which other
traits are requested. The work is limited: in a long text, only the segments that count most are divided. The number of
parts is limited too: in a very long text, neighbouring passages that were not divided become one part.
"""

import math
import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from traitbench.as_read import TextAsRead, as_read
from traitbench.scoring.segments import (
    Encode,
    LeaveOneOut,
    Segment,
    Vectors,
    mean,
    parts,
    phrases,
    segments,
    sentences,
)
from traitbench.scoring.snapshot import Snapshot
from traitbench.scoring.words import characters, with_endings

Unit = Literal["logit", "score"]
Floats = NDArray[np.float64]
Pieces = Sequence[Segment]

MOST_READ = 512
"""The most contexts that are read to explain segments, not counting the segments themselves."""

MOST_LOOKED_AT = 50_000
"""The most tokens in these contexts, as estimated without a tokenizer."""

MOST_PARTS = 1_000
"""About how many parts a trait has at most; beyond that, neighbouring passages are merged."""

MOST_PIECES = 16
"""The most words or phrases of a passage, about."""

_NEIGHBOURS = 4
_FINELY_UP_TO = 9  # passages, about 540 words: more are divided into sentences
_TOKEN = re.compile(r"[^\W_]{1,4}|[^\w\s]|_")
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


def explain(
    snapshot: Snapshot,
    encode: Encode,
    text: str,
    *,
    look: Encode | None = None,
    leave_one_out: LeaveOneOut | None = None,
) -> Explained:
    """Explain the score of a text on every trait.

    `leave_one_out` is that of the encoder, if it has one. Otherwise `look` encodes the additional texts that only an
    explanation needs; it must give the same vectors as `encode`, which is used when `look` is None.
    """
    read = as_read(text, snapshot.reading)
    views = _views(snapshot, encode, read.text)
    insides = _look_inside(snapshot, look or encode, leave_one_out, read.text, views)
    reasons = {
        i: _as_sent(read, _in_whole_characters(_reasons(view, inside, at), moved))
        for view, inside in zip(views, insides, strict=True)
        for moved in [_inside_characters(read.text, view.passages)]
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


@dataclass(frozen=True)
class _Plan:
    """How to explain a passage: its text, the pieces of each sentence, and the pieces that are read together.

    `levels` are the sizes of context: each divides the pieces into neighbourhoods. There are none if there is only one
    piece, or if there are `too_many` pieces.
    """

    text: str
    sentences: Sequence[Pieces]
    levels: Sequence[Sequence[range]] = ()
    too_many: bool = False

    @property
    def contexts(self) -> Sequence[range]:
        return [each for level in self.levels for each in level]

    @property
    def pieces(self) -> Pieces:
        return [piece for own in self.sentences for piece in own]

    def count(self, *, alone: bool) -> int:
        """How many texts are read, or encoded if every text without a piece is encoded `alone`."""
        return sum(1 + len(each) if alone and len(each) > 1 else 1 for each in self.contexts)

    def inside(self) -> Pieces:
        """The pieces, with positions in the passage."""
        first = self.pieces[0].start
        return [Segment(each.start - first, each.end - first) for each in self.pieces]


@dataclass(frozen=True)
class _Inside:
    """What was explained in the passages of a view: per sentence its pieces, each with (n_traits,) contributions."""

    sentences: Mapping[int, Sequence[Sequence[tuple[Segment, Floats]]]]
    left: frozenset[int]


def _look_inside(
    snapshot: Snapshot, look: Encode, leave_one_out: LeaveOneOut | None, text: str, views: Sequence[_View]
) -> list[_Inside]:
    """Explain the passages that count most, up to the limit; `left` are the others with several sentences."""
    weights = {(v, s): _weight(view, s) for v, view in enumerate(views) for s in range(len(view.passages))}
    left: set[tuple[int, int]] = set()
    contributions: dict[tuple[int, int], Sequence[Sequence[tuple[Segment, Floats]]]] = {}
    contexts, tokens = 0, 0.0
    for v, s in sorted((at for at, weight in weights.items() if weight > 0), key=lambda at: -weights[at]):
        if left:
            left.add((v, s))
            continue
        passage, finely = views[v].passages[s], len(views[v].passages) <= _FINELY_UP_TO
        plan = _plan(text, passage, finely=finely, whole=leave_one_out is not None)
        contexts += plan.count(alone=leave_one_out is None)
        tokens += len(plan.levels) * len(plan.text) * _tokens_per_character(plan.text)
        if plan.too_many or contexts > MOST_READ or tokens > MOST_LOOKED_AT:
            left.add((v, s))
        elif plan.levels:
            read = leave_one_out or partial(_by_encoding, look)
            vectors = read(plan.text, plan.inside(), plan.contexts)
            contributions[v, s] = _contributions(snapshot, views[v], s, plan, vectors)
    return [
        _Inside(
            {s: own for (of, s), own in contributions.items() if of == v},
            frozenset(s for of, s in left if of == v and len(_within(text, views[v].passages[s], sentences)) > 1),
        )
        for v in range(len(views))
    ]


def _weight(view: _View, passage: int) -> float:
    return float(np.abs(view.shares[passage]).max(initial=0.0))


def _plan(text: str, passage: Segment, *, finely: bool, whole: bool) -> _Plan:
    own = _within(text, passage, sentences)
    divided = [_phrases(text, each, passage) for each in own] if finely else [[each] for each in own]
    count = sum(map(len, divided))
    inner = text[divided[0][0].start : divided[-1][-1].end]
    if count < 2 or count > MOST_READ:
        return _Plan(inner, divided, too_many=count > MOST_READ)
    sizes = [-(-count // _NEIGHBOURS), count]
    if whole and count > _NEIGHBOURS:
        sizes = [1, *sizes]
    borders = [[i * count // size for i in range(size + 1)] for size in sizes]
    return _Plan(inner, divided, [[range(*each) for each in pairwise(ends)] for ends in borders])


def _tokens_per_character(passage: str) -> float:
    return sum(1 for _ in _TOKEN.finditer(passage)) / max(1, len(passage))


def _phrases(text: str, sentence: Segment, passage: Segment) -> Pieces:
    """The words of a sentence if the passage has few, else phrases: about `MOST_PIECES` per passage."""
    own, of = (len(with_endings(text[each.start : each.end])) for each in (sentence, passage))
    count = own if of <= MOST_PIECES else max(1, round(MOST_PIECES * own / of))
    return _within(text, sentence, lambda own: phrases(own, count))


def _by_encoding(look: Encode, text: str, pieces: Pieces, contexts: Sequence[range]) -> Sequence[Vectors]:
    """What `LeaveOneOut` gives, for any encoder: every text without a piece is encoded by itself."""
    asked: dict[str, None] = {}
    texts = []
    for context in contexts:
        whole = Segment(pieces[context.start].start, pieces[context.stop - 1].end)
        without = [_without(text, whole, pieces[at]) for at in context] if len(context) > 1 else [""]
        texts.append([text[whole.start : whole.end], *without])
        asked |= dict.fromkeys(each for each in texts[-1] if each)
    vectors = dict(zip(asked, encoded := look(list(asked)), strict=True)) | {"": np.zeros_like(encoded[0])}
    return [np.array([vectors[each] for each in own]) for own in texts]


def _without(text: str, whole: Segment, piece: Segment) -> str:
    """The stretch without a piece. A space takes its place, but only if the text has one there: Chinese has none."""
    before, after = text[whole.start : piece.start], text[piece.end : whole.end]
    gap = " " if before[-1:].isspace() or after[:1].isspace() else ""
    return before.rstrip() + (gap if before and after else "") + after.lstrip()


def _contributions(
    snapshot: Snapshot, view: _View, passage: int, plan: _Plan, vectors: Sequence[Vectors]
) -> Sequence[Sequence[tuple[Segment, Floats]]]:
    """The estimate of each piece's Shapley value: its mean loss over the sizes of context, the largest counting half.

    What the estimates miss of the passage's share is spread evenly over the pieces that have a token.
    """
    axes, constant = snapshot.matrix[list(view.traits)], view.constants[passage]
    slope, share = view.slopes[passage], view.shares[passage]
    read = iter(vectors)
    losses = np.zeros((len(plan.levels), len(plan.pieces), len(axes)))
    for level, contexts in zip(losses, plan.levels, strict=True):
        for context in contexts:
            own = next(read)
            values = np.where(own.any(axis=1, keepdims=True), slope * _dots(axes, own) + constant, 0.0)
            level[context.start : context.stop] = values[0] - values[1:]
    largest, *others = losses
    contributions = largest / 2 + sum(others) / (2 * len(others))
    has_token = np.array([own[0].any() for own in vectors[-len(plan.pieces) :]])
    spread = has_token if has_token.any() else ~has_token
    # Exact sums: they must not depend on the number of traits.
    missing = [total - math.fsum(own) for total, own in zip(share, contributions.T, strict=True)]
    contributions[spread] += np.array(missing) / np.count_nonzero(spread)
    rows = iter(_adding_up(contributions, share))
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


def _as_sent(read: TextAsRead, reasons: Reasons) -> Reasons:
    """The same reasons with positions in the text as it was sent."""
    if not read.changes:
        return reasons

    def placed(stretch: Stretch) -> Stretch:
        return replace(stretch, start=read.origin(stretch.start), end=read.origin(stretch.end))

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


def _dots(axes: Floats, vectors: Vectors) -> Floats:
    """(n, n_traits): the same for several vectors."""
    dots: Floats = (vectors.astype(np.float64)[:, np.newaxis] * axes).sum(axis=2)
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
