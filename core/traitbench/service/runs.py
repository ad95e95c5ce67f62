"""The response of operations that start a run."""

from fastapi import Response

from traitbench.contract.models import RunStarted

RUN_ID = "X-Run-Id"


def accepted(started: RunStarted, response: Response) -> RunStarted:
    """Set the run's id as a header, and return the body unchanged."""
    response.headers[RUN_ID] = str(started.run_id)
    return started
