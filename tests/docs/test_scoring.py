"""The constants in `core/docs/scoring.md` against the code, and its figures against `core/docs/quality.md`."""

import pytest

from tests.docs.markdown import read, section, table
from traitbench.analysis import confounders, nuisance, shortcuts, suspects
from traitbench.display.words import PROMISE
from traitbench.encoders import graph, style
from traitbench.fitting import calibrate, candidates, curve, discover, duplicates, search, tones
from traitbench.scoring import certainty, resemblance, segments

PAGE = read("scoring.md")
LEVELS = search.EFFORTS["max"].levels


@pytest.mark.parametrize(
    ("heading", "sentence"),
    [
        ("1. From text to vector", f"segments of about {({60: 'sixty'})[segments.WORDS_PER_SEGMENT]} words"),
        ("1. From text to vector", f"| last layer | {graph.WIDTH} |"),
        ("1. From text to vector", f"| style | {style.COUNT} |"),
        (
            "3. Out-of-fold values",
            f"at least {search._LEAVE_ONE_OUT_FROM} samples, {search._LEAVE_ONE_OUT_POLE} per pole",
        ),
        ("3. Out-of-fold values", f"up to {({10: 'ten'})[search._FOLDS]} folds"),
        ("3. Out-of-fold values", f"a cosine of {duplicates.NEAR} or more"),
        ("4. Calibration", f"N(0, {calibrate._SLOPE_SPREAD}^2), b ~ N(0, {calibrate._OFFSET_SPREAD}^2)"),
        ("5. Model averaging", f"mean {candidates._PRIOR_POWER}"),
        ("5. Model averaging", f"{({9: 'nine'})[len(LEVELS[1].shrinkages)]} shrinkages"),
        ("5. Model averaging", f"{({5: 'five'})[len(LEVELS[1].labels)]} weights of the label axis"),
        ("5. Model averaging", f"{({13: 'thirteen'})[len(LEVELS[3].shrinkages)]} shrinkages"),
        ("5. Model averaging", f"{({6: 'six'})[len(LEVELS[3].factors)]} weights of each block"),
        (
            "6. The label axis",
            "slope of {}, {}, {}, {} or {};".format(*(f"{each:g}" for each in candidates.LABEL_SLOPES)),
        ),
        ("6. The label axis", f"at most {({4: 'four'})[int(search._SYNTHESIZED_WEIGHT)]} real samples"),
        ("7. Metrics", f"{({0.6: 'six tenths'})[certainty.EVIDENCE]} of the groups"),
        ("7. Metrics", f"adds about {curve._USUAL_GAIN} to the logit"),
        (
            "6. The label axis",
            f"{candidates._LEAST_LABEL_SLOPE} * {candidates._LEAST_UNTIL} / ({candidates._LEAST_UNTIL} + n)",
        ),
        (
            "8. Confidence and resemblance",
            "(S: {:g} ± {}, n: {:g} ± {}, offset {:g} ± {})".format(
                *(x for each in certainty._NEAR_PRIOR for x in each)
            ),
        ),
        ("8. Confidence and resemblance", "(n: {} ± {})".format(*certainty._LABEL_PRIOR[1])),
        (
            "8. Confidence and resemblance",
            f"the logit {certainty._LOGIT_ELSEWHERE} near + {1 - certainty._LOGIT_ELSEWHERE} names",
        ),
        ("8. Confidence and resemblance", f"{({0.2: 'a fifth'})[certainty._CAUTION]} of a standard error"),
        (
            "8. Confidence and resemblance",
            "prior odds of {high} for `high` and {moderate} for `moderate`".format(
                **{
                    level: {0.9: "nine to one", 0.25: "one to three"}[prior]
                    for level, prior in certainty._WORTHLESS.items()
                }
            ),
        ),
        (
            "8. Confidence and resemblance",
            f"sigmoid of {resemblance._SAME_SLOPE} t + {resemblance._SAME_MIDDLE:g}",
        ),
        (
            "8. Confidence and resemblance",
            f"The evidence counts {({0.6: 'six tenths'})[certainty.EVIDENCE]}",
        ),
        ("10. Discovery", f"correlation of at least {discover._STABLE}"),
        ("10. Discovery", f"AUROC of at least {discover._MIN_DISCRIMINATION}"),
        ("10. Discovery", f"correlation of at least {tones.LEAST_CORRELATION}"),
        ("10. Discovery", f"correlate by {discover._SAME_AXIS} or more"),
        ("11. The sample doctor", f"less than a {({0.1: 'tenth'})[suspects._SUSPECT_BELOW]}"),
        ("11. The sample doctor", f"an AUROC of at least {suspects._LEAST_AUROC}"),
        ("11. The sample doctor", f"an AUROC of at least {nuisance._AREA}"),
        ("11. The sample doctor", f"an AUROC of at least {shortcuts._AREA}"),
        ("11. The sample doctor", f"interval of at least {shortcuts.AT_LEAST}"),
        ("11. The sample doctor", f"lower end reaches {shortcuts.BY_NATURE}"),
        ("11. The sample doctor", f"lose {shortcuts.LOST} of AUROC"),
        ("11. The sample doctor", f"at most {confounders._MOST_READ} texts of each pole"),
    ],
)
def test_a_constant(heading: str, sentence: str) -> None:
    assert sentence in " ".join(section(PAGE, heading).split())


def test_the_promise_is_the_one_that_people_read() -> None:
    words = {0.9: "9 times in 10", 0.75: "3 in 4"}
    promised = (
        f"High: the side is right at least {words[certainty._HIGH]}. Moderate: at least {words[certainty._MODERATE]}."
    )
    assert PROMISE.startswith(promised)
    assert f"right at least {words[certainty._HIGH]}, moderate at least {words[certainty._MODERATE]}" in " ".join(
        section(PAGE, "8. Confidence and resemblance").split()
    )


def test_the_efforts() -> None:
    assert {row["Effort"].strip("`") for row in table(PAGE, "5. Model averaging")} == search.EFFORTS.keys()


def test_the_figures_are_those_of_the_page_about_quality() -> None:
    lines = read("quality.md").splitlines()
    rows = table(PAGE, "12. How good it is")
    assert rows
    for row in rows:
        figures = " | ".join(row[name] for name in row if name.startswith("k="))
        assert any(figures in line for line in lines), row
