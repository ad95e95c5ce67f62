"""What the first start makes: here, because this folder starts a Traitbench with all of it."""

from tests.app.processes import Started, eventually
from traitbench.contract.models import Model

DEMO_MODELS = ["demo.headlines", "demo.product-reviews", "demo.support-tone"]


def test_the_first_start_makes_the_demo_models(workbench: Started) -> None:
    def demos() -> list[Model]:
        with workbench.client() as client:
            return list(client.models.list(namespace="demo"))

    assert eventually(lambda: [model.state for model in demos()] == ["ready"] * 3)
    assert [model.handle for model in demos()] == DEMO_MODELS
