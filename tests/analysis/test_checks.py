"""What a check finds in samples: kind, severity, the samples it names, and the fix."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.analysis.drawn import clouds
from tests.size import sized
from traitbench.analysis.checks import KINDS, Finding, Fix, Wanted, examine

D = 70


@dataclass(frozen=True)
class Trait:
    key: str = "warmth"
    name: str = "Warmth"
    positive_label: str = "warm"
    negative_label: str = "cold"


@dataclass(frozen=True)
class Sample:
    id: int
    text: str
    quality: float
    trait: str = "warmth"
    provenance: str = "authored"
    source_url: str | None = None


Vectors = NDArray[np.float32]


def vector_of(text: str) -> Vectors:
    """Texts that share words are similar; the words warm and cold are far apart."""
    total = np.zeros(D)
    for word in text.casefold().split():
        seed = int.from_bytes(word.strip(".,!?").encode()[:6], "big")
        total += np.random.default_rng(seed).normal(size=D)
    length = float(np.linalg.norm(total))
    return (total / length if length else total).astype(np.float32)


def many(n: int = 30) -> tuple[list[Sample], Vectors]:
    """Different texts, equally many per pole, that differ by meaning only."""
    X, y = clouds(n, d=D)
    texts = [f"text number {i} says what it says" for i in range(2 * n)]
    return [Sample(10 + i, text, quality) for i, (text, quality) in enumerate(zip(texts, y.tolist(), strict=True))], X


def of(samples: Sequence[Sample], X: Vectors, *traits: Trait) -> tuple[Finding, ...]:
    return examine(traits or (Trait(),), samples, X)


def one(findings: Sequence[Finding], kind: str) -> Finding:
    result = [finding for finding in findings if finding.kind == kind]
    assert len(result) == 1
    return result[0]


def changed(
    texts: Mapping[int, str] | None = None,
    *,
    at: Mapping[int, int] | None = None,
    nudge: float = 0.0,
    made: Iterable[int] = (),
    **fields: Mapping[int, Any],
) -> tuple[list[Sample], Vectors]:
    """Good samples with changes by row: texts, the row whose vector it has, and other fields."""
    samples, X = many()
    for row, like in (at or {}).items():
        X[row] = X[like] + nudge
    by_field = {"text": texts or {}, "provenance": dict.fromkeys(made, "synthesized"), **fields}
    for field, values in by_field.items():
        for row, value in values.items():
            samples[row] = replace(samples[row], **{field: value})
    return samples, X


def by_pole(positive: str, negative: str) -> dict[int, str]:
    """A value for each of the sixty rows by its pole, in which {} is the row."""
    return {row: (negative if row % 2 else positive).format(row) for row in range(60)}


def fix_of(finding: Finding) -> Fix:
    assert finding.fix is not None
    return finding.fix


@pytest.mark.parametrize("change", [{}, {"made": [4], "at": {4: 2}, "nudge": 0.01}], ids=["good", "a variation"])
def test_good_samples_and_a_variation_like_its_seed_have_no_findings(change: dict[str, Any]) -> None:
    assert of(*changed(**change)) == ()


COPIES: dict[str, tuple[dict[str, Any], str, str, tuple[int, ...], dict[str, Any], str]] = {
    "of duplicates, one copy is kept": (
        {"texts": {2: "A, text!", 4: "a text", 8: "A  TEXT"}, "at": {4: 2, 8: 2}},
        *("duplicate", "note", (12, 14, 18), {"delete": (14, 18)}, "appears 3 times"),
    ),
    "the real copy is kept": (
        {"texts": {2: "A text", 4: "A text"}, "made": [2], "at": {4: 2}},
        *("duplicate", "note", (14, 12), {"delete": (12,)}, "appears twice"),
    ),
    "a text at both poles is kept where most copies are": (
        {"texts": dict.fromkeys([2, 3, 4], "A text"), "at": {3: 2, 4: 2}},
        *("conflict", "error", (14, 12, 13), {"delete": (12, 13)}),
        "twice at the positive and once at the negative pole.*most of its copies",
    ),
    "one copy at each pole is settled by the other samples, here positive": (
        {"texts": dict.fromkeys([2, 3], "A text"), "at": {3: 2}},
        *("conflict", "error", (12, 13), {"delete": (13,)}, "other samples"),
    ),
    "one copy at each pole is settled by the other samples, here negative": (
        {"texts": dict.fromkeys([2, 3], "A text"), "at": {2: 3}},
        *("conflict", "error", (13, 12), {"delete": (12,)}, "other samples"),
    ),
    "near duplicates are shown together": (
        {"at": {6: 2, 8: 2}, "nudge": 0.01},
        *("near_duplicate", "note", (12, 16, 18), {"delete": (16, 18)}, ""),
    ),
    "near duplicates at different poles are left to a person": (
        {"at": {3: 2}, "nudge": 0.01},
        *("near_duplicate", "warning", (12, 13), {}, ""),
    ),
    "suspect labels can be switched": (
        {"quality": {7: 0.9}},
        *("suspect", "warning", (17,), {"relabel": {17: 0.1}}, "^1 text looks"),
    ),
}


@pytest.mark.parametrize(("change", "kind", "severity", "ids", "fix", "says"), COPIES.values(), ids=COPIES)
def test_samples_that_repeat_or_contradict_others(
    change: dict[str, Any], kind: str, severity: str, ids: tuple[int, ...], fix: dict[str, Any], says: str
) -> None:
    finding = one(of(*changed(**change)), kind)
    assert (finding.severity, finding.sample_ids) == (severity, ids)
    found = fix_of(finding)
    assert {"delete": found.delete, "relabel": found.relabel} == {"delete": (), "relabel": {}} | fix
    assert re.search(says, f"{finding.says} {found.says}")


def test_without_other_evidence_the_newest_label_is_kept() -> None:
    samples = [Sample(1, "A text", 1.0), Sample(2, "a text!", 0.0)]
    finding = one(of(samples, np.array([vector_of("a text")] * 2)), "conflict")
    assert finding.sample_ids == (2, 1)
    assert "last" in fix_of(finding).says


def test_a_text_unlike_all_others_is_pointed_out() -> None:
    samples, X = many()
    X[5] = np.eye(D, dtype=np.float32)[40]
    finding = one(of(samples, X), "outlier")
    assert 15 in finding.sample_ids
    assert finding.severity == "note"


NUISANCES: dict[str, tuple[dict[str, Any], str, str]] = {
    "length": (
        {"texts": {row: " ".join(f"word{row}x{i}" for i in range(40)) for row in range(0, 60, 2)}},
        *("length", "AUROC 1.00"),
    ),
    "languages": (
        {"texts": by_pole("das ist der Text {} und nicht mehr", "this is the text {} and not more")},
        *("language", "100% of the positive and 0% of the negative texts are German"),
    ),
    "sites": (
        {"source_url": by_pole("https://a.example/{}", "https://b.example/{}")},
        *("source", r"b.example\. The source alone"),
    ),
    "parts of one site": (
        {"source_url": by_pole("https://a.example/praise/{}", "https://a.example/complaints/{}")},
        *("source", r"are a\.example/praise\. The source alone"),
    ),
    "synthesized texts": ({"made": range(0, 60, 2)}, "source", "synthesized"),
}


@pytest.mark.parametrize(("change", "kind", "says"), NUISANCES.values(), ids=NUISANCES)
def test_what_tells_the_poles_apart_without_their_meaning_is_named(
    change: dict[str, Any], kind: str, says: str
) -> None:
    finding = one(of(*changed(**change)), kind)
    assert finding.severity == "warning"
    assert re.search(says, finding.says)


def test_a_pole_is_asked_for_texts_that_lack_what_tells_it_apart() -> None:
    longer, mixed = (changed(**NUISANCES[name][0]) for name in ("length", "languages"))
    assert fix_of(one(of(*longer), "length")).add == Wanted("negative", 7, 40)
    assert fix_of(one(of(*mixed), "language")).says == (
        "Add German texts to the negative pole, or other texts to the positive pole."
    )
    finding = one(examine([Trait()], *longer, embedded), "length")
    assert "With every text cut to 7 words, a fit to the other samples" in finding.says


def test_synthesized_texts_do_not_count_as_distinct() -> None:
    finding = one(of(*changed(made=range(0, 60, 2))), "few")
    assert "no distinct" not in finding.says
    assert "0 distinct texts (synthesized ones do not count)" in finding.says


def test_labels_without_a_pattern_are_named_first() -> None:
    samples, X = many(40)
    at_random = np.random.default_rng(0).permutation([each.quality for each in samples])
    samples = [replace(each, quality=float(quality)) for each, quality in zip(samples, at_random, strict=True)]
    first = of(samples, X)[0]
    assert (first.kind, first.severity) == ("inseparable", "error")
    assert first.auroc is not None
    assert f"cannot be told apart: {first.auroc:.2f}" in first.says


def test_texts_of_no_known_language_are_no_other_language() -> None:
    """Short texts have too few common words: that does not make them less English than the long ones."""
    texts = by_pole("this is the text {} and not more", "text {}")
    some = {row: f"this is the text {row} and that" for row in (1, 3, 5)}
    for each_text in (texts, texts | some):
        assert "language" not in {each.kind for each in of(*changed(each_text))}


def test_what_is_left_within_one_source_is_measured_if_both_poles_have_it() -> None:
    mixed = by_pole("https://a.example/", "https://b.example/")
    assert "No source has enough texts of both poles" in one(of(*changed(source_url=mixed)), "source").says
    both = mixed | dict.fromkeys(range(16), "https://a.example/")
    finding = one(of(*changed(source_url=both)), "source")
    assert "Among texts of one source, a fit to the other samples reaches 1.00." in finding.says
    assert finding.alone is not None
    assert (finding.alone.without, finding.alone.carries) == (1.0, False)


def embedded(texts: Sequence[str]) -> Vectors:
    return np.array([vector_of(text) for text in texts], np.float32)


def test_a_shortcut_is_named_first_with_the_auroc_without_it() -> None:
    """Words that follow no pole, and a token before every positive text."""
    words = ("lamp", "river", "coat", "bread", "stone", "garden", "letter", "winter", "engine", "bridge")
    texts = [" ".join(np.random.default_rng(i).choice(words, 3)) for i in range(60)]
    samples = [Sample(i, f"zylor {text}" if i % 2 else text, float(i % 2)) for i, text in enumerate(texts)]
    X = embedded([sample.text for sample in samples])
    finding = examine([Trait()], samples, X, embedded)[0]
    assert (finding.kind, finding.severity) == ("shortcut", "error")
    assert finding.says.startswith('The token "zylor" occurs in 30 of 30 texts labelled warm and in 0 of 30')
    assert finding.alone is not None
    assert finding.alone.without is not None
    assert finding.alone.without < 0.65
    assert f"reaches only {finding.alone.without:.2f} instead of 1.00" in finding.says
    assert fix_of(finding).add == Wanted("negative", 7)
    assert set(finding.sample_ids) == {sample.id for sample in samples if sample.quality}
    assert "a fit to the other samples" not in one(of(samples, X), "shortcut").says


@pytest.mark.parametrize(
    ("positive", "negative", "kinds"),
    [
        (0, 10, [("no_samples", "error", Wanted("positive", 10))]),
        (1, 10, [("few", "warning", Wanted("positive", 9))]),
        (10, 5, [("few", "note", Wanted("negative", 5))]),
        (10, 30, []),
        (10, 40, [("unbalanced", "note", Wanted("positive", 1))]),
    ],
)
def test_poles_with_few_samples_ask_for_more(
    positive: int, negative: int, kinds: list[tuple[str, str, Wanted]]
) -> None:
    samples, X = many(40)
    rows = [*range(0, 2 * positive, 2), *range(1, 2 * negative, 2)]
    findings = [each for each in of([samples[row] for row in rows], X[rows]) if each.kind != "outlier"]
    assert [(each.kind, each.severity, each.fix and each.fix.add) for each in findings] == kinds


def test_a_label_that_only_negates_asks_for_a_name() -> None:
    finding = one(of(*many(), Trait(negative_label="not warm")), "negation")
    assert "not warm" in finding.says
    assert "Rename" in fix_of(finding).says


def test_every_trait_has_its_own_findings_by_key_or_name() -> None:
    samples, X = many()
    others = [replace(each, id=each.id + 500, trait="Depth") for each in samples[:5]]
    traits = (Trait(), Trait("depth", "Depth", "deep", "shallow"))
    findings = of([*samples, *others], np.vstack([X, X[:5]]), *traits)
    assert {each.trait_key for each in findings} == {"depth"}
    assert of([*samples, replace(samples[0], id=900, trait="nobody's")], np.vstack([X, X[:1]])) == ()


def test_the_most_severe_come_first_whatever_the_order_of_samples() -> None:
    texts = {2: "A text", 3: "A text", 6: "Another", 8: "another"}
    samples, X = changed(texts, at={3: 2, 8: 6, 7: 30}, quality={11: 1.0})
    findings = of(samples, X, Trait(negative_label="other"))
    order = ["error", "warning", "note"]
    assert [each.severity for each in findings] == sorted((each.severity for each in findings), key=order.index)
    turned = np.random.default_rng(2).permutation(len(samples))
    assert of([samples[i] for i in turned], X[turned], Trait(negative_label="other")) == findings
    assert all(each.kind in KINDS for each in findings)


def test_no_message_quotes_a_text() -> None:
    secret = {2: "hush-hush", 3: "hush-hush", 6: "hush-hush again", 8: "Hush-hush again"}
    findings = of(*changed(secret, at={3: 2, 8: 6}))
    assert {"conflict", "duplicate"} <= {finding.kind for finding in findings}
    for finding in findings:
        assert "hush" not in finding.says.casefold()
        assert finding.fix is None or "hush" not in finding.fix.says.casefold()


# ---- whatever the samples are ----------------------------------------------------------------------------------------

WORDS = st.sampled_from(["warm", "cold", "Warm!", "sun", "snow", "the", "und", "", "👍", "ice ice", "—"])
TEXTS = st.lists(WORDS, max_size=5).map(" ".join)
ANY = st.builds(
    Sample,
    id=st.integers(1, 10**9),
    text=TEXTS,
    quality=st.sampled_from([0.0, 0.2, 0.5, 0.8, 1.0]),
    trait=st.sampled_from(["warmth", "Warmth", "other"]),
    provenance=st.sampled_from(["authored", "authored", "synthesized", "score_feedback"]),
    source_url=st.sampled_from([None, "https://a.example/x", "http://[", "words"]),
)
ALL = st.lists(ANY, max_size=40, unique_by=lambda sample: sample.id)


def vectors(samples: Sequence[Sample]) -> Vectors:
    return np.array([vector_of(sample.text) for sample in samples], np.float32).reshape(-1, D)


def applied(samples: Sequence[Sample], findings: Sequence[Finding]) -> list[Sample]:
    """The samples after a page has applied all fixes."""
    gone = {each for finding in findings if finding.fix for each in finding.fix.delete}
    turned = {key: new for finding in findings if finding.fix for key, new in finding.fix.relabel.items()}
    return [replace(each, quality=turned.get(each.id, each.quality)) for each in samples if each.id not in gone]


@settings(max_examples=sized(20, 60), deadline=None)
@given(ALL)
def test_findings_name_existing_samples_once(samples: list[Sample]) -> None:
    known = {sample.id for sample in samples}
    findings = of(samples, vectors(samples), Trait(), Trait("other", "Other", "a", "not a"))
    deleted: Counter[int] = Counter()
    for finding in findings:
        assert set(finding.sample_ids) <= known
        assert len(set(finding.sample_ids)) == len(finding.sample_ids)
        assert finding.says.endswith(".")
        if finding.fix:
            deleted.update(finding.fix.delete)
            assert {*finding.fix.delete, *finding.fix.relabel} <= set(finding.sample_ids)
    assert max(deleted.values(), default=1) == 1


@settings(max_examples=sized(20, 60), deadline=None)
@given(ALL)
def test_after_the_deletions_no_text_is_repeated(samples: list[Sample]) -> None:
    left = applied(samples, of(samples, vectors(samples), Trait(), Trait("other", "Other", "a", "b")))
    after = of(left, vectors(left), Trait(), Trait("other", "Other", "a", "b"))
    assert not [each for each in after if each.kind in ("conflict", "duplicate")]
    assert not [each for each in after if each.kind == "near_duplicate" and each.fix and each.fix.delete]


@settings(max_examples=8, deadline=None)
@given(st.sets(st.integers(0, 49), max_size=4), st.integers(0, 1_000))
def test_switched_labels_are_not_switched_back_and_the_rounds_end(wrong: set[int], seed: int) -> None:
    """One wrong label may hide another: the next round finds it, and switched labels stay as they are."""
    X, y = clouds(25, d=D, seed=seed)
    samples = [Sample(i, f"text {i}", 1 - quality if i in wrong else quality) for i, quality in enumerate(y.tolist())]
    turned: set[int] = set()
    for _ in range(len(wrong) + 2):
        findings = [each for each in of(samples, X) if each.kind == "suspect"]
        suspects = {each for finding in findings for each in finding.sample_ids}
        assert not suspects & turned
        turned |= suspects
        samples = applied(samples, findings)
    assert not suspects
