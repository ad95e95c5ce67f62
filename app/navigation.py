"""The pages of the workbench as a table, and the ways to get from one to another.

A page is known by its name everywhere (`open_page("score")`); title, icon, address and file stand only here.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NoReturn

import streamlit as st

from traitbench.app import people, session
from traitbench.app.people import Person

PageName = Literal[
    "catalog", "traits", "samples", "train", "versions", "score", "batch", "model", "operations", "console"
]

_FOLDER = Path(__file__).resolve().parent.parent / "pages"


@dataclass(frozen=True)
class Entry:
    """One row of the table; `help` is the line under the title and the hint in the menu."""

    name: PageName
    title: str
    icon: str
    section: str
    help: str

    @property
    def about_a_model(self) -> bool:
        """Whether the page needs a model; the others have no picker and no model in their address."""
        return self.section in ("Teach", "Use")

    @property
    def url_path(self) -> str:
        """The address of the page below the workbench's root; the first page is the root itself."""
        return "" if self.name == PAGES[0].name else self.name

    @property
    def file(self) -> Path:
        """The script."""
        return _FOLDER / f"{self.name}.py"


PAGES: tuple[Entry, ...] = (
    Entry("catalog", "Catalog", ":material/grid_view:", "", "Every model you can read: what it measures and how well."),
    Entry("traits", "Traits", ":material/tune:", "Teach", "What the model measures: two poles each, taught by you."),
    Entry("samples", "Samples", ":material/notes:", "Teach", "The texts that teach each trait where its poles lie."),
    Entry("train", "Train", ":material/model_training:", "Teach", "Make of traits and samples a version that scores."),
    Entry("versions", "Versions", ":material/history:", "Use", "What each training gave, and what changed in between."),
    Entry("score", "Score", ":material/speed:", "Use", "Put a text on every trait of the model, with the reasons."),
    Entry("batch", "Batch", ":material/table_rows:", "Use", "Score many texts at once, and see how their scores lie."),
    Entry("model", "Model", ":material/badge:", "Use", "Its card, how programs call it, and what is kept of it."),
    Entry("operations", "Operations", ":material/monitor_heart:", "Operate", "What runs, what waits and what failed."),
    Entry("console", "Console", ":material/key:", "Operate", "API keys for programs: issue, look through, revoke."),
)


def entry(name: PageName) -> Entry:
    """The row of a page."""
    return next(page for page in PAGES if page.name == name)


def page(name: PageName) -> st.Page:
    """The page as Streamlit knows it; Catalog is where one arrives."""
    row = entry(name)
    return st.Page(
        row.file,
        title=row.title,
        icon=row.icon,
        url_path=row.name,
        help=row.help,
        default=not row.url_path,
        visibility="visible" if _is_for(row, people.current()) else "hidden",
    )


def _is_for(row: Entry, person: Person) -> bool:
    """Whether the menu offers a page to a person; the others say at their address why they are closed."""
    if row.section == "Operate":
        return person.operator
    return row.section != "Teach" or person.scope == "authoring"


def menu() -> dict[str, list[st.Page]]:
    """The pages by section, in the order of the table."""
    sections: dict[str, list[st.Page]] = {}
    for row in PAGES:
        sections.setdefault(row.section, []).append(page(row.name))
    return sections


def open_page(name: PageName, *, model: str) -> NoReturn:
    """Leave a page that is not about a model for one that is.

    From a page about a model this would not work: its address is bound to the picker. There `session.next_model` turns
    the page to another model.
    """
    st.switch_page(page(name), query_params={session.MODEL: model})


def page_link(name: PageName, label: str | None = None, *, icon: str | None = None, **query: str) -> None:
    """A link to another page about the model that is chosen, for what to go on with; `query` is what it shows there."""
    row = entry(name)
    st.page_link(page(name), label=label or row.title, icon=icon or row.icon, query_params=query)


def model_link(name: PageName, label: str, *, model: str) -> None:
    """A link to a model, from the same pages as `open_page`."""
    query = {session.MODEL: model}
    st.page_link(page(name), label=label, icon=":material/arrow_forward:", icon_position="right", query_params=query)


def name_link(model: str, label: str) -> None:
    """A model's name as the link to all about it, from the same pages as `open_page`."""
    row = entry("model")
    # A link to a page with an icon has that icon too.
    plain_page = st.Page(row.file, title=row.title, url_path=row.name)
    st.page_link(plain_page, label=label, help="All about this model", query_params={session.MODEL: model})
