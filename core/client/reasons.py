"""Add the text to the reasons of a card: the service sends only character positions."""

from traitbench.contract.explanations import Explanation
from traitbench.contract.scores import Card


def quoted(card: Card, content: str) -> Card:
    """Return the card with the `text` of every part, or unchanged if it has no explanation."""
    if card.explanation is None:
        return card
    explanation = {key: _quoted(each, content) for key, each in card.explanation.items()}
    return card.model_copy(update={"explanation": explanation})


def _quoted(explanation: Explanation, content: str) -> Explanation:
    # For content behind a URL, the service has already sent the text.
    parts = [
        part if part.text is not None else part.model_copy(update={"text": content[part.start : part.end]})
        for part in explanation.parts
    ]
    return explanation.model_copy(update={"parts": parts})
