"""One model in the catalog: its description, its traits, its AUROC, and the next action."""

import streamlit as st

from traitbench.app.presentation.figures import auroc
from traitbench.app.shell.navigation import PageName, model_link, name_link
from traitbench.app.shell.service import active_version
from traitbench.app.shell.text import ago, count, plain, shortened
from traitbench.app.widgets.common.archive import ARCHIVE
from traitbench.app.widgets.common.confirm import ask
from traitbench.app.widgets.common.heading import retention_badge, state_badge
from traitbench.contract import held_out
from traitbench.contract.models import Model, State
from traitbench.contract.rounding import in_decimals
from traitbench.contract.versions import Version
from traitbench.errors import InternalError

NAME_STYLE = (
    "[class*='st-key-catalog-name'] a { padding-left: 0; padding-right: 0; }"
    "[class*='st-key-catalog-name'] a p { font-size: 1rem; }"
)
"""CSS for the page that aligns linked names with the other text."""

_NEXT: dict[State, tuple[PageName, str]] = {
    "draft": ("traits", "Edit"),
    "busy": ("train", "Watch"),
    "ready": ("score", "Score"),
    "failed": ("train", "See why"),
    "archived": ("versions", "View"),
}
_MOST_TRAITS = 6


def model_row(model: Model, *, owned: bool) -> None:
    """Draw the row; on a narrow screen its four columns stack.

    If the service cannot read a part of one model, its row says so and the other rows are not affected.
    """
    with st.container(border=True, key=f"catalog.row.{model.handle}"):
        what, traits, quality, actions = st.columns([5, 4, 3, 2], vertical_alignment="center", gap="medium")
        with what, st.container(gap="xsmall"):
            _what(model)
        with traits:
            _traits(model)
        with quality, st.container(gap="xsmall"):
            _quality(model)
        with actions, st.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center"):
            _actions(model, owned=owned)


def _what(model: Model) -> None:
    namespace, name = model.handle.split(".", 1)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        with st.container(key=f"catalog-name-{model.handle}", width="content"):
            name_link(model.handle, f":gray[{plain(namespace)}.]**{plain(name)}**")
        state_badge(model.state)
        retention_badge(model)
    st.caption(plain(shortened(model.description, 160)) or "No description.")


def _traits(model: Model) -> None:
    if not model.traits:
        st.caption("No traits yet")
        return
    shown = " ".join(f":gray-badge[{plain(shortened(name, 40))}]" for name in model.traits[:_MOST_TRAITS])
    more = len(model.traits) - _MOST_TRAITS
    st.markdown(shown + (f" :gray[and {more} more]" if more > 0 else ""))


def _quality(model: Model) -> None:
    try:
        version = active_version(model)
    except InternalError as error:
        st.caption(f":material/warning: The versions cannot be read: {plain(error.message)}")
        return
    if version is None:
        st.caption(
            "Not trained yet" if model.version_no is None else ":material/warning: The active version cannot be read."
        )
        return
    st.markdown(_figure(version), help=_measured(version))
    st.caption(f"v{version.version_no}, trained {ago(version.created_at)}")


def _figure(version: Version) -> str:
    """The mean AUROC on test samples or, without any, out of fold, and what it was measured on."""
    tested, mean = held_out.mean_auroc(version.metrics), auroc(version)
    if tested is not None:
        samples = sum(each.samples for each in held_out.by_trait(version.metrics).values())
        return f"**{in_decimals(tested)}** AUROC :small[:gray[on {count(samples, 'test sample')}]]"
    figure = f"**{in_decimals(mean)}** AUROC" if mean is not None else "AUROC not measured"
    return f"{figure} :small[:gray[{_where(version)}]]"


def _where(version: Version) -> str:
    """`leave-one-out` if all traits were measured that way, else nothing; the tooltip lists each trait."""
    ways = {(figures.measured_on or "").partition(",")[0] for figures in version.metrics.traits.values()}
    return plain(ways.pop()) if len(ways) == 1 else ""


def _measured(version: Version) -> str:
    """The tooltip for the mean AUROC: each trait with its figure and what it was measured on."""
    lines = ["How often a positive sample scores above a negative one, as a mean over the traits.\n"]
    for key, figures in version.metrics.traits.items():
        value = "none" if figures.auroc is None else in_decimals(figures.auroc)
        lines.append(f"- {plain(key)}: {value}, {plain(figures.measured_on or 'unknown')}")
    return "\n".join(lines)


def _actions(model: Model, *, owned: bool) -> None:
    page, label = _NEXT[model.state]
    model_link(page, label, model=model.handle)
    if owned and model.state != "archived":
        st.button(
            "",
            icon=":material/inventory_2:",
            type="tertiary",
            key=f"catalog.archive.{model.handle}",
            help="Archive this model",
            on_click=ask,
            args=(ARCHIVE, model.handle),
        )
