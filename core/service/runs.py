"""What every operation that starts a run answers with."""

from fastapi import Response

from traitbench.contract.models import RunStarted

RUN_ID = "X-Run-Id"


def accepted(started: RunStarted, response: Response) -> RunStarted:
    """The run's id stands in a header too."""
    response.headers[RUN_ID] = str(started.run_id)
    return started
