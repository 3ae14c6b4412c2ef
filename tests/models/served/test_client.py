"""The HTTP client: retries, addresses, keys, certificates, and several requests at a time."""

from __future__ import annotations

import datetime
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

import pytest

from gest_dataset.errors import GestError, ModelError, ScoringError, SettingError
from gest_dataset.models.served import client as http
from gest_dataset.models.served.client import Client, UnsupportedError, open_client
from tests.support.services import HANGS, Answer, Broken, Request, serving


def fine(request: Request) -> Answer:
    return 200, {}, {"fine": True}


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds between attempts, without waiting."""
    seconds: list[float] = []
    monkeypatch.setattr(http.time, "sleep", seconds.append)
    return seconds


# ---- retries ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("after", "low", "high"),
    [("7", 7, 7), ("86400", 600, 600), ("soon", 0.2, 0.3), ("", 0.2, 0.3), ("date", 200, 300)],
)
def test_retry_after_is_respected_up_to_ten_minutes(
    after: str, low: float, high: float, waits: list[float]
) -> None:
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=5)
    after = format_datetime(moment, usegmt=True) if after == "date" else after
    with serving(fine) as server:
        server.script.append((429, {"Retry-After": after} if after else {}, {}))
        assert open_client(server.url, 1).request("/v1/x", {}) == {"fine": True}
    (seconds,) = waits
    assert low <= seconds <= high


def test_delays_double_and_end(waits: list[float]) -> None:
    with serving(lambda request: (503, {}, {"error": "loading"})) as server:
        with pytest.raises(ScoringError, match=r"status 503: loading"):
            open_client(server.url, 1).request("/v1/x", {})
        assert len(server.requests) == 9
    expected = [0.25, 0.5, 1, 2, 4, 8, 16, 20]
    assert all(0.8 * e <= seconds <= 1.2 * e for e, seconds in zip(expected, waits, strict=True))


def test_an_unreachable_server_is_tried_four_times(
    waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ScoringError, match=r"127\.0\.0\.1:9 does not answer: .*[Cc]onnect"):
        open_client("http://127.0.0.1:9", 1).request("/v1/models")
    assert len(waits) == 3
    monkeypatch.setattr(http, "TIMEOUT", 0.1)
    with serving(lambda request: (200, {}, Broken(HANGS))) as server:
        with pytest.raises(ScoringError, match="timed out"):
            open_client(server.url, 1).request("/v1/x", {})
        assert len(server.requests) == 4


def test_a_request_ends_however_long_the_server_asks_to_wait(waits: list[float]) -> None:
    later = (429, {"Retry-After": "86400"}, {"error": "later"})
    raised = pytest.raises(ScoringError, match="status 429: later")
    with serving(lambda request: later) as server, raised:
        open_client(server.url, 1).request("/v1/x", {})
    assert waits == [600, 600]


@pytest.mark.parametrize("headers", [{"X-Long": "x" * 400_000}, {"Retry-After": "9" * 400_000}])
def test_headers_without_end_are_refused(headers: dict[str, str], waits: list[float]) -> None:
    raised = pytest.raises(ScoringError, match=r"does not answer: .*(larger than allowed|Too large)")
    with serving(lambda request: (200, headers, {})) as server, raised:
        open_client(server.url, 1).request("/v1/x", {})


# ---- responses -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "content", "kind", "message"),
    [
        (400, {"error": "no"}, UnsupportedError, "with status 400: no"),
        (404, {"detail": "Not Found"}, UnsupportedError, "with status 404: Not Found"),
        (401, "no", ModelError, r"rejected the API key \(status 401\): no"),
        (418, {"error": {"message": "a pot", "code": 1}}, ScoringError, "with status 418: a pot"),
        (418, {"detail": [1, 2]}, ScoringError, r"with status 418: \[1, 2\]"),
        (418, {"pot": 1}, ScoringError, "with status 418: {'pot': 1}"),
        (418, "x" * 301, ScoringError, "with status 418: x{300}\n"),
        (200, "\ud800", ScoringError, "with invalid JSON"),
    ],
)
def test_error_messages(status: int, content: Any, kind: type[GestError], message: str) -> None:
    with serving(lambda request: (status, {}, content)) as server:
        client = open_client(server.url, 1)
        with pytest.raises(kind, match=message):
            client.request("/page", {})
        if kind is UnsupportedError:
            assert client.try_request("/page") is None


# ---- addresses and keys ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("127.0.0.1:8000", "http://127.0.0.1:8000"),
        (" http://[::1]:8000/ ", "http://[::1]:8000"),
        ("host:8000/v1", "http://host:8000"),
        ("https://example.org/api/v1", "https://example.org/api"),
        ("https://example.org/v1/chat/completions", "https://example.org"),
        ("https://example.org/v1/models/", "https://example.org"),
        ("https://example.org/v1/of/us/", "https://example.org/v1/of/us"),
        ("https://host/models/X/v1//", "https://host/models/X"),
    ],
)
def test_addresses(url: str, address: str) -> None:
    assert open_client(url, 1).address == address


@pytest.mark.parametrize(
    "url",
    [
        *("", "http://", "ftp://x", "//x", "http://x:99999", "http://x:abc", "http://[::1"),
        *("http://a b", "http://a\x00", "http://bücher.example"),
        *("http://x/v1?api-version=1", "http://x/#a"),
    ],
)
def test_invalid_addresses(url: str) -> None:
    with pytest.raises(SettingError, match="is not a server address"):
        open_client(url, 1)


@pytest.mark.parametrize("key", ["sk-a\r\nX-Evil: 1", "sk-é", "sk a"])
def test_invalid_keys(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(http.KEY, key)
    with pytest.raises(SettingError, match="contains spaces") as caught:
        open_client("http://127.0.0.1:9", 1)
    assert key not in str(caught.value)


@pytest.mark.parametrize("status", [400, 401, 404, 500])
def test_a_key_is_sent_and_in_no_message(
    status: int, waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(http.KEY, " sk-secret\n")
    assert "sk-secret" not in repr(open_client("host", 1))
    raised = pytest.raises(GestError, match="Bearer <GEST_ENDPOINT_KEY>")
    with serving(lambda request: (status, {}, {"error": request.headers["Authorization"]})) as server, raised:
        open_client(server.url, 1).request("/v1/x", {})


def test_a_proxy_is_not_used_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    with serving(fine) as server:
        assert open_client(server.url, 1).request("/v1/models") == {"fine": True}


# ---- several requests at a time --------------------------------------------------------------------------


def test_every_item_has_a_result_and_connections_are_limited() -> None:
    lock, current, highest = Lock(), 0, 0
    gate = Event()

    def send(client: Client, item: int) -> int:
        nonlocal current, highest
        with lock:
            current += 1
            highest = max(highest, current)
            if current == 4:
                gate.set()
        gate.wait(5)
        with lock:
            current -= 1
        return item * 2

    results = [pair for group in Client("x", 4).map(send, iter(range(100))) for pair in group]
    assert sorted(results) == [(n, 2 * n) for n in range(100)]
    assert highest == 4


def test_requests_in_flight_complete_before_an_error_is_raised() -> None:
    failed = Event()

    def send(client: Client, item: int) -> int:
        if item == 1:
            failed.set()
            raise ValueError("no")
        failed.wait(5)
        return item

    results: list[tuple[int, int]] = []
    with pytest.raises(ValueError, match="no"):
        list(map(results.extend, Client("x", 2).map(send, iter(range(100)))))
    assert results == [(0, 0)]


# ---- certificates ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Key and certificate of 127.0.0.1 that nobody has signed but itself."""
    path = tmp_path_factory.mktemp("certificate") / "server.pem"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=tests"
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(path), "-out", f"{path}.public"]
    subprocess.run([*command.split(), *names], check=True, capture_output=True)
    with path.open("ab") as file:
        file.write(Path(f"{path}.public").read_bytes())
    return path


@pytest.fixture
def encrypted(certificate: Path) -> Iterator[str]:
    """The address of a server that speaks TLS with that certificate."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = b'{"fine": true}'
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"https://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_an_unknown_certificate_is_refused(encrypted: str, waits: list[float]) -> None:
    with pytest.raises(ScoringError, match=r"does not answer: .*certificate"):
        open_client(encrypted, 1).request("/v1/models")
    assert len(waits) == 3


def test_ssl_cert_file(encrypted: str, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert open_client(encrypted, 1).request("/v1/models") == {"fine": True}


# ---- Ctrl-C ----------------------------------------------------------------------------------------------

# a parent in the background would hand down that it does not listen
_ASKS = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from gest_dataset.models.served import client
print("asking", flush=True)
client.open_client(sys.argv[1], 1).request("/v1/models")
"""


def test_ctrl_c_interrupts_a_hanging_request(script_environment: Mapping[str, str]) -> None:
    asked: list[Request] = []

    def hangs(request: Request) -> Answer:
        asked.append(request)
        time.sleep(20)
        return fine(request)

    with serving(hangs) as server:
        command = [sys.executable, "-c", _ASKS, server.url]
        asking = subprocess.Popen(command, env=script_environment, stderr=subprocess.PIPE, text=True)
        while not asked and asking.poll() is None:
            time.sleep(0.01)
        asking.send_signal(signal.SIGINT)
        _, output = asking.communicate(timeout=15)
    assert "KeyboardInterrupt" in output


@pytest.mark.parametrize(
    ("url", "here"),
    [
        *((f"http://{name}:8000", True) for name in ("localhost", "LOCALHOST.", "a.localhost", "127.0.0.2")),
        *((f"http://{name}", True) for name in ("[::1]", "[::1]:80")),
        *((f"http://{name}", False) for name in ("10.0.0.1", "example.org", "localhost.org", "[::2]")),
        ("https://example.org", True),
    ],
)
def test_a_key_in_clear_text_is_a_warning(
    url: str, here: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Except to this machine, whose names also bypass proxies."""
    open_client(url, 1)
    assert not caplog.text, "there is no key"
    monkeypatch.setenv(http.KEY, "sk-secret")
    open_client(url, 1)
    assert ("is sent unencrypted" in caplog.text) != here
    assert "sk-secret" not in caplog.text
