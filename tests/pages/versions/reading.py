"""What tests of the Versions page do and read."""

import json

import pandas as pd
from streamlit.testing.v1 import AppTest

from tests.app.processes import eventually
from tests.conftest import make_draft
from traitbench.client import Traitbench
from traitbench_app.versions import text_comparison
from traitbench_app.versions.text_comparison import Comparison


def frame(at: AppTest, column: str) -> pd.DataFrame:
    """The table that has this column."""
    result: pd.DataFrame = next(each.value for each in at.dataframe if column in each.value)
    return result


def ready(client: Traitbench, handle: str) -> str:
    """The handle, trained once."""
    make_draft(client, handle)
    client.models.train(handle)
    client.models.wait(handle)
    return handle


def compared(at: AppTest) -> Comparison:
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
