"""`core/docs/architecture.md` against the tree. `tests/test_imports.py` checks its table of imports."""

from tests.docs.markdown import ROOT, codes, only_code, read, section, table

PAGE = read("architecture.md")


def test_every_folder_has_a_line() -> None:
    listed = {only_code(row["Folder"]) for row in table(PAGE, "Folders")}
    there = {
        path.relative_to(ROOT).as_posix()
        for top in ("core", "app", "pages", "sample_data")
        for path in [ROOT / top, *(ROOT / top).rglob("*")]
        if path.is_dir() and not any(part.startswith(("__", ".")) for part in path.relative_to(ROOT).parts)
    }
    inner = {each for each in there if each.startswith(("core/docs/", "core/traitbench/store/", "sample_data/"))}
    assert there - inner - {"core", "app"} <= listed
    assert listed <= there | {"tests"}


def test_the_paths_of_a_score_and_of_a_training_name_their_files() -> None:
    for heading in ("Path of a score", "Path of a training"):
        assert len([name for name in codes(section(PAGE, heading)) if name.endswith(".py")]) >= 5
