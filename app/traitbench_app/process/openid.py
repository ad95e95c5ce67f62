"""Sign-in through an OpenID provider: its endpoints, the redirects, and the identity of a person.

`/sign-in/start` sends the browser to the provider, which sends it back to `/sign-in/callback`. In between, a cookie
binds the attempt to the browser that started it. An attempt is valid for ten minutes and only once.

This is the authorization-code flow with PKCE. Authlib builds the requests and checks the claims; joserfc checks
signatures. Only the issuer and the addresses in its discovery document are contacted. The signing keys are fetched for
each sign-in, so that a withdrawn key is no longer accepted.
"""

import asyncio
import hmac
import json
import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx
from authlib.oauth2.auth import ClientAuth
from authlib.oauth2.rfc6749.parameters import prepare_grant_uri, prepare_token_request
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from traitbench.settings import SettingInvalid, Settings, is_safe_address
from traitbench_app.process.sessions import Identity, ListedPeople, NotSignedIn, digest

START, CALLBACK = "/sign-in/start", "/sign-in/callback"

ATTEMPT_SECONDS = 600
_MOST_ATTEMPTS, _MOST_AT_ONCE = 10_000, 32

# Not HS* or none: with those, anyone with the client's secret, or anyone at all, could sign.
_ALGORITHMS = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"}
)
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
_SCOPE = "openid email profile"
_SECONDS = 10.0
_LEEWAY_SECONDS = 60  # allowed difference between the provider's clock and ours
_LONGEST_SAID = 200
_LARGEST_ANSWER = 2**20  # bytes; real answers have a few thousand
_AS_IT_IS = {"Accept": "application/json", "Accept-Encoding": "identity"}  # what is compressed may be of any size

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Attempt:
    """The secrets of one sign-in, which tie the provider's response and token to it."""

    redirect_uri: str
    state: str
    nonce: str
    verifier: str


@dataclass(frozen=True)
class _PendingSignIn:
    attempt: Attempt
    browser: str
    following: str
    at: float


class OpenId:
    """Sign-ins through one provider, in the process that runs the service."""

    def __init__(self, settings: Settings) -> None:
        """Raise `SettingInvalid` if a setting is missing or the provider cannot be used."""
        self._people = ListedPeople(settings)
        self.provider: Provider = discover(settings)
        self.cookie = f"traitbench_attempt_{settings.port}"
        self._base = (settings.oidc_redirect_url or "").rstrip("/")
        self._pending: OrderedDict[str, _PendingSignIn] = OrderedDict()
        self._at_once = 0

    def begin(self, origin: str, following: str, *, choose: bool) -> tuple[str, str]:
        """Return the address to send the browser to, and the value of its cookie."""
        url, attempt = self.provider.begin(f"{self._base or origin}{CALLBACK}", choose=choose)
        browser, now = secrets.token_urlsafe(32), time.monotonic()
        self._pending[attempt.state] = _PendingSignIn(attempt, digest(browser), following, now)
        while len(self._pending) > _MOST_ATTEMPTS or now - next(iter(self._pending.values())).at > ATTEMPT_SECONDS:
            self._pending.popitem(last=False)
        return url, browser

    async def finish(self, answer: Mapping[str, str], browser: str) -> tuple[str, str]:
        """Return the token of a new session and the path to continue with; raise `NotSignedIn` with the reason."""
        pending = self._pending.get(answer.get("state", ""))
        if pending is None or not hmac.compare_digest(pending.browser, digest(browser)):
            raise NotSignedIn(self._unknown_attempt())
        del self._pending[pending.attempt.state]
        if time.monotonic() - pending.at > ATTEMPT_SECONDS:
            raise NotSignedIn(self._unknown_attempt())
        if self._at_once >= _MOST_AT_ONCE:
            raise NotSignedIn("Too many people are signing in. Try again in a moment.", status=503)
        self._at_once += 1
        try:
            identity = await self.provider.finish(pending.attempt, answer)
        except ProviderFailed as error:
            raise NotSignedIn(str(error)) from None
        finally:
            self._at_once -= 1
        return await asyncio.to_thread(self._people.begin, identity), pending.following

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Clean up sessions while the process serves, and end them with it."""
        async with self._people.lifespan():
            try:
                yield
            finally:
                await self.provider.close()

    def _unknown_attempt(self) -> str:
        where = f" Open this workbench at {self._base}." if self._base else ""
        return f"This sign-in has expired, was already used, or was started in another browser. Start again.{where}"


class ProviderFailed(Exception):
    """The provider did not sign a person in; the message is for that person."""


class _TooLarge(Exception):
    """An answer has more than `_LARGEST_ANSWER` bytes; the rest was not read."""


class Provider:
    """One OpenID provider."""

    def __init__(self, settings: Settings, metadata: Mapping[str, Any]) -> None:
        """`metadata` is the provider's discovery document, already checked."""
        self._metadata = metadata
        self.issuer: str = metadata["issuer"]
        self.host = urlsplit(self.issuer).netloc
        self._client_id = str(settings.oidc_client_id)
        self._auth = ClientAuth(self._client_id, settings.oidc_client_secret, _auth_method(metadata))
        self._algorithms = sorted(
            _ALGORITHMS & {*_texts(metadata, "id_token_signing_alg_values_supported")} or {"RS256"}
        )
        self._http = httpx.AsyncClient(timeout=_SECONDS, headers=_AS_IT_IS, trust_env=_through_proxy(self.issuer))

    def begin(self, redirect_uri: str, *, choose: bool) -> tuple[str, Attempt]:
        """Return the address that signs a person in, and the attempt to keep until the response arrives.

        With `choose`, the provider asks which account to use even if the person is already signed in there.
        """
        attempt = Attempt(redirect_uri, *(secrets.token_urlsafe(32) for _ in range(3)))
        url = prepare_grant_uri(
            self._metadata["authorization_endpoint"],
            self._client_id,
            "code",
            redirect_uri,
            _SCOPE,
            attempt.state,
            nonce=attempt.nonce,
            code_challenge=create_s256_code_challenge(attempt.verifier),
            code_challenge_method="S256",
            **({"prompt": "select_account"} if choose else {}),
        )
        return str(url), attempt

    async def finish(self, attempt: Attempt, answer: Mapping[str, str]) -> Identity:
        """Return the identity of the person, from the query with which the provider sent the browser back.

        Raise `ProviderFailed` if the provider refused, cannot be reached, or sent something that cannot be verified.
        """
        # RFC 9207: an answer of another provider must not be taken for one of this.
        if answer.get("iss", self.issuer) != self.issuer:
            raise self._unverified("it came from another issuer")
        if "error" in answer:
            raise ProviderFailed(f"{self.host} did not sign you in: {_said(answer)}.")
        try:
            tokens = await self._exchange(attempt, answer.get("code", ""))
            claims = self._claims(tokens, await self._json("GET", self._metadata["jwks_uri"]), attempt.nonce)
            if "email" not in claims and "userinfo_endpoint" in self._metadata and tokens.get("access_token"):
                # The claims of the ID token win, because only they are signed.
                claims = {**await self._further(tokens["access_token"], claims["sub"]), **claims}
        except httpx.HTTPError as error:
            _log.warning("the OpenID provider %s does not answer: %s", self.host, type(error).__name__)
            raise ProviderFailed(f"{self.host} does not answer. Try again in a moment.") from None
        except _TooLarge:
            _log.warning("an answer of the OpenID provider %s has more than %d bytes", self.host, _LARGEST_ANSWER)
            raise ProviderFailed(f"{self.host} sent more than 1 MB, so nothing was read. Tell the operator.") from None
        except (JoseError, httpx.InvalidURL, ValueError, KeyError, TypeError, AttributeError) as error:
            raise self._unverified(str(error) if isinstance(error, JoseError) else type(error).__name__) from None
        return _identity(claims, self.host, self.issuer)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _exchange(self, attempt: Attempt, code: str) -> Mapping[str, Any]:
        """Exchange a code for tokens; each code is valid only once."""
        if not code:
            raise self._unverified("the response has no code")
        body = prepare_token_request(
            "authorization_code", redirect_uri=attempt.redirect_uri, code=code, code_verifier=attempt.verifier
        )
        headers = {"Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded"}
        url, headers, body = self._auth.prepare("POST", self._metadata["token_endpoint"], headers, body)
        answer = await self._ask("POST", url, headers=headers, content=body)
        if answer.status_code >= 500:
            answer.raise_for_status()
        tokens = answer.json()
        if not isinstance(tokens, dict):
            raise TypeError
        if answer.status_code != 200 or "error" in tokens:
            why = _said(tokens)
            _log.warning("the OpenID provider %s gave no token: %s", self.host, why)
            if tokens.get("error") in ("invalid_client", "unauthorized_client"):
                _log.error("check TRAITBENCH_OIDC_CLIENT_ID and TRAITBENCH_OIDC_CLIENT_SECRET")
            raise ProviderFailed(f"{self.host} did not accept the sign-in: {why}. Start again.")
        return tokens

    def _claims(self, tokens: Mapping[str, Any], keys: Any, nonce: str) -> dict[str, Any]:
        """Return the claims of the ID token; check signature, issuer, audience, times and nonce."""
        token = jwt.decode(tokens["id_token"], KeySet.import_key_set(keys), algorithms=self._algorithms)
        claims = CodeIDToken(
            token.claims,
            token.header,
            {"iss": {"essential": True, "value": self.issuer}, "aud": {"essential": True, "value": self._client_id}},
            {"nonce": nonce, "client_id": self._client_id, "access_token": tokens.get("access_token")},
        )
        claims.validate(leeway=_LEEWAY_SECONDS)
        if not isinstance(claims["sub"], str) or not claims["sub"]:
            raise TypeError
        return dict(claims)

    async def _further(self, access_token: str, subject: str) -> Mapping[str, Any]:
        """Return the claims of the userinfo endpoint; raise `ValueError` if they are about another person."""
        headers = {"Authorization": f"Bearer {access_token}"}
        claims = await self._json("GET", self._metadata["userinfo_endpoint"], headers=headers)
        # OpenID Connect Core, section 5.3.2.
        if claims["sub"] != subject:
            raise ValueError
        return dict(claims)

    async def _json(self, method: str, url: str, **how: Any) -> Any:
        answer = await self._ask(method, url, **how)
        answer.raise_for_status()
        return answer.json()

    async def _ask(self, method: str, url: str, **how: Any) -> httpx.Response:
        """Return an answer that was read in full; raise `_TooLarge` as soon as it is too large."""
        content = bytearray()
        async with self._http.stream(method, url, **how) as answer:
            async for part in answer.aiter_raw():
                _append(content, part)
        return httpx.Response(answer.status_code, content=bytes(content), request=answer.request)

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
    except httpx.HTTPStatusError as error:
        raise _unusable(issuer, f"{url} answers with status {error.response.status_code}") from None
    except httpx.HTTPError as error:
        raise _unusable(issuer, f"{url} cannot be reached ({str(error) or type(error).__name__})") from None
    except ValueError:
        raise _unusable(issuer, f"{url} is not JSON") from None
    if wrong := _problem(metadata, issuer):
        raise _unusable(issuer, wrong)
    return Provider(settings, metadata)


def _described(url: str, *, trust_env: bool) -> Any:
    """Return the JSON of a discovery document; raise `_TooLarge`, `ValueError` or an error of httpx."""
    content = bytearray()
    with httpx.stream("GET", url, headers=_AS_IT_IS, timeout=_SECONDS, trust_env=trust_env) as answer:
        answer.raise_for_status()
        for part in answer.iter_raw():
            _append(content, part)
    return json.loads(content)


def _append(content: bytearray, part: bytes) -> None:
    if len(content) + len(part) > _LARGEST_ANSWER:
        raise _TooLarge
    content += part


def _problem(metadata: Any, issuer: str) -> str:
    """Say what is wrong with a discovery document; "" if nothing is."""
    if not isinstance(metadata, dict):
        return "its discovery document is not a JSON object"
    named = metadata.get("issuer")
    if not isinstance(named, str) or named.rstrip("/") != issuer.rstrip("/"):
        return f"its discovery document names the issuer {str(named)[:_LONGEST_SAID]!r}"
    for name in (*_ENDPOINTS, *({"userinfo_endpoint"} & metadata.keys())):
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
