"""An error in the middle of a page empties no field of it."""

from streamlit.testing.v1 import AppTest


def page() -> None:
    import streamlit as st

    from traitbench.errors import Unreachable
    from traitbench_app.shell.service import guarded

    with guarded():
        st.text_input("Above", key="page.above")
        if st.session_state.get("down"):
            raise Unreachable("It does not answer.")
        st.text_area("Text", key="page.text")
        st.toggle("Compare", key="page.compare")
        st.multiselect("Traits", ["warmth", "clarity"], key="page.traits")
        st.data_editor([{"text": "one"}], key="page.table")
        st.button("Go", key="page.go")


def test_fields_below_an_error_keep_what_was_entered() -> None:
    at = AppTest.from_function(page).run()
    at.text_input[0].set_value("above")
    at.text_area[0].set_value("A long letter.")
    at.toggle[0].set_value(True)
    at.multiselect[0].set_value(["clarity"]).run()
    at.session_state["down"] = True
    at.run()
    assert [each.value for each in at.subheader] == ["The service does not answer"]
    at.button(key="try_again").click().run()
    at.session_state["down"] = False
    at.button(key="try_again").click().run()
    assert not at.exception
    assert at.text_input[0].value == "above"
    assert (at.text_area[0].value, at.toggle[0].value, at.multiselect[0].value) == ("A long letter.", True, ["clarity"])
    # The browser is told, because it has forgotten the fields.
    assert (at.text_area[0].proto.set_value, at.text_area[0].proto.value) == (True, "A long letter.")
    at.button(key="page.go").click().run()
    assert not at.exception
    assert at.text_area[0].value == "A long letter."
