"""Dockerfile and compose.yaml agree with what they run: commands, ports, settings, the proxy's configuration."""

import json
import re
import shlex
import subprocess
import tomllib
from typing import Any

import click
import pytest
import yaml

from tests.conftest import Service, free_port, not_none
from tests.docs.markdown import codes, read, table
from tests.supply.locked import ROOT
from traitbench.cli.main import main
from traitbench.settings import read_settings

DOCKERFILE = re.sub(r"\\\n", " ", (ROOT / "Dockerfile").read_text("utf-8"))
STEPS = [line.partition(" ")[::2] for line in DOCKERFILE.splitlines() if line[:1].isupper()]
IMAGE = STEPS[max(number for number, (step, _) in enumerate(STEPS) if step == "FROM") :]
"""The steps of the last stage, which is the image."""
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = {name: each for name, each in SERVICES.items() if each["image"] == "traitbench"}
SETTINGS = {name for row in table(read("settings.md"), "Settings") for name in codes(row["Variable"])}


def step(name: str) -> str:
    [argument] = [argument for step, argument in IMAGE if step == name]
    return argument


def test_images_have_tags_and_the_last_one_runs_without_rights() -> None:
    bases = [argument.split()[0] for name, argument in STEPS if name == "FROM"]
    others = [each["image"] for name, each in SERVICES.items() if name not in OURS]
    assert all(re.search(r":\d", each) for each in [*bases, *others])
    names = [name for name, _ in IMAGE]
    assert step("USER") != "root"
    assert names.index("USER") > max(number for number, name in enumerate(names) if name in ("COPY", "RUN"))


def test_the_image_has_what_the_workbench_and_a_team_need_and_no_tools() -> None:
    extras = not_none(re.search(r"/wheels/traitbench-\*\.whl\)\[([\w,]+)\]", DOCKERFILE))[1].split(",")
    known = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert set(extras) == {"workbench", "postgres", "llm", "otel"} <= set(known)
    assert [argument for name, argument in IMAGE if name == "COPY"] == ["--from=build /opt/traitbench /opt/traitbench"]


def test_its_settings_and_ports_are_ours() -> None:
    environment = dict(re.findall(r"(\w+)=(\S+)", step("ENV")))
    settings = read_settings({name: value for name, value in environment.items() if name.startswith("TRAITBENCH_")})
    assert str(settings.port) == step("EXPOSE")
    assert str(settings.home) == step("VOLUME")
    assert settings.host == "0.0.0.0"
    assert settings.sign_in != "none", "a container is reached from outside"
    assert f"://127.0.0.1:{settings.port}/v1/health" in step("HEALTHCHECK")
    given = {name for each in OURS.values() for name in each["environment"]} | {*environment}
    assert {name for name in given if name.startswith("TRAITBENCH_")} <= SETTINGS


def test_the_health_check_tells_a_service_from_none(service: Service) -> None:
    command = json.loads(step("HEALTHCHECK").partition(" CMD ")[2])
    for port, well in ((service.settings.port, True), (free_port(), False)):
        asked = [each.replace(":8501", f":{port}") for each in command]
        assert (subprocess.run(asked, capture_output=True).returncode == 0) is well


@pytest.mark.parametrize("name", OURS)
def test_a_container_runs_a_command_that_exists(name: str) -> None:
    program, *words = shlex.split(OURS[name]["command"])
    assert program == "traitbench"
    assert {*words} <= {*main.list_commands(click.Context(main))}
    assert json.loads(step("CMD")) == [program]


def test_the_proxy_has_the_documented_configuration_with_the_names_of_the_containers() -> None:
    [source, *_] = SERVICES["proxy"]["volumes"][0].split(":")
    script = SERVICES["proxy"]["command"][-1]
    rules = [word for rule in re.findall(r"-e '([^']*)'", script) for word in ("-e", rule)]
    before = (ROOT / source).read_text("utf-8")
    after = subprocess.run(["sed", *rules], input=before, capture_output=True, text=True, check=True).stdout
    told = set(re.findall(r"^\s*(?:server|listen) ([^;{]+);", after, re.MULTILINE))
    port = step("EXPOSE")
    assert told == {f"api:{port}", f"workbench:{port}", SERVICES["proxy"]["ports"][0].rpartition(":")[2]}
    assert {each.partition(":")[0] for each in told if ":" in each} <= {*OURS}


def test_containers_name_each_other_and_trust_the_proxy_alone() -> None:
    networks = {each["subnet"] for each in COMPOSE["networks"]["default"]["ipam"]["config"]}
    for name, each in OURS.items():
        given = {key: re.sub(r"\$\{\w+:[-?]([^}]*)\}", r"\1", value) for key, value in each["environment"].items()}
        given = {key: value.replace("Set it in .env to letters and digits", "secret") for key, value in given.items()}
        settings = read_settings(given)
        assert {*settings.proxies} == networks
        if name == "workbench":
            assert settings.base_url == f"http://api:{step('EXPOSE')}"
        else:
            assert "api" in settings.allowed_hosts
            assert "@database/" in settings.database_url
    assert COMPOSE["volumes"].keys() == {
        each.partition(":")[0] for service in SERVICES.values() for each in service.get("volumes", ()) if each[0] != "."
    }
