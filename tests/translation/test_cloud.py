"""The paid services: their real clients, against servers on the loopback that speak their protocols."""

from __future__ import annotations

import json
import logging
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gest_dataset.errors import GestError
from gest_dataset.retry import parse_retry_after
from gest_dataset.translation import cloud, deepl, open_translator, translate_all
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
NAMES = list(KEYS)
# A rate limit, a used-up quota, a refused key and an unknown language, as each service says them
LIMITS: dict[str, Answer] = {
    "deepl": (429, {}, {"message": "Too many requests"}),
    "google": (
        429,
        {"Retry-After": "7"},
        {"error": {"code": 429, "message": "Quota exceeded for a minute", "status": "RESOURCE_EXHAUSTED"}},
    ),
    "amazon": (
        400,
        {"x-amzn-ErrorType": "ThrottlingException"},
        {"__type": "ThrottlingException", "message": "Rate exceeded"},
    ),
}
QUOTAS: dict[str, Answer] = {
    "deepl": (456, {}, {"message": "Quota exceeded"}),
    "google": (
        403,
        {},
        {
            "error": {
                "code": 403,
                "message": "Daily Limit Exceeded",
                "errors": [{"reason": "dailyLimitExceeded"}],
            }
        },
    ),
    "amazon": (400, {}, {"__type": "LimitExceededException", "message": "A limit was exceeded"}),
}
REFUSALS: dict[str, Answer] = {
    "deepl": (403, {}, {"message": "Wrong key de3p1-s3cr3t-k3y:fx"}),
    "google": (
        400,
        {},
        {"error": {"code": 400, "message": "API key not valid: AIza-s3cr3t-g00g1e", "errors": []}},
    ),
    "amazon": (
        400,
        {},
        {
            "__type": "UnrecognizedClientException",
            "message": "The token am4z0n-s3ss10n of AKIAS3CR3TAMAZON, am4z0n/s3cr3t+k3y is invalid",
        },
    ),
}
LANGUAGES: dict[str, Answer] = {
    "deepl": (400, {}, {"message": "Value for 'target_lang' not supported."}),
    "google": (400, {}, {"error": {"code": 400, "message": "Bad language pair: en|be", "errors": []}}),
    "amazon": (400, {}, {"__type": "UnsupportedLanguagePairException", "message": "en to be"}),
}
TEXTS = [f"I am number {number}, & I'm <b>tired</b>." for number in range(130)]


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[float]:
    """An environment with no key but ours, and no real waiting: what it would have been."""
    for name in ("GOOGLE_APPLICATION_CREDENTIALS", "AWS_PROFILE", "AWS_REGION", "DEEPL_SERVER_URL"):
        monkeypatch.delenv(name, raising=False)
    for keys in KEYS.values():
        for name in keys:
            monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    found: list[float] = []
    monkeypatch.setattr(cloud, "sleep", found.append)
    return found


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Server]]:
    """Starts the server of a service, and sets its keys."""
    modules = {"deepl": "deepl", "google": "google.cloud.translate_v2", "amazon": "boto3"}
    open_ones = []

    def start(name: str) -> Server:
        pytest.importorskip(modules[name])
        variable, translate = SERVERS[name]
        context = services.serving(translate)
        server = context.__enter__()
        open_ones.append(context)
        monkeypatch.setenv(variable, server.url)
        for key, value in KEYS[name].items():
            monkeypatch.setenv(key, value)
        return server

    yield start
    for context in open_ones:
        context.__exit__(None, None, None)


Serve = Callable[[str], Server]


def translated(name: str, texts: list[str], store: Path, language: str = "sk") -> Translated:
    return translate_all(texts, open_translator(name, language), language, store=store)


@pytest.mark.parametrize("name", NAMES)
def test_every_text_comes_back_and_is_asked_once(name: str, serve: Serve, tmp_path: Path) -> None:
    server = serve(name)
    work = translated(name, [*TEXTS, "", TEXTS[0]], tmp_path)
    assert [made.translation for made in work.translations] == [*map(slovak, TEXTS), "", slovak(TEXTS[0])]
    assert [made.problem for made in work.translations] == [*[""] * 130, "empty text", ""]
    assert server.asked == TEXTS
    assert (work.cached, work.new, work.failed) == (0, 130, 1)
    assert (work.units, work.unit) == (sum(map(len, TEXTS)), "characters")
    again = translated(name, TEXTS, tmp_path)
    assert [made.translation for made in again.translations] == list(map(slovak, TEXTS))
    assert (again.cached, again.new, again.units) == (130, 0, 0)
    assert len(server.asked) == 130
    # another language is another translation
    translated(name, TEXTS[:1], tmp_path, "cs")
    assert len(server.asked) == 131


def test_what_deepl_is_sent(serve: Serve, tmp_path: Path) -> None:
    server = serve("deepl")
    translated("deepl", TEXTS, tmp_path)
    assert [len(request.texts) for request in server.requests] == [50, 50, 30]
    first = server.requests[0]
    assert first.path == "/v2/translate"
    assert first.headers["Authorization"] == "DeepL-Auth-Key de3p1-s3cr3t-k3y:fx"
    assert (first.body["source_lang"], first.body["target_lang"]) == ("EN", "SK")


def test_deepls_server_is_the_one_of_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    official = pytest.importorskip("deepl")
    made: list[Any] = []
    whole = official.DeepLClient

    def client(*arguments: Any, **settings: Any) -> Any:
        made.append(whole(*arguments, **settings))
        return made[-1]

    monkeypatch.setattr(official, "DeepLClient", client)
    for key, server in (("k:fx", "https://api-free.deepl.com"), ("k", "https://api.deepl.com")):
        monkeypatch.setenv("DEEPL_AUTH_KEY", key)
        deepl.SERVICE.connect("sk")
        assert made[-1].server_url == server


def test_what_google_is_sent(serve: Serve, tmp_path: Path) -> None:
    server = serve("google")
    texts = [*(f"No. {number}" for number in range(130)), *(letter * 1300 for letter in "abcd"), "z" * 5001]
    work = translated("google", texts, tmp_path)
    assert [len(request.texts) for request in server.requests] == [128, 5, 1]
    first = server.requests[0]
    assert first.path.partition("?")[0] == "/language/translate/v2"
    assert {name.lower(): value for name, value in first.headers.items()}["x-goog-api-key"] == (
        "AIza-s3cr3t-g00g1e"
    )
    wanted = {"source": "en", "target": "sk", "format": "text", "model": "nmt"}
    assert {name: first.body[name] for name in wanted} == wanted
    assert all("s3cr3t" not in request.path for request in server.requests)
    assert work.translations[-1].problem == (
        "longer than the 5,000 bytes that Google Cloud Translation accepts"
    )


def test_google_with_a_service_account(serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve("google")
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
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
    work = translated("google", TEXTS[:3], tmp_path / "store")
    assert [made.translation for made in work.translations] == list(map(slovak, TEXTS[:3]))
    assert server.requests[-1].headers["authorization"] == "Bearer token-of-the-account"
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "lost.json"))
    with pytest.raises(TranslationError, match=r"refused to translate[\s\S]*lost"):
        translated("google", TEXTS, tmp_path / "store")


def test_what_amazon_is_sent(serve: Serve, tmp_path: Path) -> None:
    server = serve("amazon")
    work = translated("amazon", [*TEXTS[:3], "č" * 5001], tmp_path)
    assert [request.body for request in server.requests] == [
        {"Text": text, "SourceLanguageCode": "en", "TargetLanguageCode": "sk"} for text in TEXTS[:3]
    ]
    headers = server.requests[0].headers
    assert headers["X-Amz-Target"] == "AWSShineFrontendService_20170701.TranslateText"
    assert headers["Content-Type"] == "application/x-amz-json-1.1"
    assert re.match(
        r"AWS4-HMAC-SHA256 Credential=AKIAS3CR3TAMAZON/\d{8}/eu-west-1/translate/aws4_request, ",
        headers["Authorization"],
    )
    assert "longer than the 10,000 bytes" in work.translations[-1].problem


@pytest.mark.parametrize("name", NAMES)
def test_rate_limits_and_bad_moments_are_waited_out(
    name: str, serve: Serve, waits: list[float], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server = serve(name)
    server.script = [LIMITS[name], LIMITS[name], (503, {}, {"message": "Not now"})]
    work = translated(name, TEXTS[:2], tmp_path)
    assert [made.translation for made in work.translations] == list(map(slovak, TEXTS[:2]))
    assert len(waits) == 3
    # Google names the seconds, the others do not
    for wait, own in zip(waits, (7, 7, 4) if name == "google" else (1, 2, 4), strict=True):
        assert 0.8 * own <= wait <= 1.2 * own
    assert caplog.text.count(": waiting ") == 3


@pytest.mark.parametrize("name", ["google", "amazon"])
def test_retry_after(name: str, serve: Serve, waits: list[float], tmp_path: Path) -> None:
    server = serve(name)
    status, headers, body = LIMITS[name]
    server.script = [(status, {**headers, "Retry-After": "33"}, body)]
    assert translated(name, TEXTS[:1], tmp_path).new == 1
    assert waits == [33.0]
    server.script = [(status, {**headers, "Retry-After": "7200"}, body)]
    assert translated(name, TEXTS[:2], tmp_path).new == 1
    assert waits == [33.0, 600.0]


def test_parsing_retry_after() -> None:
    assert parse_retry_after({"retry-after": "12"}) == 12
    assert parse_retry_after({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0
    for odd in ("soon", "-3", "1.5", "Wed, 21 Oct 99999999 07:28:00 GMT"):
        assert parse_retry_after({"Retry-After": odd}) is None
    assert parse_retry_after({}) is None


@pytest.mark.parametrize("name", NAMES)
def test_another_server_has_answers_of_its_own(
    name: str, serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a mock has said is never taken for the service's, nor for another mock's."""
    first = serve(name)
    assert translated(name, TEXTS[:2], tmp_path).new == 2
    address = first.url.removeprefix("http://")
    assert open_translator(name, "sk").settings == f"server={address}"
    second = serve(name)
    assert translated(name, TEXTS[:2], tmp_path).new == 2
    assert second.asked == TEXTS[:2]
    monkeypatch.setenv(SERVERS[name][0], first.url)
    assert translated(name, TEXTS[:2], tmp_path).cached == 2


@pytest.mark.parametrize(
    ("name", "url", "settings"),
    [
        ("deepl", None, ""),
        ("deepl", "", ""),
        # the free and the paid address give the same: nothing is paid for twice
        ("deepl", "https://api-free.deepl.com", ""),
        ("deepl", "https://api.deepl.com/", ""),
        ("deepl", "https://deepl.com.example.org", "server=deepl.com.example.org"),
        ("deepl", "https://notdeepl.com", "server=notdeepl.com"),
        ("deepl", "http://me:s3cret@proxy:8080/deepl/", "server=proxy:8080/deepl"),
        ("google", "translation.googleapis.com", ""),
        ("google", "localhost:9", "server=localhost:9"),
        ("amazon", "https://translate.eu-west-1.amazonaws.com", ""),
        ("amazon", "http://127.0.0.1:4566", "server=127.0.0.1:4566"),
    ],
)
def test_the_address_of_a_server(
    name: str, url: str | None, settings: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if url is None:
        monkeypatch.delenv(SERVERS[name][0], raising=False)
    else:
        monkeypatch.setenv(SERVERS[name][0], url)
    assert open_translator(name, "sk").settings == settings


@pytest.mark.parametrize("name", NAMES)
def test_patience_ends(name: str, serve: Serve, waits: list[float], tmp_path: Path) -> None:
    server = serve(name)
    server.translate = lambda request: (500, {}, {"message": "never"})
    with pytest.raises(TranslationError, match="does not answer"):
        translated(name, TEXTS, tmp_path)
    assert len(server.requests) == 10
    assert len(waits) == 9
    assert max(waits) <= 1.2 * 60


@pytest.mark.parametrize("name", NAMES)
def test_no_server(name: str, serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(name)
    monkeypatch.setenv(SERVERS[name][0], "http://127.0.0.1:9")
    with pytest.raises(TranslationError, match="does not answer"):
        translated(name, TEXTS, tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_a_used_up_quota_keeps_what_is_done(name: str, serve: Serve, tmp_path: Path) -> None:
    server = serve(name)
    server.script = [SERVERS[name][1], QUOTAS[name]]
    texts = [*TEXTS, *(f"more {text}" for text in TEXTS)]  # more than one request with each of them
    work = translated(name, texts, tmp_path)
    done = [made for made in work.translations if made.translation]
    assert [made.source for made in done] == texts[: len(done)]
    assert 0 < len(done) < len(texts)
    assert len(server.requests) == 2
    assert "quota" in work.stopped
    rest = work.translations[len(done) :]
    assert {made.problem for made in rest} == {work.stopped.partition("\n")[0]}
    assert (work.new, work.failed) == (len(done), len(texts) - len(done))
    # with quota again: only the rest
    before = len(server.asked)
    again = translated(name, texts, tmp_path)
    assert [made.translation for made in again.translations] == list(map(slovak, texts))
    assert server.asked[before:] == texts[len(done) :]


@pytest.mark.parametrize("name", NAMES)
def test_a_quota_that_is_used_up_from_the_start(name: str, serve: Serve, tmp_path: Path) -> None:
    serve(name).script = [QUOTAS[name]]
    with pytest.raises(TranslationError, match="no quota left"):
        translated(name, TEXTS, tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_a_language_that_is_not_offered(name: str, serve: Serve, tmp_path: Path) -> None:
    serve(name).script = [LANGUAGES[name]]
    with pytest.raises(TranslationError, match=r"refused to translate to Belarusian \(be\)"):
        translated(name, TEXTS, tmp_path, "be")


@pytest.mark.parametrize("name", NAMES)
def test_without_a_key(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    first = next(iter(KEYS[name]))
    with pytest.raises(TranslationError, match=rf"needs a key.*set {first}"):
        translated(name, TEXTS, tmp_path)


def test_amazon_without_a_region(serve: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    serve("amazon")
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    with pytest.raises(TranslationError, match="set AWS_REGION"):
        translated("amazon", TEXTS, tmp_path)


@pytest.mark.parametrize(
    ("name", "module"), [("deepl", "deepl"), ("google", "google.cloud.translate_v2"), ("amazon", "boto3")]
)
def test_without_the_client(name: str, module: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for key, value in KEYS[name].items():
        monkeypatch.setenv(key, value)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(TranslationError, match=re.escape('pip install "gest-dataset[translate]"')):
        translated(name, TEXTS, tmp_path)


def short(_: Request) -> Answer:
    return 200, {}, {"translations": [], "data": {"translations": []}, "nothing": True}


def echo(request: Request) -> Answer:
    """A server, or a proxy before it, that shows all that it was sent."""
    return 418, {}, {"message": f"{dict(request.headers)} {request.path}", "__type": "Odd"}


PATHS: dict[str, Callable[[str], Answer | Callable[[Request], Answer] | None]] = {
    "success": lambda name: None,
    "limit": lambda name: LIMITS[name],
    "quota": lambda name: QUOTAS[name],
    "refusal": lambda name: REFUSALS[name],
    "language": lambda name: LANGUAGES[name],
    "garbage": lambda name: short,
    "echo": lambda name: echo,
}


@pytest.mark.parametrize("path", [*PATHS, "no server"])
@pytest.mark.parametrize("name", NAMES)
def test_keys_are_never_shown(
    name: str,
    path: str,
    serve: Serve,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Not in messages, not in tracebacks with all that hangs on them, not in logs, not in files."""
    caplog.set_level(logging.DEBUG)
    # AWS's own client logs the headers of its requests when it is asked to debug
    caplog.set_level(logging.INFO, logger="botocore")
    server = serve(name)
    if path == "no server":
        monkeypatch.setenv(SERVERS[name][0], "http://127.0.0.1:9")
    elif answer := PATHS[path](name):
        server.translate = answer if callable(answer) else lambda request: answer
    translator = open_translator(name, "sk")
    shown = [repr(translator), repr(cloud.open_service)]
    if path == "success":
        shown.append(repr(translate_all(TEXTS, translator, "sk", store=tmp_path / "store")))
    else:
        with pytest.raises(GestError) as raised:
            translate_all(TEXTS, translator, "sk", store=tmp_path / "store")
        error = raised.value
        shown += [str(error), repr(error), "".join(traceback.format_exception(error))]
        assert error.__cause__ is None
        assert error.__context__ is None
    shown += [caplog.text, *capfd.readouterr()]
    shown += [
        file.read_bytes().decode(errors="replace")
        for file in (tmp_path / "store").rglob("*")
        if file.is_file()
    ]
    assert len("".join(shown)) > 200
    for key in KEYS[name].values():
        assert key not in "".join(shown)
    if path == "refusal":
        assert "Check the key" in "".join(shown)


def test_ctrl_c_while_waiting_loses_nothing(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve("deepl")
    server.script = [services.deepl, LIMITS["deepl"]]

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(cloud, "sleep", interrupt)
        with pytest.raises(KeyboardInterrupt):
            translated("deepl", TEXTS, tmp_path)
    work = translated("deepl", TEXTS, tmp_path)
    assert (work.cached, work.new) == (50, 80)


def test_amazon_reports_the_language_of_its_answer(serve: Serve, tmp_path: Path) -> None:
    answer = {"TranslatedText": "x", "SourceLanguageCode": "en", "TargetLanguageCode": "sk"}
    serve("amazon").translate = lambda request: (200, {}, answer)
    with pytest.raises(TranslationError, match="asked for cs and answered in 'sk'"):
        translated("amazon", ["I sing."], tmp_path, "cs")


FORMS: list[Any] = [
    None,
    [],
    {},
    "text",
    7,
    {"data": None},
    {"data": {"translations": [None]}},
    {"data": {"translations": [{"translatedText": None}]}},
    {"translations": [None]},
    {"translations": [{"detected_source_language": "EN", "text": None}]},
    {"TranslatedText": None, "TargetLanguageCode": "sk"},
    {"error": {"code": "x", "errors": ["x"], "message": None}},
    {"message": {"a": 1}, "__type": 7},
]


@pytest.mark.parametrize("form", FORMS, ids=json.dumps)
@pytest.mark.parametrize("name", NAMES)
def test_unexpected_responses(name: str, form: Any, serve: Serve, tmp_path: Path) -> None:
    serve(name).translate = lambda request: (200, {}, form)
    with pytest.raises(TranslationError):
        translated(name, ["I sing."], tmp_path)
