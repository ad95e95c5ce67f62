"""The demo models and the labelled texts that teach them, as plain values read from the files beside this.

Only the standard library is used, and nothing is checked here: the wire types check what is sent, and the tests check
the promises of the README. Every call reads anew, so that a caller may change what it was given.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

__all__ = ["DemoModel", "demo_models"]


@dataclass(frozen=True)
class DemoModel:
    """A demo model: `definition`, `traits` and `samples` go to the API as they are, `examples` are texts to try."""

    handle: str
    definition: dict[str, Any]
    traits: list[dict[str, Any]]
    samples: list[dict[str, Any]]
    examples: list[str]


def demo_models() -> tuple[DemoModel, ...]:
    """All demo models, by handle."""
    return tuple(sorted(map(_model, _folders()), key=lambda model: model.handle))


def _folders() -> Iterator[Traversable]:
    return (folder for folder in files(__name__).iterdir() if folder.joinpath("model.json").is_file())


def _model(folder: Traversable) -> DemoModel:
    about = json.loads(folder.joinpath("model.json").read_text(encoding="utf-8"))
    return DemoModel(
        handle=about["handle"],
        definition={field: about[field] for field in ("handle", "description", "readme_markdown")},
        traits=about["traits"],
        samples=_lines(folder.joinpath("samples.jsonl")),
        examples=about["examples"],
    )


def _lines(file: Traversable) -> list[dict[str, Any]]:
    # Not splitlines: a text may hold U+2028, which is a line break to Python and none to JSON Lines.
    return [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]
