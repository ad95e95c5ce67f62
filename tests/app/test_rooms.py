"""The rooms of the workbench: a folder for each page, and no module that lies about."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
APP = ROOT / "app" / "traitbench_app"
SHARED = {"shell", "workspace", "parts", "process", "operator"}


def test_no_module_lies_outside_a_room() -> None:
    assert {path.name for path in APP.glob("*.py")} == {"__init__.py"}


def test_every_other_folder_is_named_after_a_page() -> None:
    pages = {path.stem for path in (ROOT / "pages").glob("*.py")}
    assert {path.parent.name for path in APP.glob("*/__init__.py")} - SHARED <= pages
