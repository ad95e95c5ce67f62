"""Path parameters. They are not validated here: an operation reports an invalid name as not found."""

from typing import Annotated, Any

from fastapi import Path
from pydantic import AfterValidator, BeforeValidator

from traitbench.names import HANDLE, TAG, TAG_SCHEMA
from traitbench.service.request_id import segment

_NO_SAMPLE = 0


def _number(text: Any) -> int:
    return int(text) if isinstance(text, str) and text.isascii() and text.isdecimal() and len(text) < 19 else _NO_SAMPLE


Handle = Annotated[str, Path(description="`<namespace>.<name>`.", json_schema_extra={"pattern": f"^{HANDLE.pattern}$"})]
PinnedHandle = Annotated[
    str,
    Path(
        description="`<namespace>.<name>`, optionally pinned with `@vN` or `@tag`.",
        json_schema_extra={"pattern": f"^{HANDLE.pattern}(@{TAG.pattern})?$"},
    ),
]
TraitName = Annotated[str, AfterValidator(segment), Path(description="Key or name of a trait; keys take precedence.")]
SampleId = Annotated[int, BeforeValidator(_number), Path(description="Id of a sample.")]
VersionName = Annotated[str, Path(description="`vN`, a tag, or `active`.")]
TagName = Annotated[
    str,
    Path(
        description="1-64 letters, digits, `.`, `_` and `-`, starting with a letter or digit; not `vN` or `active`.",
        json_schema_extra={"pattern": TAG_SCHEMA},
    ),
]
