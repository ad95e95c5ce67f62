"""The decision wire: typed questions about one text, answered from the traits of a taught model.

A text is encoded once, however many questions there are. Probabilities are those of `traitbench.doors.probability`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from traitbench.as_read import is_blank
from traitbench.contract import operations
from traitbench.contract.decisions import (
    ChoiceAnswer,
    ChoiceQuestion,
    DecisionRequest,
    Decisions,
    NoulAnswer,
    NoulQuestion,
    ScoreAnswer,
    ScoreQuestion,
    TokenUsage,
)
from traitbench.contract.scores import TraitScore
from traitbench.display.sides import side_of
from traitbench.doors import probability, questions
from traitbench.doors.questions import Misfit, Pole
from traitbench.errors import ValidationFailed
from traitbench.names import pin
from traitbench.operations import rules, scores
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.scoring.snapshot import TraitAxis

_IMAGES: Mapping[str, Sequence[str]] = {
    # Those of the wire, then those of messages that applications send to language models.
    "image": ("data_base64", "part", "source"),
    "image_url": ("image_url",),
    "input_image": ("image_url", "file_id"),
}
"""The fields of an image by its type."""
_STEPS = 64
_STEEPEST = 60.0

Question = NoulQuestion | ChoiceQuestion | ScoreQuestion
Poles = Sequence[Pole]


def answer(context: Context, caller: Caller, request: DecisionRequest, *, request_id: str) -> Decisions:
    """Answer every question, or raise `ValidationFailed` that names each one that no trait can answer."""
    version = scores.version_for(context, caller, operations.DECISIONS_ANSWER, request.model)
    names = questions.names_of(version.snapshot)
    text, problems = questions.text_of(request.state), []
    if is_blank(text):
        problems.append(rules.problem(["state"], "blank", "The state has no text to score"))
    if _has_image(request.state):
        problems.append(rules.problem(["state"], "image", "Only texts can be scored, not images"))
    poles: dict[str, Poles] = {}
    for identity, question in request.questions.items():
        try:
            poles[identity] = _POLES[question.type](names, question)
        except Misfit as misfit:
            problems.append(rules.problem(["questions", identity], misfit.kind, misfit.message))
    if problems:
        raise _refused(problems, version.snapshot.traits)
    keys = [
        version.snapshot.traits[each].key for each in sorted({pole.trait for own in poles.values() for pole in own})
    ]
    card = scores.card_of(context, version, text, keys, request_id=request_id)
    answers = {}
    for identity, question in request.questions.items():
        axis = version.snapshot.traits[poles[identity][0].trait]
        answers[identity] = _ANSWER[question.type](question, poles[identity], axis, card.detail[axis.key])
    return Decisions(
        model=pin(version.model.handle, f"v{version.version_no}"),
        answers=answers,
        usage=TokenUsage(input_tokens=card.input_tokens, output_tokens=0),
    )


def _refused(problems: Sequence[Mapping[str, Any]], traits: Sequence[TraitAxis]) -> ValidationFailed:
    """Return the error for questions that cannot be answered. Their ids are content, and only in its list."""
    more = f" ({len(problems) - 1} more in details.errors)" if len(problems) > 1 else ""
    known = rules.known_traits([(each.key, each.name) for each in traits])
    return ValidationFailed(
        f"{problems[0]['msg'].removesuffix('.')}{more}.", details={**rules.named(problems), **known}
    )


def _has_image(state: Any) -> bool:
    """Whether a state is or holds an image. The text of its bytes or its address would get a score."""
    rest = [state]
    while rest:
        each = rest.pop()
        if isinstance(each, dict):
            if any(field in each for field in _IMAGES.get(str(each.get("type")), ())):
                return True
            rest.extend(each.values())
        elif isinstance(each, list):
            rest.extend(each)
    return False


def _noul(_question: NoulQuestion, poles: Poles, axis: TraitAxis, score: TraitScore) -> NoulAnswer:
    return NoulAnswer(type="noul", noul=_of(poles[0], score), **_ours(axis, score))


def _choice(question: ChoiceQuestion, poles: Poles, axis: TraitAxis, score: TraitScore) -> ChoiceAnswer:
    probabilities = {option: _of(pole, score) for option, pole in zip(question.criteria, poles, strict=True)}
    best = max(probabilities, key=probabilities.__getitem__)
    even = 1 / len(probabilities)
    return ChoiceAnswer(
        type="choice",
        choice=best,
        probabilities=probabilities,
        confidence=(probabilities[best] - even) / (1 - even),
        **_ours(axis, score),
    )


def _score(question: ScoreQuestion, poles: Poles, axis: TraitAxis, score: TraitScore) -> ScoreAnswer:
    levels = question.criteria
    weights = spread(_of(poles[1], score), len(levels))
    return ScoreAnswer(
        type="score",
        score=_mean(weights),
        legend={str(position): level for position, level in enumerate(levels)},
        probabilities={str(position): weight for position, weight in enumerate(weights)},
        confidence=certainty(weights),
        **_ours(axis, score),
    )


def spread(high: float, levels: int) -> Sequence[float]:
    """Return the distribution over so many levels whose mean is the share `high` (0..1) of the way up.

    Of all with this mean, it has the largest entropy, so that it says nothing more than the mean: each level has the
    same ratio to the one before it (E. T. Jaynes, Information Theory and Statistical Mechanics, 1957). With two levels
    it is `1 - high` and `high`; at one half, all levels are equal. The numbers add to exactly 1.
    """
    if high < 0.5:
        return spread(1 - high, levels)[::-1]
    flat, steep = 0.0, _STEEPEST
    for _ in range(_STEPS):
        slope = (flat + steep) / 2
        flat, steep = (slope, steep) if _mean(_tilted(slope, levels)) < high * (levels - 1) else (flat, slope)
    weights = [probability.on_grid(each) for each in _tilted(steep, levels)]
    weights[-1] += 1 - sum(weights)
    return weights


def certainty(weights: Sequence[float]) -> float:
    """Return how close the levels lie to the most likely one, from 0 to 1, where 0 is as far as at random."""
    count = len(weights)
    top = max(range(count), key=weights.__getitem__)
    at_random = sum(abs(position - (count - 1) / 2) for position in range(count)) / count
    return max(0.0, 1 - sum(weight * abs(position - top) for position, weight in enumerate(weights)) / at_random)


def _tilted(slope: float, levels: int) -> Sequence[float]:
    # From the top, so that no power is too large.
    powers = [math.exp(slope * (position - levels + 1)) for position in range(levels)]
    total = sum(powers)
    return [each / total for each in powers]


def _mean(weights: Sequence[float]) -> float:
    return sum(position * weight for position, weight in enumerate(weights))


def _of(pole: Pole, score: TraitScore) -> float:
    """Return the probability of a pole."""
    positive = probability.of_positive(score)
    return positive if pole.positive else 1 - positive


def _ours(axis: TraitAxis, score: TraitScore) -> dict[str, Any]:
    side = side_of(score, positive_label=axis.positive_label, negative_label=axis.negative_label)
    return {"x_confidence": score.confidence, "x_reason": score.confidence_reason, "x_side": side.pole or None}


_POLES: Mapping[str, Callable[..., Poles]] = {
    "noul": lambda names, question: [questions.of_noul(names, question)],
    "choice": questions.of_choice,
    "score": questions.of_score,
}
_ANSWER: Mapping[str, Callable[..., NoulAnswer | ChoiceAnswer | ScoreAnswer]] = {
    "noul": _noul,
    "choice": _choice,
    "score": _score,
}
