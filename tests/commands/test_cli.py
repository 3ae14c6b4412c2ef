"""The command line: help, exit codes, interrupts, unexpected errors, odd arguments."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from gest_dataset import cli, errors
from gest_dataset.version import __version__
from tests.commands.conftest import Gest


def test_version_and_help(gest: Gest) -> None:
    assert gest("--version").stdout == f"gest-dataset {__version__}\n"
    for line in cli.LINES:
        shown = gest(*line.split(), "--help")
        assert shown.returncode == 0
        assert "Example" in shown.stdout, line


def test_help_imports_nothing_heavy(script_environment: Mapping[str, str]) -> None:
    script = (
        "import sys\nfrom gest_dataset.cli import app\n"
        "from typer.testing import CliRunner\n"
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0\n"
        "print(sorted({'datasets', 'torch', 'pandas', 'pyarrow', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], env=script_environment, capture_output=True, text=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("name", sorted(cli.RENAMED.keys() - cli.COMMANDS.keys()))
def test_an_old_command_names_its_replacement(gest: Gest, name: str) -> None:
    done = gest(name, "--help")
    assert done.returncode == 2
    assert done.stderr == f"error: `gest {name}` was replaced by {cli.RENAMED[name]}.\n"


@pytest.mark.parametrize(
    ("error", "code"), [(errors.ConfigError, 2), (errors.SettingError, 2), (errors.ModelError, 1)]
)
def test_exit_code_of_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: type[Exception], code: int
) -> None:
    def fail() -> None:
        raise error("What happened. What to do.")

    monkeypatch.setattr(cli, "app", fail)
    monkeypatch.setattr(sys, "argv", ["gest"])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == code
    assert "What to do." in capsys.readouterr().err


def test_an_unexpected_error_is_one_line_and_a_file(
    gest: Gest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail() -> None:
        raise ZeroDivisionError("with very-secret-key")

    monkeypatch.setattr(cli, "app", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("DEEPL_AUTH_KEY", "very-secret-key")
    done = gest("list", "very-secret-key")
    assert done.returncode == 70
    assert re.match(r"error: Unexpected ZeroDivisionError in gest-dataset", done.stderr)
    (file,) = tmp_path.glob("gest-error-*.txt")
    assert str(file) in done.stderr
    text = file.read_text()
    assert "Traceback" in text
    assert "very-secret-key" not in text
    assert file.stat().st_mode & 0o077 == 0


def test_an_argument_that_is_not_utf_8(gest_process: Gest, tmp_path: Path) -> None:
    done = gest_process("list", b"\xff")
    assert done.returncode == 2
    assert "is not valid UTF-8" in done.stderr


def test_output_has_no_colours_without_a_terminal(gest: Gest) -> None:
    assert "\x1b" not in gest("list").stdout
    assert "\x1b" not in gest("build", "nothing", "--output", "data").stderr


def test_ctrl_c_keeps_finished_work(script_environment: Mapping[str, str], tmp_path: Path) -> None:
    script = (
        "import time\nfrom gest_dataset import cli\nfrom gest_dataset.data import build\n"
        "real = build.build_config\n"
        "def slow(config, out):\n    print('x', flush=True); time.sleep(0.2); return real(config, out)\n"
        "build.build_config = slow\n"
        "import sys; sys.argv = ['gest', 'build', '--output', 'data']\ncli.main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        env=script_environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    for _ in range(3):
        process.stdout.readline()
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, messages = process.communicate()
    assert process.returncode == 130
    assert "run the same command again" in messages
    assert (tmp_path / "data" / "en").exists()
