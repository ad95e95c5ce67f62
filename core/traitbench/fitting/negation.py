"""Detect labels that only say what a text is not. Neither words nor vectors can represent what is absent."""

import re

_NEGATION = re.compile(
    r"^(?:not?|non|un|never|neither|none|nothing|nobody|without|lack(?:ing|s)?|absence|anything|everything|something|none|others?|less|hardly|barely)"
    r"(?:\b|-)|\b(?:else|otherwise)\b",
    re.IGNORECASE,
)

# Other forms may mean people: "about others", "blames someone else".
_REST = re.compile(
    r"^(?:(?:about|on|any|all|the|some)\s++)*+(?:other\b(?!-)|another\b)|^(?:(?:all|the)\s++)*+others$"
    r"|^(?:all\s++)?+the\s++rest\b|^(?:anything|everything)$|\b(?:(?:any|every|some)thing|all)\s++else$",
    re.IGNORECASE,
)


def negates(label: str) -> bool:
    """Whether a pole's label is only a negation."""
    return _NEGATION.search(label.strip()) is not None


def names_the_rest(label: str) -> bool:
    """Whether a pole's label means every text that is not at the other pole: "other text", "something else"."""
    return _REST.search(label.strip()) is not None
