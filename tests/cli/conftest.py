"""The command line as a fixture, and a trained model to change."""

from pathlib import Path

import pytest

from tests.cli.asking import Ask, asking
from tests.conftest import Service, Trained
from tests.contexts import link_cache
from traitbench.client import Traitbench


@pytest.fixture
def ask(service: Service, namespace: str, tmp_path: Path) -> Ask:
    """The command line, with an authoring key for the namespace and for those of the trained models."""
    link_cache(tmp_path / "home")
    return asking(service, tmp_path / "home", namespace, "trained", "compared")


@pytest.fixture
def own(client: Traitbench, trained: Trained, namespace: str) -> str:
    """A trained model of the test's own: one trait, one version and twenty samples."""
    return client.models.import_(trained.client.models.export(trained.handle), handle=f"{namespace}.own").handle
