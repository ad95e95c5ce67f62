"""A transformer of somebody else's, exported to ONNX: its vector of a text, the static mean, and the style.

One text runs at a time, as with MiniLM: nothing is padded, so a graph quantised dynamically gives a text the same
vector in any company. A text longer than the model's window goes through in equal windows, averaged by their tokens.
Where the graph gives a vector of the sentence it is taken; else the vectors of the tokens are pooled as the folder
says, by their mean where it says nothing. The static blocks are joined if wordllama is installed, and the digest knows
it; standardising the transformer's vector did not pay.
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

_WINDOW, _WINDOW_UNTOLD, _LEAST = 512, 128, 8
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
    """A graph with its tokenizer: texts to vectors."""

    def __init__(self, found: folder.Folder, session: InferenceSession) -> None:
        self.tokenizer = tokens.plain(found.contents["tokenizer.json"])
        self._session, self._path = session, found.path
        self._inputs = _inputs(found, session)
        self._output, self._pooling = _output(found, session)
        self._before, self._after = _marks(self.tokenizer)
        self._window = max(1, _longest(found) - len(self._before) - len(self._after))
        self._prompt = _prompt(found)
        self.width = self._measured()

    def vectors(self, texts: Sequence[str]) -> tuple[NDArray[np.float64], list[int]]:
        """(n_texts, width) unit rows, zeros for a text without a token; and how many tokens each text has."""
        rows = np.zeros((len(texts), self.width))
        tokenized = [self.tokens(text) for text in texts]
        for row, text, ids in zip(rows, texts, tokenized, strict=True):
            if ids:
                row[:] = self._vector(self.tokens(self._prompt + text) if self._prompt else ids)
        return unit(rows), list(map(len, tokenized))

    def tokens(self, text: str) -> list[int]:
        """The text's tokens, without marks."""
        [found] = self.tokenizer.encode_batch_fast([text.strip()], add_special_tokens=False)
        ids: list[int] = found.ids
        return ids

    def _vector(self, ids: Sequence[int]) -> NDArray[np.float64]:
        windows = list(tokens.windows(ids, self._window))
        vectors = [self._run([*self._before, *window, *self._after]) for window in windows]
        mean: NDArray[np.float64] = np.average(vectors, axis=0, weights=[len(window) for window in windows])
        return mean

    def _run(self, ids: Sequence[int]) -> NDArray[np.float64]:
        given: dict[str, NDArray[np.int64] | NDArray[np.int32]] = {
            name: np.array([ids if fill is None else [fill] * len(ids)], kind) for name, kind, fill in self._inputs
        }
        found: NDArray[np.float64] = self._session.run([self._output], given)[0][0].astype(np.float64)
        if self._pooling == "mean":
            found = np.add.reduce(found, axis=0) / len(found)
        elif self._pooling != "sentence":
            found = found[0 if self._pooling == "cls" else -1]
        return found

    def _measured(self) -> int:
        """The width of a vector, found by making one, of a text that ends in the tokenizer's last token."""
        try:
            last = max(self.tokenizer.get_vocab().values(), default=0)
            vector = self._vector([*self.tokens("a good day"), last])
        except Exception as error:  # whatever the graph does wrong
            raise EncoderUnavailable(
                f"The graph in {self._path} fails at a first text: {_first_line(error)} Export it with its own"
                " tokenizer, and with a free batch size and length."
            ) from None
        if vector.ndim != 1 or not 1 <= len(vector) <= WIDEST:
            raise EncoderUnavailable(
                f"The output {self._output} of the graph in {self._path} makes of a text the shape {vector.shape}; 1 to"
                f" {WIDEST} numbers in a row are needed. Export the model for feature extraction."
            )
        if not np.isfinite(vector).all():
            raise EncoderUnavailable(
                f"The graph in {self._path} gives numbers that are not finite. Export the model again, in float32."
            )
        return len(vector)


class OnnxFolder:
    """The encoder; see the module."""

    def __init__(self, found: folder.Folder, transformer: Transformer, static: Static | None) -> None:
        self._transformer, self._static, self._style = transformer, static, StyleBlock()
        self._weights = WEIGHTS if static else WEIGHTS_WITHOUT_TABLE
        width = transformer.width
        self.dimension = width + COUNT + (static.table.width if static else 0)
        self.modes: Mapping[str, slice] = MappingProxyType({"static": slice(width, self.dimension)} if static else {})
        source = WORDLLAMA if static else ()
        self.digest = found.digest(RECIPE, str(self._weights), self._style.digest, *source)
        self.id = f"{RECIPE}-{_kind(found)}-{width}-{self.digest[:8]}"

    def encode(self, texts: Sequence[str], *, mode: str = FULL) -> Vectors:
        """(n_texts, dimension) unit rows; 323 numbers of the static part."""
        check_mode(self, mode)
        if mode == FULL:
            return self.counted(texts)[0]
        return in_slices(texts, self._without_transformer, self.dimension - self._transformer.width)

    def counted(self, texts: Sequence[str], *, mode: str = FULL) -> tuple[Vectors, list[int]]:
        """As `encode`, and how many tokens each text has, which the static part alone does not know."""
        check_mode(self, mode)
        if mode == FULL:
            return side_by_side(texts, self._whole, self.dimension)
        return counted_apart(self, texts, mode=mode)

    def count_tokens(self, text: str) -> int:
        """Tokens of the transformer, without marks."""
        return len(self._transformer.tokens(text))

    def words(self) -> Sequence[str]:
        """See `tokens.words`."""
        return tokens.words(self._transformer.tokenizer)

    def _whole(self, texts: Sequence[str]) -> tuple[Vectors, list[int]]:
        vectors, counts = self._transformer.vectors(texts)
        return join(self._weights, [vectors, *self._blocks(texts)]), counts

    def _without_transformer(self, texts: Sequence[str]) -> Vectors:
        return join(self._weights[1:], self._blocks(texts))

    def _blocks(self, texts: Sequence[str]) -> list[NDArray[np.float64]]:
        return self._static.blocks(texts) if self._static else [self._style.rows(texts)]


def load(found: folder.Folder, part: Part) -> OnnxFolder:
    """The encoder of the folder; the static part comes along where it is installed."""
    beside = _beside(found)
    if beside:
        found = folder.read(found.path, found.model, beside=beside)
    transformer = Transformer(found, _session(found, str(found.model) if beside else found.contents[folder.MODEL]))
    try:
        static = part("static")
    except EncoderUnavailable:
        return OnnxFolder(found, transformer, None)
    assert isinstance(static, Static)
    return OnnxFolder(found, transformer, static)


# ---- what the graph takes and gives ----------------------------------------------------------------------------------


def _session(found: folder.Folder, source: bytes | str) -> InferenceSession:
    """One thread a run, as with MiniLM."""
    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        return InferenceSession(source, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the package has a class for every way to fail, and no common one
        raise EncoderUnavailable(
            f"{found.model} is no graph that onnxruntime can read: {_first_line(error)} Export the model again."
        ) from None


def _beside(found: folder.Folder) -> list[Path]:
    """The files of weights that the graph names, which lie beside it."""
    content = found.contents[folder.MODEL]
    if b"location" not in content:
        return []
    try:
        import onnx  # takes a fifth of a second, and few graphs keep their weights elsewhere
    except ModuleNotFoundError as error:
        raise EncoderUnavailable(advice(error) or str(error)) from None
    try:
        tensors = onnx.load_model_from_string(content).graph.initializer
    except Exception as error:  # protobuf's own, whichever it is built with
        raise EncoderUnavailable(f"{found.model} is no ONNX graph: {_first_line(error)}") from None
    told = {entry.value for tensor in tensors for entry in tensor.external_data if entry.key == "location"}
    paths = [found.model.parent / name for name in sorted(told)]
    for path in paths:
        if path.parent != found.model.parent or not path.is_file():
            raise EncoderUnavailable(
                f"The weights {path.name} of {found.model.name} do not lie beside it. Copy all files of the export."
            )
    return paths


def _inputs(found: folder.Folder, session: InferenceSession) -> list[tuple[str, type, int | None]]:
    asked = {each.name: each.type for each in session.get_inputs()}
    unknown = sorted(set(asked) - set(_FILLED)) or ([] if "input_ids" in asked else ["no input_ids"])
    if unknown or not all(kind in _KINDS for kind in asked.values()):
        listed = ", ".join(f"{name} {kind}" for name, kind in asked.items())
        raise EncoderUnavailable(
            f"{found.model} asks for {listed}; input_ids, attention_mask and token_type_ids of whole numbers can be"
            " given. Export the model for feature extraction."
        )
    return [(name, _KINDS[kind], _FILLED[name]) for name, kind in asked.items()]


def _output(found: folder.Folder, session: InferenceSession) -> tuple[str, Pooling]:
    """Which output to take, and how to make one vector of it."""
    ranks = {each.name: len(each.shape or ()) for each in session.get_outputs() if each.type in _REAL}
    of_sentence = [name for name in _OF_SENTENCE if ranks.get(name) in (0, 2)]
    if of_sentence:
        return of_sentence[0], "sentence"
    of_tokens = [name for name in _OF_TOKENS if name in ranks] or [name for name, rank in ranks.items() if rank == 3]
    if of_tokens:
        return of_tokens[0], _pooling(found)
    if list(ranks.values()) == [2]:
        return next(iter(ranks)), "sentence"
    listed = ", ".join(f"{each.name} {each.type}" for each in session.get_outputs())
    raise EncoderUnavailable(
        f"{found.model} gives {listed}, and no real vectors of tokens or of the sentence. Export the model for feature"
        " extraction."
    )


def _pooling(found: folder.Folder) -> Pooling:
    further = sorted(set(found.modules()) - _AFTER_TRANSFORMER)
    if further:
        raise EncoderUnavailable(
            f"The model in {found.path} has a module {further[0]} behind its transformer, which the graph lacks. Export"
            " it as a whole, so that the graph gives sentence_embedding."
        )
    note = found.note("1_Pooling/config.json")
    named = note.get("pooling_mode")
    chosen = (
        [named]
        if isinstance(named, str)
        else [name for name, on in note.items() if on is True and name.startswith("pooling_")]
    )
    if any(name not in _POOLINGS for name in chosen) or len(chosen) > 1:
        raise EncoderUnavailable(
            f"The model in {found.path} pools by {' and '.join(chosen)}; the mean, the first or the last token can be"
            " taken. Export it as a whole, so that the graph gives sentence_embedding."
        )
    return _POOLINGS[chosen[0]] if chosen else "mean"


# ---- what the notes say ----------------------------------------------------------------------------------------------


def _longest(found: folder.Folder) -> int:
    """The least of what limits a text, marks included; never more than 512 tokens, since time grows with the square."""
    config = found.note("config.json")
    shift = 2 if str(config.get("model_type", "")).startswith(_SHIFTED) else 0
    told = [
        (config.get("max_position_embeddings"), shift),
        (found.note("tokenizer_config.json").get("model_max_length"), 0),
        (found.note("sentence_bert_config.json").get("max_seq_length"), 0),
    ]
    limits = [int(most) - less for most, less in told if isinstance(most, int | float) and most >= _LEAST]
    return min([*limits, _WINDOW]) if limits else _WINDOW_UNTOLD


def _prompt(found: folder.Folder) -> str:
    """What the model wants before every text, if it says so."""
    note = found.note("config_sentence_transformers.json")
    prompts, name = note.get("prompts"), note.get("default_prompt_name")
    prompt = prompts.get(name) if isinstance(prompts, dict) and isinstance(name, str) else None
    return prompt if isinstance(prompt, str) else ""


def _kind(found: folder.Folder) -> str:
    kind = str(found.note("config.json").get("model_type", "model"))
    return "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in kind[:24].lower()) or "model"


def _marks(tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """The marks of begin and end that the tokenizer puts around a text."""
    encoded: Any = tokenizer.encode("a", add_special_tokens=True)
    inner = [i for i, special in enumerate(encoded.special_tokens_mask) if not special]
    if not inner:
        return list(encoded.ids), []
    return list(encoded.ids[: inner[0]]), list(encoded.ids[inner[-1] + 1 :])


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)[:300]
