"""A custom static table in the layout of model2vec: its mean, the style block, and hashed n-grams.

`model.safetensors` holds `embeddings` (`embedding.weight` if sentence-transformers wrote it), optionally `weights`, one
per token, and `mapping`, the row of each token. As in model2vec, unknown tokens are ignored.
"""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray
from tokenizers import Tokenizer

from traitbench.encoders import EncoderUnavailable, tokens
from traitbench.encoders.folder import MODEL, Folder
from traitbench.encoders.static import Static
from traitbench.encoders.table import Table

RECIPE = "table-wsn-1"
WIDEST = 8_192

_NAMES = ("embeddings", "embedding.weight")

Tensors = Mapping[str, NDArray[Any]]


def load(folder: Folder) -> Static:
    """The encoder of the folder; its id contains the table's width and the digest."""
    tensors = _tensors(folder)
    rows = _rows(folder, tensors)
    tokenizer = tokens.plain(folder.contents["tokenizer.json"])
    count = 1 + max(tokenizer.get_vocab().values(), default=-1)
    row_of, weights = _row_of(folder, tensors, len(rows), count), _weights(folder, tensors, count)
    table = Table(rows, tokenizer, row_of=row_of, weights=weights, without=_unknown(folder, tokenizer))
    digest = folder.digest(RECIPE)
    return Static(table, id=f"{RECIPE}-{table.width}-{digest[:8]}", source=[digest])


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


def _unknown(folder: Folder, tokenizer: Tokenizer) -> int | None:
    """The tokenizer's token for unknown words, if it has one."""
    name = json.loads(folder.contents["tokenizer.json"]).get("model", {}).get("unk_token")
    token: int | None = tokenizer.token_to_id(name) if isinstance(name, str) else None
    return token


def _wrong(folder: Folder, tensor: str, what: str) -> EncoderUnavailable:
    return EncoderUnavailable(f"The tensor {tensor} in {folder.model} {what}. Save the model again.")
