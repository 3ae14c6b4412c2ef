"""What can be known without a model is known before its weights are read; damaged files are said."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import gest_dataset
from gest_dataset.errors import ModelError, OutputError, ScoringError, SourceError
from gest_dataset.models import loading
from gest_dataset.models import score as scoring
from gest_dataset.probes.probe import Options
from tests.conftest import use
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def no_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading weights or a tokeniser fails the test."""

    def refused(*_: Any, **__: Any) -> None:
        raise AssertionError("the model is loaded")

    for auto_class in (*(auto_class for auto_class, _ in loading._KINDS.values()), loading.AutoTokenizer):
        monkeypatch.setattr(auto_class, "from_pretrained", refused)


@pytest.fixture
def lacking(mirror: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mirror without GEST's English sentences."""
    copy = Path(shutil.copytree(mirror, tmp_path / "mirror"))
    shutil.rmtree(copy / "kinit-sk/gest/data")
    use(copy, monkeypatch)  # with the same table of sources
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")


def score_configs(animal: str, configs: dict[str, bool], folder: Path, **options: Any) -> scoring.Outcome:
    loads = {"device": "cpu", "dtype": "float32"}
    return scoring.score_configs(
        str(zoo.directory(animal)), configs, folder, ["test"], Options(**options), **loads
    )


Ask = Callable[[str, str, Path], object]
WAYS: dict[str, Ask] = {
    "library": lambda animal, config, path: gest_dataset.score(
        str(zoo.directory(animal)), config, output=path
    ),
    "command": lambda animal, config, path: score_configs(animal, {config: True}, path),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.usefixtures("no_weights", "lacking")
def test_missing_data(way: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError):
        WAYS[way]("bert", "en", tmp_path / "run")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.usefixtures("no_weights")
def test_a_model_of_another_kind(way: str, tmp_path: Path) -> None:
    with pytest.raises(ScoringError, match="is a causal model"):
        WAYS[way]("gpt2", "slovak_gender", tmp_path / "run")


@pytest.mark.parametrize("way", ["library", "command"])
@pytest.mark.usefixtures("no_weights")
def test_a_folder_of_somebody_else(way: str, tmp_path: Path) -> None:
    path = tmp_path / ("run" if way == "library" else "run/en")
    path.mkdir(parents=True)
    (path / "mine.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"mine\.txt"):
        WAYS[way]("bert", "en", tmp_path / "run")


@pytest.mark.usefixtures("no_weights")
def test_options_that_do_not_fit(tmp_path: Path) -> None:
    folder = str(zoo.directory("gpt2"))
    for options, message in (
        ({"templates": [1]}, "word before the sentence"),
        ({"templates": [7]}, "There is no template 7"),
        ({"templates": tmp_path / "none.json"}, "cannot be read"),
        ({"device": "abacus"}, "There is no device"),
        ({"dtype": "float3"}, "There is no dtype"),
    ):
        with pytest.raises(ScoringError, match=message):
            gest_dataset.score(folder, "en", **options)
    with pytest.raises(ScoringError, match="cannot do 'nsp'"):
        gest_dataset.score(folder, "stereoset_de_intersentence", intersentence="nsp")
    with pytest.raises(ScoringError, match="There is no template 7"):
        score_configs("gpt2", {"en": True}, tmp_path / "run", templates=[7])


@pytest.mark.usefixtures("no_weights", "lacking")
def test_not_one_config_of_several_can_be_built(tmp_path: Path) -> None:
    outcome = score_configs("bert", {"en": True, "sk_pairs": True}, tmp_path / "runs")
    assert set(outcome.failed) == {"en", "sk_pairs"}
    assert outcome.entries == []


# ---- damaged models ------------------------------------------------------------------------------------


def halved(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


@pytest.mark.parametrize("file", ["model.safetensors", "tokenizer.json", "config.json"])
@pytest.mark.parametrize("animal", ["bert", "gpt2", "t5"])
def test_a_file_that_is_not_whole(animal: str, file: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(zoo.directory(animal), tmp_path / animal))
    halved(folder / file)
    with pytest.raises(ModelError, match=f"The model .*{animal}.* cannot be loaded"):
        gest_dataset.score(str(folder), "en", device="cpu", limit=3)


def test_weights_of_another_shape(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(zoo.directory("bert"), tmp_path / "bert"))
    settings = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(settings | {"intermediate_size": 60}))
    with pytest.raises(ModelError, match="cannot be loaded"):
        gest_dataset.score(str(folder), "en", device="cpu", limit=3)


def test_a_gguf_file_that_is_not_whole(tmp_path: Path) -> None:
    path = tmp_path / "small.gguf"
    content = struct.pack("<4sIQQ", b"GGUF", 3, 1, 5) + struct.pack("<Q", 20) + b"general.arch"
    for size in (2, 6, 24, len(content)):
        path.write_bytes(content[:size])
        with pytest.raises(
            ModelError, match=r"small\.gguf cannot be loaded as a GGUF file: .+\nIt is not whole"
        ):
            gest_dataset.score(str(path), "en", device="cpu", limit=3)


# ---- the encoding of the standard output ------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_no_command_crashes_for_its_encoding(
    encoding: str, script_environment: Mapping[str, str], tmp_path: Path
) -> None:
    def gest(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "gest_dataset", *arguments],
            env={**script_environment, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"},
            cwd=tmp_path,
            capture_output=True,
        )
        told = done.stderr.decode(encoding)
        assert done.returncode == 0, told
        assert "Traceback" not in told
        return done.stdout.decode(encoding)

    shutil.copytree(zoo.directory("bert"), tmp_path / "bert")
    arguments = ("score", "bert", "--output", "žena", "--templates", "1", "--device", "cpu")
    for command in (("--help",), ("list",), ("score", "--help"), arguments):
        assert gest(*command)
    told = json.loads(gest(*arguments, "--json"))
    assert told["runs"][0]["path"] == "žena"
    sentence = "Аз съм уморена – да. 😀"
    arguments = ("detect-gender", "--text", sentence, "--language", "bg", "--parser", "forms")
    assert gest(*arguments)
    shown = gest(*arguments, "--json")
    assert json.loads(shown)["text"] == sentence
