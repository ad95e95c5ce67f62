"""A custom static table in the layout of model2vec: its mean, the style block, and hashed n-grams.

`model.safetensors` holds `embeddings` (`embedding.weight` if sentence-transformers wrote it), optionally `weights`, one
per token, and `mapping`, the row of each token. Unknown words are ignored as in model2vec; sentence-transformers has a
row for them. With `"recipe": "full"` in its settings, the table takes the place of WordLlama's beside MiniLM.

A table in the layout of model2vec without settings has the first recipe, as in 0.2.0: its digest stays the same.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray

from traitbench.encoders import EncoderUnavailable, Part, reading, tokens
from traitbench.encoders.folder import MODEL, Folder
from traitbench.encoders.folder_settings import ChoiceOpen, FolderSetting, FolderSettings
from traitbench.encoders.minilm import MiniLM
from traitbench.encoders.minilm_full import MiniLMFull
from traitbench.encoders.static import Static
from traitbench.encoders.table import TokenTable

if TYPE_CHECKING:
    from tokenizers import Tokenizer

FIRST_RECIPE, RECIPE, FULL_RECIPE = "table-wsn-1", "table-wsn-2", "full-table-1"
WIDEST = 8_192

_OURS, _OF_SENTENCE_TRANSFORMERS = "embeddings", "embedding.weight"
_NAMES = (_OURS, _OF_SENTENCE_TRANSFORMERS)
_MODULES = {"StaticEmbedding", "Normalize"}

Tensors = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Loaded:
    """A table as an encoder. `unknown` is the token of unknown words if they are ignored; `outside` counts the added
    tokens that have no row and are ignored too.
    """

    static: Static
    kind: str
    unknown: str | None
    outside: int


def load(folder: Folder, settings: FolderSettings) -> Loaded:
    """The encoder of the folder; its id contains the table's width and the digest."""
    settings.allow("dimension", "recipe", "prompt", kind="a static table")
    tensors = _tensors(folder)
    rows = _rows(folder, tensors)
    _refuse_further_modules(folder)
    _refuse_prompt(folder, settings)
    tokenizer = tokens.plain(folder.contents["tokenizer.json"])
    unknown = _unknown(folder, tokenizer) if _OURS in tensors else None
    ordinary = 1 + max(tokenizer.get_vocab(with_added_tokens=False).values(), default=-1)
    count = 1 + max(tokenizer.get_vocab().values(), default=-1)
    known = min(count, max(ordinary, min(len(tensors.get(name, rows)) for name in ("mapping", "weights"))))
    row_of, weights = _row_of(folder, tensors, len(rows), known), _weights(folder, tensors, known)
    ignored = {i for i in (unknown,) if i is not None} | set(range(known, count))
    table = TokenTable(_first(rows, settings), tokenizer, row_of=row_of, weights=weights, without=ignored)
    try:
        table.tokens("a good day")
    except Exception as error:  # the package raises plain Exception
        raise tokens.unusable(error) from None
    first = not settings.given and unknown == _unknown(folder, tokenizer)
    name = tokenizer.id_to_token(unknown) if unknown is not None else None
    return Loaded(_static(folder, table, FIRST_RECIPE if first else RECIPE), str(rows.dtype), name, count - known)


def beside_minilm(static: Static, part: Part) -> MiniLMFull:
    """The recipe of `minilm-full` with this table in the place of WordLlama's."""
    minilm = part("minilm")
    assert isinstance(minilm, MiniLM)
    name = f"{FULL_RECIPE}-{static.table.width}-{static.digest[:8]}"
    return MiniLMFull(minilm=minilm, static=static, id=name, source=[static.digest])


def _static(folder: Folder, table: TokenTable, recipe: str) -> Static:
    digest = folder.digest(recipe)
    return Static(table, id=f"{recipe}-{table.width}-{digest[:8]}", source=[digest], file_bytes=folder.size)


def _first(rows: NDArray[Any], settings: FolderSettings) -> NDArray[Any]:
    """The first numbers of each row, as many as the settings say."""
    if settings.dimension is None:
        return rows
    if settings.dimension > rows.shape[1]:
        raise settings.wrong(
            f"sets dimension to {settings.dimension}, but the table has {rows.shape[1]} numbers a token. Use at most"
            f" {rows.shape[1]}."
        )
    return np.ascontiguousarray(rows[:, : settings.dimension])


def _refuse_further_modules(folder: Folder) -> None:
    further = sorted(set(folder.modules()) - _MODULES)
    if further:
        raise EncoderUnavailable(
            f"modules.json in {folder.path} has a module {further[0]} besides the static table, which is not read. Save"
            " a model of StaticEmbedding alone, or export the model to ONNX."
        )


def _refuse_prompt(folder: Folder, settings: FolderSettings) -> None:
    asked = reading.prompt(folder, settings)
    if isinstance(asked, FolderSetting):
        raise ChoiceOpen(folder.path, [asked], given=settings.given)
    if asked[0]:
        raise EncoderUnavailable(
            f"The static table in {folder.path} has a prompt, which would only add the same words to every text. Set"
            f' prompt to "" in {settings.file}.'
        )


def _tensors(folder: Folder) -> Tensors:
    try:
        tensors: Tensors = safetensors.numpy.load(folder.contents[MODEL])
    except Exception as error:  # KeyError: an unknown type of number; all other errors come from safetensors
        raise EncoderUnavailable(f"{folder.model} is not a readable file of tensors: {error!r}.") from None
    return tensors


def _rows(folder: Folder, tensors: Tensors) -> NDArray[Any]:
    name = next((name for name in _NAMES if name in tensors), None)
    if name is None:
        raise EncoderUnavailable(
            f"{folder.model} has no tensor {_NAMES[0]}, so it is not a static table. If these are the weights of a"
            " transformer, export it to ONNX (optimum-cli export onnx --model ... FOLDER) and use that folder."
        )
    rows = tensors[name]
    if rows.ndim != 2 or not 1 <= rows.shape[1] <= WIDEST:
        raise _wrong(folder, name, f"has the shape {rows.shape}, but must have (tokens, 1 to {WIDEST} numbers)")
    if rows.dtype not in (np.float16, np.float32, np.float64, np.int8):
        raise _wrong(folder, name, f"has the type {rows.dtype}, but must have float16, float32, float64 or int8")
    if not np.isfinite(rows).all():
        raise _wrong(folder, name, "has numbers that are not finite")
    return rows


def _row_of(folder: Folder, tensors: Tensors, rows: int, count: int) -> NDArray[np.int64] | None:
    if "mapping" not in tensors:
        if count > rows:
            raise _wrong(folder, "embeddings", f"has {rows} rows, but the tokenizer has {count} tokens")
        return None
    mapping = tensors["mapping"]
    if mapping.ndim != 1 or mapping.dtype.kind not in "iu" or len(mapping) < count:
        raise _wrong(
            folder, "mapping", f"is {mapping.dtype} {mapping.shape}, but must have one integer per token ({count})"
        )
    if mapping.min(initial=0) < 0 or mapping.max(initial=0) >= rows:
        raise _wrong(folder, "mapping", f"refers to rows beyond the {rows} rows of the table")
    return mapping.astype(np.int64)


def _weights(folder: Folder, tensors: Tensors, count: int) -> NDArray[np.float64] | None:
    if "weights" not in tensors:
        return None
    weights = tensors["weights"]
    if weights.ndim != 1 or weights.dtype.kind != "f" or len(weights) < count or not np.isfinite(weights).all():
        raise _wrong(
            folder,
            "weights",
            f"is {weights.dtype} {weights.shape}, but must have one finite number per token ({count})",
        )
    return weights.astype(np.float64)


def _unknown(folder: Folder, tokenizer: "Tokenizer") -> int | None:
    """The tokenizer's token for unknown words, if it has one."""
    name = json.loads(folder.contents["tokenizer.json"]).get("model", {}).get("unk_token")
    token: int | None = tokenizer.token_to_id(name) if isinstance(name, str) else None
    return token


def _wrong(folder: Folder, tensor: str, what: str) -> EncoderUnavailable:
    return EncoderUnavailable(f"The tensor {tensor} in {folder.model} {what}. Save the model again.")
