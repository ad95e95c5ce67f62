"""Proposed labels on the wire (core/docs/api.md, "Proposed labels")."""

from typing import Annotated

from traitbench.contract.fields import Count, Returned, Time, schema

MOST_PROPOSED = 1_000
"""Proposed labels of one model; the oldest ones are deleted first."""


class ProposedLabel(Returned):
    """A label that another program proposed for a text. Nothing is trained with it until a person makes it a sample.

    `community` and `client_token` are what the program says of where the text is from, and of itself.
    """

    id: int
    trait: str
    text: str
    value: Annotated[float, schema(minimum=0, maximum=1)]
    community: str | None
    client_token: str | None
    proposed_at: Time


class ProposedDeleted(Returned):
    """How many proposed labels were deleted."""

    handle: str
    count: Count
