"""The list of versions: which one scores, and which one goes next; and what another model lacks."""

from tests.conftest import Service, Trained
from tests.pages.drive import Workbench, add_version, copied_link, html, links, words
from traitbench.client import Traitbench
from traitbench.contract.models import VersionRetentionPolicy


def test_the_list_is_newest_first_and_says_which_one_scores(workbench: Workbench, twice: Trained) -> None:
    table = workbench.open("versions", model=twice.handle).dataframe[0].value
    assert table["Version"].tolist() == ["v2", "v1"]
    assert table["Created by"].tolist() == ["Trained again", "First training"]
    assert table["Samples"].tolist() == [10, 20]
    active = twice.client.models.get(twice.handle).version_no
    assert table.set_index("Version")["State"].to_dict()[f"v{active}"] == "in use"


def test_the_list_begins_with_the_picture_of_versions_over_time(workbench: Workbench, twice: Trained) -> None:
    at = workbench.open("versions", model=twice.handle)
    assert "**v2 is in use.**" in words(at)
    assert "Right in 10: v1" in html(at)
    assert "Compare v1 with v2" in links(at)
    assert "AUROC" not in words(at)


def test_one_version_is_not_drawn_over_time(workbench: Workbench, ready: str) -> None:
    at = workbench.open("versions", model=ready)
    assert "**v1 is in use.**" in words(at)
    assert "Right in 10" not in html(at)
    assert len(at.dataframe[0].value) == 1


def test_the_list_says_what_goes_next(workbench: Workbench, service: Service, client: Traitbench, ready: str) -> None:
    for _ in range(2):
        add_version(service.context, ready, client)
    at = workbench.open("versions", model=ready)
    assert at.dataframe[0].value["After the next version"].tolist() == ["kept (among the newest 100)"] * 3
    assert "The next version removes" not in words(at)
    assert "What is kept" in links(at)
    client.models.update(ready, version_retention_policy=newest(2))
    client.versions.tag(ready, "good")
    assert client.versions.list(ready).items[0].tags == ["good"]
    client.models.update(ready, version_retention_policy=newest(1))
    at.run()
    assert at.dataframe[0].value["After the next version"].to_list() == ["kept (tagged)", "removed unless tagged"]
    assert "**The next version removes 1 version: v2.**" in words(at)


def newest(number: int) -> VersionRetentionPolicy:
    """Keep so many versions without a tag, and no first of a month."""
    return VersionRetentionPolicy(keep_unnamed=number, keep_first_of_month=False)


def test_a_version_another_model_lacks_is_not_kept(workbench: Workbench, twice: Trained, trained: Trained) -> None:
    at = workbench.open("versions", model=twice.handle, view="Details", version="v2")
    assert at.selectbox(key="version").value == "v2"
    at.selectbox(key="model").set_value(trained.handle).run()
    assert at.selectbox(key="version").value == "in use"
    assert copied_link(at)["version"] == "v1"
