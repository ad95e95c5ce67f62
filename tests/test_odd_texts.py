"""Texts that look like nothing, a formula, an option or an address, and values that are no text, on every way in.

No way fails with a traceback, changes a text or loses a row; what is refused is refused in a sentence. `test_wild`
sends these texts, with many others, through batches, files, bundles, backups and frames.
"""

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from mcp_types import CallToolRequestParams, TextContent

import traitbench as tb
from tests import wild
from tests.cli.asking import Ask, asking
from tests.conftest import COLD, WARM, Service, Trained
from tests.contexts import home_in_environment
from traitbench.agents import server
from traitbench.client import AsyncClient, Traitbench
from traitbench.contract.batches import FailedLine, ScoredLine
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput
from traitbench.errors import ValidationFailed

HALF = "caf\udce9"
"""What Python makes of an argument or a file name that is not UTF-8."""

ODD, NO_TEXTS = list(wild.ODD), list(wild.NO_TEXTS)


def sentence(text: str) -> bool:
    """Whether a person can read what was said: without the library's words, and with an end."""
    first = re.sub(r" \[req_\w+\]", "", text).strip().splitlines()[0]
    return first.endswith((".", "?", ")")) and not re.search(r"codec|Traceback|Value error|pattern '\\S'", text)


@pytest.fixture(scope="module")
def authoring(service: Service) -> Iterator[Traitbench]:
    with Traitbench(service.base_url, service.issue(namespaces=("odd", "trained"))) as client:
        client.models.create("odd.draft")
        client.traits.add("odd.draft", [TraitInput(name="Warmth")])
        yield client


@pytest.fixture(scope="module")
def raw(service: Service) -> Iterator[httpx.Client]:
    """Requests as any program may send them."""
    headers = {"Authorization": f"Bearer {service.issue(namespaces=('odd', 'trained'))}"}
    with httpx.Client(base_url=f"{service.base_url}/v1/models", headers=headers, timeout=60) as raw:
        yield raw


@pytest.fixture(scope="module")
def ask(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return asking(service, tmp_path_factory.mktemp("cli") / "home", "odd", "trained")


@pytest.fixture(scope="module")
def scorer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tb.Scorer]:
    """A scorer that has learned from the odd texts too."""
    with home_in_environment(tmp_path_factory.mktemp("local") / "home"):
        texts = [*WARM, *COLD, *ODD]
        labels = (
            ["warm"] * len(WARM) + ["cold"] * len(COLD) + ["warm", "cold"] * (len(ODD) // 2) + ["warm"] * (len(ODD) % 2)
        )
        yield tb.Scorer("warmth", poles=("cold", "warm"), encoder="static", effort="low").fit(texts, labels)


# ---- the service -----------------------------------------------------------------------------------------------------


def test_json_plain_text_and_a_batch_give_one_score_or_one_refusal(raw: httpx.Client, trained: Trained) -> None:
    texts = [*ODD, *NO_TEXTS]
    body = json.dumps({"contents": texts})
    answer = raw.post(f"/{trained.handle}/score/batch", content=body, headers={"Content-Type": "application/json"})
    lines = [json.loads(line) for line in answer.text.split("\n")[:-1]]
    assert [line["index"] for line in lines] == list(range(len(texts)))
    for text, line in zip(texts, lines, strict=True):
        content = json.dumps({"content": text})
        one = raw.post(f"/{trained.handle}/score", content=content, headers={"Content-Type": "application/json"})
        plain = text.encode("utf-8", "surrogatepass")
        other = raw.post(f"/{trained.handle}/score", content=plain, headers={"Content-Type": "text/plain"})
        if text in wild.NO_TEXTS:
            assert (one.status_code, line["error"]["code"]) == (422, "validation_failed")
            assert other.status_code in (400, 422)
            assert sentence(other.json()["error"]["message"])
            assert re.search(wild.NO_TEXTS[text], one.text)
        else:
            assert one.json()["scores"] == other.json()["scores"] == line["scores"], ascii(text)


def test_what_describes_a_model_is_stored_as_it_was_sent(authoring: Traitbench) -> None:
    handle = authoring.models.create("odd.described").handle
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
    authoring.models.import_(bundle, handle="odd.copied")
    assert [each.name for each in authoring.traits.list("odd.copied")] == ODD
    assert authoring.traits.list("odd.copied")[0]._repr_html_()


def test_a_version_keeps_odd_names_of_poles_and_notes_of_tags(authoring: Traitbench) -> None:
    handle = authoring.models.create("odd.named").handle
    authoring.traits.add(handle, [TraitInput(name="=1+1", key="t", positive_label="\u200b", negative_label="'@user")])
    poles = [*((text, 1.0) for text in WARM), *((text, 0.0) for text in COLD)]
    authoring.samples.add(handle, [SampleInput(trait="t", text=text, quality=quality) for text, quality in poles])
    authoring.models.train(handle, effort="low")
    assert authoring.models.wait(handle).state == "ready"
    card = authoring.scores.score(handle, "\u202eabc", explain=True, feedback={"t": "'@user"})
    assert card.explanation is not None
    assert card._repr_html_()
    assert authoring.scores.chart(handle, "\u202eabc")
    for text in ODD:
        authoring.versions.tag(handle, "good", note=text)
        assert authoring.versions.get(handle).tag_notes == {"good": text}


def test_a_value_that_is_too_long_or_no_text_is_refused_in_plain_words(authoring: Traitbench) -> None:
    for name, words in (("x" * 201, "at most 200 characters, not 201"), ("\xa0", "blank"), ("a\x00b", r"U\+0000")):
        with pytest.raises(ValidationFailed, match=words):
            authoring.traits.add("odd.draft", [TraitInput.model_construct(name=name)])


# ---- the client and agents -------------------------------------------------------------------------------------------


def test_a_name_that_is_no_unicode_is_refused_by_the_client(trained: Trained) -> None:
    client = trained.client
    calls: list[Callable[[], object]] = [
        lambda: client.models.get(HALF),
        lambda: client.scores.score(HALF, "Thanks."),
        lambda: client.traits.get(trained.handle, HALF),
        lambda: client.versions.tag(trained.handle, HALF),
        lambda: client.samples.list(trained.handle, text=HALF).first(),
        lambda: client.models.import_(client.models.export(trained.handle), handle=HALF),
        lambda: client.scores.score(trained.handle, HALF),
    ]
    for call in calls:
        with pytest.raises(ValidationFailed, match=r"half of a surrogate pair.*\.$"):
            call()


def test_the_asynchronous_client_and_the_tools_of_agents_answer_every_text(service: Service, trained: Trained) -> None:
    async def session() -> None:
        async with AsyncClient(service.base_url, service.issue(namespaces=("odd", "trained"))) as client:
            texts = [*ODD, *NO_TEXTS]
            lines = [line async for line in client.scores.batch(trained.handle, texts)]
            assert [text for text, line in zip(texts, lines, strict=True) if isinstance(line, FailedLine)] == NO_TEXTS
            assert len([line for line in lines if isinstance(line, ScoredLine)]) == len(ODD)
            with pytest.raises(ValidationFailed, match="surrogate"):
                await client.models.get(HALF)
            for text in texts:
                for name, arguments in calls(text):
                    asked = CallToolRequestParams(name=name, arguments=arguments)
                    answer = await server._call(nullcontext(client), asked)
                    answer.model_dump_json()
                    assert isinstance(first := answer.content[0], TextContent)
                    assert bool(answer.is_error) == (text in wild.NO_TEXTS or name == "model_status"), (name, text)
                    assert "Value error" not in first.text

    def calls(text: str) -> list[tuple[str, dict[str, Any]]]:
        sample = {"trait": "warmth", "text": text, "quality": 1}
        proposed = [("propose_samples", {"handle": "odd.proposed", "samples": [sample]})]
        return [
            ("explain", {"handle": trained.handle, "text": text}),
            ("compare_texts", {"handle": trained.handle, "a": text, "b": "ok"}),
            ("model_status", {"handle": text}),
            *(proposed if text.strip() else []),
        ]

    with Traitbench(service.base_url, service.issue(namespaces=("odd",))) as client:
        client.models.create("odd.proposed")
        client.traits.add("odd.proposed", [TraitInput(name="Warmth")])
    asyncio.run(session())


# ---- the command line ------------------------------------------------------------------------------------------------


def test_an_argument_and_standard_input_are_the_same_text(ask: Ask, authoring: Traitbench) -> None:
    handle = authoring.models.create("odd.typed").handle
    authoring.traits.add(handle, [TraitInput(name="Warmth")])
    texts = [text for text in ODD if text not in ("-", "\ufeff")]  # standard input, and a mark that is no text there
    how = ("samples", "add", handle, "--trait", "warmth", "--quality", "1")
    for text in texts:
        assert ask(*how, "--", text)[0] == 0
        assert ask(*how, "-", stdin=text.encode())[0] == 0
    assert [each.text for each in authoring.samples.list(handle)] == [text for text in texts for _ in range(2)]
    code, out, _ = ask("samples", "list", handle, "--json")
    assert (code, len(out.splitlines())) == (0, 2 * len(texts))


@pytest.mark.parametrize("text", NO_TEXTS)
def test_what_is_no_text_is_refused_in_a_sentence(ask: Ask, trained: Trained, text: str) -> None:
    for asked in (("score", trained.handle, "--", text), ("compare", trained.handle, "--", "ok", text)):
        code, out, err = ask(*asked)
        assert (code, out, sentence(err)) == (1, "", True), err


@pytest.mark.parametrize(
    "arguments",
    [
        ("models", "show", HALF),
        ("models", "create", HALF),
        ("score", HALF, "Thanks."),
        ("samples", "list", "trained.tone", "--find", HALF),
        ("samples", "list", "trained.tone", "--trait", HALF),
        ("versions", "tag", "trained.tone", HALF),
        ("key", "create", "--scope", "scoring", "--namespace", "odd", "--name", HALF),
        ("key", "create", "--scope", "scoring", "--namespace", "odd", "--name", "a\x00b"),
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


# ---- without the service ---------------------------------------------------------------------------------------------


def test_values_that_are_no_texts_keep_their_rows_in_every_shape(scorer: tb.Scorer, tmp_path: Path) -> None:
    scorer.save(tmp_path / "odd.tb", handle="local.odd")
    udf = tb.UDF(tmp_path / "odd.tb")
    values: list[Any] = ["ok", *NO_TEXTS, None, float("nan"), 3, True, b"x", pd.NA, ["a"], *ODD]
    lists = udf(values)
    series = udf(pd.Series(values, dtype=object))
    frame = tb.score(pd.DataFrame({"text": pd.Series(values, dtype=object)}), "text", scorer=scorer)
    refused = [at for at, row in enumerate(lists) if row["composite"] is None]
    assert refused == list(range(1, len(values) - len(ODD)))
    assert series["error"].isna().tolist() == frame["error"].isna().tolist() == [not row["error"] for row in lists]
    assert all(sentence(row["error"]) for row in lists if row["error"])
    assert [row["warmth_score"] for row in udf(list(wild.LONG))] == tb.score(
        pl.DataFrame({"text": wild.LONG}), "text", scorer=scorer
    )["warmth"].to_list()


def strings() -> list[Any]:
    """Arrow's strings whose bytes are not UTF-8: Arrow does not look."""
    raw = pa.array([b"a \xff b", b"ok", None], pa.binary())
    plain = pa.StringArray.from_buffers(3, raw.buffers()[1], raw.buffers()[2], raw.buffers()[0])
    return [plain, pa.chunked_array([plain]), plain.cast(pa.large_string()), plain.dictionary_encode()]


@pytest.mark.parametrize("column", strings(), ids=lambda column: str(type(column).__name__))
def test_a_string_that_is_no_utf_8_is_an_error_of_its_row(scorer: tb.Scorer, tmp_path: Path, column: Any) -> None:
    scorer.save(tmp_path / "odd.tb", handle="local.odd")
    udf = tb.UDF(tmp_path / "odd.tb")
    for scored in (udf(pa.table({"text": column})), tb.score(pa.table({"text": column}), "text", scorer=scorer)):
        first, second, third = scored["error"].to_pylist()
        assert ("surrogate" in first, second, "missing" in third) == (True, None, True)
    with pytest.raises(ValueError, match="Row 0: the text has half of a surrogate pair"):
        scorer.score_texts(column)


def test_differences_shares_and_labelling_keep_the_texts(scorer: tb.Scorer, tmp_path: Path) -> None:
    other = tb.Scorer("warmth", poles=("cold", "warm"), encoder="static", effort="low").fit(
        [*WARM, *COLD], [1] * 10 + [0] * 10
    )
    difference = tb.diff(scorer, other, ODD)
    assert difference.texts == ODD
    assert difference.to_frame("pyarrow")["text"].to_pylist() == ODD
    difference.write_html(tmp_path / "difference.html")
    labels = {row: ("warm", "cold")[row % 2] for row in range(0, len(ODD))}
    share = tb.share(
        ODD, labels, scorer=scorer, groups=[HALF, "=1", "\u202e"] * (len(ODD) // 3) + ["x"] * (len(ODD) % 3)
    )
    share.write_html(tmp_path / "share.html")
    assert all((tmp_path / name).read_text("utf-8") for name in ("difference.html", "share.html"))
    widget = scorer.label(ODD, labels=[each % 2 for each in range(len(ODD))])
    assert [each["text"] for each in widget.samples] == ODD
    assert widget.wait()
    unlabelled = scorer.label(ODD)
    assert sorted(each["text"] for each in json.loads(json.dumps(unlabelled.data))["items"]) == sorted(ODD)
    assert unlabelled.wait()
    for text in ODD:
        assert "".join("".join(part.text or "" for part in scorer.explain(text).parts).split()) == "".join(text.split())


@pytest.mark.parametrize("name", [*NO_TEXTS, "x" * 201])
def test_a_pole_that_cannot_be_named_is_refused_in_a_sentence(name: str) -> None:
    with pytest.raises(ValueError, match="negative_label") as refused:
        tb.Scorer("warmth", poles=(name, "warm")).fit(["a", "b"], [0, 1])
    assert sentence(str(refused.value))
