"""Files are written whole, with the mode, link or pipe that is there; a killed writer leaves the old file."""

from __future__ import annotations

import io
import multiprocessing
import os
import signal
import stat
import sys
import threading
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


def fail(path: Path) -> None:
    with storage.atomic_path(path) as partial:
        partial.write_text("half")
        raise ZeroDivisionError


@pytest.mark.parametrize("mode", [None, 0o600, 0o664, 0o755])
def test_a_file_keeps_its_mode_and_a_new_one_follows_the_umask(tmp_path: Path, mode: int | None) -> None:
    path = tmp_path / "out.txt"
    if mode is not None:
        path.write_text("old")
        path.chmod(mode)
    before = os.umask(0o027)
    try:
        write(path, "new")
    finally:
        os.umask(before)
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == (mode or 0o640)


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    for name, target in (("link", "real/file.txt"), ("chain", "link"), ("nowhere", "real/new.txt")):
        (tmp_path / name).symlink_to(target)
    (tmp_path / "real" / "file.txt").write_text("old")
    write(tmp_path / "chain", "new")
    write(tmp_path / "nowhere", "made")
    assert all((tmp_path / name).is_symlink() for name in ("link", "chain", "nowhere"))
    assert {path.name: path.read_text() for path in (tmp_path / "real").iterdir()} == {
        "file.txt": "new",
        "new.txt": "made",
    }


def test_a_pipe_gets_the_complete_content_only(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(path.read_text()))
    reader.start()
    with pytest.raises(ZeroDivisionError):
        fail(path)
    write(path, "through")
    reader.join()
    assert read == ["through"]
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert list(tmp_path.iterdir()) == [path]


class _Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("kind", "expected"), [(io.TextIOWrapper, "žena\x1b[31m\n"), (_Terminal, "žena\\u001b[31m\n")]
)
def test_the_standard_output(
    monkeypatch: pytest.MonkeyPatch, kind: type[io.TextIOWrapper], expected: str
) -> None:
    """Only a terminal gets escapes for control characters."""
    written = kind(io.BytesIO(), encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", written)
    write(Path("-"), "žena\x1b[31m\n")
    assert written.buffer.getvalue().decode() == expected  # type: ignore[attr-defined]


def test_a_failed_write_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "out.html"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError):
        fail(path)
    with pytest.raises(OutputError, match="could not be written"):
        write(tmp_path, "a folder")
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
    start = _PROCESSES.Barrier(4)
    texts = [letter * 100_000 for letter in "abcd"]
    processes = [_PROCESSES.Process(target=_many, args=(path, start, text)) for text in texts]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    assert path.read_text() in texts
    assert list(tmp_path.iterdir()) == [path]


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    for name in (".README.md.swp", ".lock"):
        (tmp_path / name).write_text("mine")
        with pytest.raises(OutputError, match=f"contains {name}"):
            build.check_build_folder(tmp_path)
        assert (tmp_path / name).read_text() == "mine"
        (tmp_path / name).unlink()


@pytest.mark.parametrize("text", ['"\\ud800"', b'"\\ud800"', b'"\xed\xa0\x80"', "[" * 100_000])
def test_untrusted_json_that_no_file_can_hold_is_a_value_error(text: str | bytes) -> None:
    """Half of a surrogate pair, escaped or as bytes, and lists in lists without end."""
    with pytest.raises(ValueError, match=r"surrogates|decode|nested"):
        storage.parse_json(text)
    assert storage.parse_json(b'"\\ud83d\\ude00 \xc3\xa9"') == "😀 é"


def test_a_lock_leaves_files_that_others_write_below_it(tmp_path: Path) -> None:
    """A killed process left the first one; another process, with its own lock, is writing the second one."""
    (tmp_path / "run").mkdir()
    own, other = (folder / ".a.json.b.gest.part" for folder in (tmp_path, tmp_path / "run"))
    for path in (own, other):
        path.write_text("")
    with storage.folder_lock(tmp_path):
        pass
    assert not own.exists()
    assert other.exists()
