"""The tags of a version: names to use instead of its number, each with a note if someone wrote one."""

import streamlit as st

from traitbench.contract.versions import Version
from traitbench.display.text import plain
from traitbench.errors import InvalidTag
from traitbench.names import check_tag
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt, client, field_error

_FORM = "versions.tag"
_LONGEST_NOTE = 500


def draw_tags(handle: str, version: Version, *, active: str, may_change: bool) -> None:
    """Draw the tags with their notes and their actions; `active` is the version in use, as `vN`."""
    st.caption(
        "A tag is a name for a version, to use instead of its number. It can move to another version. Tagged versions "
        "are never removed."
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for tag in version.tags:
            if not may_change:
                st.badge(plain(tag), icon=":material/sell:", color="gray", help=_note(version, tag))
            elif st.button(plain(tag), icon=":material/close:", key=f"versions.untag:{tag}", help="Remove this tag"):
                _remove(handle, tag)
    for tag, note in version.tag_notes.items():
        st.caption(f"**{plain(tag)}**: {plain(note)}")
    if may_change:
        _draw_form(handle, f"v{version.version_no}", active=active)
    elif not version.tags:
        st.caption("No tags.")


def _note(version: Version, tag: str) -> str | None:
    note = version.tag_notes.get(tag)
    return plain(note) if note else None


def _draw_form(handle: str, version: str, *, active: str) -> None:
    form = session.round_key(f"{_FORM}.{version}")
    with st.form(form, border=False):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            name = st.text_input("New tag", key=f"{form}.name", width=260, placeholder="best-so-far")
            note = st.text_input(
                "Note (optional)",
                key=f"{form}.note",
                width=360,
                max_chars=_LONGEST_NOTE,
                placeholder="Checked by the support team",
            )
            sent = st.form_submit_button("Add tag", icon=":material/sell:")
        below = st.empty()
    if version != active:
        st.caption(f"The tag goes to {version}. {active} is in use.")
    if not sent:
        return
    try:
        check_tag(name)
    except InvalidTag as refusal:
        field_error(below, refusal.message)
        return
    with attempt({"name": below, "note": below}) as tagging:
        client().versions.tag(handle, name, version=version, note=note.strip() or None)
    if tagging.done:
        session.next_round(f"{_FORM}.{version}")
        session.flash(f"Added tag {plain(name)} to {version}.")
        st.rerun()


def _remove(handle: str, tag: str) -> None:
    with attempt() as untagging:
        client().versions.untag(handle, tag)
    if untagging.done:
        session.flash(f"Removed tag {plain(tag)}.")
        st.rerun()
