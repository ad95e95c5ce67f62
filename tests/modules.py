"""Our modules: where their files are, and by which names they are imported."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
# Where our modules are, and what their names begin with.
FOLDERS = {"core/traitbench": "traitbench", "app/traitbench_app": "traitbench_app", "pages": "pages"}
# Our folders have names that packages of others have too.
NAMES_OF_OTHERS = ("core", "app", "pages", "sample_data")


def python_files() -> list[Path]:
    """Every module of the product."""
    return sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))


def module_at(path: Path) -> str:
    """The name by which the file at this path, relative to the root, is imported."""
    parts = path.with_suffix("").parts
    below = parts[1:] if parts[0] in ("core", "app") else parts
    return ".".join(below).removesuffix(".__init__")
