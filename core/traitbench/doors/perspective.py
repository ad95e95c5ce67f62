"""Perspective's wire: attributes of a comment as probabilities, and verdicts of moderators as proposed labels.

An attribute is a trait (`traitbench.operations.attributes`). Its probability is that of the positive pole
(`traitbench.doors.probability`). The comment is encoded once for each model, however many attributes are requested.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from traitbench.analysis.condition import read_markup
from traitbench.analysis.languages import language
from traitbench.as_read import TextAsRead, as_read, is_blank
from traitbench.contract import operations
from traitbench.contract.attributes import ATTRIBUTE
from traitbench.contract.perspective import (
    MOST_BYTES,
    PROBABILITY,
    AnalyzeCommentRequest,
    AnalyzeCommentResponse,
    AttributeParameters,
    AttributeProbability,
    AttributeScores,
    CommentContext,
    SpanScore,
    SuggestCommentScoreRequest,
    SuggestCommentScoreResponse,
    SuggestedScores,
    TextEntry,
)
from traitbench.display.sides import side_at
from traitbench.doors import probability
from traitbench.encoders.scheduler import SCHEDULER
from traitbench.errors import BodyTooLarge, CommentRefused, UnresolvedAttribute
from traitbench.names import parse_handle, pin
from traitbench.operations import attributes, proposed, serving
from traitbench.operations.access import Caller
from traitbench.operations.attributes import AttributeTrait
from traitbench.operations.context import Context
from traitbench.scoring import card, resemblance
from traitbench.scoring.card import RawCard, RawScore
from traitbench.scoring.segments import EncodeOnce, sentences

_TAG = re.compile(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8})*")
_LONGEST_TAG = 35
_UNDETERMINED = "und"
"""The tag of BCP 47 for a language that is not known."""
_FORMER_CODES: Mapping[str, str] = {
    **{"iw": "he", "in": "id", "ji": "yi", "jw": "jv", "mo": "ro", "sh": "sr"},
    **{"nb": "no", "nn": "no", "fil": "tl", "cmn": "zh"},
}
"""Codes of languages that others have for what is read under another code."""
_SCORE_TYPES = frozenset({None, "", "SCORE_TYPE_UNSPECIFIED", PROBABILITY})


@dataclass(frozen=True)
class _Comment:
    """A comment as it was sent, and what a person reads of it."""

    sent: str
    seen: TextAsRead


@dataclass(frozen=True)
class _Languages:
    """The languages of a comment: as they were sent, or detected if none were."""

    sent: Sequence[str]
    detected: Sequence[str] | None

    @property
    def effective(self) -> list[str]:
        return [*(self.detected if self.detected is not None else self.sent)]


@dataclass(frozen=True)
class _Scored:
    """The scores of a comment with one version, by trait: of the whole, and of each stretch from begin to end."""

    whole: Mapping[str, RawScore]
    stretches: Sequence[tuple[int, int, Mapping[str, RawScore]]]


def analyze(
    context: Context, caller: Caller, request: AnalyzeCommentRequest, *, request_id: str
) -> AnalyzeCommentResponse:
    """Return the attributes of a comment. Nothing of it is stored, and under `do_not_store` no vector is cached.

    Raise `CommentRefused` for what Perspective's clients know by name, and `UnresolvedAttribute` for an attribute that
    no trait is, or several are.
    """
    comment = _comment(request.comment)
    requested = {name: each or AttributeParameters() for name, each in (request.requested_attributes or {}).items()}
    if not requested:
        raise refused("NO_REQUESTED_ATTRIBUTES", "No attribute is requested. Name one in requestedAttributes.")
    _check(request.context, requested)
    drop = bool(request.drop_unsupported_attributes)
    traits = dict(_traits(context, caller, requested, drop=drop))
    languages = _languages(comment.seen.text, request.languages)
    spans, keep = bool(request.span_annotations), not request.do_not_store
    encoders: dict[str, EncodeOnce] = {}
    scored: dict[tuple[int, int], _Scored] = {}
    scores: dict[str, AttributeScores] = {}
    for name, meant in traits.items():
        served = serving.now(context, meant.handle, [meant.trait])
        if unread := _unread(served, languages):
            if drop:
                continue
            raise _language_not_supported(name, unread, languages, comment)
        version = served.model.id, served.version_no
        if version not in scored:
            scored[version] = _scored(context, served, comment, encoders, spans=spans, keep=keep)
        _send(context, served, meant, scored[version], request_id)
        answer = _attribute(served, meant, scored[version])
        if answer.summary_score.value >= (requested[name].score_threshold or 0.0):
            scores[name] = answer
    return AnalyzeCommentResponse(
        attribute_scores=scores,
        languages=languages.effective,
        detected_languages=None if languages.detected is None else [*languages.detected],
        client_token=request.client_token,
    )


def suggest(context: Context, caller: Caller, request: SuggestCommentScoreRequest) -> SuggestCommentScoreResponse:
    """Keep what a moderator says of a comment as proposed labels, on which nothing trains.

    Scores of spans are not kept. Raise as `analyze` does, `NamespaceForbidden` for a model of a namespace that the key
    does not own, and `FeatureUnavailable` under zero retention; then nothing is kept.
    """
    comment = _comment(request.comment)
    if not request.attribute_scores:
        raise refused("NO_REQUESTED_ATTRIBUTES", "No attribute has a score. Name one in attributeScores.")
    values = {name: _value(name, scores) for name, scores in request.attribute_scores.items()}
    _check(request.context)
    labels = [(attributes.resolve(context, caller, name), value) for name, value in values.items()]
    languages = _languages(comment.seen.text, request.languages)
    # Those that will be refused come first, so that no other is kept without them.
    for meant, value in sorted(labels, key=lambda label: _may_propose(context, caller, label[0])):
        proposed.propose(
            context,
            caller,
            operations.COMMENTS_SUGGESTSCORE,
            meant.handle,
            trait=meant.trait,
            text=comment.seen.text,
            value=value,
            community=request.community_id,
            client_token=request.client_token,
        )
    return SuggestCommentScoreResponse(
        client_token=request.client_token,
        requested_languages=[*languages.sent] or None,
        detected_languages=None if languages.detected is None else [*languages.detected],
    )


def _may_propose(context: Context, caller: Caller, meant: AttributeTrait) -> bool:
    model = serving.now(context, meant.handle, None).model
    return parse_handle(model.handle).namespace in caller.namespaces and not model.zero_data_retention


def _send(context: Context, served: serving.Served, meant: AttributeTrait, scored: _Scored, request_id: str) -> None:
    """Send the score of an attribute to the operator's collector, if there is one."""
    if context.telemetry is not None:
        [trait] = (served.snapshot.traits[each].key for each in card.choose(served.snapshot, [meant.trait]))
        values = RawCard({trait: scored.whole[trait]}).to_wire()
        send = context.telemetry.scoring(served.model.handle, served.snapshot)
        send({**values, "metadata": serving.metadata(served, request_id)})


def refused(kind: str, message: str, **more: Any) -> CommentRefused:
    """Return the error of a name that clients know."""
    return CommentRefused(message, details={"errorType": kind, **more})


# ---- the request -----------------------------------------------------------------------------------------------------


def _comment(entry: TextEntry | None) -> _Comment:
    """Return the comment; raise `CommentRefused` if it is empty or too long."""
    sent = (entry.text if entry else None) or ""
    if (size := len(sent.encode())) > MOST_BYTES:
        raise refused(
            "COMMENT_TOO_LONG",
            f"The comment has {size:,} bytes in UTF-8; at most {MOST_BYTES:,} are allowed. Send a part of it.",
        )
    seen = read_markup(sent) if entry and entry.type == "HTML" else TextAsRead(sent)
    if is_blank(seen.text):
        raise refused("COMMENT_EMPTY", "The comment is empty. Send comment.text with at least one visible character.")
    return _Comment(sent, seen)


def _check(context: CommentContext | None, requested: Mapping[str, AttributeParameters] | None = None) -> None:
    if context and context.entries is not None and context.article_and_parent_comment is not None:
        raise refused(
            "INVALID_REQUEST", "The context has entries and articleAndParentComment. Send only one of the two."
        )
    for name, parameters in (requested or {}).items():
        if parameters.score_type not in _SCORE_TYPES:
            raise refused(
                "INVALID_REQUEST",
                f"The attribute {_shown(name)} has scores of the type {PROBABILITY} only. Request it.",
            )


def _value(name: str, scores: SuggestedScores | None) -> float:
    summary = scores.summary_score if scores else None
    if summary is None or summary.value is None or summary.type not in _SCORE_TYPES:
        raise refused(
            "INVALID_REQUEST",
            f"The attribute {_shown(name)} needs summaryScore.value, a {PROBABILITY} from 0 to 1.",
        )
    return summary.value


def _languages(seen: str, sent: Sequence[str] | None) -> _Languages:
    """Return the languages of a comment; raise `CommentRefused` if none is named and there is nothing to detect."""
    if sent:
        for index, tag in enumerate(sent):
            if len(tag) > _LONGEST_TAG or not _TAG.fullmatch(tag):
                raise refused(
                    "INVALID_REQUEST", f"languages[{index}] is no code of a language. Use codes such as en or pt-BR."
                )
        return _Languages(sent, None)
    if not any(map(str.isalpha, seen)):
        raise refused(
            "LANGUAGE_DETECTION_FAILED",
            "The comment has no letter, so its language cannot be detected. Name it in languages.",
        )
    return _Languages((), _detected(seen))


def _detected(seen: str) -> list[str]:
    return [language(seen) or _UNDETERMINED]


def _traits(
    context: Context, caller: Caller, requested: Mapping[str, AttributeParameters], *, drop: bool
) -> Iterator[tuple[str, AttributeTrait]]:
    """Yield the trait of each attribute; without those that there is no trait for, if these may be dropped."""
    for name in requested:
        try:
            yield name, attributes.resolve(context, caller, name)
        except UnresolvedAttribute as error:
            # An alias that leads nowhere and two traits of one name are faults that somebody has to correct.
            if not (drop and error.details["reason"] == "unknown"):
                raise


def _unread(served: serving.Served, languages: _Languages) -> list[str]:
    """Return the languages that the version does not read."""
    known = resemblance.languages(served.snapshot.encoder.id, served.snapshot.resemblance)
    if known is None:
        return []
    return [tag for tag in languages.effective if _primary(tag) not in known and _primary(tag) != _UNDETERMINED]


def _primary(tag: str) -> str:
    """Return the code of the language in a tag, such as `pt` of `pt-BR`."""
    code = re.split("[-_]", tag, maxsplit=1)[0].lower()
    return _FORMER_CODES.get(code, code)


def _language_not_supported(
    name: str, unread: Sequence[str], languages: _Languages, comment: _Comment
) -> CommentRefused:
    detected = languages.detected if languages.detected is not None else _detected(comment.seen.text)
    return refused(
        "LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE",
        f"Attribute {_shown(name)} does not support request languages: {', '.join(unread)}",
        languageNotSupportedByAttributeError={
            "attribute": name,
            "requestedLanguages": [*languages.sent],
            "detectedLanguages": [*detected],
        },
    )


def _shown(name: str) -> str:
    return name if ATTRIBUTE.fullmatch(name) else "(name)"


# ---- the scores ------------------------------------------------------------------------------------------------------


def _scored(
    context: Context,
    served: serving.Served,
    comment: _Comment,
    encoders: dict[str, EncodeOnce],
    *,
    spans: bool,
    keep: bool,
) -> _Scored:
    """Return the scores of a comment on all traits of a version: as a whole and, with `spans`, by sentence.

    `encoders` has what encoded the comment for other models, by the digest of the encoder.
    """
    snapshot = served.snapshot
    encoding = serving.encoding(context, served, keep=keep)
    try:
        text = serving.fitted(context, encoding, comment.seen.text, snapshot.reading)
    except BodyTooLarge as error:
        raise refused("COMMENT_TOO_LONG", error.message) from None
    parts = sentences(text) if spans else ()
    encode = encoders.setdefault(snapshot.encoder.digest, EncodeOnce(encoding.encode))
    with SCHEDULER.interactive():
        placed = card.project(snapshot, encode, [text, *(text[part.start : part.end] for part in parts)])
    whole, *cards = (card.read(snapshot, card.choose(snapshot, None), each).traits for each in placed)
    if not spans:
        # Perspective has a span of the whole comment then, and some clients read nothing else.
        return _Scored(whole, [(0, _units(comment.sent, len(comment.sent)), whole)])
    read = as_read(comment.seen.text, snapshot.reading)
    ends = [[comment.seen.origin(read.origin(end)) for end in (part.start, part.end)] for part in parts]
    return _Scored(
        whole,
        [
            (_units(comment.sent, begin), _units(comment.sent, end), each)
            for (begin, end), each in zip(ends, cards, strict=True)
        ],
    )


def _units(text: str, position: int) -> int:
    """Return the number of UTF-16 units before a position in code points."""
    return len(text[:position].encode("utf-16-le")) // 2


def _attribute(served: serving.Served, meant: AttributeTrait, scored: _Scored) -> AttributeScores:
    trait = served.snapshot.traits[card.choose(served.snapshot, [meant.trait])[0]]
    score = scored.whole[trait.key]
    summary = _probability(score)
    side = side_at(
        score.polarity, score.confidence, positive_label=trait.positive_label, negative_label=trait.negative_label
    )
    spans = [
        SpanScore(begin=begin, end=end, score=_probability(part[trait.key])) for begin, end, part in scored.stretches
    ]
    return AttributeScores(
        summary_score=summary,
        span_scores=spans,
        x_model=pin(served.model.handle, f"v{served.version_no}"),
        x_trait=trait.key,
        x_side=side.pole or None,
        x_confidence=score.confidence,
        x_reason=score.confidence_reason,
    )


def _probability(score: RawScore) -> AttributeProbability:
    return AttributeProbability(value=probability.at(score.polarity, score.confidence), type=PROBABILITY)
