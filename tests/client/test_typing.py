"""The client is typed for those who install it: `typed.py`, checked against an installed package."""

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import traitbench
from traitbench.contract.traits import TraitFields, TraitUpdate

# Kept from one session to the next: what mypy knows of other packages takes it most of a minute to find out.
KEPT = Path(__file__).parents[2] / ".mypy_cache" / "user"


@pytest.mark.soak  # `make check` checks the same program against the source
def test_a_users_program_is_checked_strictly_against_the_installed_client(tmp_path: Path) -> None:
    program = shutil.copy(Path(__file__).with_name("typed.py"), tmp_path / "program.py")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", f"--python-executable={installed(KEPT / 'venv')}",
         f"--cache-dir={KEPT / 'cache'}", "--no-error-summary", "--no-pretty", program],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_trait_is_updated_by_every_field_of_the_body() -> None:
    assert TraitFields.__annotations__.keys() == TraitUpdate.model_fields.keys()


def installed(place: Path) -> Path:
    """A Python that has our package as one that was built and installed: in its site-packages."""
    shutil.rmtree(place, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    [site] = place.glob("lib/python*/site-packages")
    (site / "traitbench").symlink_to(Path(next(iter(traitbench.__path__))))
    (site / "others.pth").write_text(sysconfig.get_path("purelib"))
    return place / "bin" / "python"
