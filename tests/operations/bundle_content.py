"""The content of a bundle as JSON: taken from one, signed again, packed."""

import base64
from typing import Any

from pydantic_core import to_json

from traitbench.contract.bundles import Bundle, digest

Json = dict[str, Any]


def content_of(bundle: Bundle) -> Json:
    """A bundle without the fields that must differ in a copy."""
    document = bundle.model_dump(mode="json", exclude={"handle", "sha256"})
    for version in document["versions"]:
        del version["triggered_by"]
    return document


def signed(content: Json) -> Bundle:
    """A bundle with the right hash, as a forger could make it."""
    bundle = Bundle.model_validate_json(as_bytes({**content, "sha256": ""}))
    return bundle.model_copy(update={"sha256": digest(bundle)})


def pack(records: Any) -> str:
    """The records of an array as a bundle holds them."""
    return base64.b64encode(records.tobytes()).decode()


def as_bytes(content: Json) -> bytes:
    """The content as it is sent."""
    return to_json(content)
