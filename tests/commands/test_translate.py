"""`gest translate`: what it writes, what it prints, how it ends."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest
from datasets import load_dataset

from gest_dataset.translation import services as module
from tests.commands.conftest import Gest
from tests.support import services, translators
from tests.support.services import Server, slovak

ON_DEEPL = ("translate", "--store", "store", "--system", "deepl", "--output", "o.csv")
ON_FILE = ("translate", "--system", "file:made.csv", "--output", "o.csv")


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "sleep", lambda seconds: None)


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
        texts, unique, cached, new, failed = cells(done.stdout, language)
        assert (texts, unique, cached) == ("6", "6", "0")
        assert int(new) + int(failed) == 6
    assert cells(gest("translate", "--store", "store", *arguments).stdout, "sk")[2:4] == ["6", "0"]
    assert rows("a/out.csv") == found


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


@pytest.mark.parametrize("name", ["own.txt", "own.csv", "own.jsonl", "-"])
def test_sentences_of_a_user(name: str, gest: Gest, deepl: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["I am tired.", "", "I cried, “really”.", "I am tired."]
    ids = ["a", "b", "c", "d"] if name == "own.csv" else ["1", "2", "3", "4"]
    content = "\ufeff" + "\r\n".join(texts)
    if name == "own.csv":
        content = "id,sentence\n" + "\n".join(f'{i},"{text}"' for i, text in zip(ids, texts, strict=True))
    elif name == "own.jsonl":
        content = "\n".join(json.dumps({"sentence": text}) for text in texts)
    Path("own" if name == "-" else name).write_text(content, encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content.encode())))
    done = gest(*ON_DEEPL, "--language", "sk", "--input", name)
    assert done.returncode == 0, done.stderr
    assert [(row["id"], row["source"]) for row in rows()] == list(zip(ids, texts, strict=True))
    assert [row["translation"] for row in rows()] == [slovak(text) if text else "" for text in texts]
    assert [row["problem"] for row in rows()] == ["", "empty text", "", ""]
    assert cells(done.stdout, "sk")[:5] == ["4", "3", "0", "2", "1"]
    assert "sk: 1 x empty text" in done.stderr
    assert deepl.asked == [texts[0], texts[2]]


def test_the_standard_output(gest: Gest) -> None:
    Path("made.csv").write_text("from,to\nI.,Ja.\n")
    Path("own.txt").write_text("I.\n")
    arguments = (
        "translate",
        "--system",
        "file:made.csv",
        "--language",
        "sk",
        "--input",
        "own.txt",
        "--output",
    )
    assert gest(*arguments, "o.csv").returncode == 0
    shown = gest(*arguments, "-")
    assert (shown.returncode, shown.stdout) == (0, Path("o.csv").read_text())
    assert not Path("-").exists()


def test_suspicious_translations_are_listed(gest: Gest) -> None:
    made = {"I am tired.": "I am tired.", "I was ill.": "I was very ill.", "I cried.": "PlakalÃ¡ som."}
    made["I am a man."] = "Som muž."
    lines = [f"{source},{translation}" for source, translation in {"source": "translation", **made}.items()]
    Path("made.csv").write_text("\n".join(lines), encoding="utf-8")
    Path("own.txt").write_text("\n".join(made))
    done = gest(*ON_FILE, "--language", "sk", "--input", "own.txt")
    assert done.returncode == 0
    assert "sk: 1 x not translated: the same as the source" in done.stderr
    assert "sk: 1 x not translated: English" in done.stderr
    assert "sk: 1 x garbled: decoded with a wrong encoding" in done.stderr
    assert "I am a man" not in done.stderr


def test_wrong_usage(gest: Gest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is written, and no input is overwritten."""
    monkeypatch.delenv("DEEPL_AUTH_KEY", raising=False)
    Path("empty.txt").write_text("")
    Path("made.csv").write_text("from,to\nA.,a\n")
    for arguments, code, message in (
        ("--system nllb --language sk", 2, "There is no system 'nllb'. Use one of hf:MODEL_OR_PATH, deepl"),
        ("--system deepl --language sk,,cs", 2, "no target language ''"),
        ("--system deepl --language sk --config sk_pairs", 2, "has no English sentences. Use one of en,"),
        ("--system deepl --language sk --limit 2", 1, "set DEEPL_AUTH_KEY"),
        ("--system deepl --language sk --input lost.txt", 2, "There is no file lost.txt"),
        ("--system deepl --language sk --input empty.txt", 1, "empty.txt has no sentence"),
        ("--system file:lost.csv --language sk", 2, "There is no file lost.csv"),
        ("--system file:made.csv --language sk --output made.csv", 2, "made.csv is an input"),
    ):
        done = gest("translate", "--output", "o.csv", *arguments.split())
        assert (done.returncode, done.stdout) == (code, "")
        assert message in " ".join(done.stderr.split())
    assert not Path("o.csv").exists()
    assert Path("made.csv").read_text() == "from,to\nA.,a\n"


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


def test_a_system_that_lacks_a_language(gest: Gest) -> None:
    """The others are translated, and that is all that the system can do."""
    Path("made.csv").write_text("source;translation;language\nI am 7.;Mám 7.;sk\nI am 7.;Je mi 7.;cs\n")
    Path("own.txt").write_text("I am 7.")
    arguments = (*ON_FILE, "--language", "sk,pl,cs", "--input", "own.txt")
    done = gest(*arguments)
    assert done.returncode == 0, done.stderr
    assert "Skipped (not supported): pl\nmade.csv has no row in 'pl'; its languages: cs, sk." in done.stderr
    assert [row["translation"] for row in rows()] == ["Mám 7.", "Je mi 7."]
    assert gest(*ON_FILE, "--language", "pl", "--input", "own.txt").returncode == 1


@pytest.mark.slow
def test_a_killed_command_resumes(tmp_path: Path, script_environment: Mapping[str, str]) -> None:
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
        process = subprocess.Popen(command, env=environment)
        assert arrived.wait(60)
        process.kill()
        process.wait(60)
        release.set()
        assert not Path("sk.csv").exists()
        server.requests.clear()
        again = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert again.returncode == 0, again.stderr
        assert server.asked == texts[100:]
        assert cells(again.stdout, "sk")[:5] == ["230", "230", "100", "130", "0"]
    assert [row["translation"] for row in rows("sk.csv")] == list(map(slovak, texts))
