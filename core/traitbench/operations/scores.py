"""Score one text, or compare two, with the active version or the one that the handle is pinned to."""

from collections.abc import Sequence
from typing import Any

from pydantic_core import to_json

from traitbench.contract import operations
from traitbench.contract.operation import Operation
from traitbench.contract.scores import Card, CompareRequest, Comparison, ScoreRequest
from traitbench.encoders.scheduler import SCHEDULER
from traitbench.operations import access, explanations, feedback, rules, serving
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.scoring import card
from traitbench.scoring.card import certain
from traitbench.store.database import reading


def score(context: Context, caller: Caller, handle: str, body: ScoreRequest, *, request_id: str) -> Card:
    """The card of a text. The text is not stored unless feedback makes it a sample.

    The sample belongs to the model, whichever version the handle is pinned to.
    """
    operation = operations.SCORES_SCORE if body.feedback is None else operations.SCORES_FEEDBACK
    name = str(access.permit(context, caller, operation, handle))
    served, verdicts = _asked(context, handle, body)
    # Last of all: a request that fails anyway must not make the service open a connection. If both apply, the caller
    # gets the 409 of the model and not the 422 of the address.
    text = serving.text_of(context, body.content)
    scored = card_of(context, served, text, body.traits, request_id=request_id)
    if body.explain:
        explanation = explanations.explained(
            context, caller, name, served, text, scored.scores, quote=text != body.content
        )
        scored = scored.model_copy(update={"explanation": explanation})
    if not verdicts:
        return scored
    source = serving.source_of(body.content)
    ids = feedback.store_feedback(
        context, name, text, verdicts, scores=scored.scores, source_url=source, by=caller.label
    )
    return scored.model_copy(update={"metadata": scored.metadata.model_copy(update={"sample_ids": ids})})


def written(context: Context, caller: Caller, handle: str, body: ScoreRequest, *, request_id: str) -> bytes:
    """The card of `score` as JSON bytes. A `Card` is built only if an explanation or feedback was requested."""
    if body.explain or body.feedback is not None:
        return score(context, caller, handle, body, request_id=request_id).model_dump_json().encode()
    access.permit(context, caller, operations.SCORES_SCORE, handle)
    served, _ = _asked(context, handle, body)
    text = serving.text_of(context, body.content)
    return to_json(_values(context, served, text, body.traits, request_id=request_id))


def version_for(context: Context, caller: Caller, operation: Operation[Any], handle: str) -> serving.Served:
    """The version that a door scores with, if the caller may use its model."""
    access.permit(context, caller, operation, handle)
    version = serving.now(context, handle, None)
    rules.require("use", version.model)
    return version


def compare(context: Context, caller: Caller, handle: str, body: CompareRequest, *, request_id: str) -> Comparison:
    """The cards of two texts with one version, and the changes from the first to the second; nothing is stored."""
    access.permit(context, caller, operations.SCORES_COMPARE, handle)
    served = serving.now(context, handle, body.traits)
    rules.require("use", served.model)
    texts = [serving.text_of(context, content) for content in (body.a, body.b)]
    a, b = (card_of(context, served, text, body.traits, request_id=request_id) for text in texts)
    return Comparison.of(a, b, certain(served.snapshot, a.detail, b.detail))


def card_of(
    context: Context, served: serving.Served, text: str, traits: Sequence[str] | None, *, request_id: str
) -> Card:
    """The card of a text, which is scored as it is, also if it is an address."""
    return Card.model_validate(_values(context, served, text, traits, request_id=request_id))


def _values(
    context: Context, served: serving.Served, text: str, traits: Sequence[str] | None, *, request_id: str
) -> dict[str, Any]:
    encoding, snapshot = serving.encoding(context, served), served.snapshot
    text = serving.fitted(context, encoding, text, snapshot.reading)
    with SCHEDULER.interactive():
        [placed] = card.project(snapshot, encoding.encode, [text])
        tokens = encoding.tokens(text)
    metadata = serving.metadata(served, request_id)
    values = serving.card_values(snapshot, card.choose(snapshot, traits), placed, tokens, metadata)
    if context.telemetry is not None:
        context.telemetry.scoring(served.model.handle, snapshot)(values)
    return values


def _asked(
    context: Context, handle: str, body: ScoreRequest
) -> tuple[serving.Served, list[feedback.FeedbackItem] | None]:
    """The version that scores, and the parsed feedback, if there is any."""
    if body.feedback is None:
        served = serving.now(context, handle, body.traits)
        rules.require("use", served.model)
        return served, None
    with reading(context.engine) as connection:
        served = serving.find(context, connection, handle, None)
        verdicts, errors = feedback.understood(connection, served.model, body.feedback)
        errors = [
            *serving.unknown_traits(served.snapshot, body.traits or []),
            *feedback.length_problems(body.content),
            *errors,
        ]
        if errors:
            raise rules.invalid(errors, thing="The score", known=serving.known_traits(served.snapshot))
        rules.require("use", served.model)
    feedback.check_possible(served.model)
    return served, verdicts
