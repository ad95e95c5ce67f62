"""Perspective's wire over a real socket: scores, spans, languages, errors by name, and what is kept."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import httpx
import pytest

from tests.conftest import COLD, WARM, Service
from tests.doors import forum
from tests.operations.counting import Counting
from tests.patience import PATIENCE_S
from tests.retention import marks
from traitbench.client import Traitbench
from traitbench.contract.perspective import MOST_BYTES, MOST_NAMES, AnalyzeCommentRequest
from traitbench.doors import perspective, probability
from traitbench.operations import keys
from traitbench.scoring import resemblance

ANALYZE, SUGGEST = "/v1alpha1/comments:analyze", "/v1alpha1/comments:suggestscore"
RUDE = "You clearly never read what you answer to, and nobody asked for your opinion."
ERROR = "type.googleapis.com/google.commentanalyzer.v1alpha1.Error"
INFO = "type.googleapis.com/google.rpc.ErrorInfo"


@dataclass(frozen=True)
class Door:
    """A service with two models: `perspective.comments` has toxicity and insult, `perspective.silent` profanity.

    The second is under zero retention.
    """

    service: Service
    client: Traitbench
    http: httpx.Client
    key: str

    def post(self, path: str = ANALYZE, **body: Any) -> httpx.Response:
        return self.http.post(path, params={"key": self.key}, json=body)

    def analyze(self, text: str | None, *names: str, **body: Any) -> Mapping[str, Any]:
        """The answer to an analysis that succeeds."""
        answer = self.post(
            comment={"text": text}, requestedAttributes={name: {} for name in names or ("TOXICITY",)}, **body
        )
        assert answer.status_code == 200, answer.text
        found: Mapping[str, Any] = answer.json()
        return found

    def refused(self, **body: Any) -> Mapping[str, Any]:
        """The error of an analysis that is refused with 400."""
        answer = self.post(**{"comment": {"text": RUDE}, "requestedAttributes": {"TOXICITY": {}}, **body})
        assert answer.status_code == 400, answer.text
        error: Mapping[str, Any] = answer.json()["error"]
        assert (error["code"], error["status"]) == (400, "INVALID_ARGUMENT")
        assert error["details"][0]["@type"] == ERROR
        assert RUDE not in answer.text
        return error


@pytest.fixture(scope="module")
def door(service: Service) -> Iterator[Door]:
    author, scorer = (service.issue(scope, ("perspective",)) for scope in ("authoring", "scoring"))
    with (
        Traitbench(service.base_url, author) as client,
        httpx.Client(base_url=service.base_url, timeout=PATIENCE_S, trust_env=False) as http,
    ):
        forum.teach(client, "perspective.comments", "Toxicity", "Insult")
        forum.teach(client, "perspective.silent", "Profanity")
        client.models.update("perspective.silent", zero_data_retention=True)
        yield Door(service, client, http, scorer)


# ---- scores ----------------------------------------------------------------------------------------------------------


def test_the_score_is_the_probability_of_the_card(door: Door) -> None:
    for text in (RUDE, *WARM[:2], *COLD[:2], "asdf qwer zxcv"):
        [score] = door.client.scores.score("perspective.comments", text, traits=["toxicity"]).detail.values()
        found = door.analyze(text)["attributeScores"]["TOXICITY"]
        assert found["summaryScore"] == {"value": probability.of_positive(score), "type": "PROBABILITY"}
        assert (found["x_confidence"], found["x_reason"]) == (score.confidence, score.confidence_reason)
        assert (found["x_model"], found["x_trait"]) == ("perspective.comments@v1", "toxicity")
        sides = {"low": {None}}.get(score.confidence, {"Toxicity", "fine"})
        assert found["x_side"] in sides


def test_an_address_is_a_text(door: Door) -> None:
    assert door.analyze("https://unreachable.example/a")["attributeScores"]["TOXICITY"]


def test_without_span_annotations_the_only_span_is_the_comment(door: Door) -> None:
    found = door.analyze("😀 You fool. Thank you!")["attributeScores"]["TOXICITY"]
    assert found["spanScores"] == [{"begin": 0, "end": 23, "score": found["summaryScore"]}]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("😀 You fool. 👍🏽 Thank you!", ["😀 You fool.", "👍🏽 Thank you!"]),
        ("One sentence only", ["One sentence only"]),
        ("  Space around.\n\nA paragraph.  ", ["Space around.", "A paragraph."]),
        ("これは文です。もう一つの文です。", ["これは文です。", "もう一つの文です。"]),
        ("यह एक वाक्य है। यह दूसरा है।", ["यह एक वाक्य है।", "यह दूसरा है।"]),
        ("هل قرأت هذا؟ شكرا لك.", ["هل قرأت هذا؟", "شكرا لك."]),
        ("Zero\u200b width.\u200b Cafe\u0301 now.\u00ad", ["Zero\u200b width.\u200b", "Cafe\u0301 now.\u00ad"]),
        ("YOU ARE AWFUL. GO AWAY NOW!", ["YOU ARE AWFUL.", "GO AWAY NOW!"]),
        ("a" * 700 + ". Next.", ["a" * 700 + ".", "Next."]),
        ("👩‍👩‍👧‍👦🏳️‍🌈. Ok.", ["👩‍👩‍👧‍👦🏳️‍🌈.", "Ok."]),
    ],
)
def test_spans_are_sentences_in_units_of_utf_16(door: Door, text: str, sentences: list[str]) -> None:
    spans = door.analyze(text, languages=["en"], spanAnnotations=True)["attributeScores"]["TOXICITY"]["spanScores"]
    units = text.encode("utf-16-le")
    assert [units[2 * each["begin"] : 2 * each["end"]].decode("utf-16-le") for each in spans] == sentences
    assert all(0 <= each["score"]["value"] <= 1 for each in spans)


def test_a_span_has_the_score_of_its_sentence_alone(door: Door) -> None:
    first, second = "You were told twice to leave.", "Thank you so much, dear friend."
    spans = door.analyze(f"{first} {second}", spanAnnotations=True)["attributeScores"]["TOXICITY"]["spanScores"]
    alone = [door.analyze(each)["attributeScores"]["TOXICITY"]["summaryScore"] for each in (first, second)]
    assert [each["score"] for each in spans] == alone


def test_html_is_read_as_text_and_spans_are_in_its_source(door: Door) -> None:
    text = "<p>You <b>fool</b>.</p><p>Fish &amp; chips 😀.</p>"
    found = door.post(
        comment={"text": text, "type": "HTML"}, requestedAttributes={"TOXICITY": {}}, spanAnnotations=True
    ).json()["attributeScores"]["TOXICITY"]
    plain = door.analyze("You fool.\nFish & chips 😀.", spanAnnotations=True)["attributeScores"]["TOXICITY"]
    assert found["summaryScore"] == plain["summaryScore"]
    units = text.encode("utf-16-le")
    spans = [units[2 * each["begin"] : 2 * each["end"]].decode("utf-16-le") for each in found["spanScores"]]
    assert spans == ["<p>You <b>fool</b>.", "Fish &amp; chips 😀.</p>"]


@pytest.mark.parametrize("odd", ["\ud83d", "\x00"])
def test_half_of_a_surrogate_pair_does_not_hide_a_comment(door: Door, odd: str) -> None:
    body = {"comment": {"text": f"{RUDE} {odd} Go."}, "requestedAttributes": {"TOXICITY": {}}, "spanAnnotations": True}
    answer = door.http.post(
        ANALYZE,
        params={"key": door.key},
        content=json.dumps(body),
        headers={"Content-Type": "application/json"},
    )
    assert answer.status_code == 200
    spans = answer.json()["attributeScores"]["TOXICITY"]["spanScores"]
    assert (spans[0]["begin"], spans[-1]["end"]) == (0, len(RUDE) + 6)


def test_a_score_below_its_threshold_is_left_out(door: Door) -> None:
    value = door.analyze(RUDE)["attributeScores"]["TOXICITY"]["summaryScore"]["value"]
    for threshold, there in ((value, True), (value + 1e-9, False), (0, True), (-1, True), (2, False)):
        found = door.post(
            comment={"text": RUDE}, requestedAttributes={"TOXICITY": {"scoreThreshold": threshold}, "INSULT": {}}
        ).json()["attributeScores"]
        assert sorted(found) == (["INSULT", "TOXICITY"] if there else ["INSULT"])


def test_a_comment_is_encoded_once_for_all_attributes_and_sentences(door: Door) -> None:
    encoder = Counting(door.service.context.encoder)
    context = replace(door.service.context, encoder=encoder)
    caller = keys.caller(door.service.context, door.key)
    text = "One sentence about it. Another one, nobody has seen it yet."
    for keep in (True, False):
        encoder.asked.clear()
        request = AnalyzeCommentRequest.model_validate(
            {
                "comment": {"text": text},
                "requestedAttributes": {"TOXICITY": {}, "INSULT": {}, "PROFANITY": {}},
                "spanAnnotations": True,
                "doNotStore": not keep,
            }
        )
        assert len(perspective.analyze(context, caller, request, request_id="").attribute_scores) == 3
        assert sorted(encoder.asked) == sorted([text, *re.split(r"(?<=\.) ", text)])


# ---- verdicts --------------------------------------------------------------------------------------------------------


def test_a_verdict_is_kept_as_a_proposed_label(door: Door) -> None:
    handle = "perspective.comments"
    door.client.proposed.delete(handle)
    sent = {"comment": {"text": RUDE}, "languages": ["en"], "communityId": "Coral:https://news.example"}
    context = {"entries": [{"text": '{"url": "https://news.example/a?commentID=77"}'}]}
    before = door.client.models.get(handle)
    for token, value in (("comment:77", 1), ("comment:77", 0), ("comment:78", 1)):
        scores = {"TOXICITY": {"summaryScore": {"value": value}}}
        answer = door.post(SUGGEST, **sent, context=context, attributeScores=scores, clientToken=token)
        assert answer.status_code == 200
        assert answer.json() == {"clientToken": token, "requestedLanguages": ["en"]}
    kept = door.client.proposed.list(handle).items
    assert [(each.client_token, each.value, each.trait, each.text) for each in kept] == [
        ("comment:78", 1, "toxicity", RUDE),
        ("comment:77", 0, "toxicity", RUDE),
    ]
    assert {each.community for each in kept} == {"Coral:https://news.example"}
    assert door.client.models.get(handle) == before


def test_verdicts_that_cannot_be_kept_are_refused_together(door: Door) -> None:
    door.client.proposed.delete("perspective.comments")
    scores = {name: {"summaryScore": {"value": 1}} for name in ("TOXICITY", "PROFANITY")}
    answer = door.post(SUGGEST, comment={"text": RUDE}, attributeScores=scores)
    error = answer.json()["error"]
    assert (answer.status_code, error["status"]) == (409, "FAILED_PRECONDITION")
    assert "zero data retention" in error["message"]
    assert door.client.proposed.list("perspective.comments").items == []


@pytest.mark.parametrize(
    ("name", "scores"),
    [
        ("NO_REQUESTED_ATTRIBUTES", {}),
        ("NO_REQUESTED_ATTRIBUTES", None),
        ("INVALID_REQUEST", {"TOXICITY": None}),
        ("INVALID_REQUEST", {"TOXICITY": {"spanScores": [{"begin": 0, "end": 2, "score": {"value": 1}}]}}),
        ("INVALID_REQUEST", {"TOXICITY": {"summaryScore": {}}}),
        ("INVALID_REQUEST", {"TOXICITY": {"summaryScore": {"value": 1.5}}}),
        ("INVALID_REQUEST", {"TOXICITY": {"summaryScore": {"value": 1, "type": "RAW"}}}),
        ("INVALID_REQUEST", {"FLIRTATION": {"summaryScore": {"value": 1}}}),
        ("INVALID_REQUEST", {f"A{each}": {"summaryScore": {"value": 1}} for each in range(MOST_NAMES + 1)}),
    ],
)
def test_a_verdict_that_says_nothing_is_refused_by_name(door: Door, name: str, scores: Any) -> None:
    answer = door.post(SUGGEST, comment={"text": RUDE}, attributeScores=scores)
    assert answer.status_code == 400
    assert answer.json()["error"]["details"][0]["errorType"] == name


def test_no_verdict_is_kept_for_a_model_of_somebody_else(door: Door) -> None:
    key = door.service.issue("authoring", ("elsewhere",))
    scores = {"TOXICITY": {"summaryScore": {"value": 1}}}
    answer = door.http.post(SUGGEST, params={"key": key}, json={"comment": {"text": RUDE}, "attributeScores": scores})
    assert answer.status_code == 400
    assert "TOXICITY" in answer.json()["error"]["message"]


# ---- what is read of a request ---------------------------------------------------------------------------------------


def test_the_token_is_echoed_and_what_is_unknown_is_ignored(door: Door) -> None:
    body = {
        **{"comment": {"text": RUDE, "lang": "en"}, "requested_attributes": {"TOXICITY": None}},
        **{"client_token": "t 😀", "spanAnnotations": None, "context": None, "sessionId": "s", "communityId": "c"},
        **{"unknown": {"deep": [1]}, "languages": ["EN-us"], "doNotStore": True},
    }
    answer = door.http.post(
        ANALYZE, params={"key": door.key, "alt": "json", "prettyPrint": "true", "fields": "*"}, json=body
    )
    assert answer.status_code == 200
    found = answer.json()
    assert (found["clientToken"], found["languages"]) == ("t 😀", ["EN-us"])
    assert "detectedLanguages" not in found


@pytest.mark.parametrize(
    ("text", "detected"),
    [
        ("Thank you so much for this lovely evening with your family.", "en"),
        ("Vielen Dank für diesen schönen Abend mit deiner Familie.", "de"),
        ("hm", "und"),
    ],
)
def test_a_language_that_is_not_sent_is_detected(door: Door, text: str, detected: str) -> None:
    found = door.analyze(text, dropUnsupportedAttributes=True)
    assert found["languages"] == found["detectedLanguages"] == [detected]


def test_what_was_taught_in_english_is_not_asked_in_japanese(door: Door) -> None:
    sent: dict[str, Any] = {"comment": {"text": "日本語だけの文章です。"}, "requestedAttributes": {"TOXICITY": {}}}
    for languages in (["ja"], ["en", "ja-JP"], []):
        detail = door.refused(**sent, languages=languages)["details"][0]
        assert detail["errorType"] == "LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE"
        assert detail["languageNotSupportedByAttributeError"] == {
            "attribute": "TOXICITY",
            "requestedLanguages": languages,
            "detectedLanguages": ["ja"],
        }
    assert door.post(**sent, languages=["ja"], dropUnsupportedAttributes=True).json()["attributeScores"] == {}


@pytest.mark.parametrize("tag", ["ja", "nb", "zh-Hant", "hi-Latn", "fil", "iw", "EN_us", "pt-BR"])
def test_a_tag_names_a_language_that_the_default_encoder_reads(tag: str) -> None:
    known = resemblance.languages("multilingual-e5-l6f-int8-1", None)
    assert known is not None
    assert perspective._primary(tag) in known
    assert "tlh" not in known


# ---- errors by name --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("COMMENT_EMPTY", {"comment": {"text": ""}}),
        ("COMMENT_EMPTY", {"comment": {"text": " \u200b\n"}}),
        ("COMMENT_EMPTY", {"comment": {"text": "<br> <!-- -->", "type": "HTML"}}),
        ("COMMENT_EMPTY", {"comment": {}}),
        ("COMMENT_EMPTY", {"comment": None}),
        ("COMMENT_TOO_LONG", {"comment": {"text": "a " * (MOST_BYTES // 2) + "a"}}),
        ("COMMENT_TOO_LONG", {"comment": {"text": "ü" * (MOST_BYTES // 2) + "a"}}),
        ("NO_REQUESTED_ATTRIBUTES", {"requestedAttributes": {}}),
        ("NO_REQUESTED_ATTRIBUTES", {"requestedAttributes": None}),
        ("LANGUAGE_DETECTION_FAILED", {"comment": {"text": "123 😀 !!!"}}),
        ("INVALID_REQUEST", {"requestedAttributes": {"FLIRTATION": {}}}),
        ("INVALID_REQUEST", {"requestedAttributes": {"no name": {}}}),
        ("INVALID_REQUEST", {"requestedAttributes": {"TOXICITY": {"scoreType": "RAW"}}}),
        ("INVALID_REQUEST", {"requestedAttributes": {"TOXICITY": {"scoreThreshold": "high"}}}),
        ("INVALID_REQUEST", {"requestedAttributes": ["TOXICITY"]}),
        ("INVALID_REQUEST", {"comment": {"text": 5}}),
        ("INVALID_REQUEST", {"comment": {"text": RUDE, "type": "RTF"}}),
        ("INVALID_REQUEST", {"languages": ["English?"]}),
        ("INVALID_REQUEST", {"languages": "en"}),
        ("INVALID_REQUEST", {"languages": ["en"] * (MOST_NAMES + 1)}),
        ("INVALID_REQUEST", {"requestedAttributes": {f"A{each}": {} for each in range(MOST_NAMES + 1)}}),
        ("INVALID_REQUEST", {"context": {"entries": [], "articleAndParentComment": {}}}),
    ],
)
def test_an_error_has_the_name_that_clients_know(door: Door, name: str, sent: Mapping[str, Any]) -> None:
    assert door.refused(**sent)["details"][0]["errorType"] == name


def test_a_comment_of_exactly_the_most_bytes_is_scored(door: Door) -> None:
    assert door.analyze("a word " * (MOST_BYTES // 7) + "ends.")["attributeScores"]


def test_an_unknown_attribute_is_named_or_dropped(door: Door) -> None:
    requested: Mapping[str, Any] = {name: {} for name in ("TOXICITY", "FLIRTATION", "INSULT")}
    assert "FLIRTATION" in door.refused(requestedAttributes=requested)["message"]
    error = door.refused(requestedAttributes={"Call me at home": {}})
    assert "such as TOXICITY" in error["message"]
    assert "home" not in json.dumps(error)
    answer = door.post(comment={"text": "hello"}, requestedAttributes=requested, dropUnsupportedAttributes=True)
    assert list(answer.json()["attributeScores"]) == ["TOXICITY", "INSULT"]


def test_a_field_that_is_wrong_is_named(door: Door) -> None:
    error = door.refused(requestedAttributes={"TOXICITY": {"scoreThreshold": "high"}})
    [violations] = [each["fieldViolations"] for each in error["details"] if "fieldViolations" in each]
    assert [each["field"] for each in violations] == ["requestedAttributes.TOXICITY.scoreThreshold"]


@pytest.mark.parametrize("content", [b"", b"{", b'{"comment": {"text": "a"}, "comment": {}}', b"\xff", b"[" * 5_000])
def test_what_is_no_json_is_an_invalid_request(door: Door, content: bytes) -> None:
    answer = door.http.post(
        ANALYZE, params={"key": door.key}, content=content, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 400
    assert answer.json()["error"]["details"][0]["errorType"] == "INVALID_REQUEST"


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("POST", ANALYZE, (401, "UNAUTHENTICATED", "API_KEY_INVALID")),
        ("POST", f"{ANALYZE}?key=AIza-somebody-elses", (401, "UNAUTHENTICATED", "API_KEY_INVALID")),
        ("POST", f"{ANALYZE}?key=KEY&key=KEY", (401, "UNAUTHENTICATED", "API_KEY_INVALID")),
        ("POST", "/v1alpha1/comments:list?key=KEY", (404, "NOT_FOUND", "ROUTE_NOT_FOUND")),
        ("GET", f"{ANALYZE}?key=KEY", (405, "UNIMPLEMENTED", "METHOD_NOT_ALLOWED")),
        ("GET", "/v1alpha1", (404, "NOT_FOUND", "ROUTE_NOT_FOUND")),
    ],
)
def test_every_refusal_has_the_form_of_google(
    door: Door, method: str, path: str, expected: tuple[int, str, str]
) -> None:
    answer = door.http.request(method, path.replace("KEY", door.key))
    error = answer.json()["error"]
    [info] = [each for each in error["details"] if each["@type"] == INFO]
    assert (answer.status_code, error["status"], info["reason"]) == expected
    assert error["code"] == answer.status_code
    assert answer.headers["X-Request-Id"].startswith("req_")
    assert door.key not in answer.text


def test_the_key_may_also_be_a_bearer_token(door: Door) -> None:
    body = {"comment": {"text": RUDE}, "requestedAttributes": {"TOXICITY": {}}}
    assert door.http.post(ANALYZE, json=body, headers={"Authorization": f"Bearer {door.key}"}).status_code == 200
    assert door.http.get("/v1/models", params={"namespace": "perspective", "key": door.key}).status_code == 401


# ---- what is kept ----------------------------------------------------------------------------------------------------


def test_a_comment_leaves_nothing_and_with_do_not_store_not_even_a_vector(door: Door) -> None:
    cache = door.service.context.vectors
    for number, (body, kept) in enumerate([({"doNotStore": True}, False), ({}, True)]):
        marked = marks.mark(f"Comment{number}")
        before = cache.size
        sent = {"spanAnnotations": True, "clientToken": marked, "sessionId": marked, "communityId": marked, **body}
        context = {"entries": [{"text": f"{marked} said so."}]}
        assert door.analyze(f"{marked} is here. And {marked} again.", languages=["en"], context=context, **sent)
        assert (cache.size > before) == kept
        rows = marks.rows(door.service.context.engine)
        assert marks.marks_in({**rows, **marks.files(door.service.settings.home)}, [marked]) == []


# ---- the description -------------------------------------------------------------------------------------------------


def test_the_description_names_the_address_that_it_was_asked_at(door: Door) -> None:
    for query in ("", "?version=v1alpha1", "?version=v1alpha1&key=AIza-anything", "?key=a&key=b"):
        answer = door.http.get(f"/$discovery/rest{query}")
        assert answer.status_code == 200
        assert answer.json()["rootUrl"] == f"{door.service.base_url}/"
    behind = door.http.get("/%24discovery/rest", headers={"Host": "bench.example", "X-Forwarded-Proto": "https"})
    assert behind.json()["rootUrl"] == "https://bench.example/"
    assert behind.headers["Cache-Control"] == "no-store"


def test_the_description_has_the_paths_and_types_of_the_wire(door: Door) -> None:
    described = door.http.get("/$discovery/rest").json()
    methods = described["resources"]["comments"]["methods"]
    assert f"/{methods['analyze']['path']}" == ANALYZE
    known = described["schemas"]
    named = set(re.findall(r'"\$ref": "(\w+)"', json.dumps(described)))
    assert named <= set(known)
    assert known["AttributeParameters"]["properties"]["scoreThreshold"] == {"type": "number", "format": "double"}
    assert known["SpanScore"]["properties"]["begin"] == {"type": "integer", "format": "int32"}
