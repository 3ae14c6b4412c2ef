"""A second Hub that is not ours: olah serves a git repository of what was pushed, and `datasets` loads it.

olah 0.5.4 is put into an environment of its own; without a package index the test is skipped.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest
from datasets import load_dataset

import gest_dataset
from tests.support.hub import Hub

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("mirror")]
SET = "org/gest"
CONFIGS = ("en", "sk_pairs", "crows_gender")
LOAD = """
import sys
from datasets import load_dataset
for name in sys.argv[1:]:
    load_dataset("org/gest", name, split="test").to_json(f"{name}.jsonl")
"""


@pytest.fixture(scope="module")
def olah(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of an olah."""
    folder = tmp_path_factory.mktemp("olah")
    venv.create(folder, with_pip=True)
    done = subprocess.run(
        [folder / "bin" / "pip", "install", "--quiet", "olah==0.5.4"], capture_output=True, text=True
    )
    if done.returncode:
        pytest.skip(f"olah cannot be installed: {done.stderr[-300:]}")
    return folder / "bin" / "olah-cli"


def git(folder: Path, *arguments: str) -> None:
    names = [f"{option}=test" for option in ("user.name", "user.email")]
    options = [part for name in names for part in ("-c", name)]
    subprocess.run(["git", *options, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def served(hub: Hub, olah: Path, tmp_path: Path) -> Iterator[str]:
    """The address of an olah that has what was pushed to the small Hub."""
    gest_dataset.push(SET, ",".join(CONFIGS))
    repository = tmp_path / "mirrors" / "datasets" / SET
    for path, content in hub.files(hub.dataset(SET)).items():
        if path != ".gitattributes":  # no large files there: the bytes themselves
            (repository / path).parent.mkdir(parents=True, exist_ok=True)
            (repository / path).write_bytes(content)
    git(repository, "init", "--initial-branch", "main")
    git(repository, "add", ".")
    git(repository, "commit", "--message", "as on the Hub")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = tmp_path / "olah.toml"
    settings.write_text(
        f'[basic]\nhost = "127.0.0.1"\nport = {port}\nrepos-path = "{tmp_path / "repos"}"\n'
        f'mirror-netloc = "127.0.0.1:{port}"\nmirror-lfs-netloc = "127.0.0.1:{port}"\n'
        f'mirrors-path = ["{tmp_path / "mirrors"}"]\n[accessibility]\noffline = true\n'
    )
    command = [olah, "--config", settings, "--log-path", tmp_path / "logs"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait(process, port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def _wait(process: subprocess.Popen[bytes], port: int) -> None:
    for _ in range(600):
        assert process.poll() is None
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("olah does not listen")


def test_every_config_loads_through_it(served: str, tmp_path: Path) -> None:
    environment = {**os.environ, "HF_ENDPOINT": served, "HF_HOME": str(tmp_path / "home")}
    environment.pop("HF_TOKEN", None)
    done = subprocess.run(
        [sys.executable, "-c", LOAD, *CONFIGS], env=environment, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    for name in CONFIGS:
        expected = tmp_path / "expected.jsonl"
        load_dataset("gest", name, split="test").to_json(expected)
        assert (tmp_path / f"{name}.jsonl").read_bytes() == expected.read_bytes()
