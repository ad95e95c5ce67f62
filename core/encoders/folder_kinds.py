"""Which kind of encoder a folder holds, and loading it."""

from pathlib import Path

from traitbench.encoders import Encoder, EncoderUnavailable, Part, onnx_folder, table_folder
from traitbench.encoders.folder import read

_TABLES = ("model.safetensors", "0_StaticEmbedding/model.safetensors")
_WAY_OUT = "TRAITBENCH_ENCODER takes a folder with an ONNX model or a static table, or the name of an encoder."


def load(path: Path, part: Part) -> Encoder:
    """The encoder of a folder; raise `EncoderUnavailable`, with cause and remedy, if the folder has no usable one."""
    try:
        return _load(path, part)
    except OSError as error:
        raise EncoderUnavailable(
            f"{error.filename} cannot be read ({error.strerror}). Let this user read it."
        ) from None


def _load(path: Path, part: Part) -> Encoder:
    if not path.is_dir():
        raise EncoderUnavailable(f"There is no folder {path}. {_WAY_OUT}")
    table = next((path / name for name in _TABLES if (path / name).is_file()), None)
    graph = None if table and _is_static(path) else _graph(path)
    if graph:
        return onnx_folder.load(read(path, graph), part)
    if table:
        return table_folder.load(read(path, table))
    raise EncoderUnavailable(f"{path} holds neither model.onnx, onnx/model.onnx nor model.safetensors. {_WAY_OUT}")


def _is_static(path: Path) -> bool:
    """Whether the configuration calls the encoder a static table, even if the folder has an ONNX export of it."""
    markers = {"modules.json": b"StaticEmbedding", "config.json": b'"model2vec"'}
    return any((path / name).is_file() and mark in (path / name).read_bytes() for name, mark in markers.items())


def _graph(path: Path) -> Path | None:
    """The graph of the folder: model.onnx, or else the only one that the folder has."""
    named = [file for name in ("model.onnx", "onnx/model.onnx") if (file := path / name).is_file()]
    graphs = named or sorted([*path.glob("*.onnx"), *path.glob("onnx/*.onnx")])
    if len(graphs) > 1:
        listed = ", ".join(str(each.relative_to(path)) for each in graphs)
        raise EncoderUnavailable(
            f"{path} holds more than one model: {listed}. Keep the one you want, and name it model.onnx."
        )
    return graphs[0] if graphs else None
