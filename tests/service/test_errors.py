"""Errors in the forms that the programs on a path expect."""

import json
from typing import Any

import pytest

from traitbench import errors
from traitbench.contract.envelope import DecisionError, ErrorEnvelope, PerspectiveError
from traitbench.errors import TraitbenchError
from traitbench.service.errors import _WRITTEN, form_of, status_in

FAULTS = {"errors": [{"loc": ["questions", "q\n"], "type": "unknown_trait", "msg": "None fits.", "sent": "x"}]}
RAISED: list[TraitbenchError] = [
    errors.ValidationFailed("No.", details=FAULTS),
    errors.InvalidHandle("No.", details={"field": "handle"}),
    errors.Unauthenticated("No key."),
    errors.Unavailable("Busy."),
    errors.InternalError("Oh."),
]


def written(form: Any, error: TraitbenchError) -> Any:
    return json.loads(json.dumps(_WRITTEN[form](error, "req_1")))


@pytest.mark.parametrize("error", RAISED, ids=lambda error: error.code)
def test_every_error_can_be_written_in_every_form(error: TraitbenchError) -> None:
    ErrorEnvelope.model_validate(written("envelope", error))
    DecisionError.model_validate(written("decision", error))
    assert PerspectiveError.model_validate(written("perspective", error)).error.code == status_in("perspective", error)


def test_a_wrong_field_of_a_decision_is_named_from_the_body_on() -> None:
    answer = written("decision", RAISED[0])
    assert answer["detail"] == [{"loc": ["body", "questions", "q\n"], "msg": "None fits.", "type": "unknown_trait"}]
    assert answer["error"]["details"] == FAULTS
    assert written("decision", RAISED[1])["detail"] == [
        {"loc": ["body", "model"], "msg": "No.", "type": "invalid_handle"}
    ]
    assert written("decision", RAISED[2])["detail"] == {"error_type": "authentication_error", "message": "No key."}


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/models", "/v1/models/a.b/score", "/v1alpha", "/nothing"])
def test_what_is_no_door_has_the_envelope(path: str) -> None:
    assert form_of(path) == "envelope"
