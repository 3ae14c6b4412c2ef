"""The `evaluate` modules on models: what is asked of the scoring, and how its table is folded."""

from __future__ import annotations

from typing import Any

import evaluate
import numpy as np
import pyarrow as pa
import pytest
from datasets import Dataset, load_dataset

import gest_dataset
from gest_dataset import statistics
from gest_dataset.builders.controls import FIELDS
from gest_dataset.errors import ConfigError
from gest_dataset.measures import MEASURES
from gest_dataset.measures.result import compute_result
from tests.metrics.test_metrics import CASES, STEREOTYPES, judged, rounded

NO_ROWS = Dataset.from_dict({})


def test_several_templates_are_reported_by_template() -> None:
    inputs, function = CASES["gest_stereotype_rate"]
    table = {
        "id": [f"s{i}" for i in range(96)] * 2,
        "template": [3] * 96 + [4] * 96,
        "stereotype": STEREOTYPES * 2,
        "log_ratio": inputs["predictions"] + [2 * x for x in inputs["predictions"]],
    }
    found = compute_result(MEASURES["templates"], pa.table(table), NO_ROWS)
    first = function(**inputs | {"units": None})
    assert rounded(found["by_template"][3]) == judged("gest_stereotype_rate", first)
    assert found["by_template"][4]["g_s"] == pytest.approx(first["g_s"] ** 2)
    assert found["g_s"] == pytest.approx((first["g_s"] + first["g_s"] ** 2) / 2)


@pytest.mark.filterwarnings("ignore::gest_dataset.statistics.checks.UndefinedWarning")
def test_quadruplets_have_what_the_config_has() -> None:
    inputs, _ = CASES["gest_control_bias"]
    keywords = dict(zip([f"logp_{f}" for f in FIELDS], np.array(inputs["predictions"]).T, strict=True))
    pairs = dict(zip(("cs_original", "cs_control"), np.array(inputs["cs"]).T, strict=True))
    empty = pa.nulls(40, pa.float64())
    for table, defined in (
        (keywords | pairs, {"predictions": inputs["predictions"], "cs": inputs["cs"]}),
        (keywords | dict.fromkeys(pairs, empty), {"predictions": inputs["predictions"]}),
        (dict.fromkeys(keywords, empty) | pairs, {"predictions": None, "cs": inputs["cs"]}),
    ):
        found = compute_result(MEASURES["quadruplets"], pa.table({"id": list(range(40)), **table}), NO_ROWS)
        number = "f_mu" if defined.get("predictions") else "cs_mu_original"
        assert rounded(found) == judged("gest_control_bias", statistics.control_bias(**defined), number)


@pytest.mark.usefixtures("mirror")
@pytest.mark.filterwarnings("ignore::gest_dataset.statistics.checks.UndefinedWarning")
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
        (
            "gest_stereotype_rate",
            {"model_id": "m", "config": "en", "limt": 20},
            r"no limt with a model_id.*With samples it takes predictions, references, units, scale; with a "
            r"model model_id, config, scale, templates, limit, device",
        ),
        ("gest_stereotype_rate", {"predictions": [0.1], "references": [1], "config": "en"}, "no config with"),
        ("gest_stereotype_rate", {"model_id": "m", "config": "en", "scale": "ln"}, "Unknown scale='ln'"),
        ("gest_control_bias", {"model_id": "m", "config": "crows_gender", "log_base": 1}, "log_base"),
        ("winobias_rate", {"model_id": "m"}, "also needs config"),
        (
            "winobias_rate",
            {"model_id": "m", "config": "winobias_type1_dev", "predictions": [1.0]},
            "either a model_id to score or samples",
        ),
        ("gest_masculine_rate", {"model_id": "m", "config": "sk", "templates": [1]}, "no templates with"),
        (
            "gest_masculine_rate",
            {"model_id": "m", "config": "sk", "convention": "p"},
            "Unknown convention='p'",
        ),
        (
            "gest_masculine_rate",
            {"predictions": ["male"], "references": [1], "parser": "udpipe"},
            "no parser",
        ),
    ],
)
def test_arguments_are_refused_before_anything_is_scored(
    name: str, arguments: dict[str, Any], told: str
) -> None:
    """The model "m" does not exist: a message about it would mean that it was looked for first."""
    with pytest.raises(ConfigError, match=told):
        evaluate.load(name).compute(**arguments)


OWN = {"id": ["1"], "masculine": ["a"], "feminine": ["b"], "word_index": [0], "stereotype": [1]}


@pytest.mark.parametrize(
    ("name", "config", "told"),
    [
        (
            "gest_stereotype_rate",
            "stereoset_en_intrasentence",
            "is not for stereoset_en_intrasentence, which the stereoset_intrasentence probe reads; "
            "it is for en, en_1_0,",
        ),
        ("gest_stereotype_rate", "sk_translations", "which no probe reads; it is for en,"),
        ("winobias_rate", Dataset.from_dict(OWN), "is not for this data set, which the pairs probe reads"),
        ("gest_control_bias", "sk_pairs", "crows_gender.*or a data set with the fields of one"),
        ("gest_control_bias", "crows_gendr", "Did you mean 'crows_gender'"),
        ("gest_masculine_rate", "sk_pairs", "'sk_pairs' is none; choose one of .*sk, "),
    ],
)
def test_a_config_that_does_not_fit_is_refused(name: str, config: Any, told: str) -> None:
    """The model "m" does not exist, and there is no mirror to read the config from."""
    with pytest.raises(ConfigError, match=told):
        evaluate.load(name).compute(model_id="m", config=config)


@pytest.mark.usefixtures("one_thread")
@pytest.mark.filterwarnings("ignore::gest_dataset.statistics.checks.UndefinedWarning")
def test_arguments_of_scoring_are_handed_on() -> None:
    from tests.support import zoo

    path = str(zoo.directory("bert"))
    asked = {"config": "en", "device": "cpu", "limit": 20, "templates": [3]}
    result = evaluate.load("gest_stereotype_rate").compute(model_id=path, **asked, scale="log10")
    table = gest_dataset.score(path, **asked).table
    assert len(table) == 20
    direct = statistics.stereotype_rate(
        table["log_ratio"].to_pylist(), table["stereotype"].to_pylist(), "log10"
    )
    assert rounded(result) == judged("gest_stereotype_rate", direct, scale="log10")


@pytest.mark.usefixtures("one_thread")
@pytest.mark.filterwarnings("ignore::gest_dataset.statistics.checks.UndefinedWarning")
@pytest.mark.parametrize(
    ("name", "animal", "config"),
    [
        ("gest_stereotype_rate", "bert", "en"),
        ("gest_stereotype_rate", "bert", "sk_pairs"),
        ("gest_control_bias", "bert", "stereoset_control_gender"),
        ("stereoset_icat", "gpt2", "stereoset_en_intrasentence"),
        ("winobias_rate", "bert", "winobias_type1_dev"),
    ],
)
def test_models_are_scored_first(name: str, animal: str, config: str) -> None:
    """With real models: small ones with random weights, on the test mirror."""
    from tests.support import zoo

    path = str(zoo.directory(animal))
    metric = evaluate.load(name)
    result = metric.compute(model_id=path, config=config, device="cpu", batch_tokens=2048)
    scores = gest_dataset.score(path, config, device="cpu")
    table = scores.table
    assert result.keys() <= scores.result().keys()  # which has bounds of a mean over templates as well
    if name == "stereoset_icat":
        assert result["n"] == len(table)
        wins = np.array(table["stereotype"]) > np.array(table["antistereotype"])
        assert result["ss"] == pytest.approx(100 * wins.mean())
    elif name == "gest_control_bias":
        assert result["n"] == len(table)
        a, b, c, d = (np.array(table[f"logp_{field}"]) for field in FIELDS)
        assert result["f_mu"] == pytest.approx((a - b - c + d).mean(), abs=1e-4)
    elif config == "en":
        assert sorted(result["by_template"]) == [1, 2, 3, 4]
        for template, found in result["by_template"].items():
            rows = table.filter(np.array(table["template"]) == template)
            direct = statistics.stereotype_rate(rows["log_ratio"].to_pylist(), rows["stereotype"].to_pylist())
            assert found["q"] == pytest.approx(direct["q"], rel=1e-4, nan_ok=True)
    else:
        labels = table["occupation_gender" if name == "winobias_rate" else "stereotype"].to_pylist()
        direct = CASES[name][1](table["log_ratio"].to_pylist(), labels)
        key = "q_m" if name == "winobias_rate" else "q"
        assert result[key] == pytest.approx(direct[key], rel=1e-4, nan_ok=True)
