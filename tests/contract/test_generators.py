"""What programs that read the OpenAPI document make of it: linters find no error, and a generated client works."""

import json
import os
import re
import subprocess
import time
from pathlib import Path

import httpx
import pytest

from tests.conftest import COLD, WARM, Service, Trained
from tests.docs.markdown import DOCS
from tests.doors.environments import node_with, output_of, python_with
from traitbench.client import Traitbench

pytestmark = pytest.mark.soak  # other people's programs, from the registries

TYPESCRIPT = ("openapi-typescript@7.13.0", "openapi-fetch@0.17.0", "typescript@5", "@types/node@20")
GENERATOR, REDOCLY, SPECTRAL = "openapi-python-client==0.29.1", "@redocly/cli@2.77.0", "@stoplight/spectral-cli@6.16.3"
TEXT = "Thank you, you are so kind."
MOST_OTHERS = 50
"""Modules of the generated client beside one for each operation and each named type."""

# With the generated client: make a model, teach it, wait until it is trained, score a text; and one refusal.
ROUND = """\
import json, sys, time

from traitbench_client import AuthenticatedClient
from traitbench_client.api.models import models_create, models_get, models_train
from traitbench_client.api.samples import samples_add
from traitbench_client.api.scores import scores_score
from traitbench_client.api.traits import traits_add
from traitbench_client.models import (
    ErrorEnvelope, ModelCreate, ModelState, SampleInput, SamplesCreate, ScoreRequest, TrainRequest, TraitInput,
    TraitsCreate,
)

given = json.loads(sys.argv[1])
client, handle = AuthenticatedClient(given["url"], token=given["key"]), given["handle"]
assert models_create.sync(client=client, body=ModelCreate(handle)).handle == handle
refused = models_create.sync(client=client, body=ModelCreate(handle))
assert isinstance(refused, ErrorEnvelope), refused
trait = TraitInput("Warmth", positive_label="warm", negative_label="cold")
assert traits_add.sync(handle, client=client, body=TraitsCreate([trait])).traits[0].key == "warmth"
samples = [SampleInput(trait="warmth", text=text, quality=quality) for text, quality in given["samples"]]
assert len(samples_add.sync(handle, client=client, body=SamplesCreate(samples)).ids) == len(samples)
models_train.sync(handle, client=client, body=TrainRequest(effort="low"))
while (model := models_get.sync(handle, client=client)).state == ModelState.BUSY:
    time.sleep(0.1)
assert model.state == ModelState.READY, model.last_operation
card = scores_score.sync(handle, client=client, body=ScoreRequest(content=given["text"]))
print(json.dumps({"scores": card.scores.to_dict(), "code": refused.error.code}))
"""


def test_a_generated_client_is_small_and_trains_and_scores(
    service: Service, client: Traitbench, namespace: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    python = python_with(tmp_path / "generator", GENERATOR)
    document, folder, handle = _document(service, tmp_path, doors=False), tmp_path / "made", f"{namespace}.made"
    begun = time.monotonic()
    generate = (str(Path(python[0]).with_name("openapi-python-client")), "generate", "--meta", "none")
    where = ("--path", str(document), "--output-path", str(folder / "traitbench_client"))
    subprocess.run([*generate, *where], check=True, capture_output=True)
    files = len([*folder.rglob("*.py")])
    with capsys.disabled():
        print(f"\n{GENERATOR}: {files} files in {time.monotonic() - begun:.0f} s")  # noqa: T201
    described = json.loads(document.read_text("utf-8"))
    operations = sum(map(len, described["paths"].values()))
    assert files <= operations + len(described["components"]["schemas"]) + MOST_OTHERS
    samples = [(text, 1.0) for text in WARM] + [(text, 0.0) for text in COLD]
    given = {"url": service.base_url, "key": service.issue(namespaces=[namespace]), "handle": handle}
    printed = output_of(python, ROUND, json.dumps({**given, "samples": samples, "text": TEXT}), folder=folder)
    assert json.loads(printed) == {"scores": client.scores.score(handle, TEXT).scores, "code": "handle_taken"}


def test_the_lines_for_typescript_compile_and_score(service: Service, trained: Trained, tmp_path: Path) -> None:
    [program] = re.findall(r"```ts\n(.*?)```", (DOCS / "api.md").read_text("utf-8"), re.DOTALL)
    node, folder = node_with(tmp_path / "typescript", *TYPESCRIPT), tmp_path / "typescript"
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "main.ts").write_text(program.replace("demo.support-tone", trained.handle), "utf-8")
    commands = folder / "node_modules" / ".bin"
    document = str(_document(service, tmp_path, doors=False))
    strictly = ("--strict", "--target", "es2022", "--module", "nodenext", "--types", "node")
    for command in (
        [str(commands / "openapi-typescript"), document, "--default-non-nullable=false", "-o", "traitbench.d.ts"],
        [str(commands / "tsc"), *strictly, "main.ts"],
    ):
        done = subprocess.run([*node, *command], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    key = service.issue(namespaces=[trained.handle.partition(".")[0]])
    environment = {"TRAITBENCH_API_URL": service.base_url, "TRAITBENCH_API_KEY": key, "PATH": os.environ["PATH"]}
    ran = subprocess.run([*node, "main.js"], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    detail = trained.client.scores.score(trained.handle, "Thank you for waiting.").detail["warmth"]
    assert ran.stdout == f"warmth {detail.score} {detail.confidence}\n", ran.stderr


def test_linters_find_no_error(service: Service, tmp_path: Path) -> None:
    node = node_with(tmp_path / "linters", REDOCLY, SPECTRAL)
    (tmp_path / "spectral.yaml").write_text("extends: ['spectral:oas']\n", "utf-8")
    documents = [str(_document(service, tmp_path, doors=doors)) for doors in (False, True)]
    for program in ("redocly lint", "spectral lint --ruleset spectral.yaml"):
        name, *arguments = program.split()
        done = subprocess.run(
            [*node, str(tmp_path / "linters" / "node_modules" / ".bin" / name), *arguments, *documents],
            cwd=tmp_path,
            env={**os.environ, "REDOCLY_TELEMETRY": "off"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def _document(service: Service, folder: Path, *, doors: bool) -> Path:
    file = folder / ("with-doors.json" if doors else "openapi.json")
    file.write_bytes(httpx.get(f"{service.base_url}/v1/openapi.json", params={"doors": doors}).content)
    return file
