"""Why an address gave no text, as `url_not_fetchable`: one coarse word and one sentence a reason.

What lies behind an address that is refused must not be learned from the answer. So an address that may not be connected
to, a name that does not resolve, a port that nobody listens on and a broken conversation are all `unreachable`. The
address itself is never repeated: in a score it is the content.
"""

from typing import Any, Literal

from traitbench.errors import UrlNotFetchable

Reason = Literal[
    "off", "url", "unreachable", "redirects", "status", "media_type", "encoded", "too_large", "too_slow", "no_text"
]

_SENTENCES: dict[Reason, str] = {
    "off": "This service does not fetch addresses (TRAITBENCH_FETCH_URLS is off). Send the text itself instead.",
    "url": "Only plain http and https addresses are fetched, at the ports permitted and without a user name.",
    "unreachable": "Nothing that may be fetched answered at the address.",
    "redirects": "The address was redirected too often.",
    "status": "The address answered with a status other than success.",
    "media_type": "The address holds something other than HTML or plain text.",
    "encoded": "The address answered in a compressed form that was not asked for.",
    "too_large": "The address holds more than is fetched.",
    "too_slow": "The address did not answer in full within the time allowed.",
    "no_text": "The address was fetched, but no readable text could be taken from it.",
}


def refusal(reason: Reason, **bounds: Any) -> UrlNotFetchable:
    """The error of a reason; `bounds` are the limits or values that decided."""
    return UrlNotFetchable(_SENTENCES[reason], details={"reason": reason, **bounds})
