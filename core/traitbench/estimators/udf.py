"""One function for all engines: texts in, columns out, with the numbers of the service."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traitbench.contract.bundles import BundleInvalid
from traitbench.contract.texts import values_of
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
_OF_A_TRAIT, _COMPOSITE = ("score", "confidence", "tier", "reason"), "composite"
_ACCEPTED = "Pass an Arrow table, batch or array, a pandas Series, or a list of texts"


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
        snapshot = from_file(content, name=str(path), version=version)
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
        """The columns of the answer: for each trait `KEY_score`, `_confidence`, `_tier` and `_reason`; then `composite`
        and `error`.

        In a row that cannot be scored, such as a missing text, all are null but `error`, which says why.
        """
        require("pyarrow")
        return _schema(self.traits)

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

        Raise `ValueError` if there is no column of texts.
        """
        if isinstance(batch, list | tuple):
            return [dict(zip(_names(self.traits), row, strict=True)) for row in self._rows(batch)]
        library = type(batch).__module__.partition(".")[0]
        if library == "pyarrow":
            return self._of_table(batch) if hasattr(batch, "schema") else self._of_array(batch)
        if library == "pandas" and hasattr(batch, "to_frame") and hasattr(batch, "index"):
            return self._of_series(batch)
        raise ValueError(f"{_ACCEPTED}, not {type(batch).__name__}.")

    def _of_table(self, table: Any) -> Any:
        if self.column not in table.schema.names:
            there = ", ".join(table.schema.names) or "none"
            raise ValueError(f"There is no column {self.column!r}. Pass column=... to UDF; the columns are: {there}.")
        if taken := sorted({*table.schema.names} & {*_names(self.traits)}):
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

    def _rows(self, texts: Sequence[Any]) -> list[tuple[Any, ...]]:
        without = (None,) * (len(_names(self.traits)) - 1)
        cards = self._cards(load_once(VersionChoice(self.param_hash, self.mode, self.encoder), self._snapshot), texts)
        return [(*without, each) if isinstance(each, str) else (*_values(each, self.traits), None) for each in cards]

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
            yield (
                problem[0].upper() + problem[1:] if problem else card.read(version.snapshot, self._chosen, placed[text])
            )

    def _snapshot(self) -> Snapshot:
        """The parameters as they were when this was created, read on this machine."""
        if self._parameters is not None:
            return from_bytes(self._parameters, expected=self.param_hash)
        content = read_file(self.path)
        if hashlib.sha256(content).hexdigest() != self._sha256:
            raise BundleInvalid(f"{self.path} was changed since this UDF was created. Create the UDF again.")
        return from_file(content, name=str(self.path), version=self.version)


def _check_type(kind: Any) -> None:
    from pyarrow import types

    kind = kind.value_type if types.is_dictionary(kind) else kind
    if not (types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind) or types.is_null(kind)):
        raise ValueError(f"The column holds {kind}, not texts. Pass the column with the texts.")


def _names(keys: Sequence[str]) -> list[str]:
    """The names of the columns for traits with these keys, such as `warmth_score`."""
    return [*(f"{key}_{name}" for key in keys for name in _OF_A_TRAIT), _COMPOSITE, "error"]


def _schema(keys: Sequence[str]) -> "pyarrow.Schema":
    """The names and types of the columns: whole numbers for scores, text for the others."""
    import pyarrow

    kinds = {True: pyarrow.int32(), False: pyarrow.string()}
    return pyarrow.schema([(name, kinds[name == _COMPOSITE or name.endswith("_score")]) for name in _names(keys)])


def _arrays(rows: Sequence[tuple[Any, ...]], schema: "pyarrow.Schema") -> list["pyarrow.Array"]:
    """The columns of the rows."""
    import pyarrow

    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    return [pyarrow.array(column, field.type) for column, field in zip(columns, schema, strict=True)]


def _values(card: RawCard, keys: Sequence[str]) -> Iterable[Any]:
    for key in keys:
        trait = card.traits[key]
        yield from (trait.score, trait.confidence, trait.label, trait.confidence_reason)
    yield card.composite
