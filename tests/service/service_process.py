"""A service in a process of its own, with a trained model at each depth, so that a caller can time it from outside.

`python -m tests.service.service_process HOME` prints the port and the secret of a key, then serves until its standard
input closes. The models are `local.depth1`, `local.depth2` and `local.depth3`.
"""

import sys
import threading
import time
from pathlib import Path

import uvicorn

from tests.conftest import free_port, make_draft
from traitbench.client import Traitbench
from traitbench.operations import WORKER, keys
from traitbench.operations.context import open_context
from traitbench.service.app import create_app
from traitbench.settings import Settings

DEPTHS = (1, 2, 3)


def main() -> None:
    home = Path(sys.argv[1])
    settings = Settings(home=home, database_url=f"sqlite:///{home / 'traitbench.db'}", port=free_port())
    context = open_context(settings, worker=WORKER)
    secret = keys.create(context.engine, scope="authoring", namespaces=("local",)).secret
    server = uvicorn.Server(uvicorn.Config(create_app(context), port=settings.port, log_config=None, access_log=False))
    threading.Thread(target=_prepare, args=(settings, secret, server), daemon=True).start()
    try:
        server.run()
    finally:
        context.close()


def _prepare(settings: Settings, secret: str, server: uvicorn.Server) -> None:
    while not server.started:
        time.sleep(0.05)
    with Traitbench(settings.base_url, secret) as client:
        for depth in DEPTHS:
            make_draft(client, f"local.depth{depth}")
            client.models.update(f"local.depth{depth}", max_depth=depth)
            client.models.train(f"local.depth{depth}", effort="low")
        for depth in DEPTHS:
            assert client.models.wait(f"local.depth{depth}").state == "ready"
    sys.stdout.write(f"{settings.port} {secret}\n")
    sys.stdout.flush()
    sys.stdin.read()
    server.should_exit = True


if __name__ == "__main__":
    main()
