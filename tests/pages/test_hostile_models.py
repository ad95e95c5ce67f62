"""A model whose every word is an attack, and rows that cannot be read: pages show both as they are, and go on."""

import copy
import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from google.protobuf.message import Message
from sqlalchemy import update
from streamlit.testing.v1 import AppTest

from tests.bundles import material
from tests.conftest import Service, Trained, not_none
from tests.pages.drive import Workbench, plain, words
from tests.patience import PATIENCE_S
from traitbench.client import Traitbench
from traitbench.contract.bundles import Bundle
from traitbench.store import tables
from traitbench.store.database import sqlite_file, writing

ATTACK = ":material/skull: :red[pwned] :skull: [pwned](javascript:pwned) $\\frac{1}{2}$ **pwned** <b>pwned</b> \u202e"
README = f"# {ATTACK}\n\n{ATTACK}".replace("*", "")
OBEYED = re.compile(r":material/skull:|(?<!\\):red\[|:skull:|\]\(javascript|(?<!\\)\$\\frac|\*\*pwned\*\*")
"""What of it markdown would obey."""

VIEWS = (
    *("catalog", "model", "traits", "samples", "samples?task=check", "batch", "score?text=Thank+you+so+much+for+this."),
    *("train?figures=true&search=true&change=true&refit=true", "train?show=Mistakes"),
    "versions?record=true",
    "versions?view=Details&tags=true&figures=true&modes=true&search=true&parameters=true",
    *("versions?view=Compare&table=true", "versions?view=Encoders"),
)
MARKDOWN = {"body", "label", "help", "options", "content", "content_help", "captions", "placeholder", "text"}
"""Fields of Streamlit's messages that may be drawn as markdown."""

PLAIN = {"selectbox", "multiselect", "text_input", "text_area", "file_uploader", "json", "code", "text", "html"}
"""Elements of which only the label and the hint are markdown."""


@pytest.fixture(scope="module")
def hostile(service: Service, trained: Trained) -> Iterator[str]:
    """The handle of the model; the words come through the service's own import."""
    document = material.rich(json.loads(trained.client.models.export(trained.handle).model_dump_json()))
    document["model"] |= {"description": ATTACK, "additional_terms": ATTACK, "readme_markdown": README}
    document["model"]["upstream_sources"] = [
        {"name": ATTACK, "url": "javascript:pwned", ATTACK: ATTACK, "deep": [[{}]]}
    ]
    document["model"]["version_retention_policy"] = {"keep_unnamed": 999_999_999, "keep_first_of_month": False}
    for place, trait in enumerate(document["traits"]):
        trait |= {"name": f"{ATTACK}{place}", "description": ATTACK, "positive_label": f"+{ATTACK}"}
        trait["negative_label"] = f"-{ATTACK}"
    for sample in document["samples"]:
        sample["source_url"] = "javascript:pwned"
    document["samples"][-1] |= {"text": f"{ATTACK} again", "content_sha256": None}
    for version in document["versions"]:
        _hostile_metrics(version["metrics"])
        for place, trait in enumerate(version["snapshot"]["traits"]):
            trait |= {"name": f"{ATTACK}{place}", "positive_label": f"+{ATTACK}", "negative_label": f"-{ATTACK}"}
    with Traitbench(service.base_url, service.issue(namespaces=("hostile",))) as client:
        bundle = Bundle.model_validate_json(material.raw(material.signed(document)))
        handle = client.models.import_(bundle, handle="hostile.words").handle
        _misshape(service, client, handle)
        yield handle


def _misshape(service: Service, client: Traitbench, handle: str) -> None:
    """Give the stored metrics shapes that an import refuses: an older release may have let them in."""
    columns = tables.versions.c
    with writing(service.context.engine) as connection:
        for version in client.versions.list(handle):
            metrics = version.metrics.model_dump()
            _odd_shapes(metrics)
            this = columns.id == version.version_id
            connection.execute(update(tables.versions).where(this).values(metrics=metrics))


def _hostile_metrics(metrics: dict[str, Any]) -> None:
    """Words in every place for words, and unknown content of every shape."""
    metrics |= {"effort": ATTACK, "search": ATTACK, "elapsed_s": 1e15, "x": [{}, 1]}
    metrics["encoder"] = {"id": ATTACK}
    for trait in metrics["traits"].values():
        trait |= {"measured_on": ATTACK, "feed": {"pole": "positive", "why": ATTACK}, "counts": {ATTACK: 2**31 - 1}}
        trait["search"] = {"says": ATTACK, "tried": 1e15, "chosen": {ATTACK: 1.0}, "gained": -1e15}
        trait["search"]["levels"] = [{"level": ATTACK, "cross_entropy": 1e15, "chosen": True}]
        trait["labels"] = {"used": False, "why": ATTACK, "gain": 1e15}
        trait["parameters"] = {ATTACK: -1e15, "weight": 0.5}
        trait.setdefault("modes", {})[ATTACK] = {"auroc": None, "measured_on": f"not measured: {ATTACK}"}


def _odd_shapes(metrics: dict[str, Any]) -> None:
    """Known keys with values of other types."""
    metrics["scoring_method"] = [ATTACK]
    for trait in metrics["traits"].values():
        trait["search"]["chosen"][ATTACK] = ATTACK
        trait["search"]["levels"] += [7, None]
    odd = copy.deepcopy(next(iter(metrics["traits"].values())))
    odd |= {"auroc": None, "confusion": [1], "curve": [{"samples": -1e15, "auroc": 1e15}, None], "forecast": "soon"}
    metrics["traits"] |= {ATTACK: odd, "empty": {}}


@pytest.fixture
def window(monkeypatch: pytest.MonkeyPatch, service: Service, hostile: str) -> Workbench:
    return Workbench(monkeypatch, service, service.issue(namespaces=("hostile",)))


@pytest.mark.parametrize("link", VIEWS)
def test_no_word_of_a_model_is_obeyed(window: Workbench, hostile: str, link: str) -> None:
    at = window.follow(link, **({} if link == "catalog" else {"model": hostile}))
    assert not [error.value for error in at.error if "fault" in error.value or "mistake" in error.value]
    assert link not in ("catalog", "model", "traits") or any("pwned" in text for text in _drawn(at))
    assert [text for text in _drawn(at) if OBEYED.search(text)] == []


def _drawn(at: AppTest) -> Iterator[str]:
    """Every text of the page that Streamlit draws as markdown."""
    for block in (at.main, at.sidebar):
        for element in _elements(block):
            proto = getattr(element, "proto", None)
            if isinstance(proto, Message):
                yield from _markdown_in(proto, {"label", "help"} if element.type in PLAIN else MARKDOWN)


def _elements(block: Any) -> Iterator[Any]:
    for child in block.children.values():
        yield child
        if hasattr(child, "children"):
            yield from _elements(child)


def _markdown_in(proto: Message, names: set[str]) -> Iterator[str]:
    for field, value in proto.ListFields():
        for each in value if field.is_repeated else (value,):
            if isinstance(each, Message):
                yield from _markdown_in(each, names)
            elif field.name in names and isinstance(each, str):
                yield each


# ---- rows that cannot be read ----------------------------------------------------------------------------------------


def _in_file(service: Service, statement: str, *values: Any) -> None:
    file = not_none(sqlite_file(service.settings.database_url))
    with closing(sqlite3.connect(file, timeout=PATIENCE_S)) as connection, connection:
        connection.execute(statement, values)


@pytest.fixture
def damaged(service: Service, hostile: str) -> Iterator[tuple[str, str]]:
    """Two copies whose rows were spoiled: one's own row, and rows of the versions, samples and traits of the other."""
    with Traitbench(service.base_url, service.issue(namespaces=("hostile",))) as client:
        document = json.loads(client.models.export(hostile).model_dump_json())
        for version in document["versions"]:
            version["metrics"] = {}
        bundle = Bundle.model_validate_json(material.raw(material.signed(document)))
        lost, aged = (client.models.import_(bundle, handle=f"hostile.{name}").handle for name in ("lost", "aged"))
        mine = "model_id IN (SELECT id FROM tb_models WHERE handle = ?)"
        late = "created_at = 999999999999999999"
        _in_file(service, "UPDATE tb_models SET upstream_sources = '{' WHERE handle = ?", lost)
        _in_file(service, f"UPDATE tb_versions SET {late} WHERE version_no = 3 AND {mine}", aged)
        _in_file(service, f"UPDATE tb_samples SET quality = 'x' WHERE seed_sample_id > 0 AND {mine}", aged)
        _in_file(service, f"UPDATE tb_traits SET kind = 'x' WHERE key = 'found' AND {mine}", aged)
        assert [row.item for row in client.models.list(namespace="hostile").unreadable] == [lost]
        yield lost, aged
        for handle in (lost, aged):
            client.models.delete(handle)


def test_a_row_that_cannot_be_read_hides_no_other(window: Workbench, damaged: tuple[str, str]) -> None:
    lost, aged = damaged
    catalog = window.open("catalog")
    assert f"{lost}** cannot be read: its JSON is damaged" in plain(catalog)
    assert "The version in use cannot be read" in plain(catalog)
    assert "pwned" in words(catalog)
    for page, says in (
        ("versions", "v3** cannot be read: a time is not between 1970 and 9998"),
        ("samples", "cannot be read: quality"),
        ("traits", "found** cannot be read: kind"),
        ("train", ""),
        ("model", ""),
        ("score", ""),
    ):
        at = window.open(page, model=aged, **({"text": "thank you"} if page == "score" else {}))
        assert says in plain(at), page
