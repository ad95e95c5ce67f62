"""Sign-in by a proxy: a header names the person, and only the addresses of the proxy are believed.

The proxy must replace the header if a browser sends it. Requests from other addresses are refused, with and without it.
"""

from ipaddress import ip_network

from starlette.datastructures import Headers
from starlette.types import Scope

from traitbench.service.addresses import peer_is_in
from traitbench.settings import SettingInvalid, Settings
from traitbench_app.process.sessions import Identity, ListedPeople, NotSignedIn
from traitbench_app.shell.people import OPERATOR, Person

_LONGEST = 320  # characters; the longest e-mail address


class Proxy:
    """The proxy that signs people in."""

    def __init__(self, settings: Settings) -> None:
        """Raise `SettingInvalid` if no address is named that the header is believed from."""
        if not settings.proxies:
            raise SettingInvalid(
                "TRAITBENCH_SIGN_IN=proxy needs TRAITBENCH_PROXIES, which is not set. Name the addresses of the proxy "
                "that signs people in."
            )
        self.people = ListedPeople(settings)
        self._header = settings.proxy_header
        self._networks = [ip_network(each) for each in settings.proxies]

    def confirms(self, scope: Scope, person: Person | None) -> bool:
        """Whether the session of this person may be used: the operator's, or that of whom the proxy names."""
        if person is None or person is OPERATOR:
            return person is not None
        try:
            return self.identity(scope).id == person.id
        except NotSignedIn:
            return False

    def names(self, scope: Scope) -> bool:
        """Whether a request comes from the proxy and has the header."""
        return peer_is_in(scope, self._networks) and bool(Headers(scope=scope).get(self._header, "").strip())

    def identity(self, scope: Scope) -> Identity:
        """Return whom the proxy has signed in; raise `NotSignedIn` with the reason."""
        if not peer_is_in(scope, self._networks):
            raise NotSignedIn(
                "This workbench believes only its proxy about who you are, and this request did not come from there. "
                "Open the workbench at the address of the proxy."
            )
        said = [each.strip() for each in Headers(scope=scope).getlist(self._header)]
        if not any(said):
            raise NotSignedIn(
                f"The proxy did not say who you are: its request has no header {self._header}. Tell the operator.",
                status=401,
            )
        [name, *more] = said
        if more or len(name) > _LONGEST or not name.isascii() or not name.isprintable():
            raise NotSignedIn(f"The header {self._header} of the proxy does not name one person. Tell the operator.")
        return Identity("The proxy", "proxy", name, "", name, None)
