"""Which kind of encoder a folder holds, and loading it."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from traitbench.encoders import Encoder, EncoderUnavailable, Part, onnx_folder, reading, table_folder
from traitbench.encoders.folder import NOTES, POOLING, Folder, module_folders, read
from traitbench.encoders.folder_settings import ChoiceOpen, FolderSetting, FolderSettings, read_settings
from traitbench.encoders.onnx_folder import OnnxFolder

_log = logging.getLogger(__name__)

_TABLE = "model.safetensors"
_GRAPH = "model.onnx"
_TRIED = 512
_WAY_OUT = "TRAITBENCH_ENCODER takes a folder with an ONNX model or a static table, or the name of an encoder."


@dataclass(frozen=True)
class Graph:
    """A graph's file, and the reason for using it."""

    file: Path
    why: str


@dataclass(frozen=True)
class Opened:
    """An encoder with what it was made of: its files, its settings, and its graph or its table."""

    encoder: Encoder
    source: Folder
    settings: FolderSettings
    model: Graph | table_folder.Loaded


def load(path: Path, part: Part) -> Encoder:
    """The encoder of a folder; `EncoderUnavailable`, naming cause and way out, where there is none that can be used."""
    opened = open_folder(path, part)
    if isinstance(opened.model, Graph):
        _log.info("The encoder %s uses %s. %s", opened.encoder.id, opened.model.file, opened.model.why)
    return opened.encoder


def open_folder(path: Path, part: Part) -> Opened:
    """As `load`, with the files and the reasons."""
    try:
        return _open(path, part)
    except OSError as error:
        raise _unreadable(error) from None


def _open(path: Path, part: Part) -> Opened:
    if not path.is_dir():
        raise EncoderUnavailable(f"There is no folder {path}. {_WAY_OUT}")
    modules = module_folders(path)
    inner = modules.get("Transformer", "")
    subfolders = tuple(dict.fromkeys(("", "onnx", inner, f"{inner}/onnx".lstrip("/"))))
    table = _table(path, modules.get("StaticEmbedding", ""))
    settings = read_settings(path, subfolders=(*subfolders, str(table.parent) if table else ""))
    graph = None
    if not (table and _is_static(path)):
        graph = _graph(path, subfolders, settings)
    if graph:
        return _open_graph(path, graph, settings, part, modules)
    if not table:
        raise EncoderUnavailable(
            f"{path} holds neither model.onnx, onnx/model.onnx nor model.safetensors.{_hint(path)} {_WAY_OUT}"
        )
    source = read(path, table, subfolders=(str(table.parent.relative_to(path)), ""), settings=settings)
    loaded = table_folder.load(source, settings)
    encoder = table_folder.beside_minilm(loaded.static, part) if settings.recipe == "full" else loaded.static
    return Opened(encoder, source, settings, loaded)


def _graph(path: Path, subfolders: Sequence[str], settings: FolderSettings) -> Graph | None:
    """The graph that the settings name, or else `model.onnx`, or else the only one; None if the folder has none.

    Several variants without a `model.onnx` are an open choice: each int8 graph suits one kind of processor.
    """
    files = sorted({file for subfolder in subfolders for file in (path / subfolder).glob("*.onnx") if file.is_file()})
    named = {file.relative_to(path).as_posix(): file for file in files}
    if settings.graph is not None:
        if not named:
            raise settings.wrong("sets graph, but the folder has no ONNX file.")
        if settings.graph not in named:
            raise settings.wrong(
                f"sets graph to {settings.graph[:100]!r}, which is not a graph in this folder. Use one of"
                f" {', '.join(named)}."
            )
        return Graph(named[settings.graph], f"{settings.file.name} names it.")
    if not files:
        return None
    usual = [file for file in files if file.name == _GRAPH]
    if len(usual) == 1:
        return Graph(usual[0], f"It is named {_GRAPH}.")
    if len(files) == 1:
        return Graph(files[0], "It is the only graph in the folder.")
    question = f"It has {len(usual) or 'no'} {_GRAPH} among {len(files)} graphs."
    raise ChoiceOpen(path, [FolderSetting("graph", question, list(named), next(iter(named)))], given=settings.given)


def _open_graph(path: Path, graph: Graph, settings: FolderSettings, part: Part, modules: Mapping[str, str]) -> Opened:
    pooling = f"{modules['Pooling']}/config.json" if modules.get("Pooling") else POOLING
    notes = tuple(dict.fromkeys((*NOTES, pooling)))
    subfolders = ("", modules.get("Transformer", ""))
    source, weights = _with_weights(path, graph.file, notes=notes, subfolders=subfolders, settings=settings)
    session = onnx_folder.session(source, weights)
    chosen = reading.read(source, session, settings, pooling_note=pooling)
    transformer = onnx_folder.Transformer(source, session, chosen)
    transformer.fill(min(chosen.length, _TRIED))  # a graph that cannot read what its folder promises fails now
    first = not settings.given and not transformer.outside and chosen == reading.of_first_recipe(source, chosen)
    recipe = onnx_folder.FIRST_RECIPE if first else onnx_folder.RECIPE
    encoder = OnnxFolder(source, transformer, onnx_folder.static_part(part), recipe=recipe)
    return Opened(encoder, source, settings, graph)


def _with_weights(path: Path, file: Path, **how: Any) -> tuple[Folder, dict[str, Path]]:
    """The files of a graph, and those of them that hold its weights."""
    source = read(path, file, **how)
    weights = onnx_folder.weight_files(source)
    return (read(path, file, beside=list(weights.values()), **how) if weights else source), weights


def _table(path: Path, inner: str) -> Path | None:
    names = (_TABLE, f"{inner}/{_TABLE}".lstrip("/"))
    return next((path / name for name in names if (path / name).is_file()), None)


def _is_static(path: Path) -> bool:
    """Whether the configuration calls the encoder a static table, even if the folder has an ONNX export of it."""
    markers = {"modules.json": b"StaticEmbedding", "config.json": b'"model2vec"'}
    return any((path / name).is_file() and mark in (path / name).read_bytes() for name, mark in markers.items())


def _hint(path: Path) -> str:
    """Where the model lies if the folder is one of a download cache."""
    below = sorted(path.glob("snapshots/*/"))
    return f" It is a download cache: use {below[-1]}." if below else ""


def _unreadable(error: OSError) -> EncoderUnavailable:
    return EncoderUnavailable(f"{error.filename} cannot be read ({error.strerror}). Let this user read it.")
