"""Google Cloud Translation (the v2 API, its "Basic" edition), by the official client."""

from __future__ import annotations

import os
from collections.abc import Sequence

from gest_dataset.translation import cloud
from gest_dataset.translation.cloud import Judgement, Kind, Send, Service

_KEY, _ACCOUNT, _SERVER = "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_TRANSLATE_ENDPOINT"
# What Google gives as the reason of a 403 that is not about the key
_REASONS: dict[Kind, str] = {
    "quota": "dailyLimitExceeded quotaExceeded",
    "wait": "userRateLimitExceeded rateLimitExceeded",
}


def _connect(language: str) -> Send:
    api = cloud.client("google.cloud.translate_v2", "Google Cloud Translation")
    credentials = None  # the client then finds the service account's file by itself
    if os.environ.get(_KEY):
        keys = cloud.client("google.auth.api_key", "Google Cloud Translation")
        credentials = keys.Credentials(os.environ[_KEY].strip())
    server = os.environ.get(_SERVER)
    translator = api.Client(
        credentials=credentials, client_options={"api_endpoint": server} if server else None
    )

    def send(texts: Sequence[str]) -> list[str]:
        # as text: in HTML, which is the API's own choice, an apostrophe comes back as an entity
        answers = translator.translate(
            list(texts), source_language="en", target_language=language, format_="text", model="nmt"
        )
        return [answer["translatedText"] for answer in answers]

    return send


def _judge(error: Exception) -> Judgement:
    requests = cloud.client("requests", "Google Cloud Translation")
    account = cloud.client("google.auth.exceptions", "Google Cloud Translation")
    api = cloud.client("google.api_core.exceptions", "Google Cloud Translation")
    if isinstance(error, requests.ConnectionError | requests.Timeout | account.TransportError):
        return Judgement("wait")
    if isinstance(error, account.GoogleAuthError):
        return Judgement("wait" if getattr(error, "retryable", False) else "key")
    if not isinstance(error, api.GoogleAPICallError):
        return Judgement("other")
    headers = {} if error.response is None else error.response.headers
    for detail in error.errors:
        reason = detail.get("reason") if isinstance(detail, dict) else detail
        if kind := cloud.kind_of(str(reason), _REASONS):
            return Judgement(kind, cloud.asked_to_wait(headers))
    if error.code == 400 and "api key" in str(error).lower():
        return Judgement("key")
    if error.code == 400 and any(word in str(error).lower() for word in ("language pair", "invalid value")):
        return Judgement("language")
    return cloud.by_status(error.code, headers)


SERVICE = Service(
    name="google",
    title="Google Cloud Translation",
    keys=((_KEY,), (_ACCOUNT,)),
    secrets=(_KEY,),
    servers=(_SERVER,),
    domain="googleapis.com",
    texts=128,
    size=5_000,
    connect=_connect,
    judge=_judge,
)
