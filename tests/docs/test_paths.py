"""Whatever the documentation names exists: files, links, tests, make targets, decisions."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml

from tests.docs.markdown import DOCS, ROOT, codes, table

PAGES = sorted(
    path
    for path in (*DOCS.rglob("*.md"), ROOT / "core" / "README.md", *(ROOT / ".github").glob("*.md"), ROOT / "README.md")
)
DECISIONS = sorted((DOCS / "decisions").glob("*.md"))

_PATH = re.compile(r"\.?[\w-]+(?:/[\w.-]+)+/?|[\w-]+\.(?:md|toml|txt|yml)")
_TOP = {path.name for path in ROOT.iterdir()}
# `test_set` is a field of the metrics.
_TEST = re.compile(r"test_(?!set$)\w+")
_LINK = re.compile(r"\]\(([^)\s]+)\)|\b(?:src|srcset)=\"([^\"]+)\"")
# Names of files that are not in the repository: of a home folder, of a batch, and pages that a command writes.
_ELSEWHERE = {"people.toml", "page.md"}


def ids(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def paths(text: str) -> Iterator[str]:
    """What looks like a path below the root of the repository."""
    for code in codes(text):
        if _PATH.fullmatch(code) and (code.split("/")[0] in _TOP or "/" not in code) and code not in _ELSEWHERE:
            yield code


@cache
def names_of_tests() -> frozenset[str]:
    return frozenset(
        node.name
        for path in (ROOT / "tests").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef)
    )


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_every_path_exists(page: Path) -> None:
    named = set(paths(page.read_text("utf-8")))
    assert {name for name in named if not (ROOT / name).exists()} == set()


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_every_link_leads_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for link in ("".join(groups) for groups in _LINK.findall(text)):
        if re.match(r"\w+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


def anchors(page: Path) -> set[str]:
    """The anchors that a Markdown page gets from its headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_every_test_that_is_named_exists(page: Path) -> None:
    named = {code for code in codes(page.read_text("utf-8")) if _TEST.fullmatch(code)}
    assert named <= names_of_tests()


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_every_make_target_exists(page: Path) -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in re.findall(r"\bmake ([a-z]+)\b", " ".join(codes(page.read_text("utf-8")))):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_every_decision_is_listed_by_its_title() -> None:
    rows = table((ROOT / "core" / "README.md").read_text("utf-8"), "Decisions")
    assert sorted(row["Decision"] for row in rows) == sorted(
        f"[{title(path)}](docs/decisions/{path.name})" for path in DECISIONS
    )


def test_a_newcomer_can_read_all_decisions() -> None:
    assert 0 < len(DECISIONS) <= 40


@pytest.mark.parametrize("path", DECISIONS, ids=ids)
def test_a_decision_has_a_question_a_choice_and_a_price(path: Path) -> None:
    lines = path.read_text("utf-8").splitlines()
    assert title(path)
    assert re.findall(r"^\*\*(.+?)\*\*", "\n".join(lines), re.MULTILINE) == ["Question.", "Choice.", "Price."]
    assert len(lines) <= 25


def title(path: Path) -> str:
    return path.read_text("utf-8").splitlines()[0].removeprefix("# ")


def test_ci_runs_the_test_command_on_every_supported_python() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
    job = workflow["jobs"]["test"]
    assert [step["run"] for step in job["steps"] if "run" in step] == ["make test"]
    assert (
        job["strategy"]["matrix"]["python"][0]
        == re.findall(r'requires-python = ">=([\d.]+)"', (ROOT / "pyproject.toml").read_text("utf-8"))[0]
    )


def test_pre_commit_runs_make_check() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    assert [hook["entry"] for repo in config["repos"] for hook in repo["hooks"]] == ["make check"]
