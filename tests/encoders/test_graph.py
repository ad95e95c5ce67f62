"""The quantized graph compared with the same model in numpy."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.encoders.reference import Reference
from traitbench.encoders import graph, minilm
from traitbench.encoders.runtime import InferenceSession, SessionOptions
from traitbench.encoders.style import generic_texts, load_statistics, measure


@pytest.fixture(scope="module")
def reference() -> Reference:
    return Reference()


@pytest.fixture(scope="module")
def content(reference: Reference) -> bytes:
    return graph.build(reference.weights, layers=minilm.LAYERS, early=minilm.EARLY_LAYER)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> minilm.MiniLM:
    """Built anew, by the code of today."""
    return minilm.load(cache=tmp_path_factory.mktemp("cache"))


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


@pytest.mark.parametrize("text", ["ok", *generic_texts()[::40], " ".join(generic_texts()[:12])])
def test_both_layers_agree_with_the_published_weights(encoder: minilm.MiniLM, reference: Reference, text: str) -> None:
    means, layers = encoder.transformer.means(text), reference.layers(text)
    assert means is not None
    assert cosine(means[: graph.WIDTH], layers[minilm.EARLY_LAYER - 1]) > 0.98
    assert cosine(means[graph.WIDTH :], layers[-1]) > 0.94


def test_texts_that_mean_the_same_stay_near(encoder: minilm.MiniLM) -> None:
    one, same, other = encoder.encode(
        ["The meeting was postponed.", "They put off the meeting.", "Whales feed on tiny shrimp."]
    )
    assert one @ same > one @ other + 0.2


def test_the_graph_is_the_same_bytes_every_time(content: bytes, reference: Reference) -> None:
    assert graph.build(reference.weights, layers=minilm.LAYERS, early=minilm.EARLY_LAYER) == content


@pytest.mark.parametrize("text", ["ok", *generic_texts()[:20], " ".join(generic_texts()[:40])])
def test_layer_4_alone_is_bit_for_bit_that_of_a_whole_run(encoder: minilm.MiniLM, text: str) -> None:
    [[alone]], _ = encoder.transformer.blocks([text], whole=False)
    [[early], _], _ = encoder.transformer.blocks([text])
    np.testing.assert_array_equal(alone, early)


def test_layer_4_alone_runs_fewer_layers(tmp_path: Path, content: bytes) -> None:
    nodes = {whole: profiled(content, whole, tmp_path) for whole in (True, False)}
    assert nodes[True].count("QAttention") == minilm.LAYERS
    assert nodes[False].count("QAttention") == minilm.EARLY_LAYER


def profiled(content: bytes, whole: bool, folder: Path) -> list[str]:
    """The types of the nodes that one run executes."""
    options = SessionOptions()
    options.enable_profiling, options.profile_file_prefix = True, str(folder / "profile")
    session = InferenceSession(content, options, providers=["CPUExecutionProvider"])
    session.run(None, {graph.TEXT: np.array([[101, 7592, 102]]), graph.WHOLE: np.array(whole)})
    events = json.loads(Path(session.end_profiling()).read_text("utf-8"))
    return [each["args"]["op_name"] for each in events if each["name"].endswith("_kernel_time")]


def test_weights_keep_to_seven_bits() -> None:
    """The sum of two products of 255 and 63 fits 16 bits, on every processor."""
    assert 2 * 255 * graph.LARGEST < 2**15


def test_statistics_were_measured_on_the_shipped_texts(encoder: minilm.MiniLM) -> None:
    shipped = load_statistics("minilm")
    again = measure(np.array([encoder.transformer.means(text) for text in generic_texts()]))
    np.testing.assert_allclose(shipped.mean, again.mean, atol=0.02)
    np.testing.assert_allclose(shipped.deviation, again.deviation, atol=0.02)
