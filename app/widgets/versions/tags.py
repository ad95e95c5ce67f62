"""The tags of a version: names to use instead of its number. Only the active version can get new tags."""

import streamlit as st

from traitbench.app.shell import session
from traitbench.app.shell.service import attempt, client, field_error
from traitbench.app.shell.text import plain
from traitbench.contract.names import check_tag
from traitbench.contract.versions import Version
from traitbench.errors import InvalidTag

_FORM = "versions.tag"


def draw_tags(handle: str, version: Version, *, active: str, may_change: bool) -> None:
    """Draw the tags and their actions; `active` is the active version, as `vN`."""
    st.markdown(
        "**Tags**",
        help="A tag is a name for a version, to use instead of its number. It can move to another version. Tagged "
        "versions are never removed.",
    )
    is_active = active == f"v{version.version_no}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for tag in version.tags:
            if not may_change:
                st.badge(plain(tag), icon=":material/sell:", color="gray")
            elif st.button(plain(tag), icon=":material/close:", key=f"versions.untag:{tag}", help="Remove this tag"):
                _remove(handle, tag)
    if is_active and may_change:
        _draw_form(handle, active)
    elif may_change:
        st.caption(f"Only the active version ({active}) can get new tags. Activate this version to tag it.")
    elif not version.tags:
        st.caption("No tags.")


def _draw_form(handle: str, active: str) -> None:
    form = session.round_key(_FORM)
    with st.form(form, border=False):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            name = st.text_input("New tag", key=f"{form}.name", width=260, placeholder="best-so-far")
            sent = st.form_submit_button("Add tag", icon=":material/sell:")
        below = st.empty()
    if not sent:
        return
    try:
        check_tag(name)
    except InvalidTag as refusal:
        field_error(below, refusal.message)
        return
    with attempt({"name": below}) as tagging:
        client().versions.tag(handle, name)
    if tagging.done:
        session.next_round(_FORM)
        session.flash(f"Added tag {plain(name)} to {active}.")
        st.rerun()


def _remove(handle: str, tag: str) -> None:
    with attempt() as untagging:
        client().versions.untag(handle, tag)
    if untagging.done:
        session.flash(f"Removed tag {plain(tag)}.")
        st.rerun()
