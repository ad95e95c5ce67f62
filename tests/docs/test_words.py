"""Names in the code are those of the field, or say what they hold (core/docs/glossary.md, "In code")."""

import ast
from collections.abc import Iterator

import pytest

from tests.docs.markdown import ROOT, codes, read, table

OURS_ALONE = {
    word for row in table(read("glossary.md"), "In code") for word in codes(row["Instead of"]) if word.isidentifier()
}


@pytest.mark.parametrize("folder", ["core", "app", "pages"])
def test_no_variable_or_function_has_a_name_that_only_its_author_understands(folder: str) -> None:
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files
    assert [
        (str(file), line, name) for file in files for line, name in _private(ast.parse(file.read_text("utf-8")))
    ] == []


def test_such_a_name_is_seen() -> None:
    tree = ast.parse("def _told(kin, *, found=1):\n    begun: int = 1\n    return [lesson for lesson in kin]")
    assert {name for _, name in _private(tree)} == {"_told", "kin", "found", "begun", "lesson"}


def _private(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The names that are bound in a module and are among those words; fields of a class are part of what it says."""
    fields = {
        line.target
        for each in ast.walk(tree)
        if isinstance(each, ast.ClassDef)
        for line in each.body
        if isinstance(line, ast.AnnAssign)
    }
    for node in ast.walk(tree):
        match node:
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
                | ast.arg(arg=name)
            ):
                pass
            case ast.Name(id=name, ctx=ast.Store()) if node not in fields:
                pass
            case _:
                continue
        if name.strip("_").lower() in OURS_ALONE:
            yield node.lineno, name
