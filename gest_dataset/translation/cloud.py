"""What the paid services share: keys, batches within their limits, patience, and errors without keys.

A service's own module says how to connect and what its client's errors mean; here is one way of
waiting for all three, so the clients' own retries are off. Keys are read from the environment by
the clients alone and never kept here; their values are struck out of every message.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import random
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter, sleep
from typing import Any, Literal
from urllib.parse import urlsplit

from urllib3 import HTTPHeaderDict, Retry
from urllib3.exceptions import InvalidHeader

from gest_dataset.languages import LANGUAGES
from gest_dataset.translation.answers import judged
from gest_dataset.translation.translator import (
    Batch,
    Translation,
    TranslationError,
    TranslationStoppedError,
    Translator,
    answered,
)

logger = logging.getLogger(__name__)
TRIES = 10
LONGEST_WAIT = 60.0  # seconds between tries, where the service does not name them
_PATIENCE = 600.0  # a service that wants a longer wait is stopped
_SHOWN = 600  # characters of a client's message

# what the clients raise at answers that are not of their form
_MISREAD = (AttributeError, LookupError, TypeError, json.JSONDecodeError)
Send = Callable[[Sequence[str]], Sequence[str]]
Kind = Literal["wait", "quota", "key", "language", "text", "form", "other"]


@dataclass(frozen=True)
class Judgement:
    """What an error of a client means; `seconds` is how long the service wants us to wait."""

    kind: Kind
    seconds: float | None = None


@dataclass(frozen=True)
class Service:
    """A translation service. A request takes `texts` texts of `size` bytes together, at most.

    `keys`: its environment variables by groups; one group has to be set. `servers`: those that may name
    another server than its own, which is below `domain`. `connect` opens the client and gives the function
    that translates one batch to a language.
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
    judge: Callable[[Exception], Judgement]


def open_service(service: Service, language: str) -> Translator:
    """The translator of a service; key and client are looked for when there is something to send."""
    return Translator(
        name=service.name,
        revision="",
        settings=f"server={server}" if (server := other_server(service)) else "",
        translate=lambda texts: judged(_translate(texts, service, language), service.title, language),
        unit="characters",
    )


def other_server(service: Service) -> str:
    """Where else than at the service itself it is asked: what a mock says is not the service's answer."""
    value = next((value for name in service.servers if (value := os.environ.get(name, "").strip())), "")
    url = urlsplit(value if "//" in value else f"https://{value}")
    if f".{url.hostname or service.domain}".endswith(f".{service.domain}"):
        return ""
    return f"{url.netloc.rpartition('@')[2]}{url.path.rstrip('/')}"


def client(module: str, title: str) -> Any:
    """A service's official client."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise TranslationError(
            f'The client of {title} is not installed: pip install "gest-dataset[translate]" ({error}).'
        ) from error


def asked_to_wait(headers: Mapping[str, str]) -> float | None:
    """The seconds of a Retry-After header, which is a number or a date."""
    try:
        return Retry().parse_retry_after(HTTPHeaderDict(headers).get("Retry-After", ""))
    except (InvalidHeader, ValueError, OverflowError):  # the last two: a date that there never was
        return None  # no header, or one without a meaning: our own waits then


def kind_of(code: str, codes: Mapping[Kind, str]) -> Kind | None:
    """The kind of error that a service's own code is listed under; None of another code."""
    return next((kind for kind, listed in codes.items() if code in listed.split()), None)


def by_status(status: int | None, headers: Mapping[str, str]) -> Judgement:
    """What an HTTP status means with any service."""
    if status is None or status == 429 or status >= 500:
        return Judgement("wait", asked_to_wait(headers))
    return Judgement("key" if status in (401, 403) else "other")


def _translate(texts: Sequence[str], service: Service, language: str) -> Generator[Batch, None, None]:
    _check_keys(service)
    send = _patiently(partial(service.connect, language), service, language)
    for batch in _batches(texts, service):
        if len(batch) == 1 and len(batch[0].encode()) > service.size:
            problem = f"longer than the {service.size:,} bytes that {service.title} takes"
            yield Batch([Translation(batch[0], "", problem)])
            continue
        start = perf_counter()
        try:
            answers = _patiently(partial(send, batch), service, language)
        except _TextRefusedError as error:
            yield Batch([Translation(text, "", str(error)) for text in batch])
            continue
        if len(answers) != len(batch):
            raise TranslationError(
                f"{service.title} gave {len(answers)} translations for {len(batch)} texts. They cannot be "
                f"told apart, so none of them is kept. Try again."
            )
        if not all(isinstance(answer, str) for answer in answers):
            odd = next(answer for answer in answers if not isinstance(answer, str))
            raise _failure("form", service, language, f"{odd!r} in the place of a translation")
        made = [answered(text, answer) for text, answer in zip(batch, answers, strict=True)]
        yield Batch(made, sum(map(len, batch)), perf_counter() - start)


def _check_keys(service: Service) -> None:
    if not any(all(os.environ.get(name) for name in group) for group in service.keys):
        raise TranslationError(
            f"{service.title} needs a key, and the environment has none: set {_keys(service)}. "
            f"What is in the store already needs no key."
        )


def _batches(texts: Sequence[str], service: Service) -> Iterator[list[str]]:
    """In order, as many texts as a request takes; one that is too long alone stands alone."""
    batch: list[str] = []
    size = 0
    for text in texts:
        own = len(text.encode())
        if batch and (len(batch) == service.texts or size + own > service.size):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += own
    if batch:
        yield batch


class _TextRefusedError(TranslationError):
    """A service does not take this text, but others."""


def _patiently(call: Callable[[], Any], service: Service, language: str) -> Any:
    """What a call gives; where the service wants time it gets it, up to a limit."""
    for tried in range(1, TRIES + 1):
        try:
            return call()
        except TranslationError:
            raise
        except Exception as error:
            # any error of a client: which classes they are depends on what the client is built on
            judged = Judgement("form") if isinstance(error, _MISREAD) else service.judge(error)
            reason = _without_secrets(f"{type(error).__name__}: {error}", service)
        # raised out here, so that the client's error, which may hold a request, does not hang on it
        if judged.kind != "wait" or tried == TRIES or (judged.seconds or 0) > _PATIENCE:
            raise _failure(judged.kind, service, language, reason)
        seconds = judged.seconds
        if seconds is None:
            seconds = min(LONGEST_WAIT, 2.0 ** (tried - 1)) * random.uniform(0.8, 1.2)
        logger.warning("%s: waiting %.0f s (%s)", service.title, seconds, reason.partition("\n")[0][:120])
        sleep(seconds)
    raise AssertionError("the last try has raised")


def _without_secrets(text: str, service: Service) -> str:
    for name in service.secrets:
        if value := os.environ.get(name, "").strip():
            text = text.replace(value, f"<{name}>")
    return text


# What a user sees of each kind of error
_ERRORS: dict[Kind, tuple[type[TranslationError], str]] = {
    "text": (_TextRefusedError, "{title} refused it: {reason}"),
    "quota": (
        TranslationStoppedError,
        "The quota of {title} is used up. What was translated is kept; when there is quota again, the same "
        "command goes on from here.\n{reason}",
    ),
    "wait": (
        TranslationStoppedError,
        "{title} does not answer, or wants fewer requests, for too long. What was translated is kept; the "
        "same command goes on from here later.\n{reason}",
    ),
    "key": (
        TranslationError,
        "{title} refuses the key: check {keys}, and that it may be used for translation.\n{reason}",
    ),
    "language": (
        TranslationError,
        "{title} does not translate from English to {language}. Choose another system.\n{reason}",
    ),
    "form": (
        TranslationError,
        "{title} gave an answer of another form than its client knows, so nothing of it is kept. If it is "
        "asked through another server ({servers}), look at what that one does; else update the client: "
        'pip install -U "gest-dataset[translate]".\n{reason}',
    ),
    "other": (TranslationError, "{title} refused the request.\n{reason}"),
}


def _failure(kind: Kind, service: Service, language: str, reason: str) -> TranslationError:
    error, message = _ERRORS[kind]
    return error(
        message.format(
            title=service.title,
            keys=_keys(service),
            servers=" or ".join(service.servers),
            language=f"{LANGUAGES[language].name} ({language})",
            reason=reason[:_SHOWN],
        )
    )


def _keys(service: Service) -> str:
    return " or ".join(" and ".join(group) for group in service.keys)
