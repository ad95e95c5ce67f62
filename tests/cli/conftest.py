"""The command line as a fixture."""

from pathlib import Path

import pytest

from tests.cli.asking import Ask, asking
from tests.conftest import Service


@pytest.fixture
def ask(service: Service, namespace: str, tmp_path: Path) -> Ask:
    """The command line, with an authoring key for the namespace and for those of the trained models."""
    return asking(service, tmp_path / "home", namespace, "trained", "compared")
