"""The installed encoders. A version is scored with the encoder it was trained with, whichever is configured now."""

from traitbench.encoders import Encoder, EncoderUnavailable
from traitbench.encoders.registry import EARLIER, NAMES, load_encoder
from traitbench.errors import FeatureUnavailable, Unavailable
from traitbench.lifecycle.bench import Bench
from traitbench.scoring.snapshot import Snapshot


def of_version(bench: Bench, snapshot: Snapshot) -> Encoder:
    """The encoder that a version was trained with; raise `FeatureUnavailable` if it is not installed."""
    encoder = installed(bench, snapshot.encoder.digest)
    if encoder is None:
        raise FeatureUnavailable(
            f"The version was trained with the encoder {snapshot.encoder.id} ({snapshot.encoder.digest[:12]}), which is"
            f" not installed here; this service uses {bench.encoder.id}. Set TRAITBENCH_ENCODER to it (for a"
            " folder: with unchanged files), or train again.",
            details={"encoder": snapshot.encoder.id, "installed": bench.encoder.id},
        )
    return encoder


def installed(bench: Bench, digest: str) -> Encoder | None:
    """The encoder with this digest; None if it is not installed."""
    if digest == bench.encoder.digest:
        return bench.encoder
    for name in (*NAMES, *EARLIER):
        try:
            encoder = load_encoder(name, cache=bench.settings.cache)
        except EncoderUnavailable:
            continue
        except (OSError, MemoryError) as error:
            # Not cached: the next call tries again.
            raise Unavailable(
                f"The encoder {name} could not be loaded ({type(error).__name__}). Free memory or file descriptors on"
                " the service's machine, then try again."
            ) from error
        if encoder.digest == digest:
            return encoder
    return None
