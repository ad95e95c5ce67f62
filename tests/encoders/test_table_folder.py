"""A static table in a folder: its mean, the style block and n-grams."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

from tests.encoders.folders import VOCABULARY, WIDTH, graph, load, note, numbers, own_part, table, table_folder, unit
from traitbench.encoders import EncoderUnavailable, grams

COUNT = len(VOCABULARY)


def ids(*words: str) -> list[int]:
    return [VOCABULARY[word] for word in words]


def test_a_text_is_the_mean_of_its_tokens_beside_style_and_grams(tmp_path: Path) -> None:
    encoder = load(table_folder(tmp_path))
    assert encoder.dimension == WIDTH + 67 + grams.CELLS
    assert encoder.id.startswith(f"table-wsn-1-{WIDTH}-")
    np.testing.assert_allclose(
        own_part(encoder, "Thank you"), unit(table()[ids("thank", "you")].mean(axis=0)), atol=1e-6
    )
    assert encoder.words()[:3] == ["thank", "you", "dear"]
    assert encoder.count_tokens("thank you") == 2


def test_unknown_tokens_are_ignored(tmp_path: Path) -> None:
    encoder = load(table_folder(tmp_path))
    np.testing.assert_allclose(own_part(encoder, "thank zebra you"), own_part(encoder, "thank you"), atol=1e-6)


@pytest.mark.parametrize("kind", [np.float16, np.float64, np.int8])
def test_numbers_of_other_precision_are_read(tmp_path: Path, kind: type[np.generic]) -> None:
    rows = np.rint(50 * table()).astype(kind)
    expected = unit(rows[ids("send", "form")].astype(np.float64).sum(axis=0))
    np.testing.assert_allclose(
        own_part(load(table_folder(tmp_path, embeddings=rows)), "send form"), expected, atol=1e-6
    )


def test_weights_and_shared_rows_are_used(tmp_path: Path) -> None:
    weights, rows = np.linspace(0.1, 2.0, COUNT).astype(np.float32), numbers(3, WIDTH)
    mapping = np.arange(COUNT) % 3
    encoder = load(table_folder(tmp_path, embeddings=rows, weights=weights, mapping=mapping))
    chosen = ids("thank", "you", "dear")
    expected = unit((rows[mapping[chosen]] * weights[chosen, None]).sum(axis=0))
    np.testing.assert_allclose(own_part(encoder, "thank you dear"), expected, atol=1e-6)


def test_the_layout_of_sentence_transformers_is_read(tmp_path: Path) -> None:
    path = table_folder(tmp_path / "0_StaticEmbedding", **{"embedding.weight": table()})
    note(path.parent, "modules.json", [{"type": "sentence_transformers.models.StaticEmbedding"}])
    np.testing.assert_allclose(
        own_part(load(path.parent), "thank you"), unit(table()[ids("thank", "you")].sum(axis=0)), atol=1e-6
    )


def test_a_table_is_preferred_to_a_graph_made_from_it(tmp_path: Path) -> None:
    path = table_folder(tmp_path)
    (path / "model.onnx").write_bytes(graph().SerializeToString())
    assert load(path).id.startswith("table-")


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
