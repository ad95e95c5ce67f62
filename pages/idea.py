"""Try an idea: a name and two poles become a model that is trained on made-up text only, and scores a text at once."""

import streamlit as st

from traitbench.display.text import plain
from traitbench.errors import ModelNotFound, NamespaceForbidden
from traitbench_app.idea import trial
from traitbench_app.parts.heading import heading
from traitbench_app.shell.permission import why_nowhere
from traitbench_app.shell.service import client, namespaces

owned = namespaces()
handle = trial.handle()
heading("idea", idea=handle)

if nowhere := why_nowhere(owned):
    with st.container(border=True, key="idea.closed"):
        st.markdown(f":material/lock: **You cannot try ideas here.** {nowhere}")
    st.stop()

if handle is None:
    trial.draw_form(owned)
else:
    try:
        model = client().models.get(handle)
    except (ModelNotFound, NamespaceForbidden):
        st.warning(f"**{plain(handle)}** does not exist, or you cannot read it. Start another trial.")
        trial.draw_form(owned)
    else:
        trial.draw_trial(model)
