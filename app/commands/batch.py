"""`traitbench score --batch`: every row of a table scored by itself, written in order as the answers come.

Rows that cannot be scored are told by their line, on stderr and beside the others, and do not stop them; what would
befall every row (no such model, nobody there) does. What is written to a file can be gone on with (`resuming`): it is
scored by the version that scored its beginning. Memory holds some thousands of rows, whatever the size of the table.
"""

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal, Protocol, cast

import click

from traitbench.app.batching import (
    CSV,
    FIGURES,
    JSONL,
    Outcome,
    Shape,
    TextForm,
    encoded,
    outcomes,
    probe,
    write_parquet,
)
from traitbench.app.commands import resuming
from traitbench.app.commands.asking import STDIN, Refused, connected
from traitbench.app.commands.files import source_of, tell_problems
from traitbench.app.commands.progress import Progress
from traitbench.app.importing import guess_columns, table_of
from traitbench.app.tables import ENDINGS, Source
from traitbench.client import Traitbench
from traitbench.client.batches import Asked
from traitbench.contract.batch import Mode
from traitbench.contract.names import unpin
from traitbench.errors import NotFound, TraitbenchError

Form = Literal["csv", "jsonl", "parquet"]

_FORMS: Mapping[Form, TextForm] = {"csv": CSV, "jsonl": JSONL, "parquet": FIGURES}
_KEPT_EVERY = 1.0  # seconds of work that a killed command may have to do again
_MOST_TOLD = 20


@dataclass(frozen=True)
class Order:
    """What the command was asked."""

    handle: str
    file: str
    traits: Sequence[str] | None
    mode: Mode
    column: str | None
    output: str | None
    form: Form | None
    resume: bool


class Sink(Protocol):
    """Where rows are written to."""

    def write(self, some: bytes) -> object:
        """Write on."""

    def keep(self, rows: int, bad: int) -> None:
        """So many rows are written, so many of them bad."""


class _Stream:
    """A sink that cannot be gone on with."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.write = file.write

    def keep(self, rows: int, bad: int) -> None:
        self.file.flush()


@dataclass
class _Told:
    """Rows so far, the bad ones, and the first of those that this command has met itself."""

    rows: int = 0
    bad: int = 0
    of_which: int = 0
    first: list[tuple[int, str]] | None = None

    def add(self, outcome: Outcome) -> None:
        self.rows += 1
        if outcome.card is None:
            self.bad += 1
            self.of_which += 1
            self.first = self.first or []
            if len(self.first) < _MOST_TOLD:
                self.first.append((outcome.line, outcome.reason))


def score_file(order: Order) -> None:
    """Score the rows of a file; `Refused` at the end when some could not be."""
    with source_of(order.file) as source, connected() as client:
        column = _column(source, order.column)
        form = order.form or _form_of(order.output) or ("jsonl" if source.kind == "json" else "csv")
        asked = Asked(order.handle, order.traits, order.mode)
        out = _file(order.output)
        if order.resume and out is None:
            raise click.UsageError("--resume goes on with a file: name it with -o.")
        batch = _Batch(client, source, asked, column, form)
        told = batch.to_stream(order.output or STDIN) if out is None else batch.to_file(out, resume=order.resume)
    if told.bad:
        tell_problems(told.first or [], told.of_which)
        raise Refused(f"{told.bad:,} of {source.count:,} rows could not be scored.")


class _Batch:
    """The rows of a source on their way to where they are written."""

    def __init__(self, client: Traitbench, source: Source, asked: Asked, column: str, form: Form) -> None:
        self._client, self._source, self._asked = client, source, asked
        self._column, self._form = column, form

    def to_stream(self, name: str) -> _Told:
        """Write to stdout, or to what is no file."""
        asked, shape = self._pinned()[:2]
        with click.open_file(name, "wb") as out:
            stream = cast(IO[bytes], out)
            if self._form != "parquet":
                return self._write(_Stream(stream), asked, shape, _Told())
            with tempfile.TemporaryFile() as kept:
                told = self._write(_Stream(kept), asked, shape, _Told())
                self._to_parquet(kept, shape, stream)
                return told

    def to_file(self, out: Path, *, resume: bool) -> _Told:
        """Write to a file, from its beginning or from where an earlier command ended."""
        begun = resuming.left_behind(out)
        if begun is not None and resume:
            if done := resuming.is_complete(out, self._source.count):
                resuming.discard(out)
                return _Told(done.rows, done.bad)
            return self._go_on(out, begun)
        if begun is not None:
            resuming.refuse_to_overwrite(out)
        if resume and out.exists():
            raise Refused(f"{out} is complete: nothing is left to go on with. Leave --resume out to score anew.")
        asked, shape, version, parameters = self._pinned()
        header = self._header(asked) | {"version": version, "parameters": parameters, "keys": list(shape.keys)}
        return self._into(lambda: resuming.begin(out, header), asked, shape)

    def _go_on(self, out: Path, begun: resuming.Begun) -> _Told:
        handle, _, named = self._asked.handle.partition("@")
        version = str(begun.get("version"))
        asked = replace(self._asked, handle=f"{handle}@{version}")
        # A link to a version may have moved meanwhile, and the version may be named as what it is.
        header = self._header(self._asked) | ({"handle": begun.get("handle")} if named == version else {})
        resuming.refuse_if_other(out, begun, header)
        try:
            parameters = _parameters(self._client, handle, version)
        except NotFound as error:
            raise Refused(f"{error} {resuming.part_of(out)} was scored by it; remove it to begin again.") from error
        resuming.refuse_if_other(out, begun, {"parameters": parameters})
        shape = Shape(self._source.columns, tuple(map(str, begun.get("keys", ()))))
        return self._into(lambda: resuming.go_on(out, begun), asked, shape)

    def _into(self, opened: Callable[[], resuming.Part], asked: Asked, shape: Shape) -> _Told:
        part = opened()
        told = _Told(part.mark.rows, part.mark.bad)
        try:
            self._write(part, asked, shape, told)
            made = self._parquet_beside(part, shape) if self._form == "parquet" else None
            part.finish(made)
        except (KeyboardInterrupt, TraitbenchError):
            self._say_how_to_go_on(part)
            raise
        except OSError as error:
            self._say_how_to_go_on(part)
            raise Refused(f"{part.out} cannot be written: {error.strerror}.") from error
        finally:
            part.close()
        return told

    def _say_how_to_go_on(self, part: resuming.Part) -> None:
        if part.mark.rows:
            there = f"{part.mark.rows:,} of {self._source.count:,} rows are in {resuming.part_of(part.out)}."
            click.echo(f"{there} The same command with --resume goes on from there.", err=True)

    def _write(self, sink: Sink, asked: Asked, shape: Shape, told: _Told) -> _Told:
        """Write the rows that are not there yet."""
        form = _FORMS[self._form]
        if not told.rows:
            sink.write(encoded(form.head(shape)))
        progress = Progress("Scoring", self._source.count, before=told.rows)
        coming = outcomes(self._client, asked, islice(self._source.lines(), told.rows, None), self._column)
        last = time.monotonic()
        try:
            for outcome in coming:
                sink.write(encoded(form.line(shape, outcome)))
                told.add(outcome)
                progress.at(told.rows)
                if time.monotonic() - last >= _KEPT_EVERY:
                    sink.keep(told.rows, told.bad)
                    last = time.monotonic()
        finally:
            sink.keep(told.rows, told.bad)
            progress.end(told.rows)
        return told

    def _pinned(self) -> tuple[Asked, Shape, str, str]:
        """The one version that scores all rows, whatever happens to the model meanwhile."""
        card = probe(self._client, self._asked)
        handle, version = unpin(self._asked.handle)[0], card.metadata.version_id
        shape = Shape(self._source.columns, tuple(card.scores))
        parameters = _parameters(self._client, handle, version)
        return self._asked.of_version(version), shape, version, parameters

    def _header(self, asked: Asked) -> dict[str, Any]:
        return {
            "handle": self._asked.handle,
            "traits": None if asked.traits is None else list(asked.traits),
            "mode": asked.mode,
            "input": self._source.digest,
            "column": self._column,
            "form": self._form,
        }

    def _parquet_beside(self, part: resuming.Part, shape: Shape) -> Path:
        made = part.out.with_name(f"{part.out.name}.part.parquet")
        try:
            with made.open("wb") as out, resuming.part_of(part.out).open("rb") as kept:
                self._to_parquet(kept, shape, out)
        except BaseException:
            made.unlink(missing_ok=True)
            raise
        return made

    def _to_parquet(self, kept: IO[bytes], shape: Shape, out: IO[bytes]) -> None:
        kept.seek(0)
        write_parquet(out, self._source, shape, kept)


def _column(source: Source, name: str | None) -> str:
    if name is not None and name not in source.columns:
        raise click.UsageError(f"The file has no column {name}; it has {', '.join(source.columns)}.")
    return name or guess_columns(table_of(source), ())[0]


def _form_of(output: str | None) -> Form | None:
    """The form that the name of a file promises."""
    name = (output or "").lower()
    known: dict[str, Form] = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
    known |= {ending: "parquet" for ending, kind in ENDINGS.items() if kind == "parquet"}
    return next((form for ending, form in known.items() if name.endswith(ending)), None)


def _file(output: str | None) -> Path | None:
    """The file that is written to; None for stdout, a pipe, a device."""
    path = Path(output or STDIN)
    return None if output in (None, STDIN) or (path.exists() and not path.is_file()) else path


def _parameters(client: Traitbench, handle: str, version: str) -> str:
    return client.versions.get(handle, version).param_hash
