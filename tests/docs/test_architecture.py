"""`core/docs/architecture.md` against the tree: the import table, the folders, and the modules of the core."""

import re

from tests.docs.markdown import ROOT, codes, only_code, read, section, table
from tests.test_imports import MAY_IMPORT

PAGE = read("architecture.md")
FOLDERS = ("core", "app", "pages", "sample_data")


def place(module: str) -> str:
    """The path of one of our modules or packages; the name itself for a package of others."""
    inner = re.sub(r"^traitbench(?:\.|$)", "", module)
    name = (
        inner if inner != module and inner.split(".")[0] in FOLDERS else f"core.{inner}" if inner != module else module
    )
    path = ROOT.joinpath(*name.rstrip(".").split("."))
    for each in (path, path.with_suffix(".py")):
        if name.split(".")[0] in FOLDERS and each.exists():
            return each.relative_to(ROOT).as_posix()
    return module


def test_the_table_of_imports_is_the_one_that_is_checked() -> None:
    groups = {only_code(row["Group"]): codes(row["Members"]) for row in table(PAGE, "Groups")}
    listed = {
        part: {name for each in codes(row["May import"]) for name in groups.get(each, [each]) if name != part}
        for row in table(PAGE, "Who may import whom")
        for part in codes(row["Part"])
    }
    assert listed == {
        place(part): {place(name) for name in allowed if place(name) != place(part)}
        for part, allowed in MAY_IMPORT.items()
    }


def test_every_folder_has_a_line() -> None:
    listed = {only_code(row["Folder"]).rstrip("/") for row in table(PAGE, "Folders")}
    there = {
        path.relative_to(ROOT).as_posix()
        for top in FOLDERS
        for path in [ROOT / top, *(ROOT / top).rglob("*")]
        if path.is_dir() and not any(part.startswith(("_", ".")) for part in path.relative_to(ROOT).parts)
    }
    inner = {folder for folder in there if folder.startswith(("core/docs/", "core/store/", "sample_data/"))}
    assert there - inner <= listed
    assert {f"{folder}" for folder in listed} <= there | {"tests", ".github"}


def test_every_module_of_the_arithmetic_has_a_line() -> None:
    listed = {only_code(row["File"]) for row in table(PAGE, "Modules of core/scoring")}
    assert listed == {path.name for path in (ROOT / "core" / "scoring").glob("*.py") if path.stem != "__init__"}


def test_the_paths_of_a_score_and_of_a_training_name_their_files() -> None:
    for heading in ("Path of a score", "Path of a training"):
        assert len([name for name in codes(section(PAGE, heading)) if name.endswith(".py")]) >= 5
