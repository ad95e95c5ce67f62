"""What one does with a fitted estimator: load it, score a column of a frame, and say what share of texts is on a pole.

pandas, polars and Arrow all go through narwhals, so one piece of code serves the three.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import Progress

from traitbench.analysis import corpus
from traitbench.contract.texts import values_of
from traitbench.display.frames import narwhals, typed
from traitbench.display.scored_rows import Also, ScoredColumns, TraitCells, as_sentence, is_scored
from traitbench.estimators.fitted import Fitted
from traitbench.estimators.labels import qualities_of
from traitbench.estimators.score_card import ScoreCard
from traitbench.estimators.scorer import Scorer
from traitbench.formulas import are_guarded, as_written
from traitbench.local import version_files
from traitbench.scoring import card

Frame = TypeVar("Frame")

_AT_ONCE = 256


def load(path: str | Path, *, version: str | None = None) -> Scorer | ScoreCard:
    """Return a `Scorer` if the file has one trait, else a `ScoreCard`.

    The file is one that `save` wrote, or a model exported from a service. Errors are those of `Scorer.load`.
    """
    several = len(version_files.read(path, version=version)[0].traits) > 1
    kind = ScoreCard if several else Scorer
    return kind.load(path, version=version)


def score(
    frame: Frame,
    column: str | None = None,
    *,
    scorer: Scorer | ScoreCard | str | Path,
    details: bool = True,
    also: Collection[Also] = (),
    prefix: str = "",
    progress: bool | None = None,
) -> Frame:
    """Return the frame with scores of a column of texts; pandas, polars or Arrow, with its index and its own columns.

    Without `column`, the texts are in the one that `read_table` found; another frame needs it named.
    The new columns are those of every scored file: `row` counts the rows from 1. For each trait, `KEY_score` is the
    score, 0 to 100, `KEY_side` the name of the pole (null if none is sure), `KEY_confidence` how sure that is, and
    `KEY_reason` why it is not high. `version` is there if the scorer was loaded from a file. A text that cannot be
    scored has nulls, and why in `error`. `also` adds "tier" and "composite"; without `details` there are the scores and
    `error` alone. `prefix` is put before the new names. If the frame is a downloaded batch, the apostrophes that keep
    spreadsheets from running formulas are not part of the texts. A web address is scored as it stands.

    `scorer` is fitted, or the path of a saved one. `progress` shows a bar, by default in a terminal.

    >>> import pandas, traitbench as tb
    >>> scorer = tb.Scorer("warmth", poles=("cold", "warm"), effort="low", encoder="ngrams")
    >>> scorer = scorer.fit(["Thank you!", "How kind.", "Denied.", "Go away."], ["warm", "warm", "cold", "cold"])
    >>> tb.score(pandas.DataFrame({"text": ["Thank you!", None]}), "text", scorer=scorer)["error"].tolist()[1]
    'The text is missing.'
    """
    nw, fitted = narwhals(), _fitted(scorer)
    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError as error:
        raise TypeError(
            f"score takes a pandas, polars or Arrow frame, not {type(frame).__name__}. Call collect() on a lazy one."
        ) from error
    column = getattr(frame, "attrs", {}).get("text") if column is None else column
    if column is None:
        raise ValueError(f"Name the column of the texts. The frame has: {', '.join(map(str, table.columns))}.")
    if column not in table.columns:
        raise ValueError(f"The frame has no column {column!r}. It has: {', '.join(map(str, table.columns))}.")
    values = list(values_of(table[column].to_native()))
    if is_scored(table.columns) and are_guarded(value for value in values if isinstance(value, str)):
        values = [as_written(value) if isinstance(value, str) else value for value in values]
    fitted.check_fitted()
    version = fitted.loaded.number
    columns = ScoredColumns(fitted.trait_keys(), also, versioned=version is not None, details=details)
    if taken := [prefix + name for name in columns.names if prefix + name in table.columns]:
        raise ValueError(f"The frame has a column {taken[0]!r} already. Drop it, or pass a prefix for the new columns.")
    rows = _scored(fitted, values, columns, progress)
    added = [
        typed(nw, table.implementation, prefix + name, [row[at] for row in rows], whole=name in columns.numbers)
        for at, name in enumerate(columns.names)
    ]
    scored: Frame = table.with_columns(*added).to_native()
    return scored


def share(
    texts: Any,
    labels: Mapping[int, Any],
    *,
    scorer: Scorer | ScoreCard | str | Path,
    trait: str | None = None,
    pole: str | None = None,
    groups: Sequence[str] | None = None,
    stratified: bool = False,
    promised: float = corpus.PROMISED,
    seed: int | None = None,
) -> corpus.Answer:
    """Return what share of the texts is on a pole, with a 95 % interval, which counting scores cannot give.

    `labels` are those of texts drawn at random (`corpus.draw`) and labelled without looking at their scores, by the
    position of the text, from 0: a name of a pole, or a quality from 0 to 1. `trait` is the key or name of the trait if
    there are several. `pole` is the name of a pole, by default the positive one. The other arguments are those of
    `corpus.answer`.
    """
    fitted = Scorer.load(scorer, trait=trait) if isinstance(scorer, str | Path) else scorer
    fitted.check_fitted()
    at = _position(fitted, trait)
    negative, positive = fitted.traits_[at].poles
    wanted = positive if pole is None else pole
    if wanted not in (negative, positive):
        raise ValueError(f"{pole!r} is no pole of the scorer. Use {negative!r} or {positive!r}.")
    checked, rows = fitted.read(texts), list(labels)
    beyond = [row for row in rows if not 0 <= row < len(checked)]
    if beyond:
        raise ValueError(f"There is a label for row {beyond[0]}, but there are {len(checked):,} texts, counted from 0.")
    classes = fitted.classes_ if isinstance(fitted, Scorer) else fitted.classes_[at]
    qualities = qualities_of([labels[row] for row in rows], classes, (negative, positive), rows=rows)
    return corpus.answer(
        (fitted.score_texts(checked) if isinstance(fitted, Scorer) else fitted.score_texts(checked)[:, at]).tolist(),
        dict(zip(rows, qualities.tolist(), strict=True)),
        pole=wanted,
        positive=wanted == positive,
        groups=groups,
        stratified=stratified,
        promised=promised,
        seed=seed,
    )


def _fitted(scorer: Scorer | ScoreCard | str | Path) -> Fitted:
    return load(scorer) if isinstance(scorer, str | Path) else scorer


def _scored(
    fitted: Fitted, values: Sequence[Any], columns: ScoredColumns, progress: bool | None
) -> Sequence[Sequence[Any]]:
    """The new cells of each row."""
    version = fitted.loaded
    problems = version.problems(values)
    poles = {axis.key: (axis.negative_label, axis.positive_label) for axis in version.snapshot.traits}
    chosen = card.choose(version.snapshot, columns.keys)
    named = None if version.number is None else f"v{version.number}"
    rows = [
        columns.cells(row, {}, error=problem and as_sentence(problem)) for row, problem in enumerate(problems, start=1)
    ]
    able = [at for at, problem in enumerate(problems) if problem is None]
    with _bar(len(able), progress) as advance:
        for first in range(0, len(able), _AT_ONCE):
            some = able[first : first + _AT_ONCE]
            for at, placed in zip(some, version.project([str(values[at]) for at in some]), strict=True):
                read = card.read(version.snapshot, chosen, placed)
                cells = {key: TraitCells.of(each, each.polarity, poles[key]) for key, each in read.traits.items()}
                rows[at] = columns.cells(at + 1, cells, composite=read.composite, version=named)
            advance(len(some))
    return rows


@contextmanager
def _bar(total: int, wanted: bool | None) -> Iterator[Callable[[int], None]]:
    console = Console(stderr=True)
    shown = console.is_terminal if wanted is None else wanted
    with Progress(console=console, disable=not shown, transient=True) as bar:
        yield partial(bar.advance, bar.add_task("Scoring texts", total=total))


def _position(fitted: Scorer | ScoreCard, trait: str | None) -> int:
    """The place of a trait among those of the fit; raise `ValueError` if it is unknown, or missing and needed."""
    scored = fitted.trait_keys()
    indices = [
        index
        for index, each in enumerate(fitted.traits_)
        if each.key in scored and trait in (None, each.key, each.name)
    ]
    if len(indices) != 1:
        known = ", ".join(map(repr, scored))
        raise ValueError(
            f"Name the trait: {known}." if trait is None else f"There is no trait {trait!r}, only {known}."
        )
    return indices[0]
