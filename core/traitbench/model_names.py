"""Names of models: the rule in words, a name that follows it, and the error if there is none."""

import re
import unicodedata

from traitbench.names import NAMESPACE

_LONGEST = 64
_OTHER = re.compile(r"[^a-z0-9_]+")

GRAMMAR = 'Use lowercase letters, digits, "-" or "_" (up to 64). Start with a letter or digit.'


def slug(typed: str) -> str:
    """The name that is nearest to what was typed: `Customer Mood!` becomes `customer-mood`; empty if there is none."""
    typed = typed.strip()
    if NAMESPACE.fullmatch(typed):
        return typed
    letters = unicodedata.normalize("NFKD", typed.casefold())
    plain_letters = "".join(char for char in letters if not unicodedata.combining(char))
    return _OTHER.sub("-", plain_letters).strip("-_")[:_LONGEST].rstrip("-_")


def no_name(typed: str) -> str:
    """The error for an invalid or empty name."""
    return f"{'This name is not valid' if typed else 'Enter a name'}. {GRAMMAR}"
