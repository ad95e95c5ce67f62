"""Reasons why an address gave no text, as `url_not_fetchable`: one word and one sentence per reason.

The answer must not reveal what is behind a refused address. So an address that may not be connected to, a name that
does not resolve, a closed port and a broken connection are all `unreachable`. The address itself is never repeated,
because a scored address is content.
"""

from typing import Any, Literal

from traitbench.errors import UrlNotFetchable

Reason = Literal[
    "off", "url", "unreachable", "redirects", "status", "media_type", "encoded", "too_large", "too_slow", "no_text"
]

_SENTENCES: dict[Reason, str] = {
    "off": "This service does not fetch addresses (TRAITBENCH_FETCH_URLS is off). Send the text itself instead.",
    "url": "Only http and https addresses with a permitted port and without a user name are fetched.",
    "unreachable": "No public page answered at the address.",
    "redirects": "The address redirects too often.",
    "status": "The address answered with an error status.",
    "media_type": "The address returned something other than HTML or plain text.",
    "encoded": "The address returned a compressed answer that was not requested.",
    "too_large": "The page is larger than the limit.",
    "too_slow": "The address did not answer completely within the time limit.",
    "no_text": "The address was fetched, but the page has no readable text.",
}


def refusal(reason: Reason, **bounds: Any) -> UrlNotFetchable:
    """The error for a reason; `bounds` are the limits or values that decided it."""
    return UrlNotFetchable(_SENTENCES[reason], details={"reason": reason, **bounds})
