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
from traitbench.agents.tools import INSTRUCTIONS, TOOLS
from traitbench.client import AsyncClient
from traitbench.contract.fields import plainly
from traitbench.errors import TraitbenchError

Context = ServerRequestContext[Any, Any]
ClientOf = Callable[[Context], AbstractAsyncContextManager[AsyncClient]]

_BY_NAME = {tool.name: tool for tool in TOOLS}
_READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)

_log = logging.getLogger(__name__)


def make_server(client_of: ClientOf) -> Server[Any]:
    """Return the server; `client_of` gives the client for a request."""
    _keep_texts_out_of_the_log()

    async def call(context: Context, params: CallToolRequestParams) -> CallToolResult:
        return await _call(client_of(context), params)

    return Server(
        "traitbench",
        version=version("traitbench"),
        title="Traitbench",
        instructions=INSTRUCTIONS,
        on_list_tools=_list,
        on_call_tool=call,
    )


async def serve_stdio(base_url: str, api_key: str) -> None:
    """Answer one agent on stdin and stdout until stdin ends."""
    async with AsyncClient(base_url, api_key) as client:
        server = make_server(lambda _context: nullcontext(client))
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())


async def _list(_context: Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
    return ListToolsResult(
        tools=[
            Listed(
                name=tool.name,
                title=tool.title,
                description=tool.description,
                input_schema=tool.arguments.model_json_schema(),
                annotations=_READS,
            )
            for tool in TOOLS
        ]
    )


async def _call(client: AbstractAsyncContextManager[AsyncClient], params: CallToolRequestParams) -> CallToolResult:
    tool = _BY_NAME.get(params.name)
    if tool is None:
        raise MCPError(INVALID_PARAMS, f"There is no such tool. The tools are {', '.join(_BY_NAME)}.")
    started, outcome = time.perf_counter(), "ok"
    try:
        async with client as connected:
            return _answer(await tool.call(connected, params.arguments or {}))
    except ValidationError as error:
        outcome = "invalid_arguments"
        return _refusal("; ".join(_problem(each) for each in error.errors(include_input=False, include_url=False)))
    except TraitbenchError as error:
        outcome = error.code
        # An answer and not an error of the protocol, so that the agent reads it and can correct itself.
        return _refusal(str(error))
    finally:
        elapsed = round(1000 * (time.perf_counter() - started), 1)
        logs.event(_log, logging.INFO, "tool_called", tool=tool.name, outcome=outcome, ms=elapsed)


def _answer(result: dict[str, Any]) -> CallToolResult:
    text = TextContent(type="text", text=json.dumps(result, ensure_ascii=False))
    return CallToolResult(content=[text], structured_content=result)


def _refusal(sentence: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=sentence)], is_error=True)


def _problem(error: Any) -> str:
    return f"{'.'.join(map(str, error['loc']))}: {plainly(error)}"


class _OnlyLocations(logging.Handler):
    """Turns a record of the library into an event without its message."""

    def emit(self, record: logging.LogRecord) -> None:
        logs.event(_log, record.levelno, "mcp", place=f"{record.name}:{record.lineno}")


def _keep_texts_out_of_the_log() -> None:
    library = logging.getLogger("mcp")
    library.handlers[:] = [_OnlyLocations()]
    # Otherwise the messages would reach the log of the process as well.
    library.propagate = False
