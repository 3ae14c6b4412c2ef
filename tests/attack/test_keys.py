"""A key stands in no file, message, traceback or process list, even if a server repeats it."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.chats import MODEL, said
from tests.support.services import Answer, Request, serving

pytestmark = pytest.mark.attack
KEY = "sk-attack-0123456789"


def processes() -> bytes:
    """The arguments of all processes."""
    found = b""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += path.read_bytes()
        except OSError:  # it has ended
            continue
    return found


@pytest.mark.parametrize("status", [200, 401, 400])
def test_keys(status: int, tmp_path: Path, script_environment: Mapping[str, str]) -> None:
    seen: list[str] = []
    arguments: list[bytes] = []
    lock = threading.Lock()

    def answer(request: Request) -> Answer:
        with lock:
            seen.append(request.headers["Authorization"])
            if not arguments:
                arguments.append(processes())
        if request.path == "/v1/models":
            return 200, {}, {"object": "list", "data": [{"id": MODEL, "object": "model"}]}
        if status == 200:
            return said("(a)")
        return status, {}, {"error": f"the key {KEY} is wrong"}

    with serving(answer) as server:
        command = ["ask", "--endpoint", server.url, "--model", MODEL, "--limit", "2", "--output", "run"]
        done = subprocess.run(
            [sys.executable, "-m", "gest_dataset", *command],
            cwd=tmp_path,
            env={**script_environment, "GEST_ENDPOINT_KEY": KEY},
            capture_output=True,
            text=True,
        )
    assert set(seen) == {f"Bearer {KEY}"}
    assert done.returncode == (0 if status == 200 else 1)
    assert KEY.encode() not in arguments[0]
    assert b"gest_dataset" in arguments[0]
    assert KEY not in done.stdout + done.stderr
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path
