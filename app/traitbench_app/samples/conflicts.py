"""An edit that another person overtook: both versions side by side, with the words that differ from the one before."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from html import escape
from typing import Any

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.display.text import ago, plain, shortened
from traitbench_app.samples.editing import TheirEdit, position_of_conflict, settle_conflict
from traitbench_app.samples.words import differing, label_words
from traitbench_app.shell.service import own_name

_SHOWN = 4_000

_STYLE = """
<style>
.tb-version {
  font-size: 17px; line-height: 28px; overflow-wrap: anywhere; unicode-bidi: plaintext; white-space: pre-wrap;
}
.tb-version u { text-decoration: none; border-bottom: 2px solid var(--tb-ink); padding-bottom: 1px; }
</style>
"""


def conflict_title(conflict: TheirEdit) -> tuple[str, str]:
    """Return the title of the page while an edit is in conflict, and the line below it, in Markdown."""
    who = _who(conflict) or "Somebody"
    did = "deleted" if conflict.theirs is None else "changed"
    position, of = position_of_conflict()
    which = f"{position:,} of {of:,}. " if of > 1 else ""
    return (
        f"{who} {did} the same sample {_when(conflict)}",
        f"{which}Yours is not saved yet. What you do not keep stays in the sample's history.",
    )


def _who(conflict: TheirEdit) -> str:
    """Who saved the other edit. Without a sign-in, all people have the name of the workbench's key."""
    return "Somebody in another window" if conflict.by == own_name() else plain(conflict.by)


def _when(conflict: TheirEdit) -> str:
    return ago(datetime.fromisoformat(conflict.at)) if conflict.at else "meanwhile"


def draw_conflict(model: Model, traits: Sequence[Trait], conflict: TheirEdit) -> None:
    """Draw both versions with the ways out."""
    who = plain(conflict.by) if conflict.by not in ("", own_name()) else "somebody in another window"
    before, mine = _fields(conflict.before.model_dump(), {}), _fields(conflict.before.model_dump(), conflict.mine)
    st.html(_STYLE)
    with st.container(border=True, key="card.conflict"):
        st.markdown(f":small[Before both of you: “{plain(shortened(before['text'], 300))}” {_label(traits, before)}]")
        left, right = st.columns(2)
        with left, st.container(border=True, key="samples.mine"):
            st.markdown(f"**Yours**, not saved {_label(traits, mine)}")
            st.html(_marked(before["text"], mine["text"]))
            _draw_said(before, mine)
            st.button(
                "Keep mine", shortcut="1", key="samples.keep_mine", on_click=settle_conflict, args=(model,),
                kwargs={"keep_mine": True},
            )  # fmt: skip
        with right, st.container(border=True, key="samples.theirs"):
            if conflict.theirs is None:
                st.markdown(f"**Deleted** by {who}, {_when(conflict)}")
            else:
                theirs = _fields(conflict.theirs.model_dump(), {})
                st.markdown(f"**Theirs**, by {who}, saved {_when(conflict)} {_label(traits, theirs)}")
                st.html(_marked(before["text"], theirs["text"]))
                _draw_said(before, theirs)
            st.button(
                "Leave it deleted" if conflict.theirs is None else "Take theirs",
                shortcut="2",
                key="samples.take_theirs",
                on_click=settle_conflict,
                args=(model,),
                kwargs={"keep_mine": False},
            )
        st.caption(
            "Text and label go together. Either way you can undo it, and others see in its history what you chose."
        )


def _fields(own: Mapping[str, Any], mine: Mapping[str, Any]) -> dict[str, Any]:
    return {**own, **mine}


def _draw_said(before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Draw the group and the note if they differ from those before."""
    for field in ("group", "note"):
        if (now[field] or "") != (before[field] or ""):
            st.caption(f"{field.capitalize()}: {plain(now[field] or 'none')}")


def _label(traits: Sequence[Trait], fields: Mapping[str, Any]) -> str:
    trait = next((each for each in traits if each.key == fields["trait"]), None)
    if trait is None:
        return ""
    words = label_words(trait, fields["quality"])
    colour = {"left": "blue", "right": "orange"}.get(words.side, "gray")
    return f":{colour}[**{plain(str(words))}**]"


def _marked(before: str, after: str) -> str:
    stretches = differing(before[:_SHOWN], after[:_SHOWN])
    body = "".join(f"<u>{escape(text)}</u>" if differs else escape(text) for text, differs in stretches)
    return f'<div class="tb-version">{body}</div>'
