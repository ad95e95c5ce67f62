"""The list of versions: which one scores, and which one goes next; with none, and with the service away."""

import pytest

from tests.conftest import Service, Trained, free_port, make_draft
from tests.pages.drive import Workbench, copied_link, links, words
from tests.pages.versions.reading import ready
from traitbench.client import Traitbench
from traitbench.contract.models import VersionRetentionPolicy
from traitbench.contract.rounding import in_decimals


def test_before_the_first_training_there_is_none(workbench: Workbench, client: Traitbench, namespace: str) -> None:
    client.models.create(f"{namespace}.new")
    at = workbench.open("versions", model=f"{namespace}.new")
    assert "No versions yet" in words(at)
    assert "Add traits" in links(at)


def test_the_list_is_newest_first_and_says_which_one_scores(workbench: Workbench, twice: Trained) -> None:
    table = workbench.open("versions", model=twice.handle).dataframe[0].value
    assert table["Version"].tolist() == ["v2", "v1"]
    assert table["Created by"].tolist() == ["Refit", "First training"]
    assert table["Samples"].tolist() == [10, 20]
    active = twice.client.models.get(twice.handle).version_no
    assert table.set_index("Version")["Status"].to_dict()[f"v{active}"] == "active"


def test_the_list_has_the_figure_of_each_trait_with_its_interval(workbench: Workbench, twice: Trained) -> None:
    table = workbench.open("versions", model=twice.handle, figures="true").dataframe[1].value.set_index("Version")
    figures = twice.client.versions.get(twice.handle, "v1").metrics.traits["warmth"].model_dump()
    low, high = figures["auroc_interval"]
    assert table.loc["v1", "AUROC Warmth"] == (
        f"{in_decimals(figures['auroc'])} ({in_decimals(low)} to {in_decimals(high)})"
    )


def test_the_list_says_which_ones_the_next_version_pushes_out_and_that_a_tag_keeps_them(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    handle = ready(client, f"{namespace}.tone")
    for _ in range(2):
        client.models.train(handle, reoptimize_params=True)
        client.models.wait(handle)
    at = workbench.open("versions", model=handle)
    assert at.dataframe[0].value["After the next version"].tolist() == ["kept (among the newest 100)"] * 3
    assert "The next version removes none of these" in words(at)
    assert "View or change this rule" in links(at)
    client.models.update(
        handle, version_retention_policy=VersionRetentionPolicy(keep_unnamed=2, keep_first_of_month=False)
    )
    client.versions.tag(handle, "good")
    assert client.versions.list(handle).items[0].tags == ["good"]
    client.models.update(
        handle, version_retention_policy=VersionRetentionPolicy(keep_unnamed=1, keep_first_of_month=False)
    )
    at.run()
    assert at.dataframe[0].value["After the next version"].to_list() == ["kept (tagged)", "removed unless tagged"]
    assert "**The next version removes 1 version: v2.**" in words(at)


def test_without_a_service_it_says_so(monkeypatch: pytest.MonkeyPatch, service: Service) -> None:
    away = Workbench(monkeypatch, service, "no key", base_url=f"http://127.0.0.1:{free_port()}")
    at = away.open("versions", model="local.tone")
    assert not at.exception
    assert "The service does not answer" in words(at)


def test_a_version_that_the_next_model_lacks_gives_way_to_the_active_one(
    workbench: Workbench, twice: Trained, trained: Trained
) -> None:
    at = workbench.open("versions", model=twice.handle, view="Details", version="v2")
    assert at.selectbox(key="version").value == "v2"
    at.sidebar.selectbox(key="model").set_value(trained.handle).run()
    assert not at.exception
    assert at.selectbox(key="version").value == "active"
    assert copied_link(at)["version"] == "v1"


def test_an_archived_model_is_not_said_to_score(workbench: Workbench, client: Traitbench, namespace: str) -> None:
    make_draft(client, f"{namespace}.old")
    client.models.train(f"{namespace}.old", effort="low")
    client.models.wait(f"{namespace}.old")
    client.models.delete(f"{namespace}.old")
    at = workbench.open("versions", model=f"{namespace}.old")
    assert "scores now" not in words(at)
    assert "was active when the model was archived" in words(at)
    assert "Score a text" not in links(at)
