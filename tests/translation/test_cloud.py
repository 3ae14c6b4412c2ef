"""The paid services: their official clients against loopback servers that speak their protocols."""

from __future__ import annotations

import json
import logging
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from gest_dataset.errors import GestError
from gest_dataset.retry import parse_retry_after
from gest_dataset.translation import cloud, open_translator, translate_all
from gest_dataset.translation.services import SERVICES
from gest_dataset.translation.systems import Translated
from gest_dataset.translation.translator import TranslationError
from tests.support import services
from tests.support.services import Answer, Request, Server, slovak

KEYS = {
    "deepl": {"DEEPL_AUTH_KEY": "de3p1-s3cr3t-k3y:fx"},
    "google": {"GOOGLE_API_KEY": "AIza-s3cr3t-g00g1e"},
    "amazon": {
        "AWS_ACCESS_KEY_ID": "AKIAS3CR3TAMAZON",
        "AWS_SECRET_ACCESS_KEY": "am4z0n/s3cr3t+k3y",
        "AWS_SESSION_TOKEN": "am4z0n-s3ss10n",
    },
}
SERVERS = {
    "deepl": ("DEEPL_SERVER_URL", services.deepl),
    "google": ("GOOGLE_TRANSLATE_ENDPOINT", services.google),
    "amazon": ("AWS_ENDPOINT_URL", services.amazon),
}
MODULES = {"deepl": "deepl", "google": "google.cloud.translate_v2", "amazon": "boto3"}


def google_error(code: int, message: str, **more: Any) -> Answer:
    return code, {}, {"error": {"code": code, "message": message, **more}}


def amazon_error(kind: str, message: str = "") -> Answer:
    return 400, {"x-amzn-ErrorType": kind}, {"__type": kind, "message": message}


LIMITS = {
    "deepl": (429, {}, {"message": "Too many requests"}),
    "google": google_error(429, "Quota exceeded for a minute", status="RESOURCE_EXHAUSTED"),
    "amazon": amazon_error("ThrottlingException"),
}
QUOTAS = {
    "deepl": (456, {}, {"message": "Quota exceeded"}),
    "google": google_error(403, "Daily Limit", errors=[{"reason": "dailyLimitExceeded"}]),
    "amazon": amazon_error("LimitExceededException"),
}
REFUSALS = {
    "deepl": (403, {}, {"message": "Wrong key de3p1-s3cr3t-k3y:fx"}),
    "google": google_error(400, "API key not valid: AIza-s3cr3t-g00g1e", errors=[]),
    "amazon": amazon_error(
        "UnrecognizedClientException", "am4z0n-s3ss10n of AKIAS3CR3TAMAZON, am4z0n/s3cr3t+k3y"
    ),
}
LANGUAGES = {
    "deepl": (400, {}, {"message": "Value for 'target_lang' not supported."}),
    "google": google_error(400, "Bad language pair: en|be", errors=[]),
    "amazon": amazon_error("UnsupportedLanguagePairException"),
}
TEXTS = [f"I am number {number}, & I'm <b>tired</b>." for number in range(130)]
EACH = pytest.mark.parametrize("name", list(KEYS))
Serve = Callable[[str], Server]


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[float]:
    """No keys in the environment, and the seconds between attempts without waiting."""
    for name in ("GOOGLE_APPLICATION_CREDENTIALS", "AWS_PROFILE", "AWS_REGION", "DEEPL_SERVER_URL"):
        monkeypatch.delenv(name, raising=False)
    for name in (name for keys in KEYS.values() for name in keys):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    seconds: list[float] = []
    monkeypatch.setattr(cloud, "sleep", seconds.append)
    return seconds


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Starts the server of a service, and sets its keys."""
    with ExitStack() as stack:

        def start(name: str) -> Server:
            pytest.importorskip(MODULES[name])
            variable, translate = SERVERS[name]
            server = stack.enter_context(services.serving(translate))
            monkeypatch.setenv(variable, server.url)
            for key, value in KEYS[name].items():
                monkeypatch.setenv(key, value)
            return server

        yield start


def translated(name: str, texts: list[str], store: Path, language: str = "sk") -> Translated:
    return translate_all(texts, open_translator(name, language), language, store=store)


@EACH
def test_every_text_is_translated_once(name: str, serve: Serve, tmp_path: Path) -> None:
    server = serve(name)
    work = translated(name, [*TEXTS, "", TEXTS[0]], tmp_path)
    assert [made.translation for made in work.translations] == [*map(slovak, TEXTS), "", slovak(TEXTS[0])]
    assert [made.problem for made in work.translations] == [*[""] * 130, "empty text", ""]
    assert server.asked == TEXTS
    assert (work.cached, work.new, work.failed) == (0, 130, 1)
    assert (work.units, work.unit) == (sum(map(len, TEXTS)), "characters")
    again = translated(name, TEXTS, tmp_path)
    assert (again.cached, again.new, again.units) == (130, 0, 0)
    translated(name, TEXTS[:1], tmp_path, "cs")
    assert len(server.asked) == 131


def test_requests_to_deepl(serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve("deepl")
    translated("deepl", TEXTS, tmp_path)
    assert [len(request.texts) for request in server.requests] == [50, 50, 30]
    first = server.requests[0]
    assert first.path == "/v2/translate"
    assert first.headers["Authorization"] == "DeepL-Auth-Key de3p1-s3cr3t-k3y:fx"
    assert (first.body["source_lang"], first.body["target_lang"]) == ("EN", "SK")
    monkeypatch.delenv("DEEPL_SERVER_URL")
    urls: list[str] = []
    official = sys.modules["deepl"]
    client = official.DeepLClient
    monkeypatch.setattr(
        official, "DeepLClient", lambda *a, **k: urls.append(client(*a, **k).server_url) or client(*a, **k)
    )
    for key in ("k:fx", "k"):
        monkeypatch.setenv("DEEPL_AUTH_KEY", key)
        SERVICES["deepl"].connect("sk")
    assert urls == ["https://api-free.deepl.com", "https://api.deepl.com"]


def test_requests_to_google(serve: Serve, tmp_path: Path) -> None:
    server = serve("google")
    texts = [*(f"No. {number}" for number in range(130)), *(letter * 1300 for letter in "abcd"), "z" * 5001]
    work = translated("google", texts, tmp_path)
    assert [len(request.texts) for request in server.requests] == [128, 5, 1]
    first = server.requests[0]
    assert first.path.partition("?")[0] == "/language/translate/v2"
    headers = {name.lower(): value for name, value in first.headers.items()}
    assert headers["x-goog-api-key"] == "AIza-s3cr3t-g00g1e"
    expected = {"source": "en", "target": "sk", "format": "text", "model": "nmt"}
    assert {name: first.body[name] for name in expected} == expected
    assert all("s3cr3t" not in request.path for request in server.requests)
    assert "longer than the 5,000 bytes" in work.translations[-1].problem


def test_google_with_a_service_account(serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    server = serve("google")
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    account = {
        "type": "service_account",
        "project_id": "project",
        "private_key_id": "1",
        "private_key": key.decode(),
        "client_email": "gest@project.example",
        "token_uri": f"{server.url}/token",
    }
    (tmp_path / "account.json").write_text(json.dumps(account))
    monkeypatch.delenv("GOOGLE_API_KEY")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "account.json"))
    assert translated("google", TEXTS[:3], tmp_path / "store").new == 3
    assert server.requests[-1].headers["authorization"] == "Bearer token-of-the-account"
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "lost.json"))
    with pytest.raises(TranslationError, match=r"refused to translate[\s\S]*lost"):
        translated("google", TEXTS, tmp_path / "store")


def test_requests_to_amazon(serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve("amazon")
    work = translated("amazon", [*TEXTS[:3], "č" * 5001], tmp_path)
    assert [request.body for request in server.requests] == [
        {"Text": text, "SourceLanguageCode": "en", "TargetLanguageCode": "sk"} for text in TEXTS[:3]
    ]
    authorization = server.requests[0].headers["Authorization"]
    assert re.match(r"AWS4-HMAC-SHA256 Credential=AKIAS3CR3TAMAZON/\d{8}/eu-west-1/translate", authorization)
    assert "longer than the 10,000 bytes" in work.translations[-1].problem
    other = {"TranslatedText": "x", "SourceLanguageCode": "en", "TargetLanguageCode": "sk"}
    server.translate = lambda request: (200, {}, other)
    with pytest.raises(TranslationError, match="did not answer in cs"):
        translated("amazon", ["I sing."], tmp_path, "cs")
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    with pytest.raises(TranslationError, match="set AWS_REGION"):
        translated("amazon", TEXTS, tmp_path)


# ---- failures --------------------------------------------------------------------------------------------


@EACH
def test_passing_failures_are_retried(
    name: str, serve: Serve, waits: list[float], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server = serve(name)
    status, headers, body = LIMITS[name]
    named = {**headers, "Retry-After": "33"}
    server.script = [LIMITS[name], (503, {}, {"message": "Not now"}), (status, named, body)]
    assert translated(name, TEXTS[:2], tmp_path).new == 2
    # DeepL's client does not expose the header
    for wait, expected in zip(waits, (1, 2, 4 if name == "deepl" else 33), strict=True):
        assert 0.8 * expected <= wait <= 1.2 * expected
    assert caplog.text.count(": waiting ") == 3


def test_parsing_retry_after() -> None:
    assert parse_retry_after({"retry-after": "12"}) == 12
    assert parse_retry_after({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0
    for odd in ("soon", "-3", "1.5", "Wed, 21 Oct 99999999 07:28:00 GMT"):
        assert parse_retry_after({"Retry-After": odd}) is None
    assert parse_retry_after({}) is None


@EACH
def test_retries_end(
    name: str, serve: Serve, waits: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(name)
    server.translate = lambda request: (500, {}, {"message": "never"})
    with pytest.raises(TranslationError, match="does not answer"):
        translated(name, TEXTS, tmp_path)
    assert (len(server.requests), len(waits)) == (10, 9)
    assert max(waits) <= 1.2 * 60
    monkeypatch.setenv(SERVERS[name][0], "http://127.0.0.1:9")
    with pytest.raises(TranslationError, match="does not answer"):
        translated(name, TEXTS, tmp_path)


@EACH
def test_a_used_up_quota_keeps_the_finished_texts(name: str, serve: Serve, tmp_path: Path) -> None:
    server = serve(name)
    server.script = [SERVERS[name][1], QUOTAS[name]]
    texts = [*TEXTS, *(f"more {text}" for text in TEXTS)]  # more than one request with each of them
    work = translated(name, texts, tmp_path)
    done = [made for made in work.translations if made.translation]
    assert [made.source for made in done] == texts[: len(done)]
    assert 0 < len(done) < len(texts)
    assert "has no quota left" in work.stopped
    assert {made.problem for made in work.translations[len(done) :]} == {work.stopped.partition("\n")[0]}
    before = len(server.asked)
    again = translated(name, texts, tmp_path)
    assert [made.translation for made in again.translations] == list(map(slovak, texts))
    assert server.asked[before:] == texts[len(done) :]


@EACH
def test_refusals(name: str, serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = next(iter(KEYS[name]))
    with pytest.raises(TranslationError, match=rf"needs a key.*set {first}"):
        translated(name, TEXTS, tmp_path)
    server = serve(name)
    server.script = [LANGUAGES[name]]
    with pytest.raises(TranslationError, match=r"refused to translate to Belarusian \(be\)"):
        translated(name, TEXTS, tmp_path, "be")
    monkeypatch.setitem(sys.modules, MODULES[name], None)
    with pytest.raises(TranslationError, match=re.escape('pip install "gest-dataset[translate]"')):
        translated(name, TEXTS, tmp_path)


FORMS = (None, [], "text", {"data": {"translations": [{"translatedText": None}]}}, {"translations": [None]})


@pytest.mark.parametrize("form", FORMS, ids=json.dumps)
@EACH
def test_unexpected_responses(name: str, form: Any, serve: Serve, tmp_path: Path) -> None:
    serve(name).translate = lambda request: (200, {}, form)
    with pytest.raises(TranslationError):
        translated(name, ["I sing."], tmp_path)


# ---- other servers, and keys -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "url", "settings"),
    [
        ("deepl", "", ""),
        ("deepl", "https://api-free.deepl.com", ""),
        ("deepl", "https://deepl.com.example.org", "server=deepl.com.example.org"),
        ("deepl", "https://notdeepl.com", "server=notdeepl.com"),
        ("deepl", "http://me:s3cret@proxy:8080/deepl/", "server=proxy:8080/deepl"),
        ("google", "localhost:9", "server=localhost:9"),
        ("amazon", "https://translate.eu-west-1.amazonaws.com", ""),
    ],
)
def test_another_server_is_another_translator(
    name: str, url: str, settings: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SERVERS[name][0], url)
    assert open_translator(name, "sk").settings == settings


def echo(request: Request) -> Answer:
    """A server that shows everything it was sent."""
    return 418, {}, {"message": f"{dict(request.headers)} {request.path}", "__type": "Odd"}


@pytest.mark.parametrize("path", ["success", "limit", "quota", "refusal", "echo"])
@EACH
def test_keys_are_never_shown(
    name: str, path: str, serve: Serve, tmp_path: Path, capfd: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Not in messages, tracebacks, logs or files."""
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.INFO, logger="botocore")  # AWS's client logs headers at DEBUG
    server = serve(name)
    translator = open_translator(name, "sk")
    shown = [repr(translator)]
    if path == "success":
        shown.append(repr(translate_all(TEXTS, translator, "sk", store=tmp_path / "store")))
    else:
        failures = {"limit": LIMITS, "quota": QUOTAS, "refusal": REFUSALS}
        server.translate = echo if path == "echo" else lambda request: failures[path][name]
        with pytest.raises(GestError) as raised:
            translate_all(TEXTS, translator, "sk", store=tmp_path / "store")
        error = raised.value
        shown += [str(error), "".join(traceback.format_exception(error))]
        assert error.__cause__ is None
        assert error.__context__ is None
    files = [file for file in (tmp_path / "store").rglob("*") if file.is_file()]
    shown += [caplog.text, *capfd.readouterr(), *(f.read_bytes().decode(errors="replace") for f in files)]
    for key in KEYS[name].values():
        assert key not in "".join(shown)
