"""A full disk, a read-only folder, a second process: a message, nothing half-written, and the run resumes."""

from __future__ import annotations

import shlex
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from gest_dataset.runs.folder import CACHE
from tests.support import zoo
from tests.support.chats import MODEL, chatting, prompts

pytestmark = pytest.mark.attack
# The second attempt has space; what is left on the disk after each is copied away
SCRIPT = """
mkdir disk
mount -t tmpfs -o {options} tmpfs disk || exit 99
if {command}; then exit 98; fi
cp -r disk after
mount -o remount,rw,size=100m tmpfs disk || exit 99
{command} || exit 97
cp -r disk end
"""


def on_a_bad_disk(
    command: Sequence[object], options: str, folder: Path, environment: Mapping[str, str]
) -> str:
    """Run a command on a disk with these options, then again on a good one; the messages of both."""
    line = shlex.join([sys.executable, "-m", "gest_dataset", *map(str, command)])
    script = SCRIPT.format(options=options, command=f"{line} > /dev/null")
    namespace = ["unshare", "--mount", "--map-root-user", "sh", "-c", script]
    done = subprocess.run(namespace, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode in (1, 99) and not (folder / "after").exists():
        pytest.skip(f"no file system can be mounted here: {done.stderr}")
    assert done.returncode == 0, done.stderr
    assert "error: " in done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def assert_whole(folder: Path) -> None:
    """Every file that has the name of a result is complete; there are no temporary ones."""
    for path in folder.rglob("*"):
        assert not path.name.endswith(".part"), path
        if path.suffix == ".parquet":
            pq.read_table(path)


CASES = [
    (command, options) for command in ("score", "ask", "build") for options in ("size=12k", "size=40k", "ro")
]


@pytest.mark.parametrize(("command", "options"), CASES)
def test_a_bad_disk(
    command: str, options: str, tmp_path: Path, script_environment: Mapping[str, str]
) -> None:
    environment = {**script_environment, "OMP_NUM_THREADS": "1", "TMPDIR": str(tmp_path)}
    with chatting(lambda text, options: "(a)") as server:
        lines: dict[str, list[object]] = {
            "score": ["score", zoo.directory("bert"), "--config", "en", "--device", "cpu"],
            "ask": ["ask", "--endpoint", server.url, "--model", MODEL],
            "build": ["build", "--config", "en,crows_gender,winobias_type1_test,slovak_gender,sk_pairs"],
        }
        on_a_bad_disk([*lines[command], "--output", "disk/run"], options, tmp_path, environment)
        asked = prompts(server)
    assert_whole(tmp_path / "after")
    assert_whole(tmp_path / "end")
    assert list((tmp_path / "end" / "run").rglob("*.parquet"))
    if command == "ask":
        cached = 0
        for path in (tmp_path / "after").rglob(CACHE):
            with closing(sqlite3.connect(path)) as connection, suppress(sqlite3.OperationalError):
                cached = connection.execute("SELECT count(*) FROM responses").fetchone()[
                    0
                ]  # if it has a table
        repeated = len(asked) - len(set(asked))
        assert repeated <= len(set(asked)) - cached, "only what did not fit on the disk is asked again"


def test_a_second_process_is_refused(tmp_path: Path, script_environment: Mapping[str, str]) -> None:
    release = threading.Event()

    def wait(text: str, options: list[str]) -> str:
        if text != "Hi":
            release.wait(120)
        return "(a)"

    with chatting(wait) as server:
        arguments = ["ask", "--endpoint", server.url, "--model", MODEL, "--limit", "3", "--output", "run"]
        command = [sys.executable, "-m", "gest_dataset", *arguments]
        first = subprocess.Popen(
            command, cwd=tmp_path, env=dict(script_environment), stderr=subprocess.DEVNULL
        )
        while not prompts(server) and first.poll() is None:
            release.wait(0.05)
        second = subprocess.run(
            command, cwd=tmp_path, env=dict(script_environment), capture_output=True, text=True
        )
        release.set()
        assert first.wait() == 0
    assert second.returncode == 1
    assert "Another process is writing to" in second.stderr
    assert len(prompts(server)) == len(set(prompts(server)))
