import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import COLD, WARM, make_draft, train
from tests.contexts import home_in_environment
from traitbench.client import Traitbench
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput

TEXTS = [
    "Thanks, dear!",
    "No.",
    "  Send it.\n\nThen we will see.  ",
    "¿Qué tal, amigo mío? 😀",
    "x" * 2_000,
    "One sentence about a form. " * 60,
    "THANK YOU SO MUCH, DEAR ALL!",
    "\ufeffTha\xadnk you, de\u200bar\u200f, for the cafe\u0301.\u200b Kind regards",
    *WARM[:3],
    *COLD[:3],
]


@dataclass(frozen=True)
class Exported:
    """A model of two traits in a file, and the service's answers to `TEXTS` by mode."""

    path: Path
    answers: Mapping[str, Sequence[Mapping[str, Any]]]


@pytest.fixture(scope="package", autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Engines' processes inherit it."""
    with home_in_environment(tmp_path_factory.mktemp("engines") / "home"):
        yield


@pytest.fixture(scope="package")
def exported(service: Any, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    """Trained and scored by a real service, over HTTP."""
    path, handle = tmp_path_factory.mktemp("exported") / "tone.tb", "engines.tone"
    with Traitbench(service.base_url, service.issue(namespaces=("engines",))) as client:
        make_draft(client, handle)
        client.traits.add(handle, [TraitInput(name="Length", positive_label="long", negative_label="short")])
        lengths = [SampleInput(trait="length", text=t, quality=min(1.0, len(t) / 100)) for t in (*WARM, *COLD)]
        client.samples.add(handle, lengths)
        train(client, handle, encoder="multilingual")
        path.write_text(client.models.export(handle).model_dump_json())
        answers = {
            mode: [line.model_dump() for line in client.scores.batch(handle, TEXTS, mode=mode)]
            for mode in ("full", "layer6", "static")
        }
    return Exported(path, answers)


def figures(row: Mapping[str, Any]) -> bytes:
    """The figures of a row of a UDF's answer as JSON, in the order of a card of the service."""
    traits = {
        key: {name: row[f"{key}_{name}"] for name in ("score", "tier", "confidence", "reason")}
        for key in ("warmth", "length")
    }
    return json.dumps([traits, row["composite"]]).encode()


def of_the_service(card: Mapping[str, Any]) -> bytes:
    """The same figures of a card."""
    traits = {
        key: {
            "score": trait["score"],
            "tier": trait["label"],
            "confidence": trait["confidence"],
            "reason": trait["confidence_reason"],
        }
        for key, trait in card["detail"].items()
    }
    return json.dumps([traits, card["composite"]]).encode()
