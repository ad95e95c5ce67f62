"""Texts as they are scored: long runs of one character are shortened, and texts that are too large are refused."""

from traitbench.errors import BodyTooLarge
from traitbench.lifecycle.context import Context
from traitbench.lifecycle.vector_cache import Encoding
from traitbench.scoring import size
from traitbench.scoring.repeats import shorten
from traitbench.scoring.segments import count_words


def fitted(context: Context, encoding: Encoding, content: str) -> str:
    """The text to encode; raise `BodyTooLarge` before anything expensive when it is too large."""
    text = shorten(content).text
    try:
        size.check(text, most_words=context.settings.max_text_words, count_tokens=encoding.tokens)
    except size.TextTooLarge as error:
        raise BodyTooLarge(str(error), details=error.details) from None
    return text


def ahead(context: Context, content: str) -> str:
    """The text to encode, for looking up its vectors in advance; empty if it has too many words to be scored."""
    text, most_words = shorten(content).text, context.settings.max_text_words
    return text if size.is_small(text, most_words=most_words) or count_words(text) <= most_words else ""
