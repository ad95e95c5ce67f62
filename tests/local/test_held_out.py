"""Test samples among samples that the service does not have yet."""

from traitbench.contract.samples import SampleInput
from traitbench.fitting.held_out import AT_LEAST
from traitbench.local.held_out import aside, refusal


def samples(each_side: int, *, traits: int = 1) -> list[SampleInput]:
    return [
        SampleInput(trait=str(trait), text=f"Text {row}.", quality=row % 2)
        for row in range(2 * each_side)
        for trait in range(traits)
    ]


def test_a_share_of_each_side_goes_aside_and_a_text_in_all_of_its_traits() -> None:
    given = samples(100, traits=2)
    chosen = [given[place] for place in aside(given).ids]
    for trait in ("0", "1"):
        assert sum(each.trait == trait and each.quality == 1 for each in chosen) == 20
        assert sum(each.trait == trait and each.quality == 0 for each in chosen) == 20
    assert len({each.text for each in chosen}) == 40
    assert aside(given) == aside(given)


def test_with_too_few_texts_none_goes_aside() -> None:
    chosen = aside(samples(2 * AT_LEAST - 1))
    assert (chosen.ids, chosen.too_few[0].needed) == ((), 2 * AT_LEAST)
    assert len(aside(samples(2 * AT_LEAST)).ids) == 2 * AT_LEAST
    assert aside([]).ids == ()


def test_groups_go_aside_as_a_whole_and_too_few_of_them_are_said() -> None:
    given = [each.model_copy(update={"group": f"{row // 12}-{row % 2}"}) for row, each in enumerate(samples(72))]
    chosen = {given[place].group for place in aside(given).ids}
    assert len(chosen) == 6
    assert {place for place, each in enumerate(given) if each.group in chosen} == {*aside(given).ids}
    few = aside([each.model_copy(update={"group": str(row // 48)}) for row, each in enumerate(given)])
    assert refusal(few, []) == (
        "0 has 3 groups at positive and 3 at negative; it needs 4 at each to set test samples aside (2 to test and 2 to"
        " train)."
    )
