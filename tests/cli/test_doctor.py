"""`traitbench doctor` on healthy and broken installations, and the scripts that complete commands."""

import json
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.conftest import Service, free_port
from traitbench.cli.main import main
from traitbench.install import install_line

Checks = Mapping[str, Mapping[str, str]]


def test_beside_a_running_service_all_is_well(service: Service) -> None:
    code, checks = examined(service.settings.home, port=service.settings.port, api_key=service.issue())
    assert (code, {check["state"] for check in checks.values()} - {"note"}) == (0, {"ok"})
    assert [*checks] == ["packages", "service", "key", "home", "disk", "encoder", "database"]
    assert checks["service"]["found"] == f"answers at {service.base_url}"
    assert checks["database"]["found"].endswith("traitbench.db")


def test_before_the_first_start_nothing_is_wrong_and_nothing_is_made(tmp_path: Path) -> None:
    port = free_port()
    code, checks = examined(tmp_path / "home", port=port)
    assert code == 0
    assert checks["service"] == {
        "name": "service",
        "state": "note",
        "found": f"none runs; port {port} on 127.0.0.1 is free",
        "way_out": "Start it: traitbench",
    }
    assert "at the first start" in checks["home"]["found"]
    assert "at the first start" in checks["database"]["found"]
    assert not (tmp_path / "home").exists()


def test_each_problem_has_a_way_out(tmp_path: Path, service: Service) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    (home / "traitbench.db").write_bytes(b"this is no database" * 1000)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        other.settimeout(0)
        code, checks = examined(home, port=other.getsockname()[1], encoder="no-such-encoder")
    problems = {name: check["way_out"] for name, check in checks.items() if check["state"] == "problem"}
    assert code == 1
    assert problems.keys() == {"service", "encoder", "database"}
    assert all(problems.values())
    assert checks["home"]["way_out"] == f"chmod 700 {home}"
    code, checks = examined(home, port=service.settings.port)
    assert (code, checks["key"]["state"]) == (1, "problem")


@pytest.mark.parametrize(
    ("settings", "name", "found"),
    [
        ({"port": "eighty"}, "settings", "TRAITBENCH_PORT"),
        ({"api_url": "http://127.0.0.1:9", "api_key": "x"}, "service", "http://127.0.0.1:9"),
        ({"database_url": "postgresql://u:hidden@127.0.0.1:9/none"}, "database", "does not answer"),
    ],
)
def test_what_the_settings_name_is_looked_at(tmp_path: Path, settings: dict[str, str], name: str, found: str) -> None:
    code, checks = examined(tmp_path / "home", **{"port": free_port(), **settings})
    assert (code, checks[name]["state"]) == (1, "problem")
    assert found in checks[name]["found"]
    assert "hidden" not in str(checks)


@pytest.mark.parametrize(
    ("missing", "url", "extra"),
    [("sqlalchemy", None, "service"), ("psycopg", "postgresql://localhost/none", "postgres")],
)
def test_an_installation_without_the_service_is_looked_at_too(
    tmp_path: Path, missing: str, url: str | None, extra: str
) -> None:
    program = (
        f"import sys; sys.modules[{missing!r}] = None; sys.argv[1:] = ['doctor', '--json']\n"
        "from traitbench.cli.main import main; main()"
    )
    environment = {"TRAITBENCH_HOME": str(tmp_path / "home"), "TRAITBENCH_PORT": "0", "PATH": ""}
    environment["TRAITBENCH_ENCODER"] = "static"
    environment |= {"TRAITBENCH_DATABASE_URL": url} if url else {}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    checks = {each["name"]: each for each in json.loads(done.stdout)["checks"]}
    assert done.returncode == 0
    assert checks["encoder"]["state"] == "ok"
    assert checks["database"]["state"] == "note"
    assert checks["database"]["way_out"].endswith(install_line(extra))


def test_a_person_gets_lines_and_the_same_exit_code(tmp_path: Path) -> None:
    environment = {"TRAITBENCH_HOME": str(tmp_path), "TRAITBENCH_PORT": "eighty"}
    result = CliRunner().invoke(main, ["doctor"], env=environment)
    assert result.exit_code == 1
    assert result.stdout.splitlines()[1].startswith("PROBLEM settings  TRAITBENCH_PORT")
    assert result.stdout.splitlines()[2].strip() == "Correct or unset this variable."


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_completes_commands(shell: str) -> None:
    script = CliRunner().invoke(main, ["completion", shell]).stdout
    assert f"_TRAITBENCH_COMPLETE={shell}_complete" in script
    words = {"bash": {"COMP_WORDS": "traitbench models sh", "COMP_CWORD": "2"}}.get(
        shell, {"COMP_WORDS": "traitbench models sh", "COMP_CWORD": "2" if shell == "zsh" else "sh"}
    )
    result = CliRunner().invoke(
        main, [], env={"_TRAITBENCH_COMPLETE": f"{shell}_complete", **words}, prog_name="traitbench"
    )
    assert "show" in result.stdout


def test_bash_accepts_the_script() -> None:
    script = CliRunner().invoke(main, ["completion", "bash"]).stdout
    done = subprocess.run(["bash", "-c", f"{script}\ncomplete -p traitbench"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "traitbench" in done.stdout


def examined(home: Path, **settings: Any) -> tuple[int, Checks]:
    environment = {
        "TRAITBENCH_HOME": str(home),
        "TRAITBENCH_ENCODER": "static",
        **{f"TRAITBENCH_{name.upper()}": str(value) for name, value in settings.items()},
    }
    result = CliRunner().invoke(main, ["doctor", "--json"], env=environment)
    answer = json.loads(result.stdout)
    assert answer["healthy"] == (result.exit_code == 0)
    return result.exit_code, {check["name"]: check for check in answer["checks"]}
