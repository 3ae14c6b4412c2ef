"""Bad input: a message with the first offending index, or nan with a warning; never a silent zero."""

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
from gest_dataset.statistics.checks import UndefinedWarning

REFERENCES = list(range(1, 17)) * 2
ROW = [-1.0, -2.0, -1.5, -2.5]

REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "lengths": (
        lambda: statistics.stereotype_rate([0.1] * 3, [1, 2]),
        r"predictions, index 2: no partner: 3 predictions against 2 references",
    ),
    "nothing": (lambda: statistics.stereotype_rate([], []), "there is no sample"),
    "nan": (
        lambda: statistics.stereotype_rate([0.1, math.nan, math.inf], [1, 2, 3]),
        "predictions, index 1: nan is not a finite number",
    ),
    "infinity": (
        lambda: statistics.winobias_rate([0.1, -math.inf], ["male", "female"]),
        "predictions, index 1: -inf is not a finite number",
    ),
    "text": (
        lambda: statistics.stereotype_rate([0.1, "much"], [1, 2]),  # type: ignore[list-item]
        "predictions, index 1: 'much' is not a number",
    ),
    "None": (
        lambda: statistics.stereotype_rate([None], [1]),  # type: ignore[list-item]
        "predictions, index 0: nan is not a finite number",
    ),
    "row of three": (
        lambda: statistics.control_bias([ROW, ROW[:3]]),
        r"predictions, index 1: \[-1.0, -2.0, -1.5\] is not a row of 4 numbers",
    ),
    "rows of another width": (
        lambda: statistics.stereoset_icat([ROW, ROW], ["a", "b"]),
        "predictions, index 0: .* is not a row of 3 numbers",
    ),
    "nan in a row": (
        lambda: statistics.control_bias([ROW, [*ROW[:3], math.nan]]),
        "predictions, index 1: nan is not a finite number",
    ),
    "nan in cs": (
        lambda: statistics.control_bias([ROW] * 3, [[1.0, None], [1.0, math.nan], [1.0, None]]),
        "cs, index 1: nan is not a finite number",
    ),
    "stereotype": (
        lambda: statistics.stereotype_rate([0.1] * 3, [1, 16, 17]),
        "references, index 2: 17 is not one of 1, 2, ",
    ),
    "stereotype between two": (
        lambda: statistics.stereotype_rate([0.1] * 2, [1, 1.5]),  # type: ignore[list-item]
        "references, index 1: 1.5 is not one of",
    ),
    "label": (
        lambda: statistics.masculine_rate(["male", "neutral"], [1, 2]),
        "predictions, index 1: 'neutral' is not one of 'female', 'male', 'unknown'",
    ),
    "gender": (
        lambda: statistics.winobias_rate([0.1, 0.2], ["male", "unknown"]),
        "references, index 1: 'unknown' is not one of 'female', 'male'",
    ),
    "list for a label": (
        lambda: statistics.masculine_rate([["male"]], [1]),  # type: ignore[list-item]
        r"predictions, index 0: \['male'\] is not one of",
    ),
    "target": (
        lambda: statistics.stereoset_icat([[1.0, 2.0, 3.0]] * 2, ["a", " "]),
        "references, index 1: ' ' is not the name of a group",
    ),
    "neither": (lambda: statistics.control_bias(None), "neither predictions nor cs"),
    "p-value": (lambda: statistics.holm([0.1, math.nan]), "p_values, index 1"),
    "compared lengths": (lambda: statistics.compare("icat", [[1, 2, 3]], [[1, 2, 3]] * 2), "b, index 1"),
}


MASKED = np.ma.array([0.1, 0.2, 0.3], mask=[False, True, False])
CONTAINERS: dict[str, tuple[Any, str]] = {
    "masked array": (MASKED, r"is a MaskedArray: .*\.compressed\(\)"),
    "dict": ({0: 0.1, 1: 0.2, 2: 0.3}, "is a dict: .*give a list of its values"),
    "values of a dict as keys": ({0.1: "a", 0.2: "b", 0.3: "c"}.keys(), "is a dict_keys: .*no order"),
    "set": ({0.1, 0.2, 0.3}, "is a set: it has no order"),
    "bytes": (b"abc", "is a bytes: .*give a list"),
    "bytearray": (bytearray(b"abc"), "is a bytearray: .*give a list"),
    "memoryview": (memoryview(b"abc"), "is a memoryview: .*give a list"),
    "text": ("123", "is a str: that is one text"),
    "texts of numbers": (["0.1", "0.2", "0.3"], "index 0: '0.1' is not a number"),
    "bytes of numbers": ([0.1, b"0.2", 0.3], "index 1: b'0.2' is not a number"),
    "an array of texts": (np.array(["0.1", "0.2", "0.3"]), r"index 0: .*'0.1'.* is not a number"),
    "complex numbers": (np.array([1j, 2j, 3j]), "index 0: .* is not a number"),
    "a masked value": ([0.1, np.ma.masked, 0.3], "index 1: masked is not a number"),
}


@pytest.mark.parametrize("name", list(CONTAINERS))
def test_what_is_no_list_of_numbers_is_refused(name: str) -> None:
    """numpy would make numbers of each of these."""
    values, message = CONTAINERS[name]
    with pytest.raises(DataError, match=f"predictions,? {message}"):
        statistics.stereotype_rate(values, [1, 2, 3])
    metric = evaluate.load("gest_stereotype_rate")
    with pytest.raises(DataError, match=f"predictions,? {message}"):
        metric.compute(predictions=values, references=[1, 2, 3])


@pytest.mark.parametrize("references", [{1: 1, 2: 2, 3: 3}, {1, 2, 3}, b"\1\2\3", np.ma.array([1, 2, 3])])
def test_what_is_no_list_of_labels_is_refused(references: Any) -> None:
    with pytest.raises(DataError, match="references is a "):
        statistics.stereotype_rate([0.1, 0.2, 0.3], references)


@pytest.mark.parametrize("kind", [np.array, pd.Series, torch.tensor])
def test_labels_are_taken_from_arrays_series_and_tensors(kind: Callable[[list[int]], Any]) -> None:
    assert checks.label_codes("references", kind([3, 1, 2]), [1, 2, 3]).tolist() == [2, 0, 1]


ROWS = [
    np.ma.array(ROW, mask=[0, 1, 0, 0]),
    np.ma.array(ROW),
    set(ROW),
    dict.fromkeys(ROW),
    ["1"] * 4,
    b"abcd",
]


@pytest.mark.parametrize("row", ROWS)
def test_what_is_no_row_of_numbers_is_refused(row: Any) -> None:
    with pytest.raises(DataError, match=r"(?s)predictions, index 1: .* is not a row of 4 numbers"):
        statistics.control_bias([ROW, row])


@pytest.mark.parametrize("name", list(REFUSED))
def test_what_is_no_score_is_refused(name: str) -> None:
    call, message = REFUSED[name]
    with pytest.raises(DataError, match=message):
        call()


CHOICES: dict[str, Callable[[], Any]] = {
    "convention": lambda: statistics.masculine_rate(["male"], [1], convention="printed"),
    "scale": lambda: statistics.stereotype_rate([0.1], [1], scale="ln"),
    "measure": lambda: statistics.compare("q_f", [0.1], [0.2], [1]),
    "log_base": lambda: statistics.control_bias([ROW], log_base=1),
}


@pytest.mark.parametrize("name", list(CHOICES))
def test_unknown_choices_are_answered_with_the_known_ones(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"{name}=.*(choose one of|use math\.e or 10)"):
        CHOICES[name]()


def test_word_frequencies_of_an_unknown_language() -> None:
    pytest.importorskip("wordfreq")
    with pytest.raises(ConfigError, match="no frequencies for 'xx'; it knows ar, "):
        confounders.log_relative_frequency(["a"], ["b"], "xx")


def test_missing_wordfreq_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "wordfreq", None)
    with pytest.raises(ConfigError, match=r"gest-dataset\[frequency\]"):
        confounders.log_relative_frequency(["a"], ["b"])


# --- nan with a warning


def only_nan(result: dict[str, Any], *names: str) -> bool:
    return all(math.isnan(result[name]) for name in names)


def test_empty_stereotype() -> None:
    references = [i for i in REFERENCES if i != 7]
    with pytest.warns(UndefinedWarning, match="no sample for stereotype 7"):
        result = statistics.stereotype_rate([0.01 * i**2 for i in range(30)], references)
    assert math.isnan(result["q"][6])
    assert math.isnan(result["feminine_ranks"][6])
    assert only_nan(result, "q_f", "g_s", "q_f_low", "g_s_high", "g_s_analytic_low")
    assert result["q_m_low"] < result["q_m"] < result["q_m_high"]
    assert result["n"][6] == 0
    assert result["q"][0] == pytest.approx(math.exp(0.01 * 15**2 / 2))


def test_stereotype_of_unknown_genders_only() -> None:
    labels = ["unknown" if i == 12 else "male" for i in REFERENCES]
    with pytest.warns(UndefinedWarning, match="no sample of known gender for stereotype 12"):
        result = statistics.masculine_rate(labels, REFERENCES)
    assert only_nan(result, "p_m", "f_s", "f_m", "f_s_low", "f_s_high", "f_m_analytic_high")
    assert [math.isnan(p) for p in result["p"]] == [i == 12 for i in range(1, 17)]
    assert math.isnan(result["p_low"][11])
    assert (result["p_f"], result["n_unknown"]) == (1.0, 2)
    with pytest.warns(UndefinedWarning):
        published = statistics.masculine_rate(labels, REFERENCES, convention="published")
    assert math.isnan(published["p"][11])


def test_one_sample_has_a_rate_but_no_bounds() -> None:
    with pytest.warns(UndefinedWarning, match="one sample only for stereotype 1, 2"):
        result = statistics.stereotype_rate([0.1] * 16, range(1, 17))  # type: ignore[arg-type]
    assert result["g_s"] == pytest.approx(1)
    assert only_nan(result, "g_s_low", "g_s_high", "g_s_analytic_low", "g_s_analytic_high")


def test_one_gender_of_occupations() -> None:
    with pytest.warns(UndefinedWarning, match="0 samples with a female occupation"):
        result = statistics.winobias_rate([0.1, 0.2, 0.4], ["male"] * 3)
    assert only_nan(result, "q_f", "g_s", "g_s_low")
    assert result["q_m_low"] < result["q_m"]


def test_fewer_than_two_targets() -> None:
    with pytest.warns(UndefinedWarning, match="fewer than two targets"):
        result = statistics.stereoset_icat([[3.0, 2.0, 1.0], [1.0, 2.0, 0.0]], ["a", "a"])
    assert only_nan(result, "multiclass_lms", "multiclass_ss", "macro_icat", "micro_icat", "micro_icat_low")
    assert (result["lms"], result["ss"], result["icat"]) == (100, 50, 100)


def test_no_positives_for_a_rate() -> None:
    rows = [[-2.0, -1.0, -1.5, -1.0], [-3.0, -1.0, -3.0, -0.5]]
    with pytest.warns(UndefinedWarning, match="false_positive_rate is nan"):
        result = statistics.control_bias(rows)
    assert only_nan(result, "false_positive_rate", "false_positive_rate_low", "false_positive_rate_high")
    assert result["false_negative_rate"] == 0.5


@pytest.mark.filterwarnings("ignore::gest_dataset.statistics.checks.UndefinedWarning")
def test_sets_without_keywords_have_cs_only() -> None:
    result = statistics.control_bias(None, [[0.5, 0.1], [-0.2, 0.3], [0.1, 0.2]])
    assert result["cs_mu_original"] == pytest.approx(0.4 / 3)
    assert result["cs_plus_original"] == pytest.approx(2 / 3)
    assert only_nan(result, "ss_mu_original", "f_mu", "f_mu_low", "f_plus", "f_cs_rho", "cs_csk_rho")
    pairs = statistics.control_bias(None, [[0.5, None], [-0.2, None]])
    assert pairs["cs_mu_original"] == pytest.approx(0.15)
    assert only_nan(pairs, "cs_mu_control", "cs_rho", "cs_plus_control")
    keywords = statistics.control_bias([ROW, [*ROW[:3], -1.0]])
    assert keywords["f_mu"] == pytest.approx(0.75)
    assert only_nan(keywords, "cs_mu_original", "f_cs_agreement")


def test_missing_scores_are_said() -> None:
    with pytest.warns(UndefinedWarning, match="ss, csk, f and what is built from them are nan"):
        statistics.control_bias(None, [[0.5, 0.1], [-0.2, 0.3]])


def test_no_variation_has_no_correlation() -> None:
    with pytest.warns(UndefinedWarning, match="ss_rho is nan"):
        result = statistics.control_bias([ROW, ROW, ROW])
    assert only_nan(result, "ss_rho", "f_ss_rho")
    assert result["f_mu_low"] == result["f_mu_high"] == 0
    with pytest.warns(UndefinedWarning, match="ss_rho is nan"):
        statistics.control_bias([ROW, ROW])


def test_topic_without_samples() -> None:
    sentences = ["I led."] * 32
    with pytest.warns(UndefinedWarning, match="0 male samples"):
        result = statistics.topical_bias(sentences, [0.1] * 32, REFERENCES)
    assert only_nan(result, "q_topic", "q_topic_low")
    with pytest.warns(UndefinedWarning, match="0 male samples"):
        rates = statistics.topical_bias(sentences, ["male"] * 32, REFERENCES)
    assert only_nan(rates, "p_topic", "p_topic_high")


def test_comparison_without_samples() -> None:
    with pytest.warns(UndefinedWarning, match="g_s cannot be compared"):
        found = statistics.compare("g_s", [0.1, 0.2], [0.3, 0.1], [1, 9])
    assert math.isnan(found.difference)
    assert math.isnan(found.p_value)
