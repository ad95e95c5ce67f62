"""The models of a forum, for programs that ask about its comments."""

from tests.conftest import COLD, WARM, Service, train
from traitbench.client import Traitbench
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput


def taught(service: Service, namespace: str) -> str:
    """Teach toxicity, insult and severe toxicity; return the secret of a scoring key of the namespace."""
    with Traitbench(service.base_url, service.issue(namespaces=(namespace,))) as client:
        teach(client, f"{namespace}.comments", "Toxicity", "Insult", "Severe Toxicity")
    return service.issue("scoring", (namespace,))


def teach(client: Traitbench, handle: str, *traits: str) -> None:
    """Train a model of these traits with the same samples."""
    client.models.create(handle, description="Comments of a forum.")
    client.traits.add(handle, [TraitInput(name=each, positive_label=each, negative_label="fine") for each in traits])
    poles = [(text, 1.0) for text in COLD] + [(text, 0.0) for text in WARM]
    samples = [SampleInput(trait=each, text=text, quality=q) for each in traits for text, q in poles]
    client.samples.add(handle, samples)
    train(client, handle)
