"""Environments for other people's client libraries, so that none of them is installed beside ours (`make soak`)."""

import os
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


def node_with(folder: Path, *packages: str) -> Sequence[str]:
    """The command of a Node.js that finds these packages; skips the test where there is none."""
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("Node.js and npm are not installed")
    folder.mkdir()
    install = ("npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder))
    subprocess.run([*install, *packages], check=True)
    return ["node"]


def output_of(command: Sequence[str], program: str, *arguments: str, folder: Path) -> str:
    """What a program prints; `command` runs the file that it is written to, in a folder."""
    file = folder / ("program.js" if command[0] == "node" else "program.py")
    file.write_text(program, "utf-8")
    # A proxy of this machine is for the registries.
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    environment = {name: value for name, value in environment.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [*command, str(file), *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
