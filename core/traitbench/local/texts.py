"""Texts as people pass them to an estimator: checked, one `str` each. An error names the row, counted from 0."""

from collections.abc import Callable
from typing import Any

from traitbench.as_read import as_read, is_blank
from traitbench.contract.samples import LONGEST_TEXT
from traitbench.contract.texts import values_of, why_no_text
from traitbench.scoring import segments
from traitbench.settings import read_settings

Problem = str | None


def read_texts(X: Any, *, to_train: bool = False, too_large: Callable[[str], Problem] = lambda _: None) -> list[str]:
    """Return the texts in a list, an array, a series, or a frame with one column.

    Raise `ValueError` for what is no text; `to_train` also refuses what is too long for a sample, and `too_large`
    (`scored_size`) what is too large for a score.
    """
    try:
        texts = list(values_of(X))
    except TypeError as error:
        raise ValueError(str(error)) from None
    if not texts:
        raise ValueError("Found array with 0 sample(s): there are no texts, and at least one is required.")
    for row, text in enumerate(texts):
        if problem := text_problem(text, to_train=to_train) or too_large(text):
            raise ValueError(f"Row {row}: {problem}")
    # Strings of numpy are a subclass of `str`.
    return [str(text) for text in texts]


def text_problem(text: Any, *, to_train: bool = False) -> Problem:
    """Return what is wrong with one text and what to do, None if nothing is."""
    if problem := why_no_text(text):
        return problem
    if "\x00" in text:
        return "the text has the character U+0000. Remove it."
    if is_blank(text):
        return "the text is blank. Leave the row out."
    if to_train and len(text) > LONGEST_TEXT:
        return f"the text has {len(text):,} characters. A sample has at most {LONGEST_TEXT:,}: shorten it."
    return None


def scored_size(count_tokens: Callable[[str], int]) -> Callable[[str], Problem]:
    """Return the check for the size of a text to score: why it is too large, None if it is not."""
    most_words = read_settings().max_text_words

    def problem(text: str) -> Problem:
        try:
            if not segments.is_small(text, most_words=most_words):
                segments.check(as_read(text).text, most_words=most_words, count_tokens=count_tokens)
        except segments.TextTooLarge as error:
            return str(error)[0].lower() + str(error)[1:]
        return None

    return problem


def column_name(X: Any) -> str | None:
    """Return the name of the column if the texts are a frame with one named column."""
    names = _column_names(X)
    return names[0] if len(names) == 1 and isinstance(names[0], str) else None


def _column_names(X: Any) -> list[Any]:
    """The names of the columns of a frame; of an Arrow table, whose `columns` are values, too."""
    return list(getattr(X, "column_names", ()) or getattr(X, "columns", ()))
