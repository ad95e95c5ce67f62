"""The installed encoders. A version is scored with the encoder it was trained with, whichever is configured now."""

from traitbench.encoders import Encoder, EncoderUnavailable
from traitbench.encoders.registry import NAMES, load_encoder
from traitbench.errors import FeatureUnavailable, Unavailable
from traitbench.operations.context import Context
from traitbench.scoring.snapshot import Snapshot


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
