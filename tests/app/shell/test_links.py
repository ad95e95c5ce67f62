"""A link names everything that is on screen, and nothing that is not."""

import pytest

from traitbench_app.shell.navigation import link, service_address


def test_a_link_has_the_page_and_what_it_shows() -> None:
    assert link("samples", model="local.tone", find="a b&c", pole=None, trait="") == (
        "/samples?model=local.tone&find=a+b%26c"
    )


def test_the_catalog_is_the_root() -> None:
    assert link("catalog") == "/"
    assert link("catalog", q="x") == "/?q=x"


def test_programs_are_sent_to_the_service_that_the_workbench_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAITBENCH_API_URL", "https://bench.example.org/v1/")
    assert service_address() == "https://bench.example.org"
    monkeypatch.delenv("TRAITBENCH_API_URL")
    monkeypatch.setenv("TRAITBENCH_PORT", "8600")
    assert service_address() == "http://127.0.0.1:8600"
