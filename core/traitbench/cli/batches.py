"""`traitbench score --batch`: score each row of a table and write the results in order as they arrive.

A row that cannot be scored is reported on stderr and in the output, and the others continue. An error that affects all
rows, such as an unknown model, stops the batch. Output to a file can be resumed (`resuming`), by the version that
scored its beginning. Memory holds a few thousand rows, however large the table is.
"""

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal, Protocol, cast

import click

from traitbench.batch.outcomes import (
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
from traitbench.cli import resuming
from traitbench.cli.files import source_of, tell_problems, text_column
from traitbench.cli.options import STDIN, Refused, connected
from traitbench.cli.progress import Progress
from traitbench.client import Traitbench
from traitbench.contract.asked import Asked
from traitbench.contract.batches import Mode
from traitbench.errors import NotFound, TraitbenchError
from traitbench.names import unpin
from traitbench.tables.sample_files import table_of
from traitbench.tables.source import ENDINGS, Source

Form = Literal["csv", "jsonl", "parquet"]

_FORMS: Mapping[Form, TextForm] = {"csv": CSV, "jsonl": JSONL, "parquet": FIGURES}
_LAYOUT = "line, traits, composite, confidence, confidence_reason, version, error"
_LOG_SECONDS = 1.0  # seconds of work that is lost if the command is killed
_MOST_LISTED = 20


@dataclass(frozen=True)
class Order:
    """The options of the command."""

    handle: str
    file: str
    traits: Sequence[str] | None
    mode: Mode
    column: str | None
    output: str | None
    form: Form | None
    resume: bool
    header: bool
    sheet: str | None


class Sink(Protocol):
    """Where the rows go."""

    def write(self, some: bytes) -> object:
        """Append bytes."""

    def keep(self, rows: int, bad: int) -> None:
        """Record that `rows` rows are written, `bad` of them with an error."""


class _Stream:
    """A sink that cannot be resumed."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.write = file.write

    def keep(self, rows: int, bad: int) -> None:
        self.file.flush()


@dataclass
class _Tally:
    """The rows and failed rows so far, and the first failures in this command."""

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
            if len(self.first) < _MOST_LISTED:
                self.first.append((outcome.line, outcome.reason))


def score_file(order: Order) -> None:
    """Score the rows of a file; raise `Refused` at the end if some could not be scored."""
    source = source_of(order.file, header=order.header, sheet=order.sheet)
    column = text_column(table_of(source), order.column, "--column")
    click.echo(f"texts from {column}", err=True)
    with connected() as client:
        form = order.form or _form_of(order.output) or ("jsonl" if source.kind == "json" else "csv")
        asked = Asked(order.handle, order.traits, order.mode)
        out = _file(order.output)
        if order.resume and out is None:
            raise click.UsageError("--resume needs the output file: name it with -o.")
        batch = _Batch(client, source, asked, column, form)
        tally = batch.to_stream(order.output or STDIN) if out is None else batch.to_file(out, resume=order.resume)
    if tally.bad:
        tell_problems(tally.first or [], tally.of_which)
        raise Refused(f"{tally.bad:,} of {source.count:,} rows could not be scored.")


class _Batch:
    """Scores the rows of a source and writes them."""

    def __init__(self, client: Traitbench, source: Source, asked: Asked, column: str, form: Form) -> None:
        self._client, self._source, self._asked = client, source, asked
        self._column, self._form = column, form

    def to_stream(self, name: str) -> _Tally:
        """Write to stdout, a pipe or a device."""
        asked, shape = self._pinned()[:2]
        with click.open_file(name, "wb") as out:
            stream = cast(IO[bytes], out)
            if self._form != "parquet":
                return self._write(_Stream(stream), asked, shape, _Tally())
            with tempfile.TemporaryFile() as rows:
                tally = self._write(_Stream(rows), asked, shape, _Tally())
                self._to_parquet(rows, shape, stream)
                return tally

    def to_file(self, out: Path, *, resume: bool) -> _Tally:
        """Write to a file, from the beginning or from where an earlier command stopped."""
        existing = resuming.left_behind(out)
        if existing is not None and resume:
            if done := resuming.is_complete(out, self._source.count):
                resuming.discard(out)
                return _Tally(done.rows, done.bad)
            return self._go_on(out, existing)
        if existing is not None:
            resuming.refuse_to_overwrite(out)
        if resume and out.exists():
            raise Refused(
                f"{out} is complete, so there is nothing to resume. Run the command without --resume to score again."
            )
        asked, shape, version, parameters = self._pinned()
        header = self._header(asked) | {"version": version, "parameters": parameters, "keys": list(shape.keys)}
        return self._into(lambda: resuming.begin(out, header), asked, shape)

    def _go_on(self, out: Path, existing: resuming.Header) -> _Tally:
        handle, _, named = self._asked.handle.partition("@")
        version = str(existing.get("version"))
        asked = replace(self._asked, handle=f"{handle}@{version}")
        # The tag may have moved meanwhile, and the same version may be given by its number.
        header = self._header(self._asked) | ({"handle": existing.get("handle")} if named == version else {})
        resuming.refuse_if_other(out, existing, header)
        try:
            parameters = _parameters(self._client, handle, version)
        except NotFound as error:
            raise Refused(
                f"{error} {resuming.part_of(out)} was scored by that version. Remove the file to start again."
            ) from error
        resuming.refuse_if_other(out, existing, {"parameters": parameters})
        shape = Shape(self._source.columns, tuple(map(str, existing.get("keys", ()))))
        return self._into(lambda: resuming.go_on(out, existing), asked, shape)

    def _into(self, opened: Callable[[], resuming.Part], asked: Asked, shape: Shape) -> _Tally:
        part = opened()
        tally = _Tally(part.mark.rows, part.mark.bad)
        try:
            self._write(part, asked, shape, tally)
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
        return tally

    def _say_how_to_go_on(self, part: resuming.Part) -> None:
        if part.mark.rows:
            there = f"{part.mark.rows:,} of {self._source.count:,} rows are in {resuming.part_of(part.out)}."
            click.echo(f"{there} Repeat the command with --resume to continue.", err=True)

    def _write(self, sink: Sink, asked: Asked, shape: Shape, tally: _Tally) -> _Tally:
        """Score and write the rows that are still missing."""
        form = _FORMS[self._form]
        if not tally.rows:
            sink.write(encoded(form.head(shape)))
        progress = Progress("Scoring", self._source.count, before=tally.rows)
        coming = outcomes(self._client, asked, islice(self._source.lines(), tally.rows, None), self._column)
        last = time.monotonic()
        try:
            for outcome in coming:
                sink.write(encoded(form.line(shape, outcome)))
                tally.add(outcome)
                progress.at(tally.rows)
                if time.monotonic() - last >= _LOG_SECONDS:
                    sink.keep(tally.rows, tally.bad)
                    last = time.monotonic()
        finally:
            sink.keep(tally.rows, tally.bad)
            progress.end(tally.rows)
        return tally

    def _pinned(self) -> tuple[Asked, Shape, str, str]:
        """Pin the version that scores all rows, even if another one becomes active meanwhile."""
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
            "input": self._source.survey.digest,
            "column": self._column,
            "form": self._form,
            **({} if self._form == "jsonl" else {"layout": _LAYOUT}),
        }

    def _parquet_beside(self, part: resuming.Part, shape: Shape) -> Path:
        # Parquet cannot be cut to the last complete row, so its rows are kept as text until all are there.
        made = part.out.with_name(f"{part.out.name}.part.parquet")
        try:
            with made.open("wb") as out, resuming.part_of(part.out).open("rb") as rows:
                self._to_parquet(rows, shape, out)
        except BaseException:
            made.unlink(missing_ok=True)
            raise
        return made

    def _to_parquet(self, rows: IO[bytes], shape: Shape, out: IO[bytes]) -> None:
        rows.seek(0)
        write_parquet(out, self._source, shape, rows)


def _form_of(output: str | None) -> Form | None:
    """Return the format that the ending of a file name stands for, or None."""
    name = (output or "").lower()
    known: dict[str, Form] = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
    known |= {ending: "parquet" for ending, kind in ENDINGS.items() if kind == "parquet"}
    return next((form for ending, form in known.items() if name.endswith(ending)), None)


def _file(output: str | None) -> Path | None:
    """Return the output file, or None for stdout, a pipe or a device."""
    path = Path(output or STDIN)
    return None if output in (None, STDIN) or (path.exists() and not path.is_file()) else path


def _parameters(client: Traitbench, handle: str, version: str) -> str:
    return client.versions.get(handle, version).param_hash
