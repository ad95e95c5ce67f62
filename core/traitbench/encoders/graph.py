"""Build the ONNX graph of a BERT of width 384 from onnxruntime's fused operators, with int8 quantization.

It maps a text, as token ids (1, n_tokens) or as the vectors of its tokens (1, n_tokens, 384), to the means of its
tokens at an early layer and at the last layer, (1, 384) each, and to its tokens at both, (1, n_tokens, 384) each. If
its second input, a boolean, is false, it stops at the early layer and returns what it has of that layer twice. Dense
layers have int8 weights with one scale per column, and their activations are quantized at run time. The scale of an
activation depends on the whole input of a run, so a run holds a single text; several of one length may run together
where vectors need not be exact. Weights use 7 of the 8 bits: the sum of two products then always fits 16 bits, so
processors with and without VNNI give the same. No loss of quality was measurable.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

HEADS = 12
WIDTH = 384

_CONTRIB = "com.microsoft"
_OPSET = 17
_IR_VERSION = 8
_EPSILON = 1e-12
LARGEST = 63
WORDS = "embeddings.word_embeddings.weight"

TEXT, WHOLE = "text", "whole"
"""The inputs of a graph."""

_IDS: tuple[type, list[Any]] = (np.int64, ["texts", "tokens"])
_VECTORS: tuple[type, list[Any]] = (np.float32, ["texts", "tokens", WIDTH])

Weights = Mapping[str, NDArray[Any]]


def build(weights: Weights, *, layers: int, early: int) -> bytes:
    """The serialized graph, from tensors with the names of `model.safetensors`.

    It takes token ids if the tensors include the word table, else the vectors of the tokens.
    """
    # One graph that can stop early: with a graph for each depth, the wheel would carry the first layers twice.
    lower, upper, constant = _Builder(), _Builder("upper."), _Builder("constant.")
    kind, shape = _IDS if WORDS in weights else _VECTORS
    hidden = _layers(lower, weights, range(early), _embeddings(lower, weights))
    first = _mean(lower, hidden)
    above = _layers(upper, weights, range(early, layers), hidden)
    then = upper.graph([], [_mean(upper, above)], [above])
    same = [constant.node("Identity", [each]) for each in (first, hidden)]
    otherwise = constant.graph([], same[:1], same[1:])
    late = lower.node("If", [WHOLE], outputs=2, then_branch=then, else_branch=otherwise)
    return lower.model({TEXT: (kind, shape), WHOLE: (np.bool_, [])}, [first, late], [hidden, f"{late}.1"])


def _layers(builder: "_Builder", weights: Weights, layers: Iterable[int], hidden: str) -> str:
    for layer in layers:
        hidden = _layer(builder, weights, layer, hidden)
    return hidden


def _mean(builder: "_Builder", hidden: str) -> str:
    return builder.node("ReduceMean", [hidden], axes=[1], keepdims=0)


class _Builder:
    """Collects nodes and tensors, named in order. A graph inside another needs a prefix for its names."""

    def __init__(self, prefix: str = "") -> None:
        import onnx  # the import takes 0.2 s, and only the first start needs it

        self._onnx, self._prefix = onnx, prefix
        self._nodes: list[Any] = []
        self._tensors: list[Any] = []

    def tensor(self, values: NDArray[Any]) -> str:
        name = f"{self._prefix}t{len(self._tensors)}"
        self._tensors.append(self._onnx.numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def node(self, kind: str, inputs: list[str], *, outputs: int = 1, domain: str = "", **attributes: Any) -> str:
        first = f"{self._prefix}n{len(self._nodes)}"
        names = [first, *(f"{first}.{i}" for i in range(1, outputs))]
        self._nodes.append(self._onnx.helper.make_node(kind, inputs, names, domain=domain, **attributes))
        return first

    def graph(self, inputs: Sequence[Any], means: Sequence[str], tokens: Sequence[str]) -> Any:
        """The nodes so far, as a graph with these outputs."""
        helper = self._onnx.helper
        shapes = [(name, ["texts", WIDTH]) for name in means] + [(name, ["texts", "tokens", WIDTH]) for name in tokens]
        outputs = [helper.make_tensor_value_info(name, self._onnx.TensorProto.FLOAT, shape) for name, shape in shapes]
        return helper.make_graph(self._nodes, f"{self._prefix}minilm", inputs, outputs, self._tensors)

    def model(self, inputs: Mapping[str, tuple[type, list[Any]]], means: Sequence[str], tokens: Sequence[str]) -> bytes:
        """The serialized model, with inputs of these types and shapes."""
        helper = self._onnx.helper
        infos = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(kind)), shape)
            for name, (kind, shape) in inputs.items()
        ]
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_CONTRIB, 1)]
        model = helper.make_model(self.graph(infos, means, tokens), opset_imports=opsets, ir_version=_IR_VERSION)
        content: bytes = model.SerializeToString(deterministic=True)
        return content


def _embeddings(builder: _Builder, weights: Weights) -> str:
    """Word, position and token type embeddings, summed and normalised."""
    word = TEXT
    if WORDS in weights:
        table = builder.tensor(weights[WORDS].astype(np.float16))
        word = builder.node("Cast", [builder.node("Gather", [table, TEXT])], to=1)
    positions = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
    length = builder.node("Shape", [TEXT], start=1, end=2)
    position = builder.node("Slice", [builder.tensor(positions), builder.tensor(np.array([0])), length])
    scale, shift = _norm(builder, weights, "embeddings.LayerNorm")
    return builder.node(
        "LayerNormalization", [builder.node("Add", [word, position]), scale, shift], axis=-1, epsilon=_EPSILON
    )


def _layer(builder: _Builder, weights: Weights, layer: int, hidden: str) -> str:
    prefix = f"encoder.layer.{layer}"
    attended = _attention(builder, weights, f"{prefix}.attention.self", hidden)
    attended = _dense(builder, weights, f"{prefix}.attention.output.dense", attended)
    hidden = _add_and_norm(builder, weights, f"{prefix}.attention.output.LayerNorm", attended, hidden)
    wide = _dense(builder, weights, f"{prefix}.intermediate.dense", hidden, bias=False)
    bias = builder.tensor(weights[f"{prefix}.intermediate.dense.bias"])
    wide = builder.node("BiasGelu", [wide, bias], domain=_CONTRIB)
    narrow = _dense(builder, weights, f"{prefix}.output.dense", wide)
    return _add_and_norm(builder, weights, f"{prefix}.output.LayerNorm", narrow, hidden)


def _attention(builder: _Builder, weights: Weights, prefix: str, hidden: str) -> str:
    parts = ("query", "key", "value")
    matrix, scales = _columns(np.concatenate([weights[f"{prefix}.{part}.weight"].T for part in parts], axis=1))
    bias = np.concatenate([weights[f"{prefix}.{part}.bias"] for part in parts])
    name = builder.node("DynamicQuantizeLinear", [hidden], outputs=3)
    inputs = [
        name,
        builder.tensor(matrix),
        builder.tensor(bias),
        f"{name}.1",
        builder.tensor(scales),
        "",
        f"{name}.2",
        builder.tensor(np.zeros(len(scales), np.int8)),
    ]
    return builder.node("QAttention", inputs, domain=_CONTRIB, num_heads=HEADS)


def _dense(builder: _Builder, weights: Weights, prefix: str, hidden: str, *, bias: bool = True) -> str:
    matrix, scales = _columns(weights[f"{prefix}.weight"].T)
    inputs = [hidden, builder.tensor(matrix), builder.tensor(scales), builder.tensor(np.zeros(len(scales), np.int8))]
    if bias:
        inputs.append(builder.tensor(weights[f"{prefix}.bias"]))
    return builder.node("DynamicQuantizeMatMul", inputs, domain=_CONTRIB)


def _add_and_norm(builder: _Builder, weights: Weights, prefix: str, new: str, old: str) -> str:
    scale, shift = _norm(builder, weights, prefix)
    return builder.node("SkipLayerNormalization", [new, old, scale, shift], domain=_CONTRIB, epsilon=_EPSILON)


def _norm(builder: _Builder, weights: Weights, prefix: str) -> tuple[str, str]:
    return builder.tensor(weights[f"{prefix}.weight"]), builder.tensor(weights[f"{prefix}.bias"])


def _columns(matrix: NDArray[Any]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """An (inputs, outputs) matrix as int8, and the scale of each column."""
    scales = (np.abs(matrix).max(axis=0) / LARGEST).astype(np.float32)
    return np.rint(matrix / scales).astype(np.int8), scales
