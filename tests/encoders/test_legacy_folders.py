"""A folder that is read as in the first releases keeps its digest. For others, old versions keep their encoder."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.encoders.folders import VOCABULARY, WIDTH, graph, hidden, load, note, onnx_folder, table, table_folder, unit
from tests.real_encoder import KEPT
from traitbench.encoders import grams
from traitbench.encoders.registry import load_legacy
from traitbench.encoders.style import StyleBlock
from traitbench.encoders.table import WORDLLAMA

CLS = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
QUERY = {"prompts": {"query": "dear "}, "default_prompt_name": "query"}


def first_digest(path: Path, model: str = "model.onnx") -> str:
    """The digest that the first releases gave to a folder with a graph, computed from its files."""
    files = {"the model": path / model}
    for name in (
        *("tokenizer.json", "config.json", "tokenizer_config.json", "sentence_bert_config.json"),
        *("config_sentence_transformers.json", "modules.json", "1_Pooling/config.json"),
    ):
        if (path / name).is_file():
            files[name] = path / name
    parts = ["onnx-1", "(1.0, 0.4, 0.2)", StyleBlock().digest, *WORDLLAMA]
    return hashlib.sha256("\n".join((*parts, *hashes(files))).encode()).hexdigest()


def first_table_digest(path: Path, inner: str) -> str:
    """The same for a folder with a static table."""
    files = {"the model": path / inner / "model.safetensors", "tokenizer.json": path / inner / "tokenizer.json"}
    files |= {name: path / name for name in ("config.json", "modules.json") if (path / name).is_file()}
    own = hashlib.sha256("\n".join(("table-wsn-1", *hashes(files))).encode()).hexdigest()
    parts = (f"table-wsn-1-{WIDTH}-{own[:8]}", own, "(1.0, 0.3, 1.0)", StyleBlock().digest, grams.RECIPE)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def hashes(files: dict[str, Path]) -> list[str]:
    return [f"{name} {hashlib.sha256(file.read_bytes()).hexdigest()}" for name, file in sorted(files.items())]


@pytest.mark.parametrize(
    ("model", "how", "notes"),
    [
        ("model.onnx", {}, {}),
        ("onnx/model.onnx", {"pooling": CLS}, {"sentence_bert_config.json": {"max_seq_length": 32}}),
        ("model_quantized.onnx", {"pooling": {"pooling_mode": "mean_sqrt_len_tokens"}}, {}),
        ("model.onnx", {"pooling": {"pooling_mode_lasttoken": True}}, {"config_sentence_transformers.json": QUERY}),
        ("model.onnx", {"model": graph(output="sentence_embedding"), "pooling": None, "modules": None}, {}),
    ],
)
def test_a_folder_that_is_read_as_before_keeps_its_digest(
    tmp_path: Path, model: str, how: dict[str, Any], notes: dict[str, Any]
) -> None:
    path = onnx_folder(tmp_path, name=model, **how)
    for name, content in notes.items():
        note(path, name, content)
    assert load(path).digest == first_digest(path, model)
    assert load(path).id.startswith("onnx-1-")


def test_a_table_that_is_read_as_before_keeps_its_digest(tmp_path: Path) -> None:
    assert load(table_folder(tmp_path)).digest == first_table_digest(tmp_path, "")


Made = Callable[[Path], Path]


def _silent(path: Path) -> Path:
    return onnx_folder(path, pooling=None, modules=None)


def _long(path: Path) -> Path:
    return onnx_folder(path, model=graph(positions=1_024), config={"max_position_embeddings": 1_024})


def _prompts(path: Path) -> Path:
    note(onnx_folder(path), "config_sentence_transformers.json", {"prompts": {"query": "dear "}})
    return path


@pytest.mark.parametrize("made", [_silent, _long, _prompts])
@pytest.mark.parametrize("settled", [False, True])
def test_a_folder_that_is_read_otherwise_now_still_serves_versions_from_before(
    tmp_path: Path, made: Made, settled: bool
) -> None:
    path = made(tmp_path)
    if settled:
        note(path, "traitbench.json", {"pooling": "cls", "prompt": ""})
    encoder = load_legacy(str(path), digest=first_digest(path), cache=KEPT)
    assert encoder is not None
    assert encoder.digest == first_digest(path)
    words = ["thank", "you", "send"] * 200  # 602 tokens: two parts of 300 when at most 512 go together
    text = " ".join(words) if made is _long else "thank you"
    parts = [words[:300], words[300:]] if made is _long else [["thank", "you"]]
    means = [hidden(part, positions=1_024 if made is _long else 64).mean(axis=0) for part in parts]
    expected = unit(np.sum(means, axis=0))
    np.testing.assert_allclose(unit(encoder.encode([text])[0][:WIDTH].astype(np.float64)), expected, atol=1e-6)
    assert load_legacy(str(path), digest="0" * 64, cache=KEPT) is None
    if settled or made is _long:
        assert load(path).digest != encoder.digest
        assert load(path).id.startswith("onnx-2-")


def test_a_table_of_sentence_transformers_serves_versions_from_before(tmp_path: Path) -> None:
    table_folder(tmp_path / "0_StaticEmbedding", **{"embedding.weight": table()})
    (tmp_path / "0_StaticEmbedding" / "config.json").unlink()
    encoder = load_legacy(str(tmp_path), digest=first_table_digest(tmp_path, "0_StaticEmbedding"), cache=KEPT)
    assert encoder is not None
    expected = unit(table()[[VOCABULARY["thank"], VOCABULARY["you"]]].mean(axis=0))
    vector = encoder.encode(["thank zebra you"])[0][:WIDTH].astype(np.float64)
    np.testing.assert_allclose(unit(vector), expected, atol=1e-6)
    assert load(tmp_path).id.startswith("table-wsn-2-")


@pytest.mark.parametrize("name", [None, "full", "/not/there"])
def test_without_a_folder_there_is_no_earlier_reading(name: str | None) -> None:
    assert load_legacy(name, digest="0" * 64, cache=KEPT) is None


@pytest.mark.parametrize(
    "how",
    [
        {"pooling": {"pooling_mode_max_tokens": True}},
        {"pooling": {"pooling_mode_attention": True}},
        {"pooling": {**CLS, "pooling_mode_lasttoken": True}},
        {"modules": ["Transformer", "Pooling", "Dense"]},
    ],
)
def test_what_earlier_releases_refused_stays_refused(tmp_path: Path, how: dict[str, Any]) -> None:
    path = onnx_folder(tmp_path, **how)
    assert load_legacy(str(path), digest=first_digest(path), cache=KEPT) is None
