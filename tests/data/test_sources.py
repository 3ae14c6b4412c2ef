"""Upstream files: mirrors, downloads from a local server, and their errors."""

from __future__ import annotations

import hashlib
import json
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from datasets import load_dataset

from gest_dataset.builders.builder import GestBuilder
from gest_dataset.data import sources
from gest_dataset.errors import SourceError, UnreachableError

KEY = "kinit-sk/gest/data/gest.csv"
BODY = b"sentence,stereotype\n" + b"I sing.,5\n" * 50_000


def blob(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


@dataclass
class Upstream:
    """The state of a server that stands for GitHub."""

    url: str
    body: bytes = BODY
    statuses: list[int] = field(default_factory=list)  # of the next requests
    cut_after: list[int] = field(default_factory=list)  # bytes after which the next connections break
    requests: list[str] = field(default_factory=list)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Upstream]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.requests.append(self.path)
            status = state.statuses.pop(0) if state.statuses else 200
            body = state.body if status == 200 else b""
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: state.cut_after.pop(0)] if state.cut_after else body)

        def log_message(self, *args: object) -> None:
            """Print nothing."""

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state = Upstream(url=f"http://127.0.0.1:{running.server_port}")
    threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
    monkeypatch.setattr(sources, "UPSTREAM_URL", state.url)
    monkeypatch.setattr("huggingface_hub.constants.HF_HOME", str(tmp_path / "hf"))
    monkeypatch.delenv("GEST_MIRROR", raising=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda seconds: None)
    entry = {"commit": "c0ffee", "licence": "MIT", "files": {"data/gest.csv": {"git_blob": blob(BODY)}}}
    table = tmp_path / "sources.json"
    table.write_text(json.dumps({"kinit-sk/gest": entry}))
    monkeypatch.setenv("GEST_SOURCES", str(table))
    yield state
    running.shutdown()
    running.server_close()


def test_data_dir_wins_over_the_environment(
    mirror: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sources.fetch(KEY).path == mirror / KEY
    monkeypatch.setenv("GEST_MIRROR", str(tmp_path / "nowhere"))
    assert sources.fetch(KEY, data_dir=mirror).path == mirror / KEY


def test_a_changed_file_is_an_error(mirror: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = bytearray((mirror / KEY).read_bytes())
    data[100] ^= 1
    (tmp_path / KEY).parent.mkdir(parents=True)
    (tmp_path / KEY).write_bytes(data)
    with pytest.raises(SourceError) as caught:
        sources.fetch(KEY, data_dir=tmp_path)
    message = str(caught.value)
    assert str(tmp_path / KEY) in message
    assert sources.table()[KEY].blob in message
    assert blob(bytes(data)) in message


def test_a_missing_file_is_an_error_with_its_address(mirror: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"lacks kinit-sk/gest/data/gest\.csv") as caught:
        sources.fetch(KEY, data_dir=tmp_path)
    assert sources.table()[KEY].url in str(caught.value)


def test_unknown_file_and_broken_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SourceError, match="is not listed"):
        sources.fetch("somebody/else/file.csv")
    (tmp_path / "table.json").write_text("{")
    monkeypatch.setenv("GEST_SOURCES", str(tmp_path / "table.json"))
    with pytest.raises(SourceError, match="cannot be read"):
        sources.table()


def test_a_download_is_cached_and_verified_on_every_read(server: Upstream) -> None:
    path = sources.fetch(KEY).path
    assert path.read_bytes() == BODY
    assert sources.fetch(KEY).path == path
    assert server.requests == ["/kinit-sk/gest/c0ffee/data/gest.csv"]
    path.write_bytes(b"damaged")
    assert sources.fetch(KEY).read_bytes() == BODY
    assert len(server.requests) == 2
    assert sources.fetch(KEY, data_dir=sources.cache_directory()).path == path, "the cache is a mirror"


def test_connection_and_server_errors_are_retried(server: Upstream) -> None:
    server.statuses = [503]
    server.cut_after = [0, 200_000]
    assert sources.fetch(KEY).read_bytes() == BODY
    assert len(server.requests) == 3


@pytest.mark.parametrize(("status", "tries", "kind"), [(404, 1, SourceError), (503, 4, UnreachableError)])
def test_persistent_errors(server: Upstream, status: int, tries: int, kind: type[SourceError]) -> None:
    server.statuses = [status] * 10
    with pytest.raises(SourceError, match=str(status)) as caught:
        sources.fetch(KEY)
    assert type(caught.value) is kind
    assert len(server.requests) == tries


def cached_files() -> list[Path]:
    return [path for path in sources.cache_directory().rglob("*") if path.is_file()]


def test_different_content_is_not_stored(server: Upstream) -> None:
    server.body = BODY.replace(b"sing", b"ring")
    with pytest.raises(SourceError, match="different content than the pinned file"):
        sources.fetch(KEY)
    assert cached_files() == []


def test_the_verified_bytes_are_parsed(mirror: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file changes right after its verification."""
    shutil.copytree(mirror, tmp_path / "mirror")
    expected = load_dataset("gest", "en_1_0", split="test", cache_dir=str(tmp_path / "own")).to_list()
    monkeypatch.setenv("GEST_MIRROR", str(tmp_path / "mirror"))
    compared = sources.git_blob_id
    target = tmp_path / "mirror" / KEY

    def compare_and_swap(content: Any) -> str:
        found = compared(content)
        target.write_bytes((mirror / KEY).read_bytes().replace(b" I ", b" we "))
        return found

    splitting = GestBuilder._split_generators

    def split(*arguments: Any) -> Any:
        monkeypatch.setattr(sources, "git_blob_id", compare_and_swap)
        return splitting(*arguments)

    monkeypatch.setattr(GestBuilder, "_split_generators", split)
    rows = load_dataset("gest", "en_1_0", split="test", cache_dir=str(tmp_path / "cache")).to_list()
    assert b" we " in target.read_bytes()
    assert rows == expected


def test_without_network_and_mirror(server: Upstream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "UPSTREAM_URL", "http://127.0.0.1:9")
    with pytest.raises(UnreachableError, match="cannot be reached") as caught:
        sources.fetch(KEY)
    assert "set GEST_MIRROR" in str(caught.value)


def test_offline_mode(server: Upstream, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        with pytest.raises(UnreachableError, match="offline mode is on"):
            sources.fetch(KEY)
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    with pytest.raises(UnreachableError, match="offline mode is on"):
        sources.fetch(KEY)
    assert server.requests == []
