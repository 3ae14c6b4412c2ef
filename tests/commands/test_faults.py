"""What nobody foresaw is one line and a file; Ctrl-C ends a process at any moment; odd arguments are said."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from gest_dataset.commands.faults import without_secrets
from tests.commands.conftest import Gest

# What a fresh interpreter imports first, before our entry point: it plants what a test needs
_PLANTED = "sitecustomize.py"


def planted(folder: Path, code: str, environment: Mapping[str, str]) -> dict[str, str]:
    folder.mkdir()
    (folder / _PLANTED).write_text(code)
    return {**environment, "PYTHONPATH": str(folder)}


def fault(raising: str) -> str:
    """`gest sentences` meets this error."""
    return (
        "import datasets\n"
        f"def load_dataset(*_, **__):\n    secret = 'local'; raise {raising}\n"
        "datasets.load_dataset = load_dataset\n"
    )


def run(
    environment: Mapping[str, str], cwd: Path, *arguments: str | bytes
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gest_dataset", *arguments],
        env=environment,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize(
    "raising", ["ZeroDivisionError('key=abcdef')", "EOFError('No data')", "RecursionError()"]
)
def test_a_fault_is_one_line_and_a_file(
    raising: str, script_environment: Mapping[str, str], tmp_path: Path
) -> None:
    environment = planted(tmp_path / "planted", fault(raising), script_environment)
    environment |= {"TMPDIR": str(tmp_path), "DEEPL_AUTH_KEY": "very-secret-key"}
    done = run(environment, tmp_path, "sentences", "--output", "very-secret-key")
    assert done.returncode == 70, done.stderr
    (line,) = done.stderr.strip().splitlines()
    assert re.match(r"error: \w+Error: a fault of gest-dataset", line)
    (file,) = tmp_path.glob("gest-fault-*.txt")
    assert str(file) in line
    text = file.read_text()
    assert "Traceback" in text
    assert raising.partition("(")[0] in text
    assert "load_dataset" in text
    assert "very-secret-key" not in text
    assert "abcdef" not in text
    assert file.stat().st_mode & 0o077 == 0


def test_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "AIza123456")
    monkeypatch.setenv("SHORT_KEY", "a")
    text = without_secrets("AIza123456 https://me:you@host/x?key=1&a=2 {'token': 'abc'} Bearer zzz a")
    assert text == "*** https://***@host/x?key=***&a=2 {'token': *** Bearer *** a"


@pytest.mark.parametrize("arguments", [("list", b"\xff"), ("sentences", "--output", b"caf\xe9.txt")])
def test_an_argument_that_is_not_in_utf8(
    arguments: tuple[str | bytes, ...], script_environment: Mapping[str, str], tmp_path: Path
) -> None:
    done = run(script_environment, tmp_path, *arguments)
    assert done.returncode == 2
    assert "is not in UTF-8" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("caf*"))


def test_a_cache_that_cannot_be_written(gest: Gest, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = gest("sentences", HF_DATASETS_CACHE=str(tmp_path / "file" / "cache"))
    assert done.returncode == 1
    assert f"The cache of `datasets` in {tmp_path}/file/cache cannot be used" in done.stderr
    assert "HF_DATASETS_CACHE" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_cache_without_room(script_environment: Mapping[str, str], tmp_path: Path) -> None:
    code = (
        "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (800, resource.RLIM_INFINITY))\n"
    )
    environment = {**planted(tmp_path / "planted", code, script_environment), "PYTHONDONTWRITEBYTECODE": "1"}
    done = run(environment, tmp_path, "sentences")
    assert done.returncode == 1, done.stderr
    assert "The cache of `datasets` in" in done.stderr
    assert "cannot be used" in done.stderr


# ---- Ctrl-C ---------------------------------------------------------------------------------------------


def interrupted_at(module: str) -> str:
    """The process gets SIGINT when it begins to import that module, or `end`, when it ends."""
    return (
        "import atexit, os, signal, sys, time\n"
        "def interrupt():\n    os.kill(os.getpid(), signal.SIGINT); time.sleep(0.01)\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}:\n            interrupt()\n"
        "sys.meta_path.insert(0, Finder())\n"
        f"if {module!r} == 'end':\n    atexit.register(interrupt)\n"
    )


def started(environment: Mapping[str, str], cwd: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "gest_dataset", *arguments],
        env=environment,
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # a parent in the background would hand down that it does not listen
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


@pytest.mark.parametrize(
    "module",
    [
        "gest_dataset.cli",
        "typer",
        "rich.console",
        "gest_dataset.commands.report",
        "datasets",
        "end",
    ],
)
def test_an_interrupt_while_it_starts_and_ends(
    module: str, script_environment: Mapping[str, str], tmp_path: Path
) -> None:
    environment = planted(tmp_path / "planted", interrupted_at(module), script_environment)
    process = started(environment, tmp_path, "sentences")
    _, told = process.communicate(timeout=120)
    assert process.returncode == 130, told
    assert told.strip() == "Interrupted."


SWALLOWED = "while True:\n        try: time.sleep(60)\n        except BaseException: pass"
DEAF = "import hashlib; hashlib.pbkdf2_hmac('sha512', b'x', b'x', 10**9)"


@pytest.mark.parametrize("hanging", [SWALLOWED, DEAF])
def test_what_does_not_listen_is_ended(
    hanging: str, script_environment: Mapping[str, str], tmp_path: Path
) -> None:
    """A library that swallows the interrupt, and a call into C that comes back after minutes."""
    code = (
        "import datasets, signal, time\n"
        "def load_dataset(*_, **__):\n"
        f"    print('ready', flush=True)\n    {hanging}\n"
        "datasets.load_dataset = load_dataset\n"
    )
    process = started(planted(tmp_path / "planted", code, script_environment), tmp_path, "sentences")
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=120)
    assert process.returncode == 130, told
    assert told.strip() == "Interrupted."


def test_an_interrupt_that_a_parent_has_switched_off(
    script_environment: Mapping[str, str], tmp_path: Path
) -> None:
    environment = planted(tmp_path / "planted", interrupted_at("typer"), script_environment)
    process = subprocess.Popen(
        [sys.executable, "-m", "gest_dataset", "--version"],
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    shown, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert shown.startswith("gest-dataset ")
