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
from tests.contexts import ENCODER, done_here, opened
from traitbench.client import Traitbench
from traitbench.operations import keys
from traitbench.operations.context import Context
from traitbench.service.app import create_app
from traitbench.settings import Settings

DEPTHS = (1, 2, 3)


def main() -> None:
    home = Path(sys.argv[1])
    settings = Settings(
        home=home, database_url=f"sqlite:///{home / 'traitbench.db'}", port=free_port(), encoder=ENCODER
    )
    with opened(settings, runs=False) as context:
        app = create_app(context)
        server = uvicorn.Server(uvicorn.Config(app, port=settings.port, log_config=None, access_log=False))
        threading.Thread(target=_prepare, args=(context, server), daemon=True).start()
        server.run()


def _prepare(context: Context, server: uvicorn.Server) -> None:
    while not server.started:
        time.sleep(0.05)
    settings, secret = context.settings, keys.create(context.engine, scope="authoring", namespaces=("local",)).secret
    with Traitbench(settings.base_url, secret) as client:
        for depth in DEPTHS:
            make_draft(client, f"local.depth{depth}")
            client.models.update(f"local.depth{depth}", max_depth=depth)
            done_here(context, client.models.train(f"local.depth{depth}", effort="low").run_id)
    sys.stdout.write(f"{settings.port} {secret}\n")
    sys.stdout.flush()
    sys.stdin.read()
    server.should_exit = True


if __name__ == "__main__":
    main()
