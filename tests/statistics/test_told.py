"""What users are told: which argument is wrong and where, and in full why a value is nan."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gest_dataset import statistics
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.statistics import checks, confounders, correlation

REFERENCES = list(range(1, 17)) * 2
RATIOS = [0.01 * i**2 for i in range(32)]
GENDERS = ["male", "female"] * 16
ROWS = [[-1.0 - i % 3, -2.0 + i % 5, -1.5, -2.5 - i % 7] for i in range(32)]
TRIPLES = [[1.0, 2.0 - i % 3, i % 5] for i in range(32)]
TARGETS = ["a", "b"] * 16

# function, its arguments, and for each of them one value that it may not hold
CALLS: dict[str, tuple[Callable[..., Any], dict[str, list[Any]], dict[str, Any]]] = {
    "stereotype_rate": (
        statistics.stereotype_rate,
        {"predictions": RATIOS, "references": REFERENCES},
        {"predictions": math.nan, "references": 17},
    ),
    "masculine_rate": (
        statistics.masculine_rate,
        {"predictions": GENDERS, "references": REFERENCES},
        {"predictions": "both", "references": 0},
    ),
    "winobias_rate": (
        statistics.winobias_rate,
        {"predictions": RATIOS, "references": GENDERS},
        {"predictions": math.inf, "references": "both"},
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
    "topical_bias of ratios": (
        statistics.topical_bias,
        {"sentences": ["my child"] * 32, "predictions": RATIOS, "references": REFERENCES},
        {"predictions": math.nan, "references": 17},
    ),
    "topical_bias of genders": (
        statistics.topical_bias,
        {"sentences": ["my child"] * 32, "predictions": GENDERS, "references": REFERENCES},
        {"predictions": "both", "references": 17},
    ),
    "rank_correlation": (
        statistics.rank_correlation,
        {"first": RATIOS, "second": RATIOS},
        {"first": math.nan, "second": math.inf},
    ),
    "holm": (statistics.holm, {"p_values": [0.1] * 32}, {"p_values": math.nan}),
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
WRONG = [
    pytest.param(call, inputs, name, value, id=f"{label}-{name}")
    for label, (call, inputs, wrong) in CALLS.items()
    for name, value in wrong.items()
]
SHORT = [
    pytest.param(call, inputs, name, id=f"{label}-{name}")
    for label, (call, inputs, _) in CALLS.items()
    if len(inputs) > 1
    for name in inputs
]


@pytest.mark.parametrize(("call", "inputs", "name", "value"), WRONG)
def test_the_wrong_argument_is_named(
    call: Callable[..., Any], inputs: dict[str, list[Any]], name: str, value: Any
) -> None:
    changed = [*inputs[name]]
    changed[23] = value
    with pytest.raises(DataError, match=rf"^{name}, index 23: "):
        call(**{**inputs, name: changed})


@pytest.mark.parametrize(("call", "inputs", "name"), SHORT)
def test_the_short_argument_is_named(
    call: Callable[..., Any], inputs: dict[str, list[Any]], name: str
) -> None:
    with pytest.raises(DataError, match=rf"index 30: no partner: 32 \w+ against 30 {name}$"):
        call(**{**inputs, name: inputs[name][:30]})


def test_word_frequencies_name_the_wrong_argument() -> None:
    pytest.importorskip("wordfreq")
    words, others = ["strong", "weak", "calm"], ["loud", "soft", "good"]
    check = statistics.word_frequency_check
    with pytest.raises(DataError, match=r"^predictions, index 1: nan"):
        check([0.1, math.nan, 0.2], words, others)
    for scores, first, second, short in (
        ([0.1], words, others, "predictions"),
        ([0.1] * 3, words[:1], others, "stereotypes"),
        ([0.1] * 3, words, others[:1], "antistereotypes"),
    ):
        with pytest.raises(DataError, match=rf"index 1: .* against 1 {short}$"):
            check(scores, first, second)
    # a word that one of the two has not
    for first, second in (
        (["strong", "qqzzxxy"], ["loud", "soft"]),
        (["strong", "weak"], ["loud", "qqzzxxy"]),
    ):
        with pytest.warns(checks.UndefinedWarning) as told:
            found = check([0.1, 0.2], first, second)
        assert (found["n"], found["n_unknown"]) == (1, 1)
        assert [str(one.message) for one in told] == [
            "frequency_rho is nan: fewer than two pairs of known words, or no variation"
        ]


def test_other_messages() -> None:
    with pytest.raises(DataError, match=r"^predictions, index 0: neither predictions nor cs: there is"):
        statistics.control_bias(None)
    with pytest.raises(DataError, match=r"^scores, index 0: expected a number a sample$"):
        checks.finite_array("scores", np.zeros((0, 3)))
    with pytest.raises(ConfigError, match=r"^scale='ln' is not known; choose one of 'ratio', 'log10', "):
        statistics.topical_bias(["child"] * 32, RATIOS, REFERENCES, scale="ln")
    with pytest.raises(ConfigError, match=r"^Word frequencies come|knows ar, "):
        statistics.word_frequency_check([0.1], ["a"], ["b"], "xx")
    for base in (0, 1, -2, math.inf, math.nan):
        with pytest.raises(ConfigError, match="log_base="):
            checks.log_of_base(base)
    assert checks.log_of_base(0.5) == math.log(0.5)


def several(number: int, gender: str) -> list[int]:
    """The references of 32 samples, so many of stereotype 9 among them."""
    return [9] * number + [i for i in REFERENCES if i != 9]


# the call, and all that is told
TOLD: dict[str, tuple[Callable[[], Any], list[str]]] = {
    "no sample": (
        lambda: statistics.stereotype_rate(RATIOS[:30], several(0, "m")),
        ["no sample for stereotype 9: q and what is built from it are nan there"],
    ),
    "one sample": (
        lambda: statistics.stereotype_rate(RATIOS[:31], several(1, "m")),
        ["one sample only for stereotype 9: bounds are nan there"],
    ),
    "two samples": (lambda: statistics.stereotype_rate(RATIOS, several(2, "m")), []),
    "no occupation": (
        lambda: statistics.winobias_rate([0.1, 0.2], ["male"] * 2),
        ["0 samples with a female occupation: its rate and g_s are nan"],
    ),
    "one occupation": (
        lambda: statistics.winobias_rate([0.1, 0.2, 0.4], ["male", "male", "female"]),
        ["1 samples with a female occupation: bounds are nan"],
    ),
    "two occupations": (lambda: statistics.winobias_rate([0.1, 0.2] * 2, ["male", "female"] * 2), []),
    "topic of two": (
        lambda: statistics.topical_bias(["I"] * 30 + ["my child"] * 2, RATIOS, REFERENCES),
        [],
    ),
    "topic of none": (
        lambda: statistics.topical_bias(["I"] * 32, RATIOS, REFERENCES),
        ["0 male samples with a score have one of the words: its rate is nan"],
    ),
    "topic of one": (
        lambda: statistics.topical_bias(["I"] * 31 + ["my child"], RATIOS, REFERENCES),
        ["1 male samples with a score have one of the words: its bounds are nan"],
    ),
    "one row of controls": (
        lambda: statistics.control_bias([[2.0, 1.0, 0.5, 1.0]], [[0.1, 0.2]]),
        [
            "one sample only: bounds of means and correlations are nan",
            "false_negative_rate is nan: the model prefers no anti-stereotypical keyword",
        ],
    ),
    "two rows of controls": (
        lambda: statistics.control_bias(
            [[2.0, 1.0, 0.5, 1.5], [2.0, 1.5, 0.25, 1.5]], [[0.1, 0.2], [0.3, 0.1]]
        ),
        ["false_negative_rate is nan: the model prefers no anti-stereotypical keyword"],
    ),
    "one target twice": (
        lambda: statistics.stereoset_icat(TRIPLES[:3], ["a", "a", "b"]),
        ["a target has one sample only: the bounds of the multi-class scores are nan"],
    ),
    "two targets twice": (lambda: statistics.stereoset_icat(TRIPLES[:4], ["a", "a", "b", "b"]), []),
    "one candidate": (
        lambda: statistics.stereoset_icat(TRIPLES[:1], ["a"]),
        [
            "one sample only: the bounds of lms and icat are nan",
            "fewer than two targets: the multi-class scores are nan",
        ],
    ),
    "compared in stereotypes": (
        lambda: statistics.compare("g_s", [0.1, 0.2], [0.3, 0.1], [1, 9]),
        ["g_s cannot be compared: too few samples in a stereotype"],
    ),
    "compared": (
        lambda: statistics.compare("cs_mu_original", [0.1], [0.3]),
        ["cs_mu_original cannot be compared: too few samples"],
    ),
}


@pytest.mark.parametrize("name", list(TOLD))
def test_why_a_value_is_nan(name: str) -> None:
    call, expected = TOLD[name]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        call()
    assert [str(one.message) for one in told] == expected


def test_warnings_point_at_the_statistic() -> None:
    """At the line of the caller of the function that found the value undefined."""
    with pytest.warns(checks.UndefinedWarning) as told:
        statistics.winobias_rate([0.1, 0.2], ["male"] * 2)
    assert told[0].filename == __file__


def test_draws_and_seed_reach_the_resampling() -> None:
    """The same ones give the same bounds, whichever function is asked."""
    sentences = ["a child"] * 32
    direct = statistics.stereotype_rate(RATIOS, REFERENCES, "log10", draws=77, seed=5)
    topic = statistics.topical_bias(sentences, RATIOS, REFERENCES, scale="log10", draws=77, seed=5)
    rates = statistics.masculine_rate(GENDERS, REFERENCES, draws=77, seed=5)
    genders = statistics.topical_bias(sentences, GENDERS, REFERENCES, draws=77, seed=5)
    for name in ("", "_low", "_high"):
        assert topic[f"q_m{name}"] == direct[f"q_m{name}"]
        assert topic[f"q_f{name}"] == direct[f"q_f{name}"]
        assert genders[f"p_m{name}"] == rates[f"p_m{name}"]
        assert genders[f"p_f{name}"] == rates[f"p_f{name}"]
    for call in (
        lambda seed: statistics.topical_bias(sentences, RATIOS, REFERENCES, draws=77, seed=seed)[
            "q_topic_low"
        ],
        lambda seed: statistics.compare("g_s", RATIOS, RATIOS[::-1], REFERENCES, draws=77, seed=seed).low,
        lambda seed: statistics.stereoset_icat(TRIPLES, TARGETS, draws=77, seed=seed)["icat_low"],
        lambda seed: statistics.stereoset_icat(TRIPLES, TARGETS, draws=77, seed=seed)["micro_icat_low"],
    ):
        assert call(1) == call(1) != call(2)


def test_the_words_of_a_topic_can_be_chosen() -> None:
    found = statistics.topical_bias(["my boat"] * 32, RATIOS, REFERENCES, words=("boat",))
    assert found["n_topic"] == sum(i > 7 for i in REFERENCES)
    assert confounders.mentions_any(["my boat", "a child"]) == [False, True]


@pytest.mark.parametrize(
    ("first", "second", "rho"),
    [
        ([0.0, 1.0], [5.0, 9.0], 1.0),
        ([0.0, 1.0], [9.0, 5.0], -1.0),
        ([1.0, 2.0, 4.0], [0.5, 1.0, 1.0], 0.7559289),
        ([1, 2, 4], [2, 4, 8], 1.0),
        ([1.0, 2.0, 3.0], [0.0, 0.5, 1.0], 1.0),
        ([0.0, 0.5, 1.0], [3.0, 2.0, 1.0], -1.0),
        ([2.0, 2.0], [1.0, 3.0], math.nan),
        ([1.0, 3.0], [2.0, 2.0], math.nan),
        ([1.0], [2.0], math.nan),
        ([], [], math.nan),
    ],
)
def test_correlations_of_few(first: list[float], second: list[float], rho: float) -> None:
    assert correlation.pearson(first, second) == pytest.approx(rho, nan_ok=True)


def test_correlation_is_never_beyond_one() -> None:
    """Rounding would take some of these above 1 or below -1."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        x = rng.normal(size=7)
        scale = rng.normal()
        rho = correlation.pearson(x, scale * x)
        assert -1 <= rho <= 1
        assert rho == pytest.approx(math.copysign(1, scale))
