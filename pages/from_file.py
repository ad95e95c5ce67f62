"""From a file: what is in a labelled file, the model that it makes, its training and its first result."""

import streamlit as st

from traitbench.display.text import plain
from traitbench_app.from_file.drop import FILE, draw_drop, dropped
from traitbench_app.parts.heading import heading
from traitbench_app.shell.permission import why_nowhere
from traitbench_app.shell.service import namespaces

owned = namespaces()
file, name = dropped(), st.query_params.get(FILE)

if nowhere := why_nowhere(owned):
    heading("from_file")
    with st.container(border=True, key="from_file.closed"):
        st.markdown(f":material/lock: **You cannot create models here.** {nowhere}")
    st.stop()

if file is None:
    heading("from_file")
    if name:
        st.info(f"**{plain(name)}** is not in this session any more. Drop it again.", icon=":material/info:")
    draw_drop()
    st.stop()
