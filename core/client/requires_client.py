"""A build hook of the distribution `traitbench`: its wheel requires `traitbench-client` of the same version.

An editable installation does not: it uses the files of the checkout, which has both.
"""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class RequiresClient(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the requirement to a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add it unless `version`, the kind of wheel, is `editable`."""
        if version == "standard":
            build_data["dependencies"].append(f"traitbench-client=={self.metadata.version}")
