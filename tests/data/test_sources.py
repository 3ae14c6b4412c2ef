"""Upstream files: mirrors, downloads over a real HTTP line, and every way they go wrong."""

from __future__ import annotations

import hashlib
import itertools
import json
import shutil
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from datasets import load_dataset
from typer.testing import CliRunner

from gest_dataset import cli
from gest_dataset.builders.builder import GestBuilder
from gest_dataset.data import sources
from gest_dataset.errors import SourceError, UnreachableError

KEY = "kinit-sk/gest/data/gest.csv"
BODY = b"sentence,stereotype\n" + b"I sing.,5\n" * 50_000


def blob(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


@dataclass
class Upstream:
    """A server in GitHub's place: its answers, what is wrong with the next ones, what was asked."""

    url: str
    body: bytes = BODY
    statuses: list[int] = field(default_factory=list)
    cut_after: list[int] = field(default_factory=list)
    ranges: bool = True
    endless: bool = False
    dripping: bool = False  # a header now and then, and no end of them
    requests: list[tuple[str, str | None]] = field(default_factory=list)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Upstream]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = self.headers.get("Range") if state.ranges else None
            state.requests.append((self.path, asked))
            if state.statuses:
                self.send_response(state.statuses.pop(0))
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            if state.dripping:
                self.wfile.write(b"HTTP/1.1 200 OK\r\n")
                for _ in range(400):
                    try:
                        self.wfile.write(b"X-Wait: a little\r\n")
                    except OSError:  # the client has had enough
                        return
                    time.sleep(0.02)
                state.dripping = False
                return
            start = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
            if start >= len(state.body):
                self.send_response(416)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            rest = state.body[start:]
            self.send_response(206 if asked else 200)
            if not state.endless:
                self.send_header("Content-Length", str(len(rest)))
            if asked:
                last = len(state.body) - 1
                self.send_header("Content-Range", f"bytes {start}-{last}/{len(state.body)}")
            self.end_headers()
            while state.endless:
                try:
                    self.wfile.write(b"more" * 4096)
                except OSError:  # the client has had enough
                    return
            self.wfile.write(rest[: state.cut_after.pop(0)] if state.cut_after else rest)

        def log_message(self, *args: object) -> None:
            """Keep the test's output clean."""

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state = Upstream(url=f"http://127.0.0.1:{running.server_port}")
    thread = threading.Thread(target=running.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setattr(sources, "UPSTREAM_URL", state.url)
    monkeypatch.setattr("huggingface_hub.constants.HF_HOME", str(tmp_path / "hf"))
    monkeypatch.delenv("GEST_MIRROR", raising=False)
    monkeypatch.setattr(sources, "_spent", sources._Spent())
    pin(tmp_path, BODY, monkeypatch)
    yield state
    running.shutdown()
    running.server_close()


def pin(directory: Path, body: bytes, monkeypatch: pytest.MonkeyPatch, *more: str) -> None:
    """A table of sources with one file of these bytes, or several under other names."""
    files = {path: {"git_blob": blob(body)} for path in ("data/gest.csv", *more)}
    entry = {"commit": "c0ffee", "licence": "MIT", "files": files}
    table = directory / f"{blob(body)}-{len(files)}.json"
    table.write_text(json.dumps({"kinit-sk/gest": entry}))
    monkeypatch.setenv("GEST_SOURCES", str(table))


def test_blob_id_is_gits() -> None:
    assert sources.git_blob_id(BODY) == blob(BODY)


def test_mirror_file_is_read_in_place(mirror: Path) -> None:
    assert sources.fetch(KEY).path == mirror / KEY


def test_data_dir_wins_over_the_environment(
    mirror: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEST_MIRROR", str(tmp_path / "nowhere"))
    assert sources.fetch(KEY, data_dir=mirror).path == mirror / KEY


def test_one_flipped_byte_is_found(mirror: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_missing_mirror_file_says_where_to_get_it(mirror: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"lacks kinit-sk/gest/data/gest\.csv") as caught:
        sources.fetch(KEY, data_dir=tmp_path)
    assert sources.table()[KEY].url in str(caught.value)


def test_mirror_that_is_no_directory(mirror: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="is not a directory"):
        sources.fetch(KEY, data_dir=tmp_path / "nowhere")


def test_unknown_file_and_broken_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SourceError, match="not in the table"):
        sources.fetch("somebody/else/file.csv")
    (tmp_path / "table.json").write_text("{")
    monkeypatch.setenv("GEST_SOURCES", str(tmp_path / "table.json"))
    with pytest.raises(SourceError, match="cannot be read"):
        sources.table()


@pytest.mark.parametrize(
    "change", [("commit", None), ("licence", 1), ("git_blob", None), ("git_blob", ["a"])]
)
def test_table_holds_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: tuple[str, object]
) -> None:
    name, value = change
    file = {"git_blob": "b10b"} | ({name: value} if name == "git_blob" else {})
    entry = {"commit": "c0ffee", "licence": "MIT", "files": {"a.csv": file}}
    (tmp_path / "table.json").write_text(json.dumps({"somebody/else": entry | {name: value}}))
    monkeypatch.setenv("GEST_SOURCES", str(tmp_path / "table.json"))
    with pytest.raises(SourceError, match=f"{name} is .*, expected a text"):
        sources.table()


def test_download_is_kept_and_verified_again(server: Upstream) -> None:
    path = sources.fetch(KEY).path
    assert path.read_bytes() == BODY
    assert sources.fetch(KEY).path == path
    assert len(server.requests) == 1
    assert server.requests[0][0] == "/kinit-sk/gest/c0ffee/data/gest.csv"
    path.write_bytes(b"damaged")
    assert sources.fetch(KEY).read_bytes() == BODY
    assert len(server.requests) == 2


def test_cache_is_a_mirror(server: Upstream) -> None:
    path = sources.fetch(KEY).path
    assert sources.fetch(KEY, data_dir=sources.cache_directory()).path == path


def test_lost_line_is_resumed(server: Upstream) -> None:
    server.cut_after = [200_000]
    assert sources.fetch(KEY).read_bytes() == BODY
    assert server.requests[1][1] is not None


def test_server_without_ranges_sends_it_again(server: Upstream, monkeypatch: pytest.MonkeyPatch) -> None:
    server.ranges = False
    server.cut_after = [200_000]
    assert sources.fetch(KEY).read_bytes() == BODY


def test_stopped_download_goes_on(server: Upstream) -> None:
    target = sources.cache_directory() / KEY
    target.parent.mkdir(parents=True)
    partial = target.with_name(f"{target.name}.{blob(BODY)[:12]}.incomplete")
    partial.write_bytes(BODY[:123_456])
    assert sources.fetch(KEY).read_bytes() == BODY
    assert server.requests == [("/kinit-sk/gest/c0ffee/data/gest.csv", "bytes=123456-")]
    assert not partial.exists()


def test_partial_file_that_is_too_long_starts_again(server: Upstream) -> None:
    target = sources.cache_directory() / KEY
    target.parent.mkdir(parents=True)
    target.with_name(f"{target.name}.{blob(BODY)[:12]}.incomplete").write_bytes(BODY + b"more")
    assert sources.fetch(KEY).read_bytes() == BODY


def test_server_fault_is_retried(server: Upstream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources.time, "sleep", lambda seconds: None)
    server.statuses = [503, 500]
    assert sources.fetch(KEY).read_bytes() == BODY


def test_lasting_fault_and_missing_file_say_what_to_do(
    server: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources.time, "sleep", lambda seconds: None)
    for status, tries, whole_network in ((404, 1, False), (503, 4, True)):
        server.requests.clear()
        server.statuses = [status] * 10
        with pytest.raises(SourceError, match=f"HTTP status {status}") as caught:
            sources.fetch(KEY)
        assert isinstance(caught.value, UnreachableError) == whole_network
        assert len(server.requests) == tries


def test_other_bytes_are_not_kept(server: Upstream) -> None:
    server.body = BODY.replace(b"sing", b"ring")
    with pytest.raises(SourceError, match="other bytes than the pinned ones"):
        sources.fetch(KEY)
    kept = [p for p in sources.cache_directory().rglob("*") if p.is_file() and p.suffix != ".lock"]
    assert kept == []


def test_a_file_that_does_not_end_is_given_up(server: Upstream) -> None:
    server.endless = True
    with pytest.raises(SourceError, match="gives more than 134,217,728 bytes"):
        sources.fetch(KEY)
    kept = [p for p in sources.cache_directory().rglob("*") if p.is_file() and p.suffix != ".lock"]
    assert kept == []


def test_a_download_has_an_end_in_time(server: Upstream, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server answers for ever, and the clock goes on by a minute whenever it is looked at."""
    server.endless = True
    minutes = itertools.count(step=60)
    monkeypatch.setattr(sources, "time", SimpleNamespace(monotonic=lambda: next(minutes), sleep=time.sleep))
    with pytest.raises(UnreachableError, match="longer than 600 seconds"):
        sources.fetch(KEY)


def test_headers_that_do_not_end_are_given_up(server: Upstream, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each byte comes long before the limit of a read."""
    server.dripping = True
    monkeypatch.setattr(sources, "_LONGEST", 1.0)
    with pytest.raises(UnreachableError, match="longer than 1 seconds"):
        sources.fetch(KEY)
    assert server.dripping, "the server was still at it"


def test_the_downloads_of_a_process_have_an_end_in_bytes(
    server: Upstream, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Two files of which one is allowed; the next process goes on where this one has stopped."""
    pin(tmp_path, BODY, monkeypatch, "data/more.csv")
    monkeypatch.setattr(sources, "_LARGEST_IN_ALL", len(BODY) + 200_000)
    assert sources.fetch(KEY).read_bytes() == BODY
    with pytest.raises(UnreachableError, match=r"more than 700,020 bytes in all") as caught:
        sources.fetch("kinit-sk/gest/data/more.csv")
    assert "run it again" in str(caught.value)
    assert sources.fetch(KEY).read_bytes() == BODY, "what is there is read all the same"
    monkeypatch.setattr(sources, "_spent", sources._Spent())
    assert sources.fetch("kinit-sk/gest/data/more.csv").read_bytes() == BODY
    assert server.requests[-1][1] is not None, "the next process asks for the rest only"


def test_the_downloads_of_a_process_have_an_end_in_time(
    server: Upstream, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each file comes within its own ten minutes; the clock goes on by four whenever it is looked at."""
    names = [f"data/{number}.csv" for number in range(20)]
    server.body = b"sentence,stereotype\nI sing.,5\n"
    pin(tmp_path, server.body, monkeypatch, *names)
    minutes = itertools.count(step=240)
    monkeypatch.setattr(sources, "time", SimpleNamespace(monotonic=lambda: next(minutes), sleep=time.sleep))
    with pytest.raises(UnreachableError, match="took longer than 3,600 seconds in all"):
        deque(map(sources.fetch, (f"kinit-sk/gest/{name}" for name in names)), maxlen=0)
    assert 1 < len(list(sources.cache_directory().rglob("*.csv"))) < len(names)


def test_a_build_ends_when_its_downloads_are_too_long(
    server: Upstream, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mirror: Path
) -> None:
    """A server whose files never end: `gest build` has an end, not one for each of forty configs."""
    monkeypatch.delenv("GEST_MIRROR", raising=False)
    monkeypatch.delenv("GEST_SOURCES")
    server.endless = True
    monkeypatch.setattr(sources, "_LARGEST_IN_ALL", 5_000_000)
    done = CliRunner().invoke(cli.app, ["build", "--output", str(tmp_path / "out")])
    assert done.exit_code == 1
    assert "more than 5,000,000 bytes in all" in done.output
    assert len(server.requests) == 1
    assert list((tmp_path / "out").rglob("*.parquet")) == []


def test_a_mirror_s_file_is_read_no_further_than_a_source_may_be_long(mirror: Path, tmp_path: Path) -> None:
    (tmp_path / KEY).parent.mkdir(parents=True)
    with (tmp_path / KEY).open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(SourceError, match="larger than 134,217,728 bytes"):
        sources.fetch(KEY, data_dir=tmp_path)


def test_the_bytes_that_were_verified_are_those_that_are_parsed(
    mirror: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody writes over the file when its bytes have just been compared."""
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


def test_no_network_and_no_mirror_is_two_lines(server: Upstream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "UPSTREAM_URL", "http://127.0.0.1:9")
    monkeypatch.setattr(sources.time, "sleep", lambda seconds: None)
    with pytest.raises(SourceError) as caught:
        sources.fetch(KEY)
    lines = str(caught.value).splitlines()
    assert len(lines) == 2
    assert "cannot be reached" in lines[0]
    assert "GEST_MIRROR" in lines[1]


@pytest.mark.parametrize("variable", ["HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"])
def test_offline_mode_is_respected(server: Upstream, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    script = (
        "from gest_dataset.data import sources\n"
        f"sources.UPSTREAM_URL = {server.url!r}\nsources.fetch({KEY!r})\n"
    )
    monkeypatch.setenv(variable, "1")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 1
    assert "cannot be reached" in done.stderr
    assert server.requests == []


def test_full_disk_leaves_no_damaged_file(
    server: Upstream, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A real write that fails: the process may not make a file larger than 100 kB."""
    script = (
        "import resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "from gest_dataset.data import sources\n"
        f"sources.UPSTREAM_URL = {server.url!r}\n"
        f"sources.fetch({KEY!r})\n"
    )
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "could not be stored" in done.stderr
    assert not (sources.cache_directory() / KEY).exists()
    assert sources.fetch(KEY).read_bytes() == BODY


def test_killed_download_goes_on(server: Upstream, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """SIGKILL in the middle of a transfer; the next run asks for the rest only."""
    script = (
        "import os, signal\n"
        "from gest_dataset.data import sources\n"
        f"sources.UPSTREAM_URL = {server.url!r}\n"
        "real, got = sources._stream, []\n"
        "def dying(*given):\n"
        "    for chunk in real(*given):\n"
        "        if sum(got) > 200_000:\n"
        "            os.kill(os.getpid(), signal.SIGKILL)\n"
        "        yield chunk\n"
        "        got.append(len(chunk))\n"
        "sources._stream = dying\n"
        f"sources.fetch({KEY!r})\n"
    )
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True)
    assert done.returncode == -9
    assert sources.fetch(KEY).read_bytes() == BODY
    assert len(server.requests) == 2
    assert server.requests[1][1] is not None, "the second run asks for the rest only"


def test_two_processes_download_once(
    server: Upstream, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = (
        "from gest_dataset.data import sources\n"
        f"sources.UPSTREAM_URL = {server.url!r}\n"
        f"print(sources.fetch({KEY!r}).path)\n"
    )
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    commands = [[sys.executable, "-c", script]] * 2
    running = [subprocess.Popen(command, stdout=subprocess.PIPE) for command in commands]
    assert [process.communicate() and process.returncode for process in running] == [0, 0]
    assert len(server.requests) == 1
