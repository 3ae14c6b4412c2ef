"""Files that are written: what stands there is kept, followed or written to, and only our own is cleaned."""

from __future__ import annotations

import io
import multiprocessing
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gest_dataset import storage
from gest_dataset.data import build
from gest_dataset.errors import OutputError

_PROCESSES = multiprocessing.get_context("spawn")


def write(path: Path, text: str) -> None:
    with storage.atomic_path(path) as partial:
        partial.write_text(text)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


# What stands there ----------------------------------------------------------------------------------


def test_a_new_file_follows_the_umask(tmp_path: Path, umask: None) -> None:
    write(tmp_path / "out.txt", "new")
    assert mode(tmp_path / "out.txt") == 0o640


@pytest.mark.parametrize("before", [0o600, 0o664, 0o755])
def test_a_file_keeps_its_mode(tmp_path: Path, umask: None, before: int) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old")
    path.chmod(before)
    with storage.atomic_path(path) as partial:
        assert mode(partial) == 0o600, "nobody else reads it on the way"
        partial.write_text("new")
    assert (path.read_text(), mode(path)) == ("new", before)


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    kept = tmp_path / "real" / "file.txt"
    kept.write_text("old")
    for name, target in (("link", kept), ("chain", Path("link")), ("nowhere", Path("real/new.txt"))):
        (tmp_path / name).symlink_to(target)
    write(tmp_path / "chain", "new")
    write(tmp_path / "nowhere", "made")
    assert all((tmp_path / name).is_symlink() for name in ("link", "chain", "nowhere"))
    assert kept.read_text() == "new"
    assert (tmp_path / "real" / "new.txt").read_text() == "made"
    assert {path.name for path in (tmp_path / "real").iterdir()} == {"file.txt", "new.txt"}


def test_a_fifo_is_written_to(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(path.read_text()))
    reader.start()
    write(path, "through")
    reader.join()
    assert read == ["through"]
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert list(tmp_path.iterdir()) == [path]


def test_a_device_is_written_to(tmp_path: Path) -> None:
    """A node like /dev/null, so that a fault breaks nothing but the test."""
    path = tmp_path / "null"
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        path.write_text("gone")
    except PermissionError:
        pytest.skip("only root makes device nodes, and not everywhere")
    write(path, "gone")
    assert stat.S_ISCHR(path.stat().st_mode)
    assert list(tmp_path.iterdir()) == [path]
    link = tmp_path / "link"
    link.symlink_to(path)
    write(link, "gone")
    assert stat.S_ISCHR(path.stat().st_mode)
    assert link.is_symlink()


def test_nothing_is_passed_on_when_the_block_fails(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def half() -> None:
        with storage.atomic_path(path) as partial:
            partial.write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half()
    assert os.read(handle, 9) == b""
    os.close(handle)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="could not be written"):
        write(tmp_path, "new")
    assert list(tmp_path.iterdir()) == []


def test_the_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", written)
    with storage.atomic_path(Path("-")) as partial:
        partial.write_bytes("žena\x1b[31m\n".encode())
    assert written.buffer.getvalue() == "žena\x1b[31m\n".encode()  # type: ignore[attr-defined]


class _Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def test_the_standard_output_of_a_terminal_gets_no_escapes(monkeypatch: pytest.MonkeyPatch) -> None:
    written = _Terminal(io.BytesIO(), encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", written)
    with storage.atomic_path(Path("-")) as partial:
        partial.write_bytes("žena\x1b[31m\n".encode())
    assert written.buffer.getvalue() == "žena\\u001b[31m\n".encode()  # type: ignore[attr-defined]


# Temporary files -------------------------------------------------------------------------------------


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "out.html"
    path.write_text("old")

    def fail() -> None:
        with storage.atomic_path(path) as partial:
            partial.write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def _killed(path: Path) -> None:
    with storage.atomic_path(path) as partial:
        partial.write_text("half")
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_writer_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "out.html"
    path.write_text("old")
    process = _PROCESSES.Process(target=_killed, args=(path,))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert path.read_text() == "old"
    storage.check_folder(tmp_path, {"out.html"}, "the test")  # the temporary file does not count


def _many(path: Path, start: Any, text: str) -> None:
    start.wait()
    for _ in range(40):
        write(path, text)


def test_parallel_writers_do_not_disturb_each_other(tmp_path: Path) -> None:
    path = tmp_path / "out.html"
    start = _PROCESSES.Barrier(6)
    texts = [letter * 100_000 for letter in "abcdef"]
    processes = [_PROCESSES.Process(target=_many, args=(path, start, text)) for text in texts]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 6
    assert path.read_text() in texts
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_with_somebodys_swap_file_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / ".README.md.swp").write_text("mine")
    with pytest.raises(OutputError, match=r"contains \.README\.md\.swp"):
        build.check_build_folder(tmp_path)
    (tmp_path / ".README.md.swp").unlink()
    (tmp_path / ".lock").write_text("mine")
    with pytest.raises(OutputError, match=r"contains \.lock"):
        build.check_build_folder(tmp_path)
    assert (tmp_path / ".lock").read_text() == "mine"


# The commands ---------------------------------------------------------------------------------------


def test_commands_write_to_the_standard_output_and_to_pipes(
    script_environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "made.csv").write_text("from,to\nI.,Ja.\n")
    (tmp_path / "in.txt").write_text("I.\n")
    command = [sys.executable, "-m", "gest_dataset", "translate", "--system", "file:made.csv", "--language"]
    command += ["sk", "--input", "in.txt", "--output"]

    def run(output: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, output], env=script_environment, cwd=tmp_path, capture_output=True, text=True
        )

    assert run("o.csv").returncode == 0
    table = (tmp_path / "o.csv").read_text()
    shown = run("-")
    assert (shown.returncode, shown.stdout) == (0, table)
    assert "Written to standard output" in shown.stderr
    os.mkfifo(tmp_path / "pipe")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()))
    reader.start()
    assert run("pipe").returncode == 0
    reader.join()
    assert read == [table]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert {path.name for path in tmp_path.iterdir()} >= {"pipe", "o.csv"}
    assert not (tmp_path / "-").exists()
