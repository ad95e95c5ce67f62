"""`python -m tests.docs.update` changes nothing in pages that are up to date, and mends those that are not."""

from tests.docs import update
from tests.docs.markdown import read


def test_up_to_date_pages_stay_as_they_are() -> None:
    for name, made in (("api.md", update.api), ("architecture.md", update.architecture)):
        assert made(read(name)) == read(name)


def test_a_missing_row_comes_back_without_its_meaning() -> None:
    page = read("api.md")
    [row] = [line for line in page.splitlines() if line.startswith("| `keep_unnamed`")]
    result = update.api(page.replace(row + "\n", ""))
    assert row not in result
    assert " | ".join(row.split(" | ")[:3]) in result


def test_a_missing_type_comes_back_at_the_end() -> None:
    page = read("api.md")
    result = update.api(page.replace("### ErrorBody", "### Something else"))
    assert result.rstrip().endswith("| `details` | object | always | |")
    assert "### ErrorBody" in result


def test_a_wrong_row_of_imports_is_made_again() -> None:
    page = read("architecture.md")
    result = update.architecture(page.replace("`authlib`, ", ""))
    assert result == page
