"""What a folder must contain to be an encoder, and the errors if it does not."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tokenizers import Tokenizer

from tests.encoders.folders import (
    VOCABULARY,
    WIDTH,
    hidden,
    load,
    note,
    onnx_folder,
    same,
    settings,
    table,
    table_folder,
)
from tests.real_encoder import KEPT
from traitbench.encoders import EncoderUnavailable
from traitbench.encoders.folder import LARGEST
from traitbench.encoders.registry import load_encoder

OF_GRAPH = hidden(("thank", "you", "friend")).mean(axis=0)
OF_TABLE = table()[[VOCABULARY[word] for word in ("thank", "you", "friend")]].mean(axis=0)
_NO_UNKNOWN = json.dumps({"added_tokens": [], "model": {"type": "WordLevel", "vocab": {}, "unk_token": "[UNK]"}})


def _huge(path: Path) -> None:
    os.truncate(path / "model.onnx", LARGEST + 1)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda path: (path / "model.onnx").unlink(), r"neither model\.onnx, onnx/model\.onnx nor model\.safetensors"),
        (lambda path: (path / "tokenizer.json").unlink(), r"no tokenizer\.json\. Save the tokenizer beside the model"),
        (lambda path: (path / "tokenizer.json").write_text("{}"), r"tokenizer\.json is not a tokenizer"),
        (lambda path: (path / "tokenizer.json").write_bytes(b"\xff"), r"tokenizer\.json is not a tokenizer"),
        (lambda path: (path / "model.onnx").write_bytes(b"not a graph"), r"not a graph that onnxruntime can read"),
        (lambda path: (path / "model.onnx").write_bytes(b""), r"not a graph that onnxruntime can read"),
        (lambda path: (path / "model.onnx").write_bytes(b"location"), r"model\.onnx is not an ONNX graph"),
        (
            lambda path: (path / "config.json").write_text("{"),
            r"config\.json in .* is not valid JSON\. Save the model again",
        ),
        (lambda path: note(path, "config.json", ["bert"]), r"config\.json in .* is not a JSON object"),
        (
            lambda path: note(path, "modules.json", {"0": "Transformer"}),
            r"modules\.json in .* is not a list of modules",
        ),
        (lambda path: (path / "modules.json").write_text("[" * 100_000), r"modules\.json in .* is not valid JSON"),
        (
            lambda path: note(path, "modules.json", [{"path": "../x"}]),
            r"modules\.json in .* names '\.\./x', outside",
        ),
        (lambda path: note(path, "modules.json", [{"path": "/etc"}]), r"modules\.json in .* names '/etc', outside the"),
        (
            lambda path: note(path, "1_Pooling/config.json", {"pooling_mode_cls_token": "true"}),
            r'1_Pooling/config\.json in .* sets pooling_mode_cls_token to "true"\. Write true or false',
        ),
        (lambda path: note(path, "1_Pooling/config.json", {"include_prompt": 0}), r"sets include_prompt to 0"),
        (
            lambda path: note(path, "1_Pooling/config.json", {"pooling_mode": None}),
            r"names a pooling that is not known",
        ),
        (lambda path: (path / "tokenizer.json").write_text(_NO_UNKNOWN), r"tokenizer\.json fails on a first text"),
        (_huge, r"has 2\.0 GiB; up to 2 GiB are read\. Take a smaller model, or quantise this one"),
    ],
)
def test_an_unusable_folder_is_refused_with_a_remedy(
    tmp_path: Path, spoil: Callable[[Path], object], says: str
) -> None:
    spoil(onnx_folder(tmp_path))
    with pytest.raises(EncoderUnavailable, match=says):
        load_encoder(str(tmp_path), cache=KEPT)


@pytest.mark.parametrize("name", ["/not/there", "./not-there", "~/not-there"])
def test_a_missing_folder_is_named(name: str) -> None:
    with pytest.raises(EncoderUnavailable, match=r"There is no folder /.*there\. TRAITBENCH_ENCODER takes"):
        load_encoder(str(Path(name).expanduser().absolute()), cache=KEPT)


@pytest.mark.parametrize("made", [onnx_folder, table_folder])
def test_a_changed_file_has_no_effect_until_the_next_start(made: Any, tmp_path: Path) -> None:
    path = made(tmp_path)
    encoder = load_encoder(str(path), cache=KEPT)
    before = encoder.encode(["thank you"])
    for file in path.rglob("*.*"):
        file.unlink()
    np.testing.assert_array_equal(load_encoder(str(path), cache=KEPT).encode(["thank you"]), before)


def extended(path: Path) -> Path:
    """The folder with a tokenizer that has two tokens more than the model."""
    made = Tokenizer.from_file(str(path / "tokenizer.json"))
    made.add_tokens(["zebra", "yak"])
    made.save(str(path / "tokenizer.json"))
    return path


@pytest.mark.parametrize(
    ("made", "expected"),
    [(onnx_folder, OF_GRAPH), (table_folder, OF_TABLE)],
)
def test_added_tokens_beyond_the_table_are_ignored(
    tmp_path: Path, made: Callable[[Path], Path], expected: NDArray[np.float32]
) -> None:
    path = made(tmp_path)
    if (path / "model.onnx").exists():
        with pytest.raises(EncoderUnavailable, match=r"fails on a first text.*\"vocab_size\": 30522"):
            load(extended(made(tmp_path / "unstated")))
        note(path, "config.json", {"model_type": "bert", "max_position_embeddings": 64, "vocab_size": len(VOCABULARY)})
    path = extended(path)
    same(path, expected, "thank zebra you friend yak")
    encoder = load(path)
    assert encoder.count_tokens("thank zebra you") == 2
    assert not encoder.encode(["zebra"])[0][:WIDTH].any()


@pytest.mark.parametrize(("made", "expected"), [(onnx_folder, OF_GRAPH), (table_folder, OF_TABLE)])
def test_a_matryoshka_model_may_be_cut(
    tmp_path: Path, made: Callable[[Path], Path], expected: NDArray[np.float32]
) -> None:
    path = settings(made(tmp_path / "cut"), dimension=5)
    same(path, expected[:5], "thank you friend")
    assert load(path).dimension == load(made(tmp_path / "whole")).dimension - WIDTH + 5
    with pytest.raises(EncoderUnavailable, match=r"traitbench\.json sets dimension to 13, but .* Use at most 12"):
        load(settings(made(tmp_path / "wide"), dimension=13))
