"""The entry script of the workbench, which Streamlit runs for every page.

It draws the model picker and the sidebar, then runs the page. An error of the service ends the page with an
explanation, never with a traceback. Few pages are drawn at the same moment (`drawing_slots`), and a page reads nothing
twice (`once`).
"""

from pathlib import Path

import streamlit as st

from traitbench.client.once import remembered
from traitbench_app.parts.heading import last_model, pick
from traitbench_app.parts.sidebar import draw_sidebar, signed_in
from traitbench_app.process.drawing_slots import SLOTS
from traitbench_app.shell import navigation, people, session
from traitbench_app.shell.service import guarded

_STATIC = Path(__file__).with_name("static")

with SLOTS.slot(), remembered():
    st.set_page_config(page_title="Traitbench", page_icon=_STATIC / "icon.png", layout="wide")
    st.logo(str(_STATIC / "icon.svg"))

    with guarded(is_page=True):
        signed_in(people.current())

    page = st.navigation([navigation.page(row.name) for row in navigation.PAGES], position="hidden")
    st.set_page_config(page_title=f"{page.title} · Traitbench")

    here = next(row for row in navigation.PAGES if row.url_path == page.url_path)

    with guarded(is_page=True):
        if here.about_a_model:
            pick(here.name)
        draw_sidebar(last_model(), here)
        session.show_flashes()
        page.run()
