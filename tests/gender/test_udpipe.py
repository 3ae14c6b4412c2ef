"""UDPipe: a model that the test trains, workers that die, and the published ones from a server of its own."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest
from ufal.udpipe import InputFormat, ProcessingError, Sentence, Sentences, Trainer

from gest_dataset.errors import ConfigError, SourceError
from gest_dataset.gender import ParserError, detect
from gest_dataset.gender.parsers import models
from gest_dataset.gender.parsers.models import parse_with_workers

PARSES = Path(__file__).resolve().parent / "parses"
PARAGRAPHS = 30  # that the tiny model is trained on

# what makes a model in seconds: it knows its own sentences by heart, and little else
TOKENIZER = "dimension=16;epochs=1;batch_size=5;learning_rate=0.02;early_stopping=0;segment_size=30"
TAGGER = "models=1;iterations=4;guesser_suffix_rules=6"
PARSER = (
    "iterations=4;embedding_upostag=8;embedding_feats=8;embedding_form=12;embedding_deprel=8;hidden_layer=32;"
    "structured_interval=0;transition_system=swap;transition_oracle=static_lazy;learning_rate=0.05"
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real model of UDPipe 1, trained on a few parses of the project's sentences."""
    whole = (PARSES / "sk.conllu").read_text(encoding="utf-8").split("# newpar\n")
    reader = InputFormat.newConlluInputFormat()
    reader.setText("".join(f"# newpar\n{part}" for part in whole[1 : PARAGRAPHS + 1]))
    error, sentences = ProcessingError(), Sentences()
    while True:
        sentence = Sentence()
        if not reader.nextSentence(sentence, error):
            break
        sentences.append(sentence)
    trained = Trainer.train("morphodita_parsito", sentences, Sentences(), TOKENIZER, TAGGER, PARSER, error)
    assert not error.occurred(), error.message
    path = tmp_path_factory.mktemp("model") / "tiny.udpipe"
    path.write_bytes(trained)
    return path


def test_a_trained_model(model: Path, tmp_path: Path) -> None:
    texts = ["Bola som unavená.", "Včera som prišiel domov neskoro.", "Vonku prší."]
    found = detect(texts, "sk", model=model, cache=tmp_path / "parses")
    assert [d.gender for d in found] == ["female", "male", "unknown"]
    assert found[1].evidence == ("prišiel",)


def test_several_workers_and_the_cache(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parses do not depend on the number of processes, and a second run starts no parser."""
    texts = [f"Bola som {i} dní {word}." for i in range(150) for word in ("unavená", "smutná", "chorá")]
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    cache = tmp_path / "parses.sqlite3"
    found = detect(texts, "sk", model=model, cache=cache)
    assert {d.gender for d in found} == {"female"}
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    assert detect(texts, "sk", model=model, cache=tmp_path / "other.sqlite3") == found
    monkeypatch.setattr(models, "SCRIPT", tmp_path / "nowhere.py")
    assert detect(texts, "sk", model=model, cache=cache) == found


def test_another_model_has_parses_of_its_own(model: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.udpipe"
    other.write_bytes(model.read_bytes() + b"\0")
    assert models.open_udpipe("sk", model).signature != models.open_udpipe("sk", other).signature


KILLED = """
import os, runpy, signal, sys
class Input:
    def __init__(self, lines): self.lines = lines
    def __iter__(self):
        for number, line in enumerate(self.lines):
            if number == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            yield line
sys.stdin = Input(sys.stdin)
runpy.run_path({worker!r}, run_name="__main__")
"""


def test_a_run_continues_after_a_killed_worker(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real worker, killed at its second batch."""
    texts = [f"Bola som {i} dní unavená." for i in range(150)]
    cache = tmp_path / "parses.sqlite3"
    script = tmp_path / "killed.py"
    script.write_text(KILLED.format(worker=str(models.SCRIPT)), encoding="utf-8")
    with monkeypatch.context() as patched:
        patched.setattr(models, "SCRIPT", script)
        with pytest.raises(ParserError, match=r"(?s)exit code -9.*64 of 150 texts are parsed"):
            detect(texts, "sk", model=model, cache=cache)
    found = detect(texts, "sk", model=model, cache=cache)
    assert found == detect(texts, "sk", model=model, cache=tmp_path / "fresh.sqlite3")


def test_no_model_and_wrong_model(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="There is no UDPipe model"):
        detect(["Som doma."], "sk", model=tmp_path / "sk.udpipe", cache=tmp_path / "parses")
    wrong = tmp_path / "wrong.udpipe"
    wrong.write_bytes(b"this is no model")
    with pytest.raises(ParserError, match=r"is not a UDPipe model(?s:.*)0 of 1 texts are parsed"):
        detect(["Som doma."], "sk", model=wrong, cache=tmp_path / "parses")


def test_a_model_of_another_language(model: Path, tmp_path: Path) -> None:
    """By its name; names that say nothing else are taken."""
    arguments = {"cache": tmp_path / "parses"}
    for name in ("cs.udpipe", "cs_pdt.udpipe", "czech-pdt-ud-2.5-191206.udpipe", "Czech.model", "cs"):
        (tmp_path / name).symlink_to(model)
        with pytest.raises(ConfigError, match=r"looks like a Czech model .*Use a Slovak model"):
            detect(["Bola som unavená."], "sk", model=tmp_path / name, **arguments)
    for name in ("sk.udpipe", "slovak-snk.udpipe", "cs-like.udpipe", "7.udpipe"):
        (tmp_path / name).symlink_to(model)
        assert detect(["Bola som unavená."], "sk", model=tmp_path / name, **arguments)[0].gender == "female"


# ---- worker processes -------------------------------------------------------------------------------------

WORKER = """
import json, os, sys
for number, line in enumerate(sys.stdin):
    if number == {dies}:
        print("out of breath", file=sys.stderr, flush=True)
        os._exit(7)
    print(json.dumps({{"documents": [text.upper() for text in json.loads(line)]}}), flush=True)
"""


def worker(tmp_path: Path, dies: int = -1) -> list[str]:
    path = tmp_path / "worker.py"
    path.write_text(WORKER.format(dies=dies), encoding="utf-8")
    return [sys.executable, str(path)]


def test_workers_that_fail(tmp_path: Path) -> None:
    for command, message in (
        (worker(tmp_path, dies=0), "stopped with exit code 7: out of breath"),
        ([sys.executable, str(tmp_path / "nowhere.py")], "stopped with exit code 2"),
    ):
        with pytest.raises(ParserError, match=message):
            list(parse_with_workers(command, ["x", "y"], 1, 1))


def test_a_reader_that_stops_early_leaves_no_worker(tmp_path: Path) -> None:
    """Ctrl-C: the workers end with the generator, even one that would never answer."""
    before = set(threading.enumerate())
    command = worker(tmp_path)
    path = Path(command[1])
    path.write_text(path.read_text() + "    import time; time.sleep(3600 * (number > 2))\n")
    batches = parse_with_workers(command, [str(i) for i in range(40)], 2, 4)
    next(batches)
    batches.close()
    assert set(threading.enumerate()) == before


# ---- the published models ---------------------------------------------------------------------------------

BYTES = models._MAGIC + bytes(range(256))
PAGE = b"<html>moved</html>"


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes | None]:
    """What the two addresses of the repository answer; None is an error."""
    found: dict[str, bytes | None] = {"new": BYTES, "old": BYTES}

    def download(url: str, advice: str) -> bytes:
        content = found.pop(url.split("/")[2])
        if content is None:
            raise SourceError(f"{url} returns HTTP status 404.\n{advice}")
        return content

    monkeypatch.setattr(models, "_REPOSITORIES", ("https://new/models", "https://old/models"))
    monkeypatch.setattr(models.sources, "download", download)
    return found


@pytest.mark.parametrize("answer", [BYTES, None, PAGE])
def test_a_published_model_is_downloaded_once(
    answers: dict[str, bytes | None], answer: bytes | None, tmp_path: Path
) -> None:
    """From the older address if the new one does not have it."""
    answers["new"] = answer
    for _ in range(2):
        path = models.published_model("sk", tmp_path)
    assert path.name == "slovak-snk-ud-2.5-191206.udpipe"
    assert path.read_bytes() == BYTES
    assert ("old" in answers) == (answer == BYTES)


def test_a_published_model_that_is_not_there(answers: dict[str, bytes | None], tmp_path: Path) -> None:
    answers |= {"new": None, "old": PAGE}
    with pytest.raises(
        SourceError, match=r"(?s)status 404.*other than a UDPipe model.*give its path as the model"
    ):
        models.published_model("sk", tmp_path)
    assert not list(tmp_path.glob("*.udpipe"))
    with pytest.raises(ConfigError, match="No UDPipe model is published for 'en'"):
        models.published_model("en", tmp_path)
