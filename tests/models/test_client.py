"""One server over HTTP: how long it is waited for, and whom it is trusted to be."""

from __future__ import annotations

import datetime
import ipaddress
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from gest_dataset.errors import GestError, ModelError, ScoringError, SettingError
from gest_dataset.models.served import client as http
from tests.support.services import HALF, HANGS, Answer, Broken, Request, serving


def fine(request: Request) -> Answer:
    return 200, {}, {"fine": True}


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds of each wait, in which nobody waits."""
    seconds: list[float] = []
    monkeypatch.setattr(http.time, "sleep", seconds.append)
    return seconds


@pytest.mark.parametrize(
    ("headers", "low", "high"),
    [
        ({"Retry-After": "7"}, 7, 7),
        ({"Retry-After": "86400"}, 600, 600),
        ({"Retry-After": "soon"}, 0.2, 0.3),
        ({}, 0.2, 0.3),
    ],
)
def test_a_server_that_names_a_time_gets_it_up_to_ten_minutes(
    headers: dict[str, str], low: float, high: float, waited: list[float]
) -> None:
    with serving(fine) as server:
        server.script.append((429, headers, {}))
        assert http.connect(server.url, 1).post("/v1/x", {}) == {"fine": True}
    (seconds,) = waited
    assert low <= seconds <= high


def test_a_server_names_a_time_as_a_date(waited: list[float]) -> None:
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=5)
    with serving(fine) as server:
        server.script.append((503, {"Retry-After": format_datetime(moment, usegmt=True)}, {}))
        assert http.connect(server.url, 1).post("/v1/x", {}) == {"fine": True}
    assert 200 < waited[0] <= 300


def test_the_waits_double_and_end(waited: list[float]) -> None:
    """0.25 s, twice that, … 20 s at most, give or take a fifth: a minute; then the error is told."""
    with serving(lambda request: (503, {}, {"error": "loading"})) as server:
        with pytest.raises(ScoringError, match=r"status 503: loading"):
            http.connect(server.url, 1).post("/v1/x", {})
        assert len(server.requests) == 9
    expected = [0.25, 0.5, 1, 2, 4, 8, 16, 20]
    assert all(0.8 * e <= seconds <= 1.2 * e for e, seconds in zip(expected, waited, strict=True))


def test_a_server_that_is_not_there_is_tried_a_few_times(waited: list[float]) -> None:
    with pytest.raises(ScoringError, match=r"127\.0\.0\.1:9 does not answer: .*[Cc]onnect"):
        http.connect("http://127.0.0.1:9", 1).get("/v1/models")
    assert len(waited) == 3


def test_a_server_that_hangs_is_not_asked_nine_times(
    waited: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "_PATIENCE", replace(http._PATIENCE, answer=0.1))
    with serving(lambda request: (200, {}, Broken(HANGS))) as server:
        with pytest.raises(ScoringError, match="timed out"):
            http.connect(server.url, 1).post("/v1/x", {})
        assert len(server.requests) == 4


def test_what_was_sent_again_is_noted(waited: list[float]) -> None:
    with serving(fine) as server:
        client = http.connect(server.url, 1)
        client.post("/v1/x", {})
        assert not client.notes()
        server.script += [(429, {}, {}), (200, {}, Broken(HALF)), (429, {}, {})]
        assert replace(client).post("/v1/x", {}) == {"fine": True}
    (note,) = client.notes()
    assert note.startswith("requests were sent again: 2 x status 429; 1 x "), note


def test_nothing_is_tried_again_once_it_is_stopped(waited: list[float]) -> None:
    with serving(lambda request: (503, {}, {"error": "loading"})) as server:
        client = http.connect(server.url, 1)
        client.stopped.set()
        with pytest.raises(ScoringError, match="loading"):
            client.post("/v1/x", {})
        assert len(server.requests) == 1
        assert not waited
        assert not replace(client).stopped.is_set()


def test_a_server_that_has_moved_says_where_it_is() -> None:
    with serving(fine) as server:
        server.script.append((307, {"Location": "https://elsewhere.example/api/v1/models"}, {}))
        with pytest.raises(ModelError, match=r"on to https://elsewhere\.example/api: give that address"):
            http.connect(server.url, 1).get("/v1/models")


# ---- addresses and keys ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("127.0.0.1:8000", "http://127.0.0.1:8000"),
        (" http://[::1]:8000/ ", "http://[::1]:8000"),
        ("https://example.org/api/v1", "https://example.org/api"),
        ("https://example.org/v1/chat/completions", "https://example.org"),
        ("https://example.org/v1/models/", "https://example.org"),
        ("https://example.org/v1/of/us/", "https://example.org/v1/of/us"),
        ("https://example.org/models", "https://example.org/models"),
    ],
)
def test_an_address_with_and_without_its_page(url: str, address: str) -> None:
    assert http.connect(url, 1).address == address


@pytest.mark.parametrize(
    "url",
    [
        *("", "http://", "ftp://x", "//x", "http://x:99999", "http://x:abc", "http://[::1"),
        *("http://a b", "http://x/a b", "http://a\x00", "http://bücher.example", "http://x/č"),
        *("http://x/v1?api-version=1", "http://x/#a"),
    ],
)
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(SettingError, match="is no address of a server"):
        http.connect(url, 1)


@pytest.mark.parametrize("key", ["sk-a\r\nX-Evil: 1", "sk-é", "sk a"])
def test_what_is_no_key(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(http.KEY, key)
    with pytest.raises(SettingError, match="holds what no key has") as told:
        http.connect("http://127.0.0.1:9", 1)
    assert key not in str(told.value)


@pytest.mark.parametrize("status", [400, 401, 404, 500])
def test_a_key_is_in_no_message(status: int, waited: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(http.KEY, " sk-secret\n")
    told = pytest.raises(GestError, match="Bearer <GEST_ENDPOINT_KEY>")
    with serving(lambda request: (status, {}, {"error": request.headers["Authorization"]})) as server, told:
        http.connect(server.url, 1).post("/v1/x", {})


def test_a_proxy_of_the_environment_is_not_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    with serving(fine) as server:
        assert http.connect(server.url, 1).get("/v1/models") == {"fine": True}


# ---- who it is ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Key and certificate of 127.0.0.1 that nobody has signed but itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "gest tests")])
    now = datetime.datetime.now(datetime.timezone.utc)
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    made = (
        made.not_valid_before(now)
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(names, critical=False)
    )
    path = tmp_path_factory.mktemp("certificate") / "server.pem"
    own_key = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(own_key + made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    return path


@pytest.fixture
def encrypted(certificate: Path) -> Iterator[str]:
    """The address of a server that speaks TLS with that certificate."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            told = b'{"fine": true}'
            self.send_response(200)
            self.send_header("Content-Length", str(len(told)))
            self.end_headers()
            self.wfile.write(told)

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


def test_a_certificate_that_nobody_vouches_for_is_refused(encrypted: str, waited: list[float]) -> None:
    with pytest.raises(ScoringError, match=r"does not answer: .*certificate"):
        http.connect(encrypted, 1).get("/v1/models")
    assert not waited, "it will not get better"


def test_ssl_cert_file_names_whom_to_trust(
    encrypted: str, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert http.connect(encrypted, 1).get("/v1/models") == {"fine": True}


# ---- Ctrl-C ------------------------------------------------------------------------------------------------

# a parent in the background would hand down that it does not listen
_ASKS = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from gest_dataset.models.served import client
print("asking", flush=True)
client.connect(sys.argv[1], 1).get("/v1/models")
"""


def test_ctrl_c_is_heard_while_a_server_hangs(script_environment: Mapping[str, str]) -> None:
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
        _, told = asking.communicate(timeout=15)
    assert "KeyboardInterrupt" in told
