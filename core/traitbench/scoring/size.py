"""The largest text that is scored at once, in words and, because a word may be many tokens, in tokens.

Both follow from the text alone, so a text is either always scored or always refused. Shorten long runs of one character
(`repeats`) before you count the words.
"""

from collections.abc import Callable

from traitbench.scoring.segments import count_words

TOKENS_PER_WORD = 2
"""How many tokens are allowed per word: more than a word has in most languages. So the limit in tokens only affects
unusual texts, such as ten thousand different symbols.
"""

_FEWEST_CHARACTERS = 1 / 4  # per token: a tokenizer that falls back to bytes makes four tokens of one character


class TextTooLarge(ValueError):
    """The text has more words or tokens than are scored at once; `details` holds the number and the limit."""

    def __init__(self, unit: str, count: int, most: int) -> None:
        self.details = {unit: count, f"max_{unit}": most}
        super().__init__(
            f"The text has {count:,} {unit}; at most {most:,} are scored at once. Split it into shorter texts."
        )


def is_small(text: str, *, most_words: int) -> bool:
    """Whether the text has so few characters that it cannot exceed a limit."""
    return len(text) <= most_words * TOKENS_PER_WORD * _FEWEST_CHARACTERS


def check(text: str, *, most_words: int, count_tokens: Callable[[str], int]) -> None:
    """Raise `TextTooLarge` if the text is too large. Tokens are counted only if there could be too many."""
    if is_small(text, most_words=most_words):
        return
    if (words := count_words(text)) > most_words:
        raise TextTooLarge("words", words, most_words)
    if (tokens := count_tokens(text)) > TOKENS_PER_WORD * most_words:
        raise TextTooLarge("tokens", tokens, TOKENS_PER_WORD * most_words)
