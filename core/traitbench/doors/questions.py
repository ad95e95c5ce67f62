"""Which trait, and which pole of it, a question is about: only what it says in whole words, never a guess.

A question names a trait by its key, its name or one of its poles. Where one name lies within a longer one, the longer
counts. A trait cannot obey "not": a pole behind a negation is refused, because an answer about the pole itself would be
wrong, and one about the other pole would be a guess.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from traitbench.contract.decisions import ChoiceQuestion, NoulQuestion, ScoreQuestion
from traitbench.names import folded, is_word
from traitbench.scoring.inputs import TraitLike
from traitbench.scoring.snapshot import Snapshot
from traitbench.scoring.words import UNSPACED

_BEFORE = frozenset(
    (
        # English, German, French
        *("not", "no", "never", "neither", "nor", "cannot", "without", "hardly"),
        *("nicht", "kein", "keine", "keinen", "keiner", "nie", "ohne"),
        *("pas", "ne", "jamais", "sans", "aucun", "aucune"),
        # Spanish, Portuguese, Italian, Dutch, Swedish, Danish and Norwegian, Polish and Czech, Russian, Arabic
        *("nunca", "sin", "ni", "tampoco", "não", "nem", "sem", "non", "senza", "né"),
        *("niet", "geen", "nooit", "zonder", "inte", "ikke", "bez", "не", "ни", "без", "لا", "ليس", "غير", "بدون"),
    )
)
"""Words that negate what follows them."""
_BEHIND = frozenset(("değil", "नहीं", "nahi", "nahin"))
"""Words that negate what precedes them."""
_CONTRACTED = ("n't", "n’t")
_NEGATIONS = (*_BEFORE, *_CONTRACTED)
_ATTACHED_BEFORE = ("un-", "non-", "不", "没", "沒", "非", "无", "無", "ไม่")
_ATTACHED_BEHIND = ("ではな", "じゃな", "でな", "くな", "ではありません", "じゃありません")
_REACH = 3
"""A negation counts up to this many words away: "not at all warm"."""
_FAR = 60
"""Characters that are more than so many words."""
_LONGEST = 20_000
_SEPARATORS = re.compile(r"[\s_-]+")
_UNSPACED = re.compile(f"[{UNSPACED}]")


class Pole(NamedTuple):
    """A pole of a trait, by the position of the trait in its version."""

    trait: int
    positive: bool


class Misfit(Exception):
    """A question that no trait can answer; `kind` is a word for programs. The message repeats no text."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


@dataclass(frozen=True)
class Named:
    """What a text names: traits by key or name, their poles, and the poles behind a negation."""

    traits: frozenset[int]
    poles: frozenset[Pole]
    negated: frozenset[Pole]

    @property
    def concerned(self) -> frozenset[int]:
        """Every trait that is named in any way."""
        return self.traits | {pole.trait for pole in self.poles | self.negated}


class _Match(NamedTuple):
    start: int
    end: int
    trait: int
    positive: bool | None
    """None for a key or the name of a trait."""


class Names:
    """The names of the traits of a version, ready to be looked for in texts."""

    def __init__(self, traits: Sequence[TraitLike]) -> None:
        self.traits = traits
        self._names = [
            (joined, trait, positive)
            for trait, axis in enumerate(traits)
            for name, positive in _names_of(axis)
            if (joined := _joined(name).strip())
        ]

    def named(self, content: Any) -> Named:
        """Return what a content names: a text, an object or a list; raise `Misfit` if it is too long."""
        text = text_of(content)
        if len(text) > _LONGEST:
            raise Misfit("too_long", f"Instructions and descriptions have at most {_LONGEST:,} characters.")
        text = folded(text)
        joined, original = _joined(text), _SEPARATORS.sub(_last, text)
        longest = _told_apart([*_longest(self._matches(joined, original))])
        # A pole behind a negation is not what is asked. A trait's own name has no opposite.
        of_poles = [(each, Pole(each.trait, each.positive)) for each in longest if each.positive is not None]
        negated = {pole for each, pole in of_poles if _is_negated(original, each)}
        return Named(
            frozenset(each.trait for each in longest if each.positive is None),
            frozenset(pole for _, pole in of_poles) - negated,
            frozenset(negated),
        )

    def _matches(self, joined: str, original: str) -> Iterator[_Match]:
        """Yield where names are in a text with single spaces; `original` is as long, with `_` and `-` as they are."""
        for name, trait, positive in self._names:
            start = joined.find(name)
            while start >= 0:
                end = start + len(name)
                if _is_whole(original, start, end):
                    yield _Match(start, end, trait, positive)
                start = joined.find(name, start + 1)


_OF_SNAPSHOT: WeakKeyDictionary[Snapshot, Names] = WeakKeyDictionary()


def names_of(snapshot: Snapshot) -> Names:
    """Return the names of the traits of a version; they are prepared once."""
    if snapshot not in _OF_SNAPSHOT:
        _OF_SNAPSHOT[snapshot] = Names(snapshot.traits)
    return _OF_SNAPSHOT[snapshot]


def text_of(content: Any) -> str:
    """Return the texts of an object or a list, in order, with a line between them. Keys and numbers are no texts."""
    return "\n".join(_texts(content))


def of_noul(names: Names, question: NoulQuestion) -> Pole:
    """Return the pole whose probability is that of yes; raise `Misfit` if it is not exactly one.

    A question that names only the trait is about its positive pole.
    """
    criteria = question.criteria
    asked = names.named(question.instructions)
    yes, no = (names.named(each) for each in ((criteria.true, criteria.false) if criteria else (None, None)))
    _refuse_negations(names, asked)
    trait = _only(names, asked.concerned or yes.concerned | no.concerned)
    meant = {pole for pole in asked.poles if pole.trait == trait}
    # What is no is said with "not" as often as with the other pole, so its negations do not count.
    by_criteria = {pole for pole in yes.poles if pole.trait == trait}
    by_criteria |= {Pole(trait, not pole.positive) for pole in no.poles if pole.trait == trait}
    if len(meant) != 1:
        _refuse_negations(names, yes)
        # Of an instruction with both poles, such as "warm or cold?", the criteria say which one is a yes.
        meant, by_criteria = by_criteria or meant or {Pole(trait, positive=True)}, set()
    if len(meant) > 1 or (by_criteria and not meant & by_criteria):
        raise Misfit(
            "both_poles",
            f"The question names both poles of {_described(names.traits[trait])} as a yes. Name one of them in the"
            " instructions, and as true in the criteria.",
        )
    return meant.pop()


def of_choice(names: Names, question: ChoiceQuestion) -> Sequence[Pole]:
    """Return the pole of each option, which has its name in the option or, failing that, in its description."""
    options = [
        by_name if (by_name := names.named(option)).concerned else names.named(description)
        for option, description in question.criteria.items()
    ]
    return _two_poles(names, names.named(question.instructions), options, "options of the choice")


def of_score(names: Names, question: ScoreQuestion) -> Sequence[Pole]:
    """Return the poles of the lowest and the highest level. What the levels between them say does not count."""
    ends = [names.named(question.criteria[0]), names.named(question.criteria[-1])]
    return _two_poles(names, names.named(question.instructions), ends, "ends of the scale")


def _two_poles(names: Names, asked: Named, texts: Sequence[Named], what: str) -> Sequence[Pole]:
    """Return the poles that the texts name: the two of one trait, which the instructions may name too."""
    _refuse_negations(names, *texts)
    by_trait: dict[int, list[Pole]] = {}
    for trait in set[int]().union(*(each.concerned for each in texts)) if len(texts) == 2 else ():
        poles = [[pole for pole in each.poles if pole.trait == trait] for each in texts]
        if all(len(each) == 1 for each in poles) and poles[0] != poles[1]:
            by_trait[trait] = [each[0] for each in poles]
    if not by_trait:
        raise Misfit(
            "poles_not_named",
            f"The {what} have to name the two poles of one trait, each in whole words and without 'not'."
            f" {_there(names)}",
        )
    if asked.concerned:
        by_trait = {trait: poles for trait, poles in by_trait.items() if trait in asked.concerned}
    return by_trait[_only(names, frozenset(by_trait) or asked.concerned, fits=bool(by_trait))]


def _only(names: Names, traits: frozenset[int], *, fits: bool = True) -> int:
    if not traits:
        raise Misfit(
            "no_trait_named",
            "The question names no trait of this model. A trained trait cannot follow other instructions: name the"
            f" trait or one of its poles, in whole words. {_there(names)}",
        )
    if len(traits) > 1 or not fits:
        several = "; ".join(_described(names.traits[each]) for each in sorted(traits))
        raise Misfit("several_traits_named", f"The question names several traits. Name one of these only: {several}.")
    [trait] = traits
    return trait


def _refuse_negations(names: Names, *texts: Named) -> None:
    negated = sorted({pole for each in texts for pole in each.negated})
    if negated:
        axis = names.traits[negated[0].trait]
        raise Misfit(
            "negated_pole",
            f"The question negates a pole of {_described(axis)}, and a trait cannot follow a negation. Ask for the"
            " other pole, or take 1 minus the answer.",
        )


_MOST_LISTED = 10


def _there(names: Names) -> str:
    """Say which traits a version has."""
    listed = "; ".join(_described(each) for each in names.traits[:_MOST_LISTED])
    more = len(names.traits) - _MOST_LISTED
    return f"There are: {listed}{f'; and {more} more' if more > 0 else ''}."


def _described(axis: TraitLike) -> str:
    return f"{axis.key} ({axis.negative_label} or {axis.positive_label})"


def _names_of(axis: TraitLike) -> Iterator[tuple[str, bool | None]]:
    yield axis.positive_label, True
    yield axis.negative_label, False
    yield axis.key, None
    yield axis.name, None


def _joined(name: str) -> str:
    """Return a text with single spaces between its words, which may be joined by `_` or `-` as well."""
    return _SEPARATORS.sub(" ", folded(name))


def _last(separators: re.Match[str]) -> str:
    return separators[0][-1]


def _texts(content: Any) -> Iterator[str]:
    # Not by recursion: a body may be nested as deeply as its limit allows.
    rest = [content]
    while rest:
        each = rest.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, Mapping | list):
            rest.extend(reversed([*each.values()] if isinstance(each, Mapping) else each))


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether a match does not begin or end within a word. Scripts without spaces show no ends of words."""
    return not (
        (start > 0 and _are_one_word(text[start - 1], text[start]))
        or (end < len(text) and _are_one_word(text[end - 1], text[end]))
    )


def _are_one_word(left: str, right: str) -> bool:
    if not (_continues(left) and _continues(right)):
        return False
    return not (_UNSPACED.match(left) or _UNSPACED.match(right))


def _continues(character: str) -> bool:
    return is_word(character) or character == "_"


def _longest(matches: Iterable[_Match]) -> Iterator[_Match]:
    """Yield the matches that do not lie within a longer one."""
    last: _Match | None = None
    for each in sorted(matches, key=lambda match: (match.start, -match.end)):
        if last is None or each.end > last.end or (each.start, each.end) == (last.start, last.end):
            last = each
            yield each


def _told_apart(matches: Sequence[_Match]) -> Sequence[_Match]:
    """Return the matches; of a pole that several traits have, only that of the trait which is named itself as well."""
    themselves = {each.trait for each in matches if each.positive is None}
    sharing: dict[tuple[int, int], set[int]] = {}
    for each in matches:
        sharing.setdefault((each.start, each.end), set()).add(each.trait)
    return [
        each for each in matches if len(meant := sharing[each.start, each.end] & themselves) != 1 or each.trait in meant
    ]


def _is_negated(text: str, match: _Match) -> bool:
    before, behind = text[max(0, match.start - _FAR) : match.start], text[match.end : match.end + _FAR]
    if before.endswith(_ATTACHED_BEFORE) or behind.lstrip().startswith(_ATTACHED_BEHIND):
        return True
    # Most questions have none, and a body may have very many matches.
    if not (any(word in before for word in _NEGATIONS) or any(word in behind for word in _BEHIND)):
        return False
    preceding, following = _clauses(before)[-1].split()[-_REACH:], _clauses(behind)[0].split()[:_REACH]
    return any(word in _BEFORE or word.endswith(_CONTRACTED) for word in preceding) or any(
        word in _BEHIND for word in following
    )


def _clauses(text: str) -> list[str]:
    """Return the words between punctuation, with spaces between words."""
    marked = (
        char if is_word(char) or char in "'’" else " " if char.isspace() or char in "-_" else "." for char in text
    )
    return "".join(marked).split(".")
