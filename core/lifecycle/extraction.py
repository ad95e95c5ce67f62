"""The readable text behind an address: on its own, or as the content of a score.

Nothing of it is kept, unless feedback makes it a sample.
"""

from traitbench.contract.extracts import Extracted, ExtractRequest
from traitbench.extract import is_url
from traitbench.lifecycle import access
from traitbench.lifecycle.bench import Bench
from traitbench.lifecycle.callers import Caller

LONGEST_SOURCE = 2_000


def extract(bench: Bench, caller: Caller, body: ExtractRequest) -> Extracted:
    """Fetch an address and read it; any key may."""
    access.check_scope(caller, "extract")
    found = bench.extract(body.url)
    return Extracted(
        url=found.url, content=found.content, content_sha256=found.content_sha256, fetched_at=found.fetched_at
    )


def text_of(bench: Bench, content: str) -> str:
    """What a content says: itself or, when it is exactly one http or https address, the text that is read there."""
    return bench.extract(content).content if is_url(content) else content


def source_of(content: str) -> str | None:
    """Where a sample made of it says that it comes from; None when the content speaks for itself."""
    address = content.strip()
    return address if is_url(content) and len(address) <= LONGEST_SOURCE else None
