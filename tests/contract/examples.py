"""The examples of the OpenAPI document, made by asking a real service: `python -m tests.contract.examples`.

`story` calls every operation, in an order in which each can succeed, and writes down what was sent and answered. The
test of the examples sends what the document shows, and compares the answers.
"""

import json
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tests.conftest import COLD, WARM
from tests.contract.world import World, served
from tests.extract.loopback import ANY_PORT, page, serve, this_machine
from tests.patience import PATIENCE_S
from traitbench.extract import ReadableText, extract
from traitbench.operations import WORKER
from traitbench.operations.context import Context, open_context
from traitbench.service import openapi
from traitbench.service.app import create_app
from traitbench.settings import Settings

Step = dict[str, Any]
Sent = Callable[[Step], Any]

HANDLE, COPY, NEXT = "local.replies", "local.replies-copy", "local.replies-next"
SITE = "https://example.org"
JSON, TEXT, MARKDOWN = "application/json", "text/plain", "text/markdown"
TONE = {"trait": "warmth"}
BATCH = [
    *({**TONE, "text": text, "quality": 1.0} for text in WARM[:2]),
    *({**TONE, "text": text, "quality": 0.0} for text in COLD[:2]),
]
REST = [
    *({**TONE, "text": text, "quality": 1.0} for text in WARM[2:]),
    *({**TONE, "text": text, "quality": 0.0} for text in COLD[2:]),
]
ARTICLE = page(f"<title>Opening hours</title><article><h1>Opening hours</h1><p>{' '.join(WARM[:3])}</p></article>")
_CHANGING = re.compile(
    r"\b(?:req|run|key)_[0-9A-Z]{26}|\b20\d\d-\d\d-\d\d(?:T[0-9:.]+Z)?"
    r'|"(?:elapsed_s|free_disk_bytes|worker_heartbeat_age_s)": [0-9.]+'
)
# What answers these is long; the document shows its beginning.
CUT = {"service.openapi": 0, "service.docs": 200, "metrics": 400}


def story(send: Sent, world: World, end: Callable[[str], None]) -> None:
    """Call every operation; `send` gets a step and returns the body of the answer, `end` has a model's run executed."""
    on, copy = {"handle": HANDLE}, {"handle": COPY}
    greeting = "Thank you for your patience, we are glad to help."
    both = {"a": "Send the form.", "b": "Could you send us the form? Thank you!"}

    def ask(operation: str, parameters: Mapping[str, Any] | None = None, **more: Any) -> Any:
        return send({"operation": operation, "parameters": dict(parameters or {}), **more})

    ask("models.create", body={"handle": HANDLE, "description": "How warm a reply to a customer is."})
    traits = [
        {"name": "Warmth", "positive_label": "warm", "negative_label": "cold"},
        {"name": "C# questions", "key": "c_sharp", "description": "Replies about C#."},
    ]
    ask("traits.add", on, body={"traits": traits})
    ask("traits.list", on)
    ask("traits.get", {**on, "key": "warmth"})
    ask("traits.update", {**on, "key": "warmth"}, body={"description": "Warm replies thank, invite or comfort."})
    ask("traits.delete", {**on, "key": "c_sharp"})
    added = ask("samples.add", on, body={"samples": BATCH})
    listed = ask("samples.list", {**on, "trait": "warmth", "limit": 2})
    bundle = ask("models.export", on)
    ask("models.import", {"handle": COPY}, body=bundle)
    ask("samples.update", on, body={"ids": [listed["items"][1]["id"]], "held_out": True, "must_pass": True})
    ask("samples.list", {**on, "held_out": True, "limit": 2})
    second = listed["items"][1]
    ask("samples.change", {**on, "sample_id": second["id"]}, body={"group": "conversation 7", "revision": 2})
    applied = ask(
        "samples.apply",
        on,
        body={
            "adds": [{**TONE, "text": "Good morning, how are you?", "quality": 1.0}],
            "updates": [{"id": second["id"], "quality": 0.75, "revision": 3}],
            "deletes": [{"id": listed["items"][0]["id"]}],
            "note": "Read again with the support team.",
        },
    )
    ask("samples.undo", {**on, "change_id": applied["id"]})
    ask("samples.changes", {**on, "sample_id": second["id"], "limit": 2})
    ask("samples.delete", {**on, "sample_id": listed["items"][0]["id"]})
    ask("samples.delete_many", on, body={"ids": added["ids"][-1:]})
    for handle in (HANDLE, COPY):
        answer = world.call("POST", f"/v1/models/{handle}/samples", json={"samples": REST})
        assert answer.status == 200, answer.text
    ask("traits.discover", copy, body={"effort": "low"})
    end(COPY)
    ask("samples.plan", {**copy, "synth_type": "diversify", "effort": "low"})
    ask("samples.synthesize", copy, body={"synth_type": "diversify", "effort": "low"})
    end(COPY)
    ask("samples.rejected", copy)
    ask("models.train", on, body={"effort": "low"})
    end(HANDLE)
    ask("models.train", on, body={"effort": "low"})
    shown = {"main_trait": "Warmth", "demo_texts": [greeting]}
    ask("models.update", on, body={"version_retention_policy": {"keep_unnamed": 20}, **shown})
    ask("models.list", {"namespace": "local", "state": "ready", "limit": 10})
    ask("models.get", on)
    ask("models.get", on, accept=MARKDOWN)
    ask("versions.list", {**on, "limit": 10})
    ask("versions.tag", {**on, "name": "stable"}, body={"version": "v1", "note": "Checked by the support team."})
    ask("versions.get", {**on, "name": "stable"}, key="scoring")
    attribute = {"namespace": "local", "name": "WARMTH"}
    ask("attributes.put", attribute, body={"handle": f"{HANDLE}@stable", "trait": "warmth"})
    ask("attributes.list", {"namespace": "local"})
    ask("attributes.get", attribute)
    ask("attributes.delete", attribute)
    ask("texts.add", on, body={"texts": [{"text": "See you on Monday."}], "source": "letters.csv"})
    [text] = ask("texts.list", {**on, "limit": 10})["items"]
    decision = {**on, "text_id": text["id"], "key": "warmth"}
    ask("texts.decide", decision, body={"quality": 1.0, "note": "A friendly closing."})
    ask("texts.decisions", {**on, "everyone": True})
    ask("texts.take_back", decision)
    ask("texts.delete", {**on, "ids": str(text["id"])})
    ask("proposed.list", {**on, "limit": 10})
    ask("proposed.delete", {**on, "ids": "1,2"})
    ask("versions.samples", {**on, "name": "stable", "limit": 2})
    ask("versions.activate", on, body={"tag": "stable"})
    ask("versions.compare", body={"a": f"{HANDLE}@stable", "b": HANDLE, "texts": [greeting]})
    ask("versions.untag", {**on, "name": "stable"})
    ask("models.fork", on, body={"handle": NEXT})
    answer = world.call("POST", f"/v1/models/{NEXT}/train", json={"effort": "low"})
    assert answer.status == 202, answer.text
    end(NEXT)
    ask("models.promote", on, body={"from": NEXT})
    ask("scores.score", on, body={"content": greeting, "traits": ["warmth"], "explain": True})
    ask("scores.score", on, body=greeting, accept=TEXT)
    for text, quality in (("Please find the form attached.", 0.0), (greeting, 1.0)):
        feedback = {"content": text, "feedback": {"warmth": quality}}
        assert world.call("POST", f"/v1/models/{HANDLE}/score", json=feedback).status == 200
    ask("models.retrain", on)
    end(HANDLE)
    ask("models.retrain", on)
    ask("versions.activations", {**on, "limit": 10})
    ask("scores.compare", on, body=both)
    ask("scores.compare", on, body=both, accept=TEXT)
    ask("scores.batch", on, body={"contents": [greeting, " "], "mode": "static"}, accept="application/x-ndjson")
    questions = {
        "kind": {"type": "noul", "instructions": "Is the reply warm?"},
        "tone": {"type": "choice", "instructions": "How does it sound?", "criteria": {"cold": None, "warm": None}},
        "scale": {"type": "score", "instructions": "How warm is it?", "criteria": ["cold", "in between", "warm"]},
    }
    guarded = {"model": f"{HANDLE}@v1", "trait": "warmth", "block": "cold", "from": 60}
    sent = {"input_type": "request", "texts": [greeting, "No. Read the rules."]}
    ask("guards.litellm", body={**sent, "additional_provider_specific_params": guarded})
    ask("guards.webhook", {**on, "trait": "warmth", "side": "warm", "from": 60}, body={"output": greeting})
    ask("decisions.answer", body={"model": f"{HANDLE}@v1", "state": {"output": greeting}, "questions": questions})
    ask("extract", body={"url": f"{SITE}/hours"})
    ask("models.delete", copy)
    ask("models.restore", copy)
    ask("service.health", key=None)
    ask("service.me")
    ask("service.openapi", key=None)
    ask("service.docs", key=None, accept="text/html")
    ask("metrics", accept=TEXT)


def record(steps: list[Step], world: World) -> Sent:
    """How a step is sent, and written down with its answer."""

    def send(step: Step) -> Any:
        answer = call(world, step)
        key = answer.headers["content-type"].partition(";")[0]
        body = answer.text if answer.body is None else answer.body
        steps.append({**step, "status": answer.status, "media_type": key, "answer": _cut(step["operation"], body)})
        for name in ("accept", "key"):
            steps[-1].pop(name, None)
        return body

    return send


def call(world: World, step: Step) -> Any:
    """Send a step; it succeeds."""
    method, path = place(world, step["operation"])
    parameters = dict(step["parameters"])
    for name in [name for name in parameters if f"{{{name}}}" in path]:
        path = path.replace(f"{{{name}}}", str(parameters.pop(name)))
    request: dict[str, Any] = {"params": parameters, "headers": {"Accept": step.get("accept", JSON)}}
    if isinstance(step.get("body"), str):
        request |= {"content": step["body"].encode(), "headers": {**request["headers"], "Content-Type": TEXT}}
    elif "body" in step:
        request["json"] = step["body"]
    answer = world.call(method, path, key=step.get("key", "authoring"), **request)
    assert answer.status < 300, (step, answer.text)
    return answer


def place(world: World, operation: str) -> tuple[str, str]:
    """The method and path of an operation."""
    for path, methods in world.described["paths"].items():
        for method, described in methods.items():
            if described["summary"] == operation:
                return method.upper(), path
    raise KeyError(operation)


def wait(world: World, handle: str) -> None:
    """Until the model is busy no more."""
    deadline = time.monotonic() + PATIENCE_S
    while (model := world.call("GET", f"/v1/models/{handle}").body)["state"] == "busy":
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert model["last_operation"]["status"] == "succeeded", model


@contextmanager
def example_world(context: Context) -> Iterator[World]:
    """The service over an open context. What it fetches from the site of the examples comes from this machine."""
    with serve(ARTICLE) as site:
        local = replace(context, extract=lambda url: _fetched(url, site.url))
        with served(create_app(local)) as base_url:
            world = World(base_url, local)
            world.secrets |= {name: world.issue("authoring", "local") for name in ("authoring", "maker")}
            world.secrets["scoring"] = world.issue("scoring", "local")
            yield world
            world.http.close()


def _fetched(url: str, site: str) -> ReadableText:
    return replace(extract(url.replace(SITE, site), limits=ANY_PORT, permits=this_machine), url=url)


def _cut(operation: str, body: Any) -> Any:
    if operation == "service.openapi":
        info = {name: body["info"][name] for name in ("title", "version")}
        return {"openapi": body["openapi"], "info": info, "paths": {}}
    if operation not in CUT:
        return body
    start = body[: CUT[operation]]
    return start[: start.rfind("\n") + 1] or f"{start} ..."


def main() -> None:
    """Write the examples of the document."""
    with tempfile.TemporaryDirectory() as folder:
        context = open_context(
            Settings(home=Path(folder), database_url=f"sqlite:///{folder}/traitbench.db"), worker=WORKER
        )
        try:
            with example_world(context) as world:
                steps: list[Step] = []
                story(record(steps, world), world, partial(wait, world))
        finally:
            context.close()
    lines = ",\n".join(_kept([json.dumps(step, ensure_ascii=False) for step in steps]))
    openapi.FILE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def _kept(lines: list[str]) -> Iterator[str]:
    """The lines, each as it was recorded before if nothing else than times and ids differs."""
    before = {
        _CHANGING.sub("", line): line for line in openapi.FILE.read_text("utf-8").replace(",\n", "\n").split("\n")
    }
    for line in lines:
        yield before.get(_CHANGING.sub("", line), line)


if __name__ == "__main__":
    main()
