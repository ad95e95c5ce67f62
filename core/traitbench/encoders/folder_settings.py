"""Read `traitbench.json`, the file beside a model that settles what its other files leave open.

A folder that leaves a choice open is refused with `ChoiceOpen`, which names the choice, its options and the file.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_args

from traitbench.encoders import EncoderUnavailable

NAME = "traitbench.json"
_LARGEST = 1_000_000  # bytes
SHORTEST = 8

Pooling = Literal["mean", "cls", "max", "last", "mean_sqrt_len", "weighted_mean"]
Recipe = Literal["static", "full"]

POOLINGS: tuple[Pooling, ...] = get_args(Pooling)
RECIPES: tuple[Recipe, ...] = get_args(Recipe)


@dataclass(frozen=True)
class FolderSetting:
    """A choice that a folder leaves open: the setting, the question, the options, and an example of an answer."""

    setting: str
    question: str
    options: Sequence[str]
    example: str


class ChoiceOpen(EncoderUnavailable):
    """The folder leaves choices open; `file` with `example` as its content would settle them."""

    def __init__(self, folder: Path, choices: Sequence[FolderSetting], *, given: Mapping[str, Any]) -> None:
        self.choices, self.file = tuple(choices), folder / NAME
        self.example = {**given, **{choice.setting: choice.example for choice in choices}}
        questions = " ".join(f"{choice.question} Options: {_listed(choice.options)}." for choice in choices)
        super().__init__(
            f"{folder} leaves {'a choice' if len(choices) == 1 else 'choices'} open. {questions} Write your choice into"
            f" {self.file}, for example: {json.dumps(self.example)}"
        )


@dataclass(frozen=True)
class FolderSettings:
    """The settings of a folder; None means that the other files decide. `content` is what the file held when read."""

    file: Path
    pooling: Pooling | None = None
    prompt: str | None = None
    graph: str | None = None
    output: str | None = None
    length: int | None = None
    dimension: int | None = None
    recipe: Recipe | None = None
    given: Mapping[str, Any] = field(default_factory=dict)
    content: bytes | None = None

    def allow(self, *names: str, kind: str) -> None:
        """Raise `EncoderUnavailable` if a setting has no meaning for this kind of model."""
        useless = sorted(set(self.given) - set(names))
        if useless:
            raise self.wrong(f"sets {useless[0]}, which has no effect on {kind}. Remove it.")

    def wrong(self, what: str) -> EncoderUnavailable:
        """An error about the file."""
        return EncoderUnavailable(f"{self.file} {what}")


def read_settings(folder: Path, *, subfolders: Sequence[str] = ()) -> FolderSettings:
    """The settings of a folder; raise `EncoderUnavailable` for any content that is not exactly as documented.

    Settings in `subfolders`, with parts of the model, are refused: they would be without effect.
    """
    file = folder / NAME
    for subfolder in subfolders:
        if (misplaced := folder / subfolder / NAME) != file and misplaced.is_file():
            raise EncoderUnavailable(f"{misplaced} is not read. Move it to {file}.")
    settings = FolderSettings(file)
    if not file.is_file():
        if file.is_symlink() or file.exists():
            raise settings.wrong("is not a file. Replace it by a file.")
        return settings
    with file.open("rb") as opened:
        content = opened.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise settings.wrong("has more than 1 MB. Keep only the settings in it.")
    given = _parsed(settings, content)
    for name, value in given.items():
        _check(settings, name, value)
    return FolderSettings(file, **given, given=given, content=content)


def _parsed(settings: FolderSettings, content: bytes) -> dict[str, Any]:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        # JSON itself would silently take the last one.
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise settings.wrong(f"sets {twice[0]} twice. Keep one.")
        return dict(pairs)

    try:
        given = json.loads(content, object_pairs_hook=once)
    except (ValueError, RecursionError):
        raise settings.wrong(f'is not valid JSON. Write an object such as {{"{_NAMES[0]}": "cls"}}.') from None
    if not isinstance(given, dict):
        raise settings.wrong(f'is not a JSON object. Write an object such as {{"{_NAMES[0]}": "cls"}}.')
    return given


def _check(settings: FolderSettings, name: str, value: Any) -> None:
    if name not in _NAMES:
        raise settings.wrong(f"sets {name[:60]!r}, which is not a setting. Use {_listed(_NAMES)}.")
    options = _OPTIONS.get(name)
    least = _LEAST.get(name)
    if options:
        if value not in options:
            raise settings.wrong(f"sets {name} to {_shown(value)}. Use one of {_listed(options)}.")
    elif least is not None:
        # Not `isinstance`: true is an integer to Python.
        if type(value) is not int or not least <= value < _MOST:
            raise settings.wrong(f"sets {name} to {_shown(value)}. Use a whole number from {least}.")
    elif not is_text(value) or (name != "prompt" and not value):
        raise settings.wrong(f"sets {name} to {_shown(value)}. Use {_TEXT[name]}.")


def is_text(value: Any) -> bool:
    """Whether a value is a text of valid characters; JSON can write half a character."""
    return isinstance(value, str) and not any("\ud800" <= sign <= "\udfff" for sign in value)


def _shown(value: Any) -> str:
    return json.dumps(value)[:60]


def _listed(options: Sequence[str]) -> str:
    return ", ".join(option or '""' for option in options)


_NAMES = tuple(each.name for each in fields(FolderSettings) if each.name not in ("file", "given", "content"))
_OPTIONS: Mapping[str, tuple[str, ...]] = {"pooling": POOLINGS, "recipe": RECIPES}
_LEAST = {"length": SHORTEST, "dimension": 1}
_MOST = 2**31
_TEXT = {
    "prompt": 'the name of a prompt of the model, the text of a prompt, or "" for none',
    "graph": "the name of an ONNX file in the folder",
    "output": "the name of an output of the graph",
}
