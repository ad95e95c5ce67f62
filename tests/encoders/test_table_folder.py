"""A static table in a folder: its mean, the style block and n-grams."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from numpy.typing import NDArray

from tests.encoders.folders import (
    VOCABULARY,
    WIDTH,
    graph,
    load,
    note,
    numbers,
    same,
    settings,
    table,
    table_folder,
    unit,
)
from tests.real_encoder import KEPT
from traitbench.encoders import EncoderUnavailable, grams
from traitbench.encoders.minilm import MiniLM
from traitbench.encoders.minilm_full import WEIGHTS
from traitbench.encoders.registry import load_encoder
from traitbench.encoders.style import StyleBlock

COUNT = len(VOCABULARY)
TEXT = "Thank you friend"


def ids(*words: str) -> list[int]:
    return [VOCABULARY[word] for word in words]


def mean(*words: str) -> NDArray[np.float32]:
    """The mean of the rows of these words."""
    return np.asarray(table()[ids(*words)].mean(axis=0))


def test_a_text_is_the_mean_of_its_tokens_beside_style_and_grams(tmp_path: Path) -> None:
    path = table_folder(tmp_path)
    same(path, mean("thank", "you"), "Thank you")
    encoder = load(path)
    assert encoder.dimension == WIDTH + 67 + grams.CELLS
    assert encoder.id.startswith(f"table-wsn-1-{WIDTH}-")
    assert encoder.words()[:3] == ["thank", "you", "dear"]
    assert encoder.count_tokens("thank you") == 2


@pytest.mark.parametrize("kind", [np.float16, np.float64, np.int8])
def test_numbers_of_other_precision_are_read(tmp_path: Path, kind: type[np.generic]) -> None:
    rows = np.rint(50 * table()).astype(kind)
    expected = rows[ids("send", "form")].astype(np.float64).sum(axis=0)
    same(table_folder(tmp_path, embeddings=rows), expected, "send form")


def test_weights_and_shared_rows_are_used(tmp_path: Path) -> None:
    weights, rows = np.linspace(0.1, 2.0, COUNT).astype(np.float32), numbers(3, WIDTH)
    mapping = np.arange(COUNT) % 3
    path = table_folder(tmp_path, embeddings=rows, weights=weights, mapping=mapping)
    chosen = ids("thank", "you", "dear")
    same(path, (rows[mapping[chosen]] * weights[chosen, None]).sum(axis=0), "thank you dear")


def test_a_table_is_preferred_to_a_graph_made_from_it(tmp_path: Path) -> None:
    path = table_folder(tmp_path)
    (path / "model.onnx").write_bytes(graph().SerializeToString())
    assert load(path).id.startswith("table-")


def of_sentence_transformers(path: Path, **more: str) -> Path:
    table_folder(path / "0_StaticEmbedding", **{"embedding.weight": table()})
    (path / "0_StaticEmbedding" / "config.json").unlink()
    modules = {"StaticEmbedding": "0_StaticEmbedding", **more}
    note(path, "modules.json", [{"type": f"st.models.{kind}", "path": place} for kind, place in modules.items()])
    return path


def test_sentence_transformers_counts_unknown_words_and_model2vec_does_not(tmp_path: Path) -> None:
    path = of_sentence_transformers(tmp_path / "st", Normalize="1_Normalize")
    same(path, mean("thank", "you", "[UNK]"), "thank you zebra")
    same(table_folder(tmp_path / "m2v"), mean("thank", "you"), "thank you zebra")


def test_a_static_table_is_read_with_the_tokenizer_beside_it(tmp_path: Path) -> None:
    path = of_sentence_transformers(tmp_path)
    (path / "tokenizer.json").write_text("{}")
    same(path, mean("thank", "you", "friend"), TEXT)


def test_modules_after_a_static_table_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EncoderUnavailable, match="has a module Dense besides the static table"):
        load(of_sentence_transformers(tmp_path, Dense="1_Dense"))


def test_a_static_table_with_a_prompt_is_refused(tmp_path: Path) -> None:
    path, prompts = table_folder(tmp_path), {"prompts": {"query": "dear "}, "default_prompt_name": "query"}
    note(path, "config_sentence_transformers.json", prompts)
    with pytest.raises(EncoderUnavailable, match=r'has a prompt, .* Set prompt to "" in'):
        load(path)
    same(settings(path, prompt=""), mean("thank", "you", "friend"), TEXT)


@pytest.mark.parametrize("made", [table_folder, of_sentence_transformers])
def test_a_table_may_replace_the_static_half_of_the_default_encoder(
    tmp_path: Path, made: Callable[[Path], Path]
) -> None:
    encoder = load(settings(made(tmp_path), recipe="full"))
    minilm, full = load_encoder("minilm", cache=KEPT), load_encoder("minilm-full", cache=KEPT)
    assert isinstance(minilm, MiniLM)
    [early, late], _ = minilm.transformer.blocks([TEXT])
    static = unit(mean("thank", "you", "friend"))
    blocks = [early[0], late[0], static, StyleBlock().rows([TEXT])[0]]
    weighted = [weight * block for weight, block in zip(WEIGHTS, blocks, strict=True)]
    np.testing.assert_allclose(encoder.encode([TEXT])[0], unit(np.concatenate(weighted)), atol=1e-6)
    assert dict(encoder.modes) == {"layer4": slice(0, 384), "static": slice(768, 768 + WIDTH + 67)}
    assert encoder.digest not in (full.digest, load(made(tmp_path / "alone")).digest)


@pytest.mark.parametrize(
    ("tensors", "says"),
    [
        ({"encoder.layer.0.weight": table()}, r"no tensor embeddings.*optimum-cli export onnx"),
        ({"embeddings": table()[0]}, r"embeddings .* has the shape \(12,\)"),
        ({"embeddings": table()[:5]}, rf"has 5 rows, but the tokenizer has {COUNT} tokens"),
        ({"embeddings": table().astype(np.int32)}, r"has the type int32, but must have float16"),
        ({"embeddings": np.full_like(table(), np.inf)}, r"not finite"),
        ({"embeddings": table(), "weights": np.ones(3, np.float32)}, r"weights .* is float32 \(3,\)"),
        ({"embeddings": table(), "mapping": np.full(COUNT, 99)}, r"refers to rows beyond the 24 rows of the table"),
        ({"embeddings": table(), "mapping": np.zeros(COUNT, np.float32)}, r"mapping .* is float32"),
    ],
)
def test_an_unusable_table_is_refused_with_cause_and_remedy(tmp_path: Path, tensors: dict[str, Any], says: str) -> None:
    with pytest.raises(EncoderUnavailable, match=says):
        load(table_folder(tmp_path, **tensors))


def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    path = table_folder(tmp_path)
    content = (path / "model.safetensors").read_bytes()
    (path / "model.safetensors").write_bytes(content[:-9])
    with pytest.raises(EncoderUnavailable, match="not a readable file of tensors"):
        load(path)


def test_another_table_has_another_digest(tmp_path: Path) -> None:
    one, other = table_folder(tmp_path / "one"), table_folder(tmp_path / "other", embeddings=2 * table())
    assert load(one).digest != load(other).digest
    assert safetensors.numpy.load_file(one / "model.safetensors").keys() == {"embeddings"}
