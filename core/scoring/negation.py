"""Labels that say only what a text is not: words, and vectors, cannot show what is missing."""

import re

_NEGATION = re.compile(
    r"^(?:not?|non|un|never|neither|without|lack(?:ing|s)?|absence|anything|everything|something|none|others?|less|hardly|barely)"
    r"(?:\b|-)|\b(?:else|otherwise)\b",
    re.IGNORECASE,
)


def negates(label: str) -> bool:
    """Whether the label of a pole only negates."""
    return _NEGATION.search(label.strip()) is not None
