"""MiniLM as a graph of onnxruntime's fused operators, quantised here, and as a shorter one for who wants layer 4 only.

`whole`: the token ids of one text, (1, n_tokens), to the means of its tokens at layer 4 and at the last layer, (1, 384)
each. `lower`: to the first of them, bit by bit the same. The dense layers have int8 weights with one scale per column,
and activations quantised as they come; the scale of an activation belongs to the whole input of a run, which is why a
run holds one text and nothing else. Weights use 7 of the 8 bits: the sum of two products then always fits 16 bits, so
processors with and without VNNI agree; a loss of quality could not be measured.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

LAYERS = 6
HEADS = 12
WIDTH = 384
EARLY_LAYER = 4

_CONTRIB = "com.microsoft"
_OPSET = 17
_IR_VERSION = 8
_EPSILON = 1e-12
LARGEST = 63

Weights = Mapping[str, NDArray[Any]]


def whole(weights: Weights) -> bytes:
    """The serialised graph of all layers, for the tensors of `model.safetensors`."""
    return _drawn(weights, (EARLY_LAYER, LAYERS))


def lower(weights: Weights) -> bytes:
    """The serialised graph up to layer 4."""
    return _drawn(weights, (EARLY_LAYER,))


def _drawn(weights: Weights, ends: Sequence[int]) -> bytes:
    """Ids to the mean of the tokens behind each of these layers."""
    drawing, means, first = _Drawing(), list[str](), 0
    hidden = _embeddings(drawing, weights)
    for end in ends:
        for layer in range(first, end):
            hidden = _layer(drawing, weights, layer, hidden)
        means.append(drawing.node("ReduceMean", [hidden], axes=[1], keepdims=0))
        first = end
    return drawing.finish(means)


class _Drawing:
    """Nodes and tensors, named as they come."""

    def __init__(self) -> None:
        import onnx  # takes a fifth of a second, and only the first start ever needs it

        self._onnx = onnx
        self._nodes: list[Any] = []
        self._tensors: list[Any] = []

    def tensor(self, values: NDArray[Any]) -> str:
        name = f"t{len(self._tensors)}"
        self._tensors.append(self._onnx.numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def node(
        self, kind: str, inputs: list[str], *, outputs: int = 1, output: str = "", domain: str = "", **attributes: Any
    ) -> str:
        first = output or f"n{len(self._nodes)}"
        names = [first, *(f"{first}.{i}" for i in range(1, outputs))]
        self._nodes.append(self._onnx.helper.make_node(kind, inputs, names, domain=domain, **attributes))
        return first

    def finish(self, means: Sequence[str]) -> bytes:
        """Serialised: `ids` in, `means` out."""
        helper, kinds = self._onnx.helper, self._onnx.TensorProto
        graph = helper.make_graph(
            self._nodes,
            "minilm",
            [helper.make_tensor_value_info("ids", kinds.INT64, [1, "tokens"])],
            [helper.make_tensor_value_info(name, kinds.FLOAT, [1, WIDTH]) for name in means],
            self._tensors,
        )
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_CONTRIB, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)
        content: bytes = model.SerializeToString(deterministic=True)
        return content


def _embeddings(drawing: _Drawing, weights: Weights) -> str:
    """Word + position + the one token type there is, normalised."""
    words = drawing.tensor(weights["embeddings.word_embeddings.weight"].astype(np.float16))
    places = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
    word = drawing.node("Cast", [drawing.node("Gather", [words, "ids"])], to=1)
    length = drawing.node("Shape", ["ids"], start=1)
    place = drawing.node("Slice", [drawing.tensor(places), drawing.tensor(np.array([0])), length])
    scale, shift = _norm(drawing, weights, "embeddings.LayerNorm")
    return drawing.node(
        "LayerNormalization", [drawing.node("Add", [word, place]), scale, shift], axis=-1, epsilon=_EPSILON
    )


def _layer(drawing: _Drawing, weights: Weights, layer: int, hidden: str) -> str:
    prefix = f"encoder.layer.{layer}"
    attended = _attention(drawing, weights, f"{prefix}.attention.self", hidden)
    attended = _dense(drawing, weights, f"{prefix}.attention.output.dense", attended)
    hidden = _add_and_norm(drawing, weights, f"{prefix}.attention.output.LayerNorm", attended, hidden)
    wide = _dense(drawing, weights, f"{prefix}.intermediate.dense", hidden, bias=False)
    bias = drawing.tensor(weights[f"{prefix}.intermediate.dense.bias"])
    wide = drawing.node("BiasGelu", [wide, bias], domain=_CONTRIB)
    narrow = _dense(drawing, weights, f"{prefix}.output.dense", wide)
    return _add_and_norm(drawing, weights, f"{prefix}.output.LayerNorm", narrow, hidden)


def _attention(drawing: _Drawing, weights: Weights, prefix: str, hidden: str) -> str:
    parts = ("query", "key", "value")
    matrix, scales = _columns(np.concatenate([weights[f"{prefix}.{part}.weight"].T for part in parts], axis=1))
    bias = np.concatenate([weights[f"{prefix}.{part}.bias"] for part in parts])
    name = drawing.node("DynamicQuantizeLinear", [hidden], outputs=3)
    inputs = [
        name,
        drawing.tensor(matrix),
        drawing.tensor(bias),
        f"{name}.1",
        drawing.tensor(scales),
        "",
        f"{name}.2",
        drawing.tensor(np.zeros(len(scales), np.int8)),
    ]
    return drawing.node("QAttention", inputs, domain=_CONTRIB, num_heads=HEADS)


def _dense(drawing: _Drawing, weights: Weights, prefix: str, hidden: str, *, bias: bool = True) -> str:
    matrix, scales = _columns(weights[f"{prefix}.weight"].T)
    inputs = [hidden, drawing.tensor(matrix), drawing.tensor(scales), drawing.tensor(np.zeros(len(scales), np.int8))]
    if bias:
        inputs.append(drawing.tensor(weights[f"{prefix}.bias"]))
    return drawing.node("DynamicQuantizeMatMul", inputs, domain=_CONTRIB)


def _add_and_norm(drawing: _Drawing, weights: Weights, prefix: str, new: str, old: str) -> str:
    scale, shift = _norm(drawing, weights, prefix)
    return drawing.node("SkipLayerNormalization", [new, old, scale, shift], domain=_CONTRIB, epsilon=_EPSILON)


def _norm(drawing: _Drawing, weights: Weights, prefix: str) -> tuple[str, str]:
    return drawing.tensor(weights[f"{prefix}.weight"]), drawing.tensor(weights[f"{prefix}.bias"])


def _columns(matrix: NDArray[Any]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """An (inputs, outputs) matrix as int8 and the scale of each of its columns."""
    scales = (np.abs(matrix).max(axis=0) / LARGEST).astype(np.float32)
    return np.rint(matrix / scales).astype(np.int8), scales
