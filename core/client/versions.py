"""`client.versions`: list, get, tag, untag, activate."""

from traitbench.client.connection import Connection, segment
from traitbench.client.pages import Pages
from traitbench.contract.page import VersionPage
from traitbench.contract.versions import Version, VersionActivated, VersionTagged, VersionUntagged


class Versions:
    """The trained versions of a model: numbered `vN`, optionally tagged, and one of them active."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(self, handle: str, *, limit: int = 50, cursor: str | None = None) -> Pages[Version]:
        """List the versions without their snapshots, newest first."""
        return Pages(
            lambda at: self._connection.get(_path(handle), VersionPage, params={"limit": limit, "cursor": at}), cursor
        )

    def get(self, handle: str, version: str = "active") -> Version:
        """Return a version by its number (`v3`), its tag or `active`; with the snapshot if the key may read it."""
        return self._connection.get(_path(handle, version), Version)

    def tag(self, handle: str, name: str) -> VersionTagged:
        """Tag the active version; a tag that exists moves to it."""
        return self._connection.send("POST", _path(handle, name), VersionTagged)

    def untag(self, handle: str, name: str) -> VersionUntagged:
        """Remove the tag; the version stays."""
        return self._connection.send("DELETE", _path(handle, name), VersionUntagged)

    def activate(self, handle: str, *, version: str | None = None, tag: str | None = None) -> VersionActivated:
        """Make a version serve scores; give exactly one of `version` and `tag`."""
        body = {name: value for name, value in (("version", version), ("tag", tag)) if value is not None}
        return self._connection.send("PUT", _path(handle, "active"), VersionActivated, body=body)


def _path(handle: str, version: str | None = None) -> str:
    return f"/models/{segment(handle)}/versions" + ("" if version is None else f"/{segment(version)}")
