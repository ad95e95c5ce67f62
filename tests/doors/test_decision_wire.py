"""The decision wire over a real socket: answers, refusals in both forms, versions, and what is logged."""

import logging
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.conftest import COLD, WARM, Service, make_draft, train
from tests.contract.world import REQUEST_ID
from traitbench.client import Traitbench
from traitbench.contract.envelope import DecisionError
from traitbench.contract.traits import TraitInput

HANDLE = "decisions.tone"
KIND, COOL = WARM[0], COLD[0]
NONSENSE = "xkq zzv wqp jjx"
IS_WARM: Any = {"type": "noul", "instructions": "Is the message warm?"}
IS_COLD: Any = {"type": "noul", "instructions": "Is the message cold?"}
CHOICE: Any = {"type": "choice", "instructions": "What is it?", "criteria": {"cold": None, "warm": None}}
LEVELS = ["cold", "between", "warm"]
SCORE: Any = {"type": "score", "instructions": "How warm is it?", "criteria": LEVELS}


class Door:
    """A model with two versions, of which the first is tagged, and one way to ask it."""

    def __init__(self, service: Service) -> None:
        self.secret = service.issue(namespaces=("decisions",))
        self.client = Traitbench(service.base_url, self.secret)
        self.http = httpx.Client(base_url=service.base_url)
        make_draft(self.client, HANDLE)
        train(self.client, HANDLE)
        self.client.versions.tag(HANDLE, "first", version="v1")
        train(self.client, HANDLE, reoptimize_params=True)

    def post(self, body: Any = None, *, path: str = "/v1/systemone", key: str | None = None, **options: Any) -> Any:
        """Send a request, and check what every answer has."""
        headers = {"Authorization": f"Bearer {key or self.secret}"}
        response = self.http.post(path, **({"json": body} if body is not None else {}), headers=headers, **options)
        assert REQUEST_ID.fullmatch(response.headers["X-Request-Id"])
        assert response.headers["Content-Type"] == "application/json"
        if response.status_code != 200 and path == "/v1/systemone":
            DecisionError.model_validate(response.json())
        return response

    def ask(self, state: Any = KIND, *, model: Any = HANDLE, **questions: Any) -> Any:
        """Send questions that have answers, and return these."""
        response = self.post({"model": model, "state": state, "questions": questions})
        assert response.status_code == 200, response.text
        return response.json()

    def refused(self, state: Any = KIND, *, model: Any = HANDLE, status: Any = 422, **questions: Any) -> Any:
        """Send questions that are refused, and return the body."""
        response = self.post({"model": model, "state": state, "questions": questions})
        assert response.status_code == status, response.text
        return response.json()


@pytest.fixture(scope="module")
def door(service: Service) -> Iterator[Door]:
    door = Door(service)
    with door.client, door.http:
        yield door


def test_a_yes_or_no_is_the_probability_of_the_pole(door: Door) -> None:
    answers = door.ask(warm=IS_WARM, cold=IS_COLD)["answers"]
    card = door.client.scores.score(HANDLE, KIND).detail["warmth"]
    assert answers["warm"]["type"] == "noul"
    assert answers["warm"]["noul"] + answers["cold"]["noul"] == 1
    assert answers["warm"]["noul"] > 0.5 > answers["cold"]["noul"]
    assert (answers["warm"]["x_confidence"], answers["warm"]["x_reason"]) == (card.confidence, card.confidence_reason)
    assert set(answers["warm"]) == {"type", "noul", "x_confidence", "x_reason", "x_side"}


def test_it_rises_with_the_score_and_passes_the_middle_where_the_side_does(door: Door) -> None:
    texts = [*WARM, *COLD, NONSENSE, f"{KIND} {COOL}", "🙂", "1234", "Ünïcödé 日本語", "A" * 300]
    of_confidence: dict[str, list[tuple[float, float]]] = {}
    for text in texts:
        score = door.client.scores.score(HANDLE, text).detail["warmth"]
        answer = door.ask(text, q=IS_WARM)["answers"]["q"]
        assert (answer["noul"] > 0.5) == (score.native.polarity > 0)
        assert answer["x_side"] in ({"warm": 1, None: 0} if answer["noul"] > 0.5 else {"cold": 1, None: 0})
        if answer["x_confidence"] == "low":
            assert answer["x_side"] is None
            assert 0.4 <= answer["noul"] <= 0.6
        of_confidence.setdefault(score.confidence, []).append((score.native.polarity, answer["noul"]))
    for pairs in of_confidence.values():
        nouls = [noul for _, noul in sorted(pairs)]
        assert nouls == sorted(nouls)
    assert "low" in of_confidence
    assert len(of_confidence) > 1


def test_a_choice_has_exactly_its_options(door: Door) -> None:
    answer = door.ask(q=CHOICE)["answers"]["q"]
    assert answer["choice"] == "warm"
    assert [*answer["probabilities"]] == ["cold", "warm"]
    assert sum(answer["probabilities"].values()) == 1
    assert answer["confidence"] == pytest.approx(2 * answer["probabilities"]["warm"] - 1)
    strange = {"  WARM words 🙂": {"about": "thanks"}, "z": ["cold"]}
    assert [*door.ask(q={**CHOICE, "criteria": strange})["answers"]["q"]["probabilities"]] == [*strange]


@pytest.mark.parametrize("levels", range(2, 11))
def test_a_score_is_the_mean_position_on_its_scale(door: Door, levels: int) -> None:
    scale = ["cold", *(f"level {number}" for number in range(levels - 2)), {"end": "warm"}]
    answers = door.ask(q={**SCORE, "criteria": scale}, reverse={**SCORE, "criteria": scale[::-1]}, w=IS_WARM)["answers"]
    answer, positions = answers["q"], [str(number) for number in range(levels)]
    assert answer["legend"] == dict(zip(positions, scale, strict=True))
    assert [*answer["probabilities"]] == positions
    assert sum(answer["probabilities"].values()) == 1
    assert answer["score"] == sum(int(position) * weight for position, weight in answer["probabilities"].items())
    assert answer["score"] == pytest.approx(answers["w"]["noul"] * (levels - 1), abs=1e-5)
    assert answers["reverse"]["score"] == pytest.approx(levels - 1 - answer["score"], abs=1e-12)
    assert 0 <= answer["confidence"] <= 1


def test_an_unsure_text_is_no_sure_answer_in_any_form(door: Door) -> None:
    answers = door.ask(NONSENSE, noul=IS_WARM, choice=CHOICE, score=SCORE)["answers"]
    assert {(each["x_confidence"], each["x_side"]) for each in answers.values()} == {("low", None)}
    assert all(each["x_reason"] for each in answers.values())
    assert 0.4 <= answers["noul"]["noul"] <= 0.6
    assert all(0.4 <= each <= 0.6 for each in answers["choice"]["probabilities"].values())
    assert 0.8 <= answers["score"]["score"] <= 1.2
    assert answers["choice"]["confidence"] <= 0.2 >= answers["score"]["confidence"]


@pytest.mark.parametrize("identity", ["", "q", "warm", "a.b/c d", "Frage 🙂", "\n", "x" * 500, "__proto__", "cold"])
def test_any_id_returns_unchanged_and_changes_nothing(door: Door, identity: str) -> None:
    assert door.ask(**{identity: IS_WARM})["answers"] == {identity: door.ask(q=IS_WARM)["answers"]["q"]}


def test_several_questions_cost_one_reading_of_the_text(door: Door) -> None:
    tokens = door.ask(q=IS_WARM)["usage"]
    assert tokens == {"input_tokens": door.client.scores.score(HANDLE, KIND).input_tokens, "output_tokens": 0}
    many = {f"q{number}": (IS_WARM, CHOICE, SCORE)[number % 3] for number in range(255)}
    answer = door.ask(**many)
    assert answer["usage"] == tokens
    assert [*answer["answers"]] == [*many]


def test_an_object_or_a_list_is_read_as_its_texts_in_order(door: Door) -> None:
    plain = door.ask(f"Hi\n{KIND}", q=IS_WARM)["answers"]
    assert door.ask({"input": "Hi", "output": KIND, "count": 3}, q=IS_WARM)["answers"] == plain
    assert door.ask(["Hi", {"deep": [KIND]}, None, True], q=IS_WARM)["answers"] == plain
    assert door.ask({"output": KIND, "input": "Hi"}, q=IS_WARM)["usage"] == door.ask(f"{KIND}\nHi", q=IS_WARM)["usage"]


def test_an_address_is_a_text_and_nothing_is_fetched(door: Door) -> None:
    assert door.ask("http://127.0.0.1:9/private", q=IS_WARM)["usage"]["input_tokens"] > 1


def test_a_version_answers_by_number_and_by_tag_and_says_which_it_was(door: Door) -> None:
    models = {model: door.ask(model=model, q=IS_WARM)["model"] for model in (HANDLE, f"{HANDLE}@v1", f"{HANDLE}@first")}
    assert models == {HANDLE: f"{HANDLE}@v2", f"{HANDLE}@v1": f"{HANDLE}@v1", f"{HANDLE}@first": f"{HANDLE}@v1"}


def test_what_is_unknown_in_the_body_or_the_query_is_ignored(door: Door) -> None:
    body = {"model": HANDLE, "state": KIND, "questions": {"q": {**IS_WARM, "weight": 2}}, "stream": True, "seed": 7}
    response = door.post(body, path="/v1/systemone?api-version=1&api-version=2")
    assert response.status_code == 200
    assert response.json() == door.ask(q=IS_WARM)


def test_an_untaught_question_is_named_only_where_ids_may_be(door: Door) -> None:
    body = door.refused(**{"refund-4711": {"type": "noul", "instructions": "Do they want money back?"}})
    [detail] = body["detail"]
    assert detail["loc"] == ["body", "questions", "refund-4711"]
    assert detail["type"] == "no_trait_named"
    assert "warmth (cold or warm)" in detail["msg"]
    assert body["error"]["code"] == "validation_failed"
    assert body["error"]["details"]["known_traits"] == [{"key": "warmth", "name": "Warmth"}]
    assert "4711" not in body["error"]["message"]
    assert "money" not in str(body)


def test_every_question_that_has_no_answer_is_named(door: Door) -> None:
    strange = {"billing": "money", "bug": "fault"}
    body = door.refused(
        "",
        a=IS_WARM,
        b={**CHOICE, "criteria": strange},
        c={**SCORE, "criteria": ["low", "high"]},
        d={**IS_WARM, "instructions": "It is not warm"},
    )
    assert [(each["loc"][1:], each["type"]) for each in body["detail"]] == [
        (["state"], "blank"),
        (["questions", "b"], "poles_not_named"),
        (["questions", "c"], "poles_not_named"),
        (["questions", "d"], "negated_pole"),
    ]


def test_bounds_are_told_in_the_words_of_json(door: Door) -> None:
    def message(**change: Any) -> str:
        return str(door.post({"model": HANDLE, "state": KIND, **change}).json()["error"]["message"])

    assert message(questions={str(each): IS_WARM for each in range(256)}) == "Input should have at most 255 items."
    assert message(questions={}) == "Input should have at least 1 item."
    assert message(questions=[]) == "Input should be an object."


@pytest.mark.parametrize("state", ["", " \n", {}, [], [1, None], "\u200b"])
def test_a_state_without_a_text_is_refused(door: Door, state: Any) -> None:
    assert ["body", "state"] in [each["loc"] for each in door.refused(state, q=IS_WARM)["detail"]]


@pytest.mark.parametrize(
    "image",
    [
        {"type": "image", "data_base64": "aGk="},
        {"type": "image", "source": {"type": "base64", "data": "aGk="}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
        {"type": "input_image", "image_url": "https://unreachable.example/a.png"},
    ],
)
def test_a_state_with_an_image_is_refused(door: Door, image: Any) -> None:
    conversation = [{"role": "user", "content": [{"type": "text", "text": WARM[0]}, image]}]
    assert [each["type"] for each in door.refused(conversation, q=IS_WARM)["detail"]] == ["image"]


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"state": None}, ["state"]),
        ({"state": 7}, ["state"]),
        ({"state": "a\x00b"}, ["state"]),
        ({"state": ["a", {"b": "\x00"}]}, ["state", 1, "b"]),
        ({"questions": {}}, ["questions"]),
        ({"questions": []}, ["questions"]),
        ({"questions": {str(number): IS_WARM for number in range(256)}}, ["questions"]),
        ({"questions": {"q": {"instructions": "warm?"}}}, ["questions", "q"]),
        ({"questions": {"q": {"type": "box", "instructions": "warm?"}}}, ["questions", "q"]),
        ({"questions": {"q": {**CHOICE, "criteria": {}}}}, ["questions", "q", "choice", "criteria"]),
        ({"questions": {"q": {**CHOICE, "criteria": {"warm": 1, "cold": None}}}}, None),
        ({"questions": {"q": {**SCORE, "criteria": {"0": "cold", "1": "warm"}}}}, None),
        ({"questions": {"q": {**SCORE, "criteria": ["cold", None]}}}, None),
        ({"questions": {"q": {**SCORE, "criteria": ["cold", *("x" * 9), "warm"]}}}, None),
        ({"questions": {"q": {**IS_WARM, "instructions": 3}}}, None),
        ({"questions": {"q": {**IS_WARM, "instructions": "warm " * 4_001}}}, ["questions", "q"]),
        ({"model": "jev-latest"}, ["model"]),
        ({"model": None}, ["model"]),
    ],
)
def test_what_is_not_valid_is_a_422_with_its_path(door: Door, change: Any, where: Any) -> None:
    response = door.post({"model": HANDLE, "state": KIND, "questions": {"q": IS_WARM}, **change})
    assert response.status_code == 422
    body = response.json()
    assert all(each["loc"][0] == "body" for each in body["detail"])
    assert where is None or ["body", *where] in [each["loc"] for each in body["detail"]]


@pytest.mark.parametrize("raw", [b"", b"{", b'{"a": 1, "a": 2}', b'"\xff"', b"[" * 100, b'{"model": NaN}', b"null"])
def test_a_body_that_cannot_be_read_is_a_422_too(door: Door, raw: bytes) -> None:
    headers = {"Authorization": f"Bearer {door.secret}", "Content-Type": "application/json"}
    response = door.http.post("/v1/systemone", content=raw, headers=headers)
    assert response.status_code == 422
    DecisionError.model_validate(response.json())
    assert response.json()["detail"][0]["loc"][0] == "body"


def test_other_errors_have_the_two_forms_and_a_request_id(door: Door, service: Service) -> None:
    body = {"model": HANDLE, "state": KIND, "questions": {"q": IS_WARM}}
    foreign = service.issue("scoring", ("elsewhere",))
    large = {**body, "state": "x" * (service.settings.max_body_bytes + 1)}
    found = {
        "wrong key": door.post(body, key="wrong"),
        "key in another place": door.http.post("/v1/systemone", json=body, headers={"x-api-key": door.secret}),
        "no such model": door.post({**body, "model": "decisions.none"}),
        "another's model": door.post(body, key=foreign),
        "no such version": door.post({**body, "model": f"{HANDLE}@v9"}),
        "method": door.http.get("/v1/systemone"),
        "host": door.http.post("/v1/systemone", json=body, headers={"Accept": "text/csv"} | _bearer(door)),
        "media type": door.http.post("/v1/systemone", content=b"x", headers=_bearer(door)),
        "compressed": door.http.post("/v1/systemone", json=body, headers={"Content-Encoding": "zstd"} | _bearer(door)),
        "too large": door.post(large),
        "too long": door.post({**body, "state": "word " * 20_001}),
    }
    for response in found.values():
        error = DecisionError.model_validate(response.json())
        assert error.error.request_id == response.headers["X-Request-Id"]
        assert not isinstance(error.detail, list)
    assert {name: (each.status_code, each.json()["detail"]["error_type"]) for name, each in found.items()} == {
        "wrong key": (401, "authentication_error"),
        "key in another place": (401, "authentication_error"),
        "no such model": (404, "model_not_found"),
        "another's model": (404, "model_not_found"),
        "no such version": (404, "version_not_found"),
        "method": (405, "method_not_allowed"),
        "host": (406, "not_acceptable"),
        "media type": (415, "unsupported_media_type"),
        "compressed": (415, "unsupported_media_type"),
        "too large": (413, "body_too_large"),
        "too long": (413, "body_too_large"),
    }


def _bearer(door: Door) -> dict[str, str]:
    return {"Authorization": f"Bearer {door.secret}", "Content-Type": "text/csv"}


def test_a_draft_has_no_answers_and_several_traits_are_told_apart(door: Door) -> None:
    make_draft(door.client, "decisions.draft")
    door.client.traits.add("decisions.draft", [TraitInput(name="Chill", positive_label="cold", negative_label="hot")])
    body = door.refused(model="decisions.draft", status=409, q=IS_WARM)
    assert body["detail"]["error_type"] == "model_not_trained"


def test_the_other_form_of_decisions_is_not_there_and_says_so_in_json(door: Door) -> None:
    response = door.post({"model": HANDLE, "input": KIND, "questions": []}, path="/v1/decisions")
    assert (response.status_code, response.json()["error"]["code"]) == (404, "route_not_found")


def test_the_listing_of_models_stays_as_it_is(door: Door) -> None:
    response = door.http.get("/v1/models", params={"namespace": "decisions"}, headers=_bearer(door))
    assert response.json()["items"][0]["handle"].startswith("decisions.")


def test_no_text_question_or_id_is_logged(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        for instructions, ask in (("Zyzzyva warm?", door.ask), ("Zyzzyva?", door.refused)):
            ask("Zyzzyva is warm", **{"id-zyzzyva": {**IS_WARM, "instructions": instructions}})
    assert "/v1/systemone" in caplog.text
    assert "yzzyva" not in caplog.text
