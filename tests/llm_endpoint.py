"""A small service that speaks OpenAI's chat protocol on this machine, over real HTTP, and answers by a script."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY, MODEL = "sk-secret-of-the-tests", "tiny-writer"

Script = Callable[[dict[str, Any]], Any]
"""Gets the body of a request; returns the content of the answer, a `Reply`, or a number of a status."""


@dataclass(frozen=True)
class Reply:
    """An answer to the letter: its status, body and headers; `drip` sends a space every so many seconds, for
    ever; `cut` closes the connection instead."""

    status: int = 200
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    wait: float = 0.0
    drip: float = 0.0
    cut: bool = False


@dataclass
class LlmEndpoint:
    """Answers with what `script` returns; `asked` are the bodies of the requests, `keys` the keys that came along."""

    port: int
    script: Script
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def environment(self) -> dict[str, str]:
        return {"TRAITBENCH_LLM_URL": self.url, "TRAITBENCH_LLM_KEY": KEY, "TRAITBENCH_LLM_MODEL": MODEL}

    @property
    def settings(self) -> dict[str, Any]:
        return {"llm_url": self.url, "llm_key": KEY, "llm_model": MODEL}

    def question(self, number: int = -1) -> str:
        """What a request asked."""
        return str(self.asked[number]["messages"][-1]["content"])


@contextmanager
def llm_endpoint(script: Script) -> Iterator[LlmEndpoint]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            endpoint.asked.append(body)
            endpoint.keys.append(self.headers.get("Authorization", "").removeprefix("Bearer "))
            said = endpoint.script(body) if self.path == "/v1/chat/completions" else 404
            self._reply(said)

        def _reply(self, said: Any) -> None:
            match said:
                case int():
                    said = Reply(said, json.dumps({"error": {"message": "no"}}), {"Retry-After": "0"})
                case str():
                    said = Reply(body=completion(said))
            endpoint.over.wait(said.wait)
            if said.cut:
                self.close_connection = True
                return
            body = said.body.encode()
            self.send_response(said.status)
            headers = {"Content-Type": "application/json", **said.headers}
            headers |= {} if said.drip else {"Content-Length": str(len(body))}
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            while said.drip and not endpoint.over.is_set():
                self.wfile.write(b" ")
                time.sleep(said.drip)
            self.wfile.write(body)

        def handle(self) -> None:
            with suppress(OSError):  # who asked has gone
                super().handle()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    endpoint = LlmEndpoint(server.server_address[1], script)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield endpoint
    finally:
        endpoint.over.set()
        server.shutdown()
        server.server_close()


def completion(content: str, *, tokens: int = 50) -> str:
    """The body of an answer."""
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    usage = {"prompt_tokens": tokens - 10, "completion_tokens": 10, "total_tokens": tokens}
    answer = {"id": "c-1", "object": "chat.completion", "created": 1, "model": MODEL, "choices": [choice]}
    return json.dumps({**answer, "usage": usage})
