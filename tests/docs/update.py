"""Brings the tables of `core/docs` in line with the code: `python -m tests.docs.update`.

It writes the tables of routes, query parameters, wire types and imports, and keeps what people wrote in the column
"Meaning". New rows have an empty meaning, new types a section at the end: fill these in by hand.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tests.docs import routes, wire_types
from tests.docs.markdown import DOCS, Row, codes, headings, only_code, section, table, tables
from tests.docs.test_architecture import place
from tests.test_imports import MAY_IMPORT


def main(folder: Path = DOCS) -> None:
    """Rewrite the pages in a folder."""
    for name, update in (("api.md", api), ("architecture.md", architecture)):
        page = folder / name
        page.write_text(update(page.read_text("utf-8")), "utf-8")


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


def architecture(page: str) -> str:
    """The architecture page with its table of imports made again: parts with the same imports share a row."""
    groups = {only_code(row["Group"]): codes(row["Members"]) for row in table(page, "Groups")}
    old = table(page, "Who may import whom")
    listed = {part: row for row in old for part in codes(row["Part"])}
    new = list[Row]()
    for part, allowed in MAY_IMPORT.items():
        row = listed.get(place(part))
        names = {place(name) for name in allowed}
        if row is not None and _expanded(row, groups) | set(codes(row["Part"])) == names | set(codes(row["Part"])):
            new += [row] if row not in new else []
        else:
            new.append({"Part": f"`{place(part)}`", "May import": _shortened(names - {place(part)}, groups)})
    return page.replace(drawn(old), drawn(new))


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


def _expanded(row: Mapping[str, str], groups: Mapping[str, Sequence[str]]) -> set[str]:
    return {name for each in codes(row["May import"]) for name in groups.get(each, [each])}


def _shortened(names: Iterable[str], groups: Mapping[str, Sequence[str]]) -> str:
    left, used = set(names), list[str]()
    for group, members in groups.items():
        if left.issuperset(members):
            used.append(group)
            left -= set(members)
    order = [*used, *sorted(left, key=lambda name: (not re.match(r"core|app|pages|sample_data", name), name))]
    return ", ".join(f"`{name}`" for name in order) or "nothing"


if __name__ == "__main__":
    main()
