"""The results of a batch as a table: filtered, sorted, on screen and as a file. Pure functions."""

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pandas as pd

from traitbench.analysis.groups import standings
from traitbench.batch.outcomes import Shape, columns_out
from traitbench.display.charts.distributions import UNCERTAIN, Histogram, binned
from traitbench.tables.writing import csv_file, jsonl_file, parquet_file
from traitbench_app.workspace.batches import CONFIDENCES, NONE, REASONS, TIERS, Batch

Order = Literal["As in the file", "Highest first", "Lowest first"]
Show = Literal["All", "Low confidence", "Unlike the samples", "Not scored"]

LINE, TEXT, COMPOSITE, CONFIDENCE, ERROR = "line", "text", "composite", "confidence", "error"
CONFIDENCE_REASON = "confidence_reason"
MOST_VALUES = 30
"""The most different values of a column that is offered for groups and as a filter."""


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


def other(column: str) -> str:
    """Return the name of the result column that holds a column of the input."""
    return f"in {column}"


def frame_of(job: Batch) -> pd.DataFrame:
    """Return the results so far, one row per line of the file, in its order."""
    done = job.done
    columns: dict[str, object] = {LINE: job.lines[:done], TEXT: pd.Series(job.texts[:done], dtype="str")}
    columns[COMPOSITE] = _figures(job.composites[:done])
    columns[CONFIDENCE] = _words(job.confidences[:done], CONFIDENCES)
    columns[CONFIDENCE_REASON] = pd.Series(job.reasons[:done], dtype="str")
    for key, trait in job.traits.items():
        columns[score_of(key)] = _figures(trait.scores[:done])
        columns[tier_of(key)] = _words(trait.tiers[:done], [tier or "uncertain" for tier in TIERS])
        columns[sure_of(key)] = _words(trait.confidences[:done], CONFIDENCES)
        columns[why_of(key)] = _words(trait.reasons[:done], REASONS)
    for place, name in enumerate(job.other_columns):
        columns[other(name)] = pd.Series([cells[place] for cells in job.others[:done]], dtype="str")
    errors = [job.errors.get(row, "") for row in range(done)] if job.failed else [""] * done
    columns[ERROR] = pd.Series(errors, dtype="str")
    return pd.DataFrame(columns)


@dataclass(frozen=True)
class Filter:
    """Which rows are shown: all conditions have to hold, and one that is empty or None always does.

    `column` holds scores: `least` to `most` are its bounds, `positive` the side.
    `values` are those of a column of the input.
    """

    show: Show = "All"
    column: str = ""
    least: int = 0
    most: int = 100
    positive: bool | None = None
    words: str = ""
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def active(self) -> bool:
        """Whether the filter may hide rows."""
        return self != Filter(column=self.column)


def matching(frame: pd.DataFrame, wanted: Filter) -> pd.DataFrame:
    """Return the rows that meet all conditions."""
    chosen = _shown(frame, wanted.show)
    if wanted.column in frame:
        scores = frame[wanted.column]
        if (wanted.least, wanted.most) != (0, 100):
            chosen &= scores.between(wanted.least, wanted.most).fillna(False).astype(bool)
        if wanted.positive is not None:
            side = scores > 50 if wanted.positive else scores < 50
            chosen &= side.fillna(False).astype(bool)
    for word in wanted.words.split():
        chosen &= frame[TEXT].str.contains(word, case=False, regex=False, na=False)
    for name, values in wanted.values.items():
        if values and name in frame:
            chosen &= frame[name].isin(list(values))
    return frame[chosen]


def grouped(frame: pd.DataFrame, job: Batch, column: str, by: str) -> pd.DataFrame:
    """Return a row for each value of a column of the input: rows, mean and median score, and the share above 50.

    `standing` says whether its mean is shown to differ from that of the other rows (`analysis.groups`).
    """
    rows = frame[frame[by].notna()]
    scores = rows[by].astype("float64")
    groups = rows[other(column)].replace("", "(empty)")
    by_group = scores.groupby(groups, observed=True)
    table = pd.DataFrame(
        {
            "rows": by_group.size(),
            "mean": by_group.mean().round(1),
            "median": by_group.median(),
            "above": (100 * (scores > 50).groupby(groups, observed=True).mean()).round(1),
        }
    )
    known = standings(np.asarray(scores, np.float64), groups.astype(str).tolist()) if len(table) else {}
    table["standing"] = [known[str(name)] for name in table.index]
    table.index.name = column
    return table.reset_index()


def groupable(job: Batch) -> list[str]:
    """Return the columns of the input with 2 to `MOST_VALUES` different values."""
    frame = pd.DataFrame(job.others[: job.done], columns=pd.Index(job.other_columns))
    return [name for name in job.other_columns if 2 <= frame[name].nunique() <= MOST_VALUES]


def arranged(frame: pd.DataFrame, *, order: Order, by: str) -> pd.DataFrame:
    """Sort the rows; rows without a score come last."""
    if order == "As in the file":
        return frame
    return frame.sort_values(by, ascending=order == "Lowest first", kind="stable", na_position="last")


def _shown(frame: pd.DataFrame, show: Show) -> "pd.Series[bool]":
    kinds: Mapping[Show, Callable[[], pd.Series]] = {
        "All": lambda: pd.Series(True, frame.index),
        "Low confidence": lambda: frame[CONFIDENCE] == "low",
        "Unlike the samples": lambda: _unlike(frame),
        "Not scored": lambda: frame[COMPOSITE].isna(),
    }
    return kinds[show]().fillna(False).astype(bool)


def histograms(frame: pd.DataFrame, job: Batch, names: Mapping[str, str]) -> dict[str, Histogram]:
    """Return the histograms of the scores: the composite under the key "", then each trait under its key.

    Scores of low confidence are apart, by their reason.
    """
    scored = frame[frame[COMPOSITE].notna()]
    result = {"": binned("Composite", _scores(scored, COMPOSITE), _groups_of_composites(scored), None)}
    for key in job.traits:
        own = frame[frame[score_of(key)].notna()]
        result[key] = binned(names.get(key, key), _scores(own, score_of(key)), _groups_of_scores(own, key), None)
    return result


def as_csv(frame: pd.DataFrame, job: Batch) -> bytes:
    """Return the rows as a CSV file for spreadsheets."""
    return csv_file(_names(job), _rows(frame, job))


def as_jsonl(frame: pd.DataFrame, job: Batch) -> bytes:
    """Return the rows as a JSONL file."""
    return jsonl_file(_names(job), _rows(frame, job))


def as_parquet(frame: pd.DataFrame, job: Batch) -> bytes:
    """Return the rows as a Parquet file with typed columns."""
    place = io.BytesIO()
    parquet_file(place, _columns(frame, job).set_axis(_names(job), axis=1))
    return place.getvalue()


def _names(job: Batch) -> list[str]:
    """Return the column names of the command line's output, plus tier, confidence and its reason after each trait."""
    keys = [
        name for key in job.traits for name in (key, f"{key} tier", f"{key} confidence", f"{key} confidence reason")
    ]
    return columns_out(Shape(job.columns, keys))


def _columns(frame: pd.DataFrame, job: Batch) -> pd.DataFrame:
    came_in = [TEXT if column == job.column else other(column) for column in job.columns]
    of_traits = [name for key in job.traits for name in (score_of(key), tier_of(key), sure_of(key), why_of(key))]
    ours = frame.assign(version=job.version)
    return ours[[*came_in, LINE, *of_traits, COMPOSITE, CONFIDENCE, CONFIDENCE_REASON, "version", ERROR]]


def _rows(frame: pd.DataFrame, job: Batch) -> Sequence[tuple[object, ...]]:
    columns = [
        [None if cell is pd.NA or cell != cell else cell for cell in column.tolist()]
        for _, column in _columns(frame, job).items()
    ]
    return list(zip(*columns, strict=True))


def _groups_of_scores(scored: pd.DataFrame, key: str) -> list[str]:
    """For each score of a trait with low confidence its reason, or `uncertain` if there is none; else empty."""
    sure, reasons = scored[sure_of(key)].astype("object"), scored[why_of(key)].astype("object")
    return list(reasons.fillna(UNCERTAIN).where(sure == "low", ""))


def _groups_of_composites(scored: pd.DataFrame) -> list[str]:
    """For each composite of low confidence its reason, of several the first; empty for the others."""
    rows = zip(scored[CONFIDENCE], scored[CONFIDENCE_REASON], strict=True)
    return ["" if sure != "low" else reasons.partition(", ")[0] or UNCERTAIN for sure, reasons in rows]


def _unlike(frame: pd.DataFrame) -> pd.Series:
    """Whether each text is unlike the samples. If it is, every trait says so."""
    columns = [name for name in frame.columns if str(name).startswith(why_of(""))]
    return frame[columns[0]] == "unlike_samples" if columns else pd.Series(False, frame.index)


def _figures(values: Sequence[int]) -> pd.Series:
    column = pd.Series(values, dtype="Int64")
    return column.mask(column == NONE)


def _words(codes: Sequence[int], words: Sequence[str]) -> "pd.Categorical[str]":
    return pd.Categorical.from_codes(list(codes), categories=pd.Index(words))


def _scores(frame: pd.DataFrame, column: str) -> list[int]:
    return [int(score) for score in frame[column].dropna()]
