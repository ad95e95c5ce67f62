"""A custom transformer exported to ONNX: its vector of a text, joined with the static mean and the style block.

One text runs at a time, as with MiniLM. Nothing is padded, so a dynamically quantized graph gives a text the same
vector in any batch. A text longer than the model's window is split into equal windows, averaged by their tokens. If the
graph has an output for the sentence, that is used. Otherwise the vectors of the tokens are pooled as the configuration
says, by default with the mean. The static mean is added if wordllama is installed, and the digest includes it.
Standardising the transformer's vector did not help.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from traitbench.encoders import FULL, EncoderUnavailable, Part, Vectors, check_mode, counted_apart, folder, tokens
from traitbench.encoders.runtime import InferenceSession, SessionOptions
from traitbench.encoders.side_by_side import side_by_side
from traitbench.encoders.static import Static
from traitbench.encoders.style import COUNT, StyleBlock
from traitbench.encoders.table import WORDLLAMA
from traitbench.encoders.vectors import in_slices, join
from traitbench.extras import advice
from traitbench.scoring.unit import unit

RECIPE = "onnx-1"
WIDEST = 8_192
WEIGHTS = (1.0, 0.4, 0.2)
WEIGHTS_WITHOUT_TABLE = (1.0, 0.3)

_WINDOW, _DEFAULT_WINDOW, _LEAST = 512, 128, 8
_KINDS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_REAL = ("tensor(float)", "tensor(float16)", "tensor(double)")
_FILLED = {"input_ids": None, "attention_mask": 1, "token_type_ids": 0}
_OF_SENTENCE = ("sentence_embedding", "sentence_embeddings", "text_embeds", "embeddings", "pooled")
_OF_TOKENS = ("last_hidden_state", "token_embeddings")
_AFTER_TRANSFORMER = {"Transformer", "Pooling", "Normalize"}
_SHIFTED = ("roberta", "camembert", "mpnet", "xlm-roberta", "longformer")

Pooling = Literal["sentence", "mean", "cls", "last"]
_POOLINGS: Mapping[str, Pooling] = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean",
    "pooling_mode_cls_token": "cls",
    "pooling_mode_lasttoken": "last",
    "mean": "mean",
    "mean_sqrt_len_tokens": "mean",
    "cls": "cls",
    "lasttoken": "last",
}


class Transformer:
    """A graph with its tokenizer: from texts to vectors."""

    def __init__(self, source: folder.Folder, session: InferenceSession) -> None:
        self.tokenizer = tokens.plain(source.contents["tokenizer.json"])
        self._session, self._path = session, source.path
        self._inputs = _inputs(source, session)
        self._output, self._pooling = _output(source, session)
        self._before, self._after = _marks(self.tokenizer)
        self._window = max(1, _longest(source) - len(self._before) - len(self._after))
        self._prompt = _prompt(source)
        self.width = self._measured()

    def vectors(self, texts: Sequence[str]) -> tuple[NDArray[np.float64], list[int]]:
        """(n_texts, width) unit rows, zeros for a text without a token; and the number of tokens of each text."""
        rows = np.zeros((len(texts), self.width))
        tokenized = [self.tokens(text) for text in texts]
        for row, text, ids in zip(rows, texts, tokenized, strict=True):
            if ids:
                row[:] = self._vector(self.tokens(self._prompt + text) if self._prompt else ids)
        return unit(rows), list(map(len, tokenized))

    def tokens(self, text: str) -> list[int]:
        """The token ids of the text, without special tokens."""
        [encoded] = self.tokenizer.encode_batch_fast([text.strip()], add_special_tokens=False)
        ids: list[int] = encoded.ids
        return ids

    def _vector(self, ids: Sequence[int]) -> NDArray[np.float64]:
        windows = list(tokens.windows(ids, self._window))
        vectors = [self._run([*self._before, *window, *self._after]) for window in windows]
        mean: NDArray[np.float64] = np.average(vectors, axis=0, weights=[len(window) for window in windows])
        return mean

    def _run(self, ids: Sequence[int]) -> NDArray[np.float64]:
        inputs: dict[str, NDArray[np.int64] | NDArray[np.int32]] = {
            name: np.array([ids if fill is None else [fill] * len(ids)], kind) for name, kind, fill in self._inputs
        }
        output: NDArray[np.float64] = self._session.run([self._output], inputs)[0][0].astype(np.float64)
        if self._pooling == "mean":
            output = np.add.reduce(output, axis=0) / len(output)
        elif self._pooling != "sentence":
            output = output[0 if self._pooling == "cls" else -1]
        return output

    def _measured(self) -> int:
        """The width of a vector, measured on a text that ends in the tokenizer's last token."""
        try:
            last = max(self.tokenizer.get_vocab().values(), default=0)
            vector = self._vector([*self.tokens("a good day"), last])
        except Exception as error:  # a graph can fail in any way
            raise EncoderUnavailable(
                f"The graph in {self._path} fails on a test text: {_first_line(error)} Export it with its own"
                " tokenizer, and with a free batch size and length."
            ) from None
        if vector.ndim != 1 or not 1 <= len(vector) <= WIDEST:
            raise EncoderUnavailable(
                f"The output {self._output} of the graph in {self._path} gives the shape {vector.shape} for a text."
                f" It must give 1 to {WIDEST} numbers. Export the model for feature extraction."
            )
        if not np.isfinite(vector).all():
            raise EncoderUnavailable(
                f"The graph in {self._path} gives numbers that are not finite. Export the model again in float32."
            )
        return len(vector)


class OnnxFolder:
    """The encoder; see the module."""

    def __init__(self, source: folder.Folder, transformer: Transformer, static: Static | None) -> None:
        self._transformer, self._static, self._style = transformer, static, StyleBlock()
        self._weights = WEIGHTS if static else WEIGHTS_WITHOUT_TABLE
        width = transformer.width
        self.dimension = width + COUNT + (static.table.width if static else 0)
        self.modes: Mapping[str, slice] = MappingProxyType({"static": slice(width, self.dimension)} if static else {})
        static_source = WORDLLAMA if static else ()
        self.digest = source.digest(RECIPE, str(self._weights), self._style.digest, *static_source)
        self.id = f"{RECIPE}-{_kind(source)}-{width}-{self.digest[:8]}"

    def encode(self, texts: Sequence[str], *, mode: str = FULL) -> Vectors:
        """(n_texts, dimension) unit rows; 323 columns in mode static."""
        check_mode(self, mode)
        if mode == FULL:
            return self.counted(texts)[0]
        return in_slices(texts, self._without_transformer, self.dimension - self._transformer.width)

    def counted(self, texts: Sequence[str], *, mode: str = FULL) -> tuple[Vectors, list[int]]:
        """The result of `encode`, and the number of tokens of each text.

        To count them, the static mode must tokenize a second time.
        """
        check_mode(self, mode)
        if mode == FULL:
            return side_by_side(texts, self._whole, self.dimension)
        return counted_apart(self, texts, mode=mode)

    def count_tokens(self, text: str) -> int:
        """The number of the transformer's tokens, without special tokens."""
        return len(self._transformer.tokens(text))

    def words(self) -> Sequence[str]:
        """The words of the tokenizer, see `tokens.words`."""
        return tokens.words(self._transformer.tokenizer)

    def _whole(self, texts: Sequence[str]) -> tuple[Vectors, list[int]]:
        vectors, counts = self._transformer.vectors(texts)
        return join(self._weights, [vectors, *self._blocks(texts)]), counts

    def _without_transformer(self, texts: Sequence[str]) -> Vectors:
        return join(self._weights[1:], self._blocks(texts))

    def _blocks(self, texts: Sequence[str]) -> list[NDArray[np.float64]]:
        return self._static.blocks(texts) if self._static else [self._style.rows(texts)]


def load(source: folder.Folder, part: Part) -> OnnxFolder:
    """The encoder of the folder, with the static part if it is installed."""
    weights = _weight_files(source)
    if weights:
        source = folder.read(source.path, source.model, beside=weights)
    transformer = Transformer(source, _session(source, str(source.model) if weights else source.contents[folder.MODEL]))
    try:
        static = part("static")
    except EncoderUnavailable:
        return OnnxFolder(source, transformer, None)
    assert isinstance(static, Static)
    return OnnxFolder(source, transformer, static)


# ---- inputs and outputs of the graph ---------------------------------------------------------------------------------


def _session(source: folder.Folder, model: bytes | str) -> InferenceSession:
    """A session with one thread per run, as with MiniLM."""
    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        return InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the package's exceptions have no common class
        raise EncoderUnavailable(
            f"{source.model} is not a graph that onnxruntime can read: {_first_line(error)} Export the model again."
        ) from None


def _weight_files(source: folder.Folder) -> list[Path]:
    """The weight files that the graph refers to, in the same folder."""
    content = source.contents[folder.MODEL]
    if b"location" not in content:
        return []
    try:
        import onnx  # the import takes 0.2 s, and few graphs have weights in other files
    except ModuleNotFoundError as error:
        raise EncoderUnavailable(advice(error) or str(error)) from None
    try:
        tensors = onnx.load_model_from_string(content).graph.initializer
    except Exception as error:  # protobuf's exceptions depend on its build
        raise EncoderUnavailable(f"{source.model} is not an ONNX graph: {_first_line(error)}") from None
    locations = {entry.value for tensor in tensors for entry in tensor.external_data if entry.key == "location"}
    paths = [source.model.parent / name for name in sorted(locations)]
    for path in paths:
        if path.parent != source.model.parent or not path.is_file():
            raise EncoderUnavailable(
                f"The weights {path.name} of {source.model.name} are not in the same folder. Copy all files of the"
                " export."
            )
    return paths


def _inputs(source: folder.Folder, session: InferenceSession) -> list[tuple[str, type, int | None]]:
    required = {each.name: each.type for each in session.get_inputs()}
    unknown = sorted(set(required) - set(_FILLED)) or ([] if "input_ids" in required else ["no input_ids"])
    if unknown or not all(kind in _KINDS for kind in required.values()):
        listed = ", ".join(f"{name} {kind}" for name, kind in required.items())
        raise EncoderUnavailable(
            f"{source.model} needs {listed}, but only integer input_ids, attention_mask and token_type_ids"
            " can be given. Export the model for feature extraction."
        )
    return [(name, _KINDS[kind], _FILLED[name]) for name, kind in required.items()]


def _output(source: folder.Folder, session: InferenceSession) -> tuple[str, Pooling]:
    """The output to use, and how to pool it into one vector."""
    ranks = {each.name: len(each.shape or ()) for each in session.get_outputs() if each.type in _REAL}
    of_sentence = [name for name in _OF_SENTENCE if ranks.get(name) in (0, 2)]
    if of_sentence:
        return of_sentence[0], "sentence"
    of_tokens = [name for name in _OF_TOKENS if name in ranks] or [name for name, rank in ranks.items() if rank == 3]
    if of_tokens:
        return of_tokens[0], _pooling(source)
    if list(ranks.values()) == [2]:
        return next(iter(ranks)), "sentence"
    listed = ", ".join(f"{each.name} {each.type}" for each in session.get_outputs())
    raise EncoderUnavailable(
        f"{source.model} gives {listed}, but no vectors of real numbers for tokens or the sentence. Export the model"
        " for feature extraction."
    )


def _pooling(source: folder.Folder) -> Pooling:
    unsupported = sorted(set(source.modules()) - _AFTER_TRANSFORMER)
    if unsupported:
        raise EncoderUnavailable(
            f"The model in {source.path} has a module {unsupported[0]} after its transformer, which the graph lacks."
            " Export the whole model, so that the graph gives sentence_embedding."
        )
    note = source.note("1_Pooling/config.json")
    named = note.get("pooling_mode")
    chosen = (
        [named]
        if isinstance(named, str)
        else [name for name, on in note.items() if on is True and name.startswith("pooling_")]
    )
    if any(name not in _POOLINGS for name in chosen) or len(chosen) > 1:
        raise EncoderUnavailable(
            f"The model in {source.path} pools by {' and '.join(chosen)}, but only mean, first or last token are"
            " supported. Export the whole model, so that the graph gives sentence_embedding."
        )
    return _POOLINGS[chosen[0]] if chosen else "mean"


# ---- configuration files ---------------------------------------------------------------------------------------------


def _longest(source: folder.Folder) -> int:
    """The smallest limit on the length of a text, with special tokens; at most 512: time grows with its square."""
    config = source.note("config.json")
    shift = 2 if str(config.get("model_type", "")).startswith(_SHIFTED) else 0
    stated = [
        (config.get("max_position_embeddings"), shift),
        (source.note("tokenizer_config.json").get("model_max_length"), 0),
        (source.note("sentence_bert_config.json").get("max_seq_length"), 0),
    ]
    limits = [int(most) - less for most, less in stated if isinstance(most, int | float) and most >= _LEAST]
    return min([*limits, _WINDOW]) if limits else _DEFAULT_WINDOW


def _prompt(source: folder.Folder) -> str:
    """The prompt that the model expects before every text, if any."""
    note = source.note("config_sentence_transformers.json")
    prompts, name = note.get("prompts"), note.get("default_prompt_name")
    prompt = prompts.get(name) if isinstance(prompts, dict) and isinstance(name, str) else None
    return prompt if isinstance(prompt, str) else ""


def _kind(source: folder.Folder) -> str:
    kind = str(source.note("config.json").get("model_type", "model"))
    return "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in kind[:24].lower()) or "model"


def _marks(tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """The special tokens that the tokenizer puts before and after a text."""
    encoded: Any = tokenizer.encode("a", add_special_tokens=True)
    inner = [i for i, special in enumerate(encoded.special_tokens_mask) if not special]
    if not inner:
        return list(encoded.ids), []
    return list(encoded.ids[: inner[0]]), list(encoded.ids[inner[-1] + 1 :])


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)[:300]
