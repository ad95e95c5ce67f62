"""Rows of Parquet files."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

from traitbench.tables.rows import Line, Row, Unreadable, as_text, column_names

_AT_ONCE = 1_000
_BROKEN_PARQUET = "This is not a valid Parquet file. Export it again, then retry."


class Parquet:
    """The rows of a Parquet file, counted from 1. Values that JSON cannot represent become text."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        with _arrow_errors():
            self.columns = column_names(_parquet(file).schema_arrow.names)

    def __iter__(self) -> Iterator[Line]:
        number = 0
        with _arrow_errors():
            for batch in _parquet(self._file).iter_batches(batch_size=_AT_ONCE):
                for values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    number += 1
                    record = {name: _jsonable(value) for name, value in zip(self.columns, values, strict=True)}
                    yield Row(number, {name: as_text(value) for name, value in record.items()}, record)

    def check(self, count: int, has_columns: bool) -> None:
        """Raise `Unreadable` if there are no rows."""
        if not count or not has_columns:
            raise Unreadable("The file has no rows.")


def _parquet(file: IO[bytes]) -> Any:
    from pyarrow.parquet import ParquetFile

    file.seek(0)
    return ParquetFile(file)


@contextmanager
def _arrow_errors() -> Iterator[None]:
    from pyarrow import ArrowException

    try:
        yield
    except (ArrowException, OSError) as error:
        raise Unreadable(_BROKEN_PARQUET) from error


def _jsonable(value: Any) -> Any:
    """Convert a value to one that JSON can represent."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, Mapping):
        return {str(key): _jsonable(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(each) for each in value]
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
