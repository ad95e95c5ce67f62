"""`traitbench thresholds`: which value of a trait stands for a threshold on values that Perspective recorded.

The value of a text is `summaryScore.value` of the service (`traitbench.doors.probability`).
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import click

from traitbench.batch.outcomes import probe
from traitbench.cli.options import (
    STDIN,
    FileOptions,
    InputFile,
    Refused,
    as_json,
    connected,
    reads_file,
    tell_problems,
    write_output,
    writes_file,
)
from traitbench.cli.output import RowProgress, say_table, say_text
from traitbench.client import Traitbench
from traitbench.contract.batches import BatchSettings, ScoredLine
from traitbench.contract.page import LARGEST_SAMPLE_PAGE
from traitbench.contract.traits import Trait
from traitbench.display.scored_rows import as_sentence
from traitbench.display.text import count
from traitbench.doors.probability import at, of_positive
from traitbench.errors import Forbidden
from traitbench.names import pin, unpin
from traitbench.tables.recorded_values import RecordedFile, RecordedRow, is_attribute, read_values, value_columns
from traitbench.tables.writing import csv_file

if TYPE_CHECKING:
    from traitbench.analysis.thresholds import CarriedOver, CarriedThreshold, OldThreshold

_PAIRS = "NAME=HANDLE:TRAIT, such as TOXICITY=acme.comments:insult"
_LOW = (at(-1.0, "low"), at(1.0, "low"))
"""Between these values is every text with low confidence."""

_COLUMNS = (
    *("attribute", "model", "trait", "threshold", "texts", "before", "low_confidence_before"),
    *("by_value", "by_value_above", "by_value_added", "by_value_dropped", "by_value_same", "by_value_low"),
    *("by_value_high", "as_many", "as_many_above", "as_many_added", "as_many_dropped", "as_many_same", "as_many_low"),
    *(
        "as_many_high",
        "unchanged_above",
        "unchanged_added",
        "unchanged_dropped",
        "rank_correlation",
        "rank_correlation_low",
        "rank_correlation_high",
        "why_not",
    ),
)


@dataclass(frozen=True)
class _Measured:
    """An attribute with the trait that stands for it, and what became of its thresholds.

    `counts` says what each row of the file is: measured, or why not. With `is_checked`, none was learned by the model.
    """

    attribute: str
    handle: str
    trait: Trait
    counts: Mapping[str, int]
    is_checked: bool
    result: "CarriedOver"


@click.command("thresholds")
@click.argument("file", type=InputFile())
@reads_file("--text")
@click.option(
    *("--attribute", "meant"),
    metavar="NAME=HANDLE:TRAIT",
    multiple=True,
    callback=lambda _context, _option, values: dict(map(_given_trait, values)),
    help="The trait that stands for an attribute; can be repeated. Default: its alias.",
)
@click.option(
    *("--values", "named"),
    metavar="NAME=COLUMN",
    multiple=True,
    callback=lambda _context, _option, values: dict(map(_given_column, values)),
    help="The column with the recorded values of an attribute; can be repeated. Default: by its name.",
)
@click.option(
    *("--threshold", "thresholds"),
    type=click.FloatRange(0, 1, min_open=True),
    multiple=True,
    help="An old threshold; can be repeated. Default: 0.5, 0.6, 0.7, 0.8 and 0.9.",
)
@click.option("--with-nothing", "whole", is_flag=True, help="Keep texts that say nothing, such as n/a.")
@writes_file("Write the figures as CSV.")
@as_json
def thresholds(
    file: str,
    of_file: FileOptions,
    meant: dict[str, tuple[str, str]],
    named: dict[str, str],
    thresholds: tuple[float, ...],
    whole: bool,
    output: str | None,
    as_json: bool,
) -> None:
    """Carry thresholds over from values that Perspective recorded: FILE has texts, and a column for each attribute.

    The texts are scored by the service. Each old threshold gets two new ones: the score that stands for it on average,
    and the score that as many texts reach as before. All counts are of texts that were held out from the fit.
    """
    # With numpy and scipy, for which no other command waits.
    from traitbench.analysis.thresholds import USUAL

    source, text = of_file.texts(file, of_file.open(file))
    columns = _columns(source.columns, meant, named)
    reading = of_file.reading(source.whole)
    recorded = read_values(source.lines(), text, columns, whole=whole)
    tell_problems([(each.row, f"{each.column} {each.reason}".strip()) for each in recorded.problems])
    old = sorted(set(thresholds)) or USUAL
    with connected() as client:
        traits = _traits(client, columns, meant)
        measured = list(_measured(client, recorded, traits, reading.together, old))
    if output is not None:
        write_output(output, csv_file(_COLUMNS, [row for each in measured for row in _csv_rows(each)], mark=False))
    if as_json:
        document = {"rows": source.count, "attributes": [_document(each) for each in measured]}
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    elif output != STDIN:
        for each in measured:
            _say(each)
        if any(each.result.thresholds for each in measured):
            say_text(_LEGEND)
    if not any(each.by_value or each.as_many for one in measured for each in one.result.thresholds):
        raise Refused("No threshold could be carried over.")


# ---- columns and traits ----------------------------------------------------------------------------------------------


def _given_trait(value: str) -> tuple[str, tuple[str, str]]:
    name, _, target = value.partition("=")
    handle, _, trait = target.partition(":")
    if not (is_attribute(name) and handle and trait):
        raise click.UsageError(f"--attribute {value} is not {_PAIRS}.")
    return name, (handle, trait)


def _given_column(value: str) -> tuple[str, str]:
    name, _, column = value.partition("=")
    if not (is_attribute(name) and column):
        raise click.UsageError(f"--values {value} is not NAME=COLUMN, such as TOXICITY=tox_score.")
    return name, column


def _columns(columns: Sequence[str], meant: Mapping[str, tuple[str, str]], named: Mapping[str, str]) -> dict[str, str]:
    """Return the column of each attribute; only of those in `meant`, if there are any."""
    for column in named.values():
        if column not in columns:
            raise click.UsageError(f"The file has no column {column}; it has {', '.join(columns)}.")
    matches = value_columns(columns, meant) | {name: [column] for name, column in named.items()}
    if meant:
        if missing := [name for name in meant if name not in matches]:
            raise click.UsageError(f"No column is called {missing[0]}. Name it: --values {missing[0]}=COLUMN.")
        matches = {name: matches[name] for name in meant}
    if not matches:
        raise click.UsageError(
            f"No column is called like an attribute, such as TOXICITY: {', '.join(columns)}. Name one: --values"
            " TOXICITY=COLUMN."
        )
    for name, several in matches.items():
        if len(several) > 1:
            raise click.UsageError(f"{' and '.join(several)} could be {name}. Name one: --values {name}=COLUMN.")
    return {name: column for name, [column] in matches.items()}


def _traits(
    client: Traitbench, columns: Mapping[str, str], meant: Mapping[str, tuple[str, str]]
) -> dict[str, tuple[str, Trait]]:
    """Return the handle, pinned to the version that scores, and the trait of each attribute."""
    known = dict(meant) or _aliases(client, columns)
    if not known:
        raise click.UsageError(f"Say which trait an attribute is: --attribute {_PAIRS}.")
    chosen = {}
    for name, (handle, key) in known.items():
        card = probe(client, BatchSettings(handle, [key]))
        trait = next(each for each in client.traits.list(unpin(handle)[0]) if each.key in card.detail)
        chosen[name] = (pin(handle, card.metadata.version_id), trait)
        click.echo(
            f"{name}: {columns[name]} beside {chosen[name][0]}, trait {trait.key} ({trait.positive_label})", err=True
        )
    return chosen


def _aliases(client: Traitbench, columns: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return what the attributes mean in the namespaces of the key; say on stderr which mean nothing, or several."""
    meanings: dict[str, set[tuple[str, str]]] = {name: set() for name in columns}
    for namespace in client.me().namespaces:
        for each in client.attributes.list(namespace):
            if each.name in meanings:
                meanings[each.name].add((each.handle, each.trait))
    for name, own in meanings.items():
        if len(own) != 1:
            why = f"aliases in your namespaces name {len(own)} traits" if own else "no namespace of yours has an alias"
            click.echo(f"{name} is left out: {why}. Name one: --attribute {name}=HANDLE:TRAIT.", err=True)
    return {name: own.pop() for name, own in meanings.items() if len(own) == 1}


# ---- scores and figures ----------------------------------------------------------------------------------------------


def _measured(
    client: Traitbench,
    recorded: RecordedFile,
    traits: Mapping[str, tuple[str, Trait]],
    together: str | None,
    old: Sequence[float],
) -> Iterator[_Measured]:
    """Yield the figures of each attribute; a model scores each text once, for all of its attributes."""
    by_handle = defaultdict[str, list[str]](list)
    for name, (handle, _) in traits.items():
        by_handle[handle].append(name)
    for handle, names in by_handle.items():
        rows = [each for each in recorded.rows if not each.values.keys().isdisjoint(names)]
        scores = _scores(client, handle, [traits[name][1].key for name in names], rows)
        samples = _samples(client, unpin(handle)[0])
        for name in names:
            yield _figures(name, handle, traits[name][1], recorded, scores, samples, together, old)


_Value = tuple[float, bool]
"""The value of a text, and whether its confidence is low."""


def _scores(
    client: Traitbench, handle: str, keys: Iterable[str], rows: Sequence[RecordedRow]
) -> Mapping[int, Mapping[str, _Value]]:
    """Return the values of each text by the key of their trait, by its line; say on stderr which have none."""
    progress, scores, problems = RowProgress("Scoring", len(rows)), dict[int, dict[str, _Value]](), []
    answers = client.scores.batch(handle, (each.text for each in rows), traits=[*dict.fromkeys(keys)])
    try:
        for done, (row, answer) in enumerate(zip(rows, answers, strict=True), start=1):
            if isinstance(answer, ScoredLine):
                scores[row.line] = {
                    key: (of_positive(each), each.confidence == "low") for key, each in answer.detail.items()
                }
            else:
                problems.append((row.line, as_sentence(answer.error.message)))
            progress.at(done)
    finally:
        progress.end(len(rows))
    tell_problems(problems)
    return scores


def _samples(client: Traitbench, handle: str) -> list[str] | None:
    """Return the texts that a model was taught with; None if this key may not see them, or if they are purged."""
    try:
        texts = [each.text for each in client.samples.list(handle, limit=LARGEST_SAMPLE_PAGE)]
        return texts or None
    except Forbidden:
        return None


def _figures(
    name: str,
    handle: str,
    trait: Trait,
    recorded: RecordedFile,
    scores: Mapping[int, Mapping[str, _Value]],
    samples: Sequence[str] | None,
    together: str | None,
    old: Sequence[float],
) -> _Measured:
    # With numpy and scipy, for which no other command waits.
    from traitbench.analysis.thresholds import carry_over, learned, units_of

    rows = [each for each in recorded.rows if name in each.values]
    scored = [each for each in rows if each.line in scores]
    is_learned = learned([each.text for each in scored], samples or ())
    new = [each for each, known in zip(scored, is_learned, strict=True) if not known]
    values = [scores[each.line][trait.key] for each in new]
    result = carry_over(
        [value for value, _ in values],
        [each.values[name] for each in new],
        [unsure for _, unsure in values],
        units_of([each.text for each in new], [each.cells.get(together or "") for each in new]),
        thresholds=old,
    )
    counts = {
        "measured": len(new),
        "learned": len(scored) - len(new),
        "not_scored": len(rows) - len(scored),
        "without_value": recorded.missing[name],
        "invalid_value": recorded.invalid[name],
        "says_nothing": recorded.nothing,
        "without_text": recorded.blank,
        "unreadable": recorded.unreadable,
    }
    return _Measured(name, handle, trait, counts, samples is not None, result)


# ---- output ----------------------------------------------------------------------------------------------------------

_COUNTED: Mapping[str, str] = {
    "measured": "measured",
    "learned": "learned by the model, so they say nothing about new texts",
    "not_scored": "not scored",
    "without_value": "without a value",
    "invalid_value": "with a value that is not from 0 to 1",
    "says_nothing": "that say nothing",
    "without_text": "without a text",
    "unreadable": "not readable",
}
_HEADS = (
    "OLD",
    "BEFORE",
    "ON AVERAGE",
    "NOW",
    "ADDED",
    "DROPPED",
    "SAME",
    "AS MANY",
    "NOW",
    "ADDED",
    "DROPPED",
    "SAME",
)


_LEGEND = (
    "OLD: the threshold on the old values; BEFORE texts have that much or more. ON AVERAGE: texts with this score had"
    " OLD. AS MANY: as many texts have this score or more as had OLD or more. NOW, ADDED, DROPPED, SAME (with its 95 %"
    " interval): on how many held-out texts each of the two acts, and how many it decides otherwise and as before."
)


def _say(measured: _Measured) -> None:
    result = measured.result
    say_text(f"{measured.attribute}: {measured.trait.key} of {measured.handle} ({measured.trait.positive_label})")
    rows = sum(measured.counts.values())
    parts = [f"{number:,} {_COUNTED[name]}" for name, number in measured.counts.items() if number or name == "measured"]
    say_text(f"{count(rows, 'row')}: {', '.join(parts)}.")
    if not measured.is_checked:
        say_text(
            "This key may not read the samples of the model, or they are purged. If the model learned some of these"
            " texts, the figures are too good."
        )
    if result.correlation is not None and result.interval is not None:
        low, high = result.interval
        counted = f"; intervals count {result.units:,} of them, because others repeat or belong together"
        say_text(
            f"Rank correlation {result.correlation:.2f} (95 % interval {low:.2f} to {high:.2f}) on"
            f" {count(result.texts, 'held-out text')}{counted if result.units < result.texts else ''}."
        )
    if result.why_not:
        say_text(f"No threshold is carried over: {result.why_not}.")
    else:
        say_table(_HEADS, [_cells(each) for each in result.thresholds])
    for line in _notes(result):
        say_text(line)
    say_text("")


def _cells(each: "OldThreshold") -> list[object]:
    cells: list[object] = [f"{each.old:g}", f"{each.before:,}"]
    for new in (each.by_value, each.as_many):
        cells += [None] * 5 if new is None else _of_new(new)
    return cells


def _of_new(new: "CarriedThreshold") -> list[object]:
    low, high = (f"{100 * share:.1f}" for share in new.interval)
    numbers = [f"{number:,}" for number in (new.above, new.added, new.dropped)]
    return [f"{new.threshold:.3f}", *numbers, f"{100 * new.same:.1f} % ({low} to {high})"]


def _notes(result: "CarriedOver") -> Iterator[str]:
    """Say why cells are empty, and what low confidence means for thresholds."""
    for each in result.thresholds:
        if each.why_not:
            yield f"{each.old:g}: {each.why_not}."
    if result.thresholds:
        unchanged = (f"{each.unchanged.above:,} at {each.old:g} ({_otherwise(each)})" for each in result.thresholds)
        yield f"If the thresholds stay as they are, they act on {', '.join(unchanged)}."
    if not result.unsure:
        return
    low, high = (f"{bound:g}" for bound in _LOW)
    held = ", ".join(f"{each.unsure:,} of {each.before:,} at {each.old:g}" for each in result.thresholds)
    yield (
        f"{count(result.unsure, 'text has', 'texts have')} low confidence ({100 * result.unsure / result.texts:.0f} %):"
        f" their score stays from {low} to {high}, so a threshold above {high} never acts on them, whatever their"
        f" old value was{f' ({held})' if held else ''}."
    )
    new = [new.threshold for each in result.thresholds for new in (each.by_value, each.as_many) if new is not None]
    if between := [f"{each:.3f}" for each in dict.fromkeys(new) if _LOW[0] < each <= _LOW[1]]:
        yield f"Thresholds from {low} to {high} ({', '.join(between)}) divide texts that have no clear side."


def _otherwise(each: "OldThreshold") -> str:
    return f"+{each.unchanged.added:,} -{each.unchanged.dropped:,}"


def _document(measured: _Measured) -> dict[str, Any]:
    result = measured.result
    return {
        "attribute": measured.attribute,
        "model": measured.handle,
        "trait": measured.trait.key,
        "pole": measured.trait.positive_label,
        "rows": dict(measured.counts),
        "learned_is_known": measured.is_checked,
        "different_texts": result.units,
        "low_confidence": result.unsure,
        "rank_correlation": result.correlation,
        "interval": result.interval,
        "why_not": result.why_not or None,
        "thresholds": [asdict(each) | {"why_not": each.why_not or None} for each in result.thresholds],
    }


def _csv_rows(measured: _Measured) -> Iterator[list[object]]:
    result = measured.result
    correlation = [result.correlation, *(result.interval or (None, None))]
    start = [measured.attribute, measured.handle, measured.trait.key]
    for each in result.thresholds:
        new = [cell for one in (each.by_value, each.as_many) for cell in _numbers(one)]
        new += [each.unchanged.above, each.unchanged.added, each.unchanged.dropped]
        yield [*start, each.old, result.texts, each.before, each.unsure, *new, *correlation, each.why_not]
    if not result.thresholds:
        yield [*start, None, result.texts, None, None, *[None] * 17, *correlation, result.why_not]


def _numbers(new: "CarriedThreshold | None") -> list[object]:
    if new is None:
        return [None] * 7
    return [new.threshold, new.above, new.added, new.dropped, new.same, *new.interval]
