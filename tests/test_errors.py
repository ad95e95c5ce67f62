"""The class for an error code: the same in every process, whatever else it has loaded."""

import pytest

from traitbench.errors import InternalError, ModelBusy, TraitbenchError, Unavailable, Unprocessable, error_for


class OfOneOperation(TraitbenchError):
    """An error that another module derives; no answer of the service is one."""

    code = "of_one_operation"


@pytest.mark.parametrize(
    ("code", "status", "cls"),
    [
        ("model_busy", 409, ModelBusy),
        ("unheard_of", 422, Unprocessable),
        ("unheard_of", 500, InternalError),
        ("unheard_of", 503, Unavailable),
        ("unheard_of", 502, InternalError),
        ("unheard_of", 418, TraitbenchError),
        ("of_one_operation", 500, InternalError),
    ],
)
def test_the_class_for_a_code_is_one_of_the_public_errors(code: str, status: int, cls: type[TraitbenchError]) -> None:
    assert error_for(code, status) is cls
