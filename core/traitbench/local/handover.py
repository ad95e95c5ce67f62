"""The way of vectors from the workbench to the service, if both run in one process.

A check or a preview encodes the texts of a draft. The training that follows uses these vectors, so no text is encoded
twice. `traitbench_app.process.asgi` connects the two; a workbench of a remote service keeps its vectors to itself.
"""

from collections.abc import Callable, Mapping

from traitbench.encoders import Vectors

VectorsById = Mapping[int, tuple[str, Vectors]]
"""By sample id: the hash of the text and its vector (d,)."""

Keep = Callable[[str, VectorsById], object]
"""Takes an encoder's digest and the vectors that it made."""

_connected: list[Keep] = []


def connect(keep: Keep | None) -> None:
    """Hand all vectors to `keep` from now on; to nothing if it is None."""
    _connected[:] = [] if keep is None else [keep]


def is_connected() -> bool:
    """Whether the service of this process takes the vectors."""
    return bool(_connected)


def hand_over(encoder_digest: str, vectors: VectorsById) -> None:
    """Hand over the vectors of samples, by sample id with the hash of the text."""
    for keep in _connected:
        keep(encoder_digest, vectors)
