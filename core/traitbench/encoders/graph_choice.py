"""Choose the graph of a folder that holds several, and say why.

The names are those that optimum, sentence-transformers and Transformers.js give to variants of one model. A setting
decides first, then the name `model.onnx`. Without either, the int8 variant for this processor is used. Variants for
different processors are different encoders, because their numbers differ.
"""

import importlib
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from traitbench.encoders.folder_settings import INT8, ChoiceOpen, FolderSetting, FolderSettings

_ANY_INT8 = ("quantized", "int8", "uint8", "q8")
_INT8: Mapping[str, tuple[str, ...]] = {
    "x86-64 with AVX-512 VNNI": ("qint8_avx512_vnni", "qint8_avx512", "quint8_avx2", *_ANY_INT8),
    "x86-64 with AVX-512": ("qint8_avx512", "quint8_avx2", *_ANY_INT8),
    "x86-64": ("quint8_avx2", *_ANY_INT8),
    "ARM64": ("qint8_arm64", *_ANY_INT8),
    "this processor": _ANY_INT8,
}
"""The int8 variants that suit a processor, the best first."""

# The same numbers but for rounding. O3 replaces a function by an approximation, so it comes last.
_OPTIMIZED = ("optimized", "O2", "O1", "O3")
_OTHER = ("O4", "fp16", "q4", "q4f16", "bnb4", "qint8_avx512_vnni", "qint8_avx512", "quint8_avx2", "qint8_arm64")
# The longest first: one may end like another.
_SUFFIXES = sorted((*_ANY_INT8, *_OPTIMIZED, *_OTHER), key=len, reverse=True)
_OWN_NAME = "model"


@dataclass(frozen=True)
class Graph:
    """A graph's file, and the reason for using it."""

    file: Path
    why: str


@cache
def processor() -> str:
    """The kind of this processor, a key of the table of int8 variants."""
    if platform.machine().lower() in ("aarch64", "arm64"):
        return "ARM64"
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return "this processor"
    features = _features()
    if features.get("AVX512_CLX") or features.get("AVX512VNNI"):
        return "x86-64 with AVX-512 VNNI"
    return "x86-64 with AVX-512" if features.get("AVX512_SKX") or features.get("AVX512F") else "x86-64"


def choose(folder: Path, places: Sequence[str], settings: FolderSettings, *, cpu: str) -> Graph | None:
    """The graph to use among those in these places of the folder; None if there is none.

    Raise `ChoiceOpen` if the files do not decide.
    """
    files = sorted({file for place in places for file in (folder / place).glob("*.onnx") if file.is_file()})
    if settings.graph not in (None, INT8):
        return _named(folder, files, settings)
    if not files:
        if settings.graph:
            raise settings.wrong("sets graph, but the folder has no ONNX file.")
        return None
    own = [file for file in files if file.stem == _OWN_NAME]
    if settings.graph is None:
        if len(own) == 1:
            return Graph(own[0], f"It is named {own[0].name}.{_faster(folder, files, cpu)}")
        if len(files) == 1:
            return Graph(files[0], f"It is the only graph in the folder.{_foreign(files[0], cpu)}")
    if not own or settings.graph == INT8:
        for suffixes, why in ((_INT8[cpu], f"It is the int8 graph for {cpu}."), (_OPTIMIZED, _SAME_NUMBERS)):
            best = _best(files, suffixes)
            if best:
                return Graph(best, why)
            if settings.graph == INT8:
                raise settings.wrong(f'sets graph to "{INT8}", but no int8 graph in the folder suits {cpu}.')
    raise ChoiceOpen(
        folder,
        [
            FolderSetting(
                "graph",
                f"It holds {len(files)} graphs, and none of them is the obvious one.",
                [file.relative_to(folder).as_posix() for file in files],
                files[0].relative_to(folder).as_posix(),
            )
        ],
        given=settings.given,
    )


_SAME_NUMBERS = "It is an optimized variant of the model; the variants give the same numbers but for rounding."


def _named(folder: Path, files: Sequence[Path], settings: FolderSettings) -> Graph:
    known = [file.relative_to(folder).as_posix() for file in files]
    if settings.graph not in known:
        raise settings.wrong(
            f"sets graph to {str(settings.graph)[:100]!r}, which is not a graph in this folder. Use one of"
            f" {', '.join([*known, INT8]) if known else 'its files'}."
        )
    return Graph(folder / settings.graph, f"{settings.file.name} names it.")


def _best(files: Sequence[Path], suffixes: Sequence[str]) -> Path | None:
    """The best of the variants of one model; None if there is none or if it is not clear."""
    split = {file: parts for file in files if (parts := _split(file.stem))}
    if len({name for name, _ in split.values()} | {file.stem for file in files if file not in split}) > 1:
        return None
    for suffix in suffixes:
        matching = [file for file, (_, its_suffix) in split.items() if its_suffix == suffix]
        if matching:
            return matching[0] if len(matching) == 1 else None
    return None


def _split(stem: str) -> tuple[str, str] | None:
    """The name of a model and the suffix of its variant; None for a name without a known suffix."""
    return next(
        ((name, suffix) for suffix in _SUFFIXES if (name := stem.removesuffix(f"_{suffix}")) not in ("", stem)), None
    )


def _faster(folder: Path, files: Sequence[Path], cpu: str) -> str:
    """A hint at the int8 graph beside the chosen one."""
    best = _best(files, _INT8[cpu])
    return (
        f' For speed, set graph to "{INT8}": it means {best.relative_to(folder).as_posix()} on {cpu}.' if best else ""
    )


def _foreign(file: Path, cpu: str) -> str:
    """A warning if the graph was made for another kind of processor."""
    parts = _split(file.stem)
    made_for_one = parts is not None and any(parts[1] in suffixes for suffixes in _INT8.values())
    suits = parts is None or parts[1] in _INT8[cpu]
    return "" if suits or not made_for_one else f" It was made for another processor than {cpu}: it may be inexact."


def _features() -> Mapping[str, bool]:
    """The instruction sets that numpy found, by name."""
    try:
        module = importlib.import_module("numpy._core._multiarray_umath")
        features: Mapping[str, bool] = module.__cpu_features__
    except (ImportError, AttributeError):
        return {}
    return features
