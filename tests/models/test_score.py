"""`gest_dataset.score`: several configs, rows of the user, options that do not fit, metadata, one line."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from datasets import Dataset, DatasetDict
from transformers import BertConfig, BertForPreTraining

import gest_dataset
from gest_dataset.builders import GROUPS
from gest_dataset.errors import ConfigError, ModelError
from gest_dataset.models import score as score_module
from tests.support import zoo

pytestmark = [
    pytest.mark.usefixtures("mirror", "one_thread"),
]
BERT = str(zoo.directory("bert"))
GPT2 = str(zoo.directory("gpt2"))


def score(model: Any, config: Any, **options: Any) -> Any:
    return gest_dataset.score(model, config, **{"limit": 3, "device": "cpu", **options})


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The models that have been loaded."""
    models: list[object] = []
    load = score_module.load_model

    def counting(model: object, *arguments: Any, **options: Any) -> Any:
        models.append(model)
        return load(model, *arguments, **options)

    monkeypatch.setattr(score_module, "load_model", counting)
    return models


# ---- several configs -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "order"),
    [
        ("sk_pairs,en", ["sk_pairs", "en"]),
        (("stereoset_de_intersentence", "en"), ["stereoset_de_intersentence", "en"]),
        (["en", "crows"], ["en", *GROUPS["crows"]]),
        (["en"], ["en"]),
    ],
)
def test_each_config_has_the_scores_that_it_has_alone(
    config: Any, order: list[str], loads: list[object]
) -> None:
    model = GPT2 if "stereoset_de_intersentence" in order else BERT
    several = score(model, config)
    assert list(several) == order
    assert loads == [model]
    for name, scores in several.items():
        alone = score(model, name)
        assert scores.metadata["config"] == name
        assert scores.table.equals(alone.table)
        assert scores.signature == alone.signature


def test_unsuitable_configs_of_a_group_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    t5 = str(zoo.directory("t5"))
    with caplog.at_level(logging.WARNING):
        several = score(t5, "controls")
    assert set(several) < set(GROUPS["controls"])
    assert "crows_control_negation is not scored: has no keywords" in caplog.text
    with pytest.raises(ConfigError, match="crows_control_negation has no keywords"):
        score(t5, ["slovak_gender", "crows_control_negation"])


def test_a_next_sentence_head_is_loaded_once(loads: list[object], tmp_path: Path) -> None:
    tokenizer = zoo.load("bert")[1]
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    BertForPreTraining(BertConfig(vocab_size=len(tokenizer), **sizes)).save_pretrained(tmp_path / "both")
    tokenizer.save_pretrained(tmp_path / "both")
    both, between = str(tmp_path / "both"), ["stereoset_de_intersentence", "stereoset_en_intersentence"]
    configs = [between[0], "en", between[1]]
    several = score(both, configs, output=tmp_path / "runs")
    assert list(several) == configs
    assert [scores.metadata["kind"] for scores in several.values()] == ["nsp", "masked", "nsp"]
    assert loads == [both, both]


def test_a_missing_next_sentence_head(caplog: pytest.LogCaptureFixture) -> None:
    """It leaves out configs of a group, and is an error for a config that was named."""
    missing = re.escape("lacks weights of BertForNextSentencePrediction")
    with caplog.at_level(logging.WARNING):
        group = score(BERT, "stereoset")
        named = score(BERT, ["en", "stereoset_de_intersentence"])
    assert set(group) == {name for name in GROUPS["stereoset"] if name.endswith("intrasentence")}
    assert "stereoset_de_intersentence is not scored: the checkpoint has no next-sentence head" in caplog.text
    assert list(named) == ["en"]
    assert re.search(f"stereoset_de_intersentence is not scored: .* {missing}", caplog.text)
    with pytest.raises(ModelError, match=missing):
        score(BERT, "stereoset_de_intersentence")


# ---- before the model is loaded --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "config", "options", "message"),
    [
        ("bert", [], {}, "names no config"),
        ("bert", None, {}, "config is a NoneType. Give the name of a config"),
        ("bert", DatasetDict(), {}, "config is a DatasetDict. .* or one split as a datasets.Dataset"),
        ("bert", "sk_pair", {}, "Did you mean 'sk_pairs'"),
        ("bert", "sk_translations", {}, "sk_translations cannot be scored: .*gest masculine-rate"),
        ("bert", "en", {"limit": 0}, "limit=0 is too small"),
        ("bert", "en", {"batch_tokens": 0}, "batch_tokens=0 is too small"),
        ("bert", "en", {"null": -1}, "null=-1 is too small"),
        ("bert", "en", {"templates": [9]}, "There is no template 9"),
        ("bert", "en", {"templates": "none.json"}, "cannot be read"),
        ("bert", "en", {"device": "abacus"}, "The device 'abacus' cannot be used"),
        ("bert", "en", {"dtype": "float3"}, "Unknown dtype='float3'"),
        ("gpt2", "en", {"templates": [1]}, "word before the sentence"),
        ("t5", "crows_gender", {}, "needs a causal or masked model, and this one is seq2seq"),
        ("gpt2", "stereoset_de_intersentence", {"intersentence": "nsp"}, "does not support the method 'nsp'"),
    ],
)
@pytest.mark.usefixtures("no_weights")
def test_wrong_usage(model: str, config: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        score(str(zoo.directory(model)), config, **options)


# ---- rows of the user ------------------------------------------------------------------------------------


def test_rows_without_ids_are_numbered() -> None:
    rows = Dataset.from_dict({"sentence": ["I sing.", " ", "I am here."], "stereotype": [1, 2, 3]})
    scores = score(zoo.load("bert"), rows, templates=[1])
    assert scores.table["id"].to_pylist() == ["0", "2"]
    assert scores.skipped["id"].to_pylist() == ["1"]
    assert scores.metadata["notes"] == ["the rows have no ids, so they are numbered from 0"]
    numbers = rows.add_column("id", [10, 20, 30])
    scores = score(zoo.load("bert"), numbers, templates=[1])
    assert (scores.table["id"].to_pylist(), scores.skipped["id"].to_pylist()) == (["10", "30"], ["20"])
    assert scores.metadata["notes"] == []


def test_skipped_samples_are_listed(caplog: pytest.LogCaptureFixture) -> None:
    rows = Dataset.from_dict(
        {
            "id": ["good", "empty", "mask", "long"],
            "sentence": ["I sing.", " ", "I [MASK] sing.", "I sing. " * 200],
            "stereotype": [1, 2, 3, 4],
        }
    )
    with caplog.at_level(logging.WARNING):
        scores = score(zoo.load("bert"), rows, templates=[1], limit=None)
    assert "3 of 4 samples of data have no score" in caplog.text
    assert scores.table["id"].to_pylist() == ["good"]
    reasons = dict(zip(scores.skipped["id"].to_pylist(), scores.skipped["reason"].to_pylist(), strict=True))
    assert reasons["empty"] == "empty sentence"
    assert reasons["mask"] == "contains [MASK], which is reserved for the query"
    assert f"the model accepts {zoo.LONGEST}" in reasons["long"]
    assert sum(scores.metadata["skipped"].values()) == 3


# ---- what scores say -------------------------------------------------------------------------------------


def test_signature_and_metadata() -> None:
    scores = score(GPT2, "en")
    m = scores.metadata
    assert (m["samples"], m["asked"], m["scored"], m["skipped"]) == (3, 6, 6, {})
    assert m["templates"] == [3, 4]
    assert m["passes"]["inputs"] == 3, "both templates share a pass"
    assert m["packages"]["torch"] == torch.__version__
    fields = dict(part.split(":", 1) for part in scores.signature.split("|"))
    assert (fields["gest"], fields["templates"], fields["dtype"]) == ("en", "3+4", "float32")
    assert fields["version"] == gest_dataset.__version__
    assert m["data_fingerprint"].startswith(fields["data"])
    assert scores.table.column_names == ["id", "template", "stereotype", "log_ratio"]


def test_unused_options_are_noted() -> None:
    scores = score(zoo.load("bert"), "sk_pairs", limit=20, cs=True)
    assert scores.metadata["notes"] == ["cs has no effect on the probe pairs"]
    assert scores.metadata["options"] == {}
