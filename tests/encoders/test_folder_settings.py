"""`traitbench.json`: what it may say, what is refused, and that it is part of the digest."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.encoders.folders import load, note, onnx_folder, table_folder
from traitbench.encoders import EncoderUnavailable
from traitbench.encoders.folder_settings import NAME


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", r"is not valid JSON\. Write an object such as"),
        (b"\xff", r"is not valid JSON"),
        (b"[" * 100_000, r"is not valid JSON"),
        (b'{"pooling": "cls"}' + b" " * 1_000_000, r"has more than 1 MB"),
        (b'["cls"]', r"is not a JSON object"),
        (b"null", r"is not a JSON object"),
        (b'{"pooling": "cls", "pooling": "mean"}', r"sets pooling twice\. Keep one"),
        (b'{"poling": "cls"}', r"sets 'poling', which is not a setting\. Use pooling, prompt, graph, output"),
        (b'{"file": "x"}', r"sets 'file', which is not a setting"),
        (b'{"given": {}}', r"sets 'given', which is not a setting"),
        (
            b'{"pooling": "CLS"}',
            r'sets pooling to "CLS"\. Use one of mean, cls, max, last, mean_sqrt_len, weig',
        ),
        (b'{"pooling": null}', r"sets pooling to null"),
        (b'{"pooling": ["cls"]}', r'sets pooling to \["cls"\]'),
        (b'{"recipe": "best"}', r'sets recipe to "best"\. Use one of static, full'),
        (b'{"length": 7}', r"sets length to 7\. Use a whole number from 8"),
        (b'{"length": 64.0}', r"sets length to 64\.0"),
        (b'{"length": "64"}', r'sets length to "64"'),
        (b'{"length": true}', r"sets length to true"),
        (b'{"length": 1%s}' % (b"0" * 300), r"sets length to 1000"),
        (b'{"prompt": "\\ud800 x"}', r"sets prompt to "),
        (b'{"dimension": 0}', r"sets dimension to 0\. Use a whole number from 1"),
        (
            b'{"prompt": null}',
            r"sets prompt to null\. Use the name of a prompt of the model, the text of a prompt",
        ),
        (b'{"prompt": "query"}', r'sets prompt to "query", which is not the name of a prompt of this model\. The text'),
        (b'{"graph": ""}', r'sets graph to ""\. Use the name of an ONNX file in the folder'),
        (b'{"graph": "../model.onnx"}', r"sets graph to '\.\./model\.onnx', which is not a graph .* model\.onnx"),
        (b'{"graph": "int8"}', r"sets graph to 'int8', which is not a graph"),
        (b'{"output": "pooled"}', r"sets output to 'pooled', which is not an output .* Use one of last_hidden_state"),
        (b'{"recipe": "full"}', r"sets recipe, which has no effect on an ONNX model\. Remove it"),
    ],
)
def test_anything_else_than_documented_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    (onnx_folder(tmp_path) / NAME).write_bytes(content)
    with pytest.raises(EncoderUnavailable, match=says) as caught:
        load(tmp_path)
    assert str(caught.value).startswith(str(tmp_path / NAME))


@pytest.mark.parametrize("given", [{"pooling": "cls"}, {"length": 32}])
def test_a_setting_without_effect_on_a_table_is_refused(tmp_path: Path, given: dict[str, Any]) -> None:
    note(table_folder(tmp_path), NAME, given)
    with pytest.raises(EncoderUnavailable, match=f"sets {next(iter(given))}, which has no effect on a static table"):
        load(tmp_path)


def test_a_graph_cannot_be_set_where_there_is_none(tmp_path: Path) -> None:
    note(table_folder(tmp_path), "config.json", {})
    note(tmp_path, NAME, {"graph": "model.onnx"})
    with pytest.raises(EncoderUnavailable, match="sets graph, but the folder has no ONNX file"):
        load(tmp_path)


def test_settings_in_a_subfolder_are_refused(tmp_path: Path) -> None:
    path = onnx_folder(tmp_path, name="onnx/model.onnx")
    note(path, f"onnx/{NAME}", {"pooling": "cls"})
    with pytest.raises(EncoderUnavailable, match=rf"onnx/{NAME} is not read\. Move it to {path / NAME}"):
        load(path)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda file: file.mkdir(), "is not a file"),
        (lambda file: os.mkfifo(file), "is not a file"),
        (lambda file: file.symlink_to("/not/there"), "is not a file"),
        (lambda file: file.symlink_to("/proc/self/mem"), "cannot be read"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, make: Callable[[Path], object], says: str) -> None:
    make(onnx_folder(tmp_path) / NAME)
    with pytest.raises(EncoderUnavailable, match=rf"traitbench\.json {says}|Let this user read it"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("made", "given"),
    [
        (onnx_folder, {"pooling": "mean"}),
        (onnx_folder, {"pooling": "cls"}),
        (onnx_folder, {"prompt": "dear: "}),
        (onnx_folder, {"length": 32}),
        (onnx_folder, {"dimension": 6}),
        (onnx_folder, {}),
        (table_folder, {"dimension": 6}),
        (table_folder, {"recipe": "static"}),
        (table_folder, {"recipe": "full"}),
    ],
)
def test_settings_are_part_of_the_digest(tmp_path: Path, made: Callable[[Path], Path], given: dict[str, Any]) -> None:
    plain, one, same = made(tmp_path / "plain"), made(tmp_path / "one"), made(tmp_path / "same")
    for path in (one, same):
        note(path, NAME, given)
    assert load(one).digest == load(same).digest
    assert load(one).digest != load(plain).digest
    assert load(one).id != load(plain).id
