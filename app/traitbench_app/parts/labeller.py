"""The labeller as a component of Streamlit, which runs ahead of the server.

Interface, for every page that lets a person label texts (label mode, audits):

    answers = labeller(
        [LabelItem("hash:warmth", text, "Warmth", PoleSign.negative("cold"), PoleSign.positive("warm"))],
        key="label.labeller",        # one component on the page
        run="some token",            # another token clears what is on screen; unsent answers are never cleared
        done=12, total=340,          # progress of what the server has handled
        handled=session state,       # {mount: last handled number}, as `Answers.handled` gave it
    )
    for answer in answers.new(handled): ...

The component keeps unsent answers in the tab's storage across a reload (`keep`, empty for never). Its items, answers
and script are in `core/traitbench/local/labeller.py`.
"""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from traitbench.local.labeller import SCRIPT, STYLE, Answers, Handled, LabelItem, item_data

_ADAPTER = """
export default function ({ parentElement, data, setStateValue }) {
  const element = parentElement.querySelector('.mount')
  return render({ element, data, send: (answers) => setStateValue('answers', answers) })
}
"""
_component = st.components.v2.component(
    "traitbench_labeller", html='<div class="mount"></div>', css=STYLE, js=SCRIPT + _ADAPTER
)


def labeller(
    items: Sequence[LabelItem],
    *,
    key: str,
    run: str,
    done: int,
    total: int,
    handled: Handled,
    on_answers: Callable[[], None],
    saved: int | None = None,
    blind: bool = False,
    last: str | None = None,
    keep: str = "",
    notice: str = "",
    empty: str = "",
    scorer: str = "Score now",
) -> None:
    """Draw the labeller; `on_answers` is called before the page runs again, and reads `answers_of(key)`.

    `saved` is the number of labels that the service confirmed; None if nothing is saved meanwhile. `last` is the id of
    the last decision, which U takes back after a reload. `notice` is an alert, such as a failed save. `empty` is shown
    when there is no item.
    """
    _component(
        data={
            "run": run,
            "items": [item_data(each, blind=blind) for each in items],
            "done": done,
            "total": total,
            "saved": saved,
            "handled": dict(handled),
            "blind": blind,
            "last": last,
            "keep": keep,
            "notice": notice,
            "empty": empty,
            "scorer": scorer,
            "keys": "page",
        },
        key=key,
        on_answers_change=on_answers,
    )


def answers_of(key: str) -> Answers:
    """Return what the component with this key sent."""
    state = st.session_state.get(key)
    return Answers.read(state.get("answers") if isinstance(state, Mapping) else getattr(state, "answers", None))
