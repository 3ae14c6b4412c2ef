"""One flipped bit in a finished run, a cache or built data: it is noticed, or changes no number."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import datasets
import pytest

import gest_dataset
from gest_dataset.builders import CONFIGS
from gest_dataset.cache import ResponseCache, cache_key
from gest_dataset.data import build
from gest_dataset.errors import GestError
from gest_dataset.models.user_rows import read_user_rows
from gest_dataset.runs import read_run
from tests.conftest import Gest, in_one_thread
from tests.support import zoo
from tests.support.chats import MODEL, chatting, prompts

pytestmark = pytest.mark.attack
FLIPS = 100
CONFIG = "crows_gender"


@pytest.fixture(scope="module", autouse=True)
def environment() -> Iterator[None]:
    with in_one_thread():
        yield


def flipped(path: Path, moments: random.Random) -> None:
    content = bytearray(path.read_bytes())
    position = moments.randrange(8 * len(content))
    content[position // 8] ^= 1 << position % 8
    path.write_bytes(content)


# ---- what is made, and how it is read: the numbers, or an error --------------------------------------------


def finished_run(folder: Path) -> None:
    gest_dataset.score(str(zoo.directory("gpt2")), "en", device="cpu", limit=20, output=folder)


def numbers_of_run(folder: Path) -> Any:
    run = read_run(folder)
    return run.table.to_pydict(), run.result


def values() -> dict[str, Any]:
    return {cache_key(number): [number / 7] * (number % 300) for number in range(300)}


def cache(folder: Path) -> None:
    with ResponseCache(folder / "cache.sqlite3") as responses:
        responses.put(values())


def numbers_of_cache(folder: Path) -> Any:
    """What is missing is computed again."""
    with ResponseCache(folder / "cache.sqlite3") as responses:
        return values() | responses.get(values())


def built_data(folder: Path) -> None:
    build.build_config(CONFIGS[CONFIG], folder)


def rows_of_build(folder: Path) -> Any:
    return read_user_rows(folder, CONFIG).to_list()


def cached_rows(folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datasets.config, "HF_DATASETS_CACHE", folder)
        datasets.load_dataset("gest", "en")


def scores_with_cached_rows(folder: Path) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datasets.config, "HF_DATASETS_CACHE", folder)
        scores = gest_dataset.score(zoo.load("gpt2"), "en", device="cpu", limit=3)
    return scores.table.to_pydict(), scores.metadata["data_fingerprint"]


CASES: dict[str, tuple[Callable[[Path], None], Callable[[Path], Any]]] = {
    "a finished run": (finished_run, numbers_of_run),
    "a cache of responses": (cache, numbers_of_cache),
    "built data": (built_data, rows_of_build),
    "the cache of datasets": (cached_rows, scores_with_cached_rows),
}


@pytest.mark.parametrize(("make", "read"), CASES.values(), ids=[*CASES])
def test_a_flipped_bit(make: Callable[[Path], None], read: Callable[[Path], Any], tmp_path: Path) -> None:
    whole, damaged = tmp_path / "whole", tmp_path / "damaged"
    make(whole)
    expected = read(whole)
    files = [
        path.relative_to(whole) for path in sorted(whole.rglob("*")) if path.is_file() and path.stat().st_size
    ]
    moments = random.Random(27)
    messages = []
    for number in range(FLIPS):
        shutil.copytree(whole, damaged)
        flipped(damaged / files[number % len(files)], moments)
        try:
            assert read(damaged) == expected, files[number % len(files)]
        except GestError as error:
            messages.append(str(error))
        shutil.rmtree(damaged)
    assert messages or make in (cache, cached_rows)
    assert not [message for message in messages if "emove" in message or "elete" in message]


@pytest.mark.parametrize("file", ["run.json", "answers.parquet", "result.json", "cache.sqlite3"])
def test_a_damaged_paid_run_asks_nothing_again(file: str, gest: Gest, tmp_path: Path) -> None:
    with chatting(lambda text, options: f"({'abc'[len(text) % 3]})") as server:
        arguments = ("ask", "--endpoint", server.url, "--model", MODEL, "--limit", 4, "--output", "run")
        assert gest(*arguments).returncode == 0
        expected = read_run(tmp_path / "run").table
        server.requests.clear()
        moments = random.Random(file)
        for _ in range(10):
            flipped(tmp_path / "run" / file, moments)
            done = gest(*arguments)
            assert done.returncode == 0 or "different settings" in done.stderr, done.stderr
            if done.returncode == 0:
                assert read_run(tmp_path / "run").table.equals(expected)
        assert not prompts(server)
