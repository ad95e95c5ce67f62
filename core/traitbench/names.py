"""The grammar of names: handles, trait keys, tags, versions (core/docs/contract.md, section 2)."""

import re
import unicodedata
from collections.abc import Container
from itertools import chain, count
from typing import NamedTuple

from traitbench.errors import InvalidHandle, InvalidTag, ValidationFailed

_PART = r"[a-z0-9][a-z0-9_-]{0,63}"
NAMESPACE = re.compile(_PART)
HANDLE = re.compile(rf"({_PART})\.({_PART})")
TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
VERSION = re.compile(r"v([0-9]+)")
ACTIVE = "active"
TAG_SCHEMA = rf"^(?!v[0-9]+$|{ACTIVE}$){TAG.pattern}$"  # what `check_tag` accepts

_LONGEST_KEY = _LONGEST_NAME = 64
_NOT_IN_NAMES = re.compile(r"[^a-z0-9_]+")


class Handle(NamedTuple):
    """`<namespace>.<name>`."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}.{self.name}"


class PinnedHandle(NamedTuple):
    """A handle and, after an `@`, the `vN` or tag that it is pinned to."""

    handle: Handle
    version: str | None


def parse_handle(text: str) -> Handle:
    """Parse `<namespace>.<name>`; raise `InvalidHandle` if `text` is something else."""
    if match := HANDLE.fullmatch(text):
        return Handle(match[1], match[2])
    raise InvalidHandle(
        "A handle is <namespace>.<name>. Each part is 1-64 of a-z, 0-9, - and _, and starts with a letter or digit.",
        details={"field": "handle", "pattern": HANDLE.pattern},
    )


def parse_pinned_handle(text: str) -> PinnedHandle:
    """Parse `handle`, `handle@vN` or `handle@tag`; raise `InvalidHandle` if `text` is something else.

    Only score, batch and compare accept the latter two.
    """
    handle, at, version = text.partition("@")
    if at and not TAG.fullmatch(version):
        raise InvalidHandle(
            "The part after the @ of a handle must be a version (vN) or a tag.", details={"field": "handle"}
        )
    return PinnedHandle(parse_handle(handle), version if at else None)


def pin(handle: str, version: str) -> str:
    """Return the handle pinned to a version (`vN`) or a tag, whatever it was pinned to before."""
    return f"{unpin(handle)[0]}@{version}"


def unpin(handle: str) -> tuple[str, str]:
    """Return the handle of the model, and what it is pinned to: empty when it is not."""
    name, _, version = handle.partition("@")
    return name, version


def canonical(name: str) -> str:
    """Return the form in which names are compared: NFC and NFD spellings of a name have the same one."""
    return unicodedata.normalize("NFC", name)


def trait_key(name: str) -> str:
    """Return the default key of a trait: its name in snake case, with letters and combining marks of any script.

    Raise `ValidationFailed` if the name has no letter or digit.
    """
    words = "".join(char if is_word(char) else " " for char in folded(name))
    # A mark without a letter before it is dropped: it would attach to the "_".
    key = "_".join(filter(None, (_without_leading_marks(word) for word in words.split(" "))))
    return _key(key)


def free_key(key: str, taken: Container[str]) -> str:
    """Return the key, with a number behind it if it is taken."""
    numbered = (f"{key[: _LONGEST_KEY - len(str(number)) - 1].rstrip('_')}_{number}" for number in count(2))
    return next(each for each in chain((key,), numbered) if each not in taken)


def is_key(text: str) -> bool:
    """Whether `text` is a valid trait key: 1-64 letters, digits and marks of any script, `_` and `-`."""
    return (
        0 < len(text) <= _LONGEST_KEY and not _is_mark(text[0]) and all(is_word(char) or char in "_-" for char in text)
    )


def folded(name: str) -> str:
    """Return the name case-folded for comparison (Unicode, "compatibility caseless matching", D146), in NFKC."""
    folded = unicodedata.normalize("NFD", name)
    for _ in range(2):
        folded = unicodedata.normalize("NFKD", folded.casefold())
    return unicodedata.normalize("NFKC", folded)


def _key(text: str) -> str:
    key = text.strip("_")[:_LONGEST_KEY].strip("_")
    if not key:
        raise ValidationFailed(
            "The name has no letter or digit to make a key from. Give a key.",
            details={"errors": [{"loc": ["name"], "type": "empty_key", "msg": "no letter or digit"}]},
        )
    return key


def is_word(char: str) -> bool:
    """Whether a character is a letter, a digit or a combining mark, in any script."""
    return char.isalnum() or _is_mark(char)


def _is_mark(char: str) -> bool:
    return not char.isascii() and unicodedata.category(char).startswith("M")


def _without_leading_marks(word: str) -> str:
    return word[next((i for i, char in enumerate(word) if not _is_mark(char)), len(word)) :]


def parse_version(text: str) -> int | None:
    """Return the N of `vN`, or None for a tag."""
    match = VERSION.fullmatch(text)
    return int(match[1]) if match and len(match[1]) <= 18 else None


def check_tag(text: str) -> str:
    """Return `text`; raise `InvalidTag` unless it is a valid tag."""
    if not TAG.fullmatch(text) or VERSION.fullmatch(text) or text == ACTIVE:
        raise InvalidTag(
            "A tag is 1-64 letters, digits, '.', '_' and '-', and starts with a letter or digit. "
            "vN and active are reserved.",
            details={"field": "name", "pattern": TAG.pattern},
        )
    return text


# ---- names of models as people type them -----------------------------------------------------------------------------

GRAMMAR = 'Use lowercase letters, digits, "-" or "_" (up to 64). Start with a letter or digit.'


def slug(typed: str) -> str:
    """The name that is nearest to what was typed: `Customer Mood!` becomes `customer-mood`; empty if there is none."""
    typed = typed.strip()
    if NAMESPACE.fullmatch(typed):
        return typed
    letters = unicodedata.normalize("NFKD", typed.casefold())
    plain_letters = "".join(char for char in letters if not unicodedata.combining(char))
    return _NOT_IN_NAMES.sub("-", plain_letters).strip("-_")[:_LONGEST_NAME].rstrip("-_")


def no_name(typed: str) -> str:
    """The error for an invalid or empty name."""
    return f"{'This name is not valid' if typed else 'Enter a name'}. {GRAMMAR}"
