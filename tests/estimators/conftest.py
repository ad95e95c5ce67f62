from collections.abc import Iterator

import pytest

from tests.contexts import home_in_environment

TEXTS = [
    *("Thank you so much, dear friend!", "How kind of you.", "I love to help you.", "Lovely to hear from you."),
    *(
        "So glad you wrote to us today.",
        "You made my whole week.",
        "We are delighted for you.",
        "Warm regards, always.",
    ),
    *("Send the form by Friday.", "Your request was denied.", "No reply is needed.", "The deadline has passed."),
    *("Pay the invoice at once.", "Access is not permitted.", "See section four.", "This account is closed."),
]
NAMES = ["warm"] * 8 + ["cold"] * 8


@pytest.fixture(scope="package", autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with home_in_environment(tmp_path_factory.mktemp("estimators") / "home"):
        yield
