"""Which of several graphs is used, on which processor, and what is said about it."""

import platform
from collections.abc import Sequence
from pathlib import Path

import pytest

from traitbench.encoders import EncoderUnavailable, graph_choice
from traitbench.encoders.folder_settings import ChoiceOpen, FolderSettings
from traitbench.encoders.graph_choice import Graph

VNNI, AVX512, AVX2, ARM = "x86-64 with AVX-512 VNNI", "x86-64 with AVX-512", "x86-64", "ARM64"
HUB = ("O1", "O2", "O3", "O4", "qint8_arm64", "qint8_avx512", "qint8_avx512_vnni", "quint8_avx2")
JS = ("quantized", "int8", "uint8", "fp16", "q4", "q4f16", "bnb4")


def chosen(path: Path, files: Sequence[str], *, cpu: str = VNNI, graph: str | None = None) -> Graph:
    for file in files:
        (path / file).parent.mkdir(exist_ok=True, parents=True)
        (path / file).touch()
    settings = FolderSettings(path / "traitbench.json", graph=graph, given={"graph": graph} if graph else {})
    found = graph_choice.choose(path, ("", "onnx"), settings, cpu=cpu)
    assert found is not None
    return found


def variants(names: Sequence[str], *, stem: str = "onnx/model") -> list[str]:
    return [f"{stem}_{name}.onnx" for name in names]


@pytest.mark.parametrize(
    ("cpu", "names", "expected"),
    [
        (VNNI, HUB, "qint8_avx512_vnni"),
        (AVX512, HUB, "qint8_avx512"),
        (AVX2, HUB, "quint8_avx2"),
        (ARM, HUB, "qint8_arm64"),
        ("this processor", HUB, "O2"),
        (VNNI, ("qint8_avx512", "quint8_avx2"), "qint8_avx512"),
        (VNNI, ("O3", "quint8_avx2"), "quint8_avx2"),
        (AVX2, ("O1", "O2", "O3", "O4", "qint8_arm64"), "O2"),
        (ARM, ("O1", "O3", "qint8_avx512"), "O1"),
        *((cpu, JS, "quantized") for cpu in (VNNI, AVX512, AVX2, ARM, "this processor")),
        (AVX2, ("int8", "uint8", "fp16"), "int8"),
        (AVX2, ("optimized", "O2"), "optimized"),
        (ARM, ("O4",), "O4"),
        (ARM, ("q4",), "q4"),
    ],
)
def test_the_variant_that_suits_the_processor_is_used(
    tmp_path: Path, cpu: str, names: Sequence[str], expected: str
) -> None:
    assert chosen(tmp_path, variants(names), cpu=cpu).file == tmp_path / "onnx" / f"model_{expected}.onnx"


def test_the_reason_names_the_processor(tmp_path: Path) -> None:
    assert chosen(tmp_path, variants(HUB), cpu=ARM).why == "It is the int8 graph for ARM64."


def test_model_onnx_goes_first_and_names_the_faster_one(tmp_path: Path) -> None:
    found = chosen(tmp_path, ["onnx/model.onnx", *variants(HUB)])
    assert found.file.name == "model.onnx"
    assert 'set graph to "int8": it means onnx/model_qint8_avx512_vnni.onnx on' in found.why


def test_a_graph_for_another_processor_is_used_with_a_warning_if_it_is_the_only_one(tmp_path: Path) -> None:
    assert "made for another processor" in chosen(tmp_path, ["model_qint8_arm64.onnx"]).why
    assert chosen(tmp_path, ["model_qint8_arm64.onnx"], cpu=ARM).why == "It is the only graph in the folder."


@pytest.mark.parametrize(
    "files",
    [
        ["model.onnx", "onnx/model.onnx"],
        ["a.onnx", "b.onnx"],
        ["onnx/text_model.onnx", "onnx/vision_model.onnx"],
        ["onnx/text_model_quantized.onnx", "onnx/vision_model_quantized.onnx"],
        ["model_O2.onnx", "onnx/model_O2.onnx"],
        ["model_fp16.onnx", "model_q4.onnx"],
        ["model_qint8_arm64.onnx", "model_q4.onnx"],
    ],
)
def test_graphs_that_cannot_be_ranked_are_an_open_choice(tmp_path: Path, files: list[str]) -> None:
    with pytest.raises(ChoiceOpen, match="It holds 2 graphs, and none of them is the obvious one") as caught:
        chosen(tmp_path, files)
    [choice] = caught.value.choices
    assert sorted(choice.options) == sorted(files)
    example = caught.value.example["graph"]
    settled = chosen(tmp_path, files, graph=example)
    assert settled == Graph(tmp_path / example, "traitbench.json names it.")


@pytest.mark.parametrize("files", [[], ["model.onnx"]])
def test_a_graph_that_is_not_there_is_refused(tmp_path: Path, files: list[str]) -> None:
    for name in ("other.onnx", "/etc/passwd", "onnx"):
        with pytest.raises(EncoderUnavailable, match="which is not a graph in this folder"):
            chosen(tmp_path, files, graph=name)


def test_a_folder_without_graphs_gives_none(tmp_path: Path) -> None:
    for file in ("notes/model.onnx", "model.onnx.txt"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).touch()
    assert graph_choice.choose(tmp_path, ("", "onnx"), FolderSettings(tmp_path / "traitbench.json"), cpu=VNNI) is None


@pytest.mark.parametrize(
    ("machine", "features", "expected"),
    [
        ("x86_64", {"AVX512F": True, "AVX512_SKX": True, "AVX512_CLX": True}, VNNI),
        ("AMD64", {"AVX512F": True, "AVX512_SKX": True, "AVX512_CLX": False}, AVX512),
        ("x86_64", {"AVX2": True}, AVX2),
        ("x86_64", {}, AVX2),
        ("aarch64", {"ASIMD": True}, ARM),
        ("arm64", {}, ARM),
        ("riscv64", {}, "this processor"),
    ],
)
def test_processors_are_told_apart(
    monkeypatch: pytest.MonkeyPatch, machine: str, features: dict[str, bool], expected: str
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(graph_choice, "_features", lambda: features)
    assert graph_choice.processor.__wrapped__() == expected


def test_numpy_tells_the_features_of_this_processor() -> None:
    assert any(graph_choice._features().values())
