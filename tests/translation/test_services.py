"""The paid services: their official clients against loopback servers that speak their protocols."""

from __future__ import annotations

import contextlib
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
import yaml

from gest_dataset.errors import ConfigError, GestError, UnsupportedLanguageError
from gest_dataset.translation import open_translator, translate_all
from gest_dataset.translation import services as module
from gest_dataset.translation.systems import Translated
from gest_dataset.translation.translator import TranslationError
from tests.support import services
from tests.support.services import Answer, Request, Server, slovak

CASES = yaml.safe_load(Path(__file__).with_name("services.yaml").read_text(encoding="utf-8"))
TRANSLATE = {"deepl": services.deepl, "google": services.google, "amazon": services.amazon}
TEXTS = [f"I am number {number}, & I'm <b>tired</b>." for number in range(130)]
EACH = pytest.mark.parametrize("name", list(CASES))
Serve = Callable[[str], Server]


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[float]:
    """No keys in the environment, and the seconds between attempts without waiting."""
    keys = [key for case in CASES.values() for key in (*case["keys"], case["variable"])]
    for name in (*keys, "GOOGLE_APPLICATION_CREDENTIALS", "AWS_PROFILE", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    seconds: list[float] = []
    monkeypatch.setattr(module, "sleep", seconds.append)
    return seconds


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Starts the server of a service, and sets its keys."""
    with ExitStack() as stack:

        def start(name: str) -> Server:
            case = CASES[name]
            pytest.importorskip(case["module"])
            server = stack.enter_context(services.serving(TRANSLATE[name]))
            for key, value in {**case["keys"], case["variable"]: server.url}.items():
                monkeypatch.setenv(key, value)
            return server

        yield start


def translated(name: str, texts: list[str], store: Path, language: str = "sk") -> Translated:
    return translate_all(texts, open_translator(name, language), language, store=store)


@EACH
def test_the_source_language_is_sent(name: str, serve: Serve, tmp_path: Path) -> None:
    """Hungarian to English; English sentences with the same text are other translations."""
    server = serve(name)
    translator = open_translator(name, "en", source="hu")
    server.translate = lambda request: sent.append(request) or TRANSLATE[name](request)  # type: ignore[func-returns-value]
    sent: list[Request] = []
    with contextlib.suppress(TranslationError):  # Amazon's loopback server always answers in Slovak
        translate_all(TEXTS[:1], translator, "en", store=tmp_path)
    body = json.dumps(sent[-1].body)
    keys = {"deepl": ("source_lang", "target_lang"), "google": ("source", "target")}
    first, second = keys.get(name, ("SourceLanguageCode", "TargetLanguageCode"))
    assert f'"{first}": "{"HU" if name == "deepl" else "hu"}"' in body
    assert f'"{second}": "{"EN-US" if name == "deepl" else "en"}"' in body
    assert translator.settings != open_translator(name, "sk").settings
    with pytest.raises(ConfigError, match="no source language 'xx'"):
        open_translator(name, "en", source="xx")
    with pytest.raises(ConfigError, match="no target language 'en'"):
        open_translator(name, "en")


@EACH
def test_every_text_is_translated_once(name: str, serve: Serve, tmp_path: Path) -> None:
    server = serve(name)
    work = translated(name, [*TEXTS, "", TEXTS[0]], tmp_path)
    assert [made.translation for made in work.translations] == [*map(slovak, TEXTS), "", slovak(TEXTS[0])]
    assert [made.problem for made in work.translations] == [*[""] * 130, "empty text", ""]
    assert server.asked == TEXTS
    assert (work.cached, work.new, work.failed) == (0, 130, 1)
    again = translated(name, TEXTS, tmp_path)
    assert (again.cached, again.new) == (130, 0)
    translated(name, TEXTS[:1], tmp_path, "cs")
    assert len(server.asked) == 131


@EACH
def test_requests(name: str, serve: Serve, tmp_path: Path) -> None:
    server, case = serve(name), CASES[name]
    number, size = case["most"]
    work = translated(name, [*TEXTS, *(letter * (size // 4 + 1) for letter in "abcd"), "č" * size], tmp_path)
    first = server.requests[0]
    assert first.path.partition("?")[0] == case["path"]
    assert {key: first.body[key] for key in case["body"]} == case["body"]
    key, value = case["header"]
    assert {key.lower(): value for key, value in first.headers.items()}[key].startswith(value)
    assert all("s3cr3t" not in request.path for request in server.requests)
    assert len(first.texts) == number
    for request in server.requests:
        assert len(request.texts) <= number
        assert sum(len(text.encode()) for text in request.texts) <= size
    assert f"longer than the {size:,} bytes" in work.translations[-1].problem


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


def test_amazon_needs_a_region_and_the_language(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = {"TranslatedText": "x", "SourceLanguageCode": "en", "TargetLanguageCode": "sk"}
    serve("amazon").translate = lambda request: (200, {}, other)
    with pytest.raises(TranslationError, match="did not answer in cs"):
        translated("amazon", ["I sing."], tmp_path, "cs")
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    with pytest.raises(TranslationError, match="set AWS_REGION"):
        translated("amazon", TEXTS, tmp_path)


@EACH
def test_passing_failures_are_retried(
    name: str, serve: Serve, waits: list[float], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server = serve(name)
    status, headers, body = limit = CASES[name]["limit"]
    named = {**headers, "Retry-After": "33"}
    server.script = [limit, (503, {}, {"message": "Not now"}), (status, named, body)]
    assert translated(name, TEXTS[:2], tmp_path).new == 2
    # DeepL's client does not expose the header
    for wait, expected in zip(waits, (1, 2, 4 if name == "deepl" else 33), strict=True):
        assert 0.8 * expected <= wait <= 1.2 * expected
    assert caplog.text.count(": waiting ") == 3


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
    monkeypatch.setenv(CASES[name]["variable"], "http://127.0.0.1:9")
    with pytest.raises(TranslationError, match="does not answer"):
        translated(name, TEXTS, tmp_path)


@EACH
def test_a_used_up_quota_keeps_the_finished_texts(name: str, serve: Serve, tmp_path: Path) -> None:
    server = serve(name)
    server.script = [TRANSLATE[name], CASES[name]["quota"]]
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
    first = next(iter(CASES[name]["keys"]))
    with pytest.raises(TranslationError, match=rf"needs a key.*set {first}"):
        translated(name, TEXTS, tmp_path)
    server = serve(name)
    server.script = [CASES[name]["language"]]
    with pytest.raises(UnsupportedLanguageError, match=r"refused to translate to Belarusian \(be\)"):
        translated(name, TEXTS, tmp_path, "be")
    for form in (None, [], "text", {"data": {"translations": [{"translatedText": None}]}}):
        server.translate = lambda request, form=form: (200, {}, form)  # type: ignore[misc]
        with pytest.raises(TranslationError):
            translated(name, ["I sing."], tmp_path)
    monkeypatch.setitem(sys.modules, CASES[name]["module"], None)
    with pytest.raises(ConfigError, match=re.escape('pip install "gest-dataset[translate]"')):
        translated(name, TEXTS, tmp_path)


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
    monkeypatch.setenv(CASES[name]["variable"], url)
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
        server.translate = echo if path == "echo" else lambda request: CASES[name][path]
        with pytest.raises(GestError) as raised:
            translate_all(TEXTS, translator, "sk", store=tmp_path / "store")
        error = raised.value
        shown += [str(error), "".join(traceback.format_exception(error))]
        assert error.__cause__ is None
        assert error.__context__ is None
    files = [file for file in (tmp_path / "store").rglob("*") if file.is_file()]
    shown += [caplog.text, *capfd.readouterr(), *(f.read_bytes().decode(errors="replace") for f in files)]
    for key in CASES[name]["keys"].values():
        assert key not in "".join(shown)
