"""The quantized graph compared with the same model in numpy."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.encoders.reference import Reference
from traitbench.encoders import graph, minilm
from traitbench.encoders.statistics import generic_texts, load_statistics, measure


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> minilm.MiniLM:
    return minilm.load(cache=tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def reference() -> Reference:
    return Reference()


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


@pytest.mark.parametrize("text", ["ok", *generic_texts()[::40], " ".join(generic_texts()[:12])])
def test_both_layers_agree_with_the_published_weights(encoder: minilm.MiniLM, reference: Reference, text: str) -> None:
    means, layers = encoder.means(text), reference.layers(text)
    assert means is not None
    assert cosine(means[: graph.WIDTH], layers[graph.EARLY_LAYER - 1]) > 0.98
    assert cosine(means[graph.WIDTH :], layers[-1]) > 0.94


def test_texts_that_mean_the_same_stay_near(encoder: minilm.MiniLM) -> None:
    one, same, other = encoder.encode(
        ["The meeting was postponed.", "They put off the meeting.", "Whales feed on tiny shrimp."]
    )
    assert one @ same > one @ other + 0.2


@pytest.mark.parametrize("draw", [graph.whole, graph.lower])
def test_a_graph_is_the_same_bytes_every_time(draw: Callable[[graph.Weights], bytes], reference: Reference) -> None:
    assert draw(reference.weights) == draw(reference.weights)


def test_weights_keep_to_seven_bits() -> None:
    """The sum of two products of 255 and 63 fits 16 bits, on every processor."""
    assert 2 * 255 * graph.LARGEST < 2**15


def test_statistics_were_measured_on_the_shipped_texts(encoder: minilm.MiniLM) -> None:
    shipped = load_statistics("minilm")
    again = measure(np.array([encoder.means(text) for text in generic_texts()]))
    np.testing.assert_allclose(shipped.mean, again.mean, atol=0.02)
    np.testing.assert_allclose(shipped.deviation, again.deviation, atol=0.02)


def test_the_cache_has_a_file_per_graph_of_tens_of_megabytes(
    tmp_path: Path,
) -> None:
    encoder = minilm.load(cache=tmp_path)
    [whole] = tmp_path.iterdir()
    assert 25e6 < whole.stat().st_size < 45e6
    encoder.encode(["Good morning!"], mode="layer4")
    lower, same = sorted(tmp_path.iterdir())
    assert same == whole
    assert 25e6 < lower.stat().st_size < whole.stat().st_size
