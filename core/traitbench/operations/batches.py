"""Score many texts with one version: one line per text, in order. Threads score the next texts while lines are sent.

A batch keeps its version, its traits and its mode to the end. Whether vectors may be stored is checked again at every
write. `open_batch` raises errors of the whole batch; an error of one text is reported on its line and does not affect
the others. Interactive calls are encoded before batches (`serving.scheduler`).
"""

import logging
import traceback
from collections.abc import Callable, Sequence
from threading import BoundedSemaphore

from pydantic_core import to_json

from traitbench.as_read import as_read, is_blank
from traitbench.contract import operations
from traitbench.contract.batches import BatchRequest, LineError
from traitbench.contract.texts import is_url
from traitbench.encoders.scheduler import SCHEDULER, WIDTH
from traitbench.errors import InternalError, TraitbenchError, ValidationFailed
from traitbench.operations import access, rules, serving
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.operations.encoding import BatchEncoding
from traitbench.operations.pipeline import Pipeline
from traitbench.scoring import card, segments
from traitbench.scoring.segments import count_words

_FETCHERS = 2
_ALONE = 10**12
# Shared by all batches, so that an interactive call always finds a free fetcher (`traitbench.extract`).
_fetching = BoundedSemaphore(4)

_log = logging.getLogger(__name__)

Score = Callable[[Sequence[str]], list[bytes]]


def open_batch(
    context: Context, caller: Caller, handle: str, body: BatchRequest, *, request_id: str
) -> Pipeline[bytes]:
    """Prepare a batch: return the pipeline of its results in JSON, not yet started.

    Raise the errors that a score of a valid text would raise.
    """
    access.permit(context, caller, operations.SCORES_BATCH, handle)
    # Looked up once. If every text looked it up, one batch could mix two versions. The price: after the model is
    # archived, the batch still sends its cards.
    served = serving.now(context, handle, body.traits)
    rules.require("use", served.model)
    encoder = serving.of_version(context, served.snapshot)
    snapshot = serving.in_mode(served.snapshot, body.mode)
    chosen, metadata = card.choose(snapshot, body.traits), serving.metadata(served, request_id)
    encoding = BatchEncoding(context, encoder, served, mode=body.mode)

    # The threads of a batch have no trace of their own.
    telemetry = context.telemetry
    scored = None if telemetry is None else telemetry.scoring(served.model.handle, snapshot)

    deep = snapshot.max_depth > 1 and any(trait.aggregation != "none" for trait in snapshot.traits)

    def score(contents: Sequence[str]) -> list[bytes]:
        texts = [serving.fitted(context, encoding, content, snapshot.reading) for content in contents]
        if deep:
            rows, tokens = card.project(snapshot, encoding.encode, texts), [encoding.tokens(text) for text in texts]
        else:
            vectors, tokens = encoding.whole(texts)
            rows = card.project_whole(snapshot, texts, vectors)
        pairs = zip(rows, tokens, strict=True)
        cards = [serving.card_values(snapshot, chosen, row, count, metadata) for row, count in pairs]
        if scored is not None:
            for each in cards:
                scored(each)
        return [to_json(each) for each in cards]

    return _pipeline(context, body, score, encoding, snapshot.reading)


def line(index: int, result: bytes) -> bytes:
    """A line of a batch: a result, which is a JSON object, with its index in front."""
    return b'{"index":%d,%b\n' % (index, result[1:])


def _pipeline(
    context: Context, body: BatchRequest, score: Score, encoding: BatchEncoding, reading: int
) -> Pipeline[bytes]:
    numbers = {content: number for number, content in enumerate(dict.fromkeys(body.contents))}
    distinct = list(numbers)
    ahead = [ahead_of(context, content, reading) for content in distinct]

    def is_fetched(content: str) -> bool:
        return body.fetch and is_url(content)

    def text_of(content: str) -> str:
        return _fetched(context, content) if is_fetched(content) else content

    def make(several: Sequence[int]) -> list[bytes]:
        contents = [distinct[number] for number in several]
        encoding.look_ahead(ahead, several[0])
        # If one text fails, all are scored one by one, so that each has an error of its own.
        together = [] if any(map(is_fetched, contents)) else _together(score, contents)
        return together or [_single(score, content, text_of) for content in contents]

    addresses = [number for number, content in enumerate(distinct) if is_fetched(content)]
    texts = [number for number, content in enumerate(distinct) if not is_fetched(content)]
    return Pipeline(
        [numbers[content] for content in body.contents],
        [(texts, WIDTH), (addresses, _FETCHERS)],
        make,
        # An address is fetched on its own: it takes long, although it costs hardly any CPU time.
        weights=[_ALONE if is_fetched(content) else len(content) + 1 for content in distinct],
        handful_s=SCHEDULER.slot_seconds,
        live=context.batches,
        finish=encoding.finish,
    )


def ahead_of(context: Context, content: str, reading: int) -> str:
    """The text to encode, for looking up its vectors in advance; empty if it has too many words to be scored."""
    text, most_words = as_read(content, reading).text, context.settings.max_text_words
    return text if segments.is_small(text, most_words=most_words) or count_words(text) <= most_words else ""


def _together(score: Score, texts: Sequence[str]) -> list[bytes]:
    """The lines of several texts; an empty list if one of them is or may be invalid."""
    try:
        return [] if any(map(_is_odd, texts)) else score(texts)
    except Exception:
        return []


def _is_odd(text: str) -> bool:
    return is_blank(text) or "\x00" in text or (not text.isascii() and not _is_unicode(text))


def _single(score: Score, content: str, text_of: Callable[[str], str]) -> bytes:
    """The line of one text, or the line of its error."""
    try:
        check_content(content)
        [line] = score([text_of(content)])
        return line
    except Exception as error:
        known = error_of(error)
        return to_json({"error": LineError(code=known.code, message=known.message, details=known.details)})


def error_of(error: Exception) -> TraitbenchError:
    """The error that is reported for one text; the place of an unexpected one is logged."""
    if isinstance(error, TraitbenchError):
        return error
    # Never the message, which may hold content.
    frame = traceback.extract_tb(error.__traceback__)[-1]
    _log.error("a text could not be scored: %s at %s:%s", type(error).__qualname__, frame.filename, frame.lineno)
    return InternalError("The service failed at this text; its log has the reason.")


def check_content(content: str) -> None:
    """Raise the error that a single score of this content would raise."""
    if not content:
        raise _refused("string_too_short", "String should have at least 1 character")
    if "\x00" in content:
        raise _refused("string_nul", "The character U+0000 is not allowed")
    if is_blank(content):
        raise _refused("string_pattern_mismatch", "Input should not be blank")
    if not _is_unicode(content):
        raise _refused("string_unicode", "A lone surrogate is not a character")


def _refused(kind: str, message: str) -> ValidationFailed:
    return ValidationFailed(f"content: {message}.", details={"errors": [rules.problem(["content"], kind, message)]})


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _fetched(context: Context, content: str) -> str:
    with _fetching:
        return serving.text_of(context, content)
