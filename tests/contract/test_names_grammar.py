"""Names on the wire (core/docs/contract.md, section 2): handles, trait keys and names, tags, versions."""

import pytest

from tests.contract.world import World

GOOD_NAMES = ["a", "0", "a-b_c", "9-", "x" * 64, "a__b", "0_"]
BAD_NAMES = ["", "A", "-a", "_a", "x" * 65, "a b", "é", "a/b", "a@b", "a\n", "а"]


@pytest.mark.parametrize("name", GOOD_NAMES)
def test_a_handle_is_two_names_and_a_dot(world: World, name: str) -> None:
    answer = world.call("POST", "/v1/models", json={"handle": f"mine.{name}"})
    assert (answer.status, answer.body["handle"]) == (201, f"mine.{name}")
    assert world.call("POST", "/v1/models", json={"handle": f"{name}.b"}).code == "namespace_forbidden"


@pytest.mark.parametrize("name", BAD_NAMES)
def test_no_other_handle_is_taken(world: World, name: str) -> None:
    for handle in (f"mine.{name}", f"{name}.b", f"mine.b.{name}", name, f"mine.draft@{name}", "mine.draft@v1"):
        answer = world.call("POST", "/v1/models", json={"handle": handle})
        assert (answer.status, answer.code) == (422, "invalid_handle"), handle


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
@pytest.mark.parametrize("pin", ["v1", "best", "active"])
def test_only_score_takes_a_pinned_handle(world: World, method: str, pin: str) -> None:
    assert world.call(method, f"/v1/models/mine.ready@{pin}").code == "invalid_handle"


@pytest.mark.parametrize(
    ("pin", "expected"),
    [
        ("v1", (200, "")),
        ("active", (200, "")),
        ("v01", (200, "")),
        ("v2", (404, "version_not_found")),
        ("v" + "9" * 40, (404, "version_not_found")),
        ("absent", (404, "version_not_found")),
        ("", (422, "invalid_handle")),
        ("-x", (422, "invalid_handle")),
        ("a@b", (422, "invalid_handle")),
        ("x" * 65, (422, "invalid_handle")),
    ],
)
def test_a_pin_is_a_version_or_a_tag(world: World, pin: str, expected: tuple[int, str]) -> None:
    answer = world.call("POST", f"/v1/models/mine.ready@{pin}/score", json={"content": "x"})
    assert (answer.status, answer.code) == expected


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Clarity and Simplicity", "clarity_and_simplicity"),
        ("  Tone -- of / voice!  ", "tone_of_voice"),
        ("Größe", "grösse"),
        ("Ｆｕｌｌ Ｗｉｄｔｈ", "full_width"),
        ("Ясность 2", "ясность_2"),
        ("_a__b_", "a_b"),
    ],
)
def test_a_key_is_made_of_the_name(world: World, name: str, key: str) -> None:
    world.call("POST", "/v1/models", json={"handle": "mine.keys"})
    answer = world.call("POST", "/v1/models/mine.keys/traits", json={"traits": [{"name": name}]})
    assert answer.body["traits"][0]["key"] == key


@pytest.mark.parametrize(
    ("trait", "status"),
    [
        ({"name": "a", "key": "A-b_9é"}, 200),
        ({"name": "b", "key": "x" * 64}, 200),
        ({"name": "c", "key": "x" * 65}, 422),
        ({"name": "d", "key": ""}, 422),
        ({"name": "e", "key": "a b"}, 422),
        ({"name": "f", "key": "a.b"}, 422),
        ({"name": "g", "key": "a\n"}, 422),
        ({"name": "!?"}, 422),
        ({"name": ""}, 422),
        ({"name": "x" * 201}, 422),
        ({"name": "h", "positive_label": ""}, 422),
        ({"name": "h", "negative_label": "x" * 201}, 422),
        ({"name": "h", "aggregation": "sum"}, 422),
        ({"name": "h", "kind": "intrinsic"}, 422),
    ],
)
def test_the_grammar_of_a_trait(world: World, trait: dict[str, str], status: int) -> None:
    world.call("POST", "/v1/models", json={"handle": "mine.grammar"})
    answer = world.call("POST", "/v1/models/mine.grammar/traits", json={"traits": [trait]})
    assert (answer.status, answer.code) == (status, "validation_failed" if status == 422 else "")


@pytest.mark.parametrize("tag", ["a", "0", "A.b_c-d", "v", "v1a", "vx", "Active", "x" * 64, "1.0"])
def test_a_tag(world: World, tag: str) -> None:
    assert world.call("POST", f"/v1/models/mine.ready/versions/{tag}").status == 201
    assert world.call("POST", f"/v1/models/mine.ready@{tag}/score", json={"content": "x"}).status == 200
    assert world.call("DELETE", f"/v1/models/mine.ready/versions/{tag}").status == 200


@pytest.mark.parametrize(
    "tag", ["v1", "v0", "v99999999999999999999", "active", ".a", "-a", "_a", "x" * 65, "a%20b", "%C3%A9", "a%2Fb"]
)
@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_no_other_tag_is_taken(world: World, method: str, tag: str) -> None:
    answer = world.call(method, f"/v1/models/mine.ready/versions/{tag}")
    assert (answer.status, answer.code) == (422, "invalid_tag")


ALIAS = {"handle": "mine.ready@v1", "trait": "tone"}


@pytest.mark.parametrize("name", ["A", "TOXICITY", "A_", "A0__9", "X" * 64])
def test_an_attribute(world: World, name: str) -> None:
    path = f"/v1/namespaces/mine/attributes/{name}"
    assert world.call("PUT", path, json=ALIAS).body["name"] == name
    assert world.call("GET", path).body == world.call("DELETE", path).body


@pytest.mark.parametrize(
    "name",
    [
        "a",
        "0A",
        "_A",
        "A-B",
        "X" * 65,
        "A%20B",
        "%C3%84",
        "A%2FB",
        "A%00",
        "%ED%A0%80",
        "%F0%9F%98%80",
        "A%0A",
        "x" * 5000,
    ],
)
def test_no_other_attribute_is_taken(world: World, name: str) -> None:
    path = f"/v1/namespaces/mine/attributes/{name}"
    answer = world.call("PUT", path, json=ALIAS)
    assert (answer.status, answer.code) == (422, "validation_failed")
    for method in ("GET", "DELETE"):
        assert world.call(method, path).code == "attribute_not_found"
    assert world.call("GET", f"/v1/namespaces/{name}/attributes").code == "namespace_forbidden"
    assert world.call("PUT", f"/v1/namespaces/{name}/attributes/A", json=ALIAS).code == "namespace_forbidden"


def test_a_long_name_in_a_path_is_not_found(world: World) -> None:
    assert world.call("GET", f"/v1/models/mine.draft/traits/{'x' * 5000}").code == "trait_not_found"
    assert world.call("GET", f"/v1/models/mine.ready/versions/{'x' * 5000}").code == "version_not_found"
