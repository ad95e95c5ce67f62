"""A user's program: what a strict type checker knows of the client. `make check` checks it; nothing runs it.

Each `type: ignore` is needed, or the checker would say so: these calls are refused.
"""

from typing import assert_type

import traitbench
from traitbench.client import Traitbench
from traitbench.contract.bundles import Bundle
from traitbench.contract.models import VersionRetentionPolicy
from traitbench.contract.scores import Card
from traitbench.contract.traits import Trait, TraitInput

with Traitbench() as client:
    card = client.scores.score("a.b", "text", feedback={"warmth": "good", "clarity": 0.5})
    assert_type(card.scores, dict[str, int])
    assert_type(client.scores.compare("a.b", "one", "two").improvement, int)
    assert_type([model.handle for model in client.models.list()], list[str])
    assert_type(client.traits.add("a.b", [TraitInput(name="Warmth")]), list[Trait])
    assert_type(client.models.export("a.b"), Bundle)
    client.models.update("a.b", zero_data_retention=True, version_retention_policy=VersionRetentionPolicy())
    client.models.update("a.b", state="ready")  # type: ignore[call-arg]
    client.traits.discover("a.b", effort="heroic")  # type: ignore[arg-type]
    client.samples.synthesize("a.b", synth_type="enrich")  # type: ignore[arg-type]

assert_type(traitbench.Traitbench, type[Traitbench])
assert_type(traitbench.errors.ModelBusy("busy").code, str)
traitbench.Context  # type: ignore[attr-defined]  # noqa: B018


async def main() -> None:
    async with traitbench.AsyncClient() as client:
        assert_type(await client.scores.score("a.b", "text"), Card)
        assert_type([model.handle async for model in await client.models.list()], list[str])
        await client.traits.discover("a.b", effort="heroic")  # type: ignore[arg-type]
