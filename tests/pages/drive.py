"""Driving the real workbench without a browser, and bringing models into states that a test needs to see at leisure."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pandas as pd
import pytest
from sqlalchemy import Connection, select, update
from streamlit.testing.v1 import AppTest
from ulid import ULID

from tests.conftest import Service, free_port, not_none
from tests.patience import PATIENCE_S
from traitbench.client import Traitbench
from traitbench.contract.models import OperationKind, Progress
from traitbench.local import preview
from traitbench.operations import keys, model_runs, rules
from traitbench.operations.context import Context
from traitbench.runs import queue
from traitbench.scoring.snapshot import param_hash
from traitbench.store import models, runs, tables, versions
from traitbench.store.database import writing
from traitbench.store.models import ModelRow
from traitbench_app import process
from traitbench_app.shell.session import FOLLOWED

_MAIN = Path(str(process.__file__)).with_name("entry.py")
_PAGES = Path(__file__).parents[2] / "pages"
_FIRST = "catalog"
_OWNER = "a test"
_UNSERVED = "a queue of tests"

KIND = "Thank you so much, it was lovely to hear from you."
UNKIND = "Your request is denied. Do not write again."


class Workbench:
    """A session of the workbench with a key of its own."""

    def __init__(self, environment: pytest.MonkeyPatch, service: Service, key: str, *, base_url: str = "") -> None:
        service.surround(environment)
        environment.setenv("TRAITBENCH_API_URL", base_url or service.base_url)
        environment.setenv("TRAITBENCH_API_KEY", key)

    def open(self, page: str, /, **query: str) -> AppTest:
        """A page of a fresh session, reached by its link."""
        at = AppTest.from_file(str(_MAIN), default_timeout=PATIENCE_S)
        for name, value in query.items():
            at.query_params[name] = value
        return (at if page == _FIRST else at.switch_page(str(_PAGES / f"{page}.py"))).run()

    def follow(self, link: str, **query: str) -> AppTest:
        """A page of a fresh session, reached by a link such as `samples?task=Check`."""
        page, _, given = link.partition("?")
        return self.open(page, **query, **dict(parse_qsl(given)))


def local_workbench(environment: pytest.MonkeyPatch, service: Service) -> Workbench:
    """The workbench on the service's own machine, which uses the machine's own key."""
    keys.first_key(service.context)
    here = Workbench(environment, service, "")
    environment.delenv("TRAITBENCH_API_URL")
    environment.delenv("TRAITBENCH_API_KEY")
    return here


def away(environment: pytest.MonkeyPatch, service: Service, key: str = "no key") -> Workbench:
    """The workbench while nothing answers at the address of its service."""
    return Workbench(environment, service, key, base_url=f"http://127.0.0.1:{free_port()}")


def visit(at: AppTest, page: str) -> AppTest:
    """Another page in the same session."""
    return at.switch_page(str(_PAGES / f"{page}.py")).run()


def press(at: AppTest, key: str) -> AppTest:
    """Click the first button whose key begins so."""
    next(button for button in at.button if str(button.key).startswith(key)).click().run()
    return at


def buttons(at: AppTest, start: str = "") -> list[str]:
    """The keys of the page's buttons that begin so."""
    return [str(button.key) for button in at.button if str(button.key).startswith(start)]


def upload(at: AppTest, name: str, content: str | bytes) -> AppTest:
    """Give the page's first field for files this one."""
    at.file_uploader[0].upload(name, content if isinstance(content, bytes) else content.encode())
    return at.run()


def typed(at: AppTest, text: str) -> AppTest:
    """Type this text on the Score page."""
    return at.text_area(key="score.text").set_value(text).run()


def frame(at: AppTest, column: str) -> pd.DataFrame:
    """The table that has this column."""
    result: pd.DataFrame = next(each.value for each in at.dataframe if column in each.value)
    return result


def html(at: AppTest) -> str:
    """What the page draws as HTML, with or without buttons in it."""
    cells = [each["html"] for each in components(at, "cells")]
    return "\n".join([*(str(each.proto.body) for each in at.get("html")), *cells])


def ending(elements: Iterable[Any], name: str) -> Any:
    """The widget whose key ends so; forms count their rounds in it."""
    return next(each for each in elements if str(each.key).endswith(f".{name}"))


def labelled(elements: Iterable[Any], label: str) -> Any:
    """The widget with this label."""
    return next(each for each in elements if each.label.replace("\\", "") == label)


def words(at: AppTest) -> str:
    """All that is written on the page as markdown, widgets aside."""
    kinds = ("title", "header", "subheader", "markdown", "caption", "error", "info", "warning", "success", "badge")
    results = [element for kind in kinds for element in at.get(kind)]
    return "\n".join(str(getattr(element, "value", "")) for element in results)


def plain(at: AppTest) -> str:
    """The same without the backslashes that keep markdown from reading signs."""
    return words(at).replace("\\", "")


def charts(at: AppTest) -> list[str]:
    """The charts of the page, as plotly's JSON."""
    return [chart.proto.spec for chart in at.get("plotly_chart")]


def bars(at: AppTest) -> list[list[dict[str, Any]]]:
    """The bars of the page's score cards, as rows."""
    return [each["rows"] for each in components(at, "bars")]


def components(at: AppTest, name: str) -> list[dict[str, Any]]:
    """What the page's components of our own with this name are given."""
    parts = [each.proto for each in at.get("bidi_component")]
    return [json.loads(each.json) for each in parts if each.component_name == f"traitbench_{name}"]


def labeller(at: AppTest) -> dict[str, Any]:
    """What the labeller is given; empty if it is not on the page."""
    return next(iter(components(at, "labeller")), {})


def links(at: AppTest) -> list[str]:
    """Where the page's links lead."""
    return [link.proto.label for link in at.get("page_link")]


def link_query(at: AppTest, label: str) -> dict[str, str]:
    """The query of the page's link with this label, besides the model."""
    query = next(link.proto.query_string for link in at.get("page_link") if link.proto.label == label)
    return {name: value for name, value in parse_qsl(query) if name != FOLLOWED}


def next_step(at: AppTest) -> str:
    """The button for the next step in the page's header; empty if there is none."""
    return next((button.label for button in at.button if button.key == "head.step"), "")


def copied_link(at: AppTest) -> dict[str, str]:
    """The query of the link that the page's button would copy."""
    return dict(parse_qsl(urlsplit(components(at, "copy")[0]["text"]).query))


# ---- states that pass too quickly to look at -------------------------------------------------------------------------


def hold_busy(context: Context, handle: str, progress: Progress | None = None, *, kind: OperationKind = "train") -> str:
    """Put a model into a run that does not end; answers with the run's id. It waits in a queue that no worker serves:
    a run that the engine did not know would be settled by the service."""
    run_id = f"run_{ULID()}"
    with pytest.MonkeyPatch.context() as patch, writing(context.engine) as connection:
        patch.setattr(queue, "QUEUE", _UNSERVED)
        model = _held(connection, handle)
        models.move(connection, model, "busy", now=rules.now(), run_id=run_id)
        runs.add(connection, run_id, model_id=model.id, kind=kind, effort="high", now=rules.now())
        context.runs.enqueue(connection, run_id, kind, model.id)
        if progress is not None:
            runs.claim(connection, run_id, _OWNER)
            runs.progress(connection, run_id, _OWNER, progress.model_dump())
    return run_id


def end_badly(context: Context, run_id: str, message: str) -> None:
    """Let that run fail."""
    with writing(context.engine) as connection:
        run = not_none(runs.read(connection, run_id))
        assert model_runs.fail(connection, run, code="internal_error", message=message)


def add_version(context: Context, handle: str, client: Traitbench) -> int:
    """Give a trained model another version, learnt from every other sample, as a new search or a retraining will."""
    model, samples = client.models.get(handle), list(client.samples.list(handle))[::2]
    trained = preview.rehearse(model, client.traits.list(handle), samples)
    with writing(context.engine) as connection:
        held = _held(connection, handle)
        number = models.next_version_no(connection, held.id)
        version_id = versions.add(
            connection,
            snapshot=trained.snapshot.to_json(),
            model_id=held.id,
            version_no=number,
            triggered_by="retune",
            param_hash=param_hash(trained.snapshot),
            sample_count=len(samples),
            run_id=None,
            metrics=trained.metrics | {"elapsed_s": 0.1},
            created_at=rules.now(),
        )
        models.change(connection, held.id, now=rules.now(), active_version_id=version_id)
    return number


def make_outdated(context: Context, handle: str) -> None:
    """Take from the versions of a model what 0.2.0 was the first release to measure."""
    with writing(context.engine) as connection:
        mine = select(tables.versions.c.id).where(tables.versions.c.model_id == _held(connection, handle).id)
        for version_id in connection.execute(mine).scalars().all():
            snapshot = versions.snapshot(connection, version_id)
            for trait in snapshot["traits"]:
                del trait["certainty"]
            versions.rewrite(connection, version_id, snapshot, param_hash="sha256:old")
    context.snapshots.clear()


def leave_few_figures(context: Context, handle: str) -> None:
    """Leave of the figures of a model's versions what an imported bundle may have."""
    known = {"auroc", "auroc_interval", "brier", "calibration_error", "cross_entropy", "measured_on", "folds", "counts"}
    with writing(context.engine) as connection:
        mine = tables.versions.c.model_id == _held(connection, handle).id
        for row in connection.execute(select(tables.versions).where(mine)).all():
            traits = {
                key: {name: each for name, each in result.items() if name in known}
                for key, result in row.metrics["traits"].items()
            }
            old = {"auroc": row.metrics["auroc"], "effort": "high", "search": "nine directions", "traits": traits}
            this = tables.versions.c.id == row.id
            connection.execute(update(tables.versions).where(this).values(metrics=old))


def _held(connection: Connection, handle: str) -> ModelRow:
    model = not_none(models.hold(connection, handle))
    return model


def texts(client: Traitbench, handle: str) -> list[tuple[str, float]]:
    return [(sample.text, sample.quality) for sample in client.samples.list(handle)]


def listed(at: AppTest) -> list[str]:
    """The texts of the list of samples, in its order."""
    lists = components(at, "samples")
    return [row["text"] for row in lists[0]["rows"]] if lists else []


def pick(at: AppTest, client: Traitbench, handle: str, text: str) -> AppTest:
    """Pick the sample with this text in the list, as a click does."""
    sample = next(each for each in client.samples.list(handle, limit=500) if each.text == text)
    at.session_state["samples.picked"] = sample.id
    return at.run()


def panel_text(at: AppTest) -> Any:
    """The field with the text of the picked sample."""
    return next(each for each in at.text_area if str(each.key).startswith("samples.text:"))


def retype(at: AppTest, text: str) -> AppTest:
    """Change the text of the picked sample and leave its field."""
    panel_text(at).set_value(text).run()
    return at
