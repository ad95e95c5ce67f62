"""The texts of a request for many: what is no text gets a line of its own, with the reason, and is not sent."""

from traitbench.contract.batches import FailedLine, LineError
from traitbench.contract.texts import why_no_text
from traitbench.errors import ValidationFailed


def refusal(index: int, value: object) -> FailedLine | None:
    """Return the line of a value that is no text, None if it is one."""
    problem = why_no_text(value)
    if problem is None:
        return None
    kind = "string_unicode" if isinstance(value, str) else "string_type"
    details = {"errors": [{"loc": ["content"], "type": kind, "msg": problem}]}
    return FailedLine(
        index=index, error=LineError(code=ValidationFailed.code, message=f"content: {problem}", details=details)
    )
