"""Load an encoder from a folder: its files are read once, with a digest of everything that decides its vectors.

Two kinds are known: an ONNX graph with its tokenizer, as optimum, sentence-transformers and fastembed write it, and a
static table (`model.safetensors`) with its tokenizer, as model2vec writes it. The bytes that were hashed are the bytes
that are used: a file that changes later has no effect until the next start, which then gives another digest.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from traitbench.encoders import EncoderUnavailable
from traitbench.encoders.folder_settings import NAME, FolderSettings

# All files are read into memory at a start, so that what was hashed is what is used.
LARGEST = 2 * 2**30
MODEL = "the model"

POOLING = "1_Pooling/config.json"
NOTES = (
    "config.json",
    "tokenizer_config.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "modules.json",
    POOLING,
)


@dataclass(frozen=True, eq=False)
class Folder:
    """The files of an encoder: the model, its tokenizer, and the optional configuration files beside them."""

    path: Path
    model: Path
    contents: Mapping[str, bytes]

    @property
    def size(self) -> int:
        """The size of all files."""
        return sum(map(len, self.contents.values()))

    def note(self, name: str) -> dict[str, Any]:
        """The content of a configuration file; empty if there is none."""
        result = self._parsed(name, {})
        if not isinstance(result, dict):
            raise EncoderUnavailable(f"{name} in {self.path} is not a JSON object. Save the model again.")
        return result

    def modules(self) -> list[str]:
        """The kinds of modules that a text goes through, where the folder lists them: Transformer, Pooling, ..."""
        return [kind for kind, _ in _modules(self.path, self._parsed("modules.json", []))]

    def digest(self, *recipe: str) -> str:
        """SHA-256 of the contents and of the recipe that uses them."""
        parts = [f"{name} {hashlib.sha256(content).hexdigest()}" for name, content in sorted(self.contents.items())]
        return hashlib.sha256("\n".join((*recipe, *parts)).encode()).hexdigest()

    def _parsed(self, name: str, otherwise: Any) -> Any:
        try:
            return json.loads(self.contents[name]) if name in self.contents else otherwise
        except (ValueError, RecursionError):
            raise EncoderUnavailable(f"{name} in {self.path} is not valid JSON. Save the model again.") from None


def module_folders(path: Path) -> Mapping[str, str]:
    """The subfolder of each kind of module that `modules.json` lists; "" for the folder itself."""
    file = path / "modules.json"
    try:
        listed = json.loads(file.read_bytes()) if file.is_file() else []
    except (ValueError, RecursionError):
        raise EncoderUnavailable(f"modules.json in {path} is not valid JSON. Save the model again.") from None
    return dict(_modules(path, listed))


def read(
    path: Path,
    model: Path,
    *,
    notes: Sequence[str] = NOTES,
    beside: Sequence[Path] = (),
    subfolders: Sequence[str] = ("",),
    settings: FolderSettings | None = None,
) -> Folder:
    """Read all files that decide the vectors; refuse if one is missing or they are too large together.

    `notes` are the configuration files to read if they exist, `beside` further files of the model. Both the notes and
    the tokenizer are looked for in `subfolders`, in order, and then beside the model. The settings were read
    before.
    """
    folders = [*(path / subfolder for subfolder in subfolders), model.parent]
    note_files = {name: file for name in notes if (file := _find(folders, name))}
    tokenizer = _find(folders, "tokenizer.json")
    if tokenizer is None:
        raise EncoderUnavailable(
            f"{path} has no tokenizer.json. Save the tokenizer beside the model (transformers writes the file for a"
            " fast tokenizer), or choose another encoder with TRAITBENCH_ENCODER."
        )
    files = {MODEL: model, "tokenizer.json": tokenizer, **{each.name: each for each in beside}, **note_files}
    size = sum(file.stat().st_size for file in files.values())
    if size > LARGEST:
        raise EncoderUnavailable(
            f"The encoder in {path} has {size / 2**30:.1f} GiB; up to {LARGEST / 2**30:.0f} GiB are read. Take a"
            " smaller model, or quantise this one."
        )
    contents = {name: file.read_bytes() for name, file in files.items()}
    if settings is not None and settings.content is not None:
        contents[NAME] = settings.content
    return Folder(path, model, contents)


def _find(folders: Sequence[Path], name: str) -> Path | None:
    """The first file with this name."""
    return next((file for folder in folders if (file := folder / name).is_file()), None)


def _modules(path: Path, listed: Any) -> list[tuple[str, str]]:
    """The kind and the subfolder of each listed module."""
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise EncoderUnavailable(f"modules.json in {path} is not a list of modules. Save the model again.")
    return [(str(each.get("type", "")).rpartition(".")[2], _inside(path, each.get("path", ""))) for each in listed]


def _inside(path: Path, subfolder: Any) -> str:
    parts = Path(str(subfolder)).parts
    if ".." in parts or Path(str(subfolder)).is_absolute():
        raise EncoderUnavailable(
            f"modules.json in {path} names {subfolder!r}, outside the folder. Save the model again."
        )
    return "/".join(parts)
