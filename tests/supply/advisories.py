"""Compares the locked packages with the advisories of `advisories.toml`, offline; fails when one applies.

What it can and cannot see is said in the table.
"""

import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.specifiers import SpecifierSet

from tests.supply.locked import REQUIREMENTS, Locked, locked

TABLE = Path(__file__).with_name("advisories.toml")


def main(requirements: Path = REQUIREMENTS, table: Path = TABLE) -> int:
    """Print the problems, or how much was compared; 1 when there are problems."""
    stated = tomllib.loads(table.read_text("utf-8"))
    packages, advisories = locked(requirements), stated["advisories"]
    problems = [*applying(packages, advisories), *idle(packages, advisories)]
    sys.stderr.writelines(f"{problem}\n" for problem in problems)
    if not problems:
        sys.stdout.write(
            f"None of {len(advisories)} listed advisories applies to the {len(packages)} locked packages."
            f" The list is of {stated['refreshed']} and not complete; {table.name} says how to refresh it.\n"
        )
    return 1 if problems else 0


def applying(packages: Sequence[Locked], advisories: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The advisories that a locked version falls under, without those that are accepted."""
    for each in advisories:
        affected = SpecifierSet(each["affected"], prereleases=True)
        for package in packages:
            if package.name == each["package"] and package.version in affected and not each.get("accepted"):
                yield f"{package.name} {package.version} is affected by {each['id']}. Lock {each['fixed']} or newer."


def idle(packages: Sequence[Locked], advisories: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Rows that compare with nothing, because their package is not locked or is misspelt."""
    names = {package.name for package in packages}
    for each in advisories:
        if each["package"] not in names:
            yield f"{each['id']} names {each['package']}, which is not locked. Correct the name, or remove the row."


if __name__ == "__main__":
    sys.exit(main())
