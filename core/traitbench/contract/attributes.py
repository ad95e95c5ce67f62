"""Attributes on the wire: names of Perspective's, and the traits that they mean (core/docs/api.md, "Attributes")."""

import re
from typing import Annotated

from traitbench.contract.fields import NotBlank, Received, Returned, Text, Time, schema
from traitbench.names import HANDLE, TAG

ATTRIBUTE = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
"""The grammar of an attribute's name."""


class AttributePut(Received):
    """Body of `PUT /v1/namespaces/{namespace}/attributes/{name}`: the model, and the key or name of its trait.

    The handle may be pinned to a version or a tag. Without a pin, the active version scores.
    """

    handle: Annotated[Text, schema(pattern=f"^{HANDLE.pattern}(@{TAG.pattern})?$")]
    trait: NotBlank


class Attribute(Returned):
    """An alias: what an attribute means to the keys of a namespace.

    `by` is the name of the key that set it; null unless an authoring key that owns the namespace asks.
    """

    name: str
    handle: str
    trait: str
    set_at: Time
    by: str | None
