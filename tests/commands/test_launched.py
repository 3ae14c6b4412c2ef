"""`gest` under a real launcher: torchrun starts it, one process speaks, and its errors are told once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gest_dataset.commands import launched
from gest_dataset.errors import ConfigError, GestError, LostError, OutputError
from tests.support import zoo
from tests.support.launching import ENVIRONMENT, LONG

TORCHRUN = [sys.executable, "-m", "torch.distributed.run"]
# `gest`, with batches that take their time
SLOWLY = """
import time
from gest_dataset.models import stretches
from gest_dataset.models.scorers import LanguageModelScorer
answer = LanguageModel.answer
def slow(self, *given):
    time.sleep(0.03)
    return answer(self, *given)
LanguageModel.answer, stretches.SECONDS = slow, 0.2
from gest_dataset.cli import main
main()
"""


def _command(*arguments: str, processes: int = 2, script: Path | None = None) -> list[str]:
    run = ["-m", "gest_dataset"] if script is None else [str(script)]
    launcher = [*TORCHRUN, "--nproc-per-node", str(processes)] if processes > 1 else [sys.executable]
    return [*launcher, *run, *arguments]


def _environment(folder: Path) -> dict[str, str]:
    own = {"OMP_NUM_THREADS": "1", "HF_HOME": str(folder / "home"), "COLUMNS": "200"}
    return {**os.environ, **ENVIRONMENT, **own}


def _ran(folder: Path, *arguments: str, processes: int = 2) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        _command(*arguments, processes=processes),
        env=_environment(folder),
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )


@pytest.mark.slow
def test_a_launcher_of_two_prints_and_writes_what_one_process_does(tmp_path: Path) -> None:
    model = str(zoo.directory("bert"))
    common = ("score", model, "--config", "en,sk_pairs", "--batch-tokens", "60", "--output")
    runs = [_ran(tmp_path, *common, str(tmp_path / str(n)), processes=n) for n in (1, 2)]
    assert [run.returncode for run in runs] == [0, 0], runs[1].stderr
    assert runs[0].stdout == runs[1].stdout
    assert runs[1].stderr.count("Report: ") == 1
    for config in ("en", "sk_pairs"):
        for name in ("scores.parquet", "result.json"):
            one, two = ((tmp_path / str(n) / config / name).read_bytes() for n in (1, 2))
            assert one == two


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("score", "bert", "--config", "nothing"), "error: There is no config 'nothing'."),
        (("score", "./nothing"), "error: The model './nothing' cannot be loaded: there is no such folder."),
        (("score", "bert", "--sideways"), "No such option: --sideways"),
        (("list",), "error: `gest list` runs in one process, and a launcher has started 2"),
    ],
)
def test_an_error_is_told_once(arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    ran = _ran(tmp_path, *arguments)
    assert ran.returncode != 0
    assert ran.stderr.count(said) == 1, ran.stderr


@pytest.mark.slow
@pytest.mark.parametrize("victim", [0, 1])
def test_a_killed_process_ends_the_job_and_the_run_goes_on(victim: int, tmp_path: Path) -> None:
    """Also where it is the first one: then another one speaks. One process without the launcher goes on."""
    script, run = tmp_path / "slowly.py", tmp_path / "run"
    script.write_text(SLOWLY)
    asked = ("score", str(zoo.directory("bert")), "--config", "en", "--batch-tokens", "60", "--output")
    job = subprocess.Popen(
        _command(*asked, str(run), processes=3, script=script),
        env=_environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + LONG
    while len(list(run.glob("shards/0*.npz"))) < 2:
        assert time.monotonic() < deadline
        assert job.poll() is None
        time.sleep(0.01)
    os.kill(_of_rank(job.pid, victim), signal.SIGKILL)
    _, told = job.communicate(timeout=LONG)
    assert job.returncode != 0
    assert told.count(f"error: Of the 3 processes of this run process {victim} (pid ") == 1, told
    environment = _environment(tmp_path) | {"OMP_NUM_THREADS": "2"}  # it goes on with the one that it had
    alone = _command(*asked, str(run), processes=1)
    subprocess.run(alone, env=environment, capture_output=True, check=True, timeout=LONG)
    assert _ran(tmp_path, *asked, str(tmp_path / "one"), processes=1).returncode == 0
    assert (run / "scores.parquet").read_bytes() == (tmp_path / "one" / "scores.parquet").read_bytes()


def _of_rank(launcher: int, rank: int) -> int:
    """The process of a rank, as Linux tells of the launcher's children."""
    children = Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()
    for child in map(int, children):
        if f"\0RANK={rank}\0".encode() in b"\0" + Path(f"/proc/{child}/environ").read_bytes():
            return child
    raise AssertionError(f"no process of rank {rank}")


# Who speaks ------------------------------------------------------------------------------------------


@pytest.fixture
def second(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process is the second one of two."""
    for name, value in {"RANK": "1", "LOCAL_RANK": "1", "WORLD_SIZE": "2"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(launched, "_GRACE", 0.0)


def _end_with(message: str, error: Exception | None = None) -> None:
    with launched.one_speaks():
        try:
            raise error or OutputError(message)
        except GestError:
            sys.stderr.write(message)
            sys.exit(1)


@pytest.mark.usefixtures("second")
def test_a_process_that_does_not_lead_is_silent_where_all_is_well(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with launched.one_speaks():
        sys.stdout.write("a table")
        sys.stderr.write("a warning")
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("second")
def test_its_own_error_is_shown_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        _end_with("error: this machine is full")
    assert capsys.readouterr() == ("", "error: this machine is full")


@pytest.mark.usefixtures("second")
def test_nobody_waits_to_say_that_a_process_is_lost(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its launcher is about to end this one too."""
    monkeypatch.setattr(launched.time, "sleep", lambda seconds: pytest.fail("it waits"))
    with pytest.raises(SystemExit):
        _end_with("error: process 0 has ended", LostError("process 0 has ended"))
    assert capsys.readouterr().err == "error: process 0 has ended"


@pytest.mark.usefixtures("second")
def test_commands_that_processes_cannot_share() -> None:
    launched.check(["score", "bert"])
    launched.check(["--help"])
    with pytest.raises(ConfigError, match="`gest ask` runs in one process, and a launcher has started 2"):
        launched.check(["ask", "bert"])


def test_alone_every_command_runs() -> None:
    launched.check(["ask", "bert"])
