"""Detect labels that only say what a text is not. Neither words nor vectors can represent what is absent."""

import re

_NEGATION = re.compile(
    r"^(?:not?|non|un|never|neither|without|lack(?:ing|s)?|absence|anything|everything|something|none|others?|less|hardly|barely)"
    r"(?:\b|-)|\b(?:else|otherwise)\b",
    re.IGNORECASE,
)


def negates(label: str) -> bool:
    """Whether a pole's label is only a negation."""
    return _NEGATION.search(label.strip()) is not None
