"""What one score and a batch share: installed encoders, the version that scores, the texts, the values of a card.

The version is the active one, or the one that a handle is pinned to.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import Connection

from traitbench.as_read import FIRST, as_read
from traitbench.contract import operations
from traitbench.contract.texts import Extracted, ExtractRequest, is_url
from traitbench.encoders import FULL, Encoder, EncoderUnavailable
from traitbench.encoders.registry import NAMES, load_encoder
from traitbench.errors import BodyTooLarge, FeatureUnavailable, ModelNotTrained, Unavailable
from traitbench.names import ACTIVE, parse_pinned_handle
from traitbench.operations import access, rules
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.operations.vector_cache import CachedEncoding
from traitbench.operations.versions import resolve
from traitbench.scoring import card, segments
from traitbench.scoring.snapshot import Snapshot
from traitbench.store import models
from traitbench.store.database import reading
from traitbench.store.models import ModelRow
from traitbench.store.text_vectors import VectorKey

_MAX_CACHED_TRAITS = 64

# Snapshots in a mode, derived once and shared by all batches in that mode.
_VIEWS: WeakKeyDictionary[Snapshot, dict[str, Snapshot]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Served:
    """A version and its model; `since` is the mark of the vector cache from before they were read."""

    model: ModelRow
    version_no: int
    snapshot: Snapshot
    since: int


def now(context: Context, handle: str, traits: list[str] | None) -> Served:
    """The result of `find`, read in its own transaction and cached until something is written."""

    def read() -> Served:
        with reading(context.engine) as connection:
            return find(context, connection, handle, traits)

    # Callers choose these names, and they would be part of the key.
    if traits is not None and len(traits) > _MAX_CACHED_TRAITS:
        return read()
    return context.cached(("served", handle, None if traits is None else tuple(traits)), read)


def find(context: Context, connection: Connection, handle: str, traits: list[str] | None) -> Served:
    """The version that a handle refers to; its traits are checked.

    Errors come in the contract's order: the model (404), the version (404), the traits (422). The caller checks the
    state (409).
    """
    name, pinned = parse_pinned_handle(handle).handle, parse_pinned_handle(handle).version
    since = context.vectors.mark()
    model = access.require_model(models.find(connection, str(name)), str(name))
    if pinned is None and model.active_version_id is None:
        rules.require("use", model)
        raise rules.refusal(ModelNotTrained, model)
    version = resolve(connection, model, pinned or ACTIVE)
    snapshot = context.snapshots.get(connection, version.id)
    check_traits(snapshot, traits)
    return Served(model, version.version_no, snapshot, since)


def card_values(
    snapshot: Snapshot, chosen: Sequence[int], placed: card.Placed, tokens: int, metadata: Mapping[str, Any]
) -> dict[str, Any]:
    """The values of a card (`contract.scores.Card`). `placed` is the text on all traits of the snapshot."""
    return {**card.read(snapshot, chosen, placed).to_wire(), "input_tokens": tokens, "metadata": metadata}


def metadata(served: Served, request_id: str) -> dict[str, Any]:
    """The metadata of a card."""
    return {"request_id": request_id, "version_id": f"v{served.version_no}", "sample_ids": []}


def fitted(context: Context, encoding: CachedEncoding, content: str, reading: int = FIRST) -> str:
    """The text to encode, in a reading.

    Raises `BodyTooLarge` before anything expensive when it is too large.
    """
    text = as_read(content, reading).text
    try:
        segments.check(text, most_words=context.settings.max_text_words, count_tokens=encoding.tokens)
    except segments.TextTooLarge as error:
        raise BodyTooLarge(str(error), details=error.details) from None
    return text


def encoding(context: Context, served: Served, *, keep: bool = True) -> CachedEncoding:
    """The encoder of the version with the vector cache, for an interactive call; unless `keep`, without the cache."""
    encoder = of_version(context, served.snapshot)
    vector_key = vector_key_of(context, served, encoder, FULL) if keep and context.vectors.limit else None
    return CachedEncoding(encoder, context.vectors, vector_key, mode=FULL, since=served.since)


def vector_key_of(context: Context, served: Served, encoder: Encoder, mode: str) -> VectorKey | None:
    """The key under which vectors may be cached; None under zero retention."""
    if served.model.zero_data_retention:
        # Another service may have switched it on, and cannot notify this one.
        context.vectors.forget(served.model.id)
        return None
    return VectorKey(served.model.id, encoder.digest, mode)


def in_mode(snapshot: Snapshot, mode: str) -> Snapshot:
    """The version in a mode; raise `FeatureUnavailable` if it was not trained for that mode."""
    if mode == FULL:
        return snapshot
    if mode not in snapshot.modes:
        raise FeatureUnavailable(
            f"The version cannot score in the mode {mode}; its modes: {', '.join((FULL, *snapshot.modes))}. Use one of"
            " these, or train again with an encoder that has the mode.",
            details={"field": "mode", "mode": mode, "modes": [FULL, *snapshot.modes]},
        )
    views = _VIEWS.setdefault(snapshot, {})
    if mode not in views:
        views[mode] = snapshot.in_mode(mode)
    return views[mode]


def check_traits(snapshot: Snapshot, names: list[str] | None) -> None:
    """Raise `ValidationFailed` that names every trait that the version does not have."""
    if errors := unknown_traits(snapshot, names or []):
        raise rules.invalid(errors, thing="The requested traits", known=known_traits(snapshot))


def unknown_traits(snapshot: Snapshot, names: list[str]) -> list[dict[str, Any]]:
    """The problems of the keys and names that the version does not have."""
    return [
        rules.unknown_trait(["traits", position], names[position], owner="version")
        for position in card.unknown(snapshot, names)
    ]


def trait_key(snapshot: Snapshot, name: str) -> str:
    """The key of the trait of a version with this key or name."""
    (index,) = card.choose(snapshot, [name])
    return snapshot.traits[index].key


def known_traits(snapshot: Snapshot) -> dict[str, Any]:
    """The traits of a version as details of an error."""
    return rules.known_traits([(trait.key, trait.name) for trait in snapshot.traits])


LONGEST_SOURCE = 2_000


def extract(context: Context, caller: Caller, body: ExtractRequest) -> Extracted:
    """Fetch an address and extract its text; any key may do this."""
    access.check_scope(caller, operations.EXTRACT)
    page = context.extract(body.url)
    return Extracted(url=page.url, content=page.content, content_sha256=page.content_sha256, fetched_at=page.fetched_at)


def text_of(context: Context, content: str) -> str:
    """The content itself or, if it is exactly one http or https address, the text found there."""
    return context.extract(content).content if is_url(content) else content


def source_of(content: str) -> str | None:
    """The source URL of a sample made from the content; None if the content is the text itself."""
    address = content.strip()
    return address if is_url(content) and len(address) <= LONGEST_SOURCE else None


def of_version(context: Context, snapshot: Snapshot) -> Encoder:
    """The encoder that a version was trained with; raise `FeatureUnavailable` if it is not installed."""
    encoder = installed(context, snapshot.encoder.digest)
    if encoder is None:
        raise FeatureUnavailable(
            f"The version was trained with the encoder {snapshot.encoder.id} ({snapshot.encoder.digest[:12]}), which is"
            f" not installed here; this service uses {context.encoder.id}. Set TRAITBENCH_ENCODER to it (for a"
            " folder: with unchanged files), or train again.",
            details={"encoder": snapshot.encoder.id, "installed": context.encoder.id},
        )
    return encoder


def installed(context: Context, digest: str) -> Encoder | None:
    """The encoder with this digest; None if it is not installed."""
    if digest == context.encoder.digest:
        return context.encoder
    # The cheapest first: the better encoders are made of them, so that no more is loaded than is needed.
    for name in reversed(NAMES):
        try:
            encoder = load_encoder(name, cache=context.settings.cache)
        except EncoderUnavailable:
            continue
        except (OSError, MemoryError) as error:
            raise _not_loaded(name, error) from error
        if encoder.digest == digest:
            return encoder
    return None


def _not_loaded(name: str, error: Exception) -> Unavailable:
    """The error for an encoder that could not be loaded. It is not cached: the next call tries again."""
    return Unavailable(
        f"The encoder {name} could not be loaded ({type(error).__name__}). Free memory or file descriptors on the"
        " service's machine, then try again."
    )
