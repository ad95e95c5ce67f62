"""Texts as programs pass them: the values of a list or a column, and what is wrong with a value that is no text.

A value that is no text keeps its place, so that there are as many answers as values.
"""

import re
from collections.abc import Iterator, Mapping, Set
from numbers import Number
from typing import Annotated, Any

from pydantic import Field

from traitbench.contract.fields import NotBlank, Received, Returned, Time


def values_of(texts: Any) -> Iterator[Any]:
    """Return the values of a list, an iterator, an array, a series, or a frame with one column, in their order.

    Whatever has `__array__` is an array.

    Raise `TypeError` for a single text, a mapping, a set and a frame of several columns, whose values are not its texts
    or have no order.
    """
    if isinstance(texts, str | bytes | bytearray | memoryview):
        raise TypeError(f"A list of texts is needed, not a single {type(texts).__name__}. Pass [text] for one text.")
    if isinstance(texts, Mapping | Set):
        raise TypeError(f"Texts are needed in an order, not as {type(texts).__name__}. Pass a list of the texts.")
    if hasattr(texts, "__array__") and not hasattr(texts, "__iter__"):
        texts = texts.__array__()
    shape = getattr(texts, "shape", None)
    if hasattr(texts, "columns") and shape is not None:
        if shape[1] != 1:
            raise TypeError(f"The frame has {shape[1]} columns. Pass the column with the texts, as in frame['text'].")
        texts = texts.column(0) if hasattr(texts, "column") else texts[texts.columns[0]]
    elif shape is not None and hasattr(texts, "ndim") and texts.ndim != 1:
        if texts.ndim != 2 or shape[1] != 1:
            raise TypeError(f"Expected 1D array of texts, got an array of shape {shape} instead.")
        texts = texts[:, 0]
    if hasattr(texts, "to_pylist"):
        texts = _of_arrow(texts)
    if not hasattr(texts, "__iter__"):
        raise TypeError(f"Texts are needed as a list, an array or a column, not as {type(texts).__name__}.")
    return iter(texts)


def _of_arrow(texts: Any) -> Any:
    """Return the values of an Arrow array or column; bytes that are not UTF-8 become halves of surrogate pairs.

    Arrow does not check what it calls a string, and a file may hold any bytes.
    """
    try:
        return texts.to_pylist()
    except UnicodeDecodeError:
        kind = getattr(texts.type, "value_type", texts.type)  # of a dictionary, what it encodes
        raw = texts.cast(kind).cast(str(kind).replace("string", "binary").replace("utf8", "binary")).to_pylist()
        return [value if value is None else value.decode("utf-8", "surrogateescape") for value in raw]


def why_no_text(value: Any) -> str | None:
    """Return why a value is no text, as a sentence in lower case; None if it is one, also if it is blank."""
    if not isinstance(value, str):
        return "the text is missing." if is_missing(value) else f"a text is needed, not {type(value).__name__}."
    if not _is_encodable(value):
        return "the text has half of a surrogate pair, so it is not valid Unicode. Read the file again as UTF-8."
    return None


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, or a missing value of pandas, which has no truth value."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or _is_nan(value)


def _is_nan(value: Any) -> bool:
    return isinstance(value, Number) and bool(value != value)


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


_URL = re.compile(r"https?://[^\s/?#]\S*", re.IGNORECASE)


class ExtractRequest(Received):
    """Body of `POST /extract`."""

    url: Annotated[NotBlank, Field(max_length=8_192)]


class Extracted(Returned):
    """The text of a page. `content` is cut at 50 KB, and `content_sha256` is the hash of the cut text."""

    url: str
    content: str
    content_sha256: str
    fetched_at: Time


def is_url(text: str) -> bool:
    """Whether a text is one http or https address and nothing else, apart from surrounding space."""
    return _URL.fullmatch(text.strip()) is not None
