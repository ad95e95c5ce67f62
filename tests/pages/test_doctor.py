"""The sample doctor: what it shows, how it mends, what may be undone or ignored; on the Train page in a line."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count

import httpx
import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import COLD, WARM, Service, Trained
from tests.pages.drive import Workbench, copied_link, links, words
from traitbench.analysis.checks import Finding, Fix
from traitbench.client import Traitbench
from traitbench.contract.envelope import ErrorBody, ErrorEnvelope
from traitbench.contract.samples import MOST_SAMPLES, SampleInput
from traitbench.contract.traits import TraitInput
from traitbench.encoders.registry import load_encoder
from traitbench.errors import TraitbenchError
from traitbench.local import handover, preview
from traitbench.service.embedded import Embedded
from traitbench.store import models, vectors
from traitbench.store.database import reading
from traitbench_app.workspace import fixes as doctor
from traitbench_app.workspace.changes import Changes, as_input, save


@pytest.fixture
def messy(client: Traitbench, draft: str) -> str:
    """The same with two copies, and with a text at both poles."""
    add(client, draft, (WARM[0], 1.0), (COLD[0].upper(), 0.0), (WARM[1], 0.0))
    return draft


def add(client: Traitbench, handle: str, *samples: tuple[str, float]) -> list[int]:
    return client.samples.add(
        handle, [SampleInput(trait="warmth", text=text, quality=quality) for text, quality in samples]
    )


def texts(client: Traitbench, handle: str) -> list[tuple[str, float]]:
    return sorted((sample.text, sample.quality) for sample in client.samples.list(handle))


def check(workbench: Workbench, handle: str) -> AppTest:
    at = workbench.open("samples", model=handle, task="Check")
    assert not at.exception
    return at


def press(at: AppTest, key: str) -> AppTest:
    """Click the first button whose key begins so."""
    at = next(button for button in at.button if str(button.key).startswith(key)).click().run()
    assert not at.exception
    return at


def keys(at: AppTest, start: str) -> list[str]:
    return [str(button.key) for button in at.button if str(button.key).startswith(start)]


# ---- what is found ---------------------------------------------------------------------------------------------------


def test_labels_that_follow_nothing_are_named_with_their_auroc(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    handle = f"{namespace}.mixed"
    client.models.create(handle)
    client.traits.add(handle, [TraitInput(name="Warmth")])
    # The first half of the warm and of the cold texts at one pole, the rest at the other.
    add(client, handle, *((text, float(number < 5)) for half in (WARM, COLD) for number, text in enumerate(half)))
    assert re.search(r"### Labels of Warmth cannot be told apart: 0\.\d\d", words(check(workbench, handle)))


def test_findings_stand_in_order_of_severity_each_with_its_texts_and_what_would_become_of_them(
    workbench: Workbench, messy: str
) -> None:
    at = check(workbench, messy)
    text = words(at)
    assert "findings in 23 samples: 1 error" in text
    assert "### Warmth has the same text at both poles" in text
    groups = "\n".join(str(group.label) for group in at.expander)
    assert groups.index("Same text at both poles") < groups.index("Duplicate texts")
    assert f"▲ warm “{WARM[1][:20]}" in text
    assert "will be deleted" in text
    assert copied_link(at) == {"model": messy, "task": "Check"}


def test_where_nothing_is_found_it_says_what_was_looked_at(workbench: Workbench, draft: str) -> None:
    at = check(workbench, draft)
    for button in list(keys(at, "doctor.ignore.")):
        at = press(at, button)
    assert "Checked 20 samples of 1 trait for:" in words(at)
    assert "Same text at both poles" in words(at)
    assert "problems that this check cannot detect" in words(at)


def test_a_pole_without_samples_is_an_error_that_leads_to_the_form_which_fills_it(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    handle = f"{namespace}.empty"
    client.models.create(handle)
    client.traits.add(handle, [TraitInput(name="Warmth", positive_label="warm", negative_label="cold")])
    at = check(workbench, handle)
    assert "2 errors" in words(at)
    negative = next(button for button in at.button if str(button.label).endswith("cold"))
    at = negative.click().run()
    assert at.segmented_control(key="samples.add_pole").value == "negative"


def test_a_label_that_only_denies_is_to_be_renamed(workbench: Workbench, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.irony"
    client.models.create(handle)
    client.traits.add(handle, [TraitInput(name="Warmth", positive_label="warm", negative_label="not warm")])
    add(client, handle, *((text, 1.0) for text in WARM), *((text, 0.0) for text in COLD))
    at = check(workbench, handle)
    assert "Warmth has a label that only negates" in words(at)
    assert "Rename the label" in links(at)


def test_of_a_trained_model_it_is_read_and_not_mended(workbench: Workbench, trained: Trained) -> None:
    at = check(workbench, trained.handle)
    assert at.segmented_control(key="task").options == ["Table", "Check", "Compare labels"]
    assert not keys(at, "doctor.fix.")


def test_a_scoring_key_sees_no_samples_and_no_doctor(
    monkeypatch: pytest.MonkeyPatch, service: Service, trained: Trained
) -> None:
    at = Workbench(monkeypatch, service, service.issue("scoring", ("trained",))).open(
        "samples", model=trained.handle, task="Check"
    )
    assert not at.exception
    assert not keys(at, "doctor.")


# ---- mending ---------------------------------------------------------------------------------------------------------


def test_a_fix_that_deletes_asks_first_and_can_be_undone(workbench: Workbench, client: Traitbench, messy: str) -> None:
    before = texts(client, messy)
    at = press(check(workbench, messy), "doctor.fix.conflict")
    assert "Either every change is applied or none" in words(at)
    assert texts(client, messy) == before
    at = press(at, "samples.doctor.yes")
    assert len(texts(client, messy)) == len(before) - 1
    assert not keys(at, "doctor.fix.conflict"), "it looks again by itself"
    assert "Just now: 1 deleted" in words(at)
    press(at, "samples.undo_button")
    assert texts(client, messy) == before


def test_on_second_thoughts_nothing_is_mended(workbench: Workbench, client: Traitbench, messy: str) -> None:
    before = texts(client, messy)
    at = press(press(check(workbench, messy), "doctor.fix.conflict"), "samples.doctor.no")
    assert texts(client, messy) == before
    assert keys(at, "doctor.fix.conflict")


def test_a_text_at_both_poles_can_be_kept_at_either(workbench: Workbench, client: Traitbench, messy: str) -> None:
    at = check(workbench, messy)
    labels = {
        button.label: str(button.key) for button in at.button if str(button.key).startswith("doctor.fix.conflict")
    }
    assert set(labels) == {"Keep ▲ warm", "Keep ▼ cold"}
    press(press(at, labels["Keep ▼ cold"]), "samples.doctor.yes")
    assert [quality for text, quality in texts(client, messy) if text == WARM[1]] == [0.0]


def test_all_of_a_kind_are_mended_in_one_go(workbench: Workbench, client: Traitbench, messy: str) -> None:
    at = press(check(workbench, messy), "doctor.all.note.duplicate")
    at = press(at, "samples.doctor.yes")
    assert len(texts(client, messy)) == 21
    assert not keys(at, "doctor.fix.duplicate")


def test_a_label_is_turned_at_once_and_can_be_turned_back(workbench: Workbench, client: Traitbench, draft: str) -> None:
    wrong = "Thank you so much, it was lovely of you to help us, and you are always welcome."
    (sample_id,) = add(client, draft, (wrong, 0.0))
    before = texts(client, draft)
    at = press(check(workbench, draft), f"doctor.fix.suspect:warmth:{sample_id}")
    assert (wrong, 1.0) in texts(client, draft)
    assert "Just now: 1 edited" in words(at)
    press(at, "samples.undo_button")
    assert texts(client, draft) == before


def test_a_finding_can_be_ignored_and_shown_again(workbench: Workbench, messy: str) -> None:
    at = press(check(workbench, messy), "doctor.ignore.conflict")
    assert not keys(at, "doctor.ignore.conflict")
    assert "1 finding ignored" in words(at)
    assert keys(press(at, "doctor.show_again"), "doctor.ignore.conflict")


def test_the_texts_of_a_finding_are_shown_in_the_table_by_a_link_that_holds(workbench: Workbench, messy: str) -> None:
    at = press(check(workbench, messy), "doctor.rows.conflict")
    assert set(at.dataframe[0].value["text"]) == {WARM[1]}
    link = copied_link(at)
    assert set(link) == {"model", "rows"}
    at = workbench.open("samples", **link)
    assert len(at.dataframe[0].value) == 2
    at.text_input(key="rows").set_value("").run()
    assert len(at.dataframe[0].value) == 23


def test_findings_of_samples_that_changed_meanwhile_are_found_anew(
    workbench: Workbench, client: Traitbench, messy: str
) -> None:
    at = check(workbench, messy)
    newest = max(sample.id for sample in client.samples.list(messy))
    client.samples.delete(messy, newest)
    at = press(at, "doctor.fix.conflict")
    assert not keys(at, "doctor.fix.conflict")
    assert len(texts(client, messy)) == 22


@pytest.mark.parametrize("refused", [1, 2])
def test_a_fix_that_fails_halfway_is_taken_back_whole(
    monkeypatch: pytest.MonkeyPatch, service: Service, client: Traitbench, namespace: str, draft: str, refused: int
) -> None:
    """Labels are turned and samples deleted, by two requests; a gateway refuses one of them."""
    more = [SampleInput(trait="warmth", text=f"Old {number}", quality=1.0) for number in range(MOST_SAMPLES)]
    client.samples.add(draft, more)
    samples, before = list(client.samples.list(draft, limit=MOST_SAMPLES)), texts(client, draft)
    turned = {each.id: as_input(each).model_copy(update={"quality": 0.0}) for each in samples[:2]}
    changes = Changes(turned, frozenset(each.id for each in samples[2 : MOST_SAMPLES + 2]))
    with gateway(service.base_url, refused=refused) as address:
        Workbench(monkeypatch, service, service.issue(namespaces=(namespace,)), base_url=address)
        with pytest.raises(TraitbenchError):
            save(draft, samples, changes, progress=lambda done, of: None, whole=True)
    assert texts(client, draft) == before


REFUSAL = ErrorBody(code="unavailable", message="Too busy.", request_id="req_1", details={})


@contextmanager
def gateway(behind: str, *, refused: int) -> Iterator[str]:
    """The address of something in front of the service that answers one deletion by itself, with 503."""
    deletions = count(1)

    class Gateway(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.endswith("/samples/delete") and next(deletions) == refused:
                self._answer(503, ErrorEnvelope(error=REFUSAL).model_dump_json().encode())
                return
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name: self.headers[name] for name in ("authorization", "content-type") if name in self.headers}
            answer = httpx.request(self.command, behind + self.path, content=body, headers=headers)
            self._answer(answer.status_code, answer.content)

        do_POST = do_DELETE = do_GET

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Gateway)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


# ---- what is read, and what is remembered ----------------------------------------------------------------------------


def test_many_texts_are_read_when_one_says_so(workbench: Workbench, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.many"
    client.models.create(handle)
    client.traits.add(handle, [TraitInput(name="Warmth", positive_label="warm", negative_label="cold")])
    add(
        client,
        handle,
        *((f"Letter {number} of the check: " + WARM[number % 10], float(number % 2)) for number in range(1_002)),
    )
    at = check(workbench, handle)
    assert "1,002 texts must be read first" in words(at)
    assert not keys(at, "doctor.fix.")
    train = workbench.open("train", model=handle)
    assert "Check the samples before you train" in links(train)


def test_two_fixes_that_want_the_same_sample_do_not_both_have_it(client: Traitbench, messy: str) -> None:
    traits, samples = client.traits.list(messy), list(client.samples.list(messy))
    result = doctor.examine(traits, samples, progress=lambda done, of: None).findings
    by_id = {sample.id: sample for sample in samples}
    once = doctor.changes_of(result, by_id)
    assert doctor.changes_of([*result, *result], by_id) == once
    assert not once.deletions & once.edits.keys()


def test_what_nobody_wrote_is_deleted_rather_than_turned(client: Traitbench, draft: str) -> None:
    traits = client.traits.list(draft)
    (sample_id,) = add(client, draft, ("Thank you, you were wonderful and kind.", 0.0))
    samples = [
        sample.model_copy(update={"provenance": "synthesized"}) if sample.id == sample_id else sample
        for sample in client.samples.list(draft)
    ]
    finding = Finding("suspect", traits[0].key, (sample_id,), "warning", "", Fix("", relabel={sample_id: 1.0}))
    changes = doctor.changes_of([finding], {sample.id: sample for sample in samples})
    assert not changes.edits
    assert changes.deletions == {sample_id}


def test_vectors_are_forgotten_when_a_model_forgets_its_samples(
    workbench: Workbench, client: Traitbench, draft: str
) -> None:
    check(workbench, draft)
    samples = list(client.samples.list(draft))
    assert not preview.unread(samples)
    preview.forget()
    assert len(preview.unread(samples)) == 20


def test_the_training_after_a_check_encodes_no_text_again(
    workbench: Workbench, service: Service, client: Traitbench, draft: str
) -> None:
    preview.forget()
    embedded = Embedded(service.settings)
    embedded.context = service.context
    handover.connect(embedded.keep_vectors)
    try:
        check(workbench, draft)
        at = workbench.open("train", model=draft)
    finally:
        handover.connect(None)
    assert "no texts to read" in words(at)
    with reading(service.context.engine) as connection:
        model = models.find(connection, draft)
        assert model is not None
        stored = vectors.read(connection, model.id, _encoder_digest(service))
    assert set(stored) == {sample.id for sample in client.samples.list(draft)}


def _encoder_digest(service: Service) -> str:
    return load_encoder(service.settings.encoder, cache=service.settings.cache).digest


# ---- on the Train page -----------------------------------------------------------------------------------------------


def test_the_train_page_says_in_a_line_what_the_doctor_found(workbench: Workbench, messy: str) -> None:
    (line,) = (link for link in links(workbench.open("train", model=messy)) if "before you train" in link)
    assert ", 1 error: review before you train" in line
