"""Amazon Translate, through the official client."""

from __future__ import annotations

import os
from collections.abc import Sequence

from gest_dataset.retry import parse_retry_after
from gest_dataset.translation.cloud import Failure, Send, Service, classify_status, import_client
from gest_dataset.translation.translator import TranslationError

_KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
# Error codes without their ending "Exception"; others are classified by their HTTP status
_RATE = {"Throttling", "TooManyRequests", "RequestLimitExceeded"}
_QUOTA = {"LimitExceeded", "ServiceQuotaExceeded"}


def _connect(language: str) -> Send:
    boto3 = import_client("boto3", "Amazon Translate")
    config = import_client("botocore.config", "Amazon Translate").Config(retries={"total_max_attempts": 1})
    region = next((value for name in _REGIONS if (value := os.environ.get(name))), None)
    if region is None:
        raise TranslationError("Amazon Translate needs a region: set AWS_REGION, for example to eu-west-1.")
    translator = boto3.client("translate", region_name=region, config=config)

    def send(texts: Sequence[str]) -> list[str]:
        answers = [
            translator.translate_text(Text=text, SourceLanguageCode="en", TargetLanguageCode=language)
            for text in texts
        ]
        for answer in answers:
            if answer["TargetLanguageCode"] != language:
                raise TranslationError(
                    f"Amazon Translate was asked for {language} and answered in "
                    f"{answer['TargetLanguageCode']!r}; nothing of it was stored."
                )
        return [answer["TranslatedText"] for answer in answers]

    return send


def _classify(error: Exception) -> Failure:
    botocore = import_client("botocore.exceptions", "Amazon Translate")
    if isinstance(error, botocore.HTTPClientError | botocore.ConnectionError):
        return Failure("retry")
    if not isinstance(error, botocore.ClientError):
        return Failure("refused")
    metadata = error.response.get("ResponseMetadata", {})
    headers = metadata.get("HTTPHeaders", {})
    code = error.response.get("Error", {}).get("Code", "").removesuffix("Exception")
    if code in _QUOTA:
        return Failure("quota")
    if code in _RATE:
        return Failure("retry", parse_retry_after(headers))
    return classify_status(metadata.get("HTTPStatusCode"), headers)


SERVICE = Service(
    name="amazon",
    title="Amazon Translate",
    keys=(_KEYS,),
    secrets=(*_KEYS, "AWS_SESSION_TOKEN"),
    servers=("AWS_ENDPOINT_URL_TRANSLATE", "AWS_ENDPOINT_URL"),
    domain="amazonaws.com",
    texts=1,
    size=10_000,
    connect=_connect,
    classify=_classify,
)
