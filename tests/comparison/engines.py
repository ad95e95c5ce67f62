"""Runs what decides whether B is better than A on recorded inputs; the answers are plain JSON values."""

from typing import Any

import numpy as np

from tests.scoring.hand import axis, samples, snapshot
from traitbench.comparison import encoders, gate, retrains
from traitbench.comparison.versions import (
    PairScore,
    RecordedChanges,
    TestSample,
    TestSet,
    VersionSide,
    compare,
    compare_traits,
)
from traitbench.contract.comparisons import ComparedText, VersionsComparison
from traitbench.contract.metrics import Metrics
from traitbench.encoders.ngrams import NGrams
from traitbench.estimators.diff import Diff
from traitbench.fitting.search import chosen_before
from traitbench.scoring.card import Placed

Json = dict[str, Any]


def versions(given: Json) -> VersionsComparison:
    """The answer on two versions by their positions on the texts of test samples."""
    a, b = (snapshot(*(axis(key) for key in given["traits"][side])) for side in ("a", "b"))
    vectors = np.eye(128, dtype=np.float32)
    scored = [
        PairScore(Placed(each["a"]), Placed(each["b"]), vectors[near])
        for each, near in zip(given["texts"], given["near"], strict=True)
    ]
    texts = [f"text {index}" for index in range(len(scored))]
    tests = TestSet([TestSample(*each) for each in given["tests"]], texts, given["left_out"], given["ids"])
    one, other = (
        VersionSide(f"acme.{name}", at, given["hashes"][at - 1], side, Metrics.model_validate({}))
        for at, (name, side) in enumerate((("one", a), ("other", b)), 1)
    )
    recorded = RecordedChanges(unrecorded="Not recorded.")
    return compare(one, other, tests, lambda some: [*scored, *scored][: len(some)], recorded=recorded, texts=texts)


def versions_answer(given: Json) -> Json:
    """The verdicts and figures, the reports of a gate on them, and the sentences of a notebook on the texts."""
    compared = versions(given)
    labelled = [gate.Labelled(f"text {index}", expected) for index, expected in enumerate(given["expected"])]
    report = gate.judge(compared, gate.Rules(max_drop=0.02, least={"warmth": 0.8}, must_pass=True), labelled)
    keys = list(compared.traits)
    changes = [each for each in compared.texts or [] if isinstance(each, ComparedText)]
    diff = Diff(keys, ["" for _ in changes], changes, given["hashes"][0] == given["hashes"][1])
    return {
        "verdict": compared.verdict,
        "reason": compared.reason,
        "traits": {key: each.model_dump(mode="json") for key, each in compared.traits.items()},
        "outcomes": [[each.rule, each.outcome, each.reason] for each in report.checks],
        "markdown": gate.markdown(report).splitlines(),
        "diff": str(diff).splitlines() if keys and compared.texts else [],
    }


def tests_answer(given: Json) -> Json:
    """Whether a retrain is held by its test samples."""
    version = snapshot(*(axis(key) for key in given["traits"]))
    own = [(key, each) for key, several in given["traits"].items() for each in several]
    near = np.eye(128, dtype=np.float32)
    scored = [
        PairScore(Placed([each[2]] * len(version.traits)), Placed([each[3]] * len(version.traits)), near[at])
        for at, (_, each) in enumerate(own)
    ]
    tests = [TestSample(key, at, each[0], each[1]) for at, (key, each) in enumerate(own)]
    tested = compare_traits(version, version, list(given["traits"]), TestSet(tests), scored)
    changes = {
        key: {"before": each.auroc.a, "after": each.auroc.b, "samples": each.n}
        if each.auroc and each.auroc.interval
        else None
        for key, each in tested.items()
    }
    held = retrains.reason_to_hold([*given["traits"]], tested, dict, compared_with=1)
    return {"traits": changes, "because": _because(held)}


def folds_answer(given: Json) -> Json:
    """Whether a retrain is held by samples left out of its fits."""
    X, y = np.array(given["X"], np.float32), np.array(given["y"])
    change = retrains.out_of_fold(
        samples(X, y, groups=given["groups"]),
        np.array(given["known"]),
        shares=chosen_before({"shares": given["shares"]}),
        effort="low",
    )
    held = retrains.reason_to_hold(
        ["warmth"], {}, lambda: {} if change is None else {"warmth": change}, compared_with=1
    )
    return {"change": change and vars(change), "because": _because(held)}


def _because(held: Json | None) -> str | None:
    return None if held is None else held["because"]


def encoders_answer(given: Json) -> Json:
    """The figures of encoders by their vectors, and the result in words."""
    contenders = [
        encoders.Contender(
            name,
            [
                samples(np.array(X, np.float32), trait["y"], key=trait["key"])
                for trait, X in zip(given["traits"], of_traits, strict=True)
            ],
            {},
        )
        for name, of_traits in given["vectors"].items()
    ]
    candidates = tuple(encoders.EncoderCandidate(name, NGrams(), 1.0) for name in given["vectors"])
    compared = tuple(encoders.compare_vectors(contenders, effort="low"))
    report = encoders.EncoderComparison(0, "low", candidates, compared)
    whole = report.to_json()
    return {"traits": whole["traits"], "verdict": whole["verdict"], "preferable": whole["preferable"]} | {
        "rows": [list(row) for row in encoders.rows(report)]
    }


ENGINES = {
    "versions": versions_answer,
    "tests": tests_answer,
    "folds": folds_answer,
    "encoders": encoders_answer,
}
