"""The MCP server: the tools over the protocol, on stdio for one person's agent.

The package `mcp` writes messages of its own to the log, which may quote arguments. They become events that name only
the place in the code.
"""

import json
import logging
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from importlib.metadata import version
from typing import Any

from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp_types import Tool as Listed
from pydantic import ValidationError

from traitbench import logs
from traitbench.agents.answers import schema_of
from traitbench.agents.tools import INSTRUCTIONS, TOOLS, WAYS_OUT
from traitbench.client import AsyncClient
from traitbench.contract.fields import plainly
from traitbench.errors import TraitbenchError

Context = ServerRequestContext[Any, Any]
ClientOf = Callable[[Context], AbstractAsyncContextManager[AsyncClient]]

_BY_NAME = {tool.name: tool for tool in TOOLS}
_READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)

_STRUCTURED_SINCE = "2025-06-18"
"""The version of the protocol that brought structured content; versions are dates."""

_log = logging.getLogger(__name__)


def make_server(client_of: ClientOf, reads_text: Callable[[Context], bool]) -> Server[Any]:
    """Return the server; `client_of` gives the client for a request.

    `reads_text` says whether the agent's program reads answers as text only. Others read them as structured content,
    and would show a model an answer twice that is sent as both.
    """
    _keep_texts_out_of_the_log()

    def as_text(context: Context) -> bool:
        return context.protocol_version < _STRUCTURED_SINCE or reads_text(context)

    async def tools(context: Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
        return _listed(as_text=as_text(context))

    async def call(context: Context, params: CallToolRequestParams) -> CallToolResult:
        return await _call(client_of(context), params, as_text=as_text(context))

    return Server(
        "traitbench",
        version=version("traitbench"),
        title="Traitbench",
        instructions=INSTRUCTIONS,
        on_list_tools=tools,
        on_call_tool=call,
    )


async def serve_stdio(base_url: str, api_key: str, *, as_text: bool) -> None:
    """Answer one agent on stdin and stdout until stdin ends; `as_text` if its program reads only text."""
    async with AsyncClient(base_url, api_key) as client:
        server = make_server(lambda _context: nullcontext(client), lambda _context: as_text)
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())


def _listed(*, as_text: bool) -> ListToolsResult:
    return ListToolsResult(
        tools=[
            Listed(
                name=tool.name,
                title=tool.title,
                description=tool.description,
                input_schema=schema_of(tool.arguments),
                output_schema=None if as_text else schema_of(tool.answer),
                annotations=_READS,
            )
            for tool in TOOLS
        ]
    )


async def _call(
    client: AbstractAsyncContextManager[AsyncClient], params: CallToolRequestParams, *, as_text: bool
) -> CallToolResult:
    tool = _BY_NAME.get(params.name)
    if tool is None:
        raise MCPError(INVALID_PARAMS, f"There is no such tool. The tools are {', '.join(_BY_NAME)}.")
    started, outcome = time.perf_counter(), "ok"
    try:
        async with client as connected:
            return _answer(await tool.call(connected, params.arguments or {}), as_text=as_text)
    except ValidationError as error:
        outcome = "invalid_arguments"
        return _refusal(" ".join(_problem(each) for each in error.errors(include_input=False, include_url=False)))
    except TraitbenchError as error:
        outcome = error.code
        # An answer and not an error of the protocol, so that the agent reads it and can correct itself.
        return _refusal(" ".join(filter(None, (str(error), WAYS_OUT.get(type(error))))))
    finally:
        elapsed = round(1000 * (time.perf_counter() - started), 1)
        logs.event(_log, logging.INFO, "tool_called", tool=tool.name, outcome=outcome, ms=elapsed)


def _answer(result: dict[str, Any], *, as_text: bool) -> CallToolResult:
    if not as_text:
        return CallToolResult(content=[], structured_content=result)
    text = json.dumps(result, ensure_ascii=False, separators=(",", ":"))
    return CallToolResult(content=[TextContent(type="text", text=text)])


def _refusal(sentence: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=sentence)], is_error=True)


def _problem(error: Any) -> str:
    more = " Send the others in another call." if error["type"] == "too_long" else ""
    return f"{'.'.join(map(str, error['loc']))}: {plainly(error)}.{more}"


class _OnlyLocations(logging.Handler):
    """Turns a record of the library into an event without its message."""

    def emit(self, record: logging.LogRecord) -> None:
        logs.event(_log, record.levelno, "mcp", place=f"{record.name}:{record.lineno}")


def _keep_texts_out_of_the_log() -> None:
    library = logging.getLogger("mcp")
    library.handlers[:] = [_OnlyLocations()]
    # Otherwise the messages would reach the log of the process as well.
    library.propagate = False
