"""What a browser sends as answers: read leniently, handled once."""

from traitbench.local.labeller import Answers, LabelAnswer


def test_answers_are_read_and_what_is_none_is_left_out() -> None:
    good = {"n": 1, "id": "h:warmth", "action": "label", "quality": 1, "seconds": 0.4}
    bad = [
        {**good, "quality": 1.5},
        {**good, "quality": None},
        {**good, "quality": float("nan")},
        {**good, "action": "drop"},
        {**good, "n": "1"},
        "label",
        None,
    ]
    sent = {"mount": "m", "events": [good, *bad, {"n": 2, "id": "h:warmth", "action": "undo", "quality": None}]}
    assert Answers.read(sent).answers == (
        LabelAnswer(1, "h:warmth", "label", 1.0, 0.4),
        LabelAnswer(2, "h:warmth", "undo"),
    )
    assert Answers.read(None) == Answers.read({"events": [good]}) == Answers()


def test_an_answer_is_new_only_until_it_was_handled() -> None:
    answers = Answers("m", (LabelAnswer(1, "a", "skip"), LabelAnswer(2, "b", "skip")))
    assert [each.number for each in answers.new({"m": 1, "other": 7})] == [2]
    handled = answers.handled({"other": 7})
    assert handled == {"other": 7, "m": 2}
    assert answers.new(handled) == []
    assert Answers().handled(handled) == handled
