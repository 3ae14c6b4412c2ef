"""Serve the report of runs on this machine, written again when another run finishes (`gest report --serve`).

The server listens on the loopback interface only, and refuses requests with another `Host` header, so that
other sites cannot read the page through DNS rebinding.
"""

import json
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from gest_dataset.display import one_line
from gest_dataset.errors import ConfigError, GestError
from gest_dataset.progress import read_progress
from gest_dataset.report.page import write_report
from gest_dataset.runs.folder import read_run
from gest_dataset.runs.manifest import MANIFEST, read_manifest
from gest_dataset.storage import write_json

_HOST = "127.0.0.1"
_SECONDS = 2.0  # between two looks at the runs


class LiveReport:
    """A folder with index.html, the report of the finished runs, and state.json, which the page polls."""

    def __init__(self, paths: Sequence[Path], folder: Path) -> None:
        for path in paths:
            if not path.is_dir():
                raise ConfigError(f"There is no folder {path}. Give a run, or a folder with runs below it.")
        self._paths, self._folder, self._shown = paths, folder, ""

    def update(self) -> None:
        """Read the manifests of all runs, and write the report again if other runs have finished."""
        finished, lines = [], []
        files = [file for path in self._paths for file in path.rglob(MANIFEST)]
        for folder in sorted({file.parent.resolve() for file in files}):
            try:
                manifest = read_manifest(folder)
            except GestError as error:
                lines.append(one_line(str(error).splitlines()[0]))
                continue
            if manifest.done:
                finished.append((manifest.finished, str(folder), manifest.files))
                continue
            line = f"{manifest.model} on {manifest.about}: started {manifest.started}"
            progress = read_progress(folder)
            if progress is not None:
                line += f", {progress.done:,} of {progress.total:,} {progress.unit} done"
            lines.append(one_line(line))
        finished.sort(key=lambda one: one[:2])
        version = json.dumps(finished)
        if version != self._shown:
            runs, notes = [], []
            for _, name, _ in finished:
                try:
                    runs.append(read_run(name))
                except GestError as error:
                    notes.append(str(error))
            write_report(runs, self._folder / "index.html", notes=notes, live=version)
            self._shown = version
        lines = lines if finished else ["No run is finished yet.", *lines]
        write_json(self._folder / "state.json", {"version": version, "lines": lines})


def serve_report(paths: Sequence[Path], announce: Callable[[str], None]) -> None:
    """Serve the report of the runs in some folders until Ctrl-C; `announce` gets its address."""
    with tempfile.TemporaryDirectory(prefix="gest-") as folder:
        live = LiveReport(paths, Path(folder))
        live.update()
        server, address = make_server(Path(folder))
        with server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            announce(address)
            while True:
                time.sleep(_SECONDS)
                live.update()


def make_server(folder: Path) -> tuple[ThreadingHTTPServer, str]:
    """A server of a folder on a free port, which waits for `serve_forever`, and its address."""

    class Handler(SimpleHTTPRequestHandler):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args, directory=str(folder))

        def send_head(self) -> Any:
            if self.headers.get("Host") in hosts:
                return super().send_head()
            self.send_error(421, "Unknown host")
            return None

        def end_headers(self) -> None:
            self.send_header("Cache-Control", "no-store")
            super().end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Keep the terminal free of requests."""

    server = ThreadingHTTPServer((_HOST, 0), Handler)
    hosts = {f"{_HOST}:{server.server_port}", f"localhost:{server.server_port}"}
    return server, f"http://{_HOST}:{server.server_port}/"
