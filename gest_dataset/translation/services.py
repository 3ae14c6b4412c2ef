"""Paid services through their official clients: DeepL, Google Cloud Translation and Amazon Translate.

Keys come from the environment, and their values are removed from every message. The clients' own retries are
off. A new service is a function that opens its client and an entry in services.yaml.
"""

import logging
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import sleep
from typing import Any
from urllib.parse import urlsplit

from gest_dataset.errors import ConfigError, UnsupportedLanguageError, import_extra
from gest_dataset.languages import LANGUAGES, SOURCE
from gest_dataset.retry import RetryPolicy, parse_retry_after
from gest_dataset.storage import read_yaml
from gest_dataset.translation.translator import (
    Batches,
    Translation,
    TranslationError,
    TranslationStoppedError,
    Translator,
)

logger = logging.getLogger(__name__)
RETRY = RetryPolicy(retries=9, first_delay=1.0, longest_delay=60.0)
_MESSAGE_LENGTH = 600
_TABLE = read_yaml(Path(__file__).with_suffix(".yaml"))
_SAID = {reason: re.compile(pattern) for reason, pattern in _TABLE["errors"].items()}

Send = Callable[[Sequence[str]], Sequence[str]]


@dataclass(frozen=True)
class Service:
    """An entry of services.yaml; `connect` opens the client and returns how to send a batch."""

    title: str
    connect: Callable[[str, str], Send]
    texts: int
    size: int
    keys: list[list[str]]
    secrets: list[str]
    servers: list[str]
    domain: str


def _connect_deepl(language: str, source: str) -> Send:
    deepl = import_extra("deepl", "translate")
    deepl.http_client.max_network_retries = 0
    # without a URL the client uses the one that the key is for, free or paid
    server = os.environ.get("DEEPL_SERVER_URL") or None
    key = os.environ["DEEPL_AUTH_KEY"].strip()
    client = deepl.DeepLClient(key, server_url=server, send_platform_info=False)

    def send(texts: Sequence[str]) -> list[str]:
        target = "EN-US" if language == "en" else language.upper()  # DeepL asks for a variety of English
        answers = client.translate_text(list(texts), source_lang=source.upper(), target_lang=target)
        return [answer.text for answer in answers]

    return send


def _connect_google(language: str, source: str) -> Send:
    api = import_extra("google.cloud.translate_v2", "translate")
    credentials = None  # the client finds the file of a service account itself
    if key := os.environ.get("GOOGLE_API_KEY", "").strip():
        credentials = import_extra("google.auth.api_key", "translate").Credentials(key)
    server = os.environ.get("GOOGLE_TRANSLATE_ENDPOINT")
    client = api.Client(credentials=credentials, client_options={"api_endpoint": server} if server else None)
    # the default format, HTML, would escape apostrophes
    options = {"source_language": source, "target_language": language, "format_": "text", "model": "nmt"}
    return lambda texts: [answer["translatedText"] for answer in client.translate(list(texts), **options)]


def _connect_amazon(language: str, source: str) -> Send:
    boto3 = import_extra("boto3", "translate")
    config = import_extra("botocore.config", "translate")
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if not region:
        raise TranslationError("Amazon Translate needs a region: set AWS_REGION, for example to eu-west-1.")
    retries = config.Config(retries={"total_max_attempts": 1})
    client = boto3.client("translate", region_name=region, config=retries)

    def send(texts: Sequence[str]) -> list[str]:
        request = partial(client.translate_text, SourceLanguageCode=source, TargetLanguageCode=language)
        answers = [request(Text=text) for text in texts]
        if any(answer["TargetLanguageCode"] != language for answer in answers):
            raise TranslationError(f"Amazon Translate did not answer in {language}; nothing was stored.")
        return [answer["TranslatedText"] for answer in answers]

    return send


_CONNECT = {"deepl": _connect_deepl, "google": _connect_google, "amazon": _connect_amazon}
SERVICES = {name: Service(connect=_CONNECT[name], **entry) for name, entry in _TABLE["services"].items()}
_SECRETS = [key for service in SERVICES.values() for key in service.secrets]


def open_service(name: str, language: str, source: str = SOURCE) -> Translator:
    """The translator of a service; key and client are needed when the first batch is sent."""
    service = SERVICES[name]
    # another server than the service's own: its translations are kept apart
    address = next((value for key in service.servers if (value := os.environ.get(key, "").strip())), "")
    url = urlsplit(address if "//" in address else f"https://{address}")
    own = f".{url.hostname or service.domain}".endswith(f".{service.domain}")
    server = f"{url.netloc.rpartition('@')[2]}{url.path.rstrip('/')}"
    settings = "" if own else f"server={server}"
    settings += "" if source == SOURCE else f" from {source}"
    return Translator(name, "", settings, lambda texts: _translate(texts, service, language, source))


def _translate(texts: Sequence[str], service: Service, language: str, source: str) -> Batches:
    if not any(all(os.environ.get(name) for name in group) for group in service.keys):
        keys = " or ".join(" and ".join(group) for group in service.keys)
        raise TranslationError(f"{service.title} needs a key: set {keys} in the environment.")
    send = _with_retries(partial(service.connect, language, source), service, language)
    for batch in _batches(texts, service):
        if len(batch) == 1 and len(batch[0].encode()) > service.size:
            problem = f"longer than the {service.size:,} bytes that {service.title} accepts"
            yield [Translation(batch[0], "", problem)]
            continue
        answers = _with_retries(partial(send, batch), service, language)
        if len(answers) != len(batch) or not all(isinstance(answer, str) for answer in answers):
            raise TranslationError(f"{service.title} returned {answers!r:.300} for {len(batch)} texts.")
        yield [Translation.of(text, answer) for text, answer in zip(batch, answers, strict=True)]


def _batches(texts: Sequence[str], service: Service) -> Iterator[list[str]]:
    """As many texts as a request takes; one that is too long is alone."""
    batch: list[str] = []
    for text in texts:
        size = sum(len(other.encode()) for other in (*batch, text))
        if batch and (len(batch) == service.texts or size > service.size):
            yield batch
            batch = []
        batch.append(text)
    if batch:
        yield batch


def _with_retries(call: Callable[[], Any], service: Service, language: str) -> Any:
    """The result of a call, repeated as long as its failure may pass."""
    for attempt in range(RETRY.retries + 1):
        try:
            return call()
        except (TranslationError, ConfigError):
            raise
        except Exception as error:  # which classes a client raises depends on what it is built on
            status, headers = _response(error)
            names = " ".join(cls.__name__ for cls in type(error).__mro__)
            reason = f"{type(error).__name__}: {error}"
            details = f"{names} {reason} {getattr(error, 'errors', '')}"
        for secret in (os.environ.get(name, "").strip() for name in _SECRETS):
            reason = reason.replace(secret, "<key>") if secret else reason
        reason = reason[:_MESSAGE_LENGTH]
        # raised below the handler, so that the client's error with its request is not chained
        if status == 456 or (status != 429 and _SAID["quota"].search(details)):  # 456 is DeepL's
            raise TranslationStoppedError(f"{service.title} has no quota left; resume later.\n{reason}")
        busy = status == 429 or (status or 0) >= 500 or _SAID["busy"].search(details)
        if not busy and not (status is None and _SAID["unreachable"].search(names)):
            refused = UnsupportedLanguageError if _SAID["language"].search(details) else TranslationError
            raise refused(
                f"{service.title} refused to translate to {LANGUAGES[language].name} ({language}): {reason}\n"
                f"Check the key, and that the service offers the language."
            )
        if attempt == RETRY.retries:
            break
        seconds = RETRY.delay(attempt, parse_retry_after(headers))
        logger.warning("%s: waiting %.0f s (%s)", service.title, seconds, reason.partition("\n")[0][:120])
        sleep(seconds)
    raise TranslationStoppedError(f"{service.title} does not answer; resume later.\n{reason}")


def _response(error: Any) -> tuple[int | None, Mapping[str, str]]:
    """The HTTP status and headers of a client's error: DeepL's, Amazon's, Google's or that of requests."""
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        metadata = response.get("ResponseMetadata", {})
        return metadata.get("HTTPStatusCode"), metadata.get("HTTPHeaders", {})
    codes = (getattr(error, name, None) for name in ("http_status_code", "code"))
    status = next(filter(None, (*codes, getattr(response, "status_code", None))), None)
    return status if isinstance(status, int) else None, getattr(response, "headers", {})
