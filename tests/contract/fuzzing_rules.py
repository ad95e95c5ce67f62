"""What Schemathesis has to know beside the OpenAPI document; loaded by its own process.

One check of ours; and the answers that it takes for faults because a schema cannot say what the service knows: which
cursors it gave out, which traits a model has, which sums are right.
"""

import re
from typing import TYPE_CHECKING

import schemathesis
from schemathesis import CheckContext, HookContext, Response
from schemathesis.core.failures import Failure

if TYPE_CHECKING:
    from schemathesis.specs.openapi.schemas import OpenApiCase

# 4xx to what is valid by the schema: the error's code, or of `validation_failed` the kind of each fault.
KNOWN_TO_THE_SERVICE = {
    "invalid_cursor",
    "duplicate_trait",
    "insufficient_samples",
    "same_model",
    "url_not_fetchable",
    "body_too_large",
    "unknown_trait",
    "unknown_encoder",
    "key_of_another_trait",
    "key_twice",
    "name_of_another_trait",
    "not_a_verdict",
    "sha256_mismatch",
    "empty_key",
    "extrinsic_trait",  # only a discovered one has poles to flip, or is a suggestion
    "has_samples",  # a trait whose poles are to be flipped
    "unknown_sample",
    "not_held_out",
    "value_error of must_pass",  # it needs `held_out`, which a schema does not say
    "too_many_explained",  # `explain` allows fewer texts
    "value_error of key",  # its letters may be of any script
    "zero_retention",  # demo texts of a model that may keep none
    "int_too_long",  # in free-form objects
    # Which words of a question are those of a trait, and whether a state has any text.
    *("no_trait_named", "several_traits_named", "poles_not_named", "both_poles", "negated_pole", "too_long"),
    *("blank", "image"),
    *("value_error of texts", "value_error of text"),  # a text of characters that nobody sees
    "duplicate_sample",  # a change that names a sample twice
    "invalid_parameter side",  # which poles a trait has
    "too_short of adds",  # nothing to add, update or delete
}


@schemathesis.check
def one_request_id(ctx: CheckContext, response: Response, case: "OpenApiCase") -> None:
    """The header and, on an error, the envelope name the request, and the same one; the code is declared."""
    (named,) = response.headers["x-request-id"]
    assert re.fullmatch(r"req_[0-9A-HJKMNP-TV-Z]{26}", named)
    if response.status_code >= 400 and case.method.upper() != "HEAD":
        error = response.json()["error"]
        assert error["request_id"] == named
        declared = case.operation.definition.raw["responses"].get(str(response.status_code))
        assert declared is None or error["code"] in declared["x-error-codes"], error["code"]


@schemathesis.hook
def filter_failure(context: HookContext, failure: Failure, case: "OpenApiCase", response: Response) -> bool:
    """Whether a failure is one."""
    return not (
        (failure.code == "ST202" and _reasons(response) <= KNOWN_TO_THE_SERVICE)
        or (failure.code in ("ST204", "ST205") and _has_a_neighbour(case))
        # Too large is refused before it is looked at, and Schemathesis does not count 413 as a refusal.
        or (failure.code == "ST201" and response.status_code == 413)
    )


def _reasons(response: Response) -> set[str]:
    error = response.json()["error"]
    if error["code"] == "invalid_parameter":
        return {f"invalid_parameter {error['details']['parameter']}"}
    if error["code"] != "validation_failed":
        return {error["code"]}
    return {_reason(fault["type"], fault["loc"]) for fault in error["details"]["errors"]}


def _reason(kind: str, loc: list[str | int]) -> str:
    field = next((each for each in reversed(loc) if isinstance(each, str)), "all")
    return f"{kind} of {field}" if kind in ("value_error", "too_short") else kind


def _has_a_neighbour(case: "OpenApiCase") -> bool:
    """Whether another path, with a parameter at its end, has methods that answer at this one as well.

    `/versions/active` is a version's name too, `/traits/discover` may be a trait's.
    """
    parent, _, last = case.operation.path.rpartition("/")
    return "{" not in last and any(
        re.fullmatch(re.escape(parent) + r"/\{\w+\}", path) for path in case.operation.schema.raw_schema["paths"]
    )
