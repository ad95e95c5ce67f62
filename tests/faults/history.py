"""What clients saw of a service that was killed again and again, and a judge of it.

A client logs each call (`Event`): what it asked, when it began and ended, and how it ended: `ok` (answered), `refused`
(answered with an error that says nothing was done) or `unknown` (no answer: it may have been done or not). Reads of the
service after the last kill are events too. `judge` says what cannot have happened in a service that keeps its word:

    lost        an acknowledged model, sample, tag, version or key is not there
    doubled     something is there more often than it was sent, or a deleted sample is back
    versions    numbers of versions are not 1..n, or two versions come from one run
    overlap     two operations of one model were under way at once
    meaning     a run id stands for two operations, or for operations of two models
    reopened    a run that had ended was seen under way
    given up    an acknowledged run failed for no fault of its own
    scores      the same text by the same version got two cards
    register    a tag or a description had a value that nobody had set, or that had been overwritten
    state       the state of a model contradicts its last operation
    key         an issued key is refused, or a revoked one accepted
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

How = Literal["ok", "refused", "unknown"]
LIVE = frozenset({"queued", "running"})
BAD_LUCK = frozenset({"interrupted", "internal_error"})
NEVER = float("inf")


@dataclass(frozen=True)
class Event:
    """One call. `op` is the operation on `handle`; `asked` and `answer` are JSON."""

    op: str
    handle: str
    began: float
    ended: float
    how: How
    asked: dict[str, Any] = field(default_factory=dict)
    answer: dict[str, Any] = field(default_factory=dict)

    @property
    def done_by(self) -> float:
        """When the effect of a call was certain; a call without an answer may take effect at any time."""
        return self.ended if self.how == "ok" else NEVER


@dataclass(frozen=True)
class Violation:
    """Something that cannot have happened."""

    kind: str
    handle: str
    what: str


def write(events: Iterable[Event], file: Path) -> None:
    """Write a history, one line of JSON per event."""
    file.write_text("".join(f"{json.dumps(asdict(event))}\n" for event in events), "utf-8")


def judge(events: Sequence[Event]) -> list[Violation]:
    """Everything that cannot have happened, by the clients' clock."""
    by_handle: dict[str, list[Event]] = defaultdict(list)
    for event in sorted(events, key=lambda each: each.began):
        by_handle[event.handle].append(event)
    results = [violation for rule in _OF_ALL for violation in rule(events)]
    for handle, own in by_handle.items():
        results += [Violation(kind, handle, what) for rule in _OF_MODEL for kind, what in rule(own)]
    return results


Findings = Iterator[tuple[str, str]]


def _named(events: Iterable[Event], *ops: str) -> list[Event]:
    return [event for event in events if event.op in ops]


def _models(events: Sequence[Event]) -> Findings:
    created = [event for event in _named(events, "create", "import") if event.how == "ok"]
    if not created:
        return
    gone = [event for event in _named(events, "get") if event.answer.get("missing") and event.began > created[0].ended]
    if gone:
        yield "lost", "the model was created and is not there"


def _samples(events: Sequence[Event]) -> Findings:
    lists = [event for event in _named(events, "samples") if event.how == "ok"]
    if not lists:
        return
    final = lists[-1]
    listed = Counter(int(item["id"]) for item in final.answer["items"])
    text_of = {int(item["id"]): str(item["text"]) for item in final.answer["items"]}
    texts = Counter(str(item["text"]) for item in final.answer["items"])
    removed = {int(event.asked["id"]): event for event in _named(events, "remove sample") if event.how != "refused"}
    sent: Counter[str] = Counter()
    for event in _named(events, "add samples", "feedback"):
        if event.how == "refused":
            continue
        sent.update(event.asked["texts"])
        if event.how != "ok" or event.ended > final.began:
            continue
        for identity, text in zip(event.answer["ids"], event.asked["texts"], strict=True):
            taken = removed.get(identity)
            if not listed[identity] and taken is None:
                yield "lost", f"sample {identity} was acknowledged and is not listed"
            if listed[identity] and taken is not None and taken.done_by < final.began:
                yield "doubled", f"sample {identity} was deleted and is listed"
            if listed[identity] and text_of[identity] != text:
                yield "lost", f"sample {identity} is listed with another text"
    yield from (("doubled", f"sample {each} is listed {n} times") for each, n in listed.items() if n > 1)
    for text, n in texts.items():
        if n > sent[text]:
            yield "doubled", f"a text is listed {n} times and was sent {sent[text]} times"


def _versions(events: Sequence[Event]) -> Findings:
    known: dict[int, tuple[str, str | None]] = {}
    for event in _named(events, "versions"):
        if event.how != "ok":
            continue
        items = sorted(event.answer["items"], key=lambda item: int(item["version_no"]))
        numbers = [int(item["version_no"]) for item in items]
        if numbers != list(range(1, len(numbers) + 1)):
            yield "versions", f"the numbers are {numbers}"
        runs = Counter(item["run_id"] for item in items if item["run_id"])
        yield from (("versions", f"{run} made {n} versions") for run, n in runs.items() if n > 1)
        for item in items:
            is_now = (str(item["param_hash"]), item["run_id"])
            before = known.setdefault(int(item["version_no"]), is_now)
            if before != is_now:
                yield "versions", f"v{item['version_no']} has become another one"
        missing = known.keys() - set(numbers)
        if missing:
            yield "lost", f"the versions {sorted(missing)} were listed and are gone"


def _seen_runs(events: Sequence[Event]) -> list[tuple[Event, dict[str, Any]]]:
    """The states of runs that clients saw, in the order of their requests."""
    return [
        (event, event.answer["last_operation"])
        for event in _named(events, "get")
        if event.how == "ok" and event.answer.get("last_operation")
    ]


def _runs(events: Sequence[Event]) -> Findings:
    seen = _seen_runs(events)
    of_run: dict[str, list[tuple[Event, dict[str, Any]]]] = defaultdict(list)
    for event, run in seen:
        of_run[run["run_id"]].append((event, run))
    for run_id, own in of_run.items():
        # Responses to overlapping calls may arrive in either order: only calls that follow each other prove anything.
        over = min((event.ended for event, run in own if run["status"] not in LIVE), default=NEVER)
        how = {run["status"] for _, run in own if run["status"] not in LIVE}
        later = {run["status"] for event, run in own if event.began > over}
        if later & LIVE or len(how) > 1:
            yield "reopened", f"{run_id} had ended and was {', '.join(sorted(later | how))}"
        # The last operation has followed the others, which had ended by then.
        first, last = min(event.ended for event, _ in own), max(event.began for event, _ in own)
        between = {run["run_id"] for event, run in seen if event.began > first and event.ended < last} - {run_id}
        yield from (("overlap", f"{run_id} was there before and after {other}") for other in between)
        for code in {(run.get("error") or {}).get("code") for _, run in own if run["status"] == "failed"} & BAD_LUCK:
            yield "given up", f"{run_id} ({own[0][1]['kind']}) failed with {code}"


def _acknowledged_runs(events: Sequence[Event]) -> Findings:
    """Every acknowledged run became a version, failed for a reason, or is still live."""
    seen = _seen_runs(events)
    versions = [event for event in _named(events, "versions") if event.how == "ok"]
    if not seen or not versions:
        return
    made = {item["run_id"] for item in versions[-1].answer["items"]}
    failed = {run["run_id"] for _, run in seen if run["status"] == "failed"}
    for event in _named(events, "train"):
        run = event.answer.get("run_id")
        settled = event.how == "ok" and event.ended < versions[-1].began
        if settled and run and run not in made | failed and seen[-1][1]["run_id"] == run:
            if seen[-1][1]["status"] == "succeeded":
                yield "lost", f"{run} succeeded and there is no version of it"
        elif settled and run and run not in made | failed:
            yield "lost", f"{run} was acknowledged and has left neither a version nor a reason"


def _state(events: Sequence[Event]) -> Findings:
    for event in _named(events, "get"):
        model = event.answer
        if event.how != "ok" or model.get("missing") or model["state"] == "archived":
            continue
        run: dict[str, Any] = model.get("last_operation") or {}
        under_way = bool(run) and run["status"] in LIVE
        if (model["state"] == "busy") is not under_way:
            yield "state", f"{model['state']} while the last operation is {run['status'] if run else 'none'}"
        if (model["state"] == "ready") and model["version_no"] is None:
            yield "state", "ready without a version"
        trained = bool(run) and run["status"] == "succeeded" and run["kind"] in ("train", "retune", "retrain")
        if trained and model["state"] != "ready":
            yield "state", f"{model['state']} after a {run['kind']} that succeeded"


def _scores(events: Sequence[Event]) -> Findings:
    cards: dict[tuple[str, str], str] = {}
    for event in _named(events, "score"):
        if event.how == "ok":
            key = (event.answer["version"], event.asked["text"])
            if cards.setdefault(key, event.answer["card"]) != event.answer["card"]:
                yield "scores", f"two cards of one text by {key[0]}"


def _registers(events: Sequence[Event]) -> Findings:
    """Tags and descriptions: a read returns what a write has set, and nothing that was overwritten before the read."""
    writes: dict[str, list[Event]] = defaultdict(list)
    for event in _named(events, "set"):
        if event.how != "refused":
            writes[event.asked["name"]].append(event)
    for read in _named(events, "read"):
        if read.how != "ok":
            continue
        value, own = read.answer["value"], writes[read.asked["name"]]
        set_by = [write for write in own if write.asked["value"] == value and write.began < read.ended]
        if value is None or value == "":
            # Nobody needs to have set it: this is the initial value.
            set_by.append(Event("set", read.handle, -1.0, -1.0, "ok"))
        if not set_by:
            yield "register", f"{read.asked['name']} is {value!r}, which nobody has set"
        elif all(any(w.began > s.done_by and w.done_by < read.began for w in own) for s in set_by):
            yield "register", f"{read.asked['name']} is {value!r}, which was overwritten"


def _meaning(events: Sequence[Event]) -> Iterator[Violation]:
    """A run id belongs to one operation of one model for good."""
    meant: dict[str, tuple[str, str]] = {}
    for event in events:
        run = event.answer.get("last_operation") if event.op == "get" else None
        if run and run["run_id"]:
            meaning = (event.handle, str(run["kind"]))
            if meant.setdefault(run["run_id"], meaning) != meaning:
                what = f"{run['run_id']} is {meaning} and was {meant[run['run_id']]}"
                yield Violation("meaning", event.handle, what)
    for event in _named(events, "train"):
        run_id = event.answer.get("run_id")
        if run_id and run_id in meant and meant[run_id][0] != event.handle:
            yield Violation("meaning", event.handle, f"{run_id} was acknowledged for two models")


def _keys(events: Sequence[Event]) -> Iterator[Violation]:
    issued = {event.asked["id"]: event for event in _named(events, "issue key") if event.how == "ok"}
    revoked = {event.asked["id"]: event for event in _named(events, "revoke key") if event.how != "refused"}
    for event in _named(events, "use key"):
        if event.how != "ok":
            continue
        identity, accepted = event.asked["id"], event.answer["accepted"]
        ended = revoked.get(identity)
        if not accepted and ended is None and identity in issued and issued[identity].ended < event.began:
            yield Violation("key", "", f"{identity} was issued and is refused")
        if accepted and ended is not None and ended.done_by < event.began:
            yield Violation("key", "", f"{identity} was revoked and is accepted")


_OF_MODEL = (_models, _samples, _versions, _runs, _acknowledged_runs, _state, _scores, _registers)
_OF_ALL = (_meaning, _keys)
