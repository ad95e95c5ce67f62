"""Schemathesis against a running service: the bounds of every schema, random cases, and walks along the links.

It runs in a process of its own, with a fixed seed, and knows the service by its OpenAPI document alone, and by what
stands in `fuzzing.toml` and `walking.toml`. The same by hand, against any service: what `command` returns.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from string import ascii_lowercase, digits
from typing import Any

import pytest

from tests.contexts import fresh_settings, opened
from tests.contract.world import World, served, signed
from traitbench.extract import extract
from traitbench.service.app import create_app

# Thousands of requests by a process of its own. What each operation declares, test_bodies.py and every other request of
# these tests check in `make test`.
pytestmark = pytest.mark.soak

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def fuzzed(world: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A service of its own, worker and all, with models in every state that lasts."""
    home = tmp_path_factory.mktemp("fuzzed")
    with fresh_settings(home) as settings, opened(replace(settings, max_body_bytes=96 * 1024), runs=True) as context:
        # No name leads anywhere: nothing of these tests leaves the machine.
        alone = replace(context, extract=lambda url: extract(url, resolve=lambda host: ()))
        with served(create_app(alone)) as base_url:
            fuzzed = World(base_url, alone)
            fuzzed.secrets["maker"] = fuzzed.issue("authoring", "mine", "demo", "other")
            fuzzed.secrets["authoring"] = fuzzed.issue("authoring", "mine", *ascii_lowercase, *digits)
            for namespace in ("mine", "demo", "other"):
                fuzzed.bring_in(f"{namespace}.ready", world.bundles["ready"])
            for name in ("draft", "spare", "trained", "doomed"):
                fuzzed.make(f"mine.{name}")
            fuzzed.make("mine.empty", samples=False)
            assert fuzzed.call("DELETE", f"/v1/models/{fuzzed.make('mine.archived')}").status == 200
            yield fuzzed
            fuzzed.http.close()


def test_no_input_finds_a_fault(fuzzed: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = {"TRAITBENCH_API_KEY": fuzzed.secrets["authoring"]}
    report = run("fuzzing.toml", fuzzed, tmp_path, given, examples=64)
    with capsys.disabled():
        print(f"\nSchemathesis {report['schemathesis_version']}, inputs: {summary(report)}")  # noqa: T201
    assert report["operations"]["tested"] == sum(len(methods) for methods in fuzzed.described["paths"].values())


def test_no_walk_along_the_links_finds_a_fault(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("ready", "draft"):
        world.bring_in(f"walk.{name}", world.bundles[name])
    (tmp_path / "bundle.json").write_text(json.dumps(signed(world.bundles["ready"])), encoding="utf-8")
    given = {"TRAITBENCH_API_KEY": world.issue("authoring", "walk"), "TRAITBENCH_BUNDLE": str(tmp_path / "bundle.json")}
    report = run("walking.toml", world, tmp_path, given, examples=120)
    with capsys.disabled():
        print(f"\nSchemathesis {report['schemathesis_version']}, walks: {summary(report)}")  # noqa: T201


def run(config: str, world: World, folder: Path, given: Mapping[str, str], *, examples: int) -> dict[str, Any]:
    """The report of a run that found nothing, with this many random cases for each operation, or walks."""
    ran = subprocess.run(
        [*command(config, world, folder), "--max-examples", str(examples)],
        cwd=ROOT,
        env={**os.environ, **given},
        capture_output=True,
        text=True,
        check=False,
    )
    output = "\n".join(line[:500] for line in (ran.stdout + ran.stderr).splitlines())
    assert ran.returncode == 0, output
    report: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert report["failures"] == report["errors"] == []
    return {**report, "links": re.findall(r"API Links: +(\d+) covered", output)}


def command(config: str, world: World, folder: Path) -> list[str]:
    """What a person would type. The document is a file, for what stands at the document's address is not asked."""
    document = folder / "openapi.json"
    document.write_text(json.dumps(world.described), encoding="utf-8")
    tool = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(Path(__file__).with_name(config)), "run"]
    report = ["--no-color", "--report", "json", "--report-json-path", str(folder / "report.json")]
    return [*tool, str(document), "--url", world.base_url, *report]


def summary(report: dict[str, Any]) -> str:
    links = "".join(f", {covered} links walked" for covered in report["links"])
    return (
        f"{report['operations']['tested']} operations x {report['test_cases']['generated']} cases{links}, "
        f"{len(report['failures'])} failures in {report['running_time']:.0f} s, seed {report['seed']}"
    )
