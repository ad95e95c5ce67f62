"""The client is typed for those who use it: a strict type checker knows every answer and refuses what is wrong."""

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import traitbench
from traitbench.contract.traits import TraitFields, TraitUpdate

# Kept from one session to the next: what mypy knows of other packages takes it most of a minute to find out.
KEPT = Path(__file__).parents[2] / ".mypy_cache" / "user"

PROGRAM = """\
from traitbench.client import Traitbench
from traitbench.contract.models import VersionRetentionPolicy
from traitbench.contract.traits import TraitInput

with Traitbench() as client:
    reveal_type(client.scores.score("a.b", "text", feedback={"warmth": "good", "clarity": 0.5}).scores)
    reveal_type(client.scores.compare("a.b", "one", "two").improvement)
    reveal_type([model.handle for model in client.models.list()])
    reveal_type(client.traits.add("a.b", [TraitInput(name="Warmth")]))
    reveal_type(client.models.export("a.b"))
    client.models.update("a.b", zero_data_retention=True, version_retention_policy=VersionRetentionPolicy())
    client.models.update("a.b", state="ready")
    client.traits.discover("a.b", effort="heroic")
    client.samples.synthesize("a.b", synth_type="enrich")

import traitbench

reveal_type(traitbench.Traitbench)
reveal_type(traitbench.errors.ModelBusy("busy").code)
traitbench.Context


async def main() -> None:
    async with traitbench.AsyncClient() as client:
        reveal_type(await client.scores.score("a.b", "text"))
        reveal_type([model.handle async for model in await client.models.list()])
        await client.traits.discover("a.b", effort="heroic")
"""
SAID = """\
6: note: Revealed type is "dict[str, int]"
7: note: Revealed type is "int"
8: note: Revealed type is "list[str]"
9: note: Revealed type is "list[traitbench.contract.traits.Trait]"
10: note: Revealed type is "traitbench.contract.bundles.Bundle"
12: error: Unexpected keyword argument "state" for "update" of "Models"
13: error: Argument "effort" to "discover" of "Traits" has incompatible type "Literal['heroic']"
14: error: Argument "synth_type" to "synthesize" of "Samples" has incompatible type "Literal['enrich']"
18: note: Revealed type is "def (base_url:
19: note: Revealed type is "str"
20: error: Module has no attribute "Context"
25: note: Revealed type is "traitbench.contract.scores.Card"
26: note: Revealed type is "list[str]"
27: error: Argument "effort" to "discover" of "AsyncTraits" has incompatible type "Literal['heroic']"
"""


def test_a_users_program_is_checked_strictly_against_the_installed_client(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", f"--python-executable={installed(KEPT / 'venv')}",
         f"--cache-dir={KEPT / 'cache'}", "--no-error-summary", "--no-pretty", program],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    lines = [line.removeprefix(f"{program.name}:") for line in done.stdout.splitlines() if 'note: "' not in line]
    assert [line[: len(start)] for line, start in zip(lines, SAID.splitlines(), strict=True)] == SAID.splitlines()


def test_a_trait_is_updated_by_every_field_of_the_body() -> None:
    assert TraitFields.__annotations__.keys() == TraitUpdate.model_fields.keys()


def installed(place: Path) -> Path:
    """A Python that has our package as one that was built and installed: in its site-packages."""
    shutil.rmtree(place, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    [site] = place.glob("lib/python*/site-packages")
    (site / "traitbench").symlink_to(Path(next(iter(traitbench.__path__))))
    (site / "others.pth").write_text(sysconfig.get_path("purelib"))
    return place / "bin" / "python"
