"""An optional language model: any service that speaks OpenAI's chat protocol, such as Ollama, vLLM or a hosted one.

It is asked only if the operator has set `TRAITBENCH_LLM_URL`. Its answers are checked against a schema. Every failure
is a `LanguageModelFailed` with a sentence, so that the caller can go on without it. Texts, answers and the key are
never logged.
"""

import logging
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit

from traitbench.install import install_line, require
from traitbench.settings import SettingInvalid, Settings

# On the level debug, the library would log what is sent.
logging.getLogger("openai").setLevel(logging.INFO)


class LanguageModelFailed(Exception):
    """The language model gave no usable answer; the message says why and quotes neither texts nor answers."""


@dataclass(frozen=True)
class Endpoint:
    """The address and name of a language model, and the key for it; "" if it needs none."""

    url: str
    model: str
    key: str = field(default="", repr=False)

    @property
    def host(self) -> str:
        """The machine that gets what is sent."""
        return urlsplit(self.url).hostname or ""

    @property
    def on_loopback(self) -> bool:
        """Whether what is sent stays on this machine."""
        try:
            return self.host == "localhost" or ip_address(self.host).is_loopback
        except ValueError:
            return False


def endpoint(settings: Settings) -> Endpoint | None:
    """Return the language model of the settings, or None if there is none."""
    if not settings.llm_url or not settings.llm_model:
        return None
    return Endpoint(settings.llm_url, settings.llm_model, settings.llm_key or "")


def check(settings: Settings) -> None:
    """Raise `SettingInvalid` if a language model is set and the package for it is missing.

    The service at the address is not asked: it may start later, and a synthesis that cannot reach it says so.
    """
    try:
        if settings.llm_url:
            require("openai")
    except ModuleNotFoundError:
        raise SettingInvalid(
            "TRAITBENCH_LLM_URL is set, but the package openai is not installed. Unset TRAITBENCH_LLM_URL to synthesize"
            f" without a language model, or install it with: {install_line('llm')}"
        ) from None
