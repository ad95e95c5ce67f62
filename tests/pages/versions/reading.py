"""What tests of the Versions page do and read."""

from streamlit.testing.v1 import AppTest

from tests.app.processes import eventually
from tests.conftest import not_none
from tests.pages.drive import Workbench
from traitbench_app.versions import text_comparison
from traitbench_app.versions.text_comparison import TextComparison


def details(workbench: Workbench, handle: str, *folds: str, **query: str) -> AppTest:
    """The details of a version, with some of what is folded."""
    return workbench.open("versions", model=handle, view="Details", **dict.fromkeys(folds, "true"), **query)


def side_by_side(workbench: Workbench, handle: str, **query: str) -> AppTest:
    """Two versions beside each other."""
    return workbench.open("versions", model=handle, view="Compare", **query)


def compared(at: AppTest) -> TextComparison:
    """Press the button, and wait for the comparison, which is found by its id in the address."""
    at.button(key="versions.compare").click().run()
    comparison = not_none(text_comparison.find(str(at.query_params["comparison"])))
    assert eventually(lambda: comparison.state != "running")
    at.run()
    return comparison
