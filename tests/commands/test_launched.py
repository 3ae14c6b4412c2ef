"""`gest score` under a real launcher: only the main process prints, and errors are printed once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gest_dataset import cli
from gest_dataset.errors import ConfigError
from gest_dataset.runs import read_run
from tests.support import zoo
from tests.support.killing import ENVIRONMENT, LONG

TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]


def gest(folder: Path, *arguments: str, processes: int = 2) -> subprocess.CompletedProcess[str]:
    launcher = TORCHRUN if processes > 1 else [sys.executable]
    environment = {"OMP_NUM_THREADS": "1", "HF_HOME": str(folder / "home"), "COLUMNS": "200"}
    return subprocess.run(
        [*launcher, "-m", "gest_dataset", *arguments],
        env={**os.environ, **ENVIRONMENT, **environment},
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )


@pytest.mark.slow
def test_two_processes_print_and_write_what_one_does(tmp_path: Path) -> None:
    model = str(zoo.directory("bert"))
    common = ("score", model, "--config", "en,sk_pairs", "--limit", "9", "--output")
    runs = [gest(tmp_path, *common, str(tmp_path / str(n)), processes=n) for n in (1, 2)]
    assert [run.returncode for run in runs] == [0, 0], runs[1].stderr
    assert runs[0].stdout == runs[1].stdout
    assert runs[1].stderr.count("Report: ") == 1
    for config in ("en", "sk_pairs"):
        one, two = (read_run(tmp_path / str(n) / config).table["log_ratio"].to_pylist() for n in (1, 2))
        assert two == pytest.approx(one, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("score", "./nothing"), "error: There is no folder ./nothing"),
        (("list",), "error: `gest list` runs in one process, but the launcher has started 2"),
    ],
)
def test_an_error_is_printed_once(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    run = gest(tmp_path, *arguments)
    assert run.returncode != 0
    assert run.stderr.count(message) == 1, run.stderr


@pytest.fixture
def second_of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"RANK": "1", "LOCAL_RANK": "1", "WORLD_SIZE": "2"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(cli, "_GRACE", 0.0)


def _run(message: str, code: int) -> None:
    with cli.only_main_prints():
        sys.stdout.write("a table")
        sys.stderr.write(message)
        sys.exit(code)


@pytest.mark.usefixtures("second_of_two")
@pytest.mark.parametrize(("code", "printed"), [(0, ""), (1, "error: this machine is full")])
def test_other_processes_print_only_their_own_errors(
    code: int, printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        _run("error: this machine is full", code)
    assert capsys.readouterr() == ("", printed)


def test_commands_that_run_in_one_process(request: pytest.FixtureRequest) -> None:
    cli.check_launcher(["ask", "bert"])
    request.getfixturevalue("second_of_two")
    cli.check_launcher(["score", "bert"])
    cli.check_launcher(["--help"])
    with pytest.raises(ConfigError, match="`gest ask` runs in one process, but the launcher has started 2"):
        cli.check_launcher(["ask", "bert"])
