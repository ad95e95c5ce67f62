"""Scripted answers in place of a service, for both clients."""

import httpx

Answer = httpx.Response | Exception


class Weather(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Gives the scripted answers in their order, the last one again and again, and keeps what was asked."""

    def __init__(self, *answers: Answer) -> None:
        self.asked: list[httpx.Request] = []
        self._answers = answers

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        answer = self._answers[min(len(self.asked), len(self._answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return self.handle_request(request)


def envelope(code: str, status: int, *, headers: dict[str, str] | None = None, **details: object) -> httpx.Response:
    """An error as the service answers it."""
    body = {"code": code, "message": f"It is {code}.", "request_id": "req_1", "details": details}
    return httpx.Response(status, json={"error": body}, headers=headers)


HEALTHY = httpx.Response(200, json={"status": "ok"})
