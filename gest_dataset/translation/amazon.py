"""Amazon Translate, by the official client."""

from __future__ import annotations

import os
from collections.abc import Sequence

from gest_dataset.translation import cloud
from gest_dataset.translation.cloud import Judgement, Kind, Send, Service
from gest_dataset.translation.translator import TranslationError

_KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
# By the codes of AWS's errors, without their ending; any other one is judged by its HTTP status
_CODES: dict[Kind, str] = {
    "wait": "Throttling TooManyRequests RequestLimitExceeded",
    "quota": "LimitExceeded ServiceQuotaExceeded",
    "language": "UnsupportedLanguagePair",
    "text": "TextSizeLimitExceeded",
    "key": "AccessDenied ExpiredToken InvalidSignature UnrecognizedClient",
}


def _connect(language: str) -> Send:
    boto3 = cloud.client("boto3", "Amazon Translate")
    config = cloud.client("botocore.config", "Amazon Translate").Config(retries={"total_max_attempts": 1})
    region = next((value for name in _REGIONS if (value := os.environ.get(name))), None)
    if region is None:
        raise TranslationError(
            f"Amazon Translate needs a region: set {' or '.join(_REGIONS)}, to eu-west-1 for example."
        )
    translator = boto3.client("translate", region_name=region, config=config)

    def send(texts: Sequence[str]) -> list[str]:
        answers = [
            translator.translate_text(Text=text, SourceLanguageCode="en", TargetLanguageCode=language)
            for text in texts
        ]
        for answer in answers:
            if answer["TargetLanguageCode"] != language:
                raise TranslationError(
                    f"Amazon Translate was asked for {language}, and says that it answers in "
                    f"{answer['TargetLanguageCode']!r}. Nothing of it is kept."
                )
        return [answer["TranslatedText"] for answer in answers]

    return send


def _judge(error: Exception) -> Judgement:
    botocore = cloud.client("botocore.exceptions", "Amazon Translate")
    if isinstance(error, botocore.HTTPClientError | botocore.ConnectionError):
        return Judgement("wait")
    if not isinstance(error, botocore.ClientError):
        return Judgement("other")
    facts = error.response.get("ResponseMetadata", {})
    headers = facts.get("HTTPHeaders", {})
    code = error.response.get("Error", {}).get("Code", "").removesuffix("Exception")
    if kind := cloud.kind_of(code, _CODES):
        return Judgement(kind, cloud.asked_to_wait(headers))
    return cloud.by_status(facts.get("HTTPStatusCode"), headers)


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
    judge=_judge,
)
