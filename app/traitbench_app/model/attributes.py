"""Which attributes of Perspective's wire mean a trait of this model: the aliases, and a form for another one."""

from collections.abc import Mapping

import streamlit as st

from traitbench.contract.attributes import Attribute
from traitbench.contract.models import Model
from traitbench.contract.page import LARGEST_PAGE
from traitbench.display.text import plain
from traitbench.names import parse_handle, unpin
from traitbench_app.parts.controls import draw_unreadable
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt, client

_FORM = "model.alias"
_REMOVED = "model.removed_alias"
_LONGEST_NAME = 64


def draw_attributes(model: Model, handle: str, *, may_change: bool) -> None:
    """Draw the aliases that lead to the model. A new one leads to `handle`, which may be pinned to a version."""
    namespace = parse_handle(model.handle).namespace
    listed = client().attributes.list(namespace, limit=LARGEST_PAGE)
    aliases = {each.name: each for each in listed}
    names = {trait.key: plain(trait.name) for trait in client().traits.list(model.handle)}
    st.caption(
        "Programs written for Perspective ask for attributes, such as `TOXICITY`. An alias says which trait one of "
        f"them means to the API keys of *{plain(namespace)}*. Without an alias, `TOXICITY` means the trait with the "
        "key `toxicity`."
    )
    mine = [each for each in aliases.values() if unpin(each.handle)[0] == model.handle]
    for alias in mine:
        _draw(namespace, alias, names, may_change=may_change)
    if not mine:
        st.caption("No alias leads to this model.")
    draw_unreadable(listed.unreadable, "alias", key="model.unreadable_aliases")
    if not may_change:
        return
    _draw_undo(model.handle, namespace, names)
    if model.version_no is None:
        st.caption("Train the model first. An alias leads to a version that scores.")
    elif names:
        _draw_form(namespace, handle, aliases, names)


def _draw(namespace: str, alias: Attribute, names: Mapping[str, str], *, may_change: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"`{alias.name}` means {_meaning(alias, names)}.", width="content")
        if may_change and st.button(
            "Remove",
            icon=":material/close:",
            key=f"model.unset:{alias.name}",
            type="tertiary",
            help="Remove this alias",
        ):
            with attempt() as removing:
                removed = client().attributes.delete(namespace, alias.name)
            if removing.done:
                session.store(_REMOVED, removed)
                st.rerun()


def _meaning(alias: Attribute, names: Mapping[str, str]) -> str:
    version = unpin(alias.handle)[1]
    return f"**{names.get(alias.trait, plain(alias.trait))}** of {plain(version) if version else 'the version in use'}"


def _draw_undo(handle: str, namespace: str, names: Mapping[str, str]) -> None:
    removed = session.get(_REMOVED)
    if not isinstance(removed, Attribute) or unpin(removed.handle)[0] != handle:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"Removed: `{removed.name}` meant {_meaning(removed, names)}.", width="content")
        if st.button("Undo", icon=":material/undo:", key="model.alias_undo"):
            with attempt() as undoing:
                client().attributes.put(namespace, removed.name, removed.handle, removed.trait)
            if undoing.done:
                session.store(_REMOVED, None)
                st.rerun()


def _draw_form(namespace: str, handle: str, aliases: Mapping[str, Attribute], names: Mapping[str, str]) -> None:
    form = session.round_key(f"{_FORM}.{unpin(handle)[0]}")
    with st.form(form, border=False):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            typed = st.text_input(
                "Attribute",
                key=f"{form}.name",
                width=260,
                max_chars=_LONGEST_NAME,
                placeholder="TOXICITY",
                persist_state="page",
            )
            trait = st.selectbox(
                "Trait",
                list(names),
                format_func=lambda key: names.get(key, key),
                key=f"{form}.trait",
                width=260,
                persist_state="page",
            )
            sent = st.form_submit_button("Set alias", icon=":material/add:")
        below = st.empty()
    version = unpin(handle)[1]
    st.caption(f"The alias leads to {plain(version) if version else 'the version in use'}, as chosen above.")
    if not sent:
        return
    name = typed.strip().upper().replace("-", "_").replace(" ", "_")
    with attempt({"name": below, "trait": below}) as setting:
        alias = client().attributes.put(namespace, name, handle, str(trait))
    if setting.done:
        before = aliases.get(name)
        was = f" Before, it meant {plain(before.trait)} of {plain(before.handle)}." if before else ""
        session.next_round(f"{_FORM}.{unpin(handle)[0]}")
        session.store(_REMOVED, None)
        session.flash(f"`{alias.name}` now means **{names[alias.trait]}**.{was}")
        st.rerun()
