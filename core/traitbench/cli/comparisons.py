"""`traitbench compare-versions` and `gate`: two versions, stored or exported, side by side.

`gate` is for programs: exit code 0 if the second version may go on, 1 if not, 2 if that could not be judged.
"""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os.path import isfile
from pathlib import Path
from typing import Any, Literal, get_args

import click

from traitbench.cli.options import (
    InputFile,
    Misasked,
    Refused,
    as_json,
    connected,
    named_shares,
    read_table,
    refuse_to_replace,
)
from traitbench.cli.output import Output, say_table, say_text
from traitbench.comparison.gate import EXIT_CODES, GateReport, Labelled, Rules, judge, junit, markdown
from traitbench.contract.batches import FailedLine
from traitbench.contract.bundles import Bundle
from traitbench.contract.comparisons import ComparedText, FigureDelta, VersionsComparison
from traitbench.contract.rounding import in_decimals
from traitbench.contract.scores import FEEDBACK_WORDS
from traitbench.display.verdicts import VERDICTS
from traitbench.errors import InvalidHandle, LocalError, TraitbenchError
from traitbench.names import ACTIVE, parse_pinned_handle, unpin
from traitbench.tables.sample_files import quality_of

Form = Literal["markdown", "junit", "json"]

_REPORTS: Mapping[Form, Callable[[GateReport], str]] = {
    "markdown": markdown,
    "junit": junit,
    "json": lambda report: report.model_dump_json(indent=2) + "\n",
}
_TEXT_COLUMNS, _QUALITY_COLUMNS, _TRAIT_COLUMNS = ("text", "content"), ("quality", "expected", "label"), ("trait",)
_MOST_SHOWN = 20


@click.command("compare-versions")
@click.argument("a")
@click.argument("b")
@click.option(
    "--texts", "file", type=InputFile(), help="Also score the texts of a CSV, JSONL or Parquet file; - for stdin."
)
@as_json
def compare_versions(a: str, b: str, file: str | None, as_json: bool) -> None:
    """Compare two versions, B with A: which is better, and what changed.

    A and B are handles, such as acme.tone@v3, or files written by export, such as tone.json or tone.json@v2. Two files
    are compared without a service.
    """
    texts = None if file is None else [each.text for each in _texts(file)]
    compared = _compared(a, b, texts)
    Output(compared, lambda: _say(compared, texts)).say(as_json=as_json)


@click.command()
@click.argument("a")
@click.argument("b")
@click.option(
    "--texts", "file", type=InputFile(), help="Also compare the texts of a file. Columns: text, quality, trait."
)
@click.option(
    "--max-drop", type=click.FloatRange(0, 1), help="By how much the AUROC of a trait may fall, such as 0.02."
)
@click.option(
    *("--min", "least"),
    metavar="TRAIT=AUROC",
    multiple=True,
    callback=lambda _context, _option, values: named_shares("--min", values, "TRAIT=AUROC, such as warmth=0.8"),
    help="The least AUROC of a trait; can be repeated.",
)
@click.option("--must-pass", is_flag=True, help="All must-pass samples pass; no labelled text moves to the wrong side.")
@click.option(
    "--format",
    "form",
    type=click.Choice(get_args(Form)),
    default="markdown",
    show_default=True,
    help="The form of the report.",
)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="The file of the report. Default: stdout.")
@click.option("--overwrite", is_flag=True, help="Replace the output file if it exists.")
def gate(
    a: str,
    b: str,
    file: str | None,
    max_drop: float | None,
    least: dict[str, float],
    must_pass: bool,
    form: Form,
    output: str | None,
    overwrite: bool,
) -> None:
    """Check whether version B may follow version A.

    A and B are handles or files, as in compare-versions. B must not be worse than A on the test samples, and must meet
    the options. Exit code 0: it may go on. 1: it does not pass. 2: this could not be judged, or the command is wrong.
    """
    rules = Rules(max_drop, least, must_pass)
    with _misasked():
        refuse_to_replace(output, overwrite=overwrite)
        texts = [] if file is None else _texts(file)
        compared = _compared(a, b, [each.text for each in texts] or None)
    if unknown := [key for key in rules.least if key not in compared.traits]:
        raise click.UsageError(f"--min: the versions have no common trait {', '.join(unknown)}.")
    report = judge(compared, rules, [_with_traits(each, compared) for each in texts])
    document = _REPORTS[form](report)
    if output is None:
        say_text(document)
    else:
        try:
            Path(output).write_text(document, encoding="utf-8")
        except OSError as error:
            raise Misasked(f"{output} cannot be written: {error.strerror}.") from error
    sys.exit(EXIT_CODES[report.outcome])


@dataclass(frozen=True)
class _Version:
    """A handle or a file, and the version that it is pinned to."""

    name: str
    version: str | None
    is_file: bool


@contextmanager
def _misasked() -> Any:
    """Turn every expected failure into exit code 2, because 1 means that the version does not pass."""
    try:
        yield
    except (Refused, LocalError, TraitbenchError, TimeoutError) as error:
        raise Misasked(str(error.message if isinstance(error, click.ClickException) else error)) from error


def _compared(a: str, b: str, texts: Sequence[str] | None) -> VersionsComparison:
    one, other = _version(a), _version(b)
    if not one.is_file and not other.is_file:
        with connected() as client:
            return client.versions.compare(a, b, texts=texts)
    # Imported here: most commands need neither numpy nor an encoder.
    from traitbench.comparison.files import compare_bundles

    first = _bundle(one)
    second = first if one.name == other.name else _bundle(other)
    return compare_bundles(first, second, version_a=one.version, version_b=other.version, texts=texts)


def _version(name: str) -> _Version:
    # Not `Path.is_file`, which raises for a text that is too long to be a name.
    if isfile(name):
        return _Version(name, None, is_file=True)
    path, at, version = name.rpartition("@")
    if version and at and isfile(path):
        return _Version(path, version, is_file=True)
    if name.endswith(".json"):
        raise click.UsageError(f"There is no file {name}. If it is a handle, write {name}@{ACTIVE}.")
    try:
        parse_pinned_handle(name)
    except InvalidHandle as error:
        raise click.UsageError(f"{name} is neither a file nor a handle such as acme.tone or acme.tone@v3.") from error
    handle, pinned = unpin(name)
    return _Version(handle, pinned or None, is_file=False)


def _bundle(version: _Version) -> Bundle:
    from traitbench.comparison.files import read_bundle

    if not version.is_file:
        with connected() as client:
            return client.models.export(version.name)
    try:
        return read_bundle(Path(version.name).read_bytes(), name=version.name)
    except OSError as error:
        raise Refused(f"{version.name} cannot be read: {error.strerror}.") from error


def _texts(name: str) -> list[Labelled]:
    """The texts of a file, each with its expected quality; the trait "" stands for the only one."""
    table = read_table(name)
    text, quality, trait = (
        _column(table.columns, names) for names in (_TEXT_COLUMNS, _QUALITY_COLUMNS, _TRAIT_COLUMNS)
    )
    if text is None:
        if len(table.columns) > 1:
            raise click.UsageError(f"{name} has no column text. Its columns: {', '.join(table.columns)}.")
        text = table.columns[0]
    if table.problems:
        raise click.UsageError(f"{name}: line {table.problems[0].row}: {table.problems[0].reason}")
    return [_labelled(name, row.number, row.cells, text, quality, trait) for row in table.rows]


def _labelled(
    name: str, line: int, cells: Mapping[str, str], text: str, quality: str | None, trait: str | None
) -> Labelled:
    content = cells.get(text, "")
    if not content.strip():
        raise click.UsageError(f"{name}: line {line}: the text is empty.")
    word = cells.get(quality, "").strip() if quality else ""
    if not word:
        return Labelled(content)
    expected = quality_of(word.casefold(), FEEDBACK_WORDS)
    if expected is None:
        raise click.UsageError(f"{name}: line {line}: {word!r} is not a label. Use a number from 0 to 1.")
    return Labelled(content, {cells.get(trait, "").strip() if trait else "": expected})


def _with_traits(labelled: Labelled, compared: VersionsComparison) -> Labelled:
    """The text with the keys of its traits; without a name, the only trait is meant."""
    keys = list(compared.traits)
    expected = {}
    for name, quality in labelled.expected.items():
        if name not in keys and not (name == "" and len(keys) == 1):
            raise click.UsageError(
                f"--texts: {f'the versions have no common trait {name}' if name else 'a label needs the column trait'}."
                f" Traits: {', '.join(keys) or 'none'}."
            )
        expected[name or keys[0]] = quality
    return Labelled(labelled.text, expected)


def _column(columns: Iterable[str], names: Sequence[str]) -> str | None:
    return next((column for name in names for column in columns if column.strip().casefold() == name), None)


def _say(compared: VersionsComparison, texts: Sequence[str] | None) -> None:
    say_text(compared.reason)
    rows = [
        (key, VERDICTS[each.verdict], *_figures(each.auroc), *_figures(each.error), each.measured_on)
        for key, each in compared.traits.items()
    ]
    heads = ("TRAIT", "VERDICT", "AUROC A", "B", "95 % OF B - A", "ERROR A", "B", "95 % OF B - A", "MEASURED ON")
    if rows:
        say_table(heads, rows)
    for line in _changes(compared):
        say_text(line)
    if texts is not None:
        _say_texts(compared, texts)


def _say_texts(compared: VersionsComparison, texts: Sequence[str]) -> None:
    """The texts that moved most."""
    lines = compared.texts or []
    moved = sorted(
        (each for each in lines if isinstance(each, ComparedText)), key=lambda each: (-_most_moved(each), each.index)
    )
    keys = list(compared.traits)
    rows = [
        (
            each.index + 1,
            *(f"{each.traits[key].a} to {each.traits[key].b}" for key in keys),
            "side changed" if any(score.side_changed for score in each.traits.values()) else "",
            texts[each.index],
        )
        for each in moved[:_MOST_SHOWN]
    ]
    if rows:
        say_table(("ROW", *keys, "", "TEXT"), rows)
    if len(moved) > _MOST_SHOWN:
        click.echo(f"{len(moved) - _MOST_SHOWN:,} more texts moved less. Use --json for all.", err=True)
    for each in lines:
        if isinstance(each, FailedLine):
            click.echo(f"row {each.index + 1}: {each.error.message}", err=True)


def _most_moved(text: ComparedText) -> int:
    return max((abs(score.delta) for score in text.traits.values()), default=0)


def _figures(figure: FigureDelta | None) -> tuple[str, str, str]:
    if figure is None:
        return "-", "-", "-"
    span = "-" if figure.interval is None else f"{figure.interval[0]:+.3f} to {figure.interval[1]:+.3f}"
    return in_decimals(figure.a, 3), in_decimals(figure.b, 3), span


def _changes(compared: VersionsComparison) -> Iterable[str]:
    """What changed, one line each."""
    changed = compared.changed
    for name, counts in (("Samples", changed.samples), ("Test samples", changed.held_out)):
        if counts is not None and counts.added + counts.removed + counts.relabelled:
            yield f"{name}: {counts.added} added, {counts.removed} removed, {counts.relabelled} relabelled."
    if changed.unrecorded:
        yield changed.unrecorded
    for word, keys in (("added", changed.traits_added), ("removed", changed.traits_removed)):
        if keys:
            yield f"Traits {word}: {', '.join(keys)}."
    for each in (*changed.traits_changed, *changed.parameters, *filter(None, (changed.encoder,))):
        where = f" of {each.trait}" if each.trait else ""
        shown = each.name.replace("_", " ")
        yield (
            f"{shown.capitalize()}{where} changed."
            if isinstance(each.a, dict)
            else f"{shown.capitalize()}{where}: {each.a} to {each.b}."
        )
