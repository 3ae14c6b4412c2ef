"""DeepL, through its official client."""

from __future__ import annotations

import os
from collections.abc import Sequence

from gest_dataset.translation.cloud import Failure, Send, Service, classify_status, import_client

_KEY, _SERVER = "DEEPL_AUTH_KEY", "DEEPL_SERVER_URL"


def _connect(language: str) -> Send:
    deepl = import_client("deepl", "DeepL")
    deepl.http_client.max_network_retries = 0
    # without a URL the client uses the one that the key is for, free or paid
    translator = deepl.DeepLClient(
        os.environ[_KEY].strip(), server_url=os.environ.get(_SERVER) or None, send_platform_info=False
    )

    def send(texts: Sequence[str]) -> list[str]:
        answers = translator.translate_text(list(texts), source_lang="EN", target_lang=language.upper())
        return [answer.text for answer in answers]

    return send


def _classify(error: Exception) -> Failure:
    deepl = import_client("deepl", "DeepL")
    if isinstance(error, deepl.QuotaExceededException):
        return Failure("quota")
    if isinstance(error, deepl.ConnectionException):
        return Failure("retry" if error.should_retry else "refused")
    if not isinstance(error, deepl.DeepLException) or error.http_status_code is None:
        return Failure("refused")
    return classify_status(error.http_status_code, {})  # the client does not expose the headers


SERVICE = Service(
    name="deepl",
    title="DeepL",
    keys=((_KEY,),),
    secrets=(_KEY,),
    servers=(_SERVER,),
    domain="deepl.com",
    texts=50,
    size=100_000,  # of 128 KiB for the whole request
    connect=_connect,
    classify=_classify,
)
