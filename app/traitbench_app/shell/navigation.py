"""The table of the workbench's pages, links between them, and links that reopen a view.

The code refers to pages by name (`open_page("score")`). Only this table has their titles, icons, addresses and files.
"""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NoReturn
from urllib.parse import urlencode, urlsplit

import streamlit as st

from traitbench.settings import read_settings
from traitbench_app.shell import people, session

PageName = Literal[
    "catalog",
    "from_file",
    "model",
    "score",
    "batch",
    "traits",
    "samples",
    "label",
    "train",
    "versions",
    "operations",
    "console",
]

# A wheel carries the pages in the package, a checkout has them at its top.
_CARRIED = Path(__file__).parents[1] / "pages"
_FOLDER = _CARRIED if _CARRIED.is_dir() else Path(__file__).parents[3] / "pages"
_KNOWN: dict[tuple[PageName, bool], st.Page] = {}


@dataclass(frozen=True)
class Entry:
    """One row of the table of pages. `help` is the line below the title of a page without a model.

    A page that belongs to another one of the sidebar, `shown_as`, has no link of its own there.
    """

    name: PageName
    title: str
    icon: str
    section: str
    help: str
    shown_as: PageName | None = None

    @property
    def about_a_model(self) -> bool:
        """Whether the page needs a model. Other pages have no model picker and no model in their address."""
        return self.section in ("Use", "Teach")

    @property
    def url_path(self) -> str:
        """The path of the page; the first page is the root."""
        return "" if self.name == PAGES[0].name else self.name

    @property
    def file(self) -> Path:
        """The script of the page."""
        return _FOLDER / f"{self.name}.py"


PAGES: tuple[Entry, ...] = (
    Entry("catalog", "Home", ":material/home:", "", "Score texts on what matters to you, and see why."),
    Entry("from_file", "From a file", ":material/upload_file:", "", "A labelled file becomes a trained model."),
    Entry("model", "Model", ":material/badge:", "Use", "How good it is, what it learned from, and what waits."),
    Entry("score", "Score", ":material/speed:", "Use", "Score a text and see why."),
    Entry("batch", "Batch", ":material/table_rows:", "Use", "Score a whole file and explore the results."),
    Entry(
        "traits",
        "Traits",
        ":material/tune:",
        "Teach",
        "What the model measures, from one pole to the other.",
        "samples",
    ),
    Entry("samples", "Samples", ":material/notes:", "Teach", "Labelled examples for each trait."),
    Entry("label", "Label", ":material/label:", "Teach", "Label texts one by one with the keyboard."),
    Entry("train", "Train", ":material/model_training:", "Teach", "Train a version from your traits and samples."),
    Entry("versions", "Versions", ":material/history:", "Use", "Quality of each training, and what changed."),
    Entry("operations", "Operations", ":material/monitor_heart:", "Service", "Running, queued and failed runs."),
    Entry("console", "Console", ":material/key:", "Service", "Issue and revoke API keys."),
)


def entry(name: PageName) -> Entry:
    """Return the row of a page."""
    return next(page for page in PAGES if page.name == name)


def page(name: PageName) -> st.Page:
    """Return the page as a Streamlit object; Home is the start page."""
    return _page(entry(name))


def _page(row: Entry, *, icon: bool = True) -> st.Page:
    """Return a copy of the page's object. To make one, Streamlit looks for the script on the disk each time."""
    known = _KNOWN.get((row.name, icon))
    if known is None:
        known = _KNOWN[row.name, icon] = st.Page(
            row.file,
            title=row.title,
            icon=row.icon if icon else None,
            url_path=row.name,
            default=not row.url_path,
        )
    # Streamlit marks the object of the page that it draws, and other sessions have the same one.
    return copy(known)


def is_shown(row: Entry) -> bool:
    """Whether the sidebar shows a page to the current person.

    A hidden page can still be opened by its address, and then explains why it is closed.
    """
    person = people.current()
    if row.section == "Service":
        return person.operator
    if row.name == "from_file":
        return False  # opened from Home
    return row.section != "Teach" or person.scope == "authoring"


def page_links(*sections: str, here: Entry, model: str | None = None) -> None:
    """Draw links to the pages of these sections that the current person sees, about a model if there is one.

    Streamlit marks the page on screen; if that page, `here`, is shown as another one, the name of that one is bold.
    """
    for row in PAGES:
        if row.section in sections and is_shown(row) and row.shown_as is None:
            page_link(row.name, f"**{row.title}**" if here.shown_as == row.name else None, model=model)


def open_page(name: PageName, *, model: str, **query: str) -> NoReturn:
    """Go from a page without a model to a page about a model; `query` sets what that page shows.

    This does not work on a page about a model, because its address is bound to the picker. Use `session.next_model`
    there.
    """
    st.switch_page(page(name), query_params={session.MODEL: model, **query})


def page_link(
    name: PageName, label: str | None = None, *, icon: str | None = None, model: str | None = None, **query: str
) -> None:
    """Draw a link to another page; `query` sets what that page shows.

    A page about a model is about `model`, or else the chosen one, also if the link is opened in another tab.
    """
    row = entry(name)
    handle = (model or session.chosen_handle()) if row.about_a_model else None
    st.page_link(page(name), label=label or row.title, icon=icon or row.icon, query_params=_about(handle, query))


def _about(model: str | None, query: Mapping[str, str]) -> dict[str, str]:
    """Return the query of a link with the model that it is about, if any."""
    if model is None:
        return dict(query)
    return {session.FOLLOWED if session.chosen_handle() else session.MODEL: model, **query}


def model_link(name: PageName, label: str, *, model: str, **query: str) -> None:
    """Draw a link to a model, on pages without a model; `query` sets what that page shows."""
    query = {session.MODEL: model, **query}
    st.page_link(page(name), label=label, icon=":material/arrow_forward:", icon_position="right", query_params=query)


def name_link(model: str, label: str) -> None:
    """Draw a model's name as a link to its page, on pages without a model."""
    # A link shows the icon of its page, so this page has none.
    plain_page = _page(entry("model"), icon=False)
    st.page_link(plain_page, label=label, query_params={session.MODEL: model})


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
