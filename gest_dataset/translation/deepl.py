"""DeepL, by its official client."""

from __future__ import annotations

import os
from collections.abc import Sequence

from gest_dataset.translation import cloud
from gest_dataset.translation.cloud import Judgement, Send, Service

_KEY, _SERVER = "DEEPL_AUTH_KEY", "DEEPL_SERVER_URL"


def _connect(language: str) -> Send:
    deepl = cloud.client("deepl", "DeepL")
    deepl.http_client.max_network_retries = 0  # we wait ourselves, and say so
    # without a URL the client takes the one that the key is for, free or paid
    translator = deepl.DeepLClient(
        os.environ[_KEY].strip(), server_url=os.environ.get(_SERVER) or None, send_platform_info=False
    )

    def send(texts: Sequence[str]) -> list[str]:
        answers = translator.translate_text(list(texts), source_lang="EN", target_lang=language.upper())
        return [answer.text for answer in answers]

    return send


def _judge(error: Exception) -> Judgement:
    deepl = cloud.client("deepl", "DeepL")
    if isinstance(error, deepl.QuotaExceededException):
        return Judgement("quota")
    if isinstance(error, deepl.ConnectionException):
        return Judgement("wait" if error.should_retry else "other")
    if not isinstance(error, deepl.DeepLException):
        return Judgement("other")
    if error.http_status_code == 400 and "target_lang" in str(error):
        return Judgement("language")
    if error.http_status_code is None:
        return Judgement("other")
    return cloud.by_status(error.http_status_code, {})  # the client does not show the headers


SERVICE = Service(
    name="deepl",
    title="DeepL",
    keys=((_KEY,),),
    secrets=(_KEY,),
    servers=(_SERVER,),
    domain="deepl.com",
    texts=50,
    size=100_000,  # of the 128 KiB of a whole request
    connect=_connect,
    judge=_judge,
)
