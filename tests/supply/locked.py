"""The locked packages: requirements-dev.txt names all of them, requirements.txt those that running needs."""

import re
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent.parent
REQUIREMENTS, RUNNING = ROOT / "requirements-dev.txt", ROOT / "requirements.txt"


@dataclass(frozen=True)
class Locked:
    """One locked version; `here` is whether its marker holds for this Python and machine."""

    name: str
    version: str
    here: bool


def locked(path: Path = REQUIREMENTS) -> list[Locked]:
    """Every package of the file; one may have several versions, for different Pythons."""
    results = []
    for line in re.sub(r"\\\n", " ", path.read_text("utf-8")).splitlines():
        stated = line.partition(" --hash")[0].partition("#")[0].strip()
        if not stated or stated.startswith("-"):
            continue
        requirement = Requirement(stated)
        versions = [each.version for each in requirement.specifier if each.operator == "=="]
        if len(versions) != 1:
            raise ValueError(f"{path.name}: {stated} is not locked to one version.")
        here = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        results.append(Locked(requirement.name.lower(), versions[0], here))
    return results
