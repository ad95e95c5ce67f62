"""Whatever people write or paste goes through service, client, agents and command line as it is, row for row.

All ways get the same texts: of every kind (`wild`), with every kind of character (`code_points`), and values that are
no texts. No way fails with a traceback, changes a text or loses a row; what is refused is refused in a sentence.
"""

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp_types import CallToolRequestParams, TextContent

import traitbench as tb
from tests import wild
from tests.cli.asking import Ask, asking
from tests.code_points import text_of, typical_texts
from tests.conftest import COLD, WARM, Service, Trained, not_none
from tests.contexts import AUTHOR, draft, export_of, fresh_settings, opened
from tests.size import sized
from tests.tables.in_process import read
from traitbench.agents import server
from traitbench.as_read import is_blank
from traitbench.client import AsyncClient, Traitbench
from traitbench.contract.batches import FailedLine, ScoredLine
from traitbench.contract.samples import SampleInput, SamplesCreate
from traitbench.contract.traits import TraitInput
from traitbench.errors import ValidationFailed
from traitbench.operations import samples
from traitbench.operations.backups import backup, restore

ODD, NO_TEXTS = list(wild.ODD), list(wild.NO_TEXTS)
FEW = wild.MANY[: sized(len(wild.KINDS), 600)]
"""For what takes a request for each text: one of each kind, at least."""


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return [*wild.MANY, *typical_texts()]


@pytest.fixture(scope="module")
def authoring(service: Service) -> Iterator[Traitbench]:
    with Traitbench(service.base_url, service.issue(namespaces=("texts", "trained"))) as client:
        yield client


@pytest.fixture(scope="module")
def raw(service: Service) -> Iterator[httpx.Client]:
    """Requests as any program may send them."""
    headers = {"Authorization": f"Bearer {service.issue(namespaces=('trained',))}"}
    with httpx.Client(base_url=f"{service.base_url}/v1/models", headers=headers, timeout=60) as raw:
        yield raw


@pytest.fixture(scope="module")
def ask(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return asking(service, tmp_path_factory.mktemp("cli") / "home", "texts", "trained")


def drafted(client: Traitbench, handle: str) -> str:
    """A draft without samples."""
    client.models.create(handle)
    client.traits.add(handle, [TraitInput(name="Warmth", positive_label="warm İ", negative_label="cold ı")])
    return handle


def labelled(texts: Sequence[str]) -> list[SampleInput]:
    """Samples of both poles."""
    return [SampleInput(trait="warmth", text=text, quality=float(at % 2)) for at, text in enumerate(texts)]


def idle(client: Traitbench, handle: str) -> str:
    """The state of a model when its run has ended."""
    return client.models.wait(handle).state


# ---- scores ----------------------------------------------------------------------------------------------------------


def test_a_line_of_a_batch_a_score_and_its_explanation_agree(trained: Trained, texts: list[str]) -> None:
    texts = [*texts, text_of("İı")]
    lines = list(trained.client.scores.batch(trained.handle, texts))
    assert [line.index for line in lines] == list(range(len(texts)))
    assert [texts[line.index] for line in lines if not isinstance(line, ScoredLine)] == []
    by_text = dict(zip(texts, lines, strict=True))
    for text in [*FEW, *texts[len(wild.MANY) :: sized(10, 1)], texts[-1]]:
        card = trained.client.scores.score(trained.handle, text, explain=True)
        assert isinstance(line := by_text[text], ScoredLine)
        assert (card.scores, card.detail) == (line.scores, line.detail)
        parts = not_none(card.explanation)["warmth"].parts
        assert [text[part.start : part.end] for part in parts] == [part.text for part in parts]
        assert trained.client.scores.compare(trained.handle, text, text).per_trait["warmth"].delta == 0
        assert trained.client.scores.chart(trained.handle, text)


def test_json_plain_text_and_a_batch_give_one_score_or_one_refusal(raw: httpx.Client, trained: Trained) -> None:
    texts = [*ODD, *NO_TEXTS]
    as_json = {"Content-Type": "application/json"}
    answer = raw.post(f"/{trained.handle}/score/batch", content=json.dumps({"contents": texts}), headers=as_json)
    lines = [json.loads(line) for line in answer.text.split("\n")[:-1]]
    assert [line["index"] for line in lines] == list(range(len(texts)))
    for text, line in zip(texts, lines, strict=True):
        one = raw.post(f"/{trained.handle}/score", content=json.dumps({"content": text}), headers=as_json)
        plain = text.encode("utf-8", "surrogatepass")
        other = raw.post(f"/{trained.handle}/score", content=plain, headers={"Content-Type": "text/plain"})
        if text in wild.NO_TEXTS:
            assert (one.status_code, one.json()["error"]["code"]) == (422, "validation_failed")
            assert line["error"]["code"] == "validation_failed"
            assert other.status_code in (400, 422)
            assert wild.is_sentence(other.json()["error"]["message"])
            assert re.search(wild.NO_TEXTS[text], one.text)
        else:
            assert one.json()["scores"] == other.json()["scores"] == line["scores"], ascii(text)
    refused = [line for line in trained.client.scores.batch(trained.handle, NO_TEXTS) if isinstance(line, FailedLine)]
    assert [line.error.code for line in refused] == ["validation_failed"] * len(NO_TEXTS)


def test_words_of_a_megabyte_are_scored_or_refused_with_a_reason(trained: Trained) -> None:
    first, *others = trained.client.scores.batch(trained.handle, wild.LONG)
    assert isinstance(first, ScoredLine)
    assert [other.error.code for other in others if isinstance(other, FailedLine)] == ["body_too_large"] * 2


# ---- models ----------------------------------------------------------------------------------------------------------


def test_samples_go_through_search_bundle_training_and_zero_retention(authoring: Traitbench, texts: list[str]) -> None:
    handle = drafted(authoring, "texts.draft")
    authoring.samples.add(handle, labelled(texts))
    assert [sample.text for sample in authoring.samples.list(handle)] == texts
    for text in FEW:
        assert text in [sample.text for sample in authoring.samples.list(handle, text=text.split()[0][:200])]
    bundle = authoring.models.export(handle)
    authoring.models.import_(tb.Bundle.model_validate_json(bundle.model_dump_json()), handle="texts.copy")
    assert [sample.text for sample in authoring.samples.list("texts.copy")] == texts
    authoring.models.train(handle, effort="low", encoder=sized("static", None))
    assert idle(authoring, handle) == "ready"
    authoring.models.update(handle, zero_data_retention=True)
    assert list(authoring.samples.list(handle)) == []
    lines = list(authoring.scores.batch(handle, FEW))
    assert [line.index for line in lines if isinstance(line, ScoredLine)] == list(range(len(FEW)))


def test_every_kind_of_character_is_varied_and_searched_for_traits(authoring: Traitbench, texts: list[str]) -> None:
    handle = drafted(authoring, "texts.characters")
    authoring.samples.add(handle, labelled(texts[len(wild.MANY) :]))
    authoring.samples.synthesize(handle, synth_type="diversify", effort="low")
    assert idle(authoring, handle) == "draft"
    authoring.traits.discover(handle, effort="low")
    assert idle(authoring, handle) == "draft"
    assert any(trait.discovered for trait in authoring.traits.list(handle))


def test_a_backup_brings_every_text_back(tmp_path: Path, texts: list[str]) -> None:
    with fresh_settings(tmp_path / "one") as settings, opened(settings, runs=False) as context:
        handle = draft(context)
        for first in range(0, len(texts), 500):
            samples.add(context, AUTHOR, handle, SamplesCreate(samples=labelled(texts[first : first + 500])))
        backup(settings, tmp_path / "all.backup")
    with fresh_settings(tmp_path / "other") as settings:
        restore(settings, tmp_path / "all.backup")
        with opened(settings, runs=False) as context:
            assert [sample.text for sample in export_of(context, AUTHOR, handle).samples or ()] == texts


def test_what_describes_a_model_is_stored_as_it_was_sent(authoring: Traitbench) -> None:
    handle = authoring.models.create("texts.described").handle
    for at, text in enumerate(ODD):
        added = authoring.traits.add(
            handle,
            [TraitInput(name=text, key=f"k{at}", positive_label=text, negative_label=f"{text} no", description=text)],
        )[0]
        stored = authoring.traits.get(handle, added.key)
        assert (stored.name, stored.positive_label, stored.description) == (text, text, text)
        model = authoring.models.update(handle, description=text, demo_texts=[text], upstream_sources=[{text: [text]}])
        assert (model.description, model.demo_texts, model.upstream_sources) == (text, [text], [{text: [text]}])
    bundle = tb.Bundle.model_validate_json(authoring.models.export(handle).model_dump_json())
    authoring.models.import_(bundle, handle="texts.described-copy")
    assert [each.name for each in authoring.traits.list("texts.described-copy")] == ODD
    assert authoring.traits.list("texts.described-copy")[0]._repr_html_()


def test_a_version_keeps_odd_names_of_poles_and_notes_of_tags(authoring: Traitbench) -> None:
    handle = authoring.models.create("texts.named").handle
    authoring.traits.add(handle, [TraitInput(name="=1+1", key="t", positive_label="\u200b", negative_label="'@user")])
    poles = [*((text, 1.0) for text in WARM), *((text, 0.0) for text in COLD)]
    authoring.samples.add(handle, [SampleInput(trait="t", text=text, quality=quality) for text, quality in poles])
    authoring.models.train(handle, effort="low")
    assert idle(authoring, handle) == "ready"
    card = authoring.scores.score(handle, "\u202eabc", explain=True, feedback={"t": "'@user"})
    assert card.explanation is not None
    assert card._repr_html_()
    assert authoring.scores.chart(handle, "\u202eabc")
    for text in ODD:
        authoring.versions.tag(handle, "good", note=text)
        assert authoring.versions.get(handle).tag_notes == {"good": text}


@pytest.mark.parametrize(
    ("name", "words"),
    [("x" * 201, "at most 200 characters, not 201"), ("\xa0", "blank"), ("a\x00b", r"U\+0000")],
    ids=["too long", "blank", "U+0000"],
)
def test_a_name_that_cannot_be_stored_is_refused_in_plain_words(trained: Trained, name: str, words: str) -> None:
    with pytest.raises(ValidationFailed, match=words):
        trained.client.traits.add(trained.handle, [TraitInput.model_construct(name=name)])


# ---- the client and agents -------------------------------------------------------------------------------------------


def test_a_name_that_is_no_unicode_is_refused_by_the_client(trained: Trained) -> None:
    client, half = trained.client, wild.HALF
    calls: list[Callable[[], object]] = [
        lambda: client.models.get(half),
        lambda: client.scores.score(half, "Thanks."),
        lambda: client.traits.get(trained.handle, half),
        lambda: client.versions.tag(trained.handle, half),
        lambda: client.samples.list(trained.handle, text=half).first(),
        lambda: client.models.import_(client.models.export(trained.handle), handle=half),
        lambda: client.scores.score(trained.handle, half),
    ]
    for call in calls:
        with pytest.raises(ValidationFailed, match=r"half of a surrogate pair.*\.$"):
            call()


def test_the_asynchronous_client_and_the_tools_of_agents_answer_every_text(service: Service, trained: Trained) -> None:
    async def session() -> None:
        async with AsyncClient(service.base_url, service.issue(namespaces=("texts", "trained"))) as client:
            texts = [*ODD, *NO_TEXTS]
            lines = [line async for line in client.scores.batch(trained.handle, texts)]
            assert [text for text, line in zip(texts, lines, strict=True) if isinstance(line, FailedLine)] == NO_TEXTS
            assert len([line for line in lines if isinstance(line, ScoredLine)]) == len(ODD)
            with pytest.raises(ValidationFailed, match="surrogate"):
                await client.models.get(wild.HALF)
            for text in texts:
                for name, arguments in calls(text):
                    asked = CallToolRequestParams(name=name, arguments=arguments)
                    answer = await server._call(nullcontext(client), asked, as_text=True)
                    answer.model_dump_json()
                    assert isinstance(first := answer.content[0], TextContent)
                    assert bool(answer.is_error) == (text in wild.NO_TEXTS or name == "model_status"), (name, text)
                    assert "Value error" not in first.text

    def calls(text: str) -> list[tuple[str, dict[str, Any]]]:
        sample = {"trait": "warmth", "text": text, "quality": 1}
        proposed = [("propose_samples", {"handle": "texts.proposed", "samples": [sample]})]
        return [
            ("explain", {"handle": trained.handle, "text": text}),
            ("compare_texts", {"handle": trained.handle, "a": text, "b": "ok"}),
            ("model_status", {"handle": text}),
            *([] if is_blank(text) else proposed),
        ]

    with Traitbench(service.base_url, service.issue(namespaces=("texts",))) as client:
        drafted(client, "texts.proposed")
    asyncio.run(session())


# ---- the command line ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_the_command_line_scores_every_row_of_a_file(
    ask: Ask, trained: Trained, tmp_path: Path, texts: list[str], kind: str
) -> None:
    file, out, sent = tmp_path / f"in.{kind}", tmp_path / f"out.{kind}", wild.as_sent(texts, kind)
    file.write_bytes(wild.as_table(sent, kind))
    code, _, err = ask("score", trained.handle, "--batch", str(file), "--output", str(out))
    assert (code, err.count("Traceback")) == (0, 0)
    rows = read(out.name, out.read_bytes()).rows
    assert [row.cells["text"] if kind != "jsonl" else row.value("text") for row in rows] == sent


def test_the_command_line_imports_what_it_listed(
    ask: Ask, authoring: Traitbench, tmp_path: Path, texts: list[str]
) -> None:
    authoring.samples.add(drafted(authoring, "texts.listed"), labelled(texts))
    code, out, _ = ask("samples", "list", "texts.listed", "--json")
    assert code == 0
    (tmp_path / "again.jsonl").write_text(out)
    drafted(authoring, "texts.again")
    assert ask("samples", "import", "texts.again", str(tmp_path / "again.jsonl"))[0] == 0
    assert [sample.text for sample in authoring.samples.list("texts.again")] == texts


def test_an_argument_and_standard_input_are_the_same_text(ask: Ask, authoring: Traitbench) -> None:
    handle = drafted(authoring, "texts.typed")
    texts = [
        text for text in ODD if text != "-" and text[0] != "\ufeff"
    ]  # standard input, and a mark that is no text there
    how = ("samples", "add", handle, "--trait", "warmth", "--quality", "1")
    for text in texts:
        assert ask(*how, "--", text)[0] == 0
        assert ask(*how, "-", stdin=text.encode())[0] == 0
    assert [each.text for each in authoring.samples.list(handle)] == [text for text in texts for _ in range(2)]


@pytest.mark.parametrize("text", NO_TEXTS)
def test_what_is_no_text_is_refused_in_a_sentence(ask: Ask, trained: Trained, text: str) -> None:
    for asked in (("score", trained.handle, "--", text), ("compare", trained.handle, "--", "ok", text)):
        code, out, err = ask(*asked)
        assert (code, out, wild.is_sentence(err)) == (1, "", True), err


@pytest.mark.parametrize(
    "arguments",
    [
        ("models", "show", wild.HALF),
        ("models", "create", wild.HALF),
        ("score", wild.HALF, "Thanks."),
        ("samples", "list", "trained.tone", "--find", wild.HALF),
        ("samples", "list", "trained.tone", "--trait", wild.HALF),
        ("versions", "tag", "trained.tone", wild.HALF),
        ("key", "create", "--scope", "scoring", "--namespace", "texts", "--name", wild.HALF),
        ("key", "create", "--scope", "scoring", "--namespace", "texts", "--name", "a\x00b"),
        ("compare-versions", "x" * 300, "trained.tone"),
        ("gate", "x" * 300, "trained.tone"),
    ],
)
def test_an_argument_that_is_no_name_is_refused_in_a_sentence(
    ask: Ask, trained: Trained, arguments: tuple[str, ...]
) -> None:
    code, out, err = ask(*arguments)
    assert (code > 0, out) == (True, "")
    assert "codec" not in err
    assert err.strip().splitlines()[0 if arguments[0] == "key" else -1].endswith(".")
