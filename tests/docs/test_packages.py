"""Every package says what is in it, and a large one where."""

import ast
import re
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT

LARGE = 32
PACKAGES = sorted(path.parent for folder in ("core", "app", "pages") for path in (ROOT / folder).rglob("__init__.py"))


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.relative_to(ROOT).as_posix())
def test_a_package_says_what_is_in_it_and_a_large_one_names_each_module(package: Path) -> None:
    said = ast.get_docstring(ast.parse((package / "__init__.py").read_text("utf-8")))
    assert said
    modules = {path.stem for path in package.glob("*.py")} - {"__init__"}
    named = set(re.findall(r"`(\w+)`", said))
    if len(modules) > LARGE:
        assert modules - named == set()
        assert named - modules - {path.name for path in package.iterdir() if path.is_dir()} == set()
