"""The command line where no service runs: settings, keys, and what is asked wrongly.

What ends before anything starts is called within this process; the rest is the real command.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.app.processes import run
from tests.cli.asking import Ask, call
from tests.conftest import free_port
from traitbench import install

SECRET = re.compile(r"tb[as]_[0-9A-Za-z]{49}\n")


def test_keys_are_issued_listed_and_revoked_without_a_service(tmp_path: Path) -> None:
    home = tmp_path / "home"
    create = ("key", "create", "--scope", "authoring", "--namespace", "mine", "--namespace", "ours", "--name", "CI")
    code, secret, err = call(home, *create)
    assert (code, err) == (0, "")
    assert SECRET.fullmatch(secret)
    code, listed, _ = call(home, "key", "list")
    heads, row = listed.splitlines()
    assert heads.split() == ["ID", "KEY", "SCOPE", "NAMESPACES", "STATE", "LAST", "USED", "NAME"]
    assert row.split()[1:] == [f"{secret[:10]}…", "authoring", "mine,ours", "active", "never", "CI"]
    assert secret.strip() not in listed
    key_id = row.split()[0]
    assert call(home, "key", "revoke", key_id) == (0, f"{key_id} is revoked.\n", "")
    assert "revoked" in call(home, "key", "list")[1]
    listed = json.loads(call(home, "key", "list", "--json")[1])
    assert (listed["id"], listed["namespaces"], listed["revoked_at"] is None) == (key_id, ["mine", "ours"], False)
    assert secret.strip() not in str(listed)


def test_a_command_imports_neither_the_client_nor_tables_before_it_is_called() -> None:
    code = "import sys, traitbench.cli.main; print({'httpx', 'numpy', 'pydantic', 'rich'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["key", "revoke", "key_unknown"], 1, "There is no key key_unknown"),
        (["key", "create", "--scope", "scoring", "--namespace", "Not One"], 1, "a namespace is 1-64"),
        (["key", "create", "--scope", "owner", "--namespace", "mine"], 2, "'owner' is not one of"),
        (["key", "create", "--scope", "scoring"], 2, "Missing option '--namespace'"),
        (["train", "a.b", "--effort", "heroic"], 2, "'heroic' is not one of"),
        (["score", "a.b", "text", "--file", __file__], 2, "not both"),
        (["worker"], 2, "needs PostgreSQL"),
        (["dance"], 2, "No such command 'dance'"),
    ],
)
def test_what_cannot_be_done_is_told_in_a_sentence(
    tmp_path: Path, arguments: list[str], code: int, sentence: str
) -> None:
    got, out, err = call(tmp_path / "home", *arguments)
    assert (got, out) == (code, "")
    assert sentence in err


@pytest.mark.parametrize("arguments", [["models", "list"], ["train", "a.b"], ["score", "a.b", "text"]])
def test_without_a_service_the_verbs_say_so_and_exit_2(tmp_path: Path, arguments: list[str]) -> None:
    port = free_port()
    code, out, err = call(tmp_path / "home", *arguments, TRAITBENCH_PORT=str(port))
    assert (code, out) == (2, "")
    assert f"The service at http://127.0.0.1:{port} does not answer; start it with `traitbench`" in err


@pytest.mark.parametrize(
    ("variable", "value", "arguments"),
    [
        ("TRAITBENCH_PORT", "eighty", []),
        ("TRAITBENCH_PORT", "99999", ["serve"]),
        ("TRAITBENCH_MAX_TRAITS", "0", ["models", "list"]),
        ("TRAITBENCH_PUBLIC_NAMESPACES", "Demo!", ["key", "list"]),
    ],
)
def test_a_setting_that_cannot_be_used_is_named_and_exits_2(
    tmp_path: Path, variable: str, value: str, arguments: list[str]
) -> None:
    code, out, err = call(tmp_path / "home", *arguments, **{variable: value})
    assert (code, out) == (2, "")
    assert value in err


def test_a_home_that_cannot_be_used_is_named_with_a_way_out(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    code, _, err = run(tmp_path / "file" / "home", "serve")
    assert code == 1
    assert "cannot be used: Not a directory. Set TRAITBENCH_HOME" in err


@pytest.mark.parametrize(("ask", "command"), [(run, ["serve"]), (run, ["worker"]), (call, ["key", "list"])])
def test_a_database_that_does_not_answer_is_named(tmp_path: Path, ask: Ask, command: list[str]) -> None:
    url = f"postgresql://nobody:hidden@127.0.0.1:{free_port()}/none"
    code, out, err = ask(tmp_path / "home", *command, TRAITBENCH_DATABASE_URL=url)
    assert (code, out) == (1, "")
    # A server may log the reason before it.
    assert err.splitlines()[-1].startswith("Error: The database does not answer.")
    assert "Traceback" not in err
    assert "TRAITBENCH_DATABASE_URL" in err
    assert "hidden" not in err


@pytest.mark.parametrize("url", ["oracle", "mysql://u:hidden@host/name", "postgresql://u:hidden@host:port/name"])
def test_a_database_that_cannot_be_used_is_a_setting_that_is_wrong(tmp_path: Path, url: str) -> None:
    code, out, err = call(tmp_path / "home", "key", "list", TRAITBENCH_DATABASE_URL=url)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "TRAITBENCH_DATABASE_URL" in err
    assert "postgresql://user:password@host:5432/name" in err
    assert "hidden" not in err


def test_an_encoder_that_is_not_there_is_named(tmp_path: Path) -> None:
    code, out, err = run(tmp_path / "home", "serve", TRAITBENCH_ENCODER="oracle")
    assert (code, out) == (1, "")
    assert "oracle" in err
    assert "Traceback" not in err


def test_the_own_key_is_never_sent_to_another_service(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "first.key").write_text("tba_secret")
    code, _, err = call(home, "models", "list", TRAITBENCH_API_URL=f"http://127.0.0.1:{free_port()}")
    assert code == 2
    assert "TRAITBENCH_API_KEY" in err


def test_an_address_that_is_none_is_named(tmp_path: Path) -> None:
    remote = {"TRAITBENCH_API_URL": "somewhere", "TRAITBENCH_API_KEY": "tba_key"}
    code, out, err = call(tmp_path / "home", "models", "list", **remote)
    assert (code, out) == (2, "")
    assert "'somewhere' is not the address of a service" in err


def test_the_version_is_the_installed_one(tmp_path: Path) -> None:
    code, out, _ = run(tmp_path / "home", "--version")
    assert (code, bool(re.fullmatch(r"\d+\.\d+\.\d+\n", out))) == (0, True)


def test_without_its_packages_a_collector_stops_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "find_spec", lambda _: None)
    code, out, err = call(tmp_path / "home", "serve", TRAITBENCH_OTLP_URL="http://127.0.0.1:4318")
    assert (code, out) == (2, "")
    assert "TRAITBENCH_OTLP_URL is set, but the packages" in err
    assert "[otel]'" in err
    assert not (tmp_path / "home").exists()
