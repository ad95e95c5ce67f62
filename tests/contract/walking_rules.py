"""What makes a walk along the links lead somewhere: every creation has a handle of its own, every import a true bundle.

Loaded by Schemathesis, in its own process; the bundle is in the file that TRAITBENCH_BUNDLE names.
"""

import json
import os
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import schemathesis
from schemathesis import HookContext

from tests.contract import fuzzing_rules

if TYPE_CHECKING:
    from schemathesis.specs.openapi.schemas import OpenApiCase

__all__ = ["fuzzing_rules"]

BUNDLE = json.loads(Path(os.environ["TRAITBENCH_BUNDLE"]).read_text(encoding="utf-8"))
_numbers = count()


@schemathesis.hook
def before_call(context: HookContext, case: "OpenApiCase", kwargs: dict[str, Any]) -> None:
    """Put in what a schema cannot make up."""
    name = f"walk.m{next(_numbers)}"
    if case.operation.path == "/v1/models" and isinstance(case.body, dict):
        case.body["handle"] = name
    if case.operation.path == "/v1/models/import":
        case.body, case.query = BUNDLE, {"handle": name}
