"""Google Cloud Translation Basic (v2), through its official client."""

from __future__ import annotations

import os
from collections.abc import Sequence

from gest_dataset.retry import parse_retry_after
from gest_dataset.translation.cloud import Failure, Send, Service, classify_status, import_client

_TITLE = "Google Cloud Translation"
_KEY, _ACCOUNT, _SERVER = "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_TRANSLATE_ENDPOINT"
# Reasons of a 403 that are not about the key
_QUOTA = {"dailyLimitExceeded", "quotaExceeded"}
_RATE = {"userRateLimitExceeded", "rateLimitExceeded"}


def _connect(language: str) -> Send:
    api = import_client("google.cloud.translate_v2", _TITLE)
    credentials = None  # the client finds the file of a service account itself
    if os.environ.get(_KEY):
        keys = import_client("google.auth.api_key", _TITLE)
        credentials = keys.Credentials(os.environ[_KEY].strip())
    server = os.environ.get(_SERVER)
    translator = api.Client(
        credentials=credentials, client_options={"api_endpoint": server} if server else None
    )

    def send(texts: Sequence[str]) -> list[str]:
        # the default format, HTML, would escape apostrophes
        answers = translator.translate(
            list(texts), source_language="en", target_language=language, format_="text", model="nmt"
        )
        return [answer["translatedText"] for answer in answers]

    return send


def _classify(error: Exception) -> Failure:
    requests = import_client("requests", _TITLE)
    auth = import_client("google.auth.exceptions", _TITLE)
    api = import_client("google.api_core.exceptions", _TITLE)
    if isinstance(error, requests.ConnectionError | requests.Timeout | auth.TransportError):
        return Failure("retry")
    if isinstance(error, auth.GoogleAuthError):
        return Failure("retry" if getattr(error, "retryable", False) else "refused")
    if not isinstance(error, api.GoogleAPICallError):
        return Failure("refused")
    headers = {} if error.response is None else error.response.headers
    reasons = {str(detail.get("reason") if isinstance(detail, dict) else detail) for detail in error.errors}
    if reasons & _QUOTA:
        return Failure("quota")
    if reasons & _RATE:
        return Failure("retry", parse_retry_after(headers))
    return classify_status(error.code, headers)


SERVICE = Service(
    name="google",
    title=_TITLE,
    keys=((_KEY,), (_ACCOUNT,)),
    secrets=(_KEY,),
    servers=(_SERVER,),
    domain="googleapis.com",
    texts=128,
    size=5_000,
    connect=_connect,
    classify=_classify,
)
