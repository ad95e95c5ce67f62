"""`traitbench encoder check`: what is used and why, ten pairs of sentences, exit codes, and what to write."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from tests.cli.asking import call
from tests.encoders.folders import graph, note, onnx_folder, table_folder
from tests.real_encoder import KEPT
from traitbench.encoders import check
from traitbench.encoders.registry import load_encoder
from traitbench.encoders.static import Static


@pytest.fixture(scope="module")
def words() -> NDArray[np.float32]:
    """The vectors of words in a real table, with their weights."""
    static = load_encoder("static", cache=KEPT)
    assert isinstance(static, Static)
    rows: NDArray[np.float32] = static.table._rows.astype(np.float32)
    assert static.table._weights is not None
    return (rows * static.table._weights[:, np.newaxis]).astype(np.float16)


def of_words(path: Path, words: NDArray[Any], *, pooling: Mapping[str, Any] | None) -> Path:
    """A folder with a graph that looks up the vectors of words."""
    drawn = helper.make_graph(
        [helper.make_node("Gather", ["words", "input_ids"], ["last_hidden_state"])],
        "words",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "length"])],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT16, ["batch", "length", words.shape[1]])],
        [numpy_helper.from_array(words, "words")],
    )
    model = helper.make_model(drawn, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx_folder(path, model=model, pooling=pooling)
    _real_tokenizer(path)
    return path


def _real_tokenizer(path: Path) -> None:
    static = load_encoder("static", cache=KEPT)
    assert isinstance(static, Static)
    static.table._tokenizer.save(str(path / "tokenizer.json"))


def test_a_sensible_model_passes(tmp_path: Path, words: NDArray[Any]) -> None:
    path = of_words(tmp_path / "mine", words, pooling={"pooling_mode_mean_tokens": True})
    code, out, err = call(tmp_path, "encoder", "check", str(path))
    assert (code, err) == (0, "")
    lines = dict(line.split(maxsplit=1) for line in out.partition("\n\n")[0].splitlines())
    assert lines["folder"] == str(path)
    assert lines["encoder"].startswith("onnx-1-bert-256-")
    assert lines["graph"] == "model.onnx. It is named model.onnx."
    assert lines["precision"] == "float16. It is the type of most weights."
    assert lines["pooling"] == "mean. 1_Pooling/config.json says mean."
    assert lines["prompt"] == "none. The folder names none."
    assert lines["length"].startswith("64 tokens. It is the smallest limit that the folder states: max_position")
    assert lines["normalisation"] == "length one. The folder asks for it."
    assert lines["speed"].endswith("ms a text (median of short texts, one at a time)")
    assert "25 of 25 comparisons" in out
    assert [line.split()[1] for line in out.splitlines() if " / " in line] == ["similar"] * 5 + ["dissimilar"] * 5


def test_json_has_the_same_and_the_pairs(tmp_path: Path, words: NDArray[Any]) -> None:
    path = table_folder(tmp_path / "mine", embeddings=words)
    _real_tokenizer(path)
    code, out, _ = call(tmp_path, "encoder", "check", str(path), "--json")
    answer = json.loads(out)
    assert (code, answer["usable"], answer["sane"]) == (0, True, True)
    encoder = load_encoder(str(path), cache=KEPT)
    assert answer["encoder"] == {"id": encoder.id, "digest": encoder.digest, "dimension": encoder.dimension}
    assert answer["table"]["value"] == "model.safetensors"
    assert answer["precision"]["value"] == "float16"
    assert answer["ms_per_text"] > 0
    expected = _cosine(path, words, *check.SIMILAR[0])
    assert answer["pairs"][0]["cosine"] == pytest.approx(expected, abs=1e-3)
    assert [pair["similar"] for pair in answer["pairs"]] == [True] * 5 + [False] * 5


def _cosine(path: Path, words: NDArray[Any], one: str, other: str) -> float:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path / "tokenizer.json"))
    means = [
        words[tokenizer.encode(text, add_special_tokens=False).ids].astype(np.float64).mean(axis=0)
        for text in (one, other)
    ]
    return float(means[0] @ means[1] / np.linalg.norm(means[0]) / np.linalg.norm(means[1]))


@pytest.mark.parametrize("name", ["minilm", "static"])
def test_our_own_encoders_tell_the_pairs_apart(name: str) -> None:
    encoder = load_encoder(name, cache=KEPT)
    pairs = check._compared(lambda texts: encoder.encode(texts).astype(np.float64))
    assert check._in_order(pairs) >= check.ENOUGH


def test_vectors_that_make_no_sense_fail_the_check(tmp_path: Path) -> None:
    code, out, err = call(tmp_path, "encoder", "check", str(onnx_folder(tmp_path / "mine")))
    assert code == 1
    assert "12 numbers. All of them." in out
    assert "The vectors do not make sense" in err
    code, out, _ = call(tmp_path, "encoder", "check", str(tmp_path / "mine"), "--json")
    assert (code, json.loads(out)["usable"], json.loads(out)["sane"]) == (1, True, False)


def test_a_refused_folder_prints_what_to_write(tmp_path: Path) -> None:
    path = onnx_folder(tmp_path / "mine", pooling=None, modules=None)
    code, out, err = call(tmp_path, "encoder", "check", str(path))
    assert (code, out) == (1, "")
    assert f'Write your choice into {path / "traitbench.json"}, for example: {{"pooling": "cls"}}' in err
    code, out, _ = call(tmp_path, "encoder", "check", str(path), "--json")
    answer = json.loads(out)
    assert (code, answer["usable"], answer["sane"]) == (1, False, None)
    assert answer["write"] == {"file": str(path / "traitbench.json"), "example": {"pooling": "cls"}}
    assert [choice["setting"] for choice in answer["choices"]] == ["pooling"]
    note(path, "traitbench.json", answer["write"]["example"])
    _, out, _ = call(tmp_path, "encoder", "check", str(path), "--json")
    assert json.loads(out)["pooling"] == {"value": "cls", "why": "traitbench.json sets cls."}


def test_an_unusable_folder_is_refused_without_a_proposal(tmp_path: Path) -> None:
    path = onnx_folder(tmp_path / "mine", modules=["Transformer", "Pooling", "Dense"])
    code, out, err = call(tmp_path, "encoder", "check", str(path), "--json")
    assert (code, json.loads(out)["usable"]) == (1, False)
    assert json.loads(out)["error"] in err.removeprefix("Error: ")
    assert not {"write", "choices"} & set(json.loads(out))


@pytest.mark.parametrize("folder", ["not-there", "file"])
def test_what_is_no_folder_is_a_wrong_command(tmp_path: Path, folder: str) -> None:
    (tmp_path / "file").touch()
    code, out, err = call(tmp_path, "encoder", "check", str(tmp_path / folder))
    assert (code, out) == (2, "")
    assert folder in err


def test_every_choice_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "mine"
    onnx_folder(path, model=graph(), name="onnx/model_O2.onnx", config={"matryoshka_dimensions": [4, 8]})
    prompts = {"prompts": {"query": "dear "}, "default_prompt_name": "query"}
    note(path, "config_sentence_transformers.json", prompts)
    note(path, "1_Pooling/config.json", {"pooling_mode": ["cls", "max"], "include_prompt": False})
    note(path, "sentence_bert_config.json", {"do_lower_case": True})
    answer = json.loads(call(tmp_path, "encoder", "check", str(path), "--json")[1])
    assert answer["graph"]["why"] == "It is the only graph in the folder."
    assert answer["pooling"]["value"] == "cls and max"
    assert answer["prompt"] == {
        "value": "'dear '",
        "why": 'config_sentence_transformers.json makes "query" the default.',
    }
    assert answer["prompt_pooled"]["value"] == "no"
    assert answer["lowercase"]["value"] == "yes"
    assert answer["dimension"]["why"] == "All of them. The model may be cut to 4, 8: set dimension."


def test_int8_is_named(tmp_path: Path) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    path = onnx_folder(tmp_path / "mine")
    file = path / "model.onnx"
    quantize_dynamic(file, file, weight_type=QuantType.QInt8, op_types_to_quantize=["MatMul"])
    answer = json.loads(call(tmp_path, "encoder", "check", str(path), "--json")[1])
    assert answer["precision"]["value"] == "int8"


def test_a_graph_that_fails_on_long_texts_is_found(tmp_path: Path) -> None:
    path = onnx_folder(tmp_path / "mine", model=graph(positions=800), config={"max_position_embeddings": 900})
    code, _, err = call(tmp_path, "encoder", "check", str(path))
    assert code == 1
    assert "fails on a text of 900 tokens" in err
    assert "Set length in" in err


def test_the_full_recipe_is_explained(tmp_path: Path) -> None:
    path = table_folder(tmp_path / "mine")
    note(path, "traitbench.json", {"recipe": "full", "dimension": 8})
    answer = json.loads(call(tmp_path, "encoder", "check", str(path), "--json")[1])
    assert answer["recipe"]["value"] == "full"
    assert answer["dimension"] == {"value": "8 numbers", "why": "traitbench.json cuts the vectors (Matryoshka)."}
    assert answer["encoder"]["dimension"] == 768 + 8 + 67
    assert answer["encoder"]["id"].startswith("full-table-1-8-")
