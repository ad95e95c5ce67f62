"""The card of a model, as a person reads it."""

from typing import Any

import pytest

from tests.contexts import AUTHOR, ON_SQLITE, SCORER, STRANGER
from tests.operations.author import new_model, update
from traitbench.contract.metrics import Metrics
from traitbench.contract.rounding import in_decimals
from traitbench.contract.traits import TraitInput
from traitbench.contract.versions import Version
from traitbench.display.words import PROMISE, REASONS
from traitbench.errors import ModelNotFound
from traitbench.operations import model_cards, models, versions
from traitbench.operations.context import Context

pytestmark = ON_SQLITE


def _cells(card: str, begin: str) -> list[str]:
    [row] = [line for line in card.splitlines() if line.startswith(f"| {begin} ")]
    return [cell.strip() for cell in row.replace(r"\|", "¦").strip("|").split("|")]


def test_a_card_says_everything_in_the_contracts_order(context: Context, toned: str) -> None:
    update(
        context,
        toned,
        additional_terms="Not for people.",
        readme_markdown="# Why\n\nBecause *tone* matters.",
        upstream_sources=[{"name": "Letters", "license": "CC0", "url": "https://example.org/a_b", "pages": 3}],
    )
    card = model_cards.card(context, SCORER, toned)
    landmarks = [
        f"# {toned}",
        "How a message sounds.",
        "**State:** ready",
        "**Version:** v1, tagged first, created ",
        "## Traits",
        "## Metrics",
        "## Sources",
        "- **Letters**; license: CC0; url: <https://example.org/a_b>; pages: 3",
        "## Additional terms",
        "Not for people.",
        "---\n\n# Why\n\nBecause *tone* matters.\n",
    ]
    places = [card.index(landmark) for landmark in landmarks]
    assert places == sorted(places)
    assert card.endswith(landmarks[-1])


def test_the_languages_of_the_samples_are_counted(context: Context, toned: str) -> None:
    version = versions.get(context, SCORER, toned, "v1")
    assert "- **Languages of the samples:** English (" in model_cards.card(context, SCORER, toned)
    counted = {"languages": {"texts": {"en": 92, "de": 31}, "unclear": 4}}
    said = model_cards._state(models.get(context, SCORER, toned), _with(version, counted))
    assert "- **Languages of the samples:** English (92), German (31), 4 not clear" in said
    without: list[dict[str, Any]] = [{}, {"languages": None}, {"languages": {"texts": {}}}]
    for older in without:
        assert "Languages" not in model_cards._state(models.get(context, SCORER, toned), _with(version, older))


def _with(version: Version, metrics: dict[str, Any]) -> Version:
    return version.model_copy(update={"metrics": Metrics.model_validate(metrics)})


def test_traits_stand_with_their_poles(context: Context, toned: str) -> None:
    card = model_cards.card(context, SCORER, toned)
    assert _cells(card, "Warmth | warmth")[:4] == ["Warmth", "warmth", "warm", "cold"]
    assert _cells(card, "Cool | coldness")[-1] == "Little feeling ¦ few words"


def test_confidence_is_counted_with_what_it_promises(context: Context, toned: str) -> None:
    known = versions.get(context, SCORER, toned, "v1").metrics.traits["coldness"].confidence
    assert known
    card = model_cards.card(context, SCORER, toned)
    counts = [f"{number}" for each in known.values() for number in (each.samples, each.right)]
    assert PROMISE in card
    assert f"| Cool | {' | '.join(counts)} |" in card


@pytest.mark.parametrize(
    ("figures", "said"),
    [
        ({"confidence": None, "confidence_reason": "not_separable"}, REASONS["not_separable"].trait),
        ({"confidence": None, "confidence_reason": "few_samples"}, REASONS["few_samples"].trait),
    ],
)
def test_what_is_wrong_with_the_confidence_is_said(
    context: Context, toned: str, figures: dict[str, Any], said: str
) -> None:
    version = versions.get(context, SCORER, toned, "v1")
    other = version.model_copy(update={"metrics": Metrics.model_validate({"traits": {"coldness": figures}})})
    assert said in "\n".join(model_cards._confidence(other, {"coldness": "Cool"}))


def test_every_figure_stands_with_what_it_was_measured_on(context: Context, toned: str) -> None:
    figures = versions.get(context, SCORER, toned, "v1").metrics.traits["coldness"].model_dump()
    cells = _cells(model_cards.card(context, SCORER, toned), f"Cool | {in_decimals(figures['auroc'], 3)}")
    assert cells[-1] == figures["measured_on"]
    assert cells[3:5] == [f"{figures['brier']:.3f}", f"{figures['calibration_error']:.3f}"]


def test_a_draft_and_a_deleted_model_have_a_card_for_who_may_read_them(context: Context) -> None:
    handle = new_model(context)
    card = model_cards.card(context, SCORER, handle)
    assert "**State:** draft" in card
    assert "no traits yet" in card
    assert "no version yet" in card
    assert "Version:**" not in card
    models.delete(context, AUTHOR, handle)
    assert "**State:** archived" in model_cards.card(context, SCORER, handle)
    with pytest.raises(ModelNotFound):
        model_cards.card(context, STRANGER, handle)


def test_what_somebody_typed_cannot_leave_its_place(context: Context) -> None:
    evil = "a | b\n| c \\| `d` <script>*e*[f](g)&lt;$h$"
    trait = TraitInput(name=evil, key="evil", positive_label="x\n\n# Title", negative_label="~~y~~")
    source = {"name": evil, "license": "\n## Metrics", "url": "https://example.org/<x>"}
    terms = "# not a title\n---\n===\n- no list\n1. no number\n> no quote\n    no code\n```\nopen"
    fields: dict[str, Any] = {
        "description": f"{evil}\n# no title",
        "additional_terms": terms,
        "upstream_sources": [source],
    }
    card = model_cards.card(context, SCORER, new_model(context, trait, **fields, readme_markdown="the end"))
    assert [line for line in card.splitlines() if line.startswith("#")] == [
        card.splitlines()[0],
        *("## Traits", "## Metrics", "## Sources", "## Additional terms"),
    ]
    bare = r"\| b \| c \\\| \`d\` \<script\>\*e\*\[f\](g)\&lt;\$h\$"
    assert card.count(bare) == 2
    assert "\n---\n\nthe end\n" in card
    assert card.count("\n---\n") == 1
    assert not any(line.startswith(("===", "- no", "1. ", "> ", "    ", "```")) for line in card.splitlines())


def test_a_table_row_has_a_cell_a_column_whatever_is_in_it(context: Context) -> None:
    trait = TraitInput(name="| |", key="k", positive_label="\\", negative_label="\\|", description="|\\\\||")
    card = model_cards.card(context, SCORER, new_model(context, trait))
    head, rule, row = (line for line in card.splitlines() if line.startswith("|"))
    plain = row.replace("\\\\", "").replace("\\|", "")
    assert head.count("|") == rule.count("|") == plain.count("|")


def test_figures_on_test_samples_come_first(context: Context, toned: str) -> None:
    version = versions.get(context, SCORER, toned, "v1")
    test = {
        **{"auroc": 0.875, "auroc_interval": [0.7, 0.95], "brier": 0.1, "error": 0.25, "positive": 4, "negative": 4},
        **{"must_pass": 3, "must_pass_failed": 1, "measured_on": "8 test samples"},
    }
    figures = version.metrics.model_dump()
    figures["traits"]["coldness"]["test"] = test
    measured = version.model_copy(update={"metrics": Metrics.model_validate(figures)})
    said = model_cards._metrics(measured, [])
    assert said.startswith(
        "### On test samples\n\nNo version learns from test samples. AUROC 0.88 on 8 test samples."
        " 1 of 3 must-pass samples fails."
    )
    assert _cells(said, "coldness | 0.875")[1:] == [
        "0.875",
        "0.700 – 0.950",
        "0.100",
        "0.250",
        "1 of 3",
        "8 test samples",
    ]
    assert said.index("### Out of fold") < said.index("Mean AUROC of the traits")
    assert "test samples" not in model_cards._metrics(version, [])
