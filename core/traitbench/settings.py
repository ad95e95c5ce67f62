"""The operator's settings (core/docs/contract.md, section 11): read once from the environment, checked and frozen.

An invalid value stops the start with a message that names the variable.
"""

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import quote, urlsplit

from traitbench.names import NAMESPACE

SignIn = Literal["none", "proxy", "token", "oidc"]

_DATABASES = ("sqlite", "postgresql", "postgresql+psycopg")
_WILDCARDS = {"0.0.0.0": "127.0.0.1", "::": "::1"}
_LONGEST_ADDRESS, _LONGEST_NAME = 2_000, 180
_HOST_NAME = re.compile(r"[a-z0-9_](?:[a-z0-9._-]{0,252}[a-z0-9])?|[0-9a-f]*:[0-9a-f:]+")
_HEADER_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,98}[A-Za-z0-9])?")
_OF_CLIENTS = frozenset(
    {
        *("accept", "authorization", "connection", "content-length", "content-type", "cookie", "expect", "forwarded"),
        *("host", "origin", "prefer", "proxy-authorization", "referer", "te", "trailer", "transfer-encoding"),
        *("upgrade", "user-agent", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip"),
    }
)
_PRIVATE = tuple(
    map(
        ip_network,
        (
            *("10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"),
            *("::1/128", "fc00::/7", "fe80::/10"),
        ),
    )
)
_NARROW = {4: 24, 6: 56}  # bits of the widest public network that is one operator's, by the version of IP
_ORIGIN = re.compile(r"https?://([a-z0-9](?:[a-z0-9.-]{0,252}[a-z0-9])?)(?::[0-9]{1,5})?")


LogForm = Literal["json", "text"]
LogLevel = Literal["debug", "info", "warning", "error"]


_NOT_FOR_CHILDREN = {"TRAITBENCH_OIDC_CLIENT_SECRET", "TRAITBENCH_LLM_KEY"}
# Settings that `Settings.to_json` leaves out. Only the worker gets the key of the language model.
_SECRETS = {"oidc_client_secret", "llm_key"}


def child_environment() -> dict[str, str]:
    """Return the environment for a child process, without secrets that it does not need or gets in another way."""
    return {name: os.environ[name] for name in os.environ.keys() - _NOT_FOR_CHILDREN}


class SettingInvalid(ValueError):
    """An environment variable has an invalid value."""


@dataclass(frozen=True)
class Settings:
    """One field per variable. The defaults are those of the contract."""

    home: Path
    database_url: str
    host: str = "127.0.0.1"
    port: int = 8501
    api_url: str | None = None
    api_key: str | None = None
    public_namespaces: tuple[str, ...] = ("demo",)
    encoder: str | None = None
    max_traits: int = 64
    max_samples: int = 200_000
    max_body_bytes: int = 10 * 1024 * 1024
    max_text_words: int = 20_000
    max_import_bytes: int = 256 * 1024 * 1024
    retrain_after_samples: int = 10
    retrain_after_seconds: int = 300
    worker_nice: int = 5
    vector_memory_mb: int = 128
    vector_store_mb: int = 512
    fetch_urls: bool = True
    allowed_hosts: tuple[str, ...] = ()
    proxies: tuple[str, ...] = ()
    log_form: LogForm | None = None
    log_level: LogLevel = "warning"
    sign_in: SignIn = "none"
    proxy_header: str = "X-Forwarded-Email"
    oidc_issuer: str | None = None
    oidc_client_id: str | None = None
    oidc_client_secret: str | None = field(default=None, repr=False)
    oidc_redirect_url: str | None = None
    room_url: str | None = None
    llm_url: str | None = None
    llm_key: str | None = field(default=None, repr=False)
    llm_model: str | None = None
    otlp_url: str | None = None

    def to_json(self, *, besides: Collection[str] = ()) -> dict[str, Any]:
        """Return the settings for a child process, without secrets other than those named in `besides`."""
        names = sorted(self.__dataclass_fields__.keys() - (_SECRETS - {*besides}))
        return {name: str(self.home) if name == "home" else getattr(self, name) for name in names}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "Settings":
        """Return the settings that `to_json` wrote."""
        lists = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
        return cls(**{**fields, **lists, "home": Path(fields["home"])})

    @property
    def first_key_file(self) -> Path:
        """The file with the workbench's own key: the only secret stored in clear, mode 0600."""
        return self.home / "first.key"

    @property
    def people_file(self) -> Path:
        """The file that lists who may sign in through the OpenID provider or the proxy, and what each person may do."""
        return self.home / "people.toml"

    @property
    def cache(self) -> Path:
        """The folder for files that can be rebuilt, such as the quantised encoder."""
        return self.home / "cache"

    @property
    def base_url(self) -> str:
        """The address of the API: the remote service, or the one on this machine."""
        host = f"[{self.near_host}]" if ":" in self.near_host else self.near_host
        return (self.api_url or f"http://{host}:{self.port}").rstrip("/").removesuffix("/v1")

    @property
    def on_loopback(self) -> bool:
        """Whether only this machine can reach the process."""
        try:
            return self.host.lower() == "localhost" or ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def near_host(self) -> str:
        """The address at which this machine reaches its own service; loopback if that listens everywhere."""
        return _WILDCARDS.get(self.host, self.host)

    @property
    def own_hosts(self) -> frozenset[str]:
        """The names other than loopback that requests may be addressed to."""
        room = {urlsplit(self.room_url).hostname or ""} if self.room_url else set()
        return frozenset({*self.allowed_hosts, *room, *({self.host.lower()} - _WILDCARDS.keys())})

    def service_key(self) -> str:
        """Return the key for the service at `base_url`, or "" when there is none yet.

        That is the configured key, else the workbench's own. The workbench's own key is never sent to a remote service.
        """
        if self.api_key or self.api_url:
            return self.api_key or ""
        try:
            state = self.first_key_file.stat()
            return _key_in(self.first_key_file, state.st_mtime_ns, state.st_ino)
        except OSError:
            return ""


@lru_cache(maxsize=64)
def _key_in(file: Path, _written: int, _inode: int) -> str:
    """Return the key in a file; read it again only when the file was written."""
    return file.read_text(encoding="utf-8").strip()


# What os.environ wraps. Reading every variable through the wrapper takes a hundred times as long as comparing this.
_HERE: Mapping[Any, Any] = vars(os.environ).get("_data", os.environ)
_known: tuple[Any, Settings] | None = None


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Read the settings from an environment, by default this process's.

    Raise `SettingInvalid` that names an invalid variable. The settings of this process are read again only when its
    environment has changed, because a page of the workbench asks for them many times.
    """
    global _known
    if environment is not None:
        return _read(environment)
    # The folder counts too, because a setting may be a relative path.
    now = (os.getcwd(), dict(_HERE))
    known = _known
    if known is None or known[0] != now:
        known = _known = (now, _read(os.environ))
    return known[1]


def _read(environment: Mapping[str, str]) -> Settings:
    home = Path(environment.get("TRAITBENCH_HOME") or "~/.traitbench").expanduser().absolute()
    return Settings(
        home=home,
        database_url=_database_url(environment.get("TRAITBENCH_DATABASE_URL", "").strip(), home),
        host=environment.get("TRAITBENCH_HOST") or "127.0.0.1",
        port=_number(environment, "TRAITBENCH_PORT", default=8501, least=0, most=65_535),
        api_url=environment.get("TRAITBENCH_API_URL") or None,
        api_key=environment.get("TRAITBENCH_API_KEY") or None,
        public_namespaces=_namespaces(environment, "TRAITBENCH_PUBLIC_NAMESPACES", default=("demo",)),
        encoder=encoder_name(environment.get("TRAITBENCH_ENCODER", "").strip()),
        max_traits=_number(environment, "TRAITBENCH_MAX_TRAITS", default=64, least=1),
        max_samples=_number(environment, "TRAITBENCH_MAX_SAMPLES", default=200_000, least=1),
        max_body_bytes=_number(environment, "TRAITBENCH_MAX_BODY_BYTES", default=10 * 1024 * 1024, least=1_024),
        max_text_words=_number(environment, "TRAITBENCH_MAX_TEXT_WORDS", default=20_000, least=100),
        max_import_bytes=_number(environment, "TRAITBENCH_MAX_IMPORT_BYTES", default=256 * 1024 * 1024, least=1_024),
        retrain_after_samples=_number(environment, "TRAITBENCH_RETRAIN_AFTER_SAMPLES", default=10, least=1),
        retrain_after_seconds=_number(environment, "TRAITBENCH_RETRAIN_AFTER_SECONDS", default=300, least=1),
        worker_nice=_number(environment, "TRAITBENCH_WORKER_NICE", default=5, least=0, most=19),
        vector_memory_mb=_number(environment, "TRAITBENCH_VECTOR_MEMORY_MB", default=128, least=0, most=2**20),
        vector_store_mb=_number(environment, "TRAITBENCH_VECTOR_STORE_MB", default=512, least=0, most=2**20),
        fetch_urls=_switch(environment, "TRAITBENCH_FETCH_URLS", default=True),
        allowed_hosts=_host_names(environment, "TRAITBENCH_ALLOWED_HOSTS"),
        proxies=_networks(environment, "TRAITBENCH_PROXIES"),
        log_form=_choice(environment, "TRAITBENCH_LOG", LogForm),
        log_level=_choice(environment, "TRAITBENCH_LOG_LEVEL", LogLevel) or "warning",
        sign_in=_choice(environment, "TRAITBENCH_SIGN_IN", SignIn) or "none",
        proxy_header=_header_name(environment, "TRAITBENCH_PROXY_HEADER", default="X-Forwarded-Email"),
        oidc_issuer=_web_address(environment, "TRAITBENCH_OIDC_ISSUER"),
        oidc_client_id=environment.get("TRAITBENCH_OIDC_CLIENT_ID", "").strip() or None,
        oidc_client_secret=environment.get("TRAITBENCH_OIDC_CLIENT_SECRET", "").strip() or None,
        oidc_redirect_url=_web_address(environment, "TRAITBENCH_OIDC_REDIRECT_URL"),
        room_url=_room_url(environment),
        **_language_model(environment),
        otlp_url=_collector(environment),
    )


def is_safe_address(url: str) -> bool:
    """Whether secrets may be sent to a web address: https, or http on this machine."""
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname or "", parts.port
        if parts.scheme == "https":
            return bool(host)
        return parts.scheme == "http" and (host == "localhost" or ip_address(host).is_loopback)
    except ValueError:
        return False


def _database_url(value: str, home: Path) -> str:
    """Return the database URL. Error messages never repeat it, because it may hold a password."""
    if not value:
        return sqlite_url(home / "traitbench.db")
    scheme, mark, rest = value.partition("://")
    if not mark or scheme not in _DATABASES:
        what = f"begins with {scheme[:20]!r}" if mark else "is not the URL of a database"
        raise SettingInvalid(
            f"TRAITBENCH_DATABASE_URL {what}. Traitbench uses SQLite (sqlite:////path/to/file.db) or PostgreSQL"
            " (postgresql://user:password@host:5432/name)."
        )
    if scheme == "sqlite" and rest.partition("?")[0] in ("", "/", "/:memory:"):
        raise SettingInvalid("TRAITBENCH_DATABASE_URL names no file. Use sqlite:////path/to/file.db.")
    return value


def sqlite_url(file: Path) -> str:
    """Return the URL of a SQLite file; its path may have any characters that are valid UTF-8."""
    try:
        return f"sqlite:///{quote(str(file), safe=' /')}"
    except UnicodeEncodeError:
        raise SettingInvalid("TRAITBENCH_HOME is not valid UTF-8. Choose another folder.") from None


def encoder_name(value: str) -> str | None:
    """Return the name of an encoder, or the absolute path of its folder. Loading it shows whether it exists."""
    path = "/" in value or os.sep in value or value.startswith(("~", "."))
    return str(Path(value).expanduser().absolute()) if path else value or None


def _web_address(environment: Mapping[str, str], name: str) -> str | None:
    """Return an https address without a query. Plain http is accepted for this machine only."""
    url = environment.get(name, "").strip()
    if not url:
        return None
    unusable = not is_safe_address(url) or not url.isascii() or not url.isprintable()
    if unusable or any(mark in url for mark in "?#@\\ "):
        raise SettingInvalid(
            f"{name} is {url[:200]!r}; it must be an https:// address without user, query or fragment. "
            "Plain http:// is accepted for this machine only."
        )
    return url


def _room_url(environment: Mapping[str, str]) -> str | None:
    """Return the address under which a room reaches this workbench, such as `https://bench.example.org`."""
    name = "TRAITBENCH_ROOM_URL"
    url = environment.get(name, "").strip().rstrip("/")
    if not url:
        return None
    match = _ORIGIN.fullmatch(url.lower())
    if match is None:
        raise SettingInvalid(f"{name} is {url[:200]!r}; it must be an address such as https://bench.example.org:8501.")
    signs_in = environment.get("TRAITBENCH_SIGN_IN", "").strip().lower() not in ("", "none")
    if not signs_in and match[1] not in ("localhost", "127.0.0.1"):
        raise SettingInvalid(
            f"{name} needs a sign-in, because everyone in the room could use the workbench at that address: set"
            " TRAITBENCH_SIGN_IN=token, proxy or oidc."
        )
    return url.lower()


def _language_model(environment: Mapping[str, str]) -> dict[str, str | None]:
    """Return the address, key and name of the language model, which need each other. No message repeats the key."""
    names = ("TRAITBENCH_LLM_URL", "TRAITBENCH_LLM_KEY", "TRAITBENCH_LLM_MODEL")
    url, key, model = (environment.get(name, "").strip() for name in names)
    if not url and (key or model):
        raise SettingInvalid(
            f"{names[1] if key else names[2]} is set, but TRAITBENCH_LLM_URL is not. Set it to the address of an"
            " OpenAI-compatible service such as http://127.0.0.1:11434/v1, or unset both."
        )
    if url and (not _is_endpoint(url) or len(url) > _LONGEST_ADDRESS):
        raise SettingInvalid(
            f"TRAITBENCH_LLM_URL is {'set' if '@' in url else repr(url[:200])}; it must be an http:// or https://"
            " address without user, query or fragment, such as http://127.0.0.1:11434/v1."
        )
    if url and not model:
        raise SettingInvalid("TRAITBENCH_LLM_URL is set, but TRAITBENCH_LLM_MODEL is not. Set it to a model's name.")
    if key and not is_safe_address(url):
        raise SettingInvalid(
            "TRAITBENCH_LLM_KEY would be sent unencrypted, because TRAITBENCH_LLM_URL is a plain http:// address of"
            " another machine. Use https://, or unset the key."
        )
    if not key.isascii() or not key.isprintable():
        raise SettingInvalid("TRAITBENCH_LLM_KEY has characters that cannot be sent.")
    if not model.isprintable() or len(model) > _LONGEST_NAME:
        raise SettingInvalid(f"TRAITBENCH_LLM_MODEL must be one line of at most {_LONGEST_NAME} characters.")
    return {"llm_url": url.rstrip("/") or None, "llm_key": key or None, "llm_model": model or None}


def _collector(environment: Mapping[str, str]) -> str | None:
    """Return the base address of an OpenTelemetry collector, below which `/v1/traces` and `/v1/logs` are."""
    name = "TRAITBENCH_OTLP_URL"
    url = environment.get(name, "").strip()
    if url and (not _is_endpoint(url) or len(url) > _LONGEST_ADDRESS):
        raise SettingInvalid(
            f"{name} is {'set' if '@' in url else repr(url[:200])}; it must be an http:// or https:// address without"
            " user, query or fragment, such as http://127.0.0.1:4318. A key for the collector belongs into"
            " OTEL_EXPORTER_OTLP_HEADERS."
        )
    if url.rstrip("/").endswith(("/v1/traces", "/v1/logs")):
        raise SettingInvalid(
            f"{name} is {url[:200]!r}; leave out the path of a signal, because both are added: use"
            f" {url.rstrip('/').rpartition('/v1/')[0][:200]}."
        )
    return url.rstrip("/") or None


def _is_endpoint(url: str) -> bool:
    """Whether a URL is an address to send requests to; its machine may be any."""
    try:
        parts = urlsplit(url)
        _port = parts.port
        sound = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return False
    return sound and url.isascii() and url.isprintable() and not any(mark in url for mark in "?#@\\ ")


def _number(environment: Mapping[str, str], name: str, *, default: int, least: int, most: int = 2**53) -> int:
    text = environment.get(name, "").strip()
    if not text:
        return default
    if not text.isdecimal() or not least <= int(text) <= most:
        raise SettingInvalid(f"{name} is {text!r}; it must be a whole number from {least} to {most}.")
    return int(text)


def _switch(environment: Mapping[str, str], name: str, *, default: bool) -> bool:
    text = environment.get(name, "").strip()
    if text not in ("", "on", "off"):
        raise SettingInvalid(f"{name} is {text!r}; it must be on or off.")
    return text == "on" if text else default


def _choice(environment: Mapping[str, str], name: str, kind: Any) -> Any:
    """Return one of the values of a `Literal`, or None if the variable is not set."""
    text, choices = environment.get(name, "").strip().lower(), get_args(kind)
    if text and text not in choices:
        raise SettingInvalid(f"{name} is {text!r}; it must be {', '.join(choices[:-1])} or {choices[-1]}.")
    return text or None


def _namespaces(environment: Mapping[str, str], name: str, *, default: tuple[str, ...]) -> tuple[str, ...]:
    if name not in environment:
        return default
    names = tuple(part.strip() for part in environment[name].split(",") if part.strip())
    for part in names:
        if not NAMESPACE.fullmatch(part):
            raise SettingInvalid(
                f"{name} has {part!r}; a namespace is 1-64 of a-z, 0-9, - and _, and starts with a letter or digit."
            )
    return names


def _host_names(environment: Mapping[str, str], name: str) -> tuple[str, ...]:
    """Return host names as a browser sends them: lowercase ASCII without scheme, port or brackets."""
    names = tuple(part.strip().lower().strip("[]") for part in environment.get(name, "").split(",") if part.strip())
    for part in names:
        if not _HOST_NAME.fullmatch(part):
            raise SettingInvalid(
                f"{name} has {part!r}; it must list host names such as bench.example.org, separated by commas, "
                "without scheme, port or wildcard."
            )
    return names


def _header_name(environment: Mapping[str, str], name: str, *, default: str) -> str:
    text = environment.get(name, "").strip()
    if text and not _HEADER_NAME.fullmatch(text):
        raise SettingInvalid(f"{name} is {text[:200]!r}; it must be the name of a header, such as {default}.")
    if text.lower() in _OF_CLIENTS:
        raise SettingInvalid(
            f"{name} is {text}, which clients send themselves, so a proxy does not delete it. Use a header that only "
            f"the proxy sets, such as {default}."
        )
    return text or default


def _networks(environment: Mapping[str, str], name: str) -> tuple[str, ...]:
    """Return IP addresses and networks such as 10.0.0.0/8."""
    parts = tuple(part.strip() for part in environment.get(name, "").split(",") if part.strip())
    for part in parts:
        try:
            network = ip_network(part)
        except ValueError:
            raise SettingInvalid(
                f"{name} has {part!r}; it must list addresses such as 127.0.0.1 or networks such as 10.0.0.0/8, "
                "separated by commas."
            ) from None
        if _is_wide(network):
            raise SettingInvalid(
                f"{name} has {part}, so anyone could name anyone. Name the addresses of your proxies; "
                f"of a public network at most a /{_NARROW[4]}, with IPv6 a /{_NARROW[6]}."
            )
    return parts


def _is_wide(network: IPv4Network | IPv6Network) -> bool:
    """Whether a network has more public addresses than one operator's proxies."""
    if isinstance(network, IPv6Network) and network.prefixlen >= 96 and (first := network[0].ipv4_mapped):
        network = IPv4Network((int(first), network.prefixlen - 96))
    inside = (network.version == each.version and network[0] in each and network[-1] in each for each in _PRIVATE)
    return network.prefixlen < _NARROW[network.version] and not any(inside)
