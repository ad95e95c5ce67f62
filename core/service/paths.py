"""What stands in paths. Nothing is checked here that an operation checks: what is no such thing is not found."""

from typing import Annotated, Any

from fastapi import Path
from pydantic import AfterValidator, BeforeValidator

from traitbench.contract.names import HANDLE, TAG, TAG_SCHEMA
from traitbench.service.edges import segment

_NO_SAMPLE = 0


def _number(text: Any) -> int:
    return int(text) if isinstance(text, str) and text.isascii() and text.isdecimal() and len(text) < 19 else _NO_SAMPLE


Handle = Annotated[str, Path(description="`<namespace>.<name>`.", json_schema_extra={"pattern": f"^{HANDLE.pattern}$"})]
PinnedHandle = Annotated[
    str,
    Path(
        description="`<namespace>.<name>`, pinned with `@vN` or `@tag` if so wished.",
        json_schema_extra={"pattern": f"^{HANDLE.pattern}(@{TAG.pattern})?$"},
    ),
]
TraitName = Annotated[str, AfterValidator(segment), Path(description="Key or name of a trait; the key wins.")]
SampleId = Annotated[int, BeforeValidator(_number), Path(description="Id of a sample.")]
VersionName = Annotated[str, Path(description="`vN`, a tag, or `active`.")]
TagName = Annotated[
    str,
    Path(
        description="1-64 of letters, digits, `.`, `_`, `-`, beginning with one of the first two; not `vN`.",
        json_schema_extra={"pattern": TAG_SCHEMA},
    ),
]
