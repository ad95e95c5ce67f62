"""The entry script of the workbench, which Streamlit runs for every page.

It draws the menu and the model picker, then runs the page. An error of the service ends the page with an explanation,
never with a traceback. Few pages are drawn at the same moment (`drawing_slots`), and a page reads nothing twice
(`once`).
"""

from pathlib import Path

import streamlit as st

from traitbench.client.once import remembered
from traitbench_app.parts.finder import finder
from traitbench_app.parts.heading import pick, signed_in, whoami
from traitbench_app.process.drawing_slots import SLOTS
from traitbench_app.shell import people, session
from traitbench_app.shell.navigation import PAGES, menu
from traitbench_app.shell.service import guarded

_STATIC = Path(__file__).with_name("static")

with SLOTS.slot(), remembered():
    st.set_page_config(page_title="Traitbench", page_icon=_STATIC / "icon.png", layout="wide")
    st.logo(str(_STATIC / "logo.svg"), size="large", icon_image=str(_STATIC / "icon.svg"))

    with guarded(is_page=True):
        signed_in(people.current())

    page = st.navigation(menu(), expanded=True)
    st.set_page_config(page_title=f"{page.title} · Traitbench")

    here = next(row for row in PAGES if row.url_path == page.url_path)

    with guarded(is_page=True):
        with st.sidebar:
            if here.about_a_model:
                pick(here.name)
            finder()
            whoami()
        session.show_flashes()
        page.run()
