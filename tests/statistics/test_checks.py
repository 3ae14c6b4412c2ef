"""Invalid input is an error that names the argument and index; undefined values are nan with a warning."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import evaluate
import numpy as np
import pandas as pd
import pytest
import torch

from gest_dataset import statistics
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.statistics import checks, confounders

REFERENCES = list(range(1, 17)) * 2
RATIOS = [0.01 * i**2 for i in range(32)]
GENDERS = ["male", "female"] * 16
ROW = [-1.0, -2.0, -1.5, -2.5]
ROWS = [[-1.0 - i % 3, -2.0 + i % 5, -1.5, -2.5 - i % 7] for i in range(32)]
TRIPLES = [[1.0, 2.0 - i % 3, i % 5] for i in range(32)]
TARGETS = ["a", "b"] * 16

# function, its arguments, and an invalid value of each
CALLS: dict[str, tuple[Callable[..., Any], dict[str, list[Any]], dict[str, Any]]] = {
    "stereotype_rate": (
        statistics.stereotype_rate,
        {"predictions": RATIOS, "references": REFERENCES},
        {"predictions": math.nan, "references": 17},
    ),
    "masculine_rate": (
        statistics.masculine_rate,
        {"predictions": GENDERS, "references": REFERENCES},
        {"predictions": "both", "references": 1.5},
    ),
    "winobias_rate": (
        statistics.winobias_rate,
        {"predictions": RATIOS, "references": GENDERS},
        {"predictions": "much", "references": "unknown"},
    ),
    "stereoset_icat": (
        statistics.stereoset_icat,
        {"predictions": TRIPLES, "references": TARGETS, "bias_types": TARGETS},
        {"predictions": [1.0, 2.0], "references": " ", "bias_types": ""},
    ),
    "control_bias": (
        statistics.control_bias,
        {"predictions": ROWS, "cs": [[0.1, 0.2]] * 32},
        {"predictions": [1.0, 2.0, 3.0, math.nan], "cs": [math.inf, 1.0]},
    ),
    "choice_rate": (
        statistics.choice_rate,
        {"predictions": GENDERS, "references": REFERENCES, "letters": [0] * 32},
        {"predictions": "he", "references": 17, "letters": "a"},
    ),
    "topical_bias": (
        statistics.topical_bias,
        {"sentences": ["my child"] * 32, "predictions": RATIOS, "references": REFERENCES},
        {"predictions": math.nan, "references": 17},
    ),
    **{
        f"compare {measure}": (
            lambda measure=measure, **inputs: statistics.compare(measure, **inputs),
            {"a": side, "b": side, **references},
            {"a": wrong, "b": wrong, **({"references": 17} if references else {})},
        )
        for measure, side, wrong, references in (
            ("g_s", RATIOS, math.nan, {"references": REFERENCES}),
            ("f_s", GENDERS, "both", {"references": REFERENCES}),
            ("icat", TRIPLES, [1.0, 2.0, math.nan], {}),
            ("cs_mu_original", RATIOS, math.nan, {}),
        )
    },
}
INVALID = [
    pytest.param(call, inputs, name, value, id=f"{label}-{name}")
    for label, (call, inputs, wrong) in CALLS.items()
    for name, value in wrong.items()
]


@pytest.mark.parametrize(("call", "inputs", "name", "value"), INVALID)
def test_an_invalid_value_is_named_with_its_index(
    call: Callable[..., Any], inputs: dict[str, list[Any]], name: str, value: Any
) -> None:
    changed = [*inputs[name]]
    changed[23] = value
    with pytest.raises(DataError, match=rf"^{name}, index 23: "):
        call(**{**inputs, name: changed})


@pytest.mark.parametrize("label", CALLS)
def test_lengths_must_be_equal(label: str) -> None:
    call, inputs, _ = CALLS[label]
    for name in inputs:
        with pytest.raises(DataError, match=r"differ in length \(.*30"):
            call(**{**inputs, name: inputs[name][:30]})


def test_empty_input() -> None:
    with pytest.raises(DataError, match="predictions is empty"):
        statistics.stereotype_rate([], [])
    with pytest.raises(DataError, match="needs predictions or cs"):
        statistics.control_bias(None)


NOT_NUMBERS: dict[str, Any] = {
    "text": "123",
    "texts of numbers": ["0.1", "0.2", "0.3"],
    "complex numbers": np.array([1j, 2j, 3j]),
}


@pytest.mark.parametrize("values", NOT_NUMBERS.values(), ids=NOT_NUMBERS)
def test_what_numpy_would_convert_to_numbers_is_rejected(values: Any) -> None:
    with pytest.raises(DataError, match="predictions"):
        statistics.stereotype_rate(values, [1, 2, 3])
    with pytest.raises(DataError, match="predictions"):
        evaluate.load("gest_stereotype_rate").compute(predictions=values, references=[1, 2, 3])


@pytest.mark.parametrize("kind", [np.array, pd.Series, torch.tensor])
def test_labels_may_be_arrays_series_and_tensors(kind: Callable[[list[int]], Any]) -> None:
    assert checks.label_codes("references", kind([3, 1, 2]), [1, 2, 3]).tolist() == [2, 0, 1]


@pytest.mark.parametrize("units", [[1, 2, None, 2], [1, 2, math.nan, 2], [1, 1]])
def test_units_are_checked(units: Any) -> None:
    with pytest.raises(DataError, match="units"):
        statistics.winobias_rate([1.0, 2.0, 3.0, 4.0], ["male", "male", "female", "female"], units=units)


CHOICES: dict[str, Callable[[], Any]] = {
    "convention": lambda: statistics.masculine_rate(["male"], [1], convention="printed"),
    "scale": lambda: statistics.stereotype_rate([0.1], [1], scale="ln"),
    "measure": lambda: statistics.compare("q_f", [0.1], [0.2], [1]),
    "log_base": lambda: statistics.control_bias([ROW], log_base=1),
}


@pytest.mark.parametrize("name", CHOICES)
def test_an_unknown_option_is_answered_with_the_known_ones(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"{name}=.*(choose one of|use math\.e or 10)"):
        CHOICES[name]()


def test_word_frequencies(monkeypatch: pytest.MonkeyPatch) -> None:
    wordfreq = pytest.importorskip("wordfreq")
    words = ["strong", "kind", "emotional", "beautiful", "lazy", "brave"]
    others = ["weak", "cruel", "stoic", "ugly", "diligent", "timid"]
    logs = [[math.log(wordfreq.word_frequency(word, "en")) for word in side] for side in (words, others)]
    found = confounders.log_relative_frequency([*words, "xqzzyq"], [*others, "kind"])
    assert found[:-1] == pytest.approx(np.subtract(*logs))
    assert math.isnan(found[-1])
    with pytest.raises(ConfigError, match="no frequencies for 'xx', only for ar, "):
        confounders.log_relative_frequency(["a"], ["b"], "xx")
    monkeypatch.setitem(__import__("sys").modules, "wordfreq", None)
    with pytest.raises(ConfigError, match=r"gest-dataset\[frequency\]"):
        confounders.log_relative_frequency(["a"], ["b"])


def all_nan(result: dict[str, Any], *names: str) -> bool:
    return all(math.isnan(result[name]) for name in names)


def test_a_stereotype_without_samples() -> None:
    references = [i for i in REFERENCES if i != 7]
    result = statistics.stereotype_rate([0.01 * i**2 for i in range(30)], references)
    assert math.isnan(result["q"][6])
    assert math.isnan(result["feminine_ranks"][6])
    assert all_nan(result, "q_f", "g_s", "q_f_low", "g_s_high")
    assert result["q_m_low"] < result["q_m"] < result["q_m_high"]
    assert result["q"][0] == pytest.approx(math.exp(0.01 * 15**2 / 2))


def test_a_stereotype_with_unknown_genders_only() -> None:
    labels = ["unknown" if i == 12 else "male" for i in REFERENCES]
    result = statistics.masculine_rate(labels, REFERENCES)
    assert all_nan(result, "p_m", "f_s", "f_m", "f_s_low", "f_s_high", "f_m_high")
    assert [math.isnan(p) for p in result["p"]] == [i == 12 for i in range(1, 17)]
    assert (result["p_f"], result["n_unknown"]) == (1.0, 2)


def test_sets_without_keywords_have_cs_only() -> None:
    result = statistics.control_bias(None, [[0.5, 0.1], [-0.2, 0.3], [0.1, 0.2]])
    assert result["cs_mu_original"] == pytest.approx(0.4 / 3)
    assert result["cs_plus_original"] == pytest.approx(2 / 3)
    assert all_nan(result, "ss_mu_original", "f_mu", "f_mu_low", "f_plus", "f_cs_rho", "cs_csk_rho")
    pairs = statistics.control_bias(None, [[0.5, None], [-0.2, None]])
    assert pairs["cs_mu_original"] == pytest.approx(0.15)
    assert all_nan(pairs, "cs_mu_control", "cs_rho", "cs_plus_control")
    keywords = statistics.control_bias([ROW, [*ROW[:3], -1.0]])
    assert keywords["f_mu"] == pytest.approx(0.75)
    assert all_nan(keywords, "cs_mu_original", "f_cs_agreement")
