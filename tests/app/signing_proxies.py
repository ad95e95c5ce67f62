"""HAProxy and nginx in front of a service: they name the person in `X-Login`, and nobody whom a browser names."""

import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.app.processes import eventually
from tests.conftest import free_port

# Where a proxy itself would ask a provider who the browser is, these read a header, which they do not pass on.
HAPROXY = """
defaults
    mode http
    timeout connect 10s
    timeout client 20s
    timeout server 20s
frontend all
    bind 127.0.0.1:{port}
    http-request del-header {header}
    http-request set-header {header} %[req.hdr(X-Login)] if {{ req.hdr(X-Login) -m found }}
    http-request del-header X-Login
    default_backend service
backend service
    server service 127.0.0.1:{behind} source {source}
"""
NGINX = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://127.0.0.1:{behind};
            proxy_bind {source};
            proxy_http_version 1.1;
            proxy_request_buffering off;
            proxy_set_header Host $http_host;
            proxy_set_header Connection "";
            proxy_set_header X-Login "";
            proxy_set_header {header} $http_x_login;
        }}
    }}
}}
"""
_KINDS: Mapping[str, tuple[str, Callable[[str, Path], list[str]]]] = {
    "haproxy": (HAPROXY, lambda program, file: [program, "-db", "-q", "-f", str(file)]),
    "nginx": (NGINX, lambda program, file: [program, "-p", str(file.parent), "-c", str(file)]),
}


@contextmanager
def signing_proxy(kind: str, folder: Path, *, behind: int, source: str, header: str) -> Iterator[int]:
    """Run a proxy, `haproxy` or `nginx`, and yield its port; it connects to `behind` from the address `source`."""
    folder.mkdir()
    port, file = free_port(), folder / "proxy.conf"
    configuration, command = _KINDS[kind]
    file.write_text(configuration.format(port=port, behind=behind, source=source, header=header, folder=folder))
    program = shutil.which(kind, path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
    assert program, f"There is no {kind}: run 'make tools'."
    process = subprocess.Popen(command(program, file), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert eventually(lambda: _listens(port) or process.poll() is not None)
        assert process.poll() is None, process.communicate()[0]
        yield port
    finally:
        process.terminate()
        process.communicate(timeout=20)


def _listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False
