"""Small real encoders in folders: graphs built with the package onnx, tables, and a tokenizer of twenty words."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import safetensors.numpy
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors
from tokenizers.models import WordLevel

from tests.real_encoder import KEPT
from traitbench.encoders import Encoder
from traitbench.encoders.registry import load_encoder

WORDS = (
    *("thank", "you", "dear", "friend", "how", "kind", "of", "love", "to", "help"),
    *("lovely", "send", "the", "form", "request", "denied", "deadline", "passed", "good", "morning"),
)
VOCABULARY = {word: i for i, word in enumerate(("[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS))}
WIDTH = 12
MEAN = {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True, "include_prompt": True}
MODULES = ("Transformer", "Pooling", "Normalize")


def load(path: Path) -> Encoder:
    return load_encoder(str(path), cache=KEPT)


def unit(vector: np.ndarray) -> np.ndarray:
    return np.asarray(vector / np.linalg.norm(vector))


def same(path: Path, expected: NDArray[Any], text: str, *, within: float = 1e-6) -> None:
    """The folder's own part of the vector of a text is `expected`, at length one."""
    vector = load(path).encode([text])[0].astype(np.float64)[: len(expected)]
    np.testing.assert_allclose(unit(vector), unit(expected), atol=within)


def settings(path: Path, **given: Any) -> Path:
    """The folder with these settings of ours."""
    note(path, "traitbench.json", given)
    return path


def tokenizer(*, marks: bool = True, template: str = "[CLS] $A [SEP]", cased: bool = False) -> Tokenizer:
    made = Tokenizer(WordLevel(VOCABULARY, unk_token="[UNK]"))
    if not cased:
        made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    if marks:
        made.post_processor = processors.TemplateProcessing(
            single=template, special_tokens=[("[CLS]", VOCABULARY["[CLS]"]), ("[SEP]", VOCABULARY["[SEP]"])]
        )
        made.enable_truncation(8)
        made.enable_padding()
    return made


def numbers(*shape: int, seed: int = 1) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def graph(
    *,
    inputs: Sequence[str] = ("input_ids", "attention_mask", "token_type_ids"),
    kind: int = TensorProto.INT64,
    output: str = "last_hidden_state",
    scale: float = 1.0,
    cast: int = TensorProto.FLOAT,
    positions: int = 64,
    rows: int = len(VOCABULARY),
    seed: int = 1,
    also: bool = False,
) -> onnx.ModelProto:
    """A layer that mixes word and position; `sentence_embedding` is the mean of its tokens, at length one.

    What each input contributes shows in the vectors: the mask hides tokens, types and a past shift them. `also` gives
    the vectors of the tokens besides, as `token_embeddings`.
    """
    tensors = {
        "words": scale * numbers(len(VOCABULARY), WIDTH, seed=seed)[:rows],
        "places": numbers(positions, WIDTH, seed=2) / 4,
        "matrix": numbers(WIDTH, WIDTH, seed=3) / 3,
        "zero": np.array([0], np.int64),
        "last": np.array([2], np.int64),
        "types": np.stack([np.zeros(WIDTH, np.float32), numbers(WIDTH, seed=4)]),
    }
    nodes = [
        helper.make_node("Gather", ["words", "input_ids"], ["bare"]),
        *_typed("token_type_ids" in inputs),
        *_placed(inputs),
        helper.make_node("Add", ["word", "place"], ["placed"]),
        helper.make_node("MatMul", ["placed", "matrix"], ["mixed"]),
        helper.make_node("Tanh", ["mixed"], ["seen"]),
        *_masked("attention_mask" in inputs),
    ]
    shape: list[Any] = ["batch", "length", WIDTH]
    last = "hidden"
    if output in ("sentence_embedding", "pooler"):
        nodes.append(helper.make_node("ReduceMean", ["hidden"], ["mean"], axes=[1], keepdims=0))
        nodes.append(helper.make_node("LpNormalization", ["mean"], ["unit"], axis=-1))
        shape, last = ["batch", WIDTH], "unit"
    nodes.append(helper.make_node("Cast", [last], [output], to=cast))
    outputs = {output: shape}
    if also:
        nodes.append(helper.make_node("Cast", ["hidden"], ["token_embeddings"], to=cast))
        outputs["token_embeddings"] = ["batch", "length", WIDTH]
    drawn = helper.make_graph(
        nodes,
        "small",
        [_declared(name, kind) for name in inputs],
        [helper.make_tensor_value_info(name, cast, sides) for name, sides in outputs.items()],
        [numpy_helper.from_array(np.asarray(values), name) for name, values in tensors.items()],
    )
    return helper.make_model(drawn, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _declared(name: str, kind: int) -> onnx.ValueInfoProto:
    if name.startswith("past_key"):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", 2, "past", 6])
    if name == "use_cache_branch":
        return helper.make_tensor_value_info(name, TensorProto.BOOL, [1])
    return helper.make_tensor_value_info(name, kind, ["batch", "length"])


def _typed(there: bool) -> list[onnx.NodeProto]:
    if not there:
        return [helper.make_node("Identity", ["bare"], ["word"])]
    return [
        helper.make_node("Gather", ["types", "token_type_ids"], ["type"]),
        helper.make_node("Add", ["bare", "type"], ["word"]),
    ]


def _placed(inputs: Sequence[str]) -> list[onnx.NodeProto]:
    """The vectors of the positions: those given, or those that follow the past."""
    if "position_ids" in inputs:
        return [helper.make_node("Gather", ["places", "position_ids"], ["place"])]
    past = [name for name in inputs if name.startswith("past_key")]
    return [
        helper.make_node("Shape", ["input_ids"], ["length"], start=1, end=2),
        helper.make_node("Shape", past[:1], ["first"], start=2, end=3)
        if past
        else helper.make_node("Identity", ["zero"], ["first"]),
        helper.make_node("Add", ["first", "length"], ["end"]),
        helper.make_node("Slice", ["places", "first", "end"], ["place"]),
    ]


def _masked(there: bool) -> list[onnx.NodeProto]:
    if not there:
        return [helper.make_node("Identity", ["seen"], ["hidden"])]
    return [
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "last"], ["column"]),
        helper.make_node("Mul", ["seen", "column"], ["hidden"]),
    ]


def hidden(
    words: Sequence[str], *, seed: int = 1, positions: int = 64, first: int = 0, marks: bool = True
) -> NDArray[np.float32]:
    """The graph's token vectors, special tokens included, computed with numpy. `first` is the first position."""
    ids = [VOCABULARY[word] for word in (("[CLS]", *words, "[SEP]") if marks else words)]
    places = numbers(positions, WIDTH, seed=2)[first : first + len(ids)] / 4
    placed = numbers(len(VOCABULARY), WIDTH, seed=seed)[ids] + places
    return np.tanh(placed @ (numbers(WIDTH, WIDTH, seed=3) / 3))


def onnx_folder(
    path: Path,
    *,
    model: onnx.ModelProto | None = None,
    name: str = "model.onnx",
    pooling: Mapping[str, Any] | None = MEAN,
    modules: Sequence[str] | None = MODULES,
    config: Mapping[str, Any] | None = None,
) -> Path:
    """A folder as optimum and sentence-transformers write it."""
    (path / name).parent.mkdir(parents=True, exist_ok=True)
    (path / name).write_bytes((model or graph()).SerializeToString())
    tokenizer().save(str(path / "tokenizer.json"))
    note(path, "config.json", {"model_type": "bert", "max_position_embeddings": 64, **(config or {})})
    if pooling is not None:
        note(path, "1_Pooling/config.json", pooling)
    if modules is not None:
        listed = [{"idx": i, "type": f"sentence_transformers.models.{kind}"} for i, kind in enumerate(modules)]
        note(path, "modules.json", listed)
    return path


def table_folder(path: Path, **tensors: NDArray[Any]) -> Path:
    """A folder as model2vec writes it."""
    path.mkdir(parents=True, exist_ok=True)
    safetensors.numpy.save_file(tensors or {"embeddings": table()}, path / "model.safetensors")
    tokenizer(marks=False).save(str(path / "tokenizer.json"))
    note(path, "config.json", {"model_type": "model2vec", "normalize": True})
    return path


def table() -> NDArray[np.float32]:
    return numbers(len(VOCABULARY), WIDTH, seed=5)


def note(path: Path, name: str, content: Any) -> None:
    (path / name).parent.mkdir(exist_ok=True)
    (path / name).write_text(json.dumps(content), encoding="utf-8")
