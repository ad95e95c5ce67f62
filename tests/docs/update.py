"""Brings the tables of `core/docs` in line with the code: `python -m tests.docs.update`.

It writes the tables of routes, query parameters and wire types, and keeps what people wrote in the column
"Meaning". New rows have an empty meaning, new types a section at the end: fill these in by hand.
"""

from collections.abc import Sequence
from pathlib import Path

from tests.docs import routes, wire_types
from tests.docs.markdown import DOCS, Row, headings, section, table, tables


def main(folder: Path = DOCS) -> None:
    """Rewrite the page in a folder."""
    page = folder / "api.md"
    page.write_text(api(page.read_text("utf-8")), "utf-8")


def api(page: str) -> str:
    """The API page with its tables made again."""
    old_routes, old_query = tables(section(page, "Routes"))
    page = page.replace(drawn(old_routes), drawn(list(routes.rows())))
    meanings = {(row["Route"], row["Parameter"]): row["Meaning"] for row in old_query}
    query = [{**row, "Meaning": meanings.get((row["Route"], row["Parameter"]), "")} for row in routes.query_rows()]
    page = page.replace(drawn(old_query), drawn(query))
    for each in wire_types.every():
        name, third = each.__name__, wire_types.third_column(each)
        old = table(page, name) if name in headings(page) else []
        known = {row["Field"]: row["Meaning"] for row in old}
        new = drawn(
            [
                {"Field": f"`{field}`", "Type": kind, third: default, "Meaning": known.get(f"`{field}`", "")}
                for field, kind, default in wire_types.fields(each)
            ]
        )
        page = _replaced(page, name, drawn(old), new) if old else f"{page.rstrip()}\n\n### {name}\n\n{new}\n"
    return page


def drawn(rows: Sequence[Row]) -> str:
    """A table as Markdown; empty without rows."""
    if not rows:
        return ""
    lines = [tuple(rows[0]), *(tuple(row.values()) for row in rows)]
    head, *body = (f"| {' | '.join(cells)} |".replace("|  |", "| |") for cells in lines)
    return "\n".join([head, "|" + "---|" * len(rows[0]), *body])


def _replaced(page: str, heading: str, old: str, new: str) -> str:
    """A table below one heading replaced: tables of other types may look the same."""
    head, mark, rest = page.partition(f"\n### {heading}\n")
    assert old in rest, f"The table of {heading} is not written as this program writes it."
    return head + mark + rest.replace(old, new, 1)


if __name__ == "__main__":
    main()
