"""The texts of the Score page: from a link, a sample or an address into the fields, and into the copied link."""

import streamlit as st

from traitbench.app import session
from traitbench.app.examples import examples, sample_texts
from traitbench.app.service import attempt, client
from traitbench.errors import TraitbenchError

TEXT, AGAINST, COMPARE = "score.text", "score.against", "score.compare"
TEXTS_IN_LINK = 1_000
"""Both texts together; longer ones make addresses that browsers and mail programs cut."""

_RESTORED, _READ, _TURN = "score.restored", "score.read", "score.turn"
_STRIDE = 37


def restore_texts() -> None:
    """Put what was read from an address into its field, and the texts of a link into theirs, once."""
    if read := session.kept(_READ):
        session.put(read)
        session.keep(_READ, None)
    linked = (st.query_params.get("text", ""), st.query_params.get("against", ""))
    if linked == ("", "") or session.kept(_RESTORED) == linked:
        return
    session.keep(_RESTORED, linked)
    session.keep(TEXT, linked[0])
    if linked[1]:
        session.keep(AGAINST, linked[1])
        session.keep(COMPARE, True)


def hand_over(text: str | None, version: str = "") -> None:
    """Let a text alone stand on the Score page, with a version, when that is opened next; None takes it back."""
    session.keep(_READ, None if text is None else {TEXT: text, AGAINST: "", COMPARE: False, "version": version})


def link_texts() -> dict[str, str | None]:
    """The texts as part of a link, unless they are too long for one."""
    text = session.kept(TEXT, "")
    against = session.kept(AGAINST, "") if session.kept(COMPARE) else ""
    if len(text) + len(against) > TEXTS_IN_LINK:
        return {}
    return {"text": text, "against": against}


def offer_text(handle: str) -> None:
    """A button that puts a text into the field, another one each time: an example of a demo model, else a sample."""
    st.button(
        "Try an example" if examples(handle) else "Take a sample of this model",
        icon=":material/shuffle:",
        type="tertiary",
        key="score.take",
        help=None if examples(handle) else "The model was taught with it, so its score flatters.",
        on_click=_take,
        args=(handle,),
    )


def offer_reading(key: str, address: str) -> None:
    """Where a field holds an address: what is written there can be read into the field."""
    with st.container(border=True, key=f"{key}.address"):
        st.markdown("**This is an address.** The service can read what is written there, to be scored like any text.")
        if st.button("Read the text there", icon=":material/travel_explore:", key=f"{key}.read"):
            with attempt() as reading, st.spinner("Reading", show_time=True):
                session.keep(_READ, {key: client().extract(address.strip()).content})
            if reading.done:
                st.rerun()


def _take(handle: str) -> None:
    turn = session.kept(_TURN, 0)
    try:
        texts = examples(handle) or sample_texts(handle)
    except TraitbenchError:
        session.flash("The samples of this model cannot be read with this workbench's API key.", "problem")
        return
    if not texts:
        session.flash("This model has no samples yet.", "note")
        return
    session.keep(TEXT, texts[(turn * _STRIDE) % len(texts) if len(texts) % _STRIDE else turn % len(texts)])
    session.keep(_TURN, turn + 1)
