"""The encoders installed here: a version is scored with the one it was trained with, whichever trains now."""

from traitbench.encoders import Encoder, EncoderUnavailable
from traitbench.encoders.registry import EARLIER, NAMES, load_encoder
from traitbench.errors import FeatureUnavailable, Unavailable
from traitbench.lifecycle.bench import Bench
from traitbench.scoring.snapshot import Snapshot


def of_version(bench: Bench, snapshot: Snapshot) -> Encoder:
    """The encoder that a version was trained with: no other may score with it."""
    encoder = installed(bench, snapshot.encoder.digest)
    if encoder is None:
        raise FeatureUnavailable(
            f"The version was trained with the encoder {snapshot.encoder.id} ({snapshot.encoder.digest[:12]}), which is"
            f" not installed here; what serves is {bench.encoder.id}. Let TRAITBENCH_ENCODER name it (a folder:"
            " with the files as they were), or train again.",
            details={"encoder": snapshot.encoder.id, "installed": bench.encoder.id},
        )
    return encoder


def installed(bench: Bench, digest: str) -> Encoder | None:
    """The encoder of a digest; None when it is not installed."""
    if digest == bench.encoder.digest:
        return bench.encoder
    for name in (*NAMES, *EARLIER):
        try:
            encoder = load_encoder(name, cache=bench.settings.cache)
        except EncoderUnavailable:
            continue
        except (OSError, MemoryError) as error:
            # Not kept: the next call loads it again.
            raise Unavailable(
                f"The encoder {name} could not be loaded ({type(error).__name__}). Free memory or file descriptors on"
                " the service's machine, then try again."
            ) from error
        if encoder.digest == digest:
            return encoder
    return None
