"""The labeller as a component of Streamlit, which runs ahead of the server.

For every page that lets a person label texts (Label, blind rounds, audits):

    labels = LabelSession(LabelWork([trait], texts, hints=False, decided=what was decided))
    labeller(labels, key="samples.blind.labeller", run="some token", on_answers=take)

The component keeps unsent answers in the tab's storage across a reload (`keep`, empty for never). Its data are in
`LabelSession.to_wire`, its answers and script in `core/traitbench/local/labeller.py`.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from traitbench.local.label_session import LabelSession
from traitbench.local.labeller import SCRIPT, STYLE, Answers, Handled, LabelAnswer
from traitbench_app.shell import session

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
    labels: LabelSession,
    *,
    key: str,
    run: str,
    on_answers: Callable[[Sequence[LabelAnswer]], bool | None],
    **shown: Any,
) -> None:
    """Draw the next texts; `on_answers` is called with new answers before the page runs again.

    If it returns False, the browser keeps the answers and gives them again: see `hear`.
    Another `run` clears what is on screen; unsent answers are never cleared. `shown` is as for `LabelSession.to_wire`.
    """
    _component(
        data=labels.to_wire(run=run, handled=session.get(_handled(key), {}), keys="page", **shown),
        key=key,
        on_answers_change=partial(hear, key, on_answers),
    )


def hear(key: str, on_answers: Callable[[Sequence[LabelAnswer]], bool | None]) -> None:
    """Hand over answers that were not handled yet. A callback of the component, and of a button that tries again."""
    state = st.session_state.get(key)
    sent = Answers.read(state.get("answers") if isinstance(state, Mapping) else getattr(state, "answers", None))
    handled: Handled = session.get(_handled(key), {})
    if on_answers(sent.new(handled)) is not False:
        session.store(_handled(key), sent.handled(handled))


def _handled(key: str) -> str:
    return f"{key}.handled"
