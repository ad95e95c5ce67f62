"""Try an idea: two poles give a text a side by their names alone, and six labelled texts make a draft."""

import streamlit as st

from traitbench_app.idea.trial import LEFT, RIGHT, draw_trial
from traitbench_app.parts.heading import heading
from traitbench_app.shell import session
from traitbench_app.shell.permission import why_nowhere
from traitbench_app.shell.service import namespaces

owned = namespaces()
heading("idea", **{key: session.on_screen(key, "") for key in (LEFT, RIGHT)})

if nowhere := why_nowhere(owned):
    with st.container(border=True, key="idea.closed"):
        st.markdown(f":material/lock: **You cannot try ideas here.** {nowhere}")
else:
    draw_trial(owned)
