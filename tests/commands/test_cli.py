"""The command line: help, completion, exit codes, interrupts, unexpected errors; `gest list`."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gest_dataset import cli, errors
from gest_dataset.builders import CONFIGS, GROUPS, select_configs
from gest_dataset.commands import console, result_tables
from gest_dataset.measures.grid import Estimate, Grid, Line
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


@pytest.mark.parametrize("name", list(cli.RENAMED))
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
    def fail(**_: str) -> None:
        raise error("What happened. What to do.")

    monkeypatch.setattr(cli, "app", fail)
    monkeypatch.setattr(sys, "argv", ["gest"])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == code
    assert "What to do." in capsys.readouterr().err


def test_an_unexpected_error_prints_no_secret(gest: Gest, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: str) -> None:
        raise ZeroDivisionError("with very-secret-key")

    monkeypatch.setattr(cli, "app", fail)
    monkeypatch.setenv("DEEPL_AUTH_KEY", "very-secret-key")
    done = gest("list", "very-secret-key")
    assert done.returncode == 70
    assert "Traceback" in done.stderr
    assert "very-secret-key" not in done.stderr
    assert "error: Unexpected ZeroDivisionError in gest-dataset" in done.stderr


def test_output_has_no_colours_without_a_terminal(gest: Gest) -> None:
    assert "\x1b" not in gest("list").stdout


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


def test_list(gest: Gest) -> None:
    shown = gest("list").stdout
    for name, config in CONFIGS.items():
        line = next(line for line in shown.splitlines() if line.split()[:1] == [name])
        assert f"{config.published_rows:,}" in line
    assert all(f"{group} ({len(select_configs(group))})" in " ".join(shown.split()) for group in GROUPS)
    assert max(map(len, shown.splitlines()[:-1])) <= 80
    assert re.search(r"^ +stereoset_control_race .* en +not stated \* *$", shown, re.MULTILINE)
    assert "* derived from data under CC-BY-SA-4.0" in shown
    listed = json.loads(gest("list", "--json").stdout)
    assert listed["groups"] == {group: list(select_configs(group)) for group in GROUPS}
    for facts, (name, config) in zip(listed["configs"], CONFIGS.items(), strict=True):
        assert (facts["name"], facts["rows"], facts["exact"]) == (name, config.published_rows, config.exact)
        assert facts["fields"] == config.features.to_dict()
        assert facts["sources"] == list(config.sources)
        assert listed["families"][facts["family"]]["citation"] == config.family.citation


def test_json_in_an_encoding_that_lacks_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(console.out, "_file", written)
    console.show_json({"title": "žena"})
    written.seek(0)
    assert json.load(written) == {"title": "žena"}


@pytest.mark.parametrize("terminal", [True, False])
def test_long_names_are_folded_in_a_terminal_only(terminal: bool) -> None:
    written = io.StringIO()
    shown = console.PlainConsole()
    shown._file, shown._width, shown._force_terminal = written, 80, terminal
    name, number = "a-model-with-a-long-name-of-39-letters", "1.234 to 5.678"
    table = console.new_table("title", ["model", "a", "b", "c"])
    table.add_row(name, *[number] * 3)
    console.print_table(table, shown)
    lines = re.sub("\x1b\\[[0-9;]*m", "", written.getvalue()).splitlines()
    assert (max(map(len, lines)) <= 80) == terminal
    assert any(name in line for line in lines) != terminal
    assert any(line.count(number) == 3 for line in lines)


@pytest.mark.parametrize("width", [80, 120])
def test_digits_are_never_cut(width: int, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """In a terminal that is too narrow, its lines wrap."""
    monkeypatch.setattr(console.out, "_width", width)
    huge = Line("huge", (Estimate(-123456.0, -234567.0, -12345.0),) * 4, count=123)
    result_tables.show_grid(Grid(("a", "b", "c", "d"), (huge,)), "title")
    shown = capsys.readouterr().out
    assert "−1.23e+05" in shown
    assert "…" not in shown
