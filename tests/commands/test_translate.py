"""`gest translate`: what it writes, what it prints, how it ends."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest
from datasets import load_dataset

from gest_dataset.languages import SLAVIC
from gest_dataset.translation import cloud
from tests.commands.conftest import Gest
from tests.support import services, translators
from tests.support.services import Server, slovak

ON_DEEPL = ("translate", "--store", "store", "--system", "deepl", "--output", "o.csv")
ON_FILE = ("translate", "--system", "file:made.csv", "--output", "o.csv")


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cloud, "sleep", lambda seconds: None)


@pytest.fixture
def deepl(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    pytest.importorskip("deepl")
    with services.serving(services.deepl) as server:
        monkeypatch.setenv("DEEPL_SERVER_URL", server.url)
        monkeypatch.setenv("DEEPL_AUTH_KEY", "k3y-of-d33pl")
        yield server


def rows(path: str = "o.csv") -> list[dict[str, str]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def cells(stdout: str, language: str) -> list[str]:
    """The numbers of a language's line in the summary."""
    lines = (line.split() for line in stdout.splitlines())
    return next(words[1:] for words in lines if words[:1] == [language] and len(words) > 5)


def test_gest_with_a_model_in_two_languages(gest: Gest) -> None:
    system = f"hf:{translators.directory('nllb')}"
    arguments = ("--system", system, "--language", "sk,cs", "--limit", "6", "--output", "a/out.csv")
    done = gest("translate", "--store", "store", *arguments)
    assert done.returncode == 0, done.stderr
    data = load_dataset("gest", "en", split="test").to_list()[:6]
    found = rows("a/out.csv")
    assert list(found[0]) == ["id", "system", "language", "source", "translation", "stereotype", "problem"]
    for language, part in (("sk", found[:6]), ("cs", found[6:])):
        for row, sentence in zip(part, data, strict=True):
            assert (row["id"], row["system"], row["language"]) == (sentence["id"], "hf:nllb", language)
            assert (row["source"], row["stereotype"]) == (sentence["sentence"], str(sentence["stereotype"]))
            assert bool(row["translation"]) != bool(row["problem"])
        texts, unique, cached, new, failed, speed, _ = cells(done.stdout, language)
        assert (texts, unique, cached) == ("6", "6", "0")
        assert int(new) + int(failed) == 6
        assert float(speed.replace(",", "")) > 0
    assert "tokens/s" in done.stdout
    assert cells(gest("translate", "--store", "store", *arguments).stdout, "sk")[2:4] == ["6", "0"]
    assert rows("a/out.csv") == found


@pytest.mark.parametrize("name", ["own.txt", "own.csv", "own.jsonl"])
def test_sentences_of_a_user(name: str, gest: Gest, deepl: Server) -> None:
    texts = ["I am tired.", "", "I cried, “really”.", "I am tired."]
    ids = ["1", "2", "3", "4"]
    if name == "own.txt":
        Path(name).write_text("\ufeff" + "\r\n".join(texts), encoding="utf-8")
    elif name == "own.csv":
        ids = ["a", "b", "c", "d"]
        with Path(name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("id", "sentence"), *zip(ids, texts, strict=True)])
    else:
        Path(name).write_text("\n".join(json.dumps({"sentence": text}) for text in texts))
    done = gest(*ON_DEEPL, "--language", "sk", "--input", name)
    assert done.returncode == 0, done.stderr
    assert [(row["id"], row["source"]) for row in rows()] == list(zip(ids, texts, strict=True))
    assert [row["translation"] for row in rows()] == [slovak(text) if text else "" for text in texts]
    assert [row["problem"] for row in rows()] == ["", "empty text", "", ""]
    assert cells(done.stdout, "sk")[:5] == ["4", "3", "0", "2", "1"]
    assert "sk: 1 texts: empty text" in done.stderr
    assert deepl.asked == [texts[0], texts[2]]


def test_standard_input_and_all_languages(gest: Gest, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("made.csv").write_text("from,to\nI.,Ja.\nWe.,My.\n")
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"I.\n\nWe.\n")))
    assert gest(*ON_FILE, "--language", "slavic,bg,sk", "--input", "-").returncode == 0
    assert [row["translation"] for row in rows()[:3]] == ["Ja.", "", "My."]
    assert list(dict.fromkeys(row["language"] for row in rows())) == [*SLAVIC, "bg"]


def test_a_quota_that_ends_half_way(gest: Gest, deepl: Server) -> None:
    deepl.script = [services.deepl, (456, {}, {"message": "Quota exceeded"})]
    Path("own.txt").write_text("\n".join(f"I am {number}." for number in range(70)))
    arguments = (*ON_DEEPL, "--language", "sk,cs", "--input", "own.txt")
    done = gest(*arguments)
    assert done.returncode == 1
    assert "not translated, or not completely: sk, cs" in done.stderr
    assert "DeepL has no quota left" in done.stderr
    assert cells(done.stdout, "sk")[2:5] == ["0", "50", "20"]
    assert [bool(row["translation"]) for row in rows()] == [True] * 50 + [False] * 20
    done = gest(*arguments)
    assert done.returncode == 0
    assert cells(done.stdout, "sk")[2:5] == ["50", "20", "0"]
    assert cells(done.stdout, "cs")[2:5] == ["0", "70", "0"]


def test_a_language_that_fails_does_not_stop_the_others(gest: Gest, tmp_path: Path) -> None:
    (tmp_path / "model-sk").symlink_to(translators.directory("nllb"))
    (tmp_path / "model-cs").mkdir()
    Path("own.txt").write_text("I am tired.")
    arguments = ("translate", "--store", "s", "--system", "hf:model-{language}", "--input", "own.txt")
    done = gest(*arguments, "--language", "cs,sk", "--output", "o.csv")
    assert done.returncode == 1
    assert "not translated, or not completely: cs" in done.stderr
    assert "The model 'model-cs' cannot be loaded" in done.stderr
    assert [row["language"] for row in rows()] == ["sk"]


def test_suspicious_translations_are_listed(gest: Gest) -> None:
    made = [
        ("I am tired.", "I am tired."),
        ("I was ill.", "I was very ill."),
        ("I cried.", "PlakalÃ¡ som."),
        ("I am a man.", "Som muž."),
    ]
    with Path("made.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("source", "translation"), *made])
    Path("own.txt").write_text("\n".join(source for source, _ in made))
    done = gest(*ON_FILE, "--language", "sk", "--input", "own.txt")
    assert done.returncode == 0
    assert "sk: 1 texts: not translated: the same as the source\n    'I am tired.'" in done.stderr
    assert "sk: 1 texts: not translated: English\n    'I was ill.'" in done.stderr
    assert "sk: 1 texts: garbled: decoded with a wrong encoding\n    'I cried.'" in done.stderr
    assert "I am a man" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("--system nllb --language sk", 2, "There is no system 'nllb'. Use one of hf:MODEL_OR_PATH, deepl"),
        ("--system deepl --language sk,,cs", 2, "no target language ''"),
        ("--system deepl --language sk --config sk_pairs", 2, "has no English sentences. Use one of en,"),
        ("--system deepl --language sk --limit 2", 1, "set DEEPL_AUTH_KEY"),
        ("--system deepl --language sk --input lost.txt", 2, "There is no file lost.txt"),
        ("--system deepl --language sk --input empty.txt", 1, "empty.txt has no sentence"),
        ("--system file:lost.csv --language sk", 2, "There is no file lost.csv"),
    ],
)
def test_wrong_usage(
    arguments: str, code: int, message: str, gest: Gest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DEEPL_AUTH_KEY", raising=False)
    Path("empty.txt").write_text("")
    done = gest("translate", *arguments.split(), "--output", "o.csv")
    assert (done.returncode, done.stdout) == (code, "")
    assert message in " ".join(done.stderr.split())
    assert not Path("o.csv").exists()


@pytest.mark.parametrize("lost", ["mine.csv", "made.csv"])
def test_an_input_is_never_overwritten(lost: str, gest: Gest) -> None:
    Path("mine.csv").write_text("sentence\nA.\n")
    Path("made.csv").write_text("from,to\nA.,a\n")
    before = Path(lost).read_bytes()
    arguments = ("translate", "--system", "file:made.csv", "--language", "sk", "--input", "mine.csv")
    assert gest(*arguments, "--output", lost).returncode == 2
    assert Path(lost).read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("kind", [signal.SIGKILL, signal.SIGINT])
def test_a_stopped_command_resumes(
    kind: signal.Signals, tmp_path: Path, script_environment: Mapping[str, str]
) -> None:
    pytest.importorskip("deepl")
    texts = [f"I am number {number}." for number in range(230)]
    (tmp_path / "texts.txt").write_text("\n".join(texts))
    arrived, release = threading.Event(), threading.Event()

    def hang(request: services.Request) -> services.Answer:
        arrived.set()
        release.wait(60)
        return 500, {}, {}

    with services.serving(services.deepl) as server:
        server.script = [services.deepl, services.deepl, hang]
        command = [sys.executable, "-m", "gest_dataset", "translate", "--system", "deepl"]
        command += ["--language", "sk", "--input", "texts.txt", "--output", "sk.csv"]
        environment = {**script_environment, "DEEPL_AUTH_KEY": "k3y", "DEEPL_SERVER_URL": server.url}
        process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
        assert arrived.wait(60)
        os.kill(process.pid, kind)
        _, stderr = process.communicate(timeout=60)
        assert process.returncode == (130 if kind == signal.SIGINT else -signal.SIGKILL)
        assert "Traceback" not in stderr
        release.set()
        assert not Path("sk.csv").exists()
        server.requests.clear()
        again = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert again.returncode == 0, again.stderr
        assert server.asked == texts[100:]
        assert cells(again.stdout, "sk")[:5] == ["230", "230", "100", "130", "0"]
    assert [row["translation"] for row in rows("sk.csv")] == list(map(slovak, texts))
