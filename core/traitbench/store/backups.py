"""A backup: our tables at one moment, in one file that either database can be restored from.

The file is a zip of `manifest.json` and one `<table>.jsonl` per table: a row is a JSON array, bytes are base64. The
manifest holds the format, the schema revision, and for each table its columns, the number of rows, a SHA-256 and the
last id that was assigned. It carries a SHA-256 of itself.

The run engine's tables are not in it: `operations.backups` queues unfinished runs again. Neither are the workers' own
rows and the vectors of scored texts, which are a cache. The files of `VACUUM INTO` and `pg_dump` would hold all of
these, go back into their own database only, and not be checked before a restore.
"""

import base64
import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Connection,
    Double,
    Float,
    Integer,
    LargeBinary,
    String,
    collate,
    column,
    inspect,
    select,
    table,
    text,
)
from sqlalchemy import insert as insert_into
from sqlalchemy.sql.expression import TableClause
from sqlalchemy.types import TypeEngine

from traitbench.errors import LocalError
from traitbench.store import migrate

FORMAT = 1

_MANIFEST = "manifest.json"
_LARGEST_MANIFEST = 2**20
# Errors from reading a damaged zip: besides its own, those from bad offsets, encryption flags and broken names.
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError)
_LEFT_OUT = ("tb_schema", "tb_workers", "tb_kept_vectors")
_AT_ONCE = 500
_BUFFER = 2**20
_COMPRESSION = 1  # base64 of vectors shrinks as much at level 1 as at level 9

_NOT_BACKED_UP = {
    "older": "The database was made by a Traitbench before 0.2.0: open it once with release 0.2.0, then back it up.",
    "newer": "The database was made by a newer Traitbench: use that one to back it up.",
}
_NOT_RESTORED = {
    "older": "{path} was made by a Traitbench before 0.2.0, which this one cannot read: restore it with release 0.2.0,"
    " start that once, and make a new backup.",
    "newer": "{path} was made by Traitbench {program}, which is newer: use that one.",
}

# The order matters: in some dialects a Boolean is also an Integer, and a JSON also a String.
_KINDS: Mapping[str, tuple[type[TypeEngine[Any]], TypeEngine[Any]]] = {
    "boolean": (Boolean, Boolean()),
    "json": (JSON, JSON(none_as_null=True)),
    "bytes": (LargeBinary, LargeBinary()),
    "integer": (Integer, BigInteger()),
    "number": (Float, Double()),
    "text": (String, String()),
}


class BackupRefused(LocalError):
    """A backup cannot be made or restored; the message says why and what to do."""


@dataclass(frozen=True)
class BackupPart:
    """A table in a backup.

    `columns` are pairs of name and kind; `last_id` is the last id that the table assigned, None if it assigns none.
    """

    name: str
    columns: tuple[tuple[str, str], ...]
    rows: int
    sha256: str
    last_id: int | None


@dataclass(frozen=True)
class Manifest:
    """The description of a backup; rows can be inserted in the order of `parts`."""

    schema: str
    program: str
    made_at: datetime
    parts: tuple[BackupPart, ...]
    format: int = FORMAT

    def count(self, name: str) -> int:
        """The number of rows of a table."""
        return next((part.rows for part in self.parts if part.name == name), 0)


class Backup:
    """An open backup that was checked in full."""

    def __init__(self, archive: zipfile.ZipFile, manifest: Manifest) -> None:
        self._archive = archive
        self.manifest = manifest

    def load(self, connection: Connection) -> None:
        """Replace all our tables with the backup, upgraded to the newest schema, in the caller's transaction."""
        _drop(connection)
        migrate.create(connection, self.manifest.schema)
        for part in self.manifest.parts:
            self._insert(connection, part)
            if part.last_id:
                _set_last_id(connection, part.name, part.last_id)
        migrate.upgrade(connection)

    def _insert(self, connection: Connection, part: BackupPart) -> None:
        expected = set(_columns(connection, part.name)) if part.name in _names(connection) else set()
        if self.manifest.schema in migrate.REPLACED:
            expected &= set(part.columns)
        if not expected or set(part.columns) != expected:
            raise BackupRefused(
                f"Nothing was restored: the columns of {part.name} in the backup do not match its schema."
            )
        statement = insert_into(_clause(part.name, part.columns))
        for rows in _chunks(self._rows(part), _AT_ONCE):
            connection.execute(statement, rows)

    def _rows(self, part: BackupPart) -> Iterator[dict[str, Any]]:
        names = [name for name, _ in part.columns]
        decode = [_DECODE.get(kind) for _, kind in part.columns]
        for line in _lines(self._archive, part):
            values = json.loads(line)
            yield {
                name: value if change is None or value is None else change(value)
                for name, change, value in zip(names, decode, values, strict=True)
            }


def write(connection: Connection, file: IO[bytes], *, program: str, now: datetime) -> Manifest:
    """Write everything that a read transaction sees; raise `BackupRefused` if the database has no schema or an unknown
    one.
    """
    schema = migrate.installed(connection)
    if schema is None:
        raise BackupRefused("There is nothing to back up: the database has no Traitbench tables.")
    if reason := migrate.refusal(schema):
        raise BackupRefused(_NOT_BACKED_UP[reason])
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=_COMPRESSION) as archive:
        parts = tuple(_write_part(connection, archive, name) for name in _names(connection) if name not in _LEFT_OUT)
        manifest = Manifest(schema=schema, program=program, made_at=now, parts=parts)
        archive.writestr(_MANIFEST, _to_json(manifest))
    return manifest


@contextmanager
def opened(path: Path) -> Iterator[Backup]:
    """The backup in a file, every byte of it checked; raise `BackupRefused` if it cannot be restored here."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise BackupRefused(f"{path} cannot be read: {error.strerror}.") from error
    with file:
        try:
            archive = zipfile.ZipFile(file)
            manifest = _manifest(archive, path)
            _check_parts(archive, manifest)
        except _DAMAGED as error:
            raise BackupRefused(f"{path} is not a Traitbench backup, or it is damaged: use another copy.") from error
        yield Backup(archive, manifest)


def is_empty(connection: Connection) -> bool:
    """Whether the database holds no model and no key."""
    existing = set(_names(connection))
    return not any(
        connection.execute(text(f"SELECT 1 FROM {name} LIMIT 1")).first()
        for name in ("tb_models", "tb_keys")
        if name in existing
    )


# ---- writing ---------------------------------------------------------------------------------------------------------


def _write_part(connection: Connection, archive: zipfile.ZipFile, name: str) -> BackupPart:
    columns = _columns(connection, name)
    encode = [_ENCODE.get(kind) for _, kind in columns]
    digest, rows = hashlib.sha256(), 0
    with archive.open(f"{name}.jsonl", "w", force_zip64=True) as member:
        for some in _table(connection, name, columns).partitions():
            lines = b"".join(_line(row, encode) for row in some)
            digest.update(lines)
            member.write(lines)
            rows += len(some)
    counts = dict(columns).get("id") == "integer"
    return BackupPart(name, tuple(columns), rows, digest.hexdigest(), _last_id(connection, name) if counts else None)


def _table(connection: Connection, name: str, columns: Sequence[tuple[str, str]]) -> Any:
    clause, kinds = _clause(name, columns), dict(columns)
    by_bytes = connection.dialect.name == "postgresql"
    order = [
        collate(clause.c[key], "C") if by_bytes and kinds[key] == "text" else clause.c[key]
        for key in inspect(connection).get_pk_constraint(name)["constrained_columns"]
    ]
    return connection.execute(select(clause).order_by(*order).execution_options(yield_per=_AT_ONCE))


def _line(row: Sequence[Any], encode: Sequence[Callable[[Any], Any] | None]) -> bytes:
    values = [
        value if change is None or value is None else change(value) for value, change in zip(row, encode, strict=True)
    ]
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _to_json(manifest: Manifest) -> bytes:
    content = {
        "format": manifest.format,
        "schema": manifest.schema,
        "program": manifest.program,
        "made_at": manifest.made_at.isoformat(),
        "tables": [part.__dict__ for part in manifest.parts],
    }
    return json.dumps({**content, "sha256": _digest(content)}, indent=1).encode()


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


# ---- reading ---------------------------------------------------------------------------------------------------------


def _manifest(archive: zipfile.ZipFile, path: Path) -> Manifest:
    try:
        info = archive.getinfo(_MANIFEST)
        if info.file_size > _LARGEST_MANIFEST:
            raise ValueError
        content = json.loads(archive.read(info))
        if int(content["format"]) > FORMAT:
            raise BackupRefused(f"{path} was made by a newer Traitbench: use that one, or a newer one, to restore it.")
        if content.pop("sha256") != _digest(content):
            raise ValueError
        parts = tuple(
            BackupPart(**{**part, "columns": tuple((str(name), str(kind)) for name, kind in part["columns"])})
            for part in content["tables"]
        )
        manifest = Manifest(content["schema"], content["program"], datetime.fromisoformat(content["made_at"]), parts)
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise zipfile.BadZipFile from error
    if reason := migrate.refusal(manifest.schema):
        raise BackupRefused(_NOT_RESTORED[reason].format(path=path, program=manifest.program))
    return manifest


def _check_parts(archive: zipfile.ZipFile, manifest: Manifest) -> None:
    members = {_MANIFEST, *(f"{part.name}.jsonl" for part in manifest.parts)}
    if set(archive.namelist()) != members:
        raise zipfile.BadZipFile
    for part in manifest.parts:
        for _ in _lines(archive, part):
            pass


def _lines(archive: zipfile.ZipFile, part: BackupPart) -> Iterator[bytes]:
    """The lines of a table; raise `BadZipFile` after the last one if they are not the lines that were written."""
    digest, rows = hashlib.sha256(), 0
    with archive.open(f"{part.name}.jsonl") as member:
        for line in io.BufferedReader(member, _BUFFER):  # type: ignore[type-var]
            digest.update(line)
            rows += 1
            yield line
    if (digest.hexdigest(), rows) != (part.sha256, part.rows):
        raise zipfile.BadZipFile


# ---- tables ----------------------------------------------------------------------------------------------------------


def _names(connection: Connection) -> list[str]:
    """Our tables, each after the tables that it references."""
    ordered = (name for name, _ in inspect(connection).get_sorted_table_and_fkc_names())
    return [name for name in ordered if name is not None and name.startswith("tb_")]


def _columns(connection: Connection, name: str) -> list[tuple[str, str]]:
    return [(each["name"], _kind(each["type"])) for each in inspect(connection).get_columns(name)]


def _kind(kind: TypeEngine[Any]) -> str:
    return next(name for name, (matched, _) in _KINDS.items() if isinstance(kind, matched))


def _clause(name: str, columns: Sequence[tuple[str, str]]) -> TableClause:
    return table(name, *(column(each, _KINDS[kind][1]) for each, kind in columns))


def _drop(connection: Connection) -> None:
    for name in reversed(_names(connection)):
        connection.execute(text(f"DROP TABLE {name}"))


def _last_id(connection: Connection, name: str) -> int:
    """The last id that a table assigned, even if that row was deleted: ids are never reused."""
    if connection.dialect.name == "sqlite":
        row = connection.execute(text("SELECT seq FROM sqlite_sequence WHERE name = :name"), {"name": name})
        return int(row.scalar_one_or_none() or 0)
    sequence = _sequence(connection, name)
    return int(
        connection.execute(text(f"SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {sequence}")).scalar_one()
    )


def _set_last_id(connection: Connection, name: str, last: int) -> None:
    values = {"name": name, "last": last}
    if connection.dialect.name == "sqlite":
        connection.execute(text("DELETE FROM sqlite_sequence WHERE name = :name"), values)
        connection.execute(text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :last)"), values)
        return
    connection.execute(text(f"SELECT setval('{_sequence(connection, name)}', :last)"), values)


def _sequence(connection: Connection, name: str) -> str:
    return str(connection.execute(text(f"SELECT pg_get_serial_sequence('{name}', 'id')")).scalar_one())


def _chunks(rows: Iterator[dict[str, Any]], size: int) -> Iterator[list[dict[str, Any]]]:
    chunk: list[dict[str, Any]] = []
    for row in rows:
        chunk.append(row)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _from_bytes(value: Any) -> str:
    return base64.b64encode(value).decode()


_ENCODE: Mapping[str, Callable[[Any], Any]] = {"bytes": _from_bytes}
_DECODE: Mapping[str, Callable[[Any], Any]] = {"bytes": base64.b64decode}
