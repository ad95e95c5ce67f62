"""What fine-tuning the transformer buys: contrastive pairs and a logistic head, as SetFit does it, beside the product.

    python -m tests.benchmarks.finetuned --data FOLDER [--quick]

The same weights as the product's, in single precision. Every sample makes twenty pairs with its own pole and twenty
with the other; one epoch over them in batches of sixteen, at a rate of 2e-5 with warm-up, drop-out and decay; then
logistic regression on the tuned sentence vectors. Written in jax, which the project does not install: without it the
script says so and measures nothing.
"""

# ruff: noqa: T201

import importlib.util
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from tests.benchmarks import protocol
from tests.benchmarks.page import Measured, Table, run
from tests.benchmarks.scorers import METHODS, OURS, logistic_published
from tests.encoders.reference import Reference

SETS = ("cr", "sst2", "clickbait")

_PAIRS, _BATCH, _RATE, _WARM_UP, _DECAY, _DROP = 20, 16, 2e-5, 0.1, 0.01, 0.1
_LAYERS, _HEADS, _WIDTH, _LONGEST, _STEP = 6, 12, 384, 256, 32
_HEAD_ONLY, _TUNED = "logistic head only", "fine-tuned, logistic head"

Weights = Mapping[str, Any]


def measure(folder: Path, *, sets: Sequence[str], k: int, seeds: int) -> Measured:
    """AUROC, accuracy and seconds a trait."""
    if importlib.util.find_spec("jax") is None:
        note = "Not measured: install jax (pip install jax) into a copy of the environment, and run again."
        return Measured([Table("Fine-tuning", ["method"], [], note)], {"measured": False})
    values: dict[tuple[str, str], list[Mapping[str, float]]] = {}
    for name in sets:
        for draw in protocol.draws(protocol.load(name, folder), (k,), seeds):
            for method, figures in _methods(draw):
                print(f"{name}, {method}: {figures}", file=sys.stderr, flush=True)
                values.setdefault((method, name), []).append(figures)
    return Measured([_table(values, sets, k, seeds)], {"k": k, "seeds": seeds, "cells": _plain(values)})


def _methods(draw: protocol.Draw) -> Iterator[tuple[str, Mapping[str, float]]]:
    data, train, quality = draw.data, draw.texts, np.array(draw.quality)
    ways: dict[str, Callable[[], Sequence[float]]] = {
        _HEAD_ONLY: lambda: logistic_published(train, draw.quality, data.test),
        _TUNED: lambda: _head(_tuned(train, quality > 0.5, draw.seed), train, quality, data.test),
        OURS: lambda: METHODS[OURS](train, draw.quality, data.test, trait=vars(data.trait)),
    }
    for method, way in ways.items():
        began = time.perf_counter()
        scores = way()
        yield method, {**protocol.judged(data, scores), "seconds": time.perf_counter() - began}


def _head(weights: Weights, train: Sequence[str], quality: NDArray[np.float64], test: Sequence[str]) -> list[float]:
    trained = LogisticRegression(max_iter=2_000).fit(_encode(weights, train), quality > 0.5)
    return [float(score) for score in trained.predict_proba(_encode(weights, test))[:, 1]]


# ---- tuning --------------------------------------------------------------------------------------------------------


def _tuned(texts: Sequence[str], positive: NDArray[np.bool_], seed: int) -> Weights:
    import jax

    lot = np.random.default_rng(seed)
    pairs = _pairs(positive, lot)
    steps = -(-len(pairs) // _BATCH)
    weights, ids = _published(), _ids(texts)
    moments = [jax.tree.map(np.zeros_like, weights) for _ in range(2)]
    learn, key = _learn(), jax.random.key(seed)
    for step in range(steps):
        own = np.resize(pairs[step * _BATCH : (step + 1) * _BATCH], (_BATCH, 3))
        batch = [_padded([ids[i] for i in own[:, side]]) for side in (0, 1)]
        length = max(side.shape[1] for side in batch)
        batch = [np.pad(side, ((0, 0), (0, length - side.shape[1]))) for side in batch]
        rate = _RATE * min((step + 1) / max(1, _WARM_UP * steps), (steps - step) / ((1 - _WARM_UP) * steps))
        weights, *moments = learn(
            weights,
            *moments,
            batch[0],
            batch[1],
            own[:, 2].astype(np.float32),
            rate,
            step + 1.0,
            jax.random.fold_in(key, step),
        )
    return weights


def _pairs(positive: NDArray[np.bool_], lot: np.random.Generator) -> NDArray[np.int64]:
    """(n, 3): two samples, and whether they are of one pole; in any order."""
    results = []
    for i, pole in enumerate(positive):
        same, other = np.flatnonzero(positive == pole), np.flatnonzero(positive != pole)
        results += [(i, lot.choice(same[same != i]), 1) for _ in range(_PAIRS)]
        results += [(i, lot.choice(other), 0) for _ in range(_PAIRS)]
    return lot.permutation(np.array(results))


@cache
def _learn() -> Any:
    """One step of AdamW on the squared error of the cosines."""
    import jax
    import jax.numpy as jnp

    def loss(weights: Weights, first: Any, second: Any, same: Any, key: Any) -> Any:
        keys = jax.random.split(key)
        results = [_vectors(weights, ids, key) for ids, key in zip((first, second), keys, strict=True)]
        return jnp.square((results[0] * results[1]).sum(axis=1) - same).mean()

    def step(
        weights: Weights, mean: Any, square: Any, first: Any, second: Any, same: Any, rate: Any, count: Any, key: Any
    ) -> Any:
        slope = jax.grad(loss)(weights, first, second, same, key)
        length = jnp.sqrt(sum(jnp.square(each).sum() for each in jax.tree.leaves(slope)))
        slope = jax.tree.map(lambda each: each * jnp.minimum(1, 1 / (length + 1e-6)), slope)
        mean = jax.tree.map(lambda old, new: 0.9 * old + 0.1 * new, mean, slope)
        square = jax.tree.map(lambda old, new: 0.999 * old + 0.001 * new * new, square, slope)

        def moved(weight: Any, m: Any, s: Any) -> Any:
            towards = (m / (1 - 0.9**count)) / (jnp.sqrt(s / (1 - 0.999**count)) + 1e-8)
            return weight - rate * (towards + _DECAY * weight)

        return jax.tree.map(moved, weights, mean, square), mean, square

    return jax.jit(step, donate_argnums=(1, 2))


# ---- the transformer -----------------------------------------------------------------------------------------------


@cache
def _reference() -> Reference:
    return Reference()


def _published() -> Weights:
    return {name: value for name, value in _reference().weights.items() if value.dtype == np.float32}


def _ids(texts: Sequence[str]) -> list[list[int]]:
    return [_reference().tokenizer.encode(text).ids[:_LONGEST] for text in texts]


def _padded(ids: Sequence[Sequence[int]]) -> NDArray[np.int32]:
    """Zero is what pads; the length is one of a few, since each is compiled for itself."""
    length = -(-max(map(len, ids)) // _STEP) * _STEP
    rows = np.zeros((len(ids), length), np.int32)
    for row, own in zip(rows, ids, strict=True):
        row[: len(own)] = own
    return rows


def _encode(weights: Weights, texts: Sequence[str]) -> NDArray[np.float32]:
    ids, size = _ids(texts), 2 * _BATCH
    order = np.argsort([len(own) for own in ids], kind="stable")
    vectors = np.empty((len(ids), _WIDTH), np.float32)
    for first in range(0, len(order), size):
        own = order[first : first + size]
        result = _still()(weights, _padded([ids[i] for i in np.resize(own, size)]))
        vectors[own] = np.asarray(result)[: len(own)]
    return vectors


@cache
def _still() -> Any:
    import jax

    return jax.jit(partial(_vectors, key=None))


def _vectors(weights: Weights, ids: Any, key: Any) -> Any:
    """Unit vectors: the mean of the last layer over the tokens; with a key, parts are dropped at random."""
    import jax
    import jax.numpy as jnp

    keys = iter(jax.random.split(key, 1 + 3 * _LAYERS)) if key is not None else None
    mask = (ids > 0).astype(jnp.float32)

    def dropped(values: Any) -> Any:
        if keys is None:
            return values
        return values * jax.random.bernoulli(next(keys), 1 - _DROP, values.shape) / (1 - _DROP)

    def dense(values: Any, name: str) -> Any:
        return values @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def norm(values: Any, name: str) -> Any:
        values = values - values.mean(axis=-1, keepdims=True)
        values = values / jnp.sqrt(jnp.square(values).mean(axis=-1, keepdims=True) + 1e-12)
        return values * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def heads(values: Any) -> Any:
        return values.reshape(*ids.shape, _HEADS, -1).transpose(0, 2, 1, 3)

    def attended(hidden: Any, name: str) -> Any:
        query, key, value = (heads(dense(hidden, f"{name}.{part}")) for part in ("query", "key", "value"))
        affinity = query @ key.transpose(0, 1, 3, 2) / np.sqrt(_WIDTH / _HEADS) + 1e9 * (mask - 1)[:, None, None, :]
        result = dropped(jax.nn.softmax(affinity)) @ value
        return result.transpose(0, 2, 1, 3).reshape(hidden.shape)

    hidden = weights["embeddings.word_embeddings.weight"][ids]
    hidden += weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
    hidden = dropped(norm(hidden + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm"))
    for layer in range(_LAYERS):
        name = f"encoder.layer.{layer}"
        result = dropped(dense(attended(hidden, f"{name}.attention.self"), f"{name}.attention.output.dense"))
        hidden = norm(hidden + result, f"{name}.attention.output.LayerNorm")
        wide = jax.nn.gelu(dense(hidden, f"{name}.intermediate.dense"), approximate=False)
        hidden = norm(hidden + dropped(dense(wide, f"{name}.output.dense")), f"{name}.output.LayerNorm")
    total = (hidden * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
    return total / jnp.linalg.norm(total, axis=1, keepdims=True)


# ---- the table -----------------------------------------------------------------------------------------------------


def _table(
    results: Mapping[tuple[str, str], Sequence[Mapping[str, float]]], sets: Sequence[str], k: int, seeds: int
) -> Table:
    rows = [[method, *(_cell(results[method, name]) for name in sets)] for method in (_HEAD_ONLY, _TUNED, OURS)]
    title = f"Fine-tuning as SetFit does it, k={k}, {seeds} draws: AUROC, accuracy, seconds with the scoring of the set"
    return Table(title, ["method", *sets], rows)


def _cell(runs: Sequence[Mapping[str, float]]) -> str:
    auroc, accuracy, seconds = (mean(run[figure] for run in runs) for figure in ("auroc", "accuracy", "seconds"))
    return f"{auroc:.3f} {accuracy:.3f} {seconds:.1f} s"


def _plain(results: Mapping[tuple[str, str], Sequence[Mapping[str, float]]]) -> list[dict[str, Any]]:
    return [{"method": method, "set": name, "runs": runs} for (method, name), runs in results.items()]


if __name__ == "__main__":
    run(
        "finetuned",
        measure,
        data=True,
        quick={"sets": SETS[:1], "k": 8, "seeds": 1},
        whole={"sets": SETS, "k": 8, "seeds": 2},
    )
