"""The readable text of a web page, on the wire (core/docs/contract.md, section 8)."""

import re
from typing import Annotated

from pydantic import Field

from traitbench.contract.fields import NotBlank, Received, Returned, Time

_URL = re.compile(r"https?://[^\s/?#]\S*", re.IGNORECASE)


class ExtractRequest(Received):
    """Body of `POST /extract`."""

    url: Annotated[NotBlank, Field(max_length=8_192)]


class Extracted(Returned):
    """The text of a page. `content` is cut at 50 KB, and `content_sha256` is the hash of the cut text."""

    url: str
    content: str
    content_sha256: str
    fetched_at: Time


def is_url(text: str) -> bool:
    """Whether a text is one http or https address and nothing else, apart from surrounding space."""
    return _URL.fullmatch(text.strip()) is not None
