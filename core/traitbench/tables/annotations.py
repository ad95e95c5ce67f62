"""Exports of labelling tools that keep the labels of each text in lists: one row for each text and person.

Label Studio writes tasks with `annotations` (before 1.0 `completions`), Argilla records with `responses`. The rows are
those of the tools' own CSV exports.
"""

from collections.abc import Iterator, Mapping
from typing import Any

PERSON = "annotator"
"""The column with who labelled."""

_LISTS = ("annotations", "completions", "responses")
_LEFT_OUT = {*_LISTS, "predictions", "drafts", "suggestions", "vectors", "total_annotations", "total_predictions"}
_VALUES = ("choices", "rating", "number", "text", "taxonomy", "datetime")


def rows_of(record: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Return a row for each person who labelled the text of a record; None for a record of another kind.

    A text that nobody labelled is one row. Labels of single words are left out: they are none of the text.
    """
    if "data" not in record and "fields" not in record:
        return None
    given = list(_given(record))
    if not given and not any(_is_task(record, name) for name in _LISTS):
        return None
    own = {key: value for key, value in record.items() if key not in _LEFT_OUT}
    rows: dict[Any, dict[str, Any]] = {}
    for person, name, value in given:
        row = rows.setdefault(person, {**own, PERSON: person})
        if name:
            row[name if name not in own else f"{name} (label)"] = value
    return [*rows.values()] or [own]


def _is_task(record: Mapping[str, Any], name: str) -> bool:
    inside = record.get("fields" if name == "responses" else "data")
    return isinstance(inside, Mapping) and isinstance(record.get(name), list | Mapping)


def _given(record: Mapping[str, Any]) -> Iterator[tuple[Any, str, Any]]:
    """Yield who gave which label to which question; a question without a name has no label."""
    for name in ("annotations", "completions"):
        if not _is_task(record, name) or not isinstance(record[name], list):
            continue
        for number, each in enumerate(record[name], start=1):
            if not isinstance(each, Mapping) or each.get("was_cancelled") or each.get("skipped"):
                continue
            person = _person(each.get("completed_by")) or str(number)
            results = each.get("result")
            yield person, "", None
            for result in results if isinstance(results, list) else []:
                yield from ((person, *label) for label in _label(result))
    responses = record.get("responses")
    if _is_task(record, "responses") and isinstance(responses, Mapping):
        for question, answers in responses.items():
            for number, each in enumerate(answers if isinstance(answers, list) else [], start=1):
                if isinstance(each, Mapping) and "value" in each:
                    yield str(each.get("user_id") or number), str(question), each["value"]


def _label(result: Any) -> Iterator[tuple[str, Any]]:
    value = result.get("value") if isinstance(result, Mapping) else None
    if not isinstance(value, Mapping) or "start" in value:
        return
    for key in _VALUES:
        if key in value:
            answer = value[key]
            single = isinstance(answer, list) and len(answer) == 1
            yield str(result.get("from_name") or key), answer[0] if single else answer
            return


def _person(value: Any) -> str:
    if isinstance(value, Mapping):
        names = " ".join(str(value[key]) for key in ("first_name", "last_name") if value.get(key))
        return str(value.get("email") or names or value.get("username") or value.get("id") or "")
    return "" if value is None else str(value)
