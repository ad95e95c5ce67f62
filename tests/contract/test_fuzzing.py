"""Schemathesis against the running service: the bounds of every schema, random cases, and walks along the links.

It runs in a process of its own and knows the service by its OpenAPI document and `schemathesis.toml` alone; the seed is
fixed. The same by hand, against any service: the command that `command` returns.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from string import ascii_lowercase, digits
from typing import Any

import pytest

from core.extract import extract
from core.service.app import create_app
from tests.benches import fresh_settings, opened
from tests.contract.world import World, served

ROOT = Path(__file__).parents[2]
CONFIG = Path(__file__).with_name("schemathesis.toml")


def command(world: World, folder: Path) -> list[str]:
    """What a person would type. The document is a file, for what stands at the document's address is not asked."""
    document = folder / "openapi.json"
    document.write_text(json.dumps(world.described), encoding="utf-8")
    tool = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(CONFIG), "run", "--no-color"]
    report = ["--report", "json", "--report-json-path", str(folder / "report.json")]
    return [*tool, str(document), "--url", world.base_url, *report]


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A service of its own, worker and all, with models in every state that lasts."""
    home = tmp_path_factory.mktemp("fuzzed")
    with fresh_settings(home) as settings, opened(replace(settings, max_body_bytes=96 * 1024), runs=True) as bench:
        # No name leads anywhere: nothing of these tests leaves the machine.
        alone = replace(bench, extract=lambda url: extract(url, resolve=lambda host: ()))
        with served(create_app(alone)) as base_url:
            world = World(base_url, alone)
            world.secrets["maker"] = world.issue("authoring", "mine", "demo", "other")
            world.secrets["authoring"] = world.issue("authoring", "mine", *ascii_lowercase, *digits)
            _models(world)
            yield world
            world.http.close()


def _models(world: World) -> None:
    for handle in [world.make(f"{namespace}.ready", train=True) for namespace in ("mine", "demo", "other")]:
        world.wait(handle)
    for name in ("draft", "spare", "trained", "doomed"):
        world.make(f"mine.{name}")
    world.make("mine.empty", samples=False)
    world.make("mine.archived")
    assert world.call("DELETE", "/v1/models/mine.archived").status == 200


def test_schemathesis_finds_nothing(fuzzed: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    environment = {
        **os.environ,
        "SCHEMATHESIS_HOOKS": "tests.contract.fuzzing_rules",
        "TRAITBENCH_API_KEY": fuzzed.secrets["authoring"],
    }
    ran = subprocess.run(
        command(fuzzed, tmp_path),
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, "\n".join(line[:500] for line in (ran.stdout + ran.stderr).splitlines())
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    with capsys.disabled():
        print(f"\nSchemathesis {report['schemathesis_version']}: {_summary(report)}")  # noqa: T201
    assert report["failures"] == report["errors"] == []
    assert report["operations"]["tested"] == report["operations"]["total"] == _count(fuzzed.described)


def _summary(report: dict[str, Any]) -> str:
    phases = ", ".join(f"{name} {phase['status']}" for name, phase in report["phases"].items())
    return (
        f"{report['operations']['tested']} operations, {report['test_cases']['generated']} cases, "
        f"{len(report['failures'])} failures in {report['running_time']:.0f} s (seed {report['seed']}; {phases})"
    )


def _count(described: dict[str, Any]) -> int:
    return sum(len(methods) for methods in described["paths"].values())
