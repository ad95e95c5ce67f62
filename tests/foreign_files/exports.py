"""Exports of real tools, written by their published formats, with our own texts; and how each is read or refused."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.foreign_files.sheets import Sheet, workbook

GOOD = (
    "The parcel came a day early and was wrapped with care.",
    "A real person answered, and the fault was gone.",
    "Setting it up took me five minutes.",
    "I shall come again, thank you all.",
)
BAD = (
    "Nobody picks up the phone, and the chat closes.",
    "The handle broke off on the second day.",
    "I waited three weeks for an answer.",
    "The bill was wrong, and so was the next one.",
)
TEXTS = tuple(text for pair in zip(GOOD, BAD, strict=True) for text in pair)
IDEAS = tuple(f"Please change the form on page {at} first." for at in range(8))


@dataclass(frozen=True)
class Export:
    """A file of a tool with its reading: the texts, other columns of texts, readings by column, and the poles.

    `refused` or `says` match what is said instead or beside. `turn` is the side of a conversation.
    """

    name: str
    content: bytes
    column: str | None = None
    rows: int = len(TEXTS)
    also: tuple[str, ...] = ()
    readings: Mapping[str, str] = field(default_factory=dict)
    poles: tuple[tuple[str, str], ...] = ()
    first: str = TEXTS[0]
    turn: str | None = None
    refused: str = ""
    says: str = ""


def _csv(rows: Sequence[Sequence[object]], separator: str = ",", mark: str = "utf-8") -> bytes:
    place = io.StringIO(newline="")
    csv.writer(place, delimiter=separator, lineterminator="\r\n").writerows(rows)
    return place.getvalue().encode(mark)


def _lines(records: Sequence[object]) -> bytes:
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in records).encode()


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=2).encode()


def _sides(good: object, bad: object) -> list[object]:
    return [good if text in GOOD else bad for text in TEXTS]


_MOOD = _sides("Positive", "Negative")
_LIKERT = ("Strongly agree", "Disagree", "Agree", "Strongly disagree", "Neutral", "Disagree", "Agree", "Neutral")
_STAMPS = [f"2026-11-{day:02} 09:1{day % 10}:00" for day in range(1, 9)]
_IDS = [f"R_2tKq{at}Zx81mQ{at}" for at in range(8)]


# ---- surveys ---------------------------------------------------------------------------------------------------------


def qualtrics() -> Export:
    """Three rows of names: codes, questions, identifiers for programs."""
    names = ("StartDate", "EndDate", "Status", "IPAddress", "ResponseId", "Q1", "Q2")
    questions = (
        "Start Date",
        "End Date",
        "Response Type",
        "IP Address",
        "Response ID",
        "Why did you come?",
        "I am happy",
    )
    imports = [
        json.dumps({"ImportId": each}) for each in ("startDate", "endDate", "status", "ip", "_recordId", "QID1", "QID2")
    ]
    data = zip(_STAMPS, _STAMPS, ["IP Address"] * 8, ["203.0.113.7"] * 8, _IDS, TEXTS, _LIKERT, strict=True)
    return Export(
        "qualtrics.csv",
        _csv([names, questions, imports, *data]),
        "Q1",
        readings={"Q2": "scale", "ResponseId": "identifier"},
    )


def limesurvey() -> Export:
    names = ("id. Response ID", "submitdate. Date submitted", "lastpage. Last page", "startlanguage. Start language")
    head = (*names, "Q01. What happened?", "Q02[SQ001]. I would come again.")
    data = zip(range(1, 9), _STAMPS, [3] * 8, ["en"] * 8, TEXTS, _LIKERT, strict=True)
    return Export(
        "results-survey123456.csv",
        _csv([head, *data], mark="utf-8-sig"),
        "Q01. What happened?",
        readings={"Q02[SQ001]. I would come again.": "scale"},
    )


def google_forms() -> Export:
    head = ("Timestamp", "Username", "What do you like?", "What should we change?", "Would you come back?")
    again = ("Definitely", "No", "Maybe", "No", "Definitely", "Maybe", "No", "Definitely")
    data = zip(
        [f"2026/11/0{day} 9:00:00 AM GMT+1" for day in range(1, 9)],
        [f"guest{at}@example.org" for at in range(8)],
        TEXTS,
        IDEAS,
        again,
        strict=True,
    )
    return Export(
        "form.csv",
        _csv([head, *data]),
        "What do you like?",
        also=("What should we change?",),
        readings={"Would you come back?": "scale", "Username": "identifier", "Timestamp": "date"},
    )


def surveymonkey() -> Export:
    """A second row below the questions, which says what kind of answer each has."""
    head = ("Respondent ID", "Collector ID", "Start Date", "How was it?", "Are you happy?")
    kinds = ("", "", "", "Open-Ended Response", "Response")
    data = zip([118_000_000_000 + at for at in range(8)], [4500] * 8, _STAMPS, TEXTS, _sides("Yes", "No"), strict=True)
    return Export(
        "survey.csv",
        _csv([head, kinds, *data]),
        "How was it?",
        readings={"Are you happy?": "labels"},
        poles=(("No", "Yes"),),
        says="several lines",
    )


def microsoft_forms() -> Export:
    head = (
        "ID",
        "Start time",
        "Completion time",
        "Email",
        "Name",
        "Tell us more",
        "How likely are you to recommend us?",
    )
    data = zip(
        range(1, 9), _STAMPS, _STAMPS, ["anonymous"] * 8, [""] * 8, TEXTS, (10, 2, 9, 1, 8, 3, 7, 5), strict=True
    )
    return Export(
        "Survey.xlsx",
        workbook(Sheet([head, *data], "Sheet1")),
        "Tell us more",
        readings={"How likely are you to recommend us?": "scale"},
    )


def typeform() -> Export:
    head = ("#", "What made your day?", "Rate us", "Start Date (UTC)", "Submit Date (UTC)", "Network ID", "Tags")
    data = zip(
        _IDS,
        TEXTS,
        (5, 1, 4, 2, 5, 1, 4, 3),
        _STAMPS,
        _STAMPS,
        [f"{at:010x}ab" for at in range(8)],
        [""] * 8,
        strict=True,
    )
    return Export("responses.csv", _csv([head, *data]), "What made your day?", readings={"Rate us": "scale"})


def kobotoolbox() -> Export:
    """Semicolons, and a column for each of several answers beside the column of all."""
    head = ("start", "end", "feedback", "reasons", "reasons/price", "reasons/service", "_id", "_uuid")
    reasons = ("price service", "service", "price", "service", "price", "price service", "service", "price")
    data = [
        (stamp, stamp, text, why, int("price" in why), int("service" in why), 1000 + at, f"uuid-{at}-a{at}f")
        for at, (stamp, text, why) in enumerate(zip(_STAMPS, TEXTS, reasons, strict=True))
    ]
    return Export("kobo.csv", _csv([head, *data], ";"), "feedback", readings={"_uuid": "not_used"})


# ---- labelling tools -------------------------------------------------------------------------------------------------


def label_studio_csv() -> Export:
    head = ("annotation_id", "annotator", "created_at", "id", "lead_time", "sentiment", "text", "updated_at")
    data = zip(range(1, 9), [1] * 8, _STAMPS, range(40, 48), [4.2] * 8, _MOOD, TEXTS, _STAMPS, strict=True)
    return Export(
        "project-1-at-2026-11-03.csv",
        _csv([head, *data]),
        "text",
        readings={"sentiment": "labels"},
        poles=(("Negative", "Positive"),),
    )


def _choice(mood: object) -> dict[str, object]:
    return {"from_name": "sentiment", "to_name": "text", "type": "choices", "value": {"choices": [mood]}}


def label_studio_json() -> Export:
    tasks = [
        {
            "id": at,
            "data": {"text": text},
            "predictions": [],
            "annotations": [{"completed_by": who, "result": [_choice(mood)]} for who in (1, 2)],
        }
        for at, (text, mood) in enumerate(zip(TEXTS, _MOOD, strict=True))
    ]
    return Export(
        "project-1.json",
        _json(tasks),
        "data.text",
        rows=16,
        readings={"annotator": "people", "sentiment": "labels"},
        poles=(("Negative", "Positive"),),
        says="one row for each person",
    )


def label_studio_json_min() -> Export:
    tasks = [
        {"text": text, "id": at, "sentiment": mood, "annotator": 1, "annotation_id": at, "lead_time": 3.1}
        for at, (text, mood) in enumerate(zip(TEXTS, _MOOD, strict=True))
    ]
    tasks[0]["sentiment"] = {"choices": ["Positive", "Negative"]}
    return Export("project-1-min.json", _json(tasks), "text", poles=(("Negative", "Positive"),))


def prodigy() -> Export:
    records = [
        {
            "text": text,
            "_input_hash": at,
            "_task_hash": -at,
            "label": "COMPLAINT",
            "answer": answer,
            "_view_id": "classification",
        }
        for at, (text, answer) in enumerate(zip(TEXTS, _sides("reject", "accept"), strict=True))
    ]
    return Export(
        "annotations.jsonl",
        _lines(records),
        "text",
        readings={"answer": "verdicts", "_view_id": "not_used"},
        poles=(("not complaint", "complaint"),),
    )


def doccano_jsonl() -> Export:
    records = [
        {"id": at, "text": text, "label": [mood], "Comments": []}
        for at, (text, mood) in enumerate(zip(TEXTS, _MOOD, strict=True))
    ]
    return Export("all.jsonl", _lines(records), "text", readings={"label": "labels"}, poles=(("Negative", "Positive"),))


def doccano_csv() -> Export:
    return Export(
        "all.csv",
        _csv([("id", "text", "label"), *zip(range(8), TEXTS, _MOOD, strict=True)]),
        "text",
        readings={"label": "labels"},
        poles=(("Negative", "Positive"),),
    )


def argilla() -> Export:
    records = [
        {
            "id": f"r{at}",
            "status": "completed",
            "fields": {"text": text},
            "metadata": {},
            "suggestions": {},
            "vectors": {},
            "responses": {"mood": [{"value": mood, "user_id": "u-1"}, {"value": mood, "user_id": "u-2"}]},
        }
        for at, (text, mood) in enumerate(zip(TEXTS, _MOOD, strict=True))
    ]
    return Export(
        "records.json",
        _json(records),
        "fields.text",
        rows=16,
        readings={"annotator": "people", "mood": "labels"},
        poles=(("Negative", "Positive"),),
    )


def inception() -> Export:
    content = "#FORMAT=WebAnno TSV 3.3\n#T_SP=webanno.custom.Sentiment|value\n\n#Text=Good\n1-1\t0-4\tGood\tgood\t\n"
    return Export("admin.tsv", content.encode(), refused="INCEpTION or WebAnno, which labels words")


def mechanical_turk() -> Export:
    head = ("HITId", "AssignmentId", "WorkerId", "Input.text", "Answer.sentiment.label", "Approve", "Reject")
    data = [
        (f"3H{at}", f"3A{at}{who}", who, text, mood, "", "")
        for at, (text, mood) in enumerate(zip(TEXTS, _MOOD, strict=True))
        for who in ("A1X", "A2Y", "A3Z")
    ]
    return Export("Batch_1_results.csv", _csv([head, *data]), "Input.text", rows=24, readings={"WorkerId": "people"})


# ---- tickets and chats -----------------------------------------------------------------------------------------------


def zendesk() -> Export:
    tickets = [
        {
            "url": f"https://shop.example/tickets/{at}.json",
            "id": at,
            "subject": f"About my order number {at} again",
            "status": "open",
            "description": text,
            "priority": None,
            "custom_fields": [{"id": 36, "value": "x"}],
            "satisfaction_rating": {"score": "offered"},
        }
        for at, text in enumerate(TEXTS)
    ]
    return Export("tickets.json", _lines(tickets), "description", also=("subject",))


def intercom() -> Export:
    conversations = [
        {
            "type": "conversation",
            "id": str(at),
            "source": {"type": "conversation", "author": {"type": "user"}},
            "conversation_parts": {
                "type": "conversation_part.list",
                "total_count": 2,
                "conversation_parts": [
                    {
                        "type": "conversation_part",
                        "part_type": "comment",
                        "body": f"<p>{text}</p>",
                        "author": {"type": "user", "name": "Ana"},
                    },
                    {
                        "type": "conversation_part",
                        "part_type": "comment",
                        "body": "<p>We look.</p>",
                        "author": {"type": "admin"},
                    },
                ],
            },
        }
        for at, text in enumerate(TEXTS)
    ]
    return Export(
        "conversations.jsonl",
        _lines(conversations),
        "conversation_parts.conversation_parts",
        first=f"<p>{TEXTS[0]}</p>",
        turn="user",
    )


def discord() -> Export:
    log = {
        "guild": {"id": "11", "name": "Shop"},
        "channel": {"id": "12", "type": "GuildTextChat", "name": "help"},
        "dateRange": {"after": None, "before": None},
        "exportedAt": "2026-11-03T09:00:00+00:00",
        "messages": [
            {
                "id": str(1912345678901234500 + at),
                "type": "Default",
                "timestamp": "2026-11-03T09:00:00+00:00",
                "content": text,
                "author": {"id": "7", "name": f"ana{at % 3}", "isBot": False, "roles": []},
                "attachments": [],
                "reactions": [],
            }
            for at, text in enumerate(TEXTS)
        ],
        "messageCount": len(TEXTS),
    }
    return Export("help.json", _json(log), "content", says="messages", readings={"id": "identifier"})


def whatsapp() -> Export:
    lines = ["03/11/2026, 09:00 - Messages and calls are end-to-end encrypted."]
    lines += [f"03/11/2026, 09:{at:02} - {'Ana' if at % 2 else 'Ben'}: {text}" for at, text in enumerate(TEXTS)]
    return Export(
        "WhatsApp Chat with Ana.txt", "\n".join(lines).encode(), "text", says="exported chat", readings={"date": "date"}
    )


def telegram() -> Export:
    messages = [
        {
            "id": at,
            "type": "message",
            "date": f"2026-11-03T09:0{at}:00",
            "from": "Ana",
            "from_id": "user1",
            "text": text,
            "text_entities": [],
        }
        for at, text in enumerate(TEXTS)
    ]
    return Export(
        "result.json",
        _json({"name": "Shop", "type": "private_group", "id": 5, "messages": messages}),
        "text",
        says="messages",
    )


def slack() -> Export:
    messages = [
        {"type": "message", "user": f"U0{at % 3}", "text": text, "ts": f"176230000{at}.0001"}
        for at, text in enumerate(TEXTS)
    ]
    return Export("2026-11-03.json", _json(messages), "text", readings={"ts": "date"})


def openai_chats() -> Export:
    records = [
        {
            "messages": [
                {"role": "system", "content": "Be kind."},
                {"role": "user", "content": text},
                {"role": "assistant", "content": "Sure."},
            ]
        }
        for text in TEXTS
    ]
    return Export("finetune.jsonl", _lines(records), "messages", turn="user")


def sharegpt() -> Export:
    records = [
        {"id": f"c{at}", "conversations": [{"from": "human", "value": text}, {"from": "gpt", "value": "Sure, I can."}]}
        for at, text in enumerate(TEXTS)
    ]
    return Export("sharegpt.json", _json(records), "conversations", turn="user")


# ---- reviews and posts -----------------------------------------------------------------------------------------------


def google_play() -> Export:
    """UTF-16, as the console writes it."""
    head = (
        "Package Name",
        "Reviewer Language",
        "Device",
        "Star Rating",
        "Review Title",
        "Review Text",
        "Developer Reply Text",
    )
    data = zip(
        ["org.shop"] * 8, ["en"] * 8, ["px5"] * 8, (5, 1, 5, 2, 4, 1, 5, 3), [""] * 8, TEXTS, [""] * 8, strict=True
    )
    return Export(
        "reviews_202611.csv", _csv([head, *data], mark="utf-16"), "Review Text", readings={"Star Rating": "scale"}
    )


def reddit() -> Export:
    posts = [
        {
            "id": f"k{at}",
            "author": f"u{at}",
            "body": text,
            "score": at * 7 - 3,
            "subreddit": "shop",
            "created_utc": 1_762_300_000 + at,
        }
        for at, text in enumerate(TEXTS)
    ]
    return Export("comments.ndjson", _lines(posts), "body")


EXPORTS = (
    *(qualtrics, limesurvey, google_forms, surveymonkey, microsoft_forms, typeform, kobotoolbox),
    *(label_studio_csv, label_studio_json, label_studio_json_min, prodigy, doccano_jsonl, doccano_csv, argilla),
    *(inception, mechanical_turk, zendesk, intercom, discord, whatsapp, telegram, slack, openai_chats, sharegpt),
    *(google_play, reddit),
)
