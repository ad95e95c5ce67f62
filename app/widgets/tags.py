"""The tags of a version: names that can be used instead of its number, added to the active one, removed from any."""

import streamlit as st

from traitbench.app import session
from traitbench.app.service import attempt, client, field_error
from traitbench.app.text import plain
from traitbench.contract.names import check_tag
from traitbench.contract.versions import Version
from traitbench.errors import InvalidTag

_FORM = "versions.tag"


def draw_tags(handle: str, version: Version, *, active: str, may_change: bool) -> None:
    """The tags with what can be done about them; `active` is the version that scores, as `vN`."""
    st.markdown(
        "**Tags**",
        help="A tag is a name of a version. It can stand where its number can, and can move. A version with a tag is "
        "never removed, however many come after it.",
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
        st.caption(f"New tags go to the active version, {active}; activate this one to tag it.")
    elif not version.tags:
        st.caption("None.")


def _draw_form(handle: str, active: str) -> None:
    form = session.round_key(_FORM)
    with st.form(form, border=False):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            name = st.text_input("New tag", key=f"{form}.name", width=260, placeholder="best-so-far")
            sent = st.form_submit_button("Tag", icon=":material/sell:")
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
        session.flash(f"{active} is tagged {plain(name)}.")
        st.rerun()


def _remove(handle: str, tag: str) -> None:
    with attempt() as untagging:
        client().versions.untag(handle, tag)
    if untagging.done:
        session.flash(f"The tag {plain(tag)} is removed.")
        st.rerun()
