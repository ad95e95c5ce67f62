"""A folder that the first recipe can read keeps its digest, because versions of 0.2.0 name it."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from tests.encoders.folders import WIDTH, graph, load, note, onnx_folder, table_folder
from traitbench.encoders import grams
from traitbench.encoders.style import StyleBlock
from traitbench.encoders.table import WORDLLAMA

CLS = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
QUERY = {"prompts": {"query": "dear "}, "default_prompt_name": "query"}


def first_digest(path: Path, model: str = "model.onnx") -> str:
    """The digest of the first recipe for a folder with a graph, computed from its files."""
    files = {"the model": path / model}
    for name in (
        *("tokenizer.json", "config.json", "tokenizer_config.json", "sentence_bert_config.json"),
        *("config_sentence_transformers.json", "modules.json", "1_Pooling/config.json"),
    ):
        if (path / name).is_file():
            files[name] = path / name
    parts = ["onnx-1", "(1.0, 0.4, 0.2)", StyleBlock().digest, *WORDLLAMA]
    return hashlib.sha256("\n".join((*parts, *hashes(files))).encode()).hexdigest()


def first_table_digest(path: Path) -> str:
    """The same for a folder with a static table."""
    files = {"the model": path / "model.safetensors", "tokenizer.json": path / "tokenizer.json"}
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
def test_a_folder_keeps_the_digest_of_the_first_recipe(
    tmp_path: Path, model: str, how: dict[str, Any], notes: dict[str, Any]
) -> None:
    path = onnx_folder(tmp_path, name=model, **how)
    for name, content in notes.items():
        note(path, name, content)
    assert load(path).digest == first_digest(path, model)
    assert load(path).id.startswith("onnx-1-")


def test_a_table_keeps_the_digest_of_the_first_recipe(tmp_path: Path) -> None:
    assert load(table_folder(tmp_path)).digest == first_table_digest(tmp_path)
