"""Content negotiation, as a table."""

import pytest

from traitbench.errors import NotAcceptable
from traitbench.service.parameters import negotiate

JSON, TEXT = "application/json", "text/plain"


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        ("", JSON),
        ("*/*", JSON),
        ("application/json", JSON),
        ("application/*", JSON),
        ("text/plain", TEXT),
        ("TEXT/PLAIN", TEXT),
        ("text/*", TEXT),
        ("text/plain; charset=utf-8", TEXT),
        ("text/plain, application/json", JSON),
        ("application/json, text/plain, */*", JSON),
        ("text/plain, */*", TEXT),
        ("text/plain;q=0.5, */*", JSON),
        ("text/plain;q=0.5, application/json;q=0.4", TEXT),
        ("text/plain; q=0.9 , application/json; q=0.9", JSON),
        ("application/json;q=0, */*", TEXT),
        ("text/plain;q=0, text/*, application/json;q=0.1", JSON),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", JSON),
        ("text/html, text/*;q=0.3", TEXT),
        ("application/json;q=banana, text/plain", TEXT),
        ("application/json;v=1;q=0.2, text/plain;q=0.1", JSON),
    ],
)
def test_the_offer_that_weighs_most_is_chosen(accept: str, chosen: str) -> None:
    assert negotiate(accept, (JSON, TEXT)) == chosen


@pytest.mark.parametrize(
    "accept", ["text/html", "image/*", "application/json;q=0, text/plain;q=0.0", "*/*;q=0", "application", ","]
)
def test_nothing_acceptable_is_an_error_that_names_the_offers(accept: str) -> None:
    with pytest.raises(NotAcceptable) as caught:
        negotiate(accept, (JSON, TEXT))
    assert caught.value.details == {"offers": [JSON, TEXT]}
