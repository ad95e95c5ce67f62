"""The reasons of a card, with the words they are about: the service sends places, and the caller has the text."""

from traitbench.contract.explanations import Explanation
from traitbench.contract.scores import Card


def quoted(card: Card, content: str) -> Card:
    """The card, every part of its explanation with its `text`; as it is when nothing was asked."""
    if card.explanation is None:
        return card
    told = {key: _quoted(each, content) for key, each in card.explanation.items()}
    return card.model_copy(update={"explanation": told})


def _quoted(told: Explanation, content: str) -> Explanation:
    """Of an address the service has sent the text with the places."""
    parts = [
        part if part.text is not None else part.model_copy(update={"text": content[part.start : part.end]})
        for part in told.parts
    ]
    return told.model_copy(update={"parts": parts})
