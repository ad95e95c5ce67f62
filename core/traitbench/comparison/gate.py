"""Decides whether a version may follow another one, from their comparison: for programs such as a CI job.

Every rule gives a check, which passed, failed, or could not be judged. The outcome is that of the worst check. The
reports hold no time and no random number, so equal comparisons give equal reports.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal
from xml.etree import ElementTree

from traitbench.contract.batches import FailedLine
from traitbench.contract.comparisons import ComparedText, FigureDelta, VersionsComparison, VersionVerdict
from traitbench.contract.fields import Returned
from traitbench.contract.rounding import in_decimals
from traitbench.display.text import count
from traitbench.display.verdicts import VERDICTS

Outcome = Literal["passed", "failed", "unknown"]

EXIT_CODES: Mapping[Outcome, int] = {"passed": 0, "failed": 1, "unknown": 2}
_WORDS: Mapping[Outcome, str] = {"passed": "passed", "failed": "FAILED", "unknown": "could not be judged"}
_MOST_SHOWN = 20
_LONGEST_SHOWN = 120


@dataclass(frozen=True)
class Rules:
    """What the second version has to meet.

    `max_drop` is by how much the AUROC of a trait may fall, `least` the least AUROC by trait. With `must_pass`, all
    samples that must pass have to pass, and no labelled text may move to the wrong side.
    """

    max_drop: float | None = None
    least: Mapping[str, float] = field(default_factory=dict)
    must_pass: bool = False


@dataclass(frozen=True)
class Labelled:
    """A text, and the quality that is expected of it by trait; empty if none is."""

    text: str
    expected: Mapping[str, float] = field(default_factory=dict)


class Check(Returned):
    """One rule, and why it passed, failed or could not be judged."""

    rule: str
    outcome: Outcome
    reason: str


class Regression(Returned):
    """A labelled text that the first version has on the right side and the second one on the wrong side."""

    text: str
    trait: str
    expected: float
    a: int
    b: int


class GateReport(Returned):
    """All checks, their outcome, the regressions of labelled texts, and the comparison itself."""

    outcome: Outcome
    checks: list[Check]
    regressions: list[Regression]
    comparison: VersionsComparison


def judge(comparison: VersionsComparison, rules: Rules, texts: Sequence[Labelled] = ()) -> GateReport:
    """The report on a comparison; `texts` are those that were compared, in the same order."""
    regressions = list(_regressions(comparison, texts))
    checks = list(_checks(comparison, rules, regressions, texts))
    outcomes = {check.outcome for check in checks}
    outcome: Outcome = "failed" if "failed" in outcomes else "unknown" if "unknown" in outcomes else "passed"
    return GateReport(outcome=outcome, checks=checks, regressions=regressions, comparison=comparison)


def markdown(report: GateReport) -> str:
    """The report for people."""
    compared = report.comparison
    names = f"{compared.a.handle}@v{compared.a.version_no}", f"{compared.b.handle}@v{compared.b.version_no}"
    lines = [f"# Gate: {_WORDS[report.outcome]}", "", f"{_cell(names[0])} to {_cell(names[1])}. {compared.reason}", ""]
    lines += ["| Rule | Outcome | Reason |", "|---|---|---|"]
    lines += [f"| {_cell(each.rule)} | {_WORDS[each.outcome]} | {_cell(each.reason)} |" for each in report.checks]
    lines += ["", "| Trait | Verdict | AUROC | Error | Measured on |", "|---|---|---|---|---|"]
    lines += [
        f"| {_cell(key)} | {VERDICTS[trait.verdict]} | {_figure(trait.auroc)} | {_figure(trait.error)}"
        f" | {_cell(trait.measured_on)} |"
        for key, trait in compared.traits.items()
    ]
    if report.regressions:
        lines += ["", "| Trait | Expected | A | B | Text |", "|---|---|---|---|---|"]
        lines += [
            f"| {_cell(each.trait)} | {each.expected:g} | {each.a} | {each.b} | {_cell(_short(each.text))} |"
            for each in report.regressions[:_MOST_SHOWN]
        ]
        more = len(report.regressions) - _MOST_SHOWN
        lines += [f"\n{more} more are in the JSON report."] if more > 0 else []
    return "\n".join(lines) + "\n"


def junit(report: GateReport) -> str:
    """The report as JUnit XML: one test case for each rule; a rule that could not be judged is an error."""
    counts = [sum(check.outcome == outcome for check in report.checks) for outcome in ("failed", "unknown")]
    suite = ElementTree.Element(
        "testsuite",
        {
            "name": "traitbench gate",
            "tests": str(len(report.checks)),
            "failures": str(counts[0]),
            "errors": str(counts[1]),
        },
    )
    for check in report.checks:
        case = ElementTree.SubElement(
            suite, "testcase", {"classname": "traitbench.comparison.gate", "name": _xml(check.rule)}
        )
        if check.outcome != "passed":
            kind = "failure" if check.outcome == "failed" else "error"
            ElementTree.SubElement(case, kind, {"message": _xml(check.reason)})
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, encoding="unicode") + "\n"


def _checks(
    comparison: VersionsComparison, rules: Rules, regressions: Sequence[Regression], texts: Sequence[Labelled]
) -> Iterator[Check]:
    outcomes: Mapping[VersionVerdict, Outcome] = {"worse": "failed", "unknown": "unknown"}
    yield Check(rule="not worse", outcome=outcomes.get(comparison.verdict, "passed"), reason=comparison.reason)
    if rules.max_drop is not None:
        for key, trait in comparison.traits.items():
            yield _dropped(key, trait.auroc, rules.max_drop)
    for key, least in rules.least.items():
        trait_of_key = comparison.traits.get(key)
        yield _reaches(key, None if trait_of_key is None else trait_of_key.auroc, least)
    if rules.must_pass:
        yield from _must_pass(comparison, regressions, texts)
    if failed := [each for each in comparison.texts or () if isinstance(each, FailedLine)]:
        reason = f"{count(len(failed), 'text')} cannot be scored; text {failed[0].index + 1}: {failed[0].error.message}"
        yield Check(rule="texts", outcome="unknown", reason=reason)


def _dropped(key: str, auroc: FigureDelta | None, most: float) -> Check:
    rule = f"AUROC of {key} falls by at most {most:g}"
    if auroc is None:
        return Check(rule=rule, outcome="unknown", reason=_unmeasured(key))
    outcome: Outcome = "failed" if -auroc.delta > most else "passed"
    return Check(rule=rule, outcome=outcome, reason=f"AUROC {_figure(auroc)}.")


def _reaches(key: str, auroc: FigureDelta | None, least: float) -> Check:
    rule = f"AUROC of {key} is at least {least:g}"
    if auroc is None:
        return Check(rule=rule, outcome="unknown", reason=_unmeasured(key))
    outcome: Outcome = "passed" if auroc.b >= least else "failed"
    return Check(rule=rule, outcome=outcome, reason=f"AUROC {in_decimals(auroc.b, 3)}.")


def _must_pass(
    comparison: VersionsComparison, regressions: Sequence[Regression], texts: Sequence[Labelled]
) -> Iterator[Check]:
    every = sum(trait.must_pass.samples for trait in comparison.traits.values())
    failing = sum(trait.must_pass.failed_b for trait in comparison.traits.values())
    labelled = sum(bool(each.expected) for each in texts)
    if every or not labelled:
        reason = f"Samples that fail: {failing} of {every}." if every else "No test sample is marked must-pass."
        outcome: Outcome = "failed" if failing else "passed" if every else "unknown"
        yield Check(rule="must-pass samples pass", outcome=outcome, reason=reason)
    if labelled:
        reason = f"Labelled texts that moved to the wrong side: {len(regressions)} of {labelled}."
        outcome = "failed" if regressions else "passed"
        yield Check(rule="no labelled text moves to the wrong side", outcome=outcome, reason=reason)


def _regressions(comparison: VersionsComparison, texts: Sequence[Labelled]) -> Iterator[Regression]:
    for labelled, line in zip(texts, comparison.texts or (), strict=bool(comparison.texts)):
        if isinstance(line, ComparedText):
            for trait, expected in labelled.expected.items():
                score = line.traits.get(trait)
                if score is not None and _right(score.a, expected) and not _right(score.b, expected):
                    yield Regression(text=labelled.text, trait=trait, expected=expected, a=score.a, b=score.b)


def _right(points: int, expected: float) -> bool:
    """Whether a score is on the expected side of the middle; of a text that is expected there, any is."""
    return expected == 0.5 or (points > 50 if expected > 0.5 else points < 50)


def _unmeasured(key: str) -> str:
    return f"{key} was not measured: a pole has fewer than two test samples, or a version lacks the trait."


def _figure(figure: FigureDelta | None) -> str:
    if figure is None:
        return "not measured"
    span = "" if figure.interval is None else f", 95 % {figure.interval[0]:+.3f} to {figure.interval[1]:+.3f}"
    return f"{in_decimals(figure.a, 3)} to {in_decimals(figure.b, 3)} ({figure.delta:+.3f}{span})"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"


def _cell(text: str) -> str:
    """Text in a cell of a table, with what would format it escaped."""
    return "".join(f"\\{each}" if each in r"\`*_[]<>|~#" else each for each in " ".join(text.split()))


def _xml(text: str) -> str:
    """Text without the characters that XML 1.0 does not allow."""
    return "".join(
        each if each in "\t\n\r" or (each >= " " and each not in "\ufffe\uffff") else "\ufffd" for each in text
    )
