"""Builds the documentation as a site for reading offline: `make docs`, or `python -m tests.docs.site FOLDER`.

The pages are those of `core/docs`; `core/README.md` is the first. Links between pages are checked.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.docs.markdown import DOCS, ROOT

CONFIGURATION = Path(__file__).with_name("site.toml")


def build(folder: Path) -> None:
    """Build the site into a folder, which is replaced. Raises `subprocess.CalledProcessError` for a wrong link."""
    with tempfile.TemporaryDirectory() as name:
        project = Path(name)
        shutil.copy(CONFIGURATION, project / "zensical.toml")
        shutil.copytree(CONFIGURATION.with_name("theme"), project / "theme")
        pages = shutil.copytree(DOCS, project / "pages")
        first = (ROOT / "core" / "README.md").read_text("utf-8")
        (pages / "index.md").write_text(first.replace("](docs/", "]("), "utf-8")
        for page in pages.glob("*.md"):
            page.write_text(page.read_text("utf-8").replace("](../README.md", "](index.md"), "utf-8")
        command: list[str | Path] = [Path(sys.executable).with_name("zensical"), "build", "--strict"]
        subprocess.run(command, cwd=project, env={**os.environ, "NO_COLOR": "1"}, check=True)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(project / "site", folder)


if __name__ == "__main__":
    build(Path(sys.argv[1]))
