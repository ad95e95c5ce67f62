"""The queues of runs. The service and the worker's sweeps add to them, inside the caller's transaction.

Runs that somebody requested have a queue of their own, so that none waits for those that the service starts by itself.
"""

from urllib.parse import quote

from dbos import DBOS, DBOSClient, DBOSPortableJSONSerializer, EnqueueOptions
from sqlalchemy import URL, Connection, make_url, text

from traitbench.store.database import sqlite_file

# The engine's tables about runs. Its other tables reference the last of these and are deleted with it.
_RUN_TABLES = ("workflow_input", "workflow_output", "operation_outputs", "workflow_status")


def make_tables(url: str | URL) -> None:
    """Create the run engine's tables, or upgrade them."""
    DBOS.migrate(engine_url(url))


class EngineQueue:
    """The run engine's queues, in a database that has its tables."""

    def __init__(self, url: str | URL) -> None:
        self._client = DBOSClient(
            system_database_url=engine_url(url), serializer=SERIALIZER, application_name=APPLICATION, lazy=True
        )

    def enqueue(
        self, connection: Connection, run_id: str, kind: str, model_id: int, *, automatic: bool = False
    ) -> None:
        """Queue a run inside the caller's transaction."""
        options: EnqueueOptions = {
            "workflow_name": WORKFLOW,
            "queue_name": AUTOMATIC if automatic else QUEUE,
            "workflow_id": run_id,
            "app_version": APPLICATION_VERSION,
            "application_name": APPLICATION,
            "queue_partition_key": str(model_id),
            "attributes": {"kind": kind},
        }
        self._client.enqueue_in_transaction(connection, options, run_id)

    def forget_all(self, connection: Connection) -> None:
        """Delete all runs from the engine's tables, inside the caller's transaction."""
        schema = "dbos." if connection.dialect.name == "postgresql" else ""
        for table in _RUN_TABLES:
            connection.execute(text(f"DELETE FROM {schema}{table}"))

    def cancel(self, run_id: str) -> None:
        """Keep a queued run from starting; a running one finds its record closed."""
        self._client.cancel_workflow(run_id)

    def close(self) -> None:
        """Close the connection to the database."""
        self._client.destroy()


APPLICATION = "traitbench"
# A constant: the engine's default is a hash of our source, so an upgrade would leave queued runs waiting for ever.
APPLICATION_VERSION = "1"
QUEUE, AUTOMATIC = "runs", "automatic"
WORKFLOW = "run"
# Never the default (pickle): write access to the database must not allow running code in the workers.
SERIALIZER = DBOSPortableJSONSerializer()


def engine_url(url: str | URL) -> str:
    """Our database's URL for the run engine, which needs its own connections, without our hooks."""
    url = make_url(url)
    if (file := sqlite_file(url)) is not None:
        # Never "rwc": a file that was removed must not be created again, empty, while others still have it open.
        url = URL.create("sqlite", database=f"file:{quote(str(file))}", query={"mode": "rw", "uri": "true"})
    if url.get_backend_name() == "postgresql":
        url = url.set(drivername="postgresql")
    return url.render_as_string(hide_password=False)
