"""Serve the report of runs on this machine, updated when another run finishes (`gest report --serve`).

The server listens on the loopback interface only, and refuses requests with another `Host` header, so that
other sites cannot read the page through DNS rebinding.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from gest_dataset.display import one_line
from gest_dataset.errors import ConfigError, GestError
from gest_dataset.report.labels import label_runs
from gest_dataset.report.page import render_report
from gest_dataset.runs.folder import Run, read_run
from gest_dataset.runs.manifest import MANIFEST, read_manifest
from gest_dataset.runs.progress import read_progress

_HOST = "127.0.0.1"


@dataclass(frozen=True)
class State:
    """The finished runs in some folders, and a line on each other run; `version` changes with the former."""

    finished: tuple[Path, ...]
    lines: tuple[str, ...]
    version: str


class LiveReport:
    """The report of the finished runs in some folders; runs that finish later are added at its end."""

    def __init__(self, paths: Sequence[Path]) -> None:
        for path in paths:
            if not path.is_dir():
                raise ConfigError(f"There is no folder {path}. Give a run, or a folder with runs below it.")
        self._paths = paths
        self._lock = threading.Lock()
        self._order: dict[Path, None] = {}
        self._page = ("", b"")

    def state(self) -> State:
        """Read the manifests of all runs."""
        folders = {
            file.parent.resolve(): None for path in self._paths for file in sorted(path.rglob(MANIFEST))
        }
        finished, lines = [], []
        digest = hashlib.sha256()
        for folder in folders:
            try:
                manifest = read_manifest(folder)
            except GestError as error:
                lines.append(one_line(str(error).splitlines()[0]))
                continue
            if manifest.done:
                finished.append(folder)
                digest.update(json.dumps([str(folder), manifest.files, manifest.finished]).encode())
                continue
            name = one_line(f"{manifest.model} on {manifest.about}")
            progress = read_progress(folder)
            if progress is None:
                lines.append(f"{name}: started {manifest.started}")
            else:
                share = f" ({100 * progress.done / progress.total:.0f} %)" if progress.total else ""
                lines.append(f"{name}: {progress.done:,} of {progress.total:,} done{share}")
        if not finished:
            lines.insert(0, "No run is finished yet.")
        return State(tuple(finished), tuple(lines), digest.hexdigest()[:16])

    def page(self) -> bytes:
        """The report, rendered again if other runs have finished."""
        with self._lock:
            state = self.state()
            if self._page[0] != state.version:
                self._order |= dict.fromkeys(state.finished)
                runs: list[Run] = []
                notes: list[str] = []
                for folder in self._order:
                    try:
                        runs.append(read_run(folder))
                    except GestError as error:
                        notes.append(str(error))
                text = render_report(label_runs(runs), Path(), notes=notes, live=state.version)
                self._page = state.version, text.encode()
            return self._page[1]


def make_server(paths: Sequence[Path]) -> tuple[ThreadingHTTPServer, str]:
    """A server on a free port, which waits for `serve_forever`, and its address."""
    report = LiveReport(paths)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.headers.get("Host") not in hosts:
                self.send_error(421, "Unknown host")
            elif self.path == "/":
                self._send("text/html; charset=utf-8", report.page())
            elif self.path == "/state":
                state = report.state()
                content = json.dumps({"version": state.version, "lines": state.lines})
                self._send("application/json", content.encode())
            else:
                self.send_error(404)

        def _send(self, content_type: str, content: bytes) -> None:
            self.send_response(200)
            headers = {
                "Content-Type": content_type,
                "Content-Length": str(len(content)),
                "Cache-Control": "no-store",
                "X-Content-Type-Options": "nosniff",
            }
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Keep the terminal free of requests."""

    server = ThreadingHTTPServer((_HOST, 0), Handler)
    server.daemon_threads = True
    hosts = {f"{_HOST}:{server.server_port}", f"localhost:{server.server_port}"}
    return server, f"http://{_HOST}:{server.server_port}/"
