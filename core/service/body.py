"""A request's body as a value: bounded, then parsed, then checked, each step with its own error.

A dependency of the endpoints, and always behind the caller: nothing of a body is read before it is known who sends it
and that there is something to send it to, and before there is room for it (`capacity`). What follows the body begins
when there is a slot for it.

See core/docs/contract.md, "Bodies".
"""

import json
import re
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any, Generic, TypeVar

from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request

from traitbench.contract.fields import Received
from traitbench.errors import BodyTooLarge, EmptyBody, InvalidJson, Unavailable, UnsupportedMediaType, ValidationFailed
from traitbench.service import strict_json
from traitbench.service.bench import bench_of
from traitbench.service.capacity import LONG, Capacity, Kind, capacity_of, claim_of
from traitbench.settings import Settings

Value = TypeVar("Value", bound=Received)
Parse = Callable[[bytearray], Any]

JSON = "application/json"
TEXT = "text/plain"
MARKDOWN = "text/markdown"
LINES = "application/x-ndjson"

_UTF_8 = frozenset({"", "utf-8", "utf8", "us-ascii"})
_MOST_FAULTS = 5_000  # more than a batch of samples can have
_SMALL = 32 * 1024  # bytes; what takes longer to parse leaves the event loop
_LARGE = 256 * 1024  # bytes; larger bodies are parsed one at a time
_HUGE = 32 * 1024 * 1024
_FIRST_OF_ASTRAL = b"\xf0\xf1\xf2\xf3\xf4"
_ASTRAL = re.compile(rb"[\xf0-\xf4][\x80-\xbf]{3}")
_STEP = 64 * 1024  # bytes that a body of unknown length takes at a time


def _usual(settings: Settings) -> int:
    return settings.max_body_bytes


class Body(Generic[Value]):
    """The body as a `Value`. `text_as` names the field that a body of plain text stands for; `limit` is in bytes; the
    texts in the list `apart` are the operation's own to judge, one by one; `work` is what the operation counts as."""

    def __init__(
        self,
        kind: type[Value],
        *,
        needed: bool = True,
        text_as: str | None = None,
        limit: Callable[[Settings], int] = _usual,
        apart: str = "",
        work: Kind = "write",
    ) -> None:
        self.kind = kind
        self.work = work
        self.needed = needed
        self.text_as = text_as
        self.limit = limit
        self.apart = apart
        self.media_types = (JSON, TEXT) if text_as else (JSON,)

    async def __call__(self, request: Request) -> Value:
        """Read, parse and check."""
        room, raw = _Room(self.work, request), bytearray()
        async for chunk in self._chunks(request, room):
            raw += chunk
        return await self._checked(request, room, raw)

    def _chunks(self, request: Request, room: "_Room") -> AsyncIterator[bytes]:
        return _chunks(request, room, limit=self.limit(bench_of(request).settings))

    async def _checked(self, request: Request, room: "_Room", raw: bytearray) -> Value:
        if not raw and self.needed:
            raise EmptyBody("A body is needed.", details={"media_types": [*self.media_types]})
        parse = self._parser(request) if raw else _nothing
        value = await self._parsed(capacity_of(request), parse, raw) if len(raw) > _SMALL else self._value(parse, raw)
        # Only a score has such a field.
        work: Kind = "explain" if getattr(value, "explain", False) else room.work
        await claim_of(request).slot(capacity_of(request), work, request)
        return value

    async def _parsed(self, capacity: Capacity, parse: Parse, raw: bytearray) -> Value:
        if len(raw) <= _LARGE:
            return await run_in_threadpool(self._value, parse, raw)
        async with capacity.parsing:
            return await run_in_threadpool(self._value, parse, raw)

    def _parser(self, request: Request) -> Parse:
        media_type = _media_type(request)
        if media_type not in self.media_types or request.headers.get("content-encoding", "identity") != "identity":
            raise UnsupportedMediaType(
                f"The body must be {' or '.join(self.media_types)}, in UTF-8, not compressed; Content-Type says which.",
                details={"media_types": [*self.media_types]},
            )
        return parsed_json if media_type == JSON else lambda raw: {self.text_as: strict_json.decode(raw)}

    def _value(self, parse: Parse, raw: bytearray) -> Value:
        return validated(self.kind, parse(raw), apart=self.apart)


@dataclass(frozen=True)
class Upload:
    """A body that was not parsed: `file` holds it, is read from its start, and is gone once it is closed."""

    file: IO[bytes]


class BodyOrUpload(Body[Value]):
    """As `Body`; one of more than `whole` bytes is an `Upload`, for another process to parse and check.

    To parse 240 MB takes this process seconds, in which nothing else would be answered, and several times the memory.
    """

    def __init__(self, kind: type[Value], *, limit: Callable[[Settings], int], work: Kind, whole: int) -> None:
        super().__init__(kind, limit=limit, work=work)
        self.whole = whole

    async def __call__(self, request: Request) -> Value | Upload:  # type: ignore[override]
        """Read; parse and check what is small."""
        room, raw = _Room(self.work, request), bytearray()
        with ExitStack() as on_failure:
            file: IO[bytes] | None = None
            try:
                async for chunk in self._chunks(request, room):
                    raw += chunk
                    if len(raw) > self.whole:
                        home = bench_of(request).settings.home
                        file = file or on_failure.enter_context(tempfile.TemporaryFile(dir=home))
                        file.write(raw)
                        raw.clear()
                if file is None:
                    return await self._checked(request, room, raw)
                file.write(raw)
                file.flush()
            except OSError as error:
                raise Unavailable(
                    f"The home folder has no room for the body ({error.strerror}). Free some space, then try again."
                ) from error
            self._parser(request)
            await claim_of(request).slot(capacity_of(request), room.work, request)
            on_failure.pop_all()
        return Upload(file)


def validated(kind: type[Value], value: Any, *, apart: str = "") -> Value:
    """`value` as a `kind`; raise `ValidationFailed` naming every field that is wrong, and none of what stands in it."""
    found = (fault for fault in strict_json.faults(value) if not (apart and _is_apart(fault, apart)))
    faults = list(islice(found, _MOST_FAULTS))
    try:
        result = kind.model_validate(value)
    except ValidationError as error:
        known = {tuple(fault["loc"]) for fault in faults}
        faults += [fault for fault in _faults_of(error) if tuple(fault["loc"]) not in known]
    if faults:
        raise ValidationFailed(_sentence(faults), details={"errors": faults})
    return result


def _is_apart(fault: strict_json.Fault, field: str) -> bool:
    return fault["type"].startswith("string_") and len(fault["loc"]) == 2 and fault["loc"][0] == field


class _Room:
    """The room that one body takes: what it says that it needs at once, or more and more as it comes."""

    def __init__(self, work: Kind, request: Request) -> None:
        self.work = work
        self._capacity, self._claim, self._request = capacity_of(request), claim_of(request), request
        self._bytes = 0

    async def declare(self, size: int) -> None:
        """Take what a body of known length needs."""
        if self.work == "score" and size > LONG:
            self.work = "long"
        self._bytes = size
        await self._claim.room(self._capacity, self.work, size, self._request)

    def hold(self, size: int) -> None:
        """Have room for so many bytes."""
        if size > self._bytes:
            if self.work == "score" and size > LONG:
                # What it took as a short one stays taken until it ends.
                self.work = "long"
            self._claim.more_room(self._capacity, self.work, _STEP)
            self._bytes += _STEP
            self.hold(size)


async def _chunks(request: Request, room: _Room, *, limit: int) -> AsyncIterator[bytes]:
    """The body as it comes, within its limit and its room."""
    declared = request.headers.get("content-length", "")
    if declared.isdecimal():
        if int(declared) > limit:
            raise _too_large(limit)
        await room.declare(int(declared))
    size = 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > limit:
                raise _too_large(limit)
            room.hold(size)
            yield chunk
    except ClientDisconnect:
        raise InvalidJson("The body ended before it was complete.", details={"reason": "incomplete"}) from None


def parsed_json(raw: bytearray) -> Any:
    """The value of a body of JSON, which is emptied; raise `InvalidJson`."""
    is_wide = len(raw) > _HUGE and any(first in raw for first in _FIRST_OF_ASTRAL)
    text = strict_json.decode(_ASTRAL.sub(_escaped, raw) if is_wide else raw)
    # A body may have hundreds of megabytes: it is let go of before its values take as much.
    raw.clear()
    return strict_json.read(text)


def _escaped(found: "re.Match[bytes]") -> bytes:
    """A character beyond the basic plane as JSON escapes it: one of them, and Python's text would take four bytes for
    each of its characters. What is no character stays, for `decode` to refuse."""
    try:
        return json.dumps(found[0].decode()).encode()[1:-1]
    except UnicodeDecodeError:
        return bytes(found[0])


def _too_large(limit: int) -> BodyTooLarge:
    return BodyTooLarge(f"The body is larger than {limit} bytes.", details={"max_bytes": limit})


def _media_type(request: Request) -> str:
    """The body's media type; empty when it has none or its characters are not UTF-8."""
    name, *parameters = (part.strip().lower() for part in request.headers.get("content-type", "").split(";"))
    charsets = {part.removeprefix("charset=").strip('"') for part in parameters if part.startswith("charset=")}
    return name if charsets <= _UTF_8 else ""


def _nothing(_: bytearray) -> dict[str, Any]:
    return {}


def _faults_of(error: ValidationError) -> list[strict_json.Fault]:
    if error.error_count() > _MOST_FAULTS:
        return [{"loc": [], "type": "too_many_errors", "msg": f"{error.error_count()} fields are not valid"}]
    found = error.errors(include_url=False, include_input=False)
    return [{"loc": _loc(fault["loc"]), "type": fault["type"], "msg": _plainly(fault)} for fault in found]


def _loc(loc: tuple[str | int, ...]) -> list[str | int]:
    return [strict_json.shown(part) if isinstance(part, str) else part for part in loc if part != "[key]"]


def _plainly(fault: Any) -> str:
    if fault["type"] == "model_type":
        return "Input should be an object"
    if fault["type"] == "is_instance_of":
        return "Input should be a valid string"
    if fault.get("ctx", {}).get("pattern") == r"\S":
        return "Input should not be blank"
    return str(fault["msg"]).removeprefix("Value error, ")


def _sentence(faults: list[strict_json.Fault]) -> str:
    first = faults[0]
    where = ".".join(str(part) for part in first["loc"]) or "the body"
    rest = f" ({len(faults) - 1} more in details.errors)" if len(faults) > 1 else ""
    return f"{where}: {first['msg']}{rest}."
