"""Translation with a paid service: keys from the environment, batches within its limits, retries.

The clients' own retries are off, and the values of keys are removed from every message.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import partial
from time import perf_counter, sleep
from typing import Any
from urllib.parse import urlsplit

from gest_dataset.languages import LANGUAGES
from gest_dataset.retry import RetryPolicy, parse_retry_after
from gest_dataset.translation.services import SERVICES, Service
from gest_dataset.translation.translator import (
    Batch,
    Translation,
    TranslationError,
    TranslationStoppedError,
    Translator,
    make_translation,
)

logger = logging.getLogger(__name__)
RETRY = RetryPolicy(retries=9, first_delay=1.0, longest_delay=60.0)
_MESSAGE_LENGTH = 600
# What the clients' errors say, in their class names, codes and messages
_QUOTA = re.compile(r"QuotaExceeded|dailyLimitExceeded|quotaExceeded|\bLimitExceededException")
_BUSY = re.compile(r"Throttling|TooManyRequests|RequestLimitExceeded|[rR]ateLimitExceeded")
_UNREACHABLE = re.compile(r"Connection|Timeout|Transport|HTTPClientError")


def open_service(name: str, language: str) -> Translator:
    """The translator of a service; key and client are needed when the first batch is sent."""
    service = SERVICES[name]
    return Translator(
        name=name,
        revision="",
        settings=f"server={server}" if (server := _other_server(service)) else "",
        translate=lambda texts: _translate(texts, service, language),
        unit="characters",
    )


def _other_server(service: Service) -> str:
    """The server that replaces the service's own, if any: its translations are kept apart."""
    value = next((value for name in service.servers if (value := os.environ.get(name, "").strip())), "")
    url = urlsplit(value if "//" in value else f"https://{value}")
    if f".{url.hostname or service.domain}".endswith(f".{service.domain}"):
        return ""
    return f"{url.netloc.rpartition('@')[2]}{url.path.rstrip('/')}"


def _translate(texts: Sequence[str], service: Service, language: str) -> Generator[Batch, None, None]:
    if not any(all(os.environ.get(name) for name in group) for group in service.keys):
        keys = " or ".join(" and ".join(group) for group in service.keys)
        raise TranslationError(f"{service.title} needs a key: set {keys} in the environment.")
    send = _with_retries(partial(service.connect, language), service, language)
    for batch in _batches(texts, service):
        if len(batch) == 1 and len(batch[0].encode()) > service.size:
            problem = f"longer than the {service.size:,} bytes that {service.title} accepts"
            yield Batch([Translation(batch[0], "", problem)])
            continue
        start = perf_counter()
        answers = _with_retries(partial(send, batch), service, language)
        if len(answers) != len(batch) or not all(isinstance(answer, str) for answer in answers):
            raise TranslationError(f"{service.title} returned {answers!r:.300} for {len(batch)} texts.")
        made = [make_translation(text, answer) for text, answer in zip(batch, answers, strict=True)]
        yield Batch(made, sum(map(len, batch)), perf_counter() - start)


def _batches(texts: Sequence[str], service: Service) -> Iterator[list[str]]:
    """As many texts as a request takes; one that is too long is alone."""
    batch: list[str] = []
    size = 0
    for text in texts:
        length = len(text.encode())
        if batch and (len(batch) == service.texts or size + length > service.size):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += length
    if batch:
        yield batch


def _with_retries(call: Callable[[], Any], service: Service, language: str) -> Any:
    """The result of a call, repeated as long as its failure may pass."""
    for attempt in range(RETRY.retries + 1):
        try:
            return call()
        except TranslationError:
            raise
        except Exception as error:  # which classes a client raises depends on what it is built on
            status, headers = _response(error)
            names = " ".join(cls.__name__ for cls in type(error).__mro__)
            reason = f"{type(error).__name__}: {error}"
            details = f"{names} {reason} {getattr(error, 'errors', '')}"
        for name in service.secrets:
            if value := os.environ.get(name, "").strip():
                reason = reason.replace(value, f"<{name}>")
        reason = reason[:_MESSAGE_LENGTH]
        quota = status == 456 or (status != 429 and _QUOTA.search(details))  # 456 is DeepL's
        busy = status == 429 or (status or 0) >= 500 or _BUSY.search(details)
        # raised below the handler, so that the client's error with its request is not chained
        if quota:
            raise TranslationStoppedError(f"{service.title} has no quota left; resume later.\n{reason}")
        if not busy and not (status is None and _UNREACHABLE.search(names)):
            raise TranslationError(
                f"{service.title} refused to translate to {LANGUAGES[language].name} ({language}): {reason}\n"
                f"Check the key, and that the service offers the language."
            )
        if attempt == RETRY.retries:
            raise TranslationStoppedError(f"{service.title} does not answer; resume later.\n{reason}")
        seconds = RETRY.delay(attempt, parse_retry_after(headers))
        logger.warning("%s: waiting %.0f s (%s)", service.title, seconds, reason.partition("\n")[0][:120])
        sleep(seconds)
    raise AssertionError("the last attempt returns or raises")


def _response(error: Any) -> tuple[int | None, Mapping[str, str]]:
    """The HTTP status and headers of a client's error: DeepL's, Amazon's or Google's."""
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        metadata = response.get("ResponseMetadata", {})
        return metadata.get("HTTPStatusCode"), metadata.get("HTTPHeaders", {})
    status = getattr(error, "http_status_code", getattr(error, "code", None))
    return status if isinstance(status, int) else None, getattr(response, "headers", {})
