"""A web page of somebody else in the operator's browser: everything it can try, in Chromium.

The page comes from `evil.example`, which Chromium resolves to this machine. It is served by a web server of its own on
one port, and in DNS rebinding by the workbench itself under the foreign name.
"""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Playwright

from tests.app.processes import Started
from tests.browser.conftest import chromium, settled, violations
from tests.conftest import not_none
from tests.patience import PATIENCE_MS
from tests.size import sized

pytestmark = pytest.mark.browser

EVIL = "evil.example"
KINDS = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data")
FORGED = '{"handle": "local.forged", "content": "x", "feedback": {"tone": 1}}'

# Each attack answers what it reached; `null` is nothing.
ATTACKS = """
const tried = async (attempt) => { try { return await attempt() } catch (error) { return null } }
const read = (url, options) => tried(async () => (await fetch(url, options)).status)
const socket = (url) => new Promise((resolve) => {
  const opened = new WebSocket(url, ['streamlit'])
  opened.onopen = () => { opened.close(); resolve('open') }
  opened.onerror = () => resolve(null)
})
const frame = (url) => new Promise((resolve) => {
  const made = document.createElement('iframe')
  made.src = url
  made.onload = () => resolve(made.contentWindow.length + ':' + (made.contentDocument === null ? 'foreign' : 'blank'))
  document.body.append(made)
})
const image = (url) => new Promise((resolve) => {
  const made = new Image()
  made.onload = () => resolve('loaded')
  made.onerror = () => resolve(null)
  made.src = url
})
"""


class _Evil(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b"<!doctype html><title>evil</title><body>evil"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def evil() -> Iterator[str]:
    """The address of a page of somebody else."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Evil) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://{EVIL}:{server.server_port}/"
        server.shutdown()


@pytest.fixture
def page(playwright: Playwright) -> Iterator[Page]:
    """A page of a browser whose name server says that the foreign name is this machine."""
    deceived: Browser = chromium(playwright, f"--host-resolver-rules=MAP {EVIL} 127.0.0.1")
    page = deceived.new_page()
    page.set_default_timeout(PATIENCE_MS)
    yield page
    deceived.close()


def local_models(workbench: Started) -> list[str]:
    with workbench.client() as client:
        return [model.handle for model in client.models.list(namespace="local")]


def test_a_foreign_name_for_this_machine_opens_nothing(workbench: Started, page: Page) -> None:
    answer = not_none(page.goto(f"http://{EVIL}:{workbench.port}/console"))
    assert (answer.status, page.locator("body").inner_text().startswith("Forbidden")) == (403, True)
    before = local_models(workbench)
    reached = page.evaluate(
        f"""async (secret) => {{ {ATTACKS}
        return [
          await read('/v1/health'), await read('/_stcore/health'), await read('/console'),
          await read('/v1/models', {{method: 'POST', body: '{{"handle": "local.rebound"}}',
            headers: {{'Content-Type': 'application/json', 'Authorization': 'Bearer ' + secret}}}}),
          await tried(() => socket('ws://' + location.host + '/_stcore/stream')),
        ] }}""",
        (workbench.home / "first.key").read_text().strip(),
    )
    assert reached == [403, 403, 403, 403, None]
    assert local_models(workbench) == before


def test_a_foreign_page_reaches_frames_and_changes_nothing(workbench: Started, page: Page, evil: str) -> None:
    """A key in the address is no key; a form cannot send a header. What is sent is refused before it is read."""
    page.goto(evil)
    for there in (workbench.base_url, workbench.base_url.replace("127.0.0.1", "localhost")):
        reached = page.evaluate(
            f"""async (there) => {{ {ATTACKS}
            return [
              await read(there + '/v1/health'), await image(there + '/favicon.png'),
              await tried(() => socket(there.replace('http', 'ws') + '/_stcore/stream')),
            ] }}""",
            there,
        )
        assert reached == [None, None, None]

    page.evaluate(f"async (url) => {{ {ATTACKS} return await frame(url) }}", workbench.base_url)
    [framed] = [frame for frame in page.frames if frame.parent_frame is not None]
    assert framed.locator("[data-testid=stApp]").count() == 0
    assert framed.url.startswith("chrome-error:")

    posted: list[int] = []
    page.context.on("response", lambda each: posted.append(each.status) if each.request.method == "POST" else None)
    for kind in sized(KINDS[:1], KINDS):
        for path in ("/v1/models", "/v1/models/demo.headlines/score", "/_stcore/upload_file/a/b", "/console"):
            post(page, workbench.base_url + path, kind)
            page.goto(evil)
    assert len(posted) >= 4
    assert set(posted) == {403}
    assert "local.forged" not in local_models(workbench)


def post(page: Page, url: str, kind: str) -> None:
    """Send a body of this kind by script and by a form."""
    page.evaluate(
        """async ([url, kind, body]) => {
          try { await fetch(url, {method: 'POST', mode: 'no-cors', headers: {'Content-Type': kind}, body}) }
          catch (error) { return String(error) } }""",
        [url, kind, FORGED],
    )
    with page.expect_navigation():
        page.evaluate(
            """([action, enctype]) => {
              const form = document.createElement('form')
              Object.assign(form, {action, enctype, method: 'post'})
              document.body.append(form)
              form.submit() }""",
            [url, kind],
        )


@pytest.mark.soak
def test_a_link_from_elsewhere_opens_workbench_and_documentation(workbench: Started, page: Page, evil: str) -> None:
    broken = violations(page)
    page.goto(evil)
    page.evaluate("url => { document.body.innerHTML = `<a href='${url}'>open</a>` }", workbench.base_url)
    page.get_by_text("open").click()
    settled(page)
    page.goto(f"{workbench.base_url}/v1/docs")
    page.wait_for_selector(".opblock")
    assert page.locator(".opblock").count() > 20
    assert page.evaluate("getComputedStyle(document.body).margin") == "0px"
    assert broken == []
