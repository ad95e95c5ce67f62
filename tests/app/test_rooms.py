"""The rooms of the workbench: a folder for each page's parts, and no part that lies about."""

from tests.test_imports import ROOT, imported, module_of

APP = ROOT / "app"
WIDGETS = APP / "widgets"


def test_only_the_ways_in_lie_outside_a_room() -> None:
    assert {path.name for path in APP.glob("*.py")} == {"__init__.py", "main.py", "asgi.py", "cli.py"}
    assert {path.name for path in WIDGETS.glob("*.py")} == {"__init__.py"}


def test_every_folder_of_widgets_is_named_after_a_page() -> None:
    pages = {path.stem for path in (ROOT / "pages").glob("*.py")}
    assert {path.parent.name for path in WIDGETS.glob("*/__init__.py")} <= {*pages, "common"}


def test_common_widgets_use_no_widget_of_a_page() -> None:
    used = {
        name
        for path in (WIDGETS / "common").glob("*.py")
        for name in imported(path, module_of(ROOT, path))
        if name.startswith("traitbench.app.widgets.")
    }
    assert used
    assert {name for name in used if not name.startswith("traitbench.app.widgets.common.")} == set()
