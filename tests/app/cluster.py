"""Several processes on one PostgreSQL behind nginx, with the configuration that is in the documentation."""

import socket
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.app.processes import Started, eventually, starting
from tests.cli.asking import call
from tests.conftest import free_port
from tests.contexts import link_cache
from traitbench.client import Traitbench
from traitbench.errors import Unavailable
from traitbench.settings import Settings

CONFIGURATION = Path(__file__).parents[2] / "core" / "docs" / "nginx.conf"
NGINX = "/usr/sbin/nginx"


@dataclass(frozen=True)
class Cluster:
    """The processes, and the address of nginx in front of them."""

    base_url: str
    secret: str
    services: Sequence[Started]
    workers: Sequence["subprocess.Popen[str]"]
    workbench: Started | None
    nginx: Path

    def client(self) -> Traitbench:
        """A client that goes through nginx."""
        return Traitbench(self.base_url, self.secret)


@contextmanager
def cluster(folder: Path, settings: Settings, *, services: int, workers: int, workbench: bool) -> Iterator[Cluster]:
    """So many processes, ready; a workbench asks for a sign-in, which the secret is good for."""
    given: dict[str, Any] = {
        "TRAITBENCH_DATABASE_URL": settings.database_url,
        "TRAITBENCH_ENCODER": settings.encoder or "",
        "TRAITBENCH_PUBLIC_NAMESPACES": "",
    }
    code, secret, err = call(folder / "key", "key", "create", "--scope", "authoring", "--namespace", "local", **given)
    assert code == 0, err
    port = free_port()
    base_url = f"http://127.0.0.1:{port}"
    for name in [*(f"api-{n}" for n in range(services)), *(f"worker-{n}" for n in range(workers))]:
        link_cache(folder / name)
    with ExitStack() as stack, ThreadPoolExecutor(4) as pool:
        # All of them come up side by side.
        outcome = [stack.enter_context(starting(folder / f"worker-{n}", "worker", **given)) for n in range(workers)]
        # Whoever starts first prints its lines when it is ready; constructors wait for theirs.
        up = [pool.submit(Started, folder / f"api-{n}", "serve", **given) for n in range(services)]
        page = pool.submit(Started, folder / "workbench", **signing_in_at(base_url)) if workbench else None
        started = [stack.enter_context(_ended(each.result())) for each in up]
        shown = stack.enter_context(_ended(page.result())) if page else None
        for each in outcome:
            assert each.stdout is not None
            assert each.stdout.readline() == "Traitbench executes runs.\n"
        ports = [each.port for each in started] + [started[0].port] * (2 - services)
        prefix = folder / "nginx"
        stack.enter_context(nginx(prefix, port, apis=ports, workbenches=[shown.port if shown else free_port()]))
        yield Cluster(base_url, secret.strip(), started, outcome, shown, prefix)


def signing_in_at(base_url: str) -> dict[str, str]:
    """The environment of a workbench in front of this API, which asks for a sign-in."""
    return {"TRAITBENCH_API_URL": base_url, "TRAITBENCH_SIGN_IN": "token"}


@contextmanager
def nginx(
    prefix: Path,
    port: int,
    *,
    apis: Sequence[int],
    workbenches: Sequence[int],
    certificate: Path | None = None,
    away: bool = False,
) -> Iterator[None]:
    """nginx in front of two APIs, which may be the same, and of one workbench or two.

    The configuration as it is, but for the ports, the lines it says to uncomment for a second workbench, and TLS with
    a certificate (a file that holds its key too). The services may be `away`.
    """
    prefix.mkdir()
    configuration = CONFIGURATION.read_text("utf-8")
    if len(workbenches) == 2:
        for line in ("ip_hash;", "server 127.0.0.1:8504;"):
            assert f"        # {line}\n" in configuration
            configuration = configuration.replace(f"        # {line}\n", f"        {line}\n")
    if certificate:
        listening = f"listen 127.0.0.1:{port} ssl; ssl_certificate {certificate}; ssl_certificate_key {certificate};"
        configuration = configuration.replace("listen 127.0.0.1:8500;", listening)
    ports = {8500: port, 8502: apis[0], 8503: apis[1], **dict(zip((8501, 8504), workbenches, strict=False))}
    for name, number in ports.items():
        assert f"127.0.0.1:{name};" in configuration or (name == 8500 and certificate)
        configuration = configuration.replace(f"127.0.0.1:{name};", f"127.0.0.1:{number};")
    if apis[0] == apis[1]:
        configuration = configuration.replace(f"        server 127.0.0.1:{apis[1]};\n", "", 1)
    (prefix / "nginx.conf").write_text(configuration)
    # In the foreground, so that it ends with the test; `-p` holds whatever it writes.
    command = [NGINX, "-p", str(prefix), "-c", str(prefix / "nginx.conf"), "-g", "daemon off;"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert eventually(lambda: _listens(port) if certificate or away else _answers(f"http://127.0.0.1:{port}"))
        yield
    finally:
        process.terminate()
        process.communicate(timeout=10)


def _listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def _answers(base_url: str) -> bool:
    with suppress(Unavailable), Traitbench(base_url) as client:
        client.health()
        return True
    return False


@contextmanager
def _ended(started: Started) -> Iterator[Started]:
    try:
        yield started
    finally:
        if started.process.poll() is None:
            started.stop()
