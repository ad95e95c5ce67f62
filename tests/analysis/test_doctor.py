from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.analysis.test_suspects import clouds
from tests.size import sized
from traitbench.analysis.checks import KINDS, Finding, Wanted, examine

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


def with_text(samples: Sequence[Sample], texts: Mapping[int, str]) -> list[Sample]:
    return [replace(sample, text=texts.get(place, sample.text)) for place, sample in enumerate(samples)]


def test_good_samples_have_no_findings() -> None:
    assert of(*many()) == ()


def test_of_duplicates_one_copy_is_kept() -> None:
    samples, X = many()
    X[[4, 8]] = X[2]
    finding = one(of(with_text(samples, {2: "A, text!", 4: "a text", 8: "A  TEXT"}), X), "duplicate")
    assert finding.sample_ids == (12, 14, 18)
    assert finding.severity == "note"
    assert finding.fix is not None
    assert finding.fix.delete == (14, 18)
    assert "appears 3 times" in finding.says


def test_the_real_copy_is_kept() -> None:
    samples, X = many()
    samples = with_text(samples, {2: "A text", 4: "A text"})
    samples[2] = replace(samples[2], provenance="synthesized")
    X[4] = X[2]
    assert one(of(samples, X), "duplicate").sample_ids == (14, 12)


def test_a_text_at_both_poles_is_kept_where_most_copies_are() -> None:
    samples, X = many()
    X[[3, 4]] = X[2]
    finding = one(of(with_text(samples, dict.fromkeys([2, 3, 4], "A text")), X), "conflict")
    assert finding.severity == "error"
    assert finding.sample_ids == (14, 12, 13)
    assert finding.fix is not None
    assert finding.fix.delete == (12, 13)
    assert "most of its copies" in finding.fix.says
    assert "twice at the positive and once at the negative pole" in finding.says


@pytest.mark.parametrize(("like", "kept"), [(2, 12), (3, 13)])
def test_one_copy_at_each_pole_is_settled_by_the_other_samples(like: int, kept: int) -> None:
    samples, X = many()
    X[[2, 3]] = X[like]
    finding = one(of(with_text(samples, dict.fromkeys([2, 3], "A text")), X), "conflict")
    assert finding.sample_ids[0] == kept
    assert finding.fix is not None
    assert "other samples" in finding.fix.says


def test_without_other_evidence_the_newest_label_is_kept() -> None:
    samples = [Sample(1, "A text", 1.0), Sample(2, "a text!", 0.0)]
    finding = one(of(samples, np.array([vector_of("a text")] * 2)), "conflict")
    assert finding.sample_ids == (2, 1)
    assert finding.fix is not None
    assert "last" in finding.fix.says


def test_near_duplicates_are_shown_together() -> None:
    samples, X = many()
    X[[6, 8]] = X[2] + 0.01
    finding = one(of(samples, X), "near_duplicate")
    assert finding.sample_ids == (12, 16, 18)
    assert finding.severity == "note"
    assert finding.fix is not None
    assert finding.fix.delete == (16, 18)


def test_near_duplicates_at_different_poles_are_left_to_a_person() -> None:
    samples, X = many()
    X[3] = X[2] + 0.01
    finding = one(of(samples, X), "near_duplicate")
    assert finding.severity == "warning"
    assert finding.fix is not None
    assert (finding.fix.delete, finding.fix.relabel) == ((), {})


def test_a_variation_may_resemble_its_seed() -> None:
    samples, X = many()
    samples[4] = replace(samples[4], provenance="synthesized")
    X[4] = X[2] + 0.01
    assert of(samples, X) == ()


def test_suspect_labels_can_be_switched() -> None:
    samples, X = many()
    samples[7] = replace(samples[7], quality=0.9)
    finding = one(of(samples, X), "suspect")
    assert finding.sample_ids == (17,)
    assert finding.severity == "warning"
    assert finding.fix is not None
    assert finding.fix.relabel == {17: 0.1}
    assert finding.says.startswith("1 text looks")


def test_a_text_unlike_all_others_is_pointed_out() -> None:
    samples, X = many()
    X[5] = np.eye(D, dtype=np.float32)[40]
    finding = next(finding for finding in of(samples, X) if finding.kind == "outlier")
    assert 15 in finding.sample_ids
    assert finding.severity == "note"


def test_poles_of_different_length_need_texts_of_the_other_length() -> None:
    samples, X = many()
    longer = {place: " ".join(f"word{place}x{i}" for i in range(40)) for place in range(0, 60, 2)}
    finding = one(of(with_text(samples, longer), X), "length")
    assert finding.severity == "warning"
    assert finding.sample_ids == ()
    assert finding.fix is not None
    assert finding.fix.add == Wanted("negative", 7, 40)
    assert "AUROC 1.00" in finding.says


def test_poles_of_different_languages_are_named() -> None:
    samples, X = many()
    german = {place: f"das ist der Text {place} und nicht mehr" for place in range(0, 60, 2)}
    english = {place: f"this is the text {place} and not more" for place in range(1, 60, 2)}
    finding = one(of(with_text(samples, german | english), X), "language")
    assert "100% of the positive and 0% of the negative texts are German" in finding.says
    assert finding.fix is not None
    assert finding.fix.says == "Add German texts to the negative pole, or other texts to the positive pole."


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
    samples, X = many()
    long = {place: f"this is the text {place} and not more" for place in range(0, 60, 2)}
    short = {place: f"text {place}" for place in range(1, 60, 2)}
    some = {place: f"this is the text {place} and that" for place in (1, 3, 5)}
    for texts in (long | short, long | short | some):
        assert not [each for each in of(with_text(samples, texts), X) if each.kind == "language"]


def test_poles_of_different_sources_are_named() -> None:
    samples, X = many()
    samples = [
        replace(sample, source_url=f"https://{'a' if sample.quality else 'b'}.example/{sample.id}")
        for sample in samples
    ]
    assert "b.example. The source alone" in one(of(samples, X), "source").says


def test_poles_from_two_parts_of_one_site_differ_in_source() -> None:
    samples, X = many()
    samples = [
        replace(sample, source_url=f"https://a.example/{'praise' if sample.quality else 'complaints'}/{sample.id}")
        for sample in samples
    ]
    assert "are a.example/praise. The source alone" in one(of(samples, X), "source").says


def test_what_is_left_within_one_source_is_measured_if_both_poles_have_it() -> None:
    samples, X = many()
    mixed = [replace(each, source_url=f"https://{'a' if each.quality else 'b'}.example/") for each in samples]
    finding = one(of(mixed, X), "source")
    assert "No source has enough texts of both poles" in finding.says
    both = [replace(each, source_url="https://a.example/") if place < 16 else each for place, each in enumerate(mixed)]
    finding = one(of(both, X), "source")
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
    assert finding.fix is not None
    assert finding.fix.add == Wanted("negative", 7)
    assert set(finding.sample_ids) == {sample.id for sample in samples if sample.quality}
    assert "a fit to the other samples" not in one(of(samples, X), "shortcut").says


def test_length_says_what_is_left_of_texts_cut_to_one_length() -> None:
    samples, X = many()
    longer = with_text(samples, {place: " ".join(f"word{place}x{i}" for i in range(40)) for place in range(0, 60, 2)})
    finding = one(examine([Trait()], longer, X, embedded), "length")
    assert "With every text cut to 7 words, a fit to the other samples" in finding.says


def test_synthesized_texts_count_as_a_source() -> None:
    samples, X = many()
    samples = [replace(each, provenance="synthesized" if each.quality else "authored") for each in samples]
    findings = of(samples, X)
    assert "synthesized" in one(findings, "source").says
    assert "no distinct" not in one(findings, "few").says
    assert "0 distinct texts (synthesized ones do not count)" in one(findings, "few").says


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
    samples, X = many()
    finding = one(of(samples, X, Trait(negative_label="not warm")), "negation")
    assert "not warm" in finding.says
    assert finding.fix is not None
    assert "Rename" in finding.fix.says


def test_every_trait_has_its_own_findings_by_key_or_name() -> None:
    samples, X = many()
    others = [replace(each, id=each.id + 500, trait="Depth") for each in samples[:5]]
    traits = (Trait(), Trait("depth", "Depth", "deep", "shallow"))
    findings = of([*samples, *others], np.vstack([X, X[:5]]), *traits)
    assert {each.trait_key for each in findings} == {"depth"}
    assert of([*samples, replace(samples[0], id=900, trait="nobody's")], np.vstack([X, X[:1]])) == ()


def test_the_most_severe_come_first_whatever_the_order_of_samples() -> None:
    samples, X = many()
    X[[3, 8, 7]] = X[[2, 6, 30]]
    samples = with_text(samples, {2: "A text", 3: "A text", 6: "Another", 8: "another"})
    samples[11] = replace(samples[11], quality=1.0)
    findings = of(samples, X, Trait(negative_label="other"))
    order = ["error", "warning", "note"]
    assert [each.severity for each in findings] == sorted((each.severity for each in findings), key=order.index)
    turned = np.random.default_rng(2).permutation(len(samples))
    assert of([samples[i] for i in turned], X[turned], Trait(negative_label="other")) == findings
    assert all(each.kind in KINDS for each in findings)


def test_no_message_quotes_a_text() -> None:
    samples, X = many()
    X[[3, 8]] = X[[2, 6]]
    secret = {2: "hush-hush", 3: "hush-hush", 6: "hush-hush again", 8: "Hush-hush again"}
    findings = of(with_text(samples, secret), X)
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
