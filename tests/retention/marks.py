"""Unique words, every form in which they might be left behind, and the search for them in raw bytes.

All marks begin alike: if that beginning is not in the bytes, no mark is.
"""

import base64
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Engine, inspect

from traitbench.store.database import reading

STEM = "Zqärnwick"

_CASES: tuple[Callable[[str], str], ...] = (str, str.lower, str.upper)


def mark(name: str) -> str:
    """A unique word for one way in: it is tokenised as a word, and has a capital and a letter beyond ASCII."""
    return f"{STEM}{name}"


def forms(marked: str) -> Iterator[bytes]:
    """The forms in which a text may appear in a file: plain, in JSON, in JSON within JSON, in an address, in base64."""
    for case in _CASES:
        text = case(marked)
        escaped = json.dumps(text)[1:-1]
        yield from (text.encode(encoding) for encoding in ("utf-8", "utf-16-le", "utf-16-be", "latin-1"))
        yield from (each.encode() for each in (escaped, json.dumps(escaped)[1:-1], quote(text)))
        yield from _in_base64(text.encode())


def marks_in(texts: Mapping[str, bytes], marks: Iterable[str]) -> list[str]:
    """Which marks occur in which bytes, by the names of the bytes."""
    marked = {name: raw for name, raw in texts.items() if _holds(raw, STEM)}
    return [f"{each} in {name}" for each in marks for name, raw in marked.items() if _holds(raw, each)]


def files(*folders: Path, besides: str | None = None) -> dict[str, bytes]:
    """All files below some folders, except in folders named `besides`."""
    paths = (path for folder in folders for path in _below(folder))
    return {str(path): path.read_bytes() for path in paths if besides not in path.parts}


def rows(engine: Engine) -> dict[str, bytes]:
    """All live rows of a database by table, including those of the run engine."""
    inspector = inspect(engine)
    schemas = set(inspector.get_schema_names()) - {"information_schema", "pg_catalog"}
    places = [f'"{schema}"."{table}"' for schema in schemas for table in inspector.get_table_names(schema)]
    with reading(engine) as connection:
        fields = {place: connection.exec_driver_sql(f"SELECT * FROM {place}").all() for place in places}
    return {place: b"\n".join(_raw(value) for row in result for value in row) for place, result in fields.items()}


def _holds(raw: bytes, marked: str) -> bool:
    return any(form in raw for form in forms(marked))


def _raw(value: object) -> bytes:
    return bytes(value) if isinstance(value, bytes | memoryview) else str(value).encode()


def _in_base64(raw: bytes) -> Iterator[bytes]:
    """The base64 of a text at every offset, without the characters that depend on its neighbours."""
    for before, shared in enumerate((0, 2, 3)):
        encoded = base64.b64encode(b"\0" * before + raw).rstrip(b"=")
        yield encoded[shared : len(encoded) - (1 if (before + len(raw)) % 3 else 0)]


def _below(folder: Path) -> Iterator[Path]:
    for place, _, names in os.walk(folder):
        yield from (path for name in names if (path := Path(place) / name).is_file())
