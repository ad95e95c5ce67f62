"""A custom transformer exported to ONNX: its vector of a text, joined with the static mean and the style block.

One text runs at a time, as with MiniLM. Nothing is padded, so a dynamically quantized graph gives a text the same
vector in any batch. A text longer than the model's window is split into equal windows, averaged by their tokens. How
the graph is read is decided in `reading`. The static mean is added if wordllama is installed, and the digest includes
it. Standardising the transformer's vector did not help.

A folder that leaves nothing open and needs no settings may have the first recipe (`reading.of_first_recipe`), as in
0.2.0: its digest stays the same.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from traitbench.encoders import FULL, EncoderUnavailable, Part, Vectors, check_mode, counted_apart, folder, tokens
from traitbench.encoders.reading import SHIFTED, Reading, pooled
from traitbench.encoders.runtime import InferenceSession, SessionOptions, TimedRuns
from traitbench.encoders.scheduler import side_by_side
from traitbench.encoders.static import Static
from traitbench.encoders.style import COUNT, StyleBlock
from traitbench.encoders.table import WORDLLAMA
from traitbench.encoders.tokens import in_slices, join
from traitbench.install import advice
from traitbench.scoring.inputs import unit

if TYPE_CHECKING:
    from tokenizers import Tokenizer

FIRST_RECIPE, RECIPE = "onnx-1", "onnx-2"
WIDEST = 8_192
LONGEST_RUN = 30.0
"""Seconds that a graph may take for one window of a text."""

WEIGHTS = (1.0, 0.4, 0.2)
WEIGHTS_WITHOUT_TABLE = (1.0, 0.3)

_INTEGERS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_REALS = {"tensor(float)": np.float32, "tensor(float16)": np.float16}
_PAST = re.compile(r"past_key.*")

Make = Callable[[Sequence[int]], NDArray[Any]]
"""Gives the value of an input for the token ids of a text."""


class Transformer:
    """A graph with its tokenizer: from texts to vectors."""

    def __init__(self, source: folder.Folder, session: InferenceSession, reading: Reading) -> None:
        self.tokenizer = tokens.plain(source.contents["tokenizer.json"])
        self.reading = reading
        self._runs, self._path = TimedRuns(session, seconds=LONGEST_RUN), source.path
        self._inputs = _inputs(source, session)
        self._before, self._after = _marks(self.tokenizer)
        self.window = max(1, reading.length - len(self._before) - len(self._after))
        self.outside = frozenset[int]()
        # Before the prompt, whose tokens are only those that the graph knows.
        self.width = self._measured(source.note("config.json").get("vocab_size"))
        self._prompt_ids = self._left_out()

    def vectors(self, texts: Sequence[str]) -> tuple[NDArray[np.float64], list[int]]:
        """(n_texts, width) unit rows, zeros for a text without a token; and the number of tokens of each text."""
        rows, prompt = np.zeros((len(texts), self.width)), self.reading.prompt
        tokenized = [self.tokens(text) for text in texts]
        for row, text, ids in zip(rows, texts, tokenized, strict=True):
            if ids:
                row[:] = self._vector(self.tokens(prompt + text) if prompt else ids)
        return unit(rows), list(map(len, tokenized))

    def tokens(self, text: str) -> list[int]:
        """The token ids of the text that the graph knows, without special tokens."""
        text = text.strip().lower() if self.reading.lowercase else text.strip()
        [encoded] = self.tokenizer.encode_batch_fast([text], add_special_tokens=False)
        ids: list[int] = encoded.ids
        return [i for i in ids if i not in self.outside] if self.outside else ids

    def fill(self, size: int) -> None:
        """Run a text of so many tokens, special tokens included; raise `EncoderUnavailable` if the graph fails."""
        inner = max(1, size - len(self._before) - len(self._after))
        some = self.tokens("a good day") or [min(self.tokenizer.get_vocab().values(), default=0)]
        try:
            self._run([*self._before, *(some * inner)[:inner], *self._after])
        except Exception as error:  # a graph can fail in any way
            raise EncoderUnavailable(
                f"The graph in {self._path} fails on a text of {size} tokens: {_first_line(error)} Set length in"
                f" {self._path}/traitbench.json to what the graph takes, or export it with a free length."
            ) from None

    def _vector(self, ids: Sequence[int]) -> NDArray[np.float64]:
        if self._prompt_ids:
            return self._vector_without_prompt(ids)
        windows = list(tokens.windows(ids, self.window))
        vectors = [self._run([*self._before, *window, *self._after]) for window in windows]
        mean: NDArray[np.float64] = np.average(vectors, axis=0, weights=[len(window) for window in windows])
        return mean

    def _vector_without_prompt(self, ids: Sequence[int]) -> NDArray[np.float64]:
        """The prompt comes before each window; its tokens and the special tokens before it are not pooled."""
        prompt = self._prompt_ids
        windows = list(tokens.windows(ids[len(prompt) :] or ids, self.window - len(prompt)))
        start = [*self._before, *ids[: len(prompt)]]
        vectors = [self._run([*start, *window, *self._after], skip=len(start)) for window in windows]
        mean: NDArray[np.float64] = np.average(vectors, axis=0, weights=[len(window) for window in windows])
        return mean

    def _run(self, ids: Sequence[int], *, skip: int = 0) -> NDArray[np.float64]:
        inputs = {name: make(ids) for name, make in self._inputs}
        output: NDArray[np.float64] = self._runs.run([self.reading.output], inputs)[0][0].astype(np.float64)
        if self.reading.pooling:
            output = pooled(self.reading.pooling, output, skip)
        return output if self.reading.dimension is None else output[: self.reading.dimension]

    def _left_out(self) -> list[int]:
        """The tokens of a prompt that is not pooled."""
        prompt = self.tokens(self.reading.prompt) if self.reading.prompt else []
        if len(prompt) >= self.window:
            raise EncoderUnavailable(
                f"The prompt in {self._path} has {len(prompt)} tokens, which leaves no room for a text: the model takes"
                f" {self.window}. Set a shorter prompt in {self._path}/traitbench.json."
            )
        return [] if self.reading.prompt_pooled else prompt

    def _measured(self, vocab_size: Any) -> int:
        """The width of a vector, measured on a text that ends in the tokenizer's last token."""
        last = max(self.tokenizer.get_vocab().values(), default=0)
        try:
            vector = self._first([*self.tokens("a good day"), last])
        except EncoderUnavailable:
            self.outside = self._without_vectors(vocab_size)
            if not self.outside:
                raise
            vector = self._first(self.tokens("a good day"))
        if vector.ndim != 1 or not 1 <= len(vector) <= WIDEST:
            raise EncoderUnavailable(
                f"The output {self.reading.output} of the graph in {self._path} gives the shape {vector.shape} for a"
                f" text. It must give 1 to {WIDEST} numbers. Export the model for feature extraction."
            )
        if not np.isfinite(vector).all():
            raise EncoderUnavailable(
                f"The graph in {self._path} gives numbers that are not finite. Export the model again in float32."
            )
        if len(vector) < (self.reading.dimension or 0):
            raise EncoderUnavailable(
                f"{self._path}/traitbench.json sets dimension to {self.reading.dimension}, but the model gives"
                f" {len(vector)} numbers. Use at most {len(vector)}."
            )
        return len(vector)

    def _first(self, ids: Sequence[int]) -> NDArray[np.float64]:
        try:
            return self._run([*self._before, *ids, *self._after])
        except Exception as error:  # a graph can fail in any way
            raise EncoderUnavailable(
                f"The graph in {self._path} fails on a first text: {_first_line(error)} Export it with its own"
                " tokenizer, and with a free batch size and length. If tokens were added that it has no vectors for,"
                ' state in config.json how many it has, for example: "vocab_size": 30522'
            ) from None

    def _without_vectors(self, vocab_size: Any) -> frozenset[int]:
        """The added tokens beyond `vocab_size`; none if config.json does not state it.

        Raise `EncoderUnavailable` if ordinary tokens are beyond it.
        """
        if type(vocab_size) is not int:
            return frozenset()
        known = self.tokenizer.get_vocab()
        outside = frozenset(i for i in known.values() if i >= vocab_size)
        if outside & set(self.tokenizer.get_vocab(with_added_tokens=False).values()):
            raise EncoderUnavailable(
                f"The tokenizer in {self._path} has {len(known)} tokens, but vocab_size in config.json is {vocab_size}."
                " It belongs to another model. Export the graph with its own tokenizer."
            )
        return outside


class OnnxFolder:
    """The encoder; see the module."""

    def __init__(
        self, source: folder.Folder, transformer: Transformer, static: Static | None, *, recipe: str = RECIPE
    ) -> None:
        self.transformer, self._static, self._style = transformer, static, StyleBlock()
        self._weights = WEIGHTS if static else WEIGHTS_WITHOUT_TABLE
        self.file_bytes = source.size + (static.file_bytes if static else 0)
        width = transformer.width
        self.dimension = width + COUNT + (static.table.width if static else 0)
        self.modes: Mapping[str, slice] = MappingProxyType({"static": slice(width, self.dimension)} if static else {})
        self.digest = digest(source, static, recipe)
        self.id = f"{recipe}-{_kind(source)}-{width}-{self.digest[:8]}"

    def encode(self, texts: Sequence[str], *, mode: str = FULL) -> Vectors:
        """(n_texts, dimension) unit rows; 323 columns in mode static."""
        check_mode(self, mode)
        if mode == FULL:
            return self.counted(texts)[0]
        return in_slices(texts, self._without_transformer, self.dimension - self.transformer.width)

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
        return len(self.transformer.tokens(text))

    def words(self) -> Sequence[str]:
        """The words of the tokenizer, see `tokens.words`."""
        return tokens.words(self.transformer.tokenizer)

    def _whole(self, texts: Sequence[str]) -> tuple[Vectors, list[int]]:
        vectors, counts = self.transformer.vectors(texts)
        return join(self._weights, [vectors, *self._blocks(texts)]), counts

    def _without_transformer(self, texts: Sequence[str]) -> Vectors:
        return join(self._weights[1:], self._blocks(texts))

    def _blocks(self, texts: Sequence[str]) -> list[NDArray[np.float64]]:
        return self._static.blocks(texts) if self._static else [self._style.rows(texts)]


def static_part(part: Part) -> Static | None:
    """The static part, if it is installed."""
    try:
        static = part("static")
    except EncoderUnavailable:
        return None
    assert isinstance(static, Static)
    return static


def digest(source: folder.Folder, static: Static | None, recipe: str) -> str:
    """SHA-256 of everything that decides the vectors."""
    weights = WEIGHTS if static else WEIGHTS_WITHOUT_TABLE
    return source.digest(recipe, str(weights), StyleBlock().digest, *(WORDLLAMA if static else ()))


# ---- the graph -------------------------------------------------------------------------------------------------------


def session(source: folder.Folder, beside: Mapping[str, Path]) -> InferenceSession:
    """A session with one thread per run, as with MiniLM. `beside` are the graph's weight files, see `weight_files`;
    their bytes are those of `source`, which hashed them.
    """
    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # Only fatal messages: what fails is raised too, and our errors quote it.
    options.log_severity_level = 4
    if beside:
        weights = [source.contents[path.name] for path in beside.values()]
        options.add_external_initializers_from_files_in_memory(list(beside), weights, list(map(len, weights)))
    try:
        return InferenceSession(source.contents[folder.MODEL], options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the package's exceptions have no common class
        raise EncoderUnavailable(
            f"{source.model} is not a graph that onnxruntime can read: {_first_line(error)} Export the model again."
        ) from None


def weight_files(source: folder.Folder) -> dict[str, Path]:
    """The weight files in the same folder that the graph refers to, by the graph's names for them."""
    content = source.contents[folder.MODEL]
    if b"location" not in content:
        return {}
    try:
        import onnx  # the import takes 0.2 s, and few graphs have weights in other files
    except ModuleNotFoundError as error:
        raise EncoderUnavailable(advice(error) or str(error)) from None
    try:
        model = onnx.load_model_from_string(content)
    except Exception as error:  # protobuf's exceptions depend on its build
        raise EncoderUnavailable(f"{source.model} is not an ONNX graph: {_first_line(error)}") from None
    outside = [tensor for tensor in _tensors(model) if tensor.external_data or tensor.data_location]
    weights = [tensor for tensor in model.graph.initializer if tensor.external_data or tensor.data_location]
    if len(outside) > len(weights):
        # onnxruntime would read them from the working directory, and the digest would not know them.
        raise EncoderUnavailable(
            f"{source.model} has weights in other files for parts of the graph, such as branches. Export the model in"
            " one file."
        )
    locations = {entry.value for tensor in weights for entry in tensor.external_data if entry.key == "location"}
    paths = {name: source.model.parent / name for name in sorted(locations)}
    for path in paths.values():
        if path.parent != source.model.parent or not path.is_file():
            raise EncoderUnavailable(
                f"The weights {path.name} of {source.model.name} are not in the same folder. Copy all files of the"
                " export."
            )
    return paths


def _tensors(message: Any) -> Iterator[Any]:
    """Yield all tensors of a model, wherever they are: in graphs, branches, functions and attributes of nodes."""
    if message.DESCRIPTOR.name == "TensorProto":
        yield message
        return
    for field, value in message.ListFields():
        if field.message_type is not None:
            for each in [value] if hasattr(value, "DESCRIPTOR") else value:
                yield from _tensors(each)


def _inputs(source: folder.Folder, session: InferenceSession) -> list[tuple[str, Make]]:
    """How to make each input of the graph from token ids."""
    required = session.get_inputs()
    made = [(each.name, _made(source, each)) for each in required]
    known = [(name, make) for name, make in made if make]
    if len(known) < len(made) or "input_ids" not in dict(made):
        listed = ", ".join(f"{each.name} {each.type}" for each in required)
        raise EncoderUnavailable(
            f"{source.model} needs {listed}, but only integer input_ids, attention_mask, token_type_ids and"
            " position_ids, and an empty past of known shape, can be given. Export the model for feature extraction."
        )
    return known


def _made(source: folder.Folder, needed: Any) -> Make | None:
    """How to make an input; None if that is not known."""
    integer, real = _INTEGERS.get(needed.type), _REALS.get(needed.type)
    if integer:
        first = 2 if str(source.note("config.json").get("model_type", "")).startswith(SHIFTED) else 0
        ways: Mapping[str, Make] = {
            "input_ids": lambda ids: np.array([ids], integer),
            "attention_mask": lambda ids: np.ones((1, len(ids)), integer),
            "token_type_ids": lambda ids: np.zeros((1, len(ids)), integer),
            "position_ids": lambda ids: np.arange(first, first + len(ids), dtype=integer)[np.newaxis],
        }
        return ways.get(needed.name)
    if real and _PAST.fullmatch(needed.name):
        shape = _nothing_before(needed.shape or [])
        return None if shape is None else _always(np.zeros(shape, real))
    if needed.type == "tensor(bool)" and needed.name == "use_cache_branch":
        return _always(np.zeros(1, np.bool_))
    return None


def _always(value: NDArray[Any]) -> Make:
    return lambda _ids: value


def _nothing_before(shape: Sequence[int | str | None]) -> list[int] | None:
    """The shape of an empty past: one text, no tokens; None if a further side has no fixed length."""
    free = [axis for axis, side in enumerate(shape) if not isinstance(side, int)]
    if len(shape) != 4 or len(set(free) - {0}) != 1:
        return None
    return [(1 if axis == 0 else 0) if axis in free else int(shape[axis] or 0) for axis in range(4)]


def _kind(source: folder.Folder) -> str:
    kind = str(source.note("config.json").get("model_type", "model"))
    return "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in kind[:24].lower()) or "model"


def _marks(tokenizer: "Tokenizer") -> tuple[list[int], list[int]]:
    """The special tokens that the tokenizer puts before and after a text."""
    try:
        encoded: Any = tokenizer.encode("a", add_special_tokens=True)
    except Exception as error:  # the package raises plain Exception
        raise tokens.unusable(error) from None
    inner = [i for i, special in enumerate(encoded.special_tokens_mask) if not special]
    if not inner:
        return list(encoded.ids), []
    return list(encoded.ids[: inner[0]]), list(encoded.ids[inner[-1] + 1 :])


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)[:300]
