"""`python -m tests.docs.update` changes nothing in a page that is up to date, and mends one that is not."""

from tests.docs import update
from tests.docs.markdown import read


def test_an_up_to_date_page_stays_as_it_is() -> None:
    assert update.api(read("api.md")) == read("api.md")


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
