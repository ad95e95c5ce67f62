"""Names of models: the rule in words, and the error for one that does not follow it."""

GRAMMAR = 'Use lowercase letters, digits, "-" or "_" (up to 64). Start with a letter or digit.'


def no_name(typed: str) -> str:
    """The error for an invalid or empty name."""
    return f"{'This name is not valid' if typed else 'Enter a name'}. {GRAMMAR}"
