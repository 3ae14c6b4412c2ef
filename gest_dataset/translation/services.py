"""The paid services, through their official clients: DeepL, Google Cloud Translation and Amazon Translate.

A new service is a function that opens its client and an entry in `SERVICES`.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gest_dataset.translation.translator import TranslationError

Send = Callable[[Sequence[str]], Sequence[str]]


@dataclass(frozen=True)
class Service:
    """A translation service.

    `keys` are alternative groups of environment variables, `secrets` those to hide, `servers` those that
    name another server than the service's own in `domain`. A request takes `texts` texts with `size` bytes.
    `connect` opens the client and returns the function that translates a batch to a language.
    """

    title: str
    keys: tuple[tuple[str, ...], ...]
    secrets: tuple[str, ...]
    servers: tuple[str, ...]
    domain: str
    texts: int
    size: int
    connect: Callable[[str], Send]


def _import(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise TranslationError(
            f'The client {module} is not installed: pip install "gest-dataset[translate]" ({error}).'
        ) from error


def _connect_deepl(language: str) -> Send:
    deepl = _import("deepl")
    deepl.http_client.max_network_retries = 0
    # without a URL the client uses the one that the key is for, free or paid
    server = os.environ.get("DEEPL_SERVER_URL") or None
    key = os.environ["DEEPL_AUTH_KEY"].strip()
    client = deepl.DeepLClient(key, server_url=server, send_platform_info=False)

    def send(texts: Sequence[str]) -> list[str]:
        answers = client.translate_text(list(texts), source_lang="EN", target_lang=language.upper())
        return [answer.text for answer in answers]

    return send


def _connect_google(language: str) -> Send:
    api = _import("google.cloud.translate_v2")
    credentials = None  # the client finds the file of a service account itself
    if key := os.environ.get("GOOGLE_API_KEY", "").strip():
        credentials = _import("google.auth.api_key").Credentials(key)
    server = os.environ.get("GOOGLE_TRANSLATE_ENDPOINT")
    options = {"api_endpoint": server} if server else None
    client = api.Client(credentials=credentials, client_options=options)

    def send(texts: Sequence[str]) -> list[str]:
        # the default format, HTML, would escape apostrophes
        answers = client.translate(
            list(texts), source_language="en", target_language=language, format_="text", model="nmt"
        )
        return [answer["translatedText"] for answer in answers]

    return send


def _connect_amazon(language: str) -> Send:
    boto3, config = _import("boto3"), _import("botocore.config")
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if not region:
        raise TranslationError("Amazon Translate needs a region: set AWS_REGION, for example to eu-west-1.")
    retries = config.Config(retries={"total_max_attempts": 1})
    client = boto3.client("translate", region_name=region, config=retries)

    def send(texts: Sequence[str]) -> list[str]:
        answers = [
            client.translate_text(Text=text, SourceLanguageCode="en", TargetLanguageCode=language)
            for text in texts
        ]
        if any(answer["TargetLanguageCode"] != language for answer in answers):
            raise TranslationError(f"Amazon Translate did not answer in {language}; nothing was stored.")
        return [answer["TranslatedText"] for answer in answers]

    return send


_AWS_KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
SERVICES: dict[str, Service] = {
    "deepl": Service(
        title="DeepL",
        keys=(("DEEPL_AUTH_KEY",),),
        secrets=("DEEPL_AUTH_KEY",),
        servers=("DEEPL_SERVER_URL",),
        domain="deepl.com",
        texts=50,
        size=100_000,  # of 128 KiB for the whole request
        connect=_connect_deepl,
    ),
    "google": Service(
        title="Google Cloud Translation",
        keys=(("GOOGLE_API_KEY",), ("GOOGLE_APPLICATION_CREDENTIALS",)),
        secrets=("GOOGLE_API_KEY",),
        servers=("GOOGLE_TRANSLATE_ENDPOINT",),
        domain="googleapis.com",
        texts=128,
        size=5_000,
        connect=_connect_google,
    ),
    "amazon": Service(
        title="Amazon Translate",
        keys=(_AWS_KEYS,),
        secrets=(*_AWS_KEYS, "AWS_SESSION_TOKEN"),
        servers=("AWS_ENDPOINT_URL_TRANSLATE", "AWS_ENDPOINT_URL"),
        domain="amazonaws.com",
        texts=1,
        size=10_000,
        connect=_connect_amazon,
    ),
}
