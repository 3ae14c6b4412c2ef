"""`gest report --serve`: a page that follows runs, for this machine only."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from gest_dataset.report.serve import LiveReport, make_server
from gest_dataset.runs import folder as run_folder
from gest_dataset.runs.manifest import MANIFEST
from tests.support import report_runs
from tests.support.browser import chromium

NASTY = "evil/<script>document.title='evil'</script>\u202e"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report_runs.translated(tmp_path_factory.mktemp("one") / "run")


def unfinished(path: Path, model: str = "a-model") -> Path:
    """A run that has started."""
    manifest = run_folder.new_manifest(
        measure="pairs",
        model=model,
        config="demo_sk_pairs",
        language="sk",
        data_fingerprint="0" * 32,
        table="scores.parquet",
        settings={},
        command=["gest", "score", model],
        device=None,
    )
    with run_folder.open_run(path, manifest):
        return path


@pytest.fixture
def address(finished: Path, tmp_path: Path) -> Iterator[str]:
    """The address of the served report of a finished run."""
    LiveReport([finished], tmp_path).update()
    server, address = make_server(tmp_path)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    with server:
        yield address
        server.shutdown()
        thread.join()


def get(address: str, path: str = "/", host: str | None = None, method: str = "GET") -> tuple[int, bytes]:
    netloc = urlsplit(address).netloc
    connection = HTTPConnection(netloc, timeout=60)
    connection.putrequest(method, path, skip_host=True)
    connection.putheader("Host", netloc if host is None else host)
    connection.endheaders()
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response.status, content


def test_report_is_written_again_when_a_run_finishes(tmp_path: Path, finished: Path) -> None:
    runs, folder = tmp_path / "runs", tmp_path / "page"
    runs.mkdir()
    live = LiveReport([runs], folder)

    def state() -> dict[str, Any]:
        live.update()
        content: dict[str, Any] = json.loads((folder / "state.json").read_text(encoding="utf-8"))
        return content

    assert state()["lines"] == ["No run is finished yet."]
    shutil.copytree(finished, runs / "done")
    before = state()
    assert "planted" in (folder / "index.html").read_text(encoding="utf-8")
    unfinished(runs / "other")
    after = state()
    assert "a-model on demo_sk_pairs: started" in after["lines"][0]
    assert after["version"] == before["version"]
    manifest = json.loads((runs / "done" / MANIFEST).read_text(encoding="utf-8"))
    manifest["files"]["result.json"] = "0" * 64
    (runs / "done" / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    assert state()["version"] != before["version"]
    assert "planted" not in (folder / "index.html").read_text(encoding="utf-8")  # damaged, so left out


def test_only_this_machine_and_this_name_are_answered(address: str) -> None:
    port = urlsplit(address).port
    assert urlsplit(address).hostname == "127.0.0.1"
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1:1", ""):
        for path in ("/", "/state.json"):
            status, content = get(address, path, host)
            assert status == 421
            assert b"planted" not in content
    assert get(address, host=f"localhost:{port}")[0] == 200
    assert get(address, method="POST")[0] == 501
    for path in ("/run.json", "/../run.json", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd"):
        assert get(address, path)[0] == 404


@pytest.mark.slow
def test_page_reloads_when_another_run_has_finished(tmp_path: Path, finished: Path) -> None:
    runs, folder = tmp_path / "runs", tmp_path / "page"
    unfinished(runs / "other", NASTY)
    live = LiveReport([runs], folder)
    live.update()
    server, address = make_server(folder)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with server, chromium() as browser:
        tab = browser.new_page()
        messages: list[str] = []
        tab.on("console", lambda message: messages.append(message.text))
        tab.on("pageerror", lambda error: messages.append(str(error)))
        tab.goto(address)
        tab.locator("#progress", has_text="started").wait_for(timeout=60_000)
        assert tab.title() != "evil"
        assert "\u202e" not in tab.locator("#progress").text_content()
        shutil.copytree(finished, runs / "new")
        live.update()
        tab.locator("h1", has_text="planted").wait_for(timeout=60_000)
        assert messages == []
        server.shutdown()
