"""Dependencies that read, parse and validate the body of a request (core/docs/contract.md, "Bodies").

Each step raises an error of its own. Endpoints declare these dependencies after the caller. So a body is read only
after the sender and the resource were checked, and once there is memory for it (`capacity`). The operation starts when
it gets a slot.
"""

import json
import re
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any, TypeVar

from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request

from traitbench.contract.fields import Lenient, Received, plainly
from traitbench.contract.operation import JSON, TEXT, Operation, Work
from traitbench.errors import BodyTooLarge, EmptyBody, InvalidJson, Unavailable, UnsupportedMediaType, ValidationFailed
from traitbench.operations.context import Context
from traitbench.service import strict_json
from traitbench.service.capacity import LONG, Capacity, capacity_of, claim_of, context_of
from traitbench.service.idempotency import sent_key
from traitbench.settings import Settings

Value = TypeVar("Value", bound=Received)
Parse = Callable[[bytearray], Any]
ProblemsOfParts = Callable[[Context, str, Any], tuple[list[dict[str, Any]], dict[str, Any]]]

_UTF_8 = frozenset({"", "utf-8", "utf8", "us-ascii"})
_MOST_FAULTS = 5_000  # more than a valid request with samples can cause
_SMALL = 32 * 1024  # bytes; larger bodies are parsed in a thread, off the event loop
_LARGE = 256 * 1024  # bytes; larger bodies are parsed one at a time
_HUGE = 32 * 1024 * 1024
_FIRST_OF_ASTRAL = b"\xf0\xf1\xf2\xf3\xf4"
_ASTRAL = re.compile(rb"[\xf0-\xf4][\x80-\xbf]{3}")
_STEP = 64 * 1024  # bytes to reserve at a time for a body of unknown length


def _usual(settings: Settings) -> int:
    return settings.max_body_bytes


class Body:
    """The body of an operation, as the type that the table of operations has for it.

    `limit` is in bytes. The operation itself checks the texts in the list `apart`, one by one. `problems_of_parts`
    finds what only the operation knows is wrong with a batch whose fields are not all valid; the error then names that
    too.
    """

    def __init__(
        self,
        operation: Operation[Any],
        *,
        limit: Callable[[Settings], int] = _usual,
        apart: str = "",
        problems_of_parts: ProblemsOfParts | None = None,
    ) -> None:
        if operation.body is None:
            raise TypeError(f"{operation.name} has no body")
        self.kind: type[Received] = operation.body
        self.problems_of_parts = problems_of_parts
        self.work = operation.kind_of_work
        self.needed = operation.needs_body
        self.text_as = operation.text_as
        self.limit = limit
        self.apart = apart
        self.media_types = (JSON, TEXT) if self.text_as else (JSON,)

    async def __call__(self, request: Request) -> Any:
        """Read, parse and validate the body."""
        room, raw = _Room(self.work, request), bytearray()
        async for chunk in self._chunks(request, room):
            raw += chunk
        return await self._checked(request, room, raw)

    def _chunks(self, request: Request, room: "_Room") -> AsyncIterator[bytes]:
        return _chunks(request, room, limit=self.limit(context_of(request).settings))

    async def _checked(self, request: Request, room: "_Room", raw: bytearray) -> Any:
        if not raw and self.needed:
            raise EmptyBody("The request needs a body.", details={"media_types": [*self.media_types]})
        parse = self._parser(request) if raw else _nothing
        try:
            is_small = len(raw) <= _SMALL
            value = self._value(parse, raw) if is_small else await self._parsed(capacity_of(request), parse, raw)
        except _BadBatch as bad:
            raise await run_in_threadpool(self._completed, request, bad) from None
        # Only the body of a score has this field.
        work: Work = "explain" if getattr(value, "explain", False) else room.work
        await claim_of(request).slot(capacity_of(request), work, request)
        return value

    async def _parsed(self, capacity: Capacity, parse: Parse, raw: bytearray) -> Any:
        if len(raw) <= _LARGE:
            return await run_in_threadpool(self._value, parse, raw)
        async with capacity.parsing:
            return await run_in_threadpool(self._value, parse, raw)

    def _parser(self, request: Request) -> Parse:
        media_type = _media_type(request)
        if media_type not in self.media_types or request.headers.get("content-encoding", "identity") != "identity":
            raise UnsupportedMediaType(
                f"The body must be {' or '.join(self.media_types)}, in UTF-8 and uncompressed. Set Content-Type.",
                details={"media_types": [*self.media_types]},
            )
        return parsed_json if media_type == JSON else lambda raw: {self.text_as: strict_json.decode(raw)}

    def _value(self, parse: Parse, raw: bytearray) -> Any:
        parsed = parse(raw)
        try:
            return validated(self.kind, parsed, apart=self.apart)
        except ValidationFailed as error:
            if self.problems_of_parts is None:
                raise
            raise _BadBatch(error, parsed) from None

    def _completed(self, request: Request, bad: "_BadBatch") -> ValidationFailed:
        """Return the error with the problems that only the operation knows, element by element."""
        assert self.problems_of_parts is not None
        problems, details = self.problems_of_parts(context_of(request), request.path_params["handle"], bad.body)
        faults = bad.error.details["errors"]
        named = {tuple(fault["loc"]) for fault in faults}
        faults = sorted([*faults, *(fault for fault in problems if tuple(fault["loc"]) not in named)], key=_position)
        return ValidationFailed(_sentence(faults), details={"errors": faults, **details})


class _BadBatch(Exception):
    """A batch that is not valid, and the body as parsed."""

    def __init__(self, error: ValidationFailed, body: Any) -> None:
        super().__init__()
        self.error = error
        self.body = body


@dataclass(frozen=True)
class Upload:
    """A body that was not parsed. `file` holds it, and is deleted when it is closed."""

    file: IO[bytes]


class BodyOrUpload(Body):
    """Like `Body`, but a body of more than `whole` bytes becomes an `Upload`, which another process parses and checks.

    In this process, parsing 240 MB would block all other requests for seconds, and take several times as much memory.
    """

    def __init__(self, operation: Operation[Any], *, limit: Callable[[Settings], int], whole: int) -> None:
        super().__init__(operation, limit=limit)
        self.whole = whole

    async def __call__(self, request: Request) -> Any:
        """Read the body; parse and validate it if it is small."""
        room, raw = _Room(self.work, request), bytearray()
        with ExitStack() as on_failure:
            file: IO[bytes] | None = None
            try:
                async for chunk in self._chunks(request, room):
                    raw += chunk
                    if len(raw) > self.whole:
                        home = context_of(request).settings.home
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
            # Only for its refusal of other media types: another process parses the body.
            self._parser(request)
            await claim_of(request).slot(capacity_of(request), room.work, request)
            # From here on, whoever gets the file closes it.
            on_failure.pop_all()
        return Upload(file)


def validated(kind: type[Value], value: Any, *, apart: str = "") -> Value:
    """Return `value` as a `kind`; raise `ValidationFailed` that names all invalid fields, but not their content."""
    own_faults = (fault for fault in strict_json.faults(value) if not (apart and _is_apart(fault, apart)))
    faults = list(islice(own_faults, _MOST_FAULTS))
    try:
        result = kind.model_validate(value)
    except ValidationError as error:
        known = {tuple(fault["loc"]) for fault in faults}
        faults += [fault for fault in _faults_of(error) if tuple(fault["loc"]) not in known]
    if faults:
        # On a door, keys of the body may be content, such as the ids of questions.
        sentence = f"{faults[0]['msg']}." if issubclass(kind, Lenient) else _sentence(faults)
        raise ValidationFailed(sentence, details={"errors": faults})
    return result


def _is_apart(fault: strict_json.Fault, field: str) -> bool:
    return fault["type"].startswith("string_") and len(fault["loc"]) == 2 and fault["loc"][0] == field


class _Room:
    """The memory reserved for one body: all at once if its length is declared, else in steps."""

    def __init__(self, work: Work, request: Request) -> None:
        self.work = work
        self._capacity, self._claim, self._request = capacity_of(request), claim_of(request), request
        self._bytes = 0

    async def declare(self, size: int) -> None:
        """Reserve memory for a body of known length."""
        if self.work == "score" and size > LONG:
            self.work = "long"
        self._bytes = size
        await self._claim.room(self._capacity, self.work, size, self._request)

    def hold(self, size: int) -> None:
        """Make sure that at least `size` bytes are reserved."""
        if size > self._bytes:
            if self.work == "score" and size > LONG:
                # The bytes reserved for it as a short text stay reserved until the request ends.
                self.work = "long"
            self._claim.more_room(self._capacity, self.work, _STEP)
            self._bytes += _STEP
            self.hold(size)


async def _chunks(request: Request, room: _Room, *, limit: int) -> AsyncIterator[bytes]:
    """Yield the body in chunks, within its limit and the memory for it."""
    declared = request.headers.get("content-length", "")
    if declared.isdecimal():
        if int(declared) > limit:
            raise _too_large(limit)
        await room.declare(int(declared))
    size, key = 0, sent_key(request.scope)
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > limit:
                raise _too_large(limit)
            room.hold(size)
            if key is not None:
                key.read(chunk)
            yield chunk
    except ClientDisconnect:
        raise InvalidJson("The body ended before it was complete.", details={"reason": "incomplete"}) from None


def parsed_json(raw: bytearray) -> Any:
    """Parse a JSON body and clear `raw`; raise `InvalidJson` if it is malformed."""
    is_wide = len(raw) > _HUGE and any(first in raw for first in _FIRST_OF_ASTRAL)
    text = strict_json.decode(_ASTRAL.sub(_escaped, raw) if is_wide else raw)
    # A body may have hundreds of megabytes. Free it before its values take as much again.
    raw.clear()
    return strict_json.read(text)


def _escaped(match: "re.Match[bytes]") -> bytes:
    """Escape a character beyond the basic plane as JSON does. Invalid bytes stay, so that `decode` rejects them.

    A single such character would make Python store the whole text with four bytes per character (PEP 393).
    """
    try:
        return json.dumps(match[0].decode()).encode()[1:-1]
    except UnicodeDecodeError:
        return bytes(match[0])


def _too_large(limit: int) -> BodyTooLarge:
    return BodyTooLarge(f"The body is larger than {limit} bytes.", details={"max_bytes": limit})


def _media_type(request: Request) -> str:
    """Return the body's media type, or "" if it has none or a charset other than UTF-8."""
    name, *parameters = (part.strip().lower() for part in request.headers.get("content-type", "").split(";"))
    charsets = {part.removeprefix("charset=").strip('"') for part in parameters if part.startswith("charset=")}
    return name if charsets <= _UTF_8 else ""


def _nothing(_: bytearray) -> dict[str, Any]:
    return {}


def _faults_of(error: ValidationError) -> list[strict_json.Fault]:
    if error.error_count() > _MOST_FAULTS:
        return [{"loc": [], "type": "too_many_errors", "msg": f"{error.error_count()} fields are not valid"}]
    errors = error.errors(include_url=False, include_input=False)
    return [{"loc": _loc(fault["loc"]), "type": fault["type"], "msg": plainly(fault)} for fault in errors]


def _loc(loc: tuple[str | int, ...]) -> list[str | int]:
    return [strict_json.shown(part) if isinstance(part, str) else part for part in loc if part != "[key]"]


def _position(fault: strict_json.Fault) -> int:
    """Return the index of the element that a fault of a batch belongs to; -1 if it belongs to none."""
    return next((part for part in fault["loc"] if isinstance(part, int)), -1)


def _sentence(faults: list[strict_json.Fault]) -> str:
    first = faults[0]
    where = ".".join(str(part) for part in first["loc"]) or "the body"
    rest = f" ({len(faults) - 1} more in details.errors)" if len(faults) > 1 else ""
    return f"{where}: {first['msg']}{rest}."
