"""Readable text behind a URL, on the wire (core/docs/contract.md, section 8)."""

from typing import Annotated

from pydantic import Field

from traitbench.contract.fields import NotBlank, Received, Returned, Time


class ExtractRequest(Received):
    """Body of `POST /extract`."""

    url: Annotated[NotBlank, Field(max_length=8_192)]


class Extracted(Returned):
    """What was read there; `content` is cut past 50 KB, `content_sha256` is over it as it stands here."""

    url: str
    content: str
    content_sha256: str
    fetched_at: Time
