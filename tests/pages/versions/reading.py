"""What tests of the Versions page do and read."""

import json

from streamlit.testing.v1 import AppTest

from tests.app.processes import eventually
from tests.pages.drive import Workbench
from traitbench_app.versions import text_comparison
from traitbench_app.versions.text_comparison import TextComparison


def details(workbench: Workbench, handle: str, *folds: str, **query: str) -> AppTest:
    """The details of a version, with some of what is folded."""
    at = workbench.open("versions", model=handle, view="Details", **dict.fromkeys(folds, "true"), **query)
    assert not at.exception
    return at


def side_by_side(workbench: Workbench, handle: str, **query: str) -> AppTest:
    """Two versions beside each other."""
    at = workbench.open("versions", model=handle, view="Compare", **query)
    assert not at.exception
    return at


def compared(at: AppTest) -> TextComparison:
    """Press the button, and wait for the comparison, which is found by its id in the address."""
    at.button(key="versions.compare").click().run()
    job = text_comparison.find(str(at.query_params["comparison"]))
    assert job is not None
    assert eventually(lambda: job.state != "running")
    at.run()
    return job


def cells(at: AppTest) -> str:
    """The table of tiers, whose cells are buttons."""
    component = next(part for part in at.get("bidi_component") if part.proto.component_name == "traitbench_cells")
    return str(json.loads(component.proto.json)["html"])
