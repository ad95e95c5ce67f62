"""Names that both sides of the run engine must share. A change strands queued runs: drain the queue first."""

from urllib.parse import quote

from dbos import DBOSPortableJSONSerializer
from sqlalchemy import URL, make_url

from traitbench.store.database import sqlite_file

APPLICATION = "traitbench"
# A constant: the engine's default is a hash of our source, so an upgrade would leave queued runs waiting for ever.
APPLICATION_VERSION = "1"
QUEUE = "runs"
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
