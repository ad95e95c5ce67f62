"""Sign-in through an OpenID provider: its endpoints, the redirects, and the identity of a person.

`/sign-in/start` sends the browser to the provider, which sends it back to `/sign-in/callback`. In between, a cookie
binds the attempt to the browser that started it. An attempt is valid for ten minutes and only once. Each has its own
cookie, named after its state, so that several tabs can sign in at once and a false answer cancels no attempt.

Authlib's client for Starlette does the authorization-code flow with PKCE and checks the token. Only the issuer and the
addresses in its discovery document are contacted.
"""

import asyncio
import json
import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx2
from authlib.integrations.starlette_client import OAuth, OAuthError
from joserfc.errors import InvalidClaimError, JoseError
from starlette.requests import Request
from starlette.types import Scope

from traitbench.settings import SettingInvalid, Settings, is_safe_address
from traitbench_app.process.sessions import Identity, ListedPeople, NotSignedIn, digest
from traitbench_app.shell.people import SESSIONS

START, CALLBACK = "/sign-in/start", "/sign-in/callback"

ATTEMPT_SECONDS = 600
_MOST_ATTEMPTS, _MOST_OF_BROWSER, _MOST_AT_ONCE = 10_000, 8, 32

# Not HS* or none: with those, anyone with the client's secret, or anyone at all, could sign.
_ALGORITHMS = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"}
)
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
_OPTIONAL = ("userinfo_endpoint",)
_SECONDS, _SECONDS_IN_TOTAL = 10.0, 30.0  # of one part of an answer, and of all that a sign-in asks
_LEEWAY_SECONDS = 60  # allowed difference between the provider's clock and ours
_LONGEST_SAID = 200
_LARGEST_ANSWER = 2**20  # bytes; real answers have a few thousand
_AS_IT_IS = {"Accept": "application/json", "Accept-Encoding": "identity"}  # what is compressed may be of any size

# At level DEBUG, they log the secrets of an attempt and the headers of answers.
for _library in ("authlib", "httpcore2"):
    logging.getLogger(_library).setLevel(logging.INFO)
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _PendingSignIn:
    session: dict[str, Any]
    following: str
    at: float

    @property
    def is_over(self) -> bool:
        return time.monotonic() - self.at > ATTEMPT_SECONDS


@dataclass(frozen=True)
class StartedSignIn:
    """The address to send a browser to, and the name and value of the cookie that binds the attempt to it."""

    url: str
    cookie: str
    secret: str = field(repr=False)


class OpenId:
    """Sign-ins through one provider, in the process that runs the service."""

    def __init__(self, settings: Settings) -> None:
        """Raise `SettingInvalid` if a setting is missing or the provider cannot be used."""
        self._people = ListedPeople(settings)
        self.provider: Provider = discover(settings)
        self._cookies = f"traitbench_attempt_{settings.port}_"
        self._base = (settings.oidc_redirect_url or "").rstrip("/")
        self._pending: OrderedDict[str, _PendingSignIn] = OrderedDict()
        self._at_once = 0

    async def begin(self, origin: str, following: str, *, choose: bool) -> StartedSignIn:
        """Start an attempt."""
        url, session = await self.provider.begin(f"{self._base or origin}{CALLBACK}", choose=choose)
        secret = secrets.token_urlsafe(32)
        self._pending[digest(secret)] = _PendingSignIn(session, following, time.monotonic())
        while len(self._pending) > _MOST_ATTEMPTS or next(iter(self._pending.values())).is_over:
            self._pending.popitem(last=False)
        return StartedSignIn(url, self.cookie(httpx2.URL(url).params["state"]), secret)

    def cookie(self, state: str) -> str:
        """Return the name of the cookie of the attempt with a state."""
        return f"{self._cookies}{digest(state)[:16]}"

    def surplus(self, cookies: Mapping[str, str]) -> list[str]:
        """Return the names of cookies that a browser that starts one more attempt no longer needs.

        Those are of attempts that are over, and of its oldest if it has too many.
        """
        ours = {name: self._running(secret) for name, secret in cookies.items() if name.startswith(self._cookies)}
        began = {name: attempt.at for name, attempt in ours.items() if attempt is not None}
        newest = sorted(began, key=began.__getitem__)[1 - _MOST_OF_BROWSER :]
        return [name for name in ours if name not in newest]

    def _running(self, secret: str) -> _PendingSignIn | None:
        attempt = self._pending.get(digest(secret))
        return None if attempt is None or attempt.is_over else attempt

    async def finish(self, scope: Scope, secret: str) -> tuple[str, str]:
        """Return the token of a new session and the path to continue with; raise `NotSignedIn` with the reason.

        `secret` is the value of the cookie of the attempt.
        """
        pending = self._running(secret)
        if pending is None:
            raise NotSignedIn(self._unknown_attempt())
        request = Request({**scope, "session": pending.session})
        if not await self.provider.awaits(request):
            raise NotSignedIn(self._unknown_attempt())
        del self._pending[digest(secret)]
        if self._at_once >= _MOST_AT_ONCE:
            raise NotSignedIn("Too many people are signing in. Try again in a moment.", status=503)
        self._at_once += 1
        try:
            identity = await self.provider.finish(request)
        except ProviderFailed as error:
            raise NotSignedIn(str(error)) from None
        finally:
            self._at_once -= 1
        return await asyncio.to_thread(self._people.begin, identity), pending.following

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Clean up sessions while the process serves, and end them with it."""
        SESSIONS.provider = self.provider.host if self.provider.sign_out else ""
        async with self._people.lifespan():
            yield

    def _unknown_attempt(self) -> str:
        where = f" Open this workbench at {self._base}." if self._base else ""
        return f"This sign-in has expired, was already used, or was started in another browser. Start again.{where}"


class ProviderFailed(Exception):
    """The provider did not sign a person in; the message is for that person."""


class _TooLarge(Exception):
    """An answer has more than `_LARGEST_ANSWER` bytes; the rest was not read."""


class _Limited(httpx2.AsyncByteStream):
    """The bytes of an answer; raises `_TooLarge` as soon as they are too many."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        length = 0
        async for part in self._stream:
            length += len(part)
            if length > _LARGEST_ANSWER:
                raise _TooLarge
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _limit(answer: httpx2.Response) -> None:
    if answer.headers.get("content-encoding", "identity") != "identity" or not isinstance(
        answer.stream, httpx2.AsyncByteStream
    ):
        raise ValueError
    answer.stream = _Limited(answer.stream)


class Provider:
    """One OpenID provider."""

    def __init__(self, settings: Settings, metadata: Mapping[str, Any]) -> None:
        """`metadata` is the provider's discovery document, already checked."""
        self.issuer: str = metadata["issuer"]
        self.host = urlsplit(self.issuer).netloc
        self.sign_out = _sign_out(metadata, str(settings.oidc_client_id))
        self._client_id = settings.oidc_client_id
        self._names_itself = metadata.get("authorization_response_iss_parameter_supported") is True
        supported = {*_texts(metadata, "id_token_signing_alg_values_supported")}
        self._client = OAuth().register(
            "openid",
            client_id=settings.oidc_client_id,
            client_secret=settings.oidc_client_secret,
            client_kwargs={
                "scope": "openid email profile",
                "code_challenge_method": "S256",
                "token_endpoint_auth_method": _auth_method(metadata),
                "timeout": _SECONDS,
                # Authlib makes a client for each attempt, and each would read the certificates again: 45 ms.
                "verify": httpx2.create_ssl_context(trust_env=_through_proxy(self.issuer)),
                "headers": _AS_IT_IS,
                "event_hooks": {"response": [_limit]},
                "trust_env": _through_proxy(self.issuer),
            },
            id_token_signing_alg_values_supported=sorted(_ALGORITHMS & supported or {"RS256"}),
            **{name: metadata[name] for name in ("issuer", *_ENDPOINTS, *_OPTIONAL) if name in metadata},
        )

    async def begin(self, redirect_uri: str, *, choose: bool) -> tuple[str, dict[str, Any]]:
        """Return the address that signs a person in, and the attempt's secrets, to keep until the response arrives.

        With `choose`, the provider asks which account to use even if the person is already signed in there.
        """
        session: dict[str, Any] = {}
        request = Request({"type": "http", "session": session})
        prompt = {"prompt": "select_account"} if choose else {}
        answer = await self._client.authorize_redirect(request, redirect_uri, **prompt)
        return answer.headers["location"], session

    async def awaits(self, request: Request) -> bool:
        """Whether a response belongs to the attempt in the session of its request."""
        return bool(await self._client.framework.get_state_data(request.session, request.query_params.get("state")))

    async def finish(self, request: Request) -> Identity:
        """Return the identity of the person, from the request with which the provider sent the browser back.

        Raise `ProviderFailed` if the provider refused, cannot be reached, or sent something that cannot be verified.
        """
        answer = request.query_params
        # RFC 9207: an answer of another provider must not be taken for one of this.
        issuers = answer.getlist("iss")
        if any(each != self.issuer for each in issuers):
            raise self._unverified("it came from another issuer")
        if self._names_itself and not issuers:
            raise self._unverified("it does not name its issuer")
        if "error" in answer:
            raise ProviderFailed(f"{self.host} did not sign you in: {_said(answer)}.")
        try:
            async with asyncio.timeout(_SECONDS_IN_TOTAL):
                claims = await self._claims(request)
        except OAuthError as error:
            raise self._refused({"error": error.error, "error_description": error.description}) from None
        except (httpx2.HTTPError, TimeoutError) as error:
            _log.warning("the OpenID provider %s does not answer: %s", self.host, type(error).__name__)
            raise ProviderFailed(f"{self.host} does not answer. Try again in a moment.") from None
        except _TooLarge:
            _log.warning("an answer of the OpenID provider %s has more than %d bytes", self.host, _LARGEST_ANSWER)
            raise ProviderFailed(f"{self.host} sent more than 1 MB, so nothing was read. Tell the operator.") from None
        except (
            *(JoseError, httpx2.InvalidURL, ValueError, KeyError, TypeError, AttributeError),
            RecursionError,  # of JSON in which very many lists are in each other
        ) as error:
            raise self._unverified(str(error) if isinstance(error, JoseError) else type(error).__name__) from None
        return _identity(claims, self.host, self.issuer)

    async def _claims(self, request: Request) -> dict[str, Any]:
        """Exchange the code, which is valid only once, for the claims about a person."""
        # Otherwise a key that the provider has withdrawn would still be accepted.
        self._client.server_metadata.pop("jwks", None)
        wanted = {"iss": self.issuer, "aud": self._client_id}
        options = {name: {"essential": True, "value": value} for name, value in wanted.items()}
        tokens = await self._client.authorize_access_token(request, claims_options=options, leeway=_LEEWAY_SECONDS)
        claims = dict(tokens["userinfo"]) if "id_token" in tokens else {}
        if not isinstance(claims["sub"], str) or not claims["sub"]:
            raise TypeError
        if int(time.time()) - claims["iat"] > ATTEMPT_SECONDS + _LEEWAY_SECONDS:
            raise InvalidClaimError("iat", "The token was issued before the sign-in began")
        if "email" in claims or "userinfo_endpoint" not in self._client.server_metadata:
            return claims
        further = dict(await self._client.userinfo(token=tokens))
        # OpenID Connect Core, section 5.3.2.
        if further["sub"] != claims["sub"]:
            raise ValueError
        # The claims of the ID token win, because only they are signed.
        return {**further, **claims}

    def _refused(self, answer: Mapping[str, Any]) -> ProviderFailed:
        why = _said(answer)
        _log.warning("the OpenID provider %s gave no token: %s", self.host, why)
        if answer["error"] in ("invalid_client", "unauthorized_client"):
            _log.error("check TRAITBENCH_OIDC_CLIENT_ID and TRAITBENCH_OIDC_CLIENT_SECRET")
        return ProviderFailed(f"{self.host} did not accept the sign-in: {why}. Start again.")

    def _unverified(self, why: str) -> ProviderFailed:
        _log.warning("the answer of the OpenID provider %s was refused: %s", self.host, why)
        return ProviderFailed(
            f"The response of {self.host} could not be verified. Start again. If this happens again, tell the operator."
        )


def discover(settings: Settings) -> Provider:
    """Return the provider in the settings; raise `SettingInvalid` that names a missing or invalid variable."""
    for name in ("issuer", "client_id", "client_secret"):
        if not getattr(settings, f"oidc_{name}"):
            raise SettingInvalid(f"TRAITBENCH_SIGN_IN=oidc needs TRAITBENCH_OIDC_{name.upper()}, which is not set.")
    issuer = str(settings.oidc_issuer)
    url = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
    try:
        metadata = _described(url, trust_env=_through_proxy(issuer))
    except _TooLarge:
        raise _unusable(issuer, f"{url} sends more than 1 MB") from None
    except httpx2.HTTPStatusError as error:
        raise _unusable(issuer, f"{url} answers with status {error.response.status_code}") from None
    except httpx2.HTTPError as error:
        raise _unusable(issuer, f"{url} cannot be reached ({str(error) or type(error).__name__})") from None
    except TimeoutError:
        raise _unusable(issuer, f"{url} does not end its answer within {_SECONDS_IN_TOTAL:g} s") from None
    except (ValueError, RecursionError):
        raise _unusable(issuer, f"{url} is not JSON") from None
    if wrong := _problem(metadata, issuer):
        raise _unusable(issuer, wrong)
    return Provider(settings, metadata)


def _described(url: str, *, trust_env: bool) -> Any:
    """Return the JSON of a discovery document.

    Raise `_TooLarge`, `TimeoutError`, `ValueError`, `RecursionError` or an error of httpx2.
    """
    content, until = bytearray(), time.monotonic() + _SECONDS_IN_TOTAL
    with httpx2.stream("GET", url, headers=_AS_IT_IS, timeout=_SECONDS, trust_env=trust_env) as answer:
        answer.raise_for_status()
        for part in answer.iter_raw():
            content += part
            if len(content) > _LARGEST_ANSWER:
                raise _TooLarge
            if time.monotonic() > until:
                raise TimeoutError
    return json.loads(content)


def _problem(metadata: Any, issuer: str) -> str:
    """Say what is wrong with a discovery document; "" if nothing is."""
    if not isinstance(metadata, dict):
        return "its discovery document is not a JSON object"
    named = metadata.get("issuer")
    if not isinstance(named, str) or named.rstrip("/") != issuer.rstrip("/"):
        return f"its discovery document names the issuer {str(named)[:_LONGEST_SAID]!r}"
    for name in (*_ENDPOINTS, *(each for each in _OPTIONAL if each in metadata)):
        if not isinstance(metadata.get(name), str) or not is_safe_address(metadata[name]):
            return f"its discovery document has no usable {name}, which must begin with https://"
    return ""


def _unusable(issuer: str, why: str) -> SettingInvalid:
    return SettingInvalid(f"TRAITBENCH_OIDC_ISSUER is {issuer}, but {why}. Check the address, or try again later.")


def _auth_method(metadata: Mapping[str, Any]) -> str:
    """Return how the client authenticates: a method that the provider supports, by default `client_secret_basic`."""
    supported = _texts(metadata, "token_endpoint_auth_methods_supported")
    return "client_secret_post" if supported and "client_secret_basic" not in supported else "client_secret_basic"


def _texts(metadata: Mapping[str, Any], name: str) -> list[str]:
    values = metadata.get(name)
    return [each for each in values if isinstance(each, str)] if isinstance(values, list) else []


def _sign_out(metadata: Mapping[str, Any], client_id: str) -> str | None:
    """Return the address at which a person ends the session at the provider; None if it offers none.

    It has no ID token, so that a provider asks before it signs anyone out, and no address to return to, which it would
    refuse unless the operator has registered it.
    """
    endpoint = metadata.get("end_session_endpoint")
    if not isinstance(endpoint, str) or not is_safe_address(endpoint):
        return None
    try:
        return str(httpx2.URL(endpoint).copy_merge_params({"client_id": client_id}))
    except httpx2.InvalidURL:
        return None


def _through_proxy(url: str) -> bool:
    """Whether to use the environment's proxy, which cannot reach this machine's loopback."""
    return url.startswith("https:")


def _identity(claims: Mapping[str, Any], host: str, issuer: str) -> Identity:
    given = claims.get("email")
    address = given if isinstance(given, str) and given.isprintable() else None
    verified = claims.get("email_verified") is True
    name = next((each for each in (claims.get("name"), claims.get("preferred_username")) if isinstance(each, str)), "")
    shown = _printable(name)[:100]
    return Identity(host, issuer, claims["sub"], shown, address if verified else None, None if verified else address)


def _said(answer: Mapping[str, Any]) -> str:
    """Return the provider's own words for an error."""
    words = [str(answer[name]) for name in ("error", "error_description") if answer.get(name)]
    return _printable(": ".join(words))[:_LONGEST_SAID].rstrip(".") or "no reason was given"


def _printable(text: str) -> str:
    return "".join(each for each in text if each.isprintable())
