"""Models as files on the command line: exported, brought in, and refused when they were changed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.asking import Ask
from tests.conftest import WARM, Trained


def test_a_model_moves_as_one_file(ask: Ask, own: str, namespace: str, tmp_path: Path) -> None:
    handle, file = own, tmp_path / "model.json"
    assert ask("export", handle, "-o", str(file))[::2] == (0, f"{file}: 1 trait, 20 samples, 1 version\n")
    code, out, err = ask("import", str(file), "--handle", f"{namespace}.copy")
    assert (code, out) == (0, f"{namespace}.copy is ready: v1\n"), err
    assert ask("score", f"{namespace}.copy", WARM[0]) == ask("score", handle, WARM[0])
    _, piped, _ = ask("export", handle)
    assert ask("import", "-", "--handle", f"{namespace}.piped", stdin=piped)[0] == 0


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda document: document.replace("so much", "so little"), "changed since it was exported"),
        (lambda document: document[:-100], "is not a model exported from Traitbench"),
    ],
)
def test_a_file_that_was_changed_is_refused(
    ask: Ask, trained: Trained, namespace: str, change: Callable[[str], str], sentence: str
) -> None:
    _, document, _ = ask("export", trained.handle)
    code, out, err = ask("import", "-", "--handle", f"{namespace}.tampered", stdin=change(document.rstrip("\n")))
    assert (code, out) == (1, "")
    assert sentence in err
    assert "Thank you" not in err


def test_an_export_that_cannot_be_written_leaves_what_was_there(ask: Ask, trained: Trained, tmp_path: Path) -> None:
    code, _, err = ask("export", trained.handle, "-o", str(tmp_path / "none" / "model.json"))
    assert (code, "cannot be written: No such file" in err) == (1, True)
    assert not list(tmp_path.glob("*.json"))
