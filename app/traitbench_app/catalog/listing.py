"""One model in the catalog: its description, its traits, how good it is, and the next action."""

from collections.abc import Mapping

import streamlit as st

from traitbench.contract.models import Model, State
from traitbench.contract.rounding import in_decimals
from traitbench.contract.versions import Version
from traitbench.display.colours import PALETTE
from traitbench.display.standing import Standing, share_of_range, standing
from traitbench.display.text import ago, count, plain, shortened
from traitbench.errors import InternalError
from traitbench_app.parts.controls import ask
from traitbench_app.parts.heading import retention_badge, state_badge
from traitbench_app.parts.model_actions import ARCHIVE, restore_button
from traitbench_app.shell.navigation import PageName, model_link, name_link
from traitbench_app.shell.service import active_version, client, reader

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
_MAIN = ":material/star: "
_ARCHIVE = ":material/inventory_2: Archive"


def model_row(model: Model, *, owned: bool) -> None:
    """Draw the row; on a narrow screen its four columns stack.

    If the service cannot read a part of one model, its row says so and the other rows are not affected.
    """
    with st.container(border=True, key=f"catalog.row.{model.handle}"):
        what, traits, quality, actions = st.columns([5, 3.5, 3, 2.5], vertical_alignment="center", gap="medium")
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
    main = _names(model).get(model.main_trait) if model.main_trait else None
    names = sorted(model.traits, key=lambda name: name != main)
    shown = " ".join(f":gray-badge[{_MAIN if name == main else ''}{_badge(name)}]" for name in names[:_MOST_TRAITS])
    more = len(model.traits) - _MOST_TRAITS
    st.markdown(shown + (f" :gray[and {more} more]" if more > 0 else ""))


def _badge(name: str) -> str:
    return plain(shortened(name, 40))


def _names(model: Model) -> Mapping[str, str]:
    """The names of a model's traits by key."""
    return _names_by_key(reader(), model.handle, tuple(model.traits))


@st.cache_data(max_entries=2_000, show_spinner=False)
def _names_by_key(reader: tuple[str, str], handle: str, names: tuple[str, ...]) -> dict[str, str]:
    """Read the names again when the model lists others."""
    return {trait.key: trait.name for trait in client().traits.list(handle)}


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
    shown = standing(version, model.main_trait)
    trained = f"v{version.version_no}, trained {ago(version.created_at)}"
    if shown is None:
        st.markdown("AUROC not measured")
        st.caption(trained)
    else:
        st.markdown(f"**{shown.figure}** AUROC", help=_measured(version))
        st.html(_bar(shown))
        if shown.shortcut is not None:
            st.caption(f":material/warning: {plain(shown.shortcut.says)}")
        st.caption(f"{_evidence(model, shown)}\n\n{trained}")


def _bar(shown: Standing) -> str:
    """The interval as a bar on the range from chance to perfect: a short bar far to the right is good."""
    low, high = (share_of_range(value) for value in shown.interval or (shown.auroc, shown.auroc))
    left, width = 100 * low, max(100 * (high - low), 1.5)
    colour = PALETTE.neutral if shown.is_open else PALETTE.accent
    return (
        f'<div role="img" aria-label="AUROC {shown.span or shown.figure} on a range from 0.5 to 1" style="height: 6px; '
        f'border-radius: 3px; background: {PALETTE.grid}"><div style="height: 6px; border-radius: 3px; '
        f'margin-left: {min(left, 98.5):.1f}%; width: {width:.1f}%; background: {colour}"></div></div>'
    )


def _evidence(model: Model, shown: Standing) -> str:
    """Which trait the figure is of, and how much it rests on."""
    samples = count(shown.samples, "test sample" if shown.on_tests else "sample")
    rests = f"uncertain with {samples}" if shown.is_open else f"{shown.span} on {samples}"
    if shown.among == 1:
        return rests
    which = "main trait" if shown.is_main else f"weakest of {shown.among} traits"
    name = _names(model).get(shown.trait, shown.trait)
    return f"{plain(shortened(name, 40))} ({which}): {rests}"


def _measured(version: Version) -> str:
    """The tooltip: each trait with its figure and what it was measured on."""
    lines = ["How often a positive sample scores above a negative one, with the 95 % interval.\n"]
    for key, figures in version.metrics.traits.items():
        value = "none" if figures.auroc is None else in_decimals(figures.auroc)
        lines.append(f"- {plain(key)}: {value}, {plain(figures.measured_on or 'unknown')}")
    return "\n".join(lines)


def _actions(model: Model, *, owned: bool) -> None:
    page, label = _NEXT[model.state]
    model_link(page, label, model=model.handle)
    if owned and model.state == "archived":
        restore_button(model, key=f"catalog.restore.{model.handle}")
    elif owned:
        menu = f"catalog.menu.{model.handle}"
        st.menu_button(
            "More",
            [_ARCHIVE],
            type="tertiary",
            key=menu,
            on_click=ask,
            args=(ARCHIVE, model.handle),
        )
