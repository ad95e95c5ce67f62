"""The readable text behind an address: requested on its own, or as the content of a score.

The text is not stored unless feedback makes it a sample.
"""

from traitbench.contract.extracts import Extracted, ExtractRequest, is_url
from traitbench.operations import access
from traitbench.operations.access import Caller
from traitbench.operations.context import Context

LONGEST_SOURCE = 2_000


def extract(context: Context, caller: Caller, body: ExtractRequest) -> Extracted:
    """Fetch an address and extract its text; any key may do this."""
    access.check_scope(caller, "extract")
    page = context.extract(body.url)
    return Extracted(url=page.url, content=page.content, content_sha256=page.content_sha256, fetched_at=page.fetched_at)


def text_of(context: Context, content: str) -> str:
    """The content itself or, if it is exactly one http or https address, the text found there."""
    return context.extract(content).content if is_url(content) else content


def source_of(content: str) -> str | None:
    """The source URL of a sample made from the content; None if the content is the text itself."""
    address = content.strip()
    return address if is_url(content) and len(address) <= LONGEST_SOURCE else None
