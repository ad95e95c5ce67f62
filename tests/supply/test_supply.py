"""The licences and the advisories of what is locked, and what each check does with a package that must not stay."""

from pathlib import Path

import pytest

from tests.supply import advisories, licences
from tests.supply.locked import REQUIREMENTS, RUNNING, locked


def test_every_locked_package_is_read() -> None:
    pinned = [line for line in REQUIREMENTS.read_text("utf-8").splitlines() if line[:1].isalnum()]
    assert len(locked()) == len(pinned) > 100


def test_running_needs_fewer_packages_of_the_same_versions() -> None:
    running, all_of_them = ({(each.name, each.version) for each in locked(file)} for file in (RUNNING, REQUIREMENTS))
    assert running < all_of_them
    names = {name for name, _ in running}
    assert {"streamlit", "openai", "psycopg"} <= names
    assert not names & {"pytest", "playwright", "mypy", "jupyterlab", "schemathesis"}


def test_every_locked_package_has_an_accepted_licence(capsys: pytest.CaptureFixture[str]) -> None:
    assert licences.main() == 0, capsys.readouterr().err
    listed = capsys.readouterr().out.splitlines()
    assert len(listed) == len(locked())


@pytest.mark.parametrize(
    ("pin", "changed", "problem"),
    [
        ("no-such-package==1.0", ("", ""), "no-such-package 1.0 states no licence."),
        ("pytest==9.2.0", ('"MIT",', ""), "pytest 9.2.0 has the licence MIT, which is not accepted."),
        ("certifi==2026.10.18", ('licence = "MPL-2.0"', 'licence = "MPL-3.0"'), "certifi 2026.10.18 has the licence"),
        ("pytest==9.2.0", ("", ""), "the exception for certifi is not needed."),
    ],
)
def test_a_licence_that_cannot_stay_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], pin: str, changed: tuple[str, str], problem: str
) -> None:
    table = tmp_path / "licences.toml"
    table.write_text(licences.TABLE.read_text("utf-8").replace(*changed))
    assert licences.main(planted(tmp_path, pin), table) == 1
    assert problem in capsys.readouterr().err


@pytest.mark.parametrize(
    ("expression", "accepted"),
    [
        ("MIT", True),
        ("MIT AND PSF-2.0", True),
        ("GPL-3.0-only OR MIT", True),
        ("MIT AND GPL-3.0-only", False),
        ("GPL-3.0-only OR MIT AND GPL-2.0-only", False),
        ("(MIT)", False),
        ("Apache-2.0 WITH LLVM-exception", False),
    ],
)
def test_an_expression_is_accepted_when_it_can_be_fulfilled(expression: str, accepted: bool) -> None:
    assert licences.is_accepted(expression, ["MIT", "PSF-2.0", "Apache-2.0"]) is accepted


def test_no_listed_advisory_applies_to_what_is_locked(capsys: pytest.CaptureFixture[str]) -> None:
    assert advisories.main() == 0, capsys.readouterr().err


@pytest.mark.parametrize(
    ("pin", "problem"),
    [
        ("h11==0.14.0", "h11 0.14.0 is affected by CVE-2025-43859. Lock 0.16.0 or newer."),
        ("starlette==1.3.0", "starlette 1.3.0 is affected by CVE-2026-54283."),
        ("protobuf==6.31.0", "protobuf 6.31.0 is affected by CVE-2025-4565."),
        ("lxml==6.0.2", "lxml 6.0.2 is affected by CVE-2026-41066."),
    ],
)
def test_a_vulnerable_pin_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str], pin: str, problem: str) -> None:
    name = pin.partition("==")[0]
    others = [f"{each.name}=={each.version}" for each in locked() if each.name != name]
    assert advisories.main(planted(tmp_path, pin, *others)) == 1
    assert problem in capsys.readouterr().err


def test_a_row_about_nothing_locked_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert advisories.main(planted(tmp_path, "pytest==9.2.0")) == 1
    assert "CVE-2025-43859 names h11, which is not locked." in capsys.readouterr().err


def planted(folder: Path, *pins: str) -> Path:
    """A file of requirements in the form of the locked one."""
    path = folder / "requirements.txt"
    path.write_text("".join(f"{pin} \\\n    --hash=sha256:00\n" for pin in pins))
    return path
