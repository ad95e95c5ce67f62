"""One function for all engines: texts in, columns out, with the numbers of the service."""

import hashlib
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from traitbench.contract.bundles import BundleInvalid
from traitbench.contract.texts import values_of
from traitbench.display.scored_rows import Also, ScoredColumns, TraitCells, as_sentence
from traitbench.encoders.scheduler import SCHEDULER, BatchQueue
from traitbench.install import require
from traitbench.local.version import LocalVersion, VersionChoice, load_once
from traitbench.local.version_files import from_bytes, from_file, read_file
from traitbench.scoring import card
from traitbench.scoring.card import RawCard
from traitbench.scoring.snapshot import FULL, Snapshot, canonical_bytes, param_hash

if TYPE_CHECKING:
    import pyarrow

_AT_ONCE = 256
_ACCEPTED = "Pass an Arrow table, batch or array, what Arrow can read as one, a pandas Series, or a list of texts"


class UDF:
    """Scores columns of texts with a version from a file. It can be pickled, and each process loads the version once.

    `path` is a model that `traitbench export` or `Scorer.save` wrote. `mode` is "full" or one that the version
    has: "layer6" (of `minilm-full`, "layer4") or "static".
    `traits` are keys or names, by default all; `version` is `vN` or a tag, by default the active version. `column` is
    the column with the texts in Arrow tables. `encoder` is the name or folder of an encoder that is not built in.

    Only the path and the hash of the file are pickled: a worker reads the file itself, and refuses one that was
    changed. With `portable` the parameters of the version are pickled instead, and workers need no file.

    Raise `BundleInvalid` (a `ValueError`) if the file is no model or was changed, `ModeNotTrained` (a `ValueError`) if
    the version lacks the mode, and `UnknownTrait` (a `KeyError`) if it lacks a trait.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        mode: str = FULL,
        *,
        traits: Sequence[str] | None = None,
        version: str | None = None,
        column: str = "text",
        encoder: str | None = None,
        portable: bool = False,
    ) -> None:
        self.path, self.version, self.column, self.portable = Path(path).absolute(), version, column, portable
        content = read_file(self.path)
        snapshot, self._number = from_file(content, name=str(path), version=version)
        snapshot.in_mode(mode)  # an unknown mode is an error here, not on a worker
        self._chosen = tuple(card.choose(snapshot, traits))
        self.traits = tuple(snapshot.traits[index].key for index in self._chosen)
        self.param_hash, self.mode, self.encoder = param_hash(snapshot), mode, encoder
        self._sha256 = hashlib.sha256(content).hexdigest()
        self._parameters = canonical_bytes(snapshot) if portable else None

    def __repr__(self) -> str:
        return f"UDF({str(self.path)!r}, mode={self.mode!r}, traits={list(self.traits)!r})"

    @property
    def schema(self) -> "pyarrow.Schema":
        """The columns of the answer: for each trait `KEY_score`, `_side`, `_confidence`, `_reason` and `_tier`; then
        `composite`, `version` and `error`.

        In a row that cannot be scored, such as a missing text, all are null but `error`, which says why. There is no
        `row`: an engine divides a table and hands over its parts in any order.
        """
        require("pyarrow")
        import pyarrow

        columns, kinds = self._columns, {True: pyarrow.int32(), False: pyarrow.string()}
        return pyarrow.schema([(name, kinds[name in columns.numbers]) for name in columns.names])

    @property
    def type(self) -> "pyarrow.StructType":
        """The same columns as one Arrow struct, for engines whose functions return a single column."""
        import pyarrow

        return pyarrow.struct(list(self.schema))

    def __call__(self, batch: Any) -> Any:
        """Return the scores of texts, in the shape in which they came.

        - An Arrow table or record batch: the same, with the columns of `schema` added.
        - An Arrow array: a struct array of `type`.
        - A pandas Series: a DataFrame with the same index.
        - A list of texts: a list of dicts.
        - Whatever else has `__arrow_c_stream__`, such as a frame of pandas or polars or a relation of DuckDB: an Arrow
          table, or a struct array if it is a single column.

        Raise `ValueError` if there is no column of texts.
        """
        if isinstance(batch, list | tuple):
            return [dict(zip(self._columns.names, row, strict=True)) for row in self._rows(batch)]
        library = type(batch).__module__.partition(".")[0]
        if library == "pandas" and hasattr(batch, "to_frame") and hasattr(batch, "index"):
            return self._of_series(batch)
        if library != "pyarrow" and not hasattr(batch, "__arrow_c_stream__"):
            raise ValueError(f"{_ACCEPTED}, not {type(batch).__name__}.")
        require("pyarrow")
        import pyarrow

        if isinstance(batch, pyarrow.Table | pyarrow.RecordBatch):
            return self._of_table(batch)
        if isinstance(batch, pyarrow.Array | pyarrow.ChunkedArray):
            return self._of_array(batch)
        column = pyarrow.chunked_array(batch)
        if pyarrow.types.is_struct(column.type):  # how a table is sent
            return self._of_table(pyarrow.Table.from_struct_array(column))
        return self._of_array(column)

    def _of_table(self, table: Any) -> Any:
        if self.column not in table.schema.names:
            there = ", ".join(table.schema.names) or "none"
            raise ValueError(f"There is no column {self.column!r}. Pass column=... to UDF; the columns are: {there}.")
        if taken := sorted({*table.schema.names} & {*self._columns.names}):
            raise ValueError(f"There is already a column {taken[0]!r}, which scores would overwrite. Rename it.")
        scores = self._arrays(table.column(self.column))
        schema = table.schema
        for field in self.schema:
            schema = schema.append(field)
        return type(table).from_arrays([*table.columns, *scores], schema=schema)

    def _of_array(self, texts: Any) -> "pyarrow.StructArray":
        import pyarrow

        return pyarrow.StructArray.from_arrays(self._arrays(texts), fields=list(self.schema))

    def _of_series(self, series: Any) -> Any:
        require("pyarrow")
        import pandas
        import pyarrow

        if series.dtype == object:  # of any values; Arrow has none for a column of several types
            scores = _arrays(self._rows(series.tolist()), self.schema)
        else:
            scores = self._arrays(pyarrow.chunked_array([pyarrow.Array.from_pandas(series)]))
        table = pyarrow.Table.from_arrays(scores, schema=self.schema)
        return table.to_pandas(types_mapper={pyarrow.int32(): pandas.Int32Dtype()}.get).set_axis(series.index)

    def _arrays(self, texts: Any) -> list["pyarrow.Array"]:
        _check_type(texts.type)
        return _arrays(self._rows(list(values_of(texts))), self.schema)

    @property
    def _columns(self) -> ScoredColumns:
        return ScoredColumns(self.traits, get_args(Also), numbered=False)

    def _rows(self, texts: Sequence[Any]) -> list[list[Any]]:
        version = load_once(VersionChoice(self.param_hash, self.mode, self.encoder), self._snapshot)
        columns, traits = self._columns, [version.snapshot.traits[index] for index in self._chosen]
        poles = {axis.key: (axis.negative_label, axis.positive_label) for axis in traits}
        rows = list[list[Any]]()
        for each in self._cards(version, texts):
            if isinstance(each, str):
                rows.append(columns.cells(None, {}, error=each))
                continue
            cells = {key: TraitCells.of(score, score.polarity, poles[key]) for key, score in each.traits.items()}
            rows.append(columns.cells(None, cells, composite=each.composite, version=f"v{self._number}"))
        return rows

    def _cards(self, version: LocalVersion, texts: Sequence[Any]) -> Iterator[RawCard | str]:
        """Yield the card of each text, or the sentence that says why it has none."""
        problems = version.problems(texts)
        able = list(dict.fromkeys(text for text, problem in zip(texts, problems, strict=True) if not problem))
        placed, queue = dict[str, card.Placed](), BatchQueue()
        for first in range(0, len(able), _AT_ONCE):
            some = able[first : first + _AT_ONCE]
            # In a slot the encoder starts no threads: an engine has a worker for each processor already.
            with SCHEDULER.slot(queue):
                placed |= zip(some, version.project(some), strict=True)
        for text, problem in zip(texts, problems, strict=True):
            yield as_sentence(problem) if problem else card.read(version.snapshot, self._chosen, placed[text])

    def _snapshot(self) -> Snapshot:
        """The parameters as they were when this was created, read on this machine."""
        if self._parameters is not None:
            return from_bytes(self._parameters, expected=self.param_hash)
        content = read_file(self.path)
        if hashlib.sha256(content).hexdigest() != self._sha256:
            raise BundleInvalid(f"{self.path} was changed since this UDF was created. Create the UDF again.")
        return from_file(content, name=str(self.path), version=self.version)[0]


def _check_type(kind: Any) -> None:
    from pyarrow import types

    kind = kind.value_type if types.is_dictionary(kind) else kind
    if not (types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind) or types.is_null(kind)):
        raise ValueError(f"The column holds {kind}, not texts. Pass the column with the texts.")


def _arrays(rows: Sequence[Sequence[Any]], schema: "pyarrow.Schema") -> list["pyarrow.Array"]:
    """The columns of the rows."""
    import pyarrow

    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    return [pyarrow.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
