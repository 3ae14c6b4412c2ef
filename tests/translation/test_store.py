"""The store: nothing is translated twice, and nothing that was translated is lost."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from hypothesis import given
from hypothesis import strategies as st

from gest_dataset.data import kept
from gest_dataset.errors import OutputError
from gest_dataset.translation import (
    Batch,
    Translation,
    TranslationStoppedError,
    Translator,
    store,
    translate_all,
)
from gest_dataset.translation.translator import EMPTY, answered
from tests.support import services

Fail = Callable[[], None]


def counting(asked: list[str], after: int = 10**9, fail: Fail | None = None, size: int = 3) -> Translator:
    """A translator that counts what it is asked, and fails before a text."""

    def translate(texts: Sequence[str]) -> Generator[Batch, None, None]:
        for start in range(0, len(texts), size):
            batch = texts[start : start + size]
            if fail is not None and start + len(batch) > after:
                fail()
            asked.extend(batch)
            yield Batch([answered(text, services.slovak(text)) for text in batch], len(batch), 0.5)

    return Translator("counting", "r1", "s1", translate, "texts")


TEXTS = [f"Sentence {number}." for number in range(10)]


def test_order_and_doubles(tmp_path: Path) -> None:
    asked: list[str] = []
    texts = [TEXTS[3], TEXTS[1], "", TEXTS[3], "  ", TEXTS[0], "half \ud83d", TEXTS[1]]
    work = translate_all(texts, counting(asked), "sk", store=tmp_path)
    assert [made.source for made in work.translations] == texts
    assert asked == [TEXTS[3], TEXTS[1], TEXTS[0]]
    for made in work.translations:
        assert bool(made.translation) != bool(made.problem)
        assert made.translation in ("", services.slovak(made.source))
    assert (work.new, work.stored, work.failed, work.units, work.seconds) == (3, 0, 3, 3, 0.5)
    assert work.rate == 6


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip), max_size=5))
def test_any_text_comes_back_from_the_disk(texts: list[str]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        asked: list[str] = []
        first = translate_all(texts, counting(asked), "sk", store=folder)
        second = translate_all(texts, counting(asked), "sk", store=folder)
        assert len(asked) == len(set(texts))
        assert first.translations == second.translations


def test_the_default_folder_is_in_the_cache() -> None:
    translate_all(TEXTS[:1], counting([]), "sk")
    from huggingface_hub.constants import HF_HOME

    assert (Path(HF_HOME) / "gest" / "translations" / "counting" / "sk.sqlite3").exists()


def test_every_part_of_the_key_counts(tmp_path: Path) -> None:
    asked: list[str] = []
    base = counting(asked)
    for other in (
        base,
        Translator("other", base.revision, base.settings, base.translate, "texts"),
        Translator(base.name, "r2", base.settings, base.translate, "texts"),
        Translator(base.name, base.revision, "s2", base.translate, "texts"),
    ):
        assert translate_all(TEXTS, other, "sk", store=tmp_path).new == 10
        assert translate_all(TEXTS, other, "sk", store=tmp_path).stored == 10
    assert translate_all(TEXTS, base, "cs", store=tmp_path).new == 10
    assert len(asked) == 50


def test_an_empty_answer_is_paid_for_once(tmp_path: Path) -> None:
    asked: list[str] = []

    def translate(texts: Sequence[str]) -> Generator[Batch, None, None]:
        asked.extend(texts)
        yield Batch([answered(texts[0], " "), Translation(texts[1], "", "too long")])

    work = translate_all(TEXTS[:2], Translator("odd", "", "", translate, "texts"), "sk", store=tmp_path)
    assert [made.problem for made in work.translations] == [EMPTY, "too long"]
    better = Translator("odd", "", "", counting(asked).translate, "texts")
    work = translate_all(TEXTS[:2], better, "sk", store=tmp_path)
    assert work.translations[0].problem == EMPTY
    assert work.translations[1].translation == services.slovak(TEXTS[1])
    assert asked == [*TEXTS[:2], TEXTS[1]]


def test_an_answer_that_no_file_takes_costs_nothing(tmp_path: Path) -> None:
    """JSON may hold half of a surrogate pair; the rest of its batch is paid for, too."""

    def translate(texts: Sequence[str]) -> Generator[Batch, None, None]:
        yield Batch([answered(texts[0], "plný \ud83d"), answered(texts[1], "dobre \ud83d\ude00 😀")])

    work = translate_all(TEXTS[:2], Translator("odd", "", "", translate, "texts"), "sk", store=tmp_path)
    assert [made.translation for made in work.translations] == ["plný \ufffd", "dobre 😀 😀"]
    again = translate_all(TEXTS[:2], Translator("odd", "", "", translate, "texts"), "sk", store=tmp_path)
    assert (again.translations, again.stored) == (work.translations, 2)


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, OSError])
def test_any_end_keeps_the_finished_batches(error: type[BaseException], tmp_path: Path) -> None:
    def fail() -> None:
        raise error("now")

    asked: list[str] = []
    with pytest.raises(error, match="now"):
        translate_all(TEXTS, counting(asked, 7, fail), "sk", store=tmp_path)
    assert asked == TEXTS[:6]
    work = translate_all(TEXTS, counting(asked), "sk", store=tmp_path)
    assert asked == TEXTS
    assert [made.translation for made in work.translations] == list(map(services.slovak, TEXTS))


def test_stopped_lists_the_rest(tmp_path: Path) -> None:
    def fail() -> None:
        raise TranslationStoppedError("No more today.\nCome back tomorrow.")

    work = translate_all(TEXTS, counting([], 7, fail), "sk", store=tmp_path)
    assert work.stopped == "No more today.\nCome back tomorrow."
    assert [made.problem for made in work.translations] == [""] * 6 + ["No more today."] * 4
    assert (work.new, work.failed) == (6, 4)
    with pytest.raises(TranslationStoppedError):
        translate_all(["Another."], counting([], 0, fail), "sk", store=tmp_path)


def path_of(folder: Path) -> Path:
    return store.path_of(folder, "counting", "sk")


def selected(folder: Path, columns: str, system: str = "counting") -> list[tuple[str, ...]]:
    """What anybody can read with SQLite alone."""
    with closing(sqlite3.connect(store.path_of(folder, system, "sk"))) as connection:
        return connection.execute(f"SELECT {columns} FROM translations ORDER BY rowid").fetchall()


def _killed(folder: str, texts: Sequence[str], steps: int) -> None:
    """Killed in the middle of a write of which a part has gone to the file already."""
    connect = sqlite3.connect

    def connected(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        connection.execute("PRAGMA cache_size = 1")
        connection.set_progress_handler(lambda: os.kill(os.getpid(), signal.SIGKILL), steps)
        return connection

    kept.sqlite3.connect = connected  # type: ignore[assignment]
    translate_all(texts, counting([], size=len(texts)), "sk", store=folder)


@pytest.mark.parametrize("steps", [1500, 4000, 6000])
def test_a_kill_in_the_middle_of_a_write(steps: int, tmp_path: Path) -> None:
    texts = [f"Sentence {number}, which is {'very ' * 100}long." for number in range(400)]
    translate_all(TEXTS, counting([]), "sk", store=tmp_path)
    whole = path_of(tmp_path).read_bytes()
    process = multiprocessing.get_context("fork").Process(target=_killed, args=(tmp_path, texts, steps))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert path_of(tmp_path).with_name("sk.sqlite3-journal").stat().st_size > 0
    assert path_of(tmp_path).read_bytes() != whole
    asked: list[str] = []
    work = translate_all([*TEXTS, *texts], counting(asked, size=100), "sk", store=tmp_path)
    assert asked == texts
    assert (work.stored, work.new) == (10, 400)
    assert [text for (text,) in selected(tmp_path, "text")] == [*TEXTS, *texts]


def test_a_damaged_file_is_an_error_and_stays(tmp_path: Path) -> None:
    """Nothing is taken for a new store, and paid for once more without a word."""
    translate_all(TEXTS, counting([]), "sk", store=tmp_path)
    whole = path_of(tmp_path).read_bytes()
    damaged = [whole[:end] for end in range(50, len(whole), 500)]
    damaged += [b"no database, but a text that is long enough" * 20, b"\xff" * 4096 + whole[4096:]]
    for content in damaged:
        path_of(tmp_path).write_bytes(content)
        asked: list[str] = []
        with pytest.raises(OutputError, match=r"translations .*sk\.sqlite3 cannot be used.*\n.*--store"):
            translate_all(TEXTS, counting(asked), "sk", store=tmp_path)
        assert not asked
        assert path_of(tmp_path).read_bytes() == content
    path_of(tmp_path).write_bytes(whole)
    assert translate_all(TEXTS, counting([]), "sk", store=tmp_path).stored == 10


def test_a_row_that_was_changed_is_told_and_made_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A disk that flips a bit within a text leaves a whole file: only the row's checksum tells."""
    translate_all(TEXTS, counting([]), "sk", store=tmp_path)
    asked: list[str] = []
    with closing(sqlite3.connect(path_of(tmp_path))) as connection, connection:
        connection.execute("UPDATE translations SET translation = 'Iné.' WHERE text = ?", (TEXTS[3],))
        connection.execute("UPDATE translations SET made = x'ff' WHERE text = ?", (TEXTS[4],))
    again = translate_all(TEXTS, counting(asked), "sk", store=tmp_path)
    assert asked == TEXTS[3:5]
    assert [made.translation for made in again.translations] == [services.slovak(text) for text in TEXTS]
    assert "2 translations in" in caplog.text
    assert translate_all(TEXTS, counting([]), "sk", store=tmp_path).stored == 10


def test_rows_can_be_read_by_anybody(tmp_path: Path) -> None:
    translate_all(TEXTS[:2], counting([]), "sk", store=tmp_path)
    assert selected(tmp_path, "system, revision, settings, text, translation") == [
        ("counting", "r1", "s1", text, services.slovak(text)) for text in TEXTS[:2]
    ]
    today = datetime.now(timezone.utc).date()
    assert {date.fromisoformat(made) for (made,) in selected(tmp_path, "made")} <= {
        today,
        today - timedelta(1),
    }


def test_systems_never_share_answers(tmp_path: Path) -> None:
    assert store.path_of(tmp_path, "hf:../../etc", "sk").parent.parent == tmp_path
    # names that a file system cannot tell apart
    names = ["hf:a b", "hf:a_b", "hf:a/b", "hf:a--b"]
    for name in names:
        translator = Translator(name, "", "", counting([]).translate, "texts")
        assert translate_all(TEXTS, translator, "sk", store=tmp_path).new == 10
        assert translate_all(TEXTS, translator, "sk", store=tmp_path).stored == 10


def test_while_another_process_translates(tmp_path: Path) -> None:
    translate_all(TEXTS[:5], counting([]), "sk", store=tmp_path)
    with FileLock(f"{path_of(tmp_path)}.lock"):
        # what is there can be read; what is not would be paid for twice
        assert translate_all(TEXTS[:5], counting([]), "sk", store=tmp_path).stored == 5
        with pytest.raises(OutputError, match="Another process is translating"):
            translate_all(TEXTS, counting([]), "sk", store=tmp_path)
    assert translate_all(TEXTS, counting([]), "sk", store=tmp_path).new == 5


def test_what_another_process_has_translated_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    whole = store.locked

    def late(path: Path) -> object:
        monkeypatch.setattr(store, "locked", whole)
        translate_all(TEXTS[:4], counting(asked), "sk", store=tmp_path)
        return whole(path)

    monkeypatch.setattr(store, "locked", late)
    work = translate_all(TEXTS, counting(asked), "sk", store=tmp_path)
    assert asked == TEXTS
    assert (work.stored, work.new) == (4, 6)


def _many(folder: str, number: int) -> None:
    """One of several processes: what it does not get to because of the others, it tries again."""
    texts = [f"Sentence {(number * 7 + i) % 40}." for i in range(40)]
    for text in texts:
        while True:
            try:
                translate_all([text], counting([]), "sk", store=folder)
                break
            except OutputError:
                time.sleep(0.001)


def test_several_processes_at_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_many, args=(str(tmp_path), number)) for number in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert sorted(text for (text,) in selected(tmp_path, "text")) == sorted(
        f"Sentence {i}." for i in range(40)
    )


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite's own error where a file may not grow."""
    texts = [f"Sentence {number}, which is {'very ' * 100}long." for number in range(20)]
    translate_all(texts[:3], counting([]), "sk", store=tmp_path)
    connect = sqlite3.connect

    def full(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        connection.execute("PRAGMA max_page_count = 1")  # it is never made smaller than the file
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(kept.sqlite3, "connect", full)
        with pytest.raises(OutputError, match=r"disk is full.*\n.*--store"):
            translate_all(texts, counting([], size=17), "sk", store=tmp_path)
    assert translate_all(texts, counting([]), "sk", store=tmp_path).stored == 3


def test_a_store_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"cannot be used|not writable"):
        translate_all(TEXTS, counting([]), "sk", store=tmp_path / "file")


def test_kill_in_the_middle_of_a_real_run(tmp_path: Path, script_environment: Mapping[str, str]) -> None:
    """`gest translate` with the real client of DeepL: killed, and run again."""
    pytest.importorskip("deepl")
    texts = [f"I am number {number}." for number in range(230)]
    (tmp_path / "texts.txt").write_text("\n".join(texts))
    arrived, never = threading.Event(), threading.Event()

    def hang(request: services.Request) -> services.Answer:
        arrived.set()
        never.wait(60)
        return 500, {}, {}

    with services.serving(services.deepl) as server:
        server.script = [services.deepl, services.deepl, hang]
        command = [sys.executable, "-m", "gest_dataset", "translate", "--system", "deepl"]
        command += ["--language", "sk", "--input", "texts.txt", "--output", "sk.csv"]
        environment = {**script_environment, "DEEPL_AUTH_KEY": "k3y", "DEEPL_SERVER_URL": server.url}
        process = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL)
        assert arrived.wait(60)
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        never.set()
        assert not (tmp_path / "sk.csv").exists()
        folder = Path(environment["HF_HOME"]) / "gest" / "translations"
        assert store.path_of(folder, "deepl", "sk").exists()
        assert selected(folder, "text", "deepl") == [(text,) for text in texts[:100]]
        server.requests.clear()
        again = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert again.returncode == 0, again.stderr
        assert server.asked == texts[100:]
        assert selected(folder, "text", "deepl") == [(text,) for text in texts]
        lines = [line.split() for line in again.stdout.splitlines()]
        assert next(line for line in lines if line[:1] == ["sk"])[1:6] == ["230", "230", "100", "130", "0"]
    import csv

    with (tmp_path / "sk.csv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    assert [row["translation"] for row in rows] == list(map(services.slovak, texts))
