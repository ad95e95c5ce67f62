"""Links that reopen a view: page, model, version and other state that the page has in its address.

A bound query parameter vanishes from the address bar when it equals its default, so the link of a view is always built
from what is on screen and names everything.
"""

from urllib.parse import urlencode, urlsplit

import streamlit as st

from traitbench.settings import read_settings
from traitbench_app.shell.navigation import PAGES, PageName, entry


def link(page: PageName, /, **query: str | int | None) -> str:
    """Return the address of a view. Values that are None or empty are left out."""
    named = {name: str(value) for name, value in query.items() if value not in (None, "")}
    return _root() + entry(page).url_path + (f"?{urlencode(named)}" if named else "")


def service_address() -> str:
    """Return the address of the API without `/v1`: the remote service, or the address in the browser."""
    settings, here = read_settings(), urlsplit(st.context.url or "")
    if settings.api_url or not here.netloc:
        return settings.base_url
    return f"{here.scheme}://{here.netloc}"


def _root() -> str:
    """Return the workbench's address as the browser sees it, or a relative one without a browser."""
    here = urlsplit(st.context.url or "")
    if not here.netloc:
        return "/"
    folder, _, last = here.path.rstrip("/").rpartition("/")
    base = folder if last in {page.url_path for page in PAGES} else here.path.rstrip("/")
    return f"{here.scheme}://{here.netloc}{base}/"
