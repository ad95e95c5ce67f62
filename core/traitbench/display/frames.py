"""Answers as data frames: `frame` of several, `to_frame` of one, which is also a method of every answer.

An answer about several traits has a row for each trait, a listing a row for each item, and several cards a row for each
card. Needs the extra `notebook`. Importing this module gives every answer its `to_frame`.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from traitbench.contract.batches import FailedLine, ScoredLine
from traitbench.contract.comparisons import FigureDelta, VersionsComparison
from traitbench.contract.explanations import Explanation
from traitbench.contract.fields import Wire
from traitbench.contract.page import Page
from traitbench.contract.scores import Card, Comparison
from traitbench.contract.traits import TraitList
from traitbench.contract.versions import Version
from traitbench.display.scored_rows import (
    Also,
    HasPoles,
    Poles,
    ScoredColumns,
    as_sentence,
    cells_of,
    poles_of,
)
from traitbench.install import advice

Row = dict[str, Any]

_INTERVAL = ("low", "high")


def frame(
    items: Iterable[Any], backend: str = "pandas", *, traits: Iterable[HasPoles] = (), also: Collection[Also] = ()
) -> Any:
    """Return answers, or rows as mappings, as a data frame with a row for each.

    Cards and lines of a batch have the columns of scored rows (`display.scored_rows`). `traits` names the poles, as
    `client.traits.list(handle)` and `scorer.traits_` do; else they are called negative and positive. `also` adds "tier"
    and "composite". Raise `ImportError` that says what to install if a library is missing.

    >>> frame([{"text": "Thanks!", "warmth": 91}], backend="pyarrow").to_pylist()
    [{'text': 'Thanks!', 'warmth': 91}]
    """
    items = list(items)
    if items and all(isinstance(item, Card | FailedLine) for item in items):
        return _of_scored(items, backend, poles_of(traits), also)
    return _built([_row(item) for item in items], backend)


def to_frame(answer: Wire, backend: str = "pandas") -> Any:
    """Return one answer as a data frame."""
    rows = next((rows for kind, rows in _ROWS.items() if isinstance(answer, kind)), None)
    return _built([*rows(answer)] if rows else [_row(answer)], backend)


def narwhals() -> Any:
    """Return the library that all kinds of frames go through; raise `ImportError` that says how to install it."""
    try:
        import narwhals.stable.v2 as nw
    except ModuleNotFoundError as error:
        raise ImportError(advice(error)) from error
    return nw


def typed(nw: Any, backend: Any, name: str, values: Sequence[Any], *, whole: bool) -> Any:
    """Return a column of whole numbers or of texts, with nulls, for a backend of narwhals."""
    if not backend.is_pandas_like():
        return nw.new_series(name, values, nw.Int64 if whole else nw.String, backend=backend)
    made = nw.new_series(name, values, backend=backend).to_native()
    # Plain integers of pandas have no null, and pandas 2 writes None as the text "None".
    column = made.astype("Int64") if whole else made.astype("str").where(made.notna(), None)
    return nw.from_native(column, series_only=True)


def _built(rows: Sequence[Row], backend: str, *, whole: Collection[str] = ()) -> Any:
    """Return rows as a frame; the columns `whole` are of whole numbers, also where some are missing."""
    nw = narwhals()
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: [row.get(name) for row in rows] for name in names}
    try:
        built = nw.from_dict(columns, backend=backend)
    except ModuleNotFoundError as error:
        raise ImportError(advice(error) or f"Install the package {error.name}.") from error
    numbers = [typed(nw, built.implementation, name, columns[name], whole=True) for name in names if name in whole]
    return built.with_columns(*numbers).to_native()


def _of_scored(items: Sequence[Card | FailedLine], backend: str, poles: Poles, also: Collection[Also]) -> Any:
    """Return cards and lines as a frame of scored rows; a card alone, which is not the line of a batch, has no row."""
    keys = dict.fromkeys(key for item in items if isinstance(item, Card) for key in item.detail)
    numbered = any(isinstance(item, ScoredLine | FailedLine) for item in items)
    columns, rows = ScoredColumns(list(keys), also, numbered=numbered), list[Row]()
    for item in items:
        number = item.index + 1 if isinstance(item, ScoredLine | FailedLine) else None
        if isinstance(item, FailedLine):
            cells = columns.cells(number, {}, error=as_sentence(item.error.message))
        else:
            scores, version = cells_of(item, poles), item.metadata.version_id
            cells = columns.cells(number, scores, composite=item.composite, version=version)
        rows.append(dict(zip(columns.names, cells, strict=True)))
    return _built(rows, backend, whole=columns.numbers)


# ---- rows of one answer ----------------------------------------------------------------------------------------------


def _of_card(card: Card) -> Iterator[Row]:
    for key, trait in card.detail.items():
        yield {
            "trait": key,
            "score": trait.score,
            "confidence": trait.confidence,
            "confidence_reason": trait.confidence_reason,
            "tier": trait.label,
            "headroom": trait.headroom,
            "polarity": trait.native.polarity,
        }


def _of_comparison(comparison: Comparison) -> Iterator[Row]:
    for key, each in comparison.per_trait.items():
        yield {"trait": key, **each.model_dump()}


def _of_versions_comparison(comparison: VersionsComparison) -> Iterator[Row]:
    for key, each in comparison.traits.items():
        yield {
            "trait": key,
            "verdict": each.verdict,
            **_figure("auroc", each.auroc),
            **_figure("error", each.error),
            "n": each.n,
            "reason": each.reason,
        }


def _figure(name: str, figure: FigureDelta | None) -> Row:
    ends = dict(zip(_INTERVAL, (figure and figure.interval) or (None, None), strict=True))
    values = {"a": figure and figure.a, "b": figure and figure.b, "delta": figure and figure.delta}
    return {f"{name}_{part}": value for part, value in (values | ends).items()}


def _of_version(version: Version) -> Iterator[Row]:
    for key, each in version.metrics.traits.items():
        low, high = each.auroc_interval or (None, None)
        tests = each.test
        yield {
            "trait": key,
            "auroc": each.auroc,
            "auroc_low": low,
            "auroc_high": high,
            "brier": each.brier,
            "calibration_error": each.calibration_error,
            "test_auroc": tests and tests.auroc,
            "test_error": tests and tests.error,
            "measured_on": each.measured_on,
        }


def _of_explanation(explanation: Explanation) -> Iterator[Row]:
    for number, part in enumerate(explanation.parts):
        for piece in part.pieces or [part]:
            yield {"part": number, "start": piece.start, "end": piece.end, "contribution": piece.contribution}


_ROWS: Mapping[type[Wire], Callable[[Any], Iterable[Row]]] = {
    Card: _of_card,
    Comparison: _of_comparison,
    VersionsComparison: _of_versions_comparison,
    Version: _of_version,
    Explanation: _of_explanation,
    Page: lambda page: map(_row, page.items),
    TraitList: lambda listing: map(_row, listing.traits),
}

# ---- one row of a listing --------------------------------------------------------------------------------------------


def _row(item: Any) -> Row:
    if isinstance(item, Mapping):
        return dict(item)
    if isinstance(item, Version):
        return {**_plain(item), "auroc": item.metrics.auroc}
    if isinstance(item, Wire):
        return _plain(item)
    raise TypeError(f"A frame has rows of answers or mappings, not of {type(item).__name__}.")


def _plain(item: Wire) -> Row:
    """The fields that fit into a cell: no nested values, lists as texts with commas."""
    fields = {name: getattr(item, name) for name in type(item).model_fields}
    return {name: _cell(value) for name, value in fields.items() if not isinstance(value, Wire | dict)}


def _cell(value: Any) -> Any:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else value


# Set from here, so that the types need not know how they become frames.
Wire.to_frame = to_frame  # type: ignore[assignment, method-assign]
