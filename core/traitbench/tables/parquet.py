"""Rows of Parquet files."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any

from traitbench.display.text import count
from traitbench.tables.rows import Kind, NotATable, Record, column_names

_AT_ONCE = 1_000
_BROKEN_PARQUET = "This is not a valid Parquet file. Export it again, then retry."
_NO_PYTHON_VALUE = (ValueError, OverflowError, LookupError, TypeError, ArithmeticError)
"""What a value that Arrow can hold and Python cannot raises: an unknown time zone, a year of five digits."""


class Parquet:
    """The rows of a Parquet file, counted from 1. Values that JSON cannot represent become text."""

    kind: Kind = "parquet"
    empty = "The file has no rows."

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._damaged: dict[str, list[int]] = {}
        self._lost: dict[str, list[int]] = {}
        self._odd: dict[str, list[int]] = {}
        self._unknown_zones: dict[str, str] = {}
        with _arrow_errors():
            source = _parquet(file)
            self.columns, self.count = column_names(source.schema_arrow.names), source.metadata.num_rows

    def __iter__(self) -> Iterator[Record]:
        self._damaged, self._lost, self._odd = {}, {}, {}
        number = 0
        with _arrow_errors():
            for batch in _parquet(self._file).iter_batches(batch_size=_AT_ONCE, use_threads=False):
                columns = [
                    self._values(name, column, number) for name, column in zip(self.columns, batch.columns, strict=True)
                ]
                for values in zip(*columns, strict=True):
                    number += 1
                    yield number, dict(zip(self.columns, values, strict=True))

    @property
    def notes(self) -> list[str]:
        """What to say about the file; complete after an iteration."""
        zones = [
            f"The time zone {zone} of the column {name} is not known. Its times are read as UTC."
            for name, zone in self._unknown_zones.items()
        ]
        return [
            *zones,
            *_notes(self._damaged, "not UTF-8", "Such bytes are written like \\xff."),
            *_notes(self._odd, "outside the years 1 to 9999", "Such values are read as text."),
            *_notes(self._lost, "not readable", "Such cells are empty."),
        ]

    def summary(self, rows: int) -> str:
        """Return how many rows there are."""
        return count(rows, "row")

    def copy(self, out: IO[bytes]) -> None:
        """Write all columns with their types as Parquet, under the names that the rows have."""
        from pyarrow import Table
        from pyarrow.parquet import ParquetWriter

        with _arrow_errors():
            source = _parquet(self._file)
            schema = source.schema_arrow.empty_table().rename_columns(list(self.columns)).schema
            with ParquetWriter(out, schema, compression="zstd") as writer:
                for batch in source.iter_batches(batch_size=_AT_ONCE * 10, use_threads=False):
                    writer.write_table(Table.from_batches([batch]).rename_columns(list(self.columns)))

    def _values(self, name: str, column: Any, before: int) -> list[Any]:
        """Return the values of a column as JSON has them; `before` is the number of rows above it."""
        values = []
        for row, value in enumerate(self._python_values(name, column, before), start=before + 1):
            if isinstance(value, bytes):
                try:
                    value = value.decode()
                except UnicodeDecodeError:
                    self._damaged.setdefault(name, []).append(row)
                    value = value.decode("utf-8", "backslashreplace")
            values.append(_jsonable(value))
        return values

    def _python_values(self, name: str, column: Any, before: int) -> list[Any]:
        import pyarrow as pa
        from pyarrow import types

        if types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if types.is_timestamp(column.type) and column.type.tz and not _is_known(column.type.tz):
            self._unknown_zones[name] = column.type.tz
            column = column.cast(pa.timestamp(column.type.unit, "UTC"))
        if types.is_string(column.type) or types.is_large_string(column.type):
            # As bytes: Arrow does not check that texts are UTF-8, and one bad text would fail the whole column.
            column = column.cast(pa.large_binary() if types.is_large_string(column.type) else pa.binary())
        try:
            return list(column.to_pylist())
        except _NO_PYTHON_VALUE:
            # Only now value by value, because it is far slower.
            return [self._python_value(name, value, row) for row, value in enumerate(column, start=before + 1)]

    def _python_value(self, name: str, value: Any, row: int) -> Any:
        """Return the value of a scalar: as text where Python has none, None where Arrow has no text either."""
        import pyarrow as pa

        try:
            return value.as_py()
        except _NO_PYTHON_VALUE:
            pass
        try:
            text = value.cast(pa.string()).as_py()
            self._odd.setdefault(name, []).append(row)
            return text
        except (*_NO_PYTHON_VALUE, pa.ArrowException):
            self._lost.setdefault(name, []).append(row)
            return None


def _is_known(zone: str) -> bool:
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(zone)
    except (ValueError, LookupError, OSError):
        return zone.startswith(("+", "-"))
    return True


def _notes(cells: Mapping[str, Sequence[int]], what: str, so: str) -> list[str]:
    """Return a sentence for each column with such cells; `cells` has the rows of each."""
    notes = []
    for name, rows in cells.items():
        where = f"row {rows[0]:,}" if len(rows) == 1 else f"first in row {rows[0]:,}"
        notes.append(
            f"{count(len(rows), 'cell')} of the column {name} "
            f"{'is' if len(rows) == 1 else 'are'} {what} ({where}). {so}"
        )
    return notes


def _parquet(file: IO[bytes]) -> Any:
    from pyarrow.parquet import ParquetFile

    file.seek(0)
    return ParquetFile(file)


@contextmanager
def _arrow_errors() -> Iterator[None]:
    from pyarrow import ArrowException

    try:
        yield
    except (ArrowException, OSError, UnicodeDecodeError) as error:
        raise NotATable(_BROKEN_PARQUET) from error


def _jsonable(value: Any) -> Any:
    """Convert a value to one that JSON can represent."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, Mapping):
        return {str(key): _jsonable(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(each) for each in value]
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
