"""The operator's settings: what the environment says, what holds when it says nothing, and what is refused."""

import json
from pathlib import Path

import pytest

from traitbench.operations.context import greeting
from traitbench.settings import SettingInvalid, Settings, child_environment, read_settings

_HOSTS = ("bench.example.org", "10.0.0.7", "fd00::7")


def test_an_empty_environment_gives_the_defaults_of_the_contract() -> None:
    settings = read_settings({"TRAITBENCH_HOME": "/tmp/home"})
    assert settings == Settings(home=Path("/tmp/home"), database_url="sqlite:////tmp/home/traitbench.db")
    assert (settings.host, settings.port, settings.public_namespaces) == ("127.0.0.1", 8501, ("demo",))
    assert (settings.max_traits, settings.max_samples, settings.max_body_bytes) == (64, 200_000, 10 * 2**20)
    assert (settings.retrain_after_samples, settings.retrain_after_seconds) == (10, 300)
    assert settings.max_import_bytes == 256 * 2**20
    assert (settings.vector_memory_mb, settings.vector_store_mb) == (128, 512)


@pytest.mark.parametrize(
    ("name", "field", "text", "value"),
    [
        ("TRAITBENCH_RETRAIN_AFTER_SAMPLES", "retrain_after_samples", "3", 3),
        ("TRAITBENCH_RETRAIN_AFTER_SECONDS", "retrain_after_seconds", " 60 ", 60),
        ("TRAITBENCH_WORKER_NICE", "worker_nice", "0", 0),
        ("TRAITBENCH_MAX_IMPORT_BYTES", "max_import_bytes", "1048576", 2**20),
        ("TRAITBENCH_PORT", "port", "0", 0),
        ("TRAITBENCH_VECTOR_MEMORY_MB", "vector_memory_mb", "0", 0),
        ("TRAITBENCH_VECTOR_STORE_MB", "vector_store_mb", "1024", 1_024),
        ("TRAITBENCH_PUBLIC_NAMESPACES", "public_namespaces", "a, b", ("a", "b")),
        ("TRAITBENCH_ENCODER", "encoder", "", None),
        ("TRAITBENCH_LOG", "log_form", "JSON", "json"),
        ("TRAITBENCH_LOG", "log_form", "", None),
        ("TRAITBENCH_LOG_LEVEL", "log_level", "info", "info"),
        ("TRAITBENCH_LOG_LEVEL", "log_level", " ", "warning"),
        ("TRAITBENCH_ENCODER", "encoder", "static", "static"),
        ("TRAITBENCH_ENCODER", "encoder", "/models/mine", "/models/mine"),
        ("TRAITBENCH_ENCODER", "encoder", "./mine", str(Path.cwd() / "mine")),
        ("TRAITBENCH_ENCODER", "encoder", "~/mine", str(Path.home() / "mine")),
        ("TRAITBENCH_PUBLIC_NAMESPACES", "public_namespaces", "", ()),
        ("TRAITBENCH_FETCH_URLS", "fetch_urls", "", True),
        ("TRAITBENCH_FETCH_URLS", "fetch_urls", "on", True),
        ("TRAITBENCH_FETCH_URLS", "fetch_urls", " off ", False),
        ("TRAITBENCH_ALLOWED_HOSTS", "allowed_hosts", "", ()),
        ("TRAITBENCH_PROXIES", "proxies", "127.0.0.1, 10.0.0.0/8,fd00::7", ("127.0.0.1", "10.0.0.0/8", "fd00::7")),
        ("TRAITBENCH_SIGN_IN", "sign_in", "", "none"),
        ("TRAITBENCH_SIGN_IN", "sign_in", "oidc", "oidc"),
        ("TRAITBENCH_SIGN_IN", "sign_in", "proxy", "proxy"),
        (
            "TRAITBENCH_PROXIES",
            "proxies",
            "198.51.100.0/24,100.64.0.0/10,2a00:1450:4001:800::/56,::ffff:10.0.0.0/104",
            ("198.51.100.0/24", "100.64.0.0/10", "2a00:1450:4001:800::/56", "::ffff:10.0.0.0/104"),
        ),
        ("TRAITBENCH_PROXY_HEADER", "proxy_header", "", "X-Forwarded-Email"),
        ("TRAITBENCH_PROXY_HEADER", "proxy_header", " Remote-User ", "Remote-User"),
        ("TRAITBENCH_OIDC_ISSUER", "oidc_issuer", "", None),
        ("TRAITBENCH_OIDC_ISSUER", "oidc_issuer", " https://id.example.org/realm ", "https://id.example.org/realm"),
        ("TRAITBENCH_OIDC_ISSUER", "oidc_issuer", "http://[::1]:8080", "http://[::1]:8080"),
        ("TRAITBENCH_OIDC_CLIENT_ID", "oidc_client_id", " bench ", "bench"),
        ("TRAITBENCH_OIDC_CLIENT_SECRET", "oidc_client_secret", "s p", "s p"),
        ("TRAITBENCH_OIDC_REDIRECT_URL", "oidc_redirect_url", "https://b.example.org", "https://b.example.org"),
        ("TRAITBENCH_OTLP_URL", "otlp_url", "", None),
        ("TRAITBENCH_OTLP_URL", "otlp_url", " http://collector:4318/ ", "http://collector:4318"),
        ("TRAITBENCH_OTLP_URL", "otlp_url", "https://otel.example.org/otlp", "https://otel.example.org/otlp"),
        ("TRAITBENCH_ROOM_URL", "room_url", "", None),
        ("TRAITBENCH_ROOM_URL", "room_url", "http://127.0.0.1:8501/", "http://127.0.0.1:8501"),
        ("TRAITBENCH_ALLOWED_HOSTS", "allowed_hosts", "Bench.Example.org, 10.0.0.7,[fd00::7]", _HOSTS),
    ],
)
def test_a_variable_sets_its_field(name: str, field: str, text: str, value: object) -> None:
    assert getattr(read_settings({name: text}), field) == value


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("TRAITBENCH_RETRAIN_AFTER_SAMPLES", "0"),
        ("TRAITBENCH_RETRAIN_AFTER_SECONDS", "soon"),
        ("TRAITBENCH_WORKER_NICE", "20"),
        ("TRAITBENCH_MAX_IMPORT_BYTES", "-1"),
        ("TRAITBENCH_ROOM_URL", "https://bench.example.org"),  # without a sign-in
        ("TRAITBENCH_ROOM_URL", "http://localhost/path"),
        ("TRAITBENCH_PORT", "65536"),
        ("TRAITBENCH_VECTOR_MEMORY_MB", "-1"),
        ("TRAITBENCH_VECTOR_STORE_MB", "1.5"),
        ("TRAITBENCH_PUBLIC_NAMESPACES", "Demo"),
        ("TRAITBENCH_FETCH_URLS", "no"),
        ("TRAITBENCH_FETCH_URLS", "OFF"),
        ("TRAITBENCH_FETCH_URLS", "0"),
        ("TRAITBENCH_ALLOWED_HOSTS", "*"),
        ("TRAITBENCH_ALLOWED_HOSTS", "https://bench.example.org"),
        ("TRAITBENCH_ALLOWED_HOSTS", "bench.example.org:443"),
        ("TRAITBENCH_PROXIES", "proxy.example.org"),
        ("TRAITBENCH_PROXY_HEADER", "Remote_User"),
        ("TRAITBENCH_PROXY_HEADER", "Remote-User:"),
        ("TRAITBENCH_PROXIES", "10.0.0.1/8"),
        ("TRAITBENCH_PROXIES", "10.0.0.0/8, 0.0.0.0/1,128.0.0.0/1"),
        ("TRAITBENCH_PROXIES", "10.0.0.0/7"),
        ("TRAITBENCH_PROXIES", "203.0.112.0/23"),
        ("TRAITBENCH_PROXIES", "::/0"),
        ("TRAITBENCH_PROXIES", "::ffff:0:0/96"),
        ("TRAITBENCH_PROXIES", "2a00:1450:4001::/48"),
        ("TRAITBENCH_PROXY_HEADER", "Host"),
        ("TRAITBENCH_PROXY_HEADER", "cookie"),
        ("TRAITBENCH_PROXY_HEADER", "Authorization"),
        ("TRAITBENCH_LOG", "xml"),
        ("TRAITBENCH_LOG_LEVEL", "loud"),
        ("TRAITBENCH_SIGN_IN", "google"),
        ("TRAITBENCH_OIDC_ISSUER", "id.example.org"),
        ("TRAITBENCH_OIDC_ISSUER", "http://id.example.org"),
        ("TRAITBENCH_OIDC_ISSUER", "http://127.0.0.1.example.org"),
        ("TRAITBENCH_OIDC_ISSUER", "https://"),
        ("TRAITBENCH_OIDC_ISSUER", "https://user:password@id.example.org"),
        ("TRAITBENCH_OIDC_ISSUER", "https://id.example.org/?realm=a"),
        ("TRAITBENCH_OIDC_ISSUER", "https://id.example.org:port"),
        ("TRAITBENCH_OIDC_ISSUER", "file:///etc/passwd"),
        ("TRAITBENCH_OIDC_REDIRECT_URL", "http://bench.example.org"),
        ("TRAITBENCH_LLM_URL", "http://127.0.0.1:11434/v1"),
        ("TRAITBENCH_LLM_KEY", "sk-1"),
        ("TRAITBENCH_LLM_MODEL", "tiny"),
        ("TRAITBENCH_OTLP_URL", "127.0.0.1:4318"),
        ("TRAITBENCH_OTLP_URL", "http://127.0.0.1:4318/v1/traces"),
        ("TRAITBENCH_OTLP_URL", "https://otel.example.org/?key=1"),
        ("TRAITBENCH_OTLP_URL", "grpc://127.0.0.1:4317"),
    ],
)
def test_a_value_that_cannot_be_used_stops_the_start_and_names_its_variable(name: str, text: str) -> None:
    with pytest.raises(SettingInvalid, match=name):
        read_settings({name: text})


def test_a_room_needs_a_sign_in_and_its_host_is_answered() -> None:
    settings = read_settings({"TRAITBENCH_ROOM_URL": "https://Bench.example.org", "TRAITBENCH_SIGN_IN": "token"})
    assert settings.room_url == "https://bench.example.org"
    assert "bench.example.org" in settings.own_hosts


def test_the_clients_secret_is_shown_to_nobody() -> None:
    settings = read_settings({"TRAITBENCH_OIDC_CLIENT_SECRET": "the secret"})
    assert settings.oidc_client_secret == "the secret"
    assert "the secret" not in repr(settings)
    assert "the secret" not in json.dumps(greeting(settings), default=str)


@pytest.mark.parametrize(
    ("url", "key", "model", "what"),
    [
        ("127.0.0.1:11434", "", "tiny", "URL is '127.0.0.1:11434'; it must be"),
        ("ftp://127.0.0.1/v1", "", "tiny", "URL is 'ftp"),
        ("http://me:pass@127.0.0.1/v1", "", "tiny", "URL is set; it must be .* without user"),
        ("http://127.0.0.1:port/v1", "", "tiny", "URL is"),
        ("http://192.0.2.7:8000/v1", "sk-1", "tiny", "KEY would be sent unencrypted"),
        ("https://llm.example.org/v1", "sk-\n1", "tiny", "KEY has characters"),
        ("https://llm.example.org/v1", "sk-1", "t" * 181, "MODEL must be one line"),
    ],
)
def test_a_language_model_that_cannot_be_used_stops_the_start(url: str, key: str, model: str, what: str) -> None:
    variables = {"TRAITBENCH_LLM_URL": url, "TRAITBENCH_LLM_KEY": key, "TRAITBENCH_LLM_MODEL": model}
    with pytest.raises(SettingInvalid, match=f"TRAITBENCH_LLM_{what}") as refused:
        read_settings(variables)
    assert not key or key not in str(refused.value)


def test_no_message_repeats_the_password_of_a_collector() -> None:
    with pytest.raises(SettingInvalid, match=r"TRAITBENCH_OTLP_URL is set; .*OTEL_EXPORTER_OTLP_HEADERS") as refused:
        read_settings({"TRAITBENCH_OTLP_URL": "https://me:hunter2@otel.example.org"})
    assert "hunter2" not in str(refused.value)


def test_only_the_worker_gets_the_key_of_the_language_model(monkeypatch: pytest.MonkeyPatch) -> None:
    variables = {
        "TRAITBENCH_LLM_URL": "https://llm.example.org/v1/",
        "TRAITBENCH_LLM_KEY": "sk-1",
        "TRAITBENCH_LLM_MODEL": "tiny",
    }
    settings = read_settings(variables)
    assert (settings.llm_url, settings.llm_model) == ("https://llm.example.org/v1", "tiny")
    assert "sk-1" not in repr(settings)
    assert "sk-1" not in json.dumps(settings.to_json())
    assert Settings.from_json(json.loads(json.dumps(greeting(settings)))["settings"]).llm_key == "sk-1"
    monkeypatch.setenv("TRAITBENCH_LLM_KEY", "sk-1")
    assert "sk-1" not in child_environment().values()


def test_the_settings_of_this_process_follow_its_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for port in ("8001", "8002"):
        monkeypatch.setenv("TRAITBENCH_PORT", port)
        assert read_settings().port == int(port)
        assert read_settings() is read_settings()
    monkeypatch.setenv("TRAITBENCH_HOME", str(tmp_path))
    for key in ("first", "second"):
        read_settings().first_key_file.unlink(missing_ok=True)
        (tmp_path / "other").write_text(key)
        (tmp_path / "other").rename(read_settings().first_key_file)
        assert read_settings().service_key() == key
