"""UDPipe: the real models, their cache, and the published ones from a server of the test's own."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from gest_dataset.errors import ConfigError, SourceError
from gest_dataset.gender import ParserError, cache, detect, udpipe

# issue 5 is not finished: by request only
pytestmark = pytest.mark.slow

MODELS = Path(__file__).resolve().parent.parent.parent / "shared" / "models" / "udpipe"
BYTES = bytes(range(256)) * 4000


class Server(HTTPServer):
    asked: list[str]
    status: int


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(BYTES)))
        self.end_headers()
        self.wfile.write(BYTES)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """LINDAT's repository, on the loopback."""
    found = Server(("127.0.0.1", 0), _Handler)
    found.asked, found.status = [], 200
    thread = threading.Thread(target=found.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setattr(udpipe, "_UD_2_5", f"http://127.0.0.1:{found.server_port}/models")
    yield found
    found.shutdown()
    found.server_close()
    thread.join()


def test_published_model_is_downloaded_once(server: Server, tmp_path: Path) -> None:
    path = udpipe.published("sk", tmp_path)
    assert path.name == "slovak-snk-ud-2.5-191206.udpipe"
    assert path.read_bytes() == BYTES
    kept = path.with_name(f"{path.name}.sha256").read_text(encoding="utf-8").strip()
    assert kept == hashlib.sha256(BYTES).hexdigest()
    assert udpipe.published("sk", tmp_path) == path
    assert server.asked == ["/models/slovak-snk-ud-2.5-191206.udpipe"]
    path.write_bytes(BYTES[1:])
    with pytest.raises(SourceError, match="has changed since it was downloaded"):
        udpipe.published("sk", tmp_path)


def test_published_model_that_is_not_there(server: Server, tmp_path: Path) -> None:
    server.status = 404
    with pytest.raises(SourceError, match="give its path as the model"):
        udpipe.published("sk", tmp_path)
    assert not list(tmp_path.glob("*.udpipe"))
    with pytest.raises(ConfigError, match="No UDPipe model is published for 'en'"):
        udpipe.published("en", tmp_path)


def test_no_model_and_wrong_model(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="There is no UDPipe model"):
        detect(["Som doma."], "sk", model=tmp_path / "sk.udpipe", cache=tmp_path / "parses")
    wrong = tmp_path / "wrong.udpipe"
    wrong.write_bytes(b"this is no model")
    with pytest.raises(ParserError, match=r"is no UDPipe model(?s:.*)0 of 1 texts are parsed"):
        detect(["Som doma."], "sk", model=wrong, cache=tmp_path / "parses")


@pytest.mark.upstream
@pytest.mark.skipif(not MODELS.is_dir(), reason=f"no UDPipe models in {MODELS}")
def test_several_workers_and_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parses do not depend on the number of processes, and a second run asks no parser."""
    texts = [f"Včera som {verb} {i} kníh." for i in range(150) for verb in ("prečítala", "prečítal", "mala")]
    where = tmp_path / "parses.sqlite3"
    found = detect(texts, "sk", model=MODELS / "sk.udpipe", cache=where)
    assert [d.gender for d in found] == ["female", "male", "female"] * 150
    one = detect(texts[:30], "sk", model=MODELS / "sk.udpipe", cache=tmp_path / "other.sqlite3")
    assert one == found[:30]
    parser = udpipe.open_parser("sk", MODELS / "sk.udpipe")
    assert len(cache.load(where, parser.signature, texts)) == len(texts)
    monkeypatch.setattr(udpipe, "_WORKER", tmp_path / "nowhere.py")
    assert detect(texts, "sk", model=MODELS / "sk.udpipe", cache=where) == found


@pytest.mark.upstream
@pytest.mark.skipif(not MODELS.is_dir(), reason=f"no UDPipe models in {MODELS}")
def test_serbian_in_both_scripts(tmp_path: Path) -> None:
    """The model reads Latin letters; evidence is given as it is written."""
    texts = ["Juče sam bila umorna.", "Јуче сам била уморна."]
    latin, cyrillic = detect(texts, "sr", model=MODELS / "sr.udpipe", cache=tmp_path / "parses")
    assert (latin.gender, latin.evidence) == ("female", ("bila", "umorna"))
    assert (cyrillic.gender, cyrillic.evidence) == ("female", ("била", "уморна"))
    assert cyrillic.rule == latin.rule


@pytest.mark.upstream
@pytest.mark.skipif(not MODELS.is_dir(), reason=f"no UDPipe models in {MODELS}")
def test_reported_speech_is_not_the_speakers(tmp_path: Path) -> None:
    texts = [
        "Otec povedal: „Bol som chorý.“",
        "„Bol som chorý.“",
        "Povedala som: „Bol som chorý.“",
        "Bol som „starý a unavený“ muž.",
    ]
    found = detect(texts, "sk", model=MODELS / "sk.udpipe", cache=tmp_path / "parses")
    assert [d.gender for d in found] == ["unknown", "male", "female", "male"]
