"""The start of the workbench, which the command line finds by the entry point `traitbench.workbench`."""

import secrets
import sys
from collections.abc import Callable, Sequence
from functools import partial

from traitbench.settings import SettingInvalid, Settings
from traitbench_app.process import asgi


def run(settings: Settings, serve: Callable[..., None], *, open_to_all: bool) -> None:
    """Serve the pages, the API and a worker on one port until a signal; `serve` runs a factory of an application.

    Raise `SettingInvalid` if everyone on the network could use the workbench and nobody allowed that.
    """
    signed_in = settings.sign_in != "none"
    if not settings.on_loopback and not signed_in:
        if not open_to_all:
            raise SettingInvalid(
                f"The workbench does not start on {settings.host} without a sign-in: set TRAITBENCH_SIGN_IN=token, "
                "proxy or oidc, or set TRAITBENCH_HOST=127.0.0.1 to serve this machine only, or start it with --open "
                "to let everyone on the network use it, including its API keys."
            )
        sys.stderr.write(
            f"Everyone who can reach port {settings.port} can use the workbench, including its API keys.\n"
        )
    secret = secrets.token_urlsafe(32) if signed_in else ""
    page = "/sign-in" if signed_in else "/"
    serve(
        partial(asgi.workbench, secret=secret),
        settings,
        path="",
        ready=[page] if settings.api_url else ["/v1/health", page],
        further=lambda bound: _sign_in_line(bound, secret),
    )


def _sign_in_line(settings: Settings, secret: str) -> Sequence[str]:
    """Return the operator's sign-in link and the file that lists other people, if one does; empty without sign-in."""
    from traitbench_app.process import sign_in

    people = [f"People who may sign in: {settings.people_file}"] if settings.sign_in in ("oidc", "proxy") else []
    return [f"Sign in: {sign_in.link(settings, secret)}", *people] if secret else []
