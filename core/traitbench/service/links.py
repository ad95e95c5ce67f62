"""The links of the OpenAPI document: which operation can follow, and which of its parameters the answer provides.

Programs and the contract tests' fuzzer follow them.
"""

from collections.abc import Mapping
from typing import Any

Values = Mapping[str, Any]  # by the name of a parameter, or BODY
Targets = Mapping[str, Values]

BODY = "requestBody"

_MADE = {"handle": "$response.body#/handle"}
_SAME = {"handle": "$request.path.handle"}

_OF_MODEL = (
    *("models.get", "models.update", "models.train", "models.retrain", "models.export", "models.delete", "models.fork"),
    *("traits.add", "traits.list", "traits.discover", "samples.add", "samples.list", "samples.synthesize"),
    *("samples.plan", "versions.list", "versions.activations", "scores.score", "scores.compare", "scores.batch"),
)
_TRAIT = ("traits.get", "traits.update", "traits.delete")


def _all(targets: tuple[str, ...], values: Values) -> Targets:
    return dict.fromkeys(targets, values)


LINKS: Mapping[str, Targets] = {
    "models.create": _all(_OF_MODEL, _MADE),
    "models.import": _all(_OF_MODEL, _MADE),
    "models.fork": {
        **_all(_OF_MODEL, _MADE),
        "models.promote": {**_SAME, BODY: {"from": "$response.body#/handle"}},
    },
    "models.promote": _all(("models.get", "versions.list", "scores.score"), _SAME),
    "models.update": _all(("models.get",), _MADE),
    "models.delete": _all(("models.restore",), _MADE),
    "models.restore": _all(("models.get", "models.train", "scores.score"), _MADE),
    "models.list": _all(("models.get",), {"handle": "$response.body#/items/0/handle"}),
    "models.export": {"models.import": {BODY: "$response.body"}},
    "models.train": _all(("models.get", "models.delete", "versions.list"), _SAME),
    "models.retrain": _all(("models.get", "versions.list"), _SAME),
    "traits.add": {
        **_all(_TRAIT, {**_SAME, "key": "$response.body#/traits/0/key"}),
        **_all(("traits.list", "samples.add", "samples.plan", "samples.synthesize"), _SAME),
    },
    "traits.discover": _all(("models.get", "traits.list"), _SAME),
    "samples.add": {
        "samples.update": {**_SAME, BODY: {"ids": "$response.body#/ids", "held_out": True}},
        "samples.delete": {**_SAME, "sample_id": "$response.body#/ids/0"},
        "samples.delete_many": {**_SAME, BODY: {"ids": "$response.body#/ids"}},
        **_all(("samples.list", "traits.discover", "models.train"), _SAME),
    },
    "samples.plan": _all(("samples.synthesize",), _SAME),
    "samples.synthesize": _all(("models.get", "samples.list", "samples.rejected"), _SAME),
    "versions.list": {
        "versions.get": {**_SAME, "name": "v{$response.body#/items/0/version_no}"},
        "versions.tag": {**_SAME, BODY: {"version": "v{$response.body#/items/0/version_no}"}},
    },
    "versions.tag": {
        **_all(("versions.get", "versions.untag"), {**_SAME, "name": "$response.body#/tag"}),
        "versions.activate": {**_SAME, BODY: {"tag": "$response.body#/tag"}},
    },
    "versions.activate": {
        **_all(("scores.score", "scores.compare", "scores.batch"), _SAME),
        "versions.compare": {BODY: {"a": "$response.body#/handle", "b": "$response.body#/handle"}},
    },
}
