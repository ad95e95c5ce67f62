"""`traitbench score --batch`: score each row of a table and write the results in order as they arrive.

A row that cannot be scored is reported on stderr and in the output, and the others continue. An error that affects all
rows, such as an unknown model, stops the batch. Output to a file can be resumed by the version that scored its
beginning: the outcomes are in `OUT.part` (`batch.parts`), and OUT is written from them when all are there. Memory
holds a few thousand rows, however large the table is.
"""

import os
import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal, cast

import click

from traitbench.analysis.condition import cut_by_spreadsheets
from traitbench.batch import parts
from traitbench.batch.outcomes import (
    RowOutcome,
    Shape,
    csv_head,
    csv_line,
    jsonl_line,
    outcomes,
    probe,
    write_parquet,
)
from traitbench.batch.parts import Parts, in_parts
from traitbench.cli.options import MOST_LISTED, STDIN, FileOptions, Refused, connected, tell_problems
from traitbench.cli.output import RowProgress
from traitbench.client import Traitbench
from traitbench.contract.batches import BatchSettings, Mode
from traitbench.display.scored_rows import Also, Poles, poles_of
from traitbench.display.text import count
from traitbench.errors import NotFound, TraitbenchError
from traitbench.names import unpin
from traitbench.tables.source import ENDINGS, Source

Form = Literal["csv", "jsonl", "parquet"]

_LINES: Mapping[Form, Callable[[Shape, RowOutcome], bytes]] = {"csv": csv_line, "jsonl": jsonl_line}


@dataclass
class _Tally:
    """The rows and failed rows so far, and the first failures in this command."""

    rows: int = 0
    bad: int = 0
    of_which: int = 0
    first: list[tuple[int, str]] = field(default_factory=list)

    def add(self, some: Sequence[RowOutcome]) -> None:
        failed = [(outcome.line, outcome.reason) for outcome in some if outcome.card is None]
        self.rows, self.bad, self.of_which = self.rows + len(some), self.bad + len(failed), self.of_which + len(failed)
        self.first.extend(failed[: MOST_LISTED - len(self.first)])


def score_file(
    handle: str,
    file: str,
    *,
    traits: Sequence[str] | None,
    mode: Mode | None,
    output: str | None,
    form: Form | None,
    resume: bool,
    of_file: FileOptions,
    fetch: bool,
    also: Collection[Also],
) -> None:
    """Score the rows of a file; raise `Refused` at the end if some could not be scored."""
    source, column = of_file.texts(file, of_file.open(file))
    click.echo(of_file.said(source, column), err=True)
    with connected() as client:
        form = form or _form_of(output) or ("jsonl" if source.survey.kind == "json" else "csv")
        if form == "csv" and (warning := cut_by_spreadsheets(source.texts(column))):
            click.echo(warning, err=True)
        settings = BatchSettings(handle, traits, mode or "full", fetch)
        out = _file(output)
        if resume and out is None:
            raise click.UsageError("--resume needs the output file: name it with -o.")
        poles = poles_of(client.traits.list(unpin(handle)[0]))
        batch = _Batch(client, source, settings, column, form, poles, also)
        try:
            tally = batch.to_stream(output or STDIN) if out is None else batch.to_file(out, resume=resume)
        except BrokenPipeError:
            raise  # the reader has seen enough
        except OSError as error:
            raise Refused(f"{output} cannot be written: {error.strerror}.") from error
    if tally.bad:
        tell_problems(tally.first, tally.of_which)
        raise Refused(f"{tally.bad:,} of {source.count:,} rows could not be scored.")


class _Batch:
    """Scores the rows of a source and writes them."""

    def __init__(
        self,
        client: Traitbench,
        source: Source,
        settings: BatchSettings,
        column: str,
        form: Form,
        poles: Poles,
        also: Collection[Also],
    ) -> None:
        self._client, self._source, self._settings = client, source, settings
        self._column, self._form, self._poles, self._also = column, form, poles, also

    def to_stream(self, name: str) -> _Tally:
        """Write to stdout, a pipe or a device, which cannot be resumed."""
        settings, request = self._pinned()
        with click.open_file(name, "wb") as opened:
            out = cast(IO[bytes], opened)
            if self._form == "parquet":
                with tempfile.TemporaryDirectory() as folder:
                    unfinished = Parts.create(Path(folder), request)
                    tally = self._score(settings, unfinished.append, _Tally())
                    self._write(out, self._shape(request), unfinished.outcomes(self._source.lines()))
                    return tally
            shape = self._shape(request)

            def append(some: Sequence[RowOutcome], *, head: bool = False) -> None:
                self._write(out, shape, some, head=head)
                out.flush()

            append((), head=True)
            return self._score(settings, append, _Tally())

    def to_file(self, out: Path, *, resume: bool) -> _Tally:
        """Write to a file, from the beginning or from where an earlier command stopped."""
        folder = out.with_name(f"{out.name}.part")
        earlier = parts.request_of(folder)
        if earlier is not None:
            if not resume:
                raise Refused(
                    f"{folder} holds {count(Parts(folder, earlier).rows, 'row')} of an interrupted batch. Continue it "
                    f"with --resume, or start again: remove {folder.name}."
                )
            return self._into(out, *self._resumed(folder, earlier))
        if resume and out.exists():
            raise Refused(
                f"{out} is complete, so there is nothing to resume. Run the command without --resume to score again."
            )
        settings, request = self._pinned()
        return self._into(out, settings, Parts.create(folder, request))

    def _resumed(self, folder: Path, earlier: parts.Request) -> tuple[BatchSettings, Parts]:
        """Return the unfinished batch; raise `CannotResume` or `Refused` unless this command began it."""
        handle, _, named = self._settings.handle.partition("@")
        version = str(earlier.get("version"))
        # The tag may have moved meanwhile, and the same version may be given by its number.
        same = {"handle": earlier.get("handle")} if named == version else {}
        unfinished = Parts.open(folder, self._request() | same)
        try:
            parameters = self._client.versions.get(handle, version).param_hash
        except NotFound as error:
            raise Refused(f"{error} {folder} was scored by that version. Remove it to start again.") from error
        parts.refuse_if_other(folder, earlier, {"parameters": parameters})
        return replace(self._settings, handle=f"{handle}@{version}"), unfinished

    def _into(self, out: Path, settings: BatchSettings, unfinished: Parts) -> _Tally:
        try:
            with unfinished.locked():
                tally = self._score(settings, unfinished.append, _Tally(unfinished.rows, unfinished.bad))
                made = unfinished.folder / "output.new"
                with made.open("wb") as file:
                    shape = self._shape(unfinished.request)
                    self._write(file, shape, unfinished.outcomes(self._source.lines()), head=True)
                    file.flush()
                    # The parts are removed next, so the output must be on disk before.
                    os.fsync(file.fileno())
                os.replace(made, out)
        except (KeyboardInterrupt, TraitbenchError, OSError):
            if unfinished.rows:
                there = f"{unfinished.rows:,} of {self._source.count:,} rows are in {unfinished.folder}."
                click.echo(f"{there} Repeat the command with --resume to continue.", err=True)
            else:
                parts.remove(unfinished.folder)
            raise
        parts.remove(unfinished.folder)
        return tally

    def _score(self, settings: BatchSettings, append: Callable[[Sequence[RowOutcome]], None], tally: _Tally) -> _Tally:
        """Score the rows that are still missing. A row counts as done once it is written."""
        progress = RowProgress("Scoring", self._source.count, before=tally.rows)
        rest = islice(self._source.lines(), tally.rows, None)
        coming = outcomes(self._client, settings, rest, self._column, first=tally.rows + 1)
        try:
            for some in in_parts(coming):
                append(some)
                tally.add(some)
                progress.at(tally.rows)
        finally:
            progress.end(tally.rows)
        return tally

    def _shape(self, request: parts.Request) -> Shape:
        return Shape(self._source.columns, tuple(map(str, request["keys"])), self._poles, self._also)

    def _write(self, out: IO[bytes], shape: Shape, rows: Iterable[RowOutcome], *, head: bool = False) -> None:
        """Write outcomes in the format that was asked for."""
        if self._form == "parquet":
            write_parquet(out, self._source, shape, rows)
            return
        if head and self._form == "csv":
            out.write(csv_head(shape))
        out.writelines(_LINES[self._form](shape, outcome) for outcome in rows)

    def _pinned(self) -> tuple[BatchSettings, parts.Request]:
        """Pin the version that scores all rows, even if another one becomes active meanwhile."""
        card = probe(self._client, self._settings)
        version = card.metadata.version_id
        parameters = self._client.versions.get(unpin(self._settings.handle)[0], version).param_hash
        pinned = {"version": version, "parameters": parameters, "keys": list(card.scores)}
        return self._settings.of_version(version), self._request() | pinned

    def _request(self) -> dict[str, Any]:
        traits = self._settings.traits
        return {
            "handle": self._settings.handle,
            "traits": None if traits is None else list(traits),
            "mode": self._settings.mode,
            "input": self._source.survey.digest,
            "column": self._source.way_to_read(self._column),
            # None, as in the batches that earlier releases began, whose addresses were fetched then.
            "fetch": self._settings.fetch or None,
        }


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
