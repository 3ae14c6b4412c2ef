"""Next-sentence fine-tuning: what is learnt, what a fault does to it, what a kill costs, what is refused."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForSeq2SeqLM, AutoModelForSequenceClassification, AutoTokenizer, Trainer

import gest_dataset
from gest_dataset.data.rows import rows_of
from gest_dataset.errors import GestError, ModelError, OutputError, SettingError
from gest_dataset.models.base import Settings
from gest_dataset.models.loading import load_model
from gest_dataset.probes.tokenization import make_probe_tokenizer
from gest_dataset.studies import nsp as training
from gest_dataset.studies.nsp import Plan, train
from gest_dataset.studies.nsp_pairs import NEXT
from tests.studies import corpora
from tests.support import killing, zoo

pytestmark = pytest.mark.usefixtures("one_thread")

# what lets a tiny random model learn in seconds; the defaults are for models that know a language
FAST: dict[str, Any] = {
    "learning_rate": 5e-3,
    "head_learning_rate": 1e-2,
    "batch_size": 32,
    "accumulate": 1,
    "epochs": 3,
}


def learn(animal: str, data: Path, output: Path, **settings: Any) -> dict[str, Any]:
    plan = Plan(str(zoo.directory(animal)), [str(data)], **{**FAST, **settings})
    return train(plan, output, device="cpu")


def weights(output: Path) -> str:
    return hashlib.sha256((output / "model.safetensors").read_bytes()).hexdigest()


@pytest.mark.slow
def test_train_and_score_a_causal_model(tmp_path: Path) -> None:
    data = corpora.write(tmp_path / "corpus.jsonl", corpora.documents(400))
    done = learn("gpt2", data, tmp_path / "nsp")
    assert done["accuracy_low"] > 0.9
    assert (
        done["accuracy_high"] <= 1 - corpora.CHANCE / 2 + 0.05
    )  # what is the same topic by chance is no error
    assert done["counts"] == {"documents": 400, "train": 360 * 4 * 2, "test": 320}
    assert done["steps"] == 3 * done["counts"]["train"] // 32
    assert not (tmp_path / "nsp" / training.TRAINING).exists()

    model = AutoModelForSequenceClassification.from_pretrained(tmp_path / "nsp").eval()
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "nsp")
    assert tokenizer.pad_token_id == model.config.pad_token_id == len(tokenizer) - 1
    assert make_probe_tokenizer(tokenizer, model, "nsp").next_label == NEXT

    scores = gest_dataset.score(str(tmp_path / "nsp"), "stereoset_en_intersentence", device="cpu")
    rows = {row["id"]: row for row in rows_of("stereoset_en_intersentence")}
    asked = scores.table.to_pylist()
    assert len(asked) > 3
    for score in asked:
        row = rows[score["id"]]
        for candidate in ("stereotype", "antistereotype", "unrelated"):
            pair = tokenizer(row["context"], row[candidate], return_tensors="pt")
            with torch.inference_mode():
                expected = model(**pair).logits.softmax(dim=-1)[0, NEXT]
            assert score[candidate] == pytest.approx(float(expected), abs=1e-5)

    card = (tmp_path / "nsp" / "README.md").read_text()
    assert f"**{done['accuracy']:.1%}**" in card
    assert "| 0 | `is next` |" in card
    record = json.loads((tmp_path / "nsp" / training.RECORD).read_text())
    losses = [loss for _, loss in record["result"]["losses"]]
    assert losses[0] > 0.6 > 0.3 > losses[-1]
    before = weights(tmp_path / "nsp")
    assert learn("gpt2", data, tmp_path / "nsp") == done
    assert weights(tmp_path / "nsp") == before


@pytest.mark.parametrize("animal", ["bert", "t5", "llama"])
def test_every_kind_trains_and_scores(tmp_path: Path, animal: str) -> None:
    """Of a T5 the decoder's state at the end token is classified; padding changes no answer."""
    data = corpora.write(tmp_path / "corpus.txt", corpora.documents(30))
    prefix = "binary classification: " if animal == "t5" else ""
    done = learn(animal, data, tmp_path / "nsp", max_steps=2, prefix=prefix)
    assert done["steps"] == 2
    with (tmp_path / "nsp" / "curve.csv").open(encoding="utf-8") as file:
        curve = list(csv.DictReader(file))
    assert [row["update"] for row in curve] == ["1", "2"]
    assert float(curve[-1]["eval_accuracy"]) == pytest.approx(done["accuracy"], abs=1e-9)
    assert [[1, float(curve[0]["loss"])], [2, float(curve[1]["loss"])]] == done["losses"]
    assert (tmp_path / "nsp" / "curve.svg").read_text(encoding="utf-8").count("<svg") == 1
    loaded = load_model(str(tmp_path / "nsp"), Settings(device="cpu", dtype="float32"))
    assert loaded.kind == "nsp"
    assert type(loaded.model).__name__.endswith("ForSequenceClassification")
    config = "stereoset_en_intersentence"
    columns = ("stereotype", "antistereotype", "unrelated")
    together, alone = (
        gest_dataset.score(str(tmp_path / "nsp"), config, device="cpu", batch_tokens=tokens).table
        for tokens in (4096, 1)
    )
    for column in columns:
        np.testing.assert_allclose(np.array(together[column]), np.array(alone[column]), atol=1e-5)
    row = next(row for row in rows_of(config) if row["id"] == together["id"][0].as_py())
    pair = loaded.tokenizer(prefix + row["context"], row["stereotype"], return_tensors="pt")
    with torch.inference_mode():
        logits = loaded.model(**{name: pair[name] for name in ("input_ids", "attention_mask")}).logits
    expected = float(logits.softmax(dim=-1)[0, NEXT])
    if animal != "bert":  # which has token types
        assert together["stereotype"][0].as_py() == pytest.approx(expected, abs=1e-5)


@pytest.mark.slow
def test_text_to_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A T5 learns to write the label of a planted rule; with swapped labels it learns the opposite."""
    data = corpora.write(tmp_path / "corpus.jsonl", corpora.documents(60))
    prefix = "binary classification: "
    settings = {"text_to_text": True, "prefix": prefix, "epochs": 6, "learning_rate": 2e-2}
    load_pairs, is_swapped = training.load_pairs, False

    def planted(*arguments: Any) -> list[Any]:
        """The second sentence alone tells the label, which is the wrong one in training if `is_swapped`."""
        train_pairs, test = (
            part.map(lambda pair: {"second": "he he he ." if pair["label"] == NEXT else "she she she ."})
            for part in load_pairs(*arguments)
        )
        return [train_pairs.map(lambda pair: {"label": pair["label"] ^ is_swapped}), test]

    monkeypatch.setattr(training, "load_pairs", planted)
    done = learn("t5", data, tmp_path / "nsp", **settings)
    with (tmp_path / "nsp" / "curve.csv").open(encoding="utf-8") as file:
        accuracies = [float(row["eval_accuracy"]) for row in csv.DictReader(file) if row["eval_accuracy"]]
    assert accuracies[0] < 0.7 < 0.95 < done["accuracy"] == accuracies[-1]
    losses = [loss for _, loss in done["losses"]]
    assert losses[0] > 3 * losses[-1]  # over the whole vocabulary

    model = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "nsp").eval()
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "nsp")
    assert model.config.architectures == ["T5ForConditionalGeneration"]
    labels = model.config.next_sentence_labels
    assert labels == [tokenizer(word).input_ids[0] for word in ("True", "False")]
    scores = gest_dataset.score(str(tmp_path / "nsp"), "stereoset_en_intersentence", device="cpu")
    assert scores.metadata["kind"] == "nsp"
    assert any(note.startswith("text-to-text: P(is next)") for note in scores.metadata["notes"])
    with pytest.raises(ModelError, match="give its folder, not the objects"):
        gest_dataset.score((model, tokenizer), "stereoset_en_intersentence")
    rows = {row["id"]: row for row in rows_of("stereoset_en_intersentence")}
    for score in scores.table.to_pylist():
        row = rows[score["id"]]
        for candidate in ("stereotype", "antistereotype", "unrelated"):
            pair = tokenizer(prefix + row["context"], row[candidate], return_tensors="pt")
            start = torch.tensor([[model.config.decoder_start_token_id]])
            with torch.inference_mode():
                log_p = model(**pair, decoder_input_ids=start).logits[0, 0].log_softmax(-1)
            expected = torch.sigmoid(log_p[labels[0]] - log_p[labels[1]])
            assert score[candidate] == pytest.approx(float(expected), abs=1e-5)
    # it writes what it has learned
    for second, label in zip(("he he he .", "she she she ."), labels, strict=True):
        written = model.generate(**tokenizer(f"{prefix}I.", second, return_tensors="pt"), max_new_tokens=1)
        assert written[0, 1] == label
    assert "AutoModelForSeq2SeqLM" in (tmp_path / "nsp" / "README.md").read_text(encoding="utf-8")

    # a training that stopped in its third checkpoint goes on from the second one
    calls, save = iter(range(100)), Trainer._save_optimizer_and_scheduler

    def stopping(self: Any, folder: str) -> None:
        assert next(calls) < 2, "stopped"
        save(self, folder)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_save_optimizer_and_scheduler", stopping)
        with pytest.raises(AssertionError, match="stopped"):
            learn("t5", data, tmp_path / "resumed", **settings)
    assert learn("t5", data, tmp_path / "resumed", **settings) == done
    assert weights(tmp_path / "resumed") == weights(tmp_path / "nsp")

    is_swapped = True
    assert learn("t5", data, tmp_path / "swapped", **settings)["accuracy"] < 0.1


def test_text_to_text_of_other_models(tmp_path: Path) -> None:
    data = corpora.write(tmp_path / "corpus.jsonl", corpora.documents(30))
    with pytest.raises(SettingError, match="is no encoder-decoder, so it has no text-to-text form"):
        learn("gpt2", data, tmp_path / "nsp", text_to_text=True)


# ---- kills -------------------------------------------------------------------------------------------------


def _killed(model: Path, data: Path, output: Path, prepare: Callable[[], None]) -> None:
    prepare()
    torch.set_num_threads(1)
    train(Plan(str(model), [str(data)], **{**FAST, "epochs": 1}), output, device="cpu")


def _die(*_: Any, **__: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _in_the_third_checkpoint() -> None:
    """The weights are written, the state is not."""
    calls = iter(range(100))
    save = Trainer._save_optimizer_and_scheduler

    def deadly(self: Any, folder: str) -> None:
        if next(calls) == 2:
            _die()
        save(self, folder)

    Trainer._save_optimizer_and_scheduler = deadly  # type: ignore[method-assign]


@pytest.mark.slow
def test_a_killed_training_resumes(tmp_path: Path) -> None:
    data = corpora.write(tmp_path / "corpus.jsonl", corpora.documents(60))
    whole = learn("gpt2", data, tmp_path / "whole", epochs=1)
    process = killing.process(
        _killed, zoo.directory("gpt2"), data, tmp_path / "killed", _in_the_third_checkpoint
    )
    process.join(120)
    assert process.exitcode == -signal.SIGKILL
    assert "result" not in json.loads((tmp_path / "killed" / training.RECORD).read_text())
    seen: list[int] = []
    step = Trainer.training_step

    def counted(self: Any, *given: Any, **named: Any) -> Any:
        seen.append(1)
        return step(self, *given, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Trainer, "training_step", counted)
        done = learn("gpt2", data, tmp_path / "killed", epochs=1)
    assert len(seen) < whole["steps"] == done["steps"]
    assert weights(tmp_path / "killed") == weights(tmp_path / "whole")
    assert (done["accuracy"], done["counts"]) == (whole["accuracy"], whole["counts"])


# ---- what is refused ---------------------------------------------------------------------------------------


def test_what_is_refused(tmp_path: Path) -> None:
    data = corpora.write(tmp_path / "corpus.jsonl", corpora.documents(30))
    with pytest.raises(ModelError, match="already has a classification head"):
        learn("bert-nsp", data, tmp_path / "nsp")
    with pytest.raises(SettingError, match="float16 needs CUDA"):
        learn("gpt2", data, tmp_path / "nsp", dtype="float16")
    with pytest.raises(ModelError, match="diverged"):
        learn("gpt2", data, tmp_path / "nsp", learning_rate=1e30, max_steps=2)
    assert not (tmp_path / "nsp" / "model.safetensors").exists()
    same = corpora.write(tmp_path / "same.txt", [corpora.documents(1)[0]] * 30)
    for few in (same, corpora.write(tmp_path / "few.txt", corpora.documents(10))):
        with pytest.raises(GestError, match="At least 11 different documents"):
            learn("gpt2", few, tmp_path / "few")


def test_another_training_in_the_folder(tmp_path: Path) -> None:
    data = corpora.write(tmp_path / "corpus.jsonl", corpora.documents(30))
    learn("gpt2", data, tmp_path / "nsp", max_steps=1)
    before = weights(tmp_path / "nsp")
    with pytest.raises(OutputError, match=r"seed: 0 \(existing\), 1 \(new\)"):
        learn("gpt2", data, tmp_path / "nsp", max_steps=1, seed=1)
    size = data.stat().st_size
    data.write_bytes(data.read_bytes().replace(b"woman", b"human"))
    assert data.stat().st_size == size
    with pytest.raises(OutputError, match="sha256"):
        learn("gpt2", data, tmp_path / "nsp", max_steps=1)
    assert weights(tmp_path / "nsp") == before
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"thesis\.txt"):
        learn("gpt2", data, tmp_path / "mine")
