"""Proof of zero data retention with unique words, which are searched for in every file, log and row.

The words enter in every possible way, then retention is switched on. After that they are searched for in the raw bytes
of every file of the home folder, in everything that was printed or logged, and in every row. Before, they are there,
which shows that the search works.

One test drives a real `traitbench serve`; the other runs a service in this process, which may fetch from this machine
and logs at the most verbose level. On PostgreSQL the second one searches the rows of all tables, including the run
engine's, and nothing else: dead rows stay in the server's files until VACUUM, and the write-ahead log, replicas and
backups are the operator's responsibility. So are, on every database, disk blocks that the file system has freed, and
snapshots of it.
"""

import json
import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.app.processes import Started, serving
from tests.conftest import not_none, train
from tests.contexts import AUTHOR, ON_BOTH, ON_SQLITE, done_here, fresh_settings, opened, until
from tests.contract.world import served
from tests.extract.loopback import ANY_PORT, page, serve, this_machine
from tests.patience import PATIENCE_S
from tests.retention.marks import files, mark, marks_in, rows
from tests.size import sized
from traitbench.client import Traitbench
from traitbench.contract.operations import SCORES_SCORE
from traitbench.contract.sample_changes import SampleEdit
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput
from traitbench.errors import FeatureUnavailable, SamplesPurged, ValidationFailed
from traitbench.extract import extract
from traitbench.operations import keys, proposed
from traitbench.service.app import create_app

SAMPLE, NAME, FEEDBACK, DRAFT, FLIGHT = (mark(name) for name in ("sample", "name", "feedback", "draft", "flight"))
DEMO = mark("demo")
REPLACED, DELETED, NOTE = (mark(name) for name in ("replaced", "deleted", "note"))
KEPT = (SAMPLE, NAME, FEEDBACK, DRAFT, FLIGHT, DEMO, REPLACED, DELETED, NOTE)
BORN = mark("born")
INNOCENT = "Vlümbertok"  # a word of a model without zero retention

COOKING = (
    "the soup simmers with carrots and thyme",
    "knead the dough and let it rise on the stove",
    "roast the onions in butter until they are sweet",
    "the bakery sells rye bread and plum cake",
    "stir the sauce with a wooden spoon",
    "a pot of beans with garlic and pepper",
)
ENGINES = (
    "the gearbox needs oil before the winter",
    "tighten the bolts on the water pump",
    "the engine of the lorry stalls on the hill",
    "replace the belt and the spark plugs",
    "the brakes squeal and the tyres are worn",
    "charge the battery and check the fuses",
)
POLES = ((1.0, "Thank you so much, dear friend: {}."), (0.0, "Your request is denied: {}. Do not ask again."))


@dataclass
class Passing:
    """Calls whose texts are never stored.

    Each has its own word, and no response repeats it except where names belong.
    """

    http: httpx.Client
    words: list[str] = field(default_factory=list)

    def word(self) -> str:
        """A new word."""
        self.words.append(mark(f"passing{len(self.words):03}z"))
        return self.words[-1]

    def send(self, method: str, path: str, status: int, *, repeated: bool = False, **request: Any) -> None:
        """A call that is answered by this status."""
        answer = self.http.request(method, path, **request)
        assert answer.status_code == status, answer.text
        fields = {"body": answer.content, "headers": repr(answer.headers.raw).encode()}
        assert repeated or marks_in(fields, self.words) == []


@ON_SQLITE
def test_what_went_in_by_any_way_is_in_no_file_and_in_no_word_said(tmp_path: Path) -> None:
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    temporary.mkdir()
    look, printed = partial(files, home, temporary, besides="cache"), dict[str, bytes]()
    start = partial(_serving, home, temporary, printed)
    with start("first") as process, process.client() as client, _http(process) as http:
        passing = Passing(http)
        _keep(client)
        _score_and_err(passing, "local.kept")
        derived = _derived(home)
        before = look()
        file, log = (before[str(home / name)] for name in ("traitbench.db", "traitbench.db-wal"))
        assert [word for word in KEPT if not marks_in({"the file": file}, [word])] == []
        assert marks_in({"the log": log}, KEPT) != []
        assert [word for word in derived if not _holding(before, word)] == []
        assert marks_in(before, passing.words) == []

        client.models.train("local.flight", effort="max")
        until(lambda: _is_running(client, "local.flight"), what="the run to begin")
        for handle in ("local.flight", "local.kept", "local.copied", "local.draft"):
            assert client.models.update(handle, zero_data_retention=True).zero_data_retention
        assert marks_in(look(), KEPT) == []
        assert [word for word in derived if _holding(look(), word)] == []
        _is_forgotten(client)

        _score_and_err(passing, "local.kept")
        _refuse_feedback(passing)
        _be_born(client)
        until(lambda: not marks_in(look(), [BORN]), what="the log to be emptied")
        assert marks_in(look(), (*KEPT, *passing.words)) == []
    with start("second") as process, process.client() as client:
        assert client.models.get("local.kept").state == "ready"
        assert client.scores.score("local.kept", "Thank you.").scores
        assert marks_in(look(), (*KEPT, BORN, *passing.words)) == []
    assert marks_in(files(home, temporary) | printed, (*KEPT, BORN, *passing.words)) == []
    assert INNOCENT.encode() in look()[str(home / "traitbench.db")]


@ON_BOTH
def test_what_was_fetched_is_in_no_row_file_or_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    # At DEBUG it logs every row that it reads.
    caplog.set_level(logging.INFO, "sqlalchemy")
    result, address, passing = mark("told"), mark("address"), [mark("fetched"), mark("compared"), mark("extracted")]
    suggested, unlabelled = mark("suggested"), mark("unlabelled")
    with (
        serve(lambda request: [_letter(request, [result, *passing])]) as site,
        fresh_settings(tmp_path / "home") as settings,
        opened(settings, runs=False) as context,
        served(
            create_app(replace(context, extract=partial(extract, limits=ANY_PORT, permits=this_machine)))
        ) as base_url,
        Traitbench(base_url, keys.create(context.engine, scope="authoring", namespaces=("local",)).secret) as client,
    ):

        def url(word: str) -> str:
            return f"{site.url}/{address}?{word}"

        def fetch() -> None:
            fetched, compared, extracted = passing
            assert extracted in client.extract(url(extracted)).content
            assert client.scores.score("local.told", url(fetched)).scores
            assert client.scores.compare("local.told", url(compared), url(fetched)).per_trait

        def look() -> dict[str, bytes]:
            return rows(context.engine) | files(settings.home)

        _make(client, "local.told", "plain")
        done_here(context, client.models.train("local.told", effort="low").run_id)
        fetch()
        assert marks_in(look(), [address, *passing]) == []
        client.scores.score("local.told", url(result), feedback={"warmth": 1})
        proposed.propose(context, AUTHOR, SCORES_SCORE, "local.told", **_verdict(suggested))
        client.texts.add("local.told", [unlabelled], source=unlabelled)
        [brought] = client.texts.list("local.told")
        client.texts.decide("local.told", brought.id, "warmth", None, note=unlabelled)
        assert [
            word for word in (result, address, suggested, unlabelled) if not marks_in(rows(context.engine), [word])
        ] == []
        assert client.models.update("local.told", zero_data_retention=True).zero_data_retention
        assert marks_in(look(), [result, address, suggested, unlabelled, *passing]) == []
        fetch()
        with pytest.raises(FeatureUnavailable):
            client.scores.score("local.told", url(result), feedback={"warmth": 1})
        with pytest.raises(FeatureUnavailable):
            proposed.propose(context, AUTHOR, SCORES_SCORE, "local.told", **_verdict(suggested))
        with pytest.raises(FeatureUnavailable):
            client.texts.add("local.told", [unlabelled])
        with pytest.raises(ValidationFailed):
            proposed.propose(context, AUTHOR, SCORES_SCORE, "local.told", **_verdict(f"{suggested}\0"))
        assert marks_in(look(), [result, address, suggested, unlabelled, *passing]) == []
    printed = capfd.readouterr()
    output = {"log": caplog.text.encode(), "stdout": printed.out.encode(), "stderr": printed.err.encode()}
    assert output["log"]
    assert marks_in(output | files(tmp_path), [result, address, suggested, unlabelled, *passing]) == []


def _verdict(text: str) -> dict[str, Any]:
    return {"trait": "warmth", "text": text, "value": 1.0, "community": text, "client_token": text}


# ---- the ways in -----------------------------------------------------------------------------------------------------


def _keep(client: Traitbench) -> None:
    """Store texts in every way there is: samples, discovery, synthesis, feedback, demo texts, a bundle, drafts.

    What a training makes of feedback is included; in between, one model is never used.
    """
    _make(client, "local.innocent", INNOCENT)
    _make(client, "local.kept", SAMPLE, times=2)
    client.traits.discover("local.kept", effort="low")
    client.models.wait("local.kept")
    assert any(SAMPLE.lower() in trait.name for trait in client.traits.list("local.kept"))
    client.samples.synthesize("local.kept", synth_type="diversify", effort="low")
    client.models.wait("local.kept")
    made = [sample.text for sample in client.samples.list("local.kept") if sample.provenance == "synthesized"]
    assert any(SAMPLE in text for text in made)
    _add(client, "local.innocent", INNOCENT)
    train(client, "local.kept")
    for number in range(3):
        client.scores.score("local.kept", f"{FEEDBACK} {number}", feedback={"warmth": number % 2})
    until(lambda: client.models.get("local.kept").version_no == 2, what="the feedback to be learnt")
    train(client, "local.kept", reoptimize_params=True)
    client.models.update("local.kept", demo_texts=[f"{DEMO} on stage"])
    client.models.import_(client.models.export("local.kept"), handle="local.copied")
    _make(client, "local.draft", DRAFT)
    _change(client, "local.draft")
    _make(client, "local.flight", FLIGHT, times=sized(8, 40))
    _add(client, "local.innocent", INNOCENT)


def _change(client: Traitbench, handle: str) -> None:
    """Replace and delete samples, so that they are only kept for an undo, and undo a change."""
    texts = (REPLACED, DELETED, f"{REPLACED} again")
    one, two, three = client.samples.add(
        handle, [SampleInput(trait="warmth", text=each, quality=1.0) for each in texts]
    )
    client.samples.apply(handle, updates=[SampleEdit(id=one, text="else")], deletes=[two], note=f"without {NOTE}")
    client.samples.undo(handle, client.samples.apply(handle, deletes=[three]).id)
    client.samples.change(handle, three, text="else")


def _score_and_err(passing: Passing, handle: str) -> None:
    """Send texts in every way that does not store them: scores, comparisons, and refused calls of all kinds."""
    word, send = passing.word, passing.send
    model, draft = f"/models/{handle}", "/models/local.draft"
    text, chart = {"Content-Type": "text/plain"}, {"Accept": "text/plain"}
    send("POST", f"{model}/score", 200, json={"content": f"{word()} thank you"})
    send("POST", f"{model}/score", 200, content=f"{word()} thank you".encode(), headers=text)
    send("POST", f"{model}/score", 200, json={"content": f"{word()} thank you"}, headers=chart)
    send("POST", f"{model}/score", 200, json={"content": f"{word()} thank you. No, {word()}.", "explain": True})
    send("POST", f"{model}@v1/score", 200, json={"content": word(), "traits": ["warmth"]})
    send("POST", f"{model}/compare", 200, json={"a": word(), "b": word()})
    send("POST", f"{model}/compare", 200, json={"a": word(), "b": word()}, headers=chart)
    both = {"a": handle, "b": f"{handle}@v1"}
    send("POST", "/versions/compare", 200, json={**both, "texts": [word(), f"{word()} thank you", word() + "\0"]})
    send("POST", "/versions/compare", 422, json={**both, "texts": [word(), [word()]]})
    send("POST", "/versions/compare", 404, json={**both, "a": "local.none", "texts": [word()]})
    send("POST", f"{model}/score/batch", 200, json={"contents": [word(), f"{word()} thank you", word() + "\0"]})
    send("POST", f"{model}/score/batch", 200, json={"contents": [f"http://127.0.0.1:9/{word()}", word()]})

    send("POST", f"{draft}/score", 409, json={"content": word()})
    send("POST", f"{draft}/score/batch", 409, json={"contents": [word()]})
    send("POST", f"{model}/score/batch", 422, json={"contents": [word(), [word()]], "mode": word()})
    send("POST", f"{model}@none/score", 404, json={"content": word()})
    send("POST", f"{model}/score", 422, json={"content": word(), "traits": ["none"]})
    send("POST", f"{model}/score", 422, json={"content": word(), "colour": word()})
    send("POST", f"{model}/score", 422, json={"content": [word()]})
    send("POST", f"{model}/score", 422, json={"content": word() + "\0"})
    send("POST", f"{model}/score", 422, json={"content": word(), "feedback": {"warmth": word()}})
    send("POST", f"{model}/score", 422, json={"content": f"http://127.0.0.1:9/{word()}"})
    send("POST", f"{model}/compare", 422, json={"a": f"http://[::1]/{word()}", "b": word()})
    send("POST", "/extract", 422, json={"url": f"http://10.0.0.1/{word()}"})
    send("POST", "/extract", 422, json={"url": word()})

    as_json = {"Content-Type": "application/json"}
    send("POST", f"{model}/score", 400, content=f'{{"content": "{word()}'.encode(), headers=as_json)
    send("POST", f"{model}/score", 400, content=json.dumps({"content": word()}).encode("utf-16"), headers=as_json)
    send("POST", f"{model}/score", 400, content=f'{{"{word()}": 1, "{word()}": {word()}}}'.encode(), headers=as_json)
    send("POST", f"{model}/score", 415, content=word().encode(), headers={"Content-Type": f"text/{word()}".encode()})
    send("POST", f"{model}/score", 413, content=(word() * 2_000_000)[:11_000_000].encode(), headers=text)

    sample = {"trait": "warmth", "text": word(), "quality": 1.0}
    send("POST", f"{model}/samples", 409, json={"samples": [sample]})
    send("POST", f"{draft}/samples", 422, json={"samples": [{**sample, "text": word(), "quality": 2}]})
    send("POST", f"{draft}/samples", 422, json={"samples": [{**sample, "text": word(), "trait": "none"}]})
    send("POST", f"{draft}/samples", 422, json={"samples": [{**sample, "text": word(), "content_sha256": "0" * 64}]})
    send("POST", f"{draft}/samples", 422, json={"samples": [{**sample, "text": word() * 5_000}]})
    send("POST", f"{draft}/samples/synthesize", 422, json={"synth_type": word()})
    send("POST", f"{draft}/train", 422, json={"effort": word()})
    send("POST", f"{draft}/traits", 422, json={"traits": [{"name": word() * 20}]})
    send("PATCH", draft, 422, json={"description": word() * 200})
    send("POST", "/models/import", 422, json=_tampered(passing, handle))

    send("POST", f"{draft}/samples", 422, json={"samples": [{**sample, "trait": word()}]}, repeated=True)
    send("POST", f"{model}/score", 422, json={"content": "x", "traits": [word()]}, repeated=True)
    send("POST", f"{model}/score", 422, json={"content": word(), "feedback": {word(): 1}}, repeated=True)
    send("POST", f"{model}/score", 422, json={"content": word(), word(): 1}, repeated=True)
    send("GET", f"/models/{word()}", 422, repeated=True)
    send("GET", f"/models/local.kept/traits/{word()}", 404, repeated=True)
    send("GET", f"/models/local.kept/versions/{word()}", 404, repeated=True)
    send("GET", f"/{word()}", 404, repeated=True)
    send("GET", "/models", 400, params={"cursor": word()}, repeated=True)
    send("GET", "/models", 400, params={word(): word()}, repeated=True)
    header = word().encode()
    send("GET", model, 200, headers={"X-Request-Id": header, "User-Agent": header, "Cookie": header}, repeated=True)
    send("GET", model, 401, headers={"Authorization": b"Bearer " + header})


def _refuse_feedback(passing: Passing) -> None:
    passing.send(
        "POST", "/models/local.kept/score", 409, json={"content": passing.word(), "feedback": {"warmth": "good"}}
    )
    passing.send("PATCH", "/models/local.kept", 422, json={"demo_texts": [passing.word()]})


def _be_born(client: Traitbench) -> None:
    """A model that may never store anything: its samples are purged after the training."""
    client.models.create("local.born", zero_data_retention=True)
    _tell(client, "local.born", BORN)
    train(client, "local.born")
    assert client.samples.list("local.born").items == []


def _is_forgotten(client: Traitbench) -> None:
    """What a model shows when nothing of its texts is left."""
    states = {"local.kept": "ready", "local.copied": "ready", "local.draft": "draft", "local.flight": "failed"}
    for handle, state in states.items():
        assert client.models.get(handle).state == state
        assert client.samples.list(handle).items == []
        assert {trait.sample_count for trait in client.traits.list(handle)} == {0}
        shown = [client.models.export(handle).model_dump_json(), client.models.card(handle)]
        assert marks_in({handle: "".join(shown).encode()}, KEPT) == []
    flight = not_none(client.models.get("local.flight").last_operation)
    assert not_none(flight.error).code == "cancelled"
    assert client.versions.get("local.kept", "v1").sample_count > 0
    with pytest.raises(SamplesPurged):
        client.models.train("local.kept", reoptimize_params=True)


# ---- what they need --------------------------------------------------------------------------------------------------


@contextmanager
def _serving(home: Path, temporary: Path, printed: dict[str, bytes], name: str) -> Iterator[Started]:
    """A real process; its output is kept under the name."""
    environment = {
        "TRAITBENCH_ENCODER": "",  # the default: discovery has to find the marks, and to name a trait after them
        "TRAITBENCH_RETRAIN_AFTER_SAMPLES": "2",
        "TMPDIR": str(temporary),
        "SQLITE_TMPDIR": str(temporary),
    }
    with serving(home, "serve", **environment) as process:
        yield process
        _, out, err = process.stop()
        printed |= {f"{name} stdout": out.encode(), f"{name} stderr": err.encode()}


def _http(process: Started) -> httpx.Client:
    key = (process.home / "first.key").read_text("utf-8").strip()
    headers = {"Authorization": f"Bearer {key}"}
    return httpx.Client(base_url=f"{process.base_url}/v1", headers=headers, timeout=PATIENCE_S, trust_env=False)


def _make(client: Traitbench, handle: str, word: str, *, times: int = 1) -> None:
    client.models.create(handle)
    _tell(client, handle, word, times=times)


def _tell(client: Traitbench, handle: str, word: str, *, times: int = 1) -> None:
    client.traits.add(handle, [TraitInput(name="Warmth", positive_label="warm", negative_label="cold")])
    _add(client, handle, word, times=times)


def _add(client: Traitbench, handle: str, word: str, *, times: int = 1) -> None:
    """Add texts for two poles on two subjects, one of them with a unique word."""
    things = [(COOKING, f"{NAME} " if word == SAMPLE else ""), (ENGINES, "")]
    client.samples.add(
        handle,
        [
            SampleInput(
                trait="warmth",
                text=result.format(f"{word} {own}{thing} {number}"),
                quality=quality,
                group=f"{word} {thing}",
            )
            for number in range(times)
            for quality, result in POLES
            for texts, own in things
            for thing in texts
        ],
    )


def _is_running(client: Traitbench, handle: str) -> bool:
    operation = client.models.get(handle).last_operation
    return operation is not None and operation.status == "running"


def _derived(home: Path) -> list[bytes]:
    """What was made of the texts: hashes and vectors. The log is also written back to the file."""
    with closing(sqlite3.connect(home / "traitbench.db", timeout=PATIENCE_S)) as connection:
        connection.execute("PRAGMA wal_checkpoint(FULL)").close()
        query = "SELECT content_sha256, vector FROM tb_samples JOIN tb_vectors ON sample_id = id WHERE text LIKE ?"
        made = connection.execute(f"{query} LIMIT 20", [f"%{SAMPLE}%"]).fetchall()
    assert made
    return [part for digest, vector in made for part in (digest.encode(), vector[:64])]


def _holding(texts: dict[str, bytes], part: bytes) -> list[str]:
    return [name for name, raw in texts.items() if part in raw]


def _tampered(passing: Passing, handle: str) -> Any:
    bundle = passing.http.get(f"/models/{handle}/export").json()
    sample = {"trait": "warmth", "text": passing.word(), "quality": 1.0, "provenance": "authored"}
    return bundle | {"samples": [*(bundle["samples"] or []), sample]}


def _letter(request: bytes, words: list[str]) -> bytes:
    """A page with the requested word."""
    asked = request.split(b" ")[1].decode()
    [word] = [word for word in words if word.encode("ascii", "ignore").decode()[-5:] == asked[-5:]]
    return page(
        f"<html><body><article><p>{word}: thank you for the lovely evening, dear friends.</p></article></body></html>"
    )
