"""Code that comes with a model never runs without consent, whatever stands on the standard input."""

from __future__ import annotations

import io
import json
import shutil
import sys
from pathlib import Path

import pytest
from datasets import Dataset

import gest_dataset
from gest_dataset.errors import ModelError
from tests.conftest import Gest
from tests.support import gguf_files, translators, zoo

_CODE = """
from pathlib import Path
from transformers import BertConfig, BertForMaskedLM, BertTokenizerFast
Path({marker!r}).write_text("the code of the model has run")
class OwnConfig(BertConfig):
    model_type = "own"
class OwnModel(BertForMaskedLM):
    config_class = OwnConfig
class OwnTokenizer(BertTokenizerFast):
    pass
"""


def plant(folder: Path, marker: Path, file: str) -> None:
    """Code beside a model, and settings that name it."""
    (folder / "own.py").write_text(_CODE.format(marker=str(marker)))
    path = folder / file
    settings = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if file == "config.json":
        classes = {"AutoConfig": "own.OwnConfig", "AutoModelForMaskedLM": "own.OwnModel"}
        settings |= {"model_type": "own", "auto_map": classes | {"AutoModelForSeq2SeqLM": "own.OwnModel"}}
    else:
        settings |= {
            "tokenizer_class": "OwnTokenizer",
            "auto_map": {"AutoTokenizer": [None, "own.OwnTokenizer"]},
        }
    path.write_text(json.dumps(settings), encoding="utf-8")


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json"])
@pytest.mark.parametrize("command", ["score", "translate", "score gguf"])
def test_the_answer_y_runs_nothing(
    command: str, file: str, gest: Gest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, marker = tmp_path / "model", tmp_path / "it-ran"
    if command == "translate":
        shutil.copytree(translators.directory("nllb"), folder)
        arguments = ["translate", "--system", f"hf:{folder}", "--language", "sk", "--output", "out.csv"]
        arguments += ["--limit", "1"]
    elif command == "score":
        shutil.copytree(zoo.directory("bert"), folder)
        arguments = ["score", str(folder), "--limit", "2", "--templates", "3"]
    else:
        folder.mkdir()
        arguments = [
            "score",
            str(gguf_files.write(folder / "small.gguf")),
            "--limit",
            "2",
            "--templates",
            "3",
        ]
    plant(folder, marker, file)
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n" * 9))
    done = gest(*arguments, "--device", "cpu")
    assert not marker.exists(), done.stdout
    assert sys.stdin.read() == "y\n" * 9, "nothing reads the answer"
    assert "Do you wish" not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    if done.returncode:
        assert "is not run by default" in done.stderr


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json"])
@pytest.mark.usefixtures("one_thread")
def test_consent_runs_it(file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the test above plants is found and would run."""
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))
    folder, marker = Path(shutil.copytree(zoo.directory("bert"), tmp_path / "model")), tmp_path / "it-ran"
    plant(folder, marker, file)
    if file == "config.json":
        with pytest.raises(ModelError, match="comes with code of its own, which is not run by default"):
            gest_dataset.score(str(folder), "en", templates=[3], limit=2, device="cpu")
    assert not marker.exists()
    gest_dataset.score(str(folder), "en", templates=[3], limit=2, device="cpu", trust_remote_code=True)
    assert marker.exists()


@pytest.mark.parametrize("config", ["en", Dataset.from_dict({"sentence": ["I am."], "stereotype": [1]})])
@pytest.mark.usefixtures("one_thread")
def test_python_is_not_asked_either(
    config: str | Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a config and on rows of one's own; transformers would take "y" from `input`."""
    folder, marker = Path(shutil.copytree(zoo.directory("bert"), tmp_path / "model")), tmp_path / "it-ran"
    plant(folder, marker, "config.json")
    questions: list[str] = []
    monkeypatch.setattr("builtins.input", lambda question="": questions.append(question) or "y")
    with pytest.raises(ModelError, match="is not run by default"):
        gest_dataset.score(str(folder), config, templates=[3], device="cpu")
    assert not questions
    assert not marker.exists()


@pytest.mark.usefixtures("one_thread")
def test_attention_from_somewhere_else_is_code_as_well(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(zoo.directory("bert"), tmp_path / "model"))
    settings = json.loads((folder / "config.json").read_text())
    settings["attn_implementation"] = "somebody/attention"
    (folder / "config.json").write_text(json.dumps(settings))
    with pytest.raises(ModelError, match="attention from 'somebody/attention', which is not run by default"):
        gest_dataset.score(str(folder), "en", templates=[3], limit=2, device="cpu")
