"""`gest translate` as a user meets it: what it writes, what it says, how it ends."""

from __future__ import annotations

import csv
import json
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from gest_dataset import cli
from gest_dataset.languages import SLAVIC
from gest_dataset.translation import cloud, store
from tests.support import services, translators
from tests.support.services import Server, slovak

Row = dict[str, str]


@pytest.fixture(autouse=True)
def _alone(one_thread: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(cloud, "sleep", lambda seconds: None)


@pytest.fixture
def gest(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """`gest translate --store store ...`: exit code, standard output, standard error."""

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["gest", "translate", "--store", "store", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        shown = capsys.readouterr()
        return int(ended.value.code or 0), shown.out, shown.err

    return run


Gest = Callable[..., tuple[int, str, str]]


@pytest.fixture
def deepl(monkeypatch: pytest.MonkeyPatch) -> object:
    pytest.importorskip("deepl")
    with services.serving(services.deepl) as server:
        monkeypatch.setenv("DEEPL_SERVER_URL", server.url)
        monkeypatch.setenv("DEEPL_AUTH_KEY", "k3y-of-d33pl")
        yield server


def rows(path: str) -> list[Row]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def cells(shown: str, language: str) -> list[str]:
    """The numbers of a language's line of the summary."""
    lines = (line.split() for line in shown.splitlines())
    return next(words[1:] for words in lines if words[:1] == [language] and len(words) > 5)


def test_gest_by_a_model_in_two_languages(gest: Gest) -> None:
    from datasets import load_dataset

    system = f"hf:{translators.directory('nllb')}"
    asked = ("--system", system, "--language", "sk,cs", "--limit", "6", "--output", "a/out.csv")
    code, shown, _ = gest(*asked)
    assert code == 0
    data = load_dataset("gest", "en", split="test").to_list()[:6]
    found = rows("a/out.csv")
    assert list(found[0]) == ["id", "system", "language", "source", "translation", "stereotype", "problem"]
    for language, part in (("sk", found[:6]), ("cs", found[6:])):
        wanted = [(row["id"], "hf:nllb", language, row["sentence"], str(row["stereotype"])) for row in data]
        assert [
            (row["id"], row["system"], row["language"], row["source"], row["stereotype"]) for row in part
        ] == wanted
        assert all(bool(row["translation"]) != bool(row["problem"]) for row in part)
        assert "tokens/s" in shown
        texts, unique, stored, new, failed, speed, _ = cells(shown, language)
        assert (texts, unique, stored) == ("6", "6", "0")
        assert int(new) + int(failed) == 6
        assert int(new) > 3
        assert float(speed.replace(",", "")) > 0
    code, shown, _ = gest(*asked)
    assert code == 0
    assert cells(shown, "sk")[2:4] == ["6", "0"]
    assert rows("a/out.csv") == found


@pytest.mark.parametrize("name", ["own.txt", "own.csv", "own.jsonl"])
def test_sentences_of_ones_own(name: str, gest: Gest, deepl: Server) -> None:
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
    code, shown, err = gest("--system", "deepl", "--language", "sk", "--input", name, "--output", "o.csv")
    assert code == 0
    found = rows("o.csv")
    assert [row["id"] for row in found] == ids
    assert [row["source"] for row in found] == texts
    assert [row["translation"] for row in found] == [slovak(text) if text else "" for text in texts]
    assert [row["problem"] for row in found] == ["", "empty text", "", ""]
    assert cells(shown, "sk")[:5] == ["4", "3", "0", "2", "1"]
    assert "sk: 1 texts: empty text" in err
    assert deepl.asked == [texts[0], texts[2]]


def test_sentences_of_the_standard_input(script_environment: Mapping[str, str]) -> None:
    Path("made.csv").write_text("from,to\nI.,Ja.\nWe.,My.\n")
    command = [sys.executable, "-m", "gest_dataset", "translate", "--system", "file:made.csv"]
    command += ["--language", "sk", "--input", "-", "--output", "o.csv"]
    done = subprocess.run(
        command, env=dict(script_environment), input="I.\n\nWe.\n", capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert [(row["id"], row["translation"]) for row in rows("o.csv")] == [
        ("1", "Ja."),
        ("2", ""),
        ("3", "My."),
    ]


def test_a_quota_that_ends_half_way(gest: Gest, deepl: Server) -> None:
    deepl.script = [services.deepl, (456, {}, {"message": "Quota exceeded"})]
    Path("own.txt").write_text("\n".join(f"I am {number}." for number in range(70)))
    asked = ("--system", "deepl", "--language", "sk,cs", "--input", "own.txt", "--output", "o.csv")
    code, shown, err = gest(*asked)
    assert code == 1
    assert "not translated, or not to the end: sk, cs" in err
    assert "The quota of DeepL is used up" in err
    assert cells(shown, "sk")[2:5] == ["0", "50", "20"]
    assert [bool(row["translation"]) for row in rows("o.csv")] == [True] * 50 + [False] * 20
    code, shown, _ = gest(*asked)
    assert code == 0
    assert cells(shown, "sk")[2:5] == ["50", "20", "0"]
    assert cells(shown, "cs")[2:5] == ["0", "70", "0"]


def test_a_language_that_fails_does_not_stop_the_others(gest: Gest, deepl: Server) -> None:
    deepl.script = [(400, {}, {"message": "Value for 'target_lang' not supported."})]
    Path("own.txt").write_text("I am tired.")
    code, _, err = gest("--system", "deepl", "--language", "be,sk", "--input", "own.txt", "--output", "o.csv")
    assert code == 1
    assert "DeepL does not translate from English to Belarusian (be)" in err
    assert [row["language"] for row in rows("o.csv")] == ["sk"]


def test_a_model_that_fails_does_not_stop_the_others(gest: Gest, tmp_path: Path) -> None:
    (tmp_path / "model-sk").symlink_to(translators.directory("nllb"))
    (tmp_path / "model-cs").mkdir()
    (tmp_path / "own.txt").write_text("I am tired.")
    asked = ("--system", "hf:model-{language}", "--language", "sk,cs", "--input", "own.txt")
    code, _, err = gest(*asked, "--output", "o.csv")
    assert code == 1
    assert "not translated, or not to the end: cs" in err
    assert "The model 'model-cs' cannot be loaded" in err
    assert [row["language"] for row in rows("o.csv")] == ["sk"]


def test_translations_that_cannot_be_ones_are_shown(gest: Gest) -> None:
    same = ("I am tired.", "I am tired.")
    made = [
        same,
        ("I was ill.", "I was very ill."),
        ("I cried.", "PlakalÃ¡ som."),
        ("I am a man.", "Som muž."),
    ]
    with Path("made.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("source", "translation"), *made])
    Path("own.txt").write_text("\n".join(source for source, _ in made))
    code, _, err = gest(
        "--system", "file:made.csv", "--language", "sk", "--input", "own.txt", "--output", "o.csv"
    )
    assert code == 0
    assert "sk: 1 texts: not translated: the same as the source\n    'I am tired.'" in err
    assert "sk: 1 texts: not translated: English\n    'I was ill.'" in err
    assert "sk: 1 texts: garbled: decoded with a wrong encoding\n    'I cried.'" in err
    assert "I am a man" not in err


def test_slavic_is_the_nine(gest: Gest) -> None:
    Path("made.csv").write_text("from,to\nI.,Ja.\n")
    Path("own.txt").write_text("I.")
    asked = ("--language", "slavic,bg,sk", "--input", "own.txt", "--output", "o.csv")
    code, _, _ = gest("--system", "file:made.csv", *asked)
    assert code == 0
    assert [row["language"] for row in rows("o.csv")] == [*SLAVIC, "bg"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ("--system nllb --language sk", 2, "There is no system 'nllb'. Use one of hf:MODEL_OR_PATH, deepl"),
        ("--system deepl --language xx", 2, "no target language 'xx'. Choose from slavic, de"),
        ("--system deepl --language sk,,cs", 2, "no target language ''"),
        ("--system deepl --language en", 2, "no target language 'en'"),
        ("--system deepl --language sk --config nope", 2, "nope"),
        ("--system deepl --language sk --config sk_pairs", 2, "has no English sentences. Use one of en,"),
        ("--system deepl --language sk --revision 1", 2, "has no revisions"),
        ("--system deepl --language sk --limit 2", 1, "set DEEPL_AUTH_KEY"),
        ("--system deepl --language sk --input lost.txt", 2, "There is no file lost.txt"),
        ("--system deepl --language sk --input odd.csv", 2, "has no column 'sentence', only text"),
        ("--system deepl --language sk --input empty.txt", 1, "empty.txt has no sentence"),
        (
            "--system deepl --language sk --input latin.txt",
            1,
            "line 1: this is not UTF-8",
        ),
        ("--system file:lost.csv --language sk", 2, "There is no file lost.csv"),
        ("--system hf:odd.csv --language sk --device quantum", 2, "no device 'quantum'"),
    ],
)
def test_bad_input(arguments: str, code: int, said: str, gest: Gest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEEPL_AUTH_KEY", raising=False)
    Path("odd.csv").write_text("text\nI.\n")
    Path("empty.txt").write_text("")
    Path("latin.txt").write_bytes("café".encode("latin-1"))
    ended, shown, err = gest(*arguments.split(), "--output", "o.csv")
    assert (ended, shown) == (code, "")
    assert said in " ".join(err.split())
    assert "Traceback" not in err
    assert not Path("o.csv").exists()


def test_ctrl_c(script_environment: Mapping[str, str], tmp_path: Path) -> None:
    pytest.importorskip("deepl")
    Path("own.txt").write_text("\n".join(f"I am {number}." for number in range(70)))
    arrived, go_on = threading.Event(), threading.Event()

    def hang(request: services.Request) -> services.Answer:
        arrived.set()
        go_on.wait(60)
        return services.deepl(request)

    with services.serving(services.deepl) as server:
        server.script = [services.deepl, hang]
        command = [sys.executable, "-m", "gest_dataset", "translate", "--system", "deepl"]
        command += ["--language", "sk", "--input", "own.txt", "--output", "o.csv"]
        environment = {**script_environment, "DEEPL_AUTH_KEY": "k3y", "DEEPL_SERVER_URL": server.url}
        process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
        assert arrived.wait(60)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        go_on.set()
    assert process.returncode == 130
    assert "run the same command again" in err
    assert "Traceback" not in err
    folder = Path(environment["HF_HOME"]) / "gest" / "translations"
    with closing(sqlite3.connect(store.path_of(folder, "deepl", "sk"))) as connection:
        assert connection.execute("SELECT count(*) FROM translations").fetchone() == (50,)
    assert not Path("o.csv").exists()


@pytest.mark.parametrize("lost", ["mine.csv", "made.csv"])
def test_an_input_is_never_overwritten(lost: str, gest: Gest, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("sentence\nA.\n")
    (tmp_path / "made.csv").write_text("from,to\nA.,a\n")
    before = (tmp_path / lost).read_bytes()
    arguments = ("--system", "file:made.csv", "--language", "sk", "--input", "mine.csv", "--output")
    code, _, said = gest(*arguments, lost)
    assert code == 2
    assert f"{lost} is an input and would be overwritten" in said
    assert (tmp_path / lost).read_bytes() == before
    code, _, said = gest(*arguments, str(tmp_path))
    assert code == 2
    assert "is a folder" in said
    assert gest(*arguments, "new.csv")[0] == 0
    assert rows("new.csv")[0]["translation"] == "a"
