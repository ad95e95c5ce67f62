"""Guards: a text that is towards a pole of a trait is blocked (LiteLLM), or must be there to pass (promptfoo).

Both ask for so many points towards the pole. A text of low confidence has no side: it is never blocked, and it never
passes. What is said about a text names the trait and the score, and repeats nothing of the text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from traitbench.as_read import is_blank
from traitbench.contract import operations
from traitbench.contract.guards import GuardrailAnswer, GuardrailRequest, WebhookRequest, WebhookVerdict
from traitbench.contract.scores import TraitScore
from traitbench.doors import probability
from traitbench.doors.questions import text_of
from traitbench.errors import InvalidParameter, TraitNotFound
from traitbench.names import folded, pin
from traitbench.operations import rules, scores
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.operations.serving import Served, known_traits
from traitbench.scoring import card
from traitbench.scoring.snapshot import TraitAxis

_NOT_SCORED = ("images", "tools", "tool_calls")
_EVEN = 0.5


@dataclass(frozen=True)
class _Aim:
    """A pole of a trait of a version, and from how many points towards it a text counts."""

    version: Served
    trait: TraitAxis
    positive: bool
    least: int

    def points(self, score: TraitScore) -> int:
        """How far a text is towards the pole, from 0 to 100."""
        return score.score if self.positive else 100 - score.score

    def is_met(self, score: TraitScore) -> bool:
        """Whether a text is surely there."""
        return score.confidence != "low" and self.points(score) >= self.least

    def words(self, score: TraitScore) -> str:
        """The score in words, such as `Tone: 87 of 100 towards rude (from 60), moderate confidence, acme.tone@v3`."""
        pole = self.trait.positive_label if self.positive else self.trait.negative_label
        why = f" ({score.confidence_reason})" if score.confidence == "low" else ""
        return (
            f"{self.trait.name}: {self.points(score)} of 100 towards {pole} (from {self.least}),"
            f" {score.confidence} confidence{why}, {pin(self.version.model.handle, f'v{self.version.version_no}')}"
        )


def guardrail(context: Context, caller: Caller, request: GuardrailRequest, *, request_id: str) -> GuardrailAnswer:
    """Block if one of the texts is surely towards the pole. Texts without a visible character are passed over.

    Raise `ValidationFailed` for a trait or a pole that the model does not have.
    """
    asked = request.additional_provider_specific_params
    version = scores.version_for(context, caller, operations.GUARDS_LITELLM, asked.model)
    trait, poles = _trait(version, asked.trait), list[bool]()
    parameters = "additional_provider_specific_params"
    if trait is None:
        problems = [rules.unknown_trait([parameters, "trait"], asked.trait, owner="version")]
    else:
        poles = _poles(trait, asked.block)
        problems = [rules.problem([parameters, "block"], "unknown_pole", _no_pole(trait))]
    if trait is None or len(poles) != 1:
        raise rules.invalid(problems, thing="The guardrail", known=known_traits(version.snapshot))
    aim = _Aim(version, trait, poles[0], asked.from_)
    reason = _blocked(context, aim, request.texts or (), request_id=request_id)
    return GuardrailAnswer(
        action="BLOCKED" if reason else "NONE",
        blocked_reason=reason,
        x_not_scored=[name for name in _NOT_SCORED if getattr(request, name)],
    )


def _blocked(context: Context, aim: _Aim, texts: Sequence[str], *, request_id: str) -> str | None:
    """Why the first text that is surely towards the pole is blocked; None if there is none."""
    for text in texts:
        if not is_blank(text):
            score = _score(context, aim, text, request_id=request_id)
            if aim.is_met(score):
                return aim.words(score)
    return None


def verdict(
    context: Context,
    caller: Caller,
    handle: str,
    request: WebhookRequest,
    *,
    trait: str,
    side: str,
    least: int,
    request_id: str,
) -> WebhookVerdict:
    """Whether the output is surely towards the pole. One without a visible character does not pass.

    Raise `TraitNotFound` or `InvalidParameter` for a trait or a pole that the model does not have.
    """
    version = scores.version_for(context, caller, operations.GUARDS_WEBHOOK, handle)
    axis = _trait(version, trait)
    if axis is None:
        _refuse_trait(version, trait)
    poles = _poles(axis, side)
    if len(poles) != 1:
        raise InvalidParameter(f"side: {_no_pole(axis)}.", details={"parameter": "side"})
    aim, text = _Aim(version, axis, poles[0], least), text_of(request.output)
    if is_blank(text):
        return _said(False, _EVEN, f"{axis.name}: the output has no text to score.")
    score = _score(context, aim, text, request_id=request_id)
    positive = probability.of_positive(score)
    return _said(aim.is_met(score), positive if aim.positive else 1 - positive, aim.words(score))


def _said(passed: bool, score: float, reason: str) -> WebhookVerdict:
    return WebhookVerdict.model_validate({"pass": passed, "score": score, "reason": reason})


def _score(context: Context, aim: _Aim, text: str, *, request_id: str) -> TraitScore:
    key = aim.trait.key
    return scores.card_of(context, aim.version, text, [key], request_id=request_id).detail[key]


def _trait(version: Served, name: str) -> TraitAxis | None:
    """The trait with this key or name; None if there is none."""
    snapshot = version.snapshot
    return None if card.unknown(snapshot, [name]) else snapshot.traits[card.choose(snapshot, [name])[0]]


def _poles(trait: TraitAxis, name: str) -> list[bool]:
    """The poles of this name, as whether they are the positive one; in another case only if none is written so."""
    labels = ((trait.positive_label, True), (trait.negative_label, False))
    exact = [positive for label, positive in labels if label == name]
    return exact or [positive for label, positive in labels if folded(label) == folded(name)]


def _no_pole(trait: TraitAxis) -> str:
    poles = f"{rules.quoted(trait.positive_label)} and {rules.quoted(trait.negative_label)}"
    return f"name one pole of the trait {trait.key}, which has {poles}"


def _refuse_trait(version: Served, name: str) -> NoReturn:
    known = known_traits(version.snapshot)
    raise TraitNotFound(
        f"The model {version.model.handle} has no trait {rules.quoted(name)}.{rules.known_keys(known)}",
        details={"trait": name[:200], **known},
    )
