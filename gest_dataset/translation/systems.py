"""From what a user calls a system to a translator."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from gest_dataset.errors import ConfigError
from gest_dataset.languages import LANGUAGES, SOURCE
from gest_dataset.translation import amazon, cloud, deepl, google
from gest_dataset.translation.file import open_file
from gest_dataset.translation.huggingface import open_model
from gest_dataset.translation.translator import Translator

# How a user writes each system
SPELLINGS = ("hf:MODEL_OR_PATH", "deepl", "google", "amazon", "chat:MODEL", "file:PATH")

_SERVICES: dict[str, Callable[[str], Translator]] = {
    service.name: partial(cloud.open_service, service)
    for service in (deepl.SERVICE, google.SERVICE, amazon.SERVICE)
}


def open_translator(
    system: str,
    language: str,
    *,
    device: str = "auto",
    dtype: str = "auto",
    batch_tokens: int | None = None,
    revision: str | None = None,
    endpoint: str | None = None,
) -> Translator:
    """The translator of a system from English to a language.

    `{language}` in a model's name or a path stands for the language's code. `endpoint` is the
    address of the server that has a chat model; the other settings are for Hugging Face models.
    """
    if language not in LANGUAGES or language == SOURCE:
        offered = ", ".join(code for code in LANGUAGES if code != SOURCE)
        raise ConfigError(f"There is no target language {language!r}. Choose one of {offered}.")
    system = system.replace("{language}", language)
    kind, _, name = system.partition(":")
    if (kind == "chat") != (endpoint is not None):
        raise ConfigError(
            f"{system!r} and the endpoint {endpoint}: a chat model is asked at one, and nothing else is. "
            f"Give --system chat:MODEL --endpoint URL."
        )
    if endpoint is not None and name:
        from gest_dataset.translation.chat import open_chat  # brings torch

        return open_chat(name, language, endpoint)
    if kind == "hf" and name:
        return open_model(name, language, device, dtype, batch_tokens, revision)
    if revision is not None:
        raise ConfigError(f"{system!r} has no revisions: only hf: models have. Leave the revision out.")
    if kind == "file" and name:
        return open_file(name, language)
    if system in _SERVICES:
        return _SERVICES[system](language)
    raise ConfigError(f"There is no system {system!r}. Use one of {', '.join(SPELLINGS)}.")
