"""Conversations in the cells of a table: lists of messages with roles, and the text that one side of them said.

Such a cell is a list of objects, each with who speaks and what, as services of language models, chat tools and their
data sets write it; in a CSV file, it is that list as JSON or as Python prints it.
"""

import ast
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

Turn = Literal["user", "assistant", "all"]
"""Whose words are the text of a conversation; `all` leaves out instructions and what tools say."""

_ROLES = ("role", "from", "speaker", "author", "sender", "author_type", "speaker_role")
_NAMES = ("user", "name", "who", "participant", "author_id", "sender_id", "user_id")
_WORDS = ("content", "text", "message", "body", "utterance", "msg", "plain_body", "parts")
_SPANS = {"start", "end", "begin", "offset", "start_offset", "end_offset"}
"""Keys of marked words in a text, whose lists look like messages."""
_USERS = {
    *("user", "human", "customer", "client", "prompter", "visitor", "end-user", "enduser", "end_user", "contact"),
    *("requester", "patient", "caller", "lead", "guest", "member", "consumer", "questioner", "student", "kunde"),
    *("nutzer", "usuario", "utilisateur", "cliente"),
}
_ASSISTANTS = {
    *("assistant", "gpt", "bot", "model", "ai", "chatgpt", "chatbot", "bing", "bard", "claude", "agent", "admin"),
    *("support", "operator", "advisor", "teammate", "staff", "employee", "teacher", "doctor", "therapist", "asistente"),
}
_NEITHER = {"system", "developer", "tool", "function", "context", "instruction", "observation", "event", "tool_call"}
_MOST = 4_000_000


class Message(NamedTuple):
    """What one side said: `turn` is the side, None for instructions and tools."""

    turn: Literal["user", "assistant"] | None
    text: str


def messages_of(value: Any) -> list[Message] | None:
    """Return the messages of a cell or of a value of JSON; None if it is no conversation.

    With names instead of roles, whoever speaks first is the user, and all others are the assistant.
    """
    listed = _listed(value)
    if not listed or not all(isinstance(each, Mapping) for each in listed):
        return None
    if keyed := _keyed_by_role(listed):
        return keyed
    # A list of names and values has answers, and no messages.
    # A message that calls a tool may have no words.
    role, words = _key(listed, (*_ROLES, *_NAMES)), _key(listed, _WORDS, share=0.5)
    if role in _ROLES and words is None:
        words = _key(listed, ("value",))
    if any(_SPANS & each.keys() for each in listed):
        return None
    if role is None or words is None:
        return None
    speakers = [_speaker(each.get(role)) for each in listed]
    sides = _sides(speakers)
    return [Message(sides[who], _text(each.get(words))) for who, each in zip(speakers, listed, strict=True)]


def _keyed_by_role(listed: Sequence[Mapping[str, Any]]) -> list[Message] | None:
    """Return the messages of a list such as `[{"user": "Hi", "assistant": "Hello"}]`; None for another list."""
    messages = [
        Message("user" if key.casefold() in _USERS else "assistant", _text(value))
        for each in listed
        for key, value in each.items()
        if key.casefold() in _USERS | _ASSISTANTS and isinstance(value, str)
    ]
    sides = {each.turn for each in messages}
    return messages if len(sides) == 2 and len(messages) >= len(listed) else None


def has_roles(messages: Iterable[Mapping[str, Any]]) -> bool:
    """Whether messages name roles, as a conversation with a service does, and not people, as a chat log does."""
    named = {_speaker(each.get(key)) for each in messages for key in ("role", "from", "speaker") if key in each}
    return bool(named & (_USERS | _ASSISTANTS))


def text_of(messages: Iterable[Message], turn: Turn) -> str:
    """Return what a side said, a blank line between two messages."""
    said = (each.text for each in messages if each.turn and turn in ("all", each.turn))
    return "\n\n".join(text for text in said if text.strip())


def _listed(value: Any) -> Sequence[Any] | None:
    if isinstance(value, str) and value.lstrip()[:1] == "[" and "{" in value[:_MOST]:
        value = _parsed(value) if len(value) <= _MOST else None
    return value if isinstance(value, list) else None


def _parsed(cell: str) -> Any:
    for read in (json.loads, ast.literal_eval):
        try:
            return read(cell)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return None


def _key(listed: Sequence[Mapping[str, Any]], names: Sequence[str], *, share: float = 1.0) -> str | None:
    """Return the first of some keys that every message has, or this share of them."""
    return next((name for name in names if sum(name in each for each in listed) >= share * len(listed)), None)


def _speaker(value: Any) -> str:
    """Return who speaks, in small letters: a role or a name, which an object may hold."""
    if isinstance(value, Mapping):
        value = next((value[key] for key in ("role", "type", "name", "id") if value.get(key) is not None), "")
    return str(value).strip().casefold()


def _sides(speakers: Sequence[str]) -> dict[str, Literal["user", "assistant"] | None]:
    sides: dict[str, Literal["user", "assistant"] | None] = {}
    named = [who for who in dict.fromkeys(speakers) if who not in _NEITHER]
    has_roles = any(who in _USERS or who in _ASSISTANTS for who in named)
    for position, who in enumerate(named):
        first = position == 0 and not has_roles
        sides[who] = "user" if who in _USERS or first else "assistant"
    return sides | dict.fromkeys(_NEITHER & set(speakers))


def _text(value: Any) -> str:
    """Return the words of a message, which may be in parts; pictures and calls of tools have none."""
    if isinstance(value, Mapping):
        value = next((value[key] for key in ("text", "value", "parts") if key in value), "")
    if isinstance(value, list):
        return "\n".join(text for text in map(_text, value) if text)
    return value if isinstance(value, str) else ""
