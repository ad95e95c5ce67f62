"""Endpoints of Perspective's wire, and its description for Google's client libraries."""

import re
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from traitbench.contract import operations
from traitbench.contract.operation import JSON
from traitbench.contract.perspective import AnalyzeCommentRequest, SuggestCommentScoreRequest
from traitbench.doors import discovery, perspective
from traitbench.service.body import Body, Parse
from traitbench.service.caller import Call
from traitbench.service.routing import Router

router = Router(tags=["perspective"])

_HALF_OR_NUL = re.compile("[\ud800-\udfff\x00]")
_INSTEAD = {"\x00": "\u200b"}
"""U+0000 is read as nothing anyway, and stores refuse it; this is read as nothing too."""
_NO_CHARACTER = "\ufffd"


class CommentBody(Body):
    """A body whose texts may have half of a surrogate pair or U+0000.

    Comments that were cut have them, and a comment that is refused passes the moderation unseen. Each becomes one other
    character of one UTF-16 unit, so that spans stay where they are.
    """

    def _parser(self, request: Request) -> Parse:
        parse = super()._parser(request)
        return lambda raw: _mended(parse(raw))


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return _HALF_OR_NUL.sub(lambda match: _INSTEAD.get(match[0], _NO_CHARACTER), value)
    if isinstance(value, list):
        return [_mended(each) for each in value]
    return {_mended(key): _mended(each) for key, each in value.items()} if isinstance(value, dict) else value


@router.serve(operations.COMMENTS_ANALYZE, body=CommentBody)
def analyze(call: Call, body: AnalyzeCommentRequest) -> Response:
    """Score the attributes of a comment, on the wire of Perspective. Nothing of the comment is stored."""
    answer = perspective.analyze(call.context, call.caller, body, request_id=call.request_id)
    return Response(answer.model_dump_json(by_alias=True), media_type=JSON)


@router.serve(operations.COMMENTS_SUGGESTSCORE, body=CommentBody)
def suggest(call: Call, body: SuggestCommentScoreRequest) -> Response:
    """Keep a moderator's verdict as a proposed label, on the wire of Perspective. Nothing trains on it."""
    answer = perspective.suggest(call.context, call.caller, body)
    return Response(answer.model_dump_json(by_alias=True), media_type=JSON)


@router.serve(operations.COMMENTS_DISCOVERY)
def described(request: Request) -> Response:
    """Describe Perspective's wire for Google's client libraries, at the address that the request was sent to."""
    forwarded = request.headers.get("x-forwarded-proto", "").rpartition(",")[2].strip().lower()
    # From http to https only, whoever says so: else the library would send its key over http.
    scheme = "https" if "https" in (request.scope["scheme"], forwarded) else "http"
    document = discovery.document(f"{scheme}://{request.headers['host']}/")
    return JSONResponse(document, headers={"Cache-Control": "no-store"})
