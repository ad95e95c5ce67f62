"""The results of a batch as a table: filtered, sorted, on screen and as a file. Pure functions."""

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

import numpy as np
import pandas as pd

from traitbench.analysis.condition import says_nothing
from traitbench.analysis.groups import half_widths, standings
from traitbench.batch.outcomes import Shape, columns_out
from traitbench.display.charts.distributions import Histogram, binned
from traitbench.display.scored_rows import Poles
from traitbench.tables.writing import csv_file, jsonl_file, parquet_file
from traitbench_app.workspace.batches import CONFIDENCES, NONE, REASONS, TIERS, Batch

Order = Literal["As in the file", "Highest first", "Lowest first"]
Show = Literal["all", "positive", "open", "negative", "nothing", "unlike", "failed"]

LINE, TEXT, COMPOSITE, CONFIDENCE, ERROR = "line", "text", "composite", "confidence", "error"
NOTHING = "says nothing"
"""The column that says which texts are an answer that says nothing, such as `n/a`."""

MOST_VALUES, MOST_GROUPS = 30, 12
"""The most different values of a column that is offered for groups and as a filter, and the groups that are drawn."""

_MIDDLE = 50

NO_POLES: Poles = MappingProxyType({})
"""Without names, poles are called negative and positive."""


def score_of(key: str) -> str:
    """Return the name of the column with a trait's scores. Trait keys have no spaces, so names are unique."""
    return f"score of {key}"


def tier_of(key: str) -> str:
    """Return the name of the column with a trait's tiers."""
    return f"tier of {key}"


def sure_of(key: str) -> str:
    """Return the name of the column with a trait's confidences."""
    return f"confidence of {key}"


def why_of(key: str) -> str:
    """Return the name of the column with why a trait's confidences are not high."""
    return f"confidence reason of {key}"


def side_of(key: str) -> str:
    """Return the name of the column with the side that a text claims: -1, 1, and 0 if no side is clear."""
    return f"claimed side of {key}"


def other(column: str) -> str:
    """Return the name of the result column that holds a column of the input."""
    return f"in {column}"


def frame_of(batch: Batch) -> pd.DataFrame:
    """Return the results so far, one row per line of the file, in its order."""
    done = batch.done
    columns: dict[str, object] = {LINE: batch.lines[:done], TEXT: pd.Series(batch.texts[:done], dtype="str")}
    columns[COMPOSITE] = _figures(batch.composites[:done])
    columns[CONFIDENCE] = _words(batch.confidences[:done], CONFIDENCES)
    for key, trait in batch.traits.items():
        columns[score_of(key)] = _figures(trait.scores[:done])
        columns[tier_of(key)] = _words(trait.tiers[:done], [tier or "uncertain" for tier in TIERS])
        columns[sure_of(key)] = _words(trait.confidences[:done], CONFIDENCES)
        columns[why_of(key)] = _words(trait.reasons[:done], REASONS)
        columns[side_of(key)] = np.asarray(trait.sides[:done])
    for buffer, name in enumerate(batch.other_columns):
        columns[other(name)] = pd.Series([cells[buffer] for cells in batch.others[:done]], dtype="str")
    errors = [batch.errors.get(row, "") for row in range(done)] if batch.failed else [""] * done
    columns[ERROR] = pd.Series(errors, dtype="str")
    columns[NOTHING] = [says_nothing(text) for text in batch.texts[:done]]
    return pd.DataFrame(columns)


def opinions(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows whose texts say something; all of them if none does."""
    some = frame[~frame[NOTHING]]
    return frame if some.empty else some


def counting_all(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows as if each text said something."""
    return frame.assign(**{NOTHING: False})


@dataclass(frozen=True)
class Filter:
    """Which rows are shown: all conditions have to hold, and one that is empty always does.

    `key` is the trait that `show` and the bounds `least` and `most` are about. `values` are those of a column of the
    input.
    """

    key: str
    show: Show = "all"
    least: int = 0
    most: int = 100
    words: str = ""
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def active(self) -> bool:
        """Whether the filter may hide rows."""
        return self != Filter(self.key)


def shown_as(frame: pd.DataFrame, key: str, show: Show) -> "pd.Series[bool]":
    """Return whether each row is of this kind."""
    has_score = frame[score_of(key)].notna()
    nothing = has_score & frame[NOTHING]
    side = frame[side_of(key)].mask(nothing)
    kinds: Mapping[Show, Callable[[], pd.Series]] = {
        "all": lambda: pd.Series(True, frame.index),
        "positive": lambda: side == 1,
        "open": lambda: has_score & (side == 0),
        "negative": lambda: side == -1,
        "nothing": lambda: nothing,
        "unlike": lambda: frame[why_of(key)].astype("object") == "unlike_samples",
        "failed": lambda: ~has_score,
    }
    return kinds[show]().astype(bool)


def matching(frame: pd.DataFrame, wanted: Filter) -> pd.DataFrame:
    """Return the rows that meet all conditions."""
    chosen = shown_as(frame, wanted.key, wanted.show)
    if (wanted.least, wanted.most) != (0, 100):
        chosen &= frame[score_of(wanted.key)].between(wanted.least, wanted.most).fillna(False).astype(bool)
    for word in wanted.words.split():
        chosen &= frame[TEXT].str.contains(word, case=False, regex=False, na=False)
    for name, values in wanted.values.items():
        if values and name in frame:
            chosen &= frame[name].isin(list(values))
    return frame[chosen]


def grouped(frame: pd.DataFrame, column: str, key: str) -> pd.DataFrame:
    """Return a row for each value of a column of the input: texts, mean with its 95 % interval, median, share above 50.

    The largest `MOST_GROUPS` come in order of their mean. `standing` says whether the mean is shown to differ from that
    of the other texts (`analysis.groups`), of all groups.
    """
    rows = frame[frame[score_of(key)].notna()]
    scores = rows[score_of(key)].astype("float64")
    groups = rows[other(column)].replace("", "(empty)").rename(column)
    by_group = scores.groupby(groups, observed=True)
    size, mean = by_group.size(), by_group.mean()
    half = half_widths(np.asarray(by_group.std(), np.float64), np.asarray(size, np.int64))
    table = pd.DataFrame(
        {"rows": size, "mean": mean, "low": (mean - half).clip(0), "high": (mean + half).clip(upper=100)}
    )
    table["median"] = by_group.median()
    table["above"] = 100 * (scores > _MIDDLE).groupby(groups, observed=True).mean()
    known = standings(np.asarray(scores, np.float64), groups.astype(str).tolist()) if len(table) else {}
    table["standing"] = [known[str(name)] for name in table.index]
    largest = table.nlargest(MOST_GROUPS, "rows").sort_values("mean", ascending=False, kind="stable")
    return largest.round(1).reset_index()


def groupable(batch: Batch) -> list[str]:
    """Return the columns of the input with 2 to `MOST_VALUES` different values."""
    frame = pd.DataFrame(batch.others[: batch.done], columns=pd.Index(batch.other_columns))
    return [name for name in batch.other_columns if 2 <= frame[name].nunique() <= MOST_VALUES]


def arranged(frame: pd.DataFrame, *, order: Order, by: str) -> pd.DataFrame:
    """Sort the rows; rows without a score come last."""
    if order == "As in the file":
        return frame
    return frame.sort_values(by, ascending=order == "Lowest first", kind="stable", na_position="last")


def histogram(frame: pd.DataFrame, key: str, *, negative: str, positive: str) -> Histogram:
    """Return the histogram of the scores of a trait."""
    scored = frame[frame[score_of(key)].notna()]
    scores, sides = scored[score_of(key)].tolist(), scored[side_of(key)].tolist()
    return binned(scores, sides, negative=negative, positive=positive)


def as_csv(frame: pd.DataFrame, batch: Batch, poles: Poles = NO_POLES) -> bytes:
    """Return the rows as a CSV file for spreadsheets; `poles` names the sides."""
    return csv_file(columns_out(_shape(batch)), _rows(frame, batch, poles))


def as_jsonl(frame: pd.DataFrame, batch: Batch, poles: Poles = NO_POLES) -> bytes:
    """Return the rows as a JSONL file."""
    return jsonl_file(columns_out(_shape(batch)), _rows(frame, batch, poles))


def as_parquet(frame: pd.DataFrame, batch: Batch, poles: Poles = NO_POLES) -> bytes:
    """Return the rows as a Parquet file with typed columns."""
    buffer = io.BytesIO()
    parquet_file(buffer, _columns(frame, batch, poles).set_axis(columns_out(_shape(batch)), axis=1))
    return buffer.getvalue()


def _shape(batch: Batch) -> Shape:
    """Return the columns that the command writes too."""
    return Shape(batch.columns, list(batch.traits))


def _columns(frame: pd.DataFrame, batch: Batch, poles: Poles) -> pd.DataFrame:
    """Return the columns of a file in the order of `columns_out`, with nulls where there is nothing to say."""
    columns = [frame[TEXT if column == batch.column else other(column)] for column in batch.columns]
    columns.append(pd.Series(frame.index + 1, frame.index, dtype="Int64"))
    for key in batch.traits:
        negative, positive = poles.get(key, ("negative", "positive"))
        columns += [
            frame[score_of(key)],
            frame[side_of(key)].map({-1: negative, 1: positive}).astype("string"),
            frame[sure_of(key)].astype("string"),
            frame[why_of(key)].astype("string"),
        ]
    is_scored = frame[ERROR] == ""
    columns.append(pd.Series(batch.version, frame.index, dtype="string").where(is_scored))
    columns.append(frame[ERROR].astype("string").where(~is_scored))
    return pd.concat(columns, axis=1)


def _rows(frame: pd.DataFrame, batch: Batch, poles: Poles) -> Sequence[tuple[object, ...]]:
    table = _columns(frame, batch, poles)
    columns = [
        [None if cell is pd.NA or cell != cell else cell for cell in table.iloc[:, at].tolist()]
        for at in range(table.shape[1])
    ]
    return list(zip(*columns, strict=True))


def _figures(values: Sequence[int]) -> pd.Series:
    column = pd.Series(values, dtype="Int64")
    return column.mask(column == NONE)


def _words(codes: Sequence[int], words: Sequence[str]) -> "pd.Categorical[str]":
    return pd.Categorical.from_codes(list(codes), categories=pd.Index(words))
