"""What the paid services share: keys from the environment, batches within their limits, retries.

Each service's module opens its official client and classifies its errors. The clients' own retries are off,
and the values of keys are removed from every message.
"""

from __future__ import annotations

import importlib
import logging
import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter, sleep
from typing import Any, Literal
from urllib.parse import urlsplit

from gest_dataset.languages import LANGUAGES
from gest_dataset.retry import RetryPolicy, parse_retry_after
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

Send = Callable[[Sequence[str]], Sequence[str]]


@dataclass(frozen=True)
class Failure:
    """What an error of a client means: try again (after some seconds), the quota is used up, or a refusal."""

    kind: Literal["retry", "quota", "refused"]
    retry_after: float | None = None


@dataclass(frozen=True)
class Service:
    """A translation service.

    `keys` are alternative groups of environment variables, `secrets` those to hide, `servers` those that
    name another server than the service's own in `domain`. A request takes `texts` texts with `size` bytes.
    `connect` opens the client and returns the function that translates a batch; `classify` explains an error.
    """

    name: str
    title: str
    keys: tuple[tuple[str, ...], ...]
    secrets: tuple[str, ...]
    servers: tuple[str, ...]
    domain: str
    texts: int
    size: int
    connect: Callable[[str], Send]
    classify: Callable[[Exception], Failure]


def open_service(service: Service, language: str) -> Translator:
    """The translator of a service; key and client are needed when the first batch is sent."""
    return Translator(
        name=service.name,
        revision="",
        settings=f"server={server}" if (server := other_server(service)) else "",
        translate=lambda texts: _translate(texts, service, language),
        unit="characters",
    )


def other_server(service: Service) -> str:
    """The server that replaces the service's own, if any: its translations are kept apart."""
    value = next((value for name in service.servers if (value := os.environ.get(name, "").strip())), "")
    url = urlsplit(value if "//" in value else f"https://{value}")
    if f".{url.hostname or service.domain}".endswith(f".{service.domain}"):
        return ""
    return f"{url.netloc.rpartition('@')[2]}{url.path.rstrip('/')}"


def import_client(module: str, title: str) -> Any:
    """A module of a service's official client."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise TranslationError(
            f'The client of {title} is not installed: pip install "gest-dataset[translate]" ({error}).'
        ) from error


def classify_status(status: int | None, headers: Mapping[str, str]) -> Failure:
    """The meaning of an HTTP status."""
    if status is None or status == 429 or status >= 500:
        return Failure("retry", parse_retry_after(headers))
    return Failure("refused")


def _translate(texts: Sequence[str], service: Service, language: str) -> Generator[Batch, None, None]:
    keys = " or ".join(" and ".join(group) for group in service.keys)
    if not any(all(os.environ.get(name) for name in group) for group in service.keys):
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
            raise TranslationError(
                f"{service.title} returned {len(answers)} translations for {len(batch)} texts, or not only "
                f"texts; none of them was stored. Try again, or update its client."
            )
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
            failure = service.classify(error)
            reason = _without_secrets(f"{type(error).__name__}: {error}", service)[:_MESSAGE_LENGTH]
        # raised below the handler, so that the client's error with its request is not chained
        if failure.kind == "refused":
            raise TranslationError(
                f"{service.title} refused to translate to {LANGUAGES[language].name} ({language}): {reason}\n"
                f"Check the key, and that the service offers the language."
            )
        if failure.kind == "quota" or attempt == RETRY.retries:
            problem = "has no quota left" if failure.kind == "quota" else "does not answer"
            raise TranslationStoppedError(
                f"{service.title} {problem}; the same command resumes later.\n{reason}"
            )
        seconds = RETRY.delay(attempt, failure.retry_after)
        logger.warning("%s: waiting %.0f s (%s)", service.title, seconds, reason.partition("\n")[0][:120])
        sleep(seconds)
    raise AssertionError("the last attempt returns or raises")


def _without_secrets(text: str, service: Service) -> str:
    for name in service.secrets:
        if value := os.environ.get(name, "").strip():
            text = text.replace(value, f"<{name}>")
    return text
