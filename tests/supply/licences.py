"""Lists every locked package with its version and licence; fails when a licence is unknown or not accepted.

A licence is what the installed package declares: its licence expression, else its licence field, else its classifiers.
What a wheel bundles beside its own code (compilers' run-time libraries, for example) is not looked into.
"""

import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata
from pathlib import Path
from typing import Any

from tests.supply.locked import REQUIREMENTS, Locked, locked

TABLE = Path(__file__).with_name("licences.toml")


def main(requirements: Path = REQUIREMENTS, table: Path = TABLE) -> int:
    """Print the list and the problems; 1 when there are any."""
    rules = tomllib.loads(table.read_text("utf-8"))
    packages = locked(requirements)
    rows = [(each, licence(each, rules)) for each in packages]
    wide = max(len(f"{each.name} {each.version}") for each in packages)
    sys.stdout.writelines(f"{f'{each.name} {each.version}':{wide}}  {result or 'unknown'}\n" for each, result in rows)
    problems = [problem for each, result in rows if (problem := refused(each, result, rules))]
    problems += stale(rows, rules)
    sys.stderr.writelines(f"{problem}\n" for problem in problems)
    return 1 if problems else 0


def licence(package: Locked, rules: Mapping[str, Any]) -> str | None:
    """The licence in the words of SPDX as far as it can be named; None when the package states none."""
    try:
        stated = metadata(package.name)
    except PackageNotFoundError:
        elsewhere = rules["not_installed"].get(package.name)
        return None if package.here or elsewhere is None else str(elsewhere["licence"])
    if expression := _first(stated, "License-Expression"):
        return expression
    field = next(iter(_first(stated, "License").strip().splitlines()), "")  # some put their whole text there
    if named := rules["spellings"].get(field, field if field in rules["accepted"] else None):
        return str(named)
    if " AND " in field:
        return field
    classes = [each.rpartition(" :: ")[2] for each in stated.get_all("Classifier") or () if each.startswith("License")]
    if classes:
        return " AND ".join(rules["spellings"].get(each, each) for each in classes)
    unstated = rules["unstated"].get(package.name)
    return None if unstated is None else str(unstated["licence"])


def _first(stated: PackageMetadata, name: str) -> str:
    return str(next(iter(stated.get_all(name) or ()), ""))


def refused(package: Locked, licence: str | None, rules: Mapping[str, Any]) -> str | None:
    """Why a licence cannot stay, and what to do; None when it can."""
    if licence is None:
        return f"{package.name} {package.version} states no licence. Read its source, then add it to {TABLE.name}."
    tables = ("exceptions", "unstated", "not_installed")
    exception = next((rules[each][package.name] for each in tables if package.name in rules[each]), None)
    if is_accepted(licence, rules["accepted"]) or (exception and exception["licence"] == licence):
        return None
    return (
        f"{package.name} {package.version} has the licence {licence}, which is not accepted. Replace the package, or"
        f" add an exception with its reason to {TABLE.name}."
    )


def is_accepted(expression: str, accepted: Sequence[str]) -> bool:
    """Whether a licence expression can be fulfilled with accepted licences; one with parentheses or WITH cannot."""
    return any(
        all(part.strip() in accepted for part in re.split(r"\s+AND\s+", choice))
        for choice in re.split(r"\s+OR\s+", expression)
    )


def stale(rows: Sequence[tuple[Locked, str | None]], rules: Mapping[str, Any]) -> list[str]:
    """Exceptions that nothing needs any more."""
    names = {each.name for each, _ in rows}
    needed = {each.name for each, result in rows if result and not is_accepted(result, rules["accepted"])}
    elsewhere = {*rules["not_installed"], *rules["unstated"]}
    unused = sorted((set(rules["exceptions"]) - needed) | (elsewhere - names))
    return [f"{TABLE.name}: the exception for {name} is not needed. Remove it." for name in unused]


if __name__ == "__main__":
    sys.exit(main())
