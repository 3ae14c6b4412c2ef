"""The `evaluate` modules on models: what is asked of the scoring, and how its table is folded."""

from __future__ import annotations

import math
from typing import Any

import evaluate
import numpy as np
import pyarrow as pa
import pytest
from datasets import Dataset, concatenate_datasets, load_dataset

import gest_dataset
from gest_dataset import statistics
from gest_dataset.errors import ConfigError
from gest_dataset.measures import MEASURES
from gest_dataset.measures.result import compute_result
from tests.metrics.test_metrics import judged, rounded
from tests.support import naive, zoo


@pytest.mark.usefixtures("mirror")
def test_targets_are_the_english_ones_of_the_config() -> None:
    data = load_dataset("gest", "stereoset_tr_intrasentence", split="test")
    rows = data.to_list()[::-1]
    values = np.random.default_rng(1).normal(size=(len(rows), 3))
    names = ("stereotype", "antistereotype", "unrelated")
    table = {"id": [row["id"] for row in rows], **dict(zip(names, values.T, strict=True))}
    found = compute_result(MEASURES["stereoset_intrasentence"], pa.table(table), data)
    kinds = ["gender", "profession", "race", "religion"]
    direct = statistics.stereoset_icat(
        values,
        [row["target_en"] for row in rows],
        [kinds[row["bias_type"]] for row in rows],
        [row["target_en"] for row in rows],
    )
    assert rounded(found) == judged("stereoset_icat", direct)


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("gest_stereotype_rate", {"model_id": "m", "config": "en", "limt": 20}, "limt"),
        (
            "gest_stereotype_rate",
            {"predictions": [0.1], "references": [1], "config": "en"},
            "not accept config together",
        ),
        ("gest_stereotype_rate", {"model_id": "m", "config": "en", "scale": "ln"}, "Unknown scale='ln'"),
        ("gest_control_bias", {"model_id": "m", "config": "crows_gender", "log_base": 1}, "log_base"),
        (
            "winobias_rate",
            {"model_id": "m", "config": "winobias_type1_dev", "predictions": [1.0]},
            "either a model_id to score or samples",
        ),
        ("gest_masculine_rate", {"model_id": "m", "config": "sk", "templates": [1]}, "templates"),
    ],
)
def test_arguments_are_refused_before_anything_is_scored(
    name: str, arguments: dict[str, Any], told: str
) -> None:
    """The model "m" does not exist: a message about it would mean that it was looked for first."""
    with pytest.raises((ConfigError, TypeError), match=told):
        evaluate.load(name).compute(**arguments)


OWN = {"id": ["1"], "masculine": ["a"], "feminine": ["b"], "word_index": [0], "stereotype": [1]}


@pytest.mark.parametrize(
    ("name", "config", "told"),
    [
        (
            "gest_stereotype_rate",
            "stereoset_en_intrasentence",
            r"not apply to stereoset_en_intrasentence \(stereoset_intrasentence\)\. Use it with en, en_1_0,",
        ),
        ("gest_stereotype_rate", "sk_translations", "does not apply to sk_translations. Use it with en,"),
        ("winobias_rate", Dataset.from_dict(OWN), r"does not apply to this dataset \(pairs\)"),
        ("gest_control_bias", "sk_pairs", "crows_gender.*or a dataset that has the fields of one"),
        ("gest_control_bias", "crows_gendr", "Did you mean 'crows_gender'"),
        ("gender_accuracy", "winomt", "not 'winomt'. The languages are .*sk, "),
        ("gest_masculine_rate", "sk_pairs", "not 'sk_pairs'. The languages are .*sk, "),
    ],
)
def test_a_config_that_does_not_fit_is_refused(name: str, config: Any, told: str) -> None:
    """The model "m" does not exist, and there is no mirror to read the config from."""
    with pytest.raises(ConfigError, match=told):
        evaluate.load(name).compute(model_id="m", config=config)


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize(
    ("name", "animal", "config", "options"),
    [
        ("gest_stereotype_rate", "bert", "en", {"limit": 20, "templates": [3]}),
        ("gest_stereotype_rate", "bert", "sk_pairs", {}),
        ("gest_control_bias", "bert", "stereoset_control_gender", {}),
        ("stereoset_icat", "gpt2", "stereoset_en_intrasentence", {}),
        ("winobias_rate", "bert", "winobias_type1_dev", {}),
    ],
)
def test_models_are_scored_first(name: str, animal: str, config: str, options: dict[str, Any]) -> None:
    """With real models: small ones with random weights, on the test mirror."""
    path = str(zoo.directory(animal))
    result = evaluate.load(name).compute(model_id=path, config=config, device="cpu", **options)
    scores = gest_dataset.score(path, config, device="cpu", **options)
    assert len(scores.table) == options.get("limit", len(scores.rows) - len(scores.skipped))
    direct = scores.result()
    assert rounded(result) == rounded(direct)


@pytest.mark.usefixtures("one_thread")
def test_scales_and_templates_of_a_model() -> None:
    asked = {"config": "en", "device": "cpu"}
    path = str(zoo.directory("bert"))
    result = evaluate.load("gest_stereotype_rate").compute(model_id=path, **asked, scale="log10")
    table = gest_dataset.score(path, **asked).table
    assert sorted(result["by_template"]) == [1, 2, 3, 4]
    rows = table.filter(np.array(table["template"]) == 3)
    direct = statistics.stereotype_rate(
        rows["log_ratio"].to_pylist(), rows["stereotype"].to_pylist(), "log10"
    )
    assert rounded(result["by_template"][3]) == judged("gest_stereotype_rate", direct, scale="log10")


@pytest.mark.usefixtures("one_thread")
def test_eurogest_normalised_scores_per_token() -> None:
    """The numbers of an independent computation: shares of per-token probabilities, ten samples or none."""
    data = load_dataset("gest", "sk_pairs", split="test")
    rows = concatenate_datasets([data] * 12).map(lambda row, i: {"id": str(i)}, with_indices=True)
    model, tokenizer = zoo.load("gpt2")
    reader = naive.Reader(model, tokenizer, "causal")
    found = naive.answer(naive.per_token, reader, data)
    shares: dict[int, list[float]] = {}
    for row in data:
        if (value := found[row["id"]]) is not None:
            m, f = math.exp(value), 1.0
            shares.setdefault(row["stereotype"], []).append(m / (m + f))
    result = evaluate.load("gest_stereotype_rate").compute(
        model_id=(model, tokenizer), config=rows, device="cpu", scale="eurogest_normalised"
    )
    wanted = [shares.get(number) for number in range(1, 17)]
    assert result["scale"] == "eurogest_normalised"
    assert result["q"] == [some and pytest.approx(sum(some) / len(some), abs=1e-6) for some in wanted]
    assert any(wanted)
