"""A link names everything that is on screen, and nothing that is not."""

from app.links import link


def test_a_link_has_the_page_and_what_it_shows() -> None:
    assert link("samples", model="local.tone", find="a b&c", pole=None, trait="") == (
        "/samples?model=local.tone&find=a+b%26c"
    )


def test_the_catalog_is_the_root() -> None:
    assert link("catalog") == "/"
    assert link("catalog", q="x") == "/?q=x"
