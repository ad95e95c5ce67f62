"""A small OpenID provider on this machine, over real HTTP: it keeps the rules strictly, and breaks one when told to."""

import base64
import hashlib
import hmac
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "bench", "s3cret/+ of the client"
MUCH = 64 * 2**20  # bytes, at which even an endless answer ends
ALICE = {"sub": "a-1", "email": "Alice@Example.org", "email_verified": True, "name": "Alice"}


@dataclass
class OpenIdProvider:
    """Signs in `person`; `claims` replace those of its tokens, a claim of None is left out.

    The JSON that it answers at the path `endless` has no end; `sent` counts its bytes. That at the path `nested` is a
    hundred thousand lists in each other.
    """

    port: int
    key: RSAKey = field(default_factory=lambda: _new_key("first"))
    person: dict[str, Any] = field(default_factory=lambda: dict(ALICE))
    claims: dict[str, Any] = field(default_factory=dict)
    userinfo: dict[str, Any] | None = None
    algorithm: str = "RS256"
    forge_with: RSAKey | None = None
    away: bool = False
    endless: str = ""
    nested: str = ""
    sent: int = 0
    asks: bool = False
    paths: list[str] = field(default_factory=list)
    _codes: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def issuer(self) -> str:
        """By name, so that a workbench at 127.0.0.1 is another site for a browser."""
        return f"http://localhost:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "TRAITBENCH_SIGN_IN": "oidc",
            "TRAITBENCH_OIDC_ISSUER": self.issuer,
            "TRAITBENCH_OIDC_CLIENT_ID": CLIENT,
            "TRAITBENCH_OIDC_CLIENT_SECRET": SECRET,
        }

    def behave(self) -> None:
        """Keep all rules, and sign in Alice."""
        self.person, self.claims, self.userinfo = dict(ALICE), {}, None
        self.algorithm, self.forge_with, self.away, self.asks = "RS256", None, False, False
        self.endless, self.nested, self.sent = "", "", 0

    def rotate(self) -> None:
        self.key = _new_key(secrets.token_hex(4))

    def discovery(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/jwks",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "end_session_endpoint": f"{self.issuer}/logout?realm=people",
            "authorization_response_iss_parameter_supported": True,
            "id_token_signing_alg_values_supported": ["RS256", "HS256", "none"],
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
        }

    def authorize(self, query: dict[str, str]) -> str:
        """Where to send the browser of a person who is signed in here."""
        assert query["client_id"] == CLIENT
        assert query["response_type"] == "code"
        assert query["code_challenge_method"] == "S256"
        assert "openid" in query["scope"].split()
        assert urlsplit(query["redirect_uri"]).path == "/sign-in/callback"
        code = secrets.token_urlsafe(16)
        self._codes[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state'], 'iss': self.issuer})}"

    def token(self, authorization: str, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        if base64.b64decode(authorization.removeprefix("Basic ")).decode() not in (
            f"{CLIENT}:{SECRET}",
            f"{CLIENT}:{quote(SECRET, safe='')}",
        ):
            return 401, {"error": "invalid_client"}
        asked = self._codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = _base64(digest)
        if (
            form.get("grant_type") != "authorization_code"
            or asked is None
            or asked["redirect_uri"] != form.get("redirect_uri")
            or asked["code_challenge"] != challenge
        ):
            return 400, {"error": "invalid_grant", "error_description": "The code is not valid <b>here</b>."}
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": asked["nonce"]}
        fields = {name: value for name, value in (claims | self.person | self.claims).items() if value is not None}
        return 200, {"access_token": "access", "token_type": "Bearer", "id_token": self._signed(fields)}

    def _signed(self, claims: dict[str, Any]) -> str:
        header = {"alg": self.algorithm, "kid": self.key.kid}
        if self.algorithm == "RS256":
            return jwt.encode(header, claims, self.forge_with or self.key, algorithms=["RS256"])
        signed = ".".join(_base64(json.dumps(part).encode()) for part in (header, claims))
        # HS256 with the public key as the shared secret, or no signature at all
        code = (
            hmac.digest(self.key.as_pem(private=False), signed.encode(), "sha256") if self.algorithm == "HS256" else b""
        )
        return f"{signed}.{_base64(code)}"


@contextmanager
def providing() -> Iterator[OpenIdProvider]:
    """A provider that listens as long as the block lasts."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, query = self._asked()
            if provider.away:
                self._send(503, b"")
            elif path == "/.well-known/openid-configuration":
                self._json(200, provider.discovery())
            elif path == "/jwks":
                self._json(200, {"keys": [provider.key.as_dict(private=False, use="sig", alg="RS256")]})
            elif path == "/userinfo":
                assert self.headers["Authorization"] == "Bearer access"
                self._json(200, provider.userinfo or {"sub": provider.person["sub"]})
            elif path == "/authorize" and provider.asks:
                page = f'<a href="{provider.authorize(query)}">Continue as {provider.person["name"]}</a>'
                self._send(200, page.replace("&", "&amp;").encode(), "text/html")
            elif path == "/authorize":
                self._send(302, b"", location=provider.authorize(query))
            else:
                self._send(404, b"")

        def do_POST(self) -> None:
            path, _ = self._asked()
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            assert path == "/token"
            if provider.away:
                self._send(503, b"")
            else:
                form = {name: values[0] for name, values in parse_qs(body).items()}
                self._json(*provider.token(self.headers.get("Authorization", ""), form))

        def _asked(self) -> tuple[str, dict[str, str]]:
            parts = urlsplit(self.path)
            provider.paths.append(parts.path)
            return parts.path, {name: values[0] for name, values in parse_qs(parts.query).items()}

        def _json(self, status: int, value: object) -> None:
            if self.path == provider.endless:
                self._without_end()
                return
            body = b"[" * 100_000 if self.path == provider.nested else json.dumps(value).encode()
            self._send(status, body, "application/json")

        def _send(self, status: int, body: bytes, kind: str = "text/plain", location: str = "") -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            if location:
                self.send_header("Location", location)
            self.end_headers()
            self.wfile.write(body)

        def _without_end(self) -> None:
            self.send_response(200)
            self.end_headers()
            with suppress(OSError):
                while provider.sent < MUCH:
                    provider.sent += self.wfile.write(b" " * 65_536)
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        provider = OpenIdProvider(server.server_address[1])
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        yield provider
        server.shutdown()
        thread.join()


def _base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def _new_key(kid: str) -> RSAKey:
    return RSAKey.generate_key(2048, {"kid": kid})
