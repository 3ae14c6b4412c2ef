"""Commands are killed at random moments, 30 times in all: they resume, and end as if nothing had happened."""

from __future__ import annotations

import csv
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from gest_dataset.data.folder import read_checksums
from tests.conftest import MANIFEST, MIRROR, ROOT
from tests.support.chats import MODEL, chatting, prompts
from tests.support.herd import herd
from tests.support.services import Server

pytestmark = pytest.mark.attack
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGKILL) * 2
CONNECTIONS = 4
# Answers that may be lost: in flight, or arrived since the last commit (20 ms) of a server that takes 10 ms
IN_FLIGHT = 4 * CONNECTIONS
SLOVAK = MIRROR / "kinit-sk/gest/data/translations/deepl/sk/translations.csv"


@dataclass
class Victim:
    """Runs `gest` in processes of its own; `log` has the number of inputs of each batch of a model."""

    folder: Path
    moments: random.Random

    def __post_init__(self) -> None:
        self.log = self.folder / "log"
        self.log.touch()
        self.mark = f"ATTACK_ID={uuid.uuid4()}"
        name, _, value = self.mark.partition("=")
        paths = [str(ROOT / "tests/attack/slow"), os.environ.get("PYTHONPATH", "")]
        self.environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "ATTACK_LOG": str(self.log),
            "GEST_MIRROR": str(MIRROR),
            "GEST_SOURCES": str(MANIFEST),
            "HF_HOME": str(self.folder / "hf"),
            "OMP_NUM_THREADS": "1",
            name: value,
        }

    def start(self, *arguments: object) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "gest_dataset", *map(str, arguments)],
            env=self.environment,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=(self.folder / "stderr").open("ab"),
            # a parent in the background would hand down that Ctrl-C is ignored
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
        )

    def run(self, *arguments: object) -> None:
        assert self.start(*arguments).wait() == 0, (self.folder / "stderr").read_text()

    def kill_often(self, arguments: Sequence[object], progress: Callable[[], int], most: int) -> None:
        """Kill a command once with each of SIGNALS, each time after more progress, and let it end."""
        for which in self.moments.sample(SIGNALS, len(SIGNALS)):
            process = self.start(*arguments)
            wanted = progress() + self.moments.randint(1, most // (len(SIGNALS) + 2))
            while progress() < wanted:
                assert process.poll() is None, (self.folder / "stderr").read_text()
                time.sleep(0.002)
            time.sleep(self.moments.uniform(0, 0.05))
            assert process.poll() is None, "it has ended before it was killed"
            process.send_signal(which)
            process.wait()
            assert process.returncode != 0
            self.assert_alone()
        self.run(*arguments)
        self.assert_alone()

    def assert_alone(self) -> None:
        """No process of a command is left; those of Ray need a moment to end."""
        deadline = time.monotonic() + 60
        while left := [path.parent.name for path in Path("/proc").glob("[0-9]*/environ") if self._has(path)]:
            assert time.monotonic() < deadline, [Path("/proc", pid, "cmdline").read_text() for pid in left]
            time.sleep(0.05)

    def _has(self, environ: Path) -> bool:
        try:
            return self.mark.encode() in environ.read_bytes()
        except OSError:  # it has ended
            return False

    def computed(self) -> list[int]:
        return [int(line) for line in self.log.read_text().split()]


@pytest.fixture
def victim(tmp_path: Path, request: pytest.FixtureRequest) -> Victim:
    return Victim(tmp_path, random.Random(request.node.name))


def assert_same_tables(folder: Path, expected: Path) -> None:
    """The runs below two folders have the same tables; their numbers differ by 1e-6 at most."""
    paths = [path.relative_to(expected) for path in expected.rglob("*.parquet")]
    assert paths
    for path in paths:
        for own, other in zip(rows(folder / path), rows(expected / path), strict=True):
            assert own == pytest.approx(other, abs=1e-6)


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a table, without values that `approx` does not take."""
    for row in pq.read_table(path).to_pylist():
        yield {name: value if isinstance(value, float) else repr(value) for name, value in row.items()}


def test_score(victim: Victim) -> None:
    (model,) = herd(victim.folder, ["model"])
    arguments = ["score", model, "--config", "en", "--device", "cpu", "--batch-tokens", 40, "--output"]
    victim.run(*arguments, "expected")
    once = victim.computed()
    victim.log.write_text("")
    victim.kill_often([*arguments, "run"], lambda: len(victim.computed()), len(once))
    # each start checks the model on a few inputs again
    again = sum(victim.computed()) - sum(once)
    assert 0 < again <= len(SIGNALS) * 3 * max(once)
    assert_same_tables(victim.folder / "run", victim.folder / "expected")


def asked_too_often(server: Server) -> int:
    counts = Counter(prompts(server))
    return sum(counts.values()) - len(counts)


def test_ask(victim: Victim) -> None:
    def choose(text: str, options: list[str]) -> str:
        time.sleep(0.01)
        return f"({'abc'[len(text) % 3]})"

    with chatting(choose) as server:
        arguments = ["ask", "--endpoint", server.url, "--model", MODEL, "--connections", CONNECTIONS]
        victim.run(*arguments, "--output", "expected")
        most = len(prompts(server))
        server.requests.clear()
        victim.kill_often([*arguments, "--output", "run"], lambda: len(prompts(server)), most)
        assert asked_too_often(server) <= len(SIGNALS) * IN_FLIGHT
    assert_same_tables(victim.folder / "run", victim.folder / "expected")


def test_masculine_rate(victim: Victim) -> None:
    with SLOVAK.open(encoding="utf-8", newline="") as file:
        translations = {row["from"]: row["to"] for row in csv.DictReader(file)}

    def translate(text: str, options: list[str]) -> str:
        time.sleep(0.05)
        return max((new for old, new in translations.items() if old in text), key=len, default="Áno.")

    with chatting(translate) as server:
        arguments = [
            "masculine-rate",
            "--system",
            f"chat:{MODEL}",
            "--endpoint",
            server.url,
            "--language",
            "sk",
        ]
        arguments += ["--parser", "conllu", "--parser-model", str(ROOT / "tests/mirror_sk.conllu")]
        victim.environment["HF_HOME"] = str(victim.folder / "another")
        victim.run(*arguments, "--output", "expected")
        most = len(prompts(server))
        server.requests.clear()
        victim.environment["HF_HOME"] = str(victim.folder / "hf")
        victim.kill_often([*arguments, "--output", "run"], lambda: len(prompts(server)), most)
        assert asked_too_often(server) <= len(SIGNALS) * 64
    assert_same_tables(victim.folder / "run", victim.folder / "expected")


def test_build(victim: Victim) -> None:
    victim.run("build", "--config", "all,demo", "--output", "expected")
    expected, built = victim.folder / "expected", victim.folder / "run"
    most = len(list(expected.glob("*/*.parquet")))
    whole: dict[Path, int] = {}

    def progress() -> int:
        if not built.exists():
            return 0
        files = [built / config for config in read_checksums(built)]
        times = {file: file.stat().st_mtime_ns for folder in files for file in folder.glob("*.parquet")}
        assert times.items() >= whole.items(), "a config is built twice"
        whole.update(times)
        return len(times)

    victim.kill_often(["build", "--config", "all,demo", "--output", "run"], progress, most)
    assert progress() == most
    files = {path.relative_to(expected) for path in expected.rglob("*") if path.is_file()}
    assert {path.relative_to(built) for path in built.rglob("*") if path.is_file()} == files
    for path in files:
        assert (built / path).read_bytes() == (expected / path).read_bytes(), path


def test_a_sweep_on_ray(victim: Victim) -> None:
    pytest.importorskip("ray", reason="the extra `ray` is not installed")
    models = herd(victim.folder, ["one"])
    lines = ["configs: demo_sk_pairs,slovak_gender", "batch_tokens: 40", "models:"]
    suite = victim.folder / "suite.yaml"
    suite.write_text("\n".join([*lines, *(f"- {model}" for model in models)]), encoding="utf-8")
    victim.run("sweep", suite, "--output", "expected")
    once = victim.computed()
    victim.log.write_text("")
    arguments = ["sweep", suite, "--engine", "ray", "--output", "run"]
    victim.kill_often(arguments, lambda: len(victim.computed()), len(once))
    again = sum(victim.computed()) - sum(once)
    assert 0 < again <= len(SIGNALS) * len(models) * 3 * max(once)
    assert_same_tables(victim.folder / "run" / "runs", victim.folder / "expected" / "runs")
