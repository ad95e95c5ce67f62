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
from traitbench.analysis.checks import examine
from traitbench.analysis.findings import KINDS, Finding, Fix, Wanted, grouped
from traitbench.analysis.nuisance import by_cut

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
    group: str | None = None


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
        {"texts": {2: "A, text!", 4: "a text", 8: "A  T\u00adEXT\u200b"}, "at": {4: 2, 8: 2}},
        *(
            "duplicate",
            "note",
            (12, 14, 18),
            {"delete": (14, 18)},
            "^“a text” stands 3 times under warm.$|^“A, text!” stands 3 times under warm",
        ),
    ),
    "the real copy is kept": (
        {"texts": {2: "A text", 4: "A text"}, "made": [2], "at": {4: 2}},
        *("duplicate", "note", (14, 12), {"delete": (12,)}, "stands twice under warm"),
    ),
    "a text at both poles is kept where most copies are": (
        {"texts": dict.fromkeys([2, 3, 4], "A text"), "at": {3: 2, 4: 2}},
        *("conflict", "error", (14, 12, 13), {"delete": (12, 13)}),
        "^“A text” stands under warm and under cold.*Most copies are warm",
    ),
    "one copy at each pole is settled by the other samples, here positive": (
        {"texts": dict.fromkeys([2, 3], "A text"), "at": {3: 2}},
        *("conflict", "error", (12, 13), {"delete": (13,)}, "other samples suggest warm"),
    ),
    "one copy at each pole is settled by the other samples, here negative": (
        {"texts": dict.fromkeys([2, 3], "A text"), "at": {2: 3}},
        *("conflict", "error", (13, 12), {"delete": (12,)}, "other samples suggest cold"),
    ),
    "near duplicates are shown together": (
        {"at": {6: 2, 8: 2}, "nudge": 0.01},
        *("near_duplicate", "note", (12, 16, 18), {"delete": (16, 18)}, "and 2 others are nearly the same"),
    ),
    "near duplicates at different poles are left to a person": (
        {"at": {3: 2}, "nudge": 0.01},
        *("near_duplicate", "warning", (12, 13), {}, "are nearly the same, but stand under warm and under cold"),
    ),
    "suspect labels can be switched": (
        {"quality": {7: 0.9}},
        *("suspect", "warning", (17,), {"relabel": {17: 0.1}}, "is labelled warm, but reads like cold"),
    ),
}


@pytest.mark.parametrize(("change", "kind", "severity", "ids", "fix", "says"), COPIES.values(), ids=COPIES)
def test_samples_that_repeat_or_contradict_others(
    change: dict[str, Any], kind: str, severity: str, ids: tuple[int, ...], fix: dict[str, Any], says: str
) -> None:
    finding = one(of(*changed(**change)), kind)
    assert (finding.severity, finding.sample_ids) == (severity, ids)
    found = finding.fix or Fix("")
    assert {"delete": found.delete, "relabel": found.relabel} == {"delete": (), "relabel": {}} | fix
    assert re.search(says, f"{finding.says} {finding.more}")


def test_without_other_evidence_the_newest_label_is_kept() -> None:
    samples = [Sample(1, "A text", 1.0), Sample(2, "a text!", 0.0)]
    finding = one(of(samples, np.array([vector_of("a text")] * 2)), "conflict")
    assert finding.sample_ids == (2, 1)
    assert finding.more == "The newest is cold."
    other = fix_of(finding).other
    assert (fix_of(finding).says, other and other.says, other and other.delete) == ("Keep cold", "Keep warm", (2,))


def test_of_a_text_at_both_poles_and_in_between_one_at_a_pole_is_kept() -> None:
    samples = [Sample(1, "A text", 1.0), Sample(2, "a text!", 0.0), Sample(3, "A text.", 0.5)]
    finding = one(of(samples, np.array([vector_of("a text")] * 3)), "conflict")
    assert (finding.sample_ids, finding.more) == ((2, 1, 3), "The newest is cold.")
    assert of([samples[2], replace(samples[2], id=4)], np.array([vector_of("a text")] * 2))[-1].says == (
        "“A text.” stands twice under no side."
    )


def test_a_text_unlike_all_others_is_pointed_out() -> None:
    samples, X = many()
    X[5] = np.eye(D, dtype=np.float32)[40]
    finding = one(of(samples, X), "outlier")
    assert 15 in finding.sample_ids
    assert finding.severity == "note"


NUISANCES: dict[str, tuple[dict[str, Any], str, str]] = {
    "length": (
        {"texts": {row: " ".join(f"word{row}x{i}" for i in range(40)) for row in range(0, 60, 2)}},
        *(
            "length",
            "^Warm texts are about .* times as long as cold ones: the length alone gets 30 of 30 warm and 30 of 30",
        ),
    ),
    "languages": (
        {"texts": by_pole("das ist der Text {} und nicht mehr", "this is the text {} and not more")},
        *(
            "language",
            "^30 of 30 cold texts are English, and 0 of 30 warm ones: a model may learn that instead of Warmth.$",
        ),
    ),
    "sites": (
        {"source_url": by_pole("https://a.example/{}", "https://b.example/{}")},
        *("source", "^30 of 30 cold texts come from b.example, and 0 of 30 warm ones"),
    ),
    "parts of one site": (
        {"source_url": by_pole("https://a.example/praise/{}", "https://a.example/complaints/{}")},
        *("source", "^30 of 30 warm texts come from a.example/praise, and 0 of 30 cold ones"),
    ),
    "synthesized texts": ({"made": range(0, 60, 2)}, "source", "^30 of 30 warm texts are synthesized, and 0 of 30"),
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
    assert fix_of(one(of(*mixed), "language")).says == "Add 7 English warm texts"
    finding = one(examine([Trait()], *longer, embedded), "length")
    assert "With every text cut to 7 words, a model " in finding.more


def test_synthesized_texts_do_not_count_as_distinct() -> None:
    finding = one(of(*changed(made=range(0, 60, 2))), "few")
    assert "0 warm texts (synthesized ones do not count)" in finding.says


def test_labels_without_a_pattern_are_named_first() -> None:
    samples, X = many(40)
    at_random = np.random.default_rng(0).permutation([each.quality for each in samples])
    samples = [replace(each, quality=float(quality)) for each, quality in zip(samples, at_random, strict=True)]
    first = of(samples, X)[0]
    assert (first.kind, first.severity, fix_of(first).rename) == ("inseparable", "error", True)
    assert re.search(
        r"^Warm and cold texts look alike: .* gets only \d\d of 40 warm and \d\d of 40 cold ones", first.says
    )
    assert "Label ten of them again" in first.more
    assert first.auroc is not None
    assert first.auroc < 0.6


def test_texts_of_no_known_language_are_no_other_language() -> None:
    """Short texts have too few common words: that does not make them less English than the long ones."""
    texts = by_pole("this is the text {} and not more", "text {}")
    some = {row: f"this is the text {row} and that" for row in (1, 3, 5)}
    for each_text in (texts, texts | some):
        assert "language" not in {each.kind for each in of(*changed(each_text))}


def test_a_minority_language_that_only_one_pole_has_is_named() -> None:
    """At both poles, or in two texts only, a language is no finding."""
    english = by_pole("this is the text {} and not more", "this is the letter {} and not more")
    german = {row: f"das ist der Text {row} und nicht mehr" for row in range(0, 60, 2)}

    def findings(rows: Iterable[int]) -> list[Finding]:
        every = of(*changed(english | {row: german[row - row % 2] for row in rows}))
        return [each for each in every if each.kind == "language"]

    (finding,) = findings(range(0, 24, 2))
    assert finding.says == "12 of 12 German texts are warm: a model may score German texts warm for their language."
    assert fix_of(finding).says == "Add 3 German cold texts"
    assert fix_of(finding).add == Wanted("negative", 3)
    assert (finding.severity, len(finding.sample_ids), finding.alone) == ("warning", 12, None)
    assert findings(range(24)) == []
    assert findings(range(0, 4, 2)) == []


def test_what_is_left_within_one_source_is_measured_if_both_poles_have_it() -> None:
    mixed = by_pole("https://a.example/", "https://b.example/")
    assert "No source has enough warm and cold texts" in one(of(*changed(source_url=mixed)), "source").more
    both = mixed | dict.fromkeys(range(16), "https://a.example/")
    finding = one(of(*changed(source_url=both)), "source")
    assert re.search("Among texts of one source, a model gets 30 of 30 warm and 8 of 8 cold ones right", finding.more)
    assert finding.alone is not None
    assert (finding.alone.without, finding.alone.carries) == (1.0, False)


def embedded(texts: Sequence[str]) -> Vectors:
    return np.array([vector_of(text) for text in texts], np.float32)


def test_a_shortcut_is_named_first_with_how_many_are_right_without_it() -> None:
    """Words that follow no pole, and a token before every positive text."""
    words = ("lamp", "river", "coat", "bread", "stone", "garden", "letter", "winter", "engine", "bridge")
    texts = [" ".join(np.random.default_rng(i).choice(words, 3)) for i in range(60)]
    samples = [Sample(i, f"zylor {text}" if i % 2 else text, float(i % 2)) for i, text in enumerate(texts)]
    X = embedded([sample.text for sample in samples])
    finding = examine([Trait()], samples, X, embedded)[0]
    assert (finding.kind, finding.severity) == ("shortcut", "error")
    assert (
        finding.says
        == "“zylor” occurs in 30 of 30 warm texts and in 0 of 30 cold ones: a model may learn that instead of Warmth."
    )
    assert finding.alone is not None
    assert finding.alone.without is not None
    assert finding.alone.without < 0.65
    assert finding.alone.counts == ((30, 30), (30, 30))
    assert re.search(
        r"^Without the word “zylor”, a model gets only \d+ of 30 warm and \d+ of 30 cold ones right, instead of 30",
        finding.more,
    )
    assert fix_of(finding).add == Wanted("negative", 7)
    assert set(finding.sample_ids) == {sample.id for sample in samples if sample.quality}
    assert "a model" not in one(of(samples, X), "shortcut").more


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


# The words of the poles are in the texts, and this stands for an encoder.
def read(texts: Sequence[str]) -> Vectors:
    return np.array([vector_of(text) for text in texts])


def about_warmth(n: int = 8) -> tuple[list[Sample], Vectors]:
    """Texts that have the name of their pole."""
    texts = [f"number{i} {word} thing{i} day{i}" for i in range(n) for word in ("warm", "cold")]
    samples = [Sample(10 + i, text, float("warm" in text)) for i, text in enumerate(texts)]
    return samples, read(texts)


def test_names_in_the_wrong_places_point_the_other_way() -> None:
    swapped = Trait(positive_label="cold", negative_label="warm")
    finding = one(examine([swapped], *about_warmth(), read), "reversed")
    assert finding.severity == "warning"
    assert finding.texts == 16
    assert finding.says == (
        "The names of Warmth point the other way: 8 of 8 cold and 8 of 8 warm texts read more like the name of the"
        " other pole."
    )
    assert fix_of(finding).rename


@pytest.mark.parametrize(
    ("trait", "texts"),
    [
        (Trait(), 8),
        (Trait(positive_label="cold", negative_label="not cold"), 8),
        (Trait(positive_label="cold", negative_label="warm"), 4),
    ],
)
def test_names_that_fit_that_only_negate_or_that_few_texts_contradict_do_not(trait: Trait, texts: int) -> None:
    findings = examine([trait], *about_warmth(texts), read)
    assert "reversed" not in {each.kind for each in findings}


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


def test_a_message_quotes_only_how_a_long_text_begins() -> None:
    long = {2: f"hush {'and hush again ' * 20}END", 3: f"hush {'and hush again ' * 20}END", 6: "short", 8: "Short"}
    findings = of(*changed(long, at={3: 2, 8: 6}))
    assert {"conflict", "duplicate"} <= {finding.kind for finding in findings}
    assert not [finding for finding in findings if "END" in finding.says or len(finding.says) > 250]


def test_findings_of_a_kind_are_one_sentence_with_one_fix_and_the_most_texts_come_first() -> None:
    texts = {2: "One", 4: "One", 6: "Two", 8: "two", 12: "two", 3: "Three", 10: "three"}
    samples, X = changed(texts, at={4: 2, 8: 6, 12: 6, 10: 3}, quality={7: 1.0})
    few = grouped(of(samples, X))
    assert [(each.severity, each.says, each.fix and each.fix.says) for each in few] == [
        ("error", "“Three” stands under warm and under cold.", "Keep cold"),
        ("warning", "“text number 7 says what it says” is labelled warm, but reads like cold.", "Change to cold"),
        ("note", "2 texts of Warmth are there more than once.", "Remove 3 texts"),
    ]
    assert [len(each.parts) for each in few] == [0, 0, 2]
    assert grouped(few[2].parts) == few[2:]
    assert grouped(few[2].parts[:1]) == few[2].parts[:1]


def test_a_pole_without_texts_is_the_gravest() -> None:
    samples, X = many()
    empty = [replace(each, trait="depth", quality=1.0) for each in samples[:3]]
    mixed = [*samples[3:5], replace(samples[3], id=900, text="one"), replace(samples[4], id=901, text="one")]
    findings = grouped(of([*empty, *mixed], X[[*range(5), 3, 3]], Trait(), Trait("depth", "Depth", "deep", "shallow")))
    assert [each.says for each in findings[:2]] == [
        "Depth has no shallow texts, so it cannot be trained.",
        "“one” stands under warm and under cold.",
    ]


def test_a_cut_is_counted_on_texts_that_did_not_choose_it() -> None:
    """Of noise, the best cut would seem to put more than half on their side."""
    lot, shares = np.random.default_rng(0), list[float]()
    for _ in range(200):
        (right, of_positive), (also_right, of_negative) = by_cut(
            lot.normal(size=40), np.arange(40, dtype=np.float64) % 2
        )
        assert (of_positive, of_negative) == (20, 20)
        shares.append((right + also_right) / 40)
    assert abs(float(np.mean(shares)) - 0.5) < 0.03
    assert by_cut(np.array([1, 2, 3, 9, 8, 7], np.float64), np.array([0, 0, 0, 1, 1, 1], np.float64)) == (
        (3, 3),
        (3, 3),
    )


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


# ---- samples that belong together ------------------------------------------------------------------------------------


def conversations(seed: int = 3) -> tuple[list[Sample], Vectors]:
    """Four texts of each of 24 sources; their vectors say which source they are from, their labels mean nothing."""
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(24, D)), 4, axis=0) + 0.7 * rng.normal(size=(96, D))
    samples = [
        Sample(row, f"text {row}", float(row // 4 % 2), source_url=f"https://a.example/{row // 4}") for row in range(96)
    ]
    return samples, np.asarray(X / np.linalg.norm(X, axis=1, keepdims=True), np.float32)


def test_sources_that_repeat_and_predict_the_label_are_asked_about() -> None:
    samples, X = conversations()
    finding = one(of(samples, X), "together")
    assert finding.says == (
        "96 texts of Warmth share 24 sources, and all texts of a source have one label in 24 of them, by chance in 3."
    )
    assert fix_of(finding).group == {each.id: each.source_url for each in samples}
    grouped = [replace(each, group=each.source_url) for each in samples]
    kinds = {each.kind for each in of(grouped, X)}
    assert "together" not in kinds
    assert "inseparable" in kinds
