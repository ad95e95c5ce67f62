"""The demo models and the labelled texts that teach them, as plain values.

Only the standard library is used, and nothing is checked here: the wire types check what is sent, and the tests check
the promises of the README. Every call reads anew, so that a caller may change what it was given.
"""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["FOLDER", "DemoModel", "demo_models", "store_version"]

_CARRIED = Path(__file__).with_name("data")
FOLDER = _CARRIED if _CARRIED.is_dir() else Path(__file__).parents[2] / "sample_data"
"""The files: a wheel carries them in the package, a checkout has them at its top."""
_VERSION = "version.json.gz"


@dataclass(frozen=True)
class DemoModel:
    """A demo model: `definition`, `traits` and `samples` go to the API as they are.

    `examples` are texts to try, by a name. `version` is what they give, as a bundle has it; None if it does not exist.
    """

    handle: str
    definition: dict[str, Any]
    traits: list[dict[str, Any]]
    samples: list[dict[str, Any]]
    examples: dict[str, str]
    version: dict[str, Any] | None


def demo_models() -> tuple[DemoModel, ...]:
    """All demo models, by handle."""
    return tuple(sorted(map(_model, _folders()), key=lambda model: model.handle))


def _folders() -> Iterator[Path]:
    return (file.parent for file in FOLDER.glob("*/model.json"))


def _model(folder: Path) -> DemoModel:
    about = json.loads(folder.joinpath("model.json").read_text(encoding="utf-8"))
    return DemoModel(
        handle=about["handle"],
        definition={field: about[field] for field in ("handle", "description", "readme_markdown")},
        traits=about["traits"],
        samples=_lines(folder.joinpath("samples.jsonl")),
        examples=about["examples"],
        version=_version(folder),
    )


def store_version(handle: str, version: str) -> None:
    """Write the trained version of a demo model, a JSON object, to its folder."""
    [folder] = (each for each in _folders() if _model(each).handle == handle)
    # Without a time, so that equal versions give equal files.
    folder.joinpath(_VERSION).write_bytes(gzip.compress(version.encode(), mtime=0))


def _version(folder: Path) -> dict[str, Any] | None:
    try:
        version: dict[str, Any] = json.loads(gzip.decompress(folder.joinpath(_VERSION).read_bytes()))
    except FileNotFoundError:
        return None
    return version


def _lines(file: Path) -> list[dict[str, Any]]:
    # Not splitlines: a text may hold U+2028, which is a line break to Python and none to JSON Lines.
    return [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]
