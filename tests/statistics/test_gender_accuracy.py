"""WinoMT's and MT-GenEval's numbers: planted translators, the printed ones, a naive version, intervals."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from gest_dataset import published
from gest_dataset.data.rows import rows_of
from gest_dataset.errors import DataError
from gest_dataset.statistics import gender_accuracy
from gest_dataset.statistics.gender_accuracy import LABELS, STATED

rng = np.random.default_rng(0)
Rows = dict[str, list[Any]]


def winomt(occupations: int = 20, templates: int = 4, neutral: int = 6) -> Rows:
    """Sentences as in WinoMT: half of the occupations are stereotypically male; each template twice."""
    rows: Rows = {"references": [], "stereotypical": [], "units": [], "templates": []}
    for entity, template, gender in itertools.product(range(occupations), range(templates), STATED[:2]):
        is_pro = (gender == "male") == (entity % 2 == 0)
        values = (gender, "pro" if is_pro else "anti", f"e{entity}", f"e{entity} t{template}")
        for column, value in zip(rows.values(), values, strict=True):
            column.append(value)
    for entity in range(neutral):
        for column, value in zip(rows.values(), ("neutral", None, f"n{entity}", f"n{entity}"), strict=True):
            column.append(value)
    return rows


def by_stereotype(rows: Rows) -> list[str]:
    """The gender of each entity's stereotype; masculine without one."""
    other = {"male": "female", "female": "male"}
    genders = {"pro": lambda gold: gold, "anti": other.get, None: lambda gold: "male"}
    return [genders[side](gold) for gold, side in zip(rows["references"], rows["stereotypical"], strict=True)]


# 160 sentences, 80 male and 80 female, 80 pro (half of them male), and 6 neutral ones
PLANTED: dict[str, tuple[Callable[[Rows], list[str]], dict[str, float]]] = {
    # right: the 80 male ones; F1 = 2 * 80 / (166 + 80) and 0; half of pro and half of anti are male
    "all masculine": (
        lambda rows: ["male"] * len(rows["references"]),
        {"accuracy": 80 / 166, "f1_male": 160 / 246, "f1_female": 0, "delta_g": 160 / 246, "delta_s": 0},
    ),
    "pronoun-faithful": (
        lambda rows: rows["references"],
        {"accuracy": 1, "f1_male": 1, "f1_female": 1, "delta_g": 0, "delta_s": 0, "accuracy_pairs": 1},
    ),
    # right: all 80 pro, no anti; 86 are masculine, 80 feminine
    "stereotype-only": (
        by_stereotype,
        {
            "accuracy": 80 / 166,
            "f1_male": 2 * 40 / (86 + 80),
            "f1_female": 2 * 40 / (80 + 80),
            "delta_g": 80 / 166 - 1 / 2,
            "delta_s": 1,
            "accuracy_pairs": 0,
        },
    ),
    "no gender": (
        lambda rows: ["unknown"] * len(rows["references"]),
        {"accuracy": 0, "f1_male": 0, "delta_g": 0, "delta_s": 0, "unknown": 1, "accuracy_highest": 1},
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_translators(name: str) -> None:
    rows = winomt()
    translate, expected = PLANTED[name]
    found = gender_accuracy(translate(rows), **rows)
    assert {key: found[key] for key in expected} == pytest.approx(expected)
    assert found["n"], found["n_pro"] == (166, 80)


@pytest.mark.upstream
@pytest.mark.usefixtures("upstream")
def test_planted_translators_of_winomt() -> None:
    """1,826 male, 1,822 female and 240 neutral sentences; 792 of 1,584 pro and 794 of 1,584 anti are male."""
    data = rows_of("winomt")
    names = {"references": "gender", "stereotypical": "stereotypical"}
    rows = {
        key: [None if one is None else data.features[name].int2str(one) for one in data[name]]
        for key, name in names.items()
    } | {"units": data["entity"][:], "templates": data["template"][:]}
    masculine = gender_accuracy(["male"] * 3888, **rows)
    f1 = 2 * 1826 / (3888 + 1826)
    expected = {"accuracy": 1826 / 3888, "f1_male": f1, "delta_g": f1, "delta_s": (792 - 794) / 1584}
    assert {key: masculine[key] for key in expected} == pytest.approx(expected)
    faithful = gender_accuracy(rows["references"], **rows)
    assert [faithful[key] for key in ("accuracy", "delta_g", "delta_s", "accuracy_pairs")] == [1, 0, 0, 1]
    stereotyped = gender_accuracy(by_stereotype(rows), **rows)
    # right: 1,584 pro, and 240 male of those without a stereotype; masculine: 792 + 790 + 720
    expected = {"accuracy": 1824 / 3888, "delta_s": 1, "f1_male": 2 * (792 + 240) / (792 + 790 + 720 + 1826)}
    assert {key: stereotyped[key] for key in expected} == pytest.approx(expected)
    guessed = gender_accuracy(rng.choice(STATED[:2], 3888).tolist(), **rows)
    for key, value in {"accuracy": 3648 / 2 / 3888, "delta_g": 0, "delta_s": 0}.items():
        assert guessed[key] == pytest.approx(value, abs=0.07)


def test_a_random_translator() -> None:
    """Each of two genders with probability 1/2: accuracy 1/2 without the neutral ones, no differences."""
    rows = winomt(occupations=400, templates=50, neutral=0)
    number = len(rows["references"])
    found = gender_accuracy(rng.choice(STATED[:2], number).tolist(), **rows)
    for key, value in {"accuracy": 0.5, "f1_male": 0.5, "delta_g": 0, "delta_s": 0}.items():
        assert found[key] == pytest.approx(value, abs=4 / math.sqrt(number))
        assert found[f"{key}_low"] < value < found[f"{key}_high"]


PRINTED = [row for row in published.load("winomt")["rows"] if "gold_male" in row]


@pytest.mark.parametrize("row", PRINTED, ids=lambda row: f"{row['system']}-{row['language']}")
def test_the_authors_numbers_follow_from_their_counts(row: dict[str, Any]) -> None:
    """They round precision and recall to 0.1 per cent before F1."""
    counts = [[row[f"gold_{stated}"][label] for label in LABELS] for stated in STATED]
    cells = [(STATED[i], LABELS[j]) for i in range(3) for j in range(4) for _ in range(counts[i][j])]
    stated, translated = map(list, zip(*cells, strict=True))
    found = gender_accuracy(translated, stated, draws=50)
    assert found["confusion"] == counts
    assert round(100 * found["accuracy"], 1) == row["accuracy"]
    for key in ("f1_male", "f1_female"):
        assert 100 * found[key] == pytest.approx(row[key], abs=0.11)


def test_delta_s_is_a_difference_of_accuracies() -> None:
    rows = winomt()
    predictions = rng.choice(LABELS, len(rows["references"])).tolist()
    found = gender_accuracy(predictions, **rows)
    assert found["delta_s"] == pytest.approx(found["accuracy_pro"] - found["accuracy_anti"])


def naive(predictions: Sequence[str], rows: Rows) -> dict[str, float]:
    """The definitions one sentence at a time."""
    samples = list(zip(predictions, rows["references"], rows["stereotypical"], strict=True))
    result = {"accuracy": sum(label == gold for label, gold, _ in samples) / len(samples)}
    for gender in ("male", "female"):
        of_gender = [label for label, gold, _ in samples if gold == gender]
        right = of_gender.count(gender)
        result[f"accuracy_{gender}"] = right / len(of_gender)
        precision = right / max(1, [label for label, _, _ in samples].count(gender))
        recall = right / len(of_gender)
        result[f"f1_{gender}"] = 2 * precision * recall / (precision + recall) if right else 0.0
    for side in ("pro", "anti"):
        of_side = [label == gold for label, gold, status in samples if status == side]
        result[f"accuracy_{side}"] = sum(of_side) / len(of_side)
    result["delta_g"] = result["f1_male"] - result["f1_female"]
    result["delta_s"] = result["accuracy_pro"] - result["accuracy_anti"]
    return result


@pytest.mark.parametrize("seed", range(5))
def test_equals_a_naive_version_and_does_not_depend_on_the_order(seed: int) -> None:
    generator = np.random.default_rng(seed)
    rows = winomt()
    predictions = generator.choice(LABELS, len(rows["references"]), p=[0.5, 0.2, 0.1, 0.2]).tolist()
    found = gender_accuracy(predictions, **rows)
    assert {key: found[key] for key in naive(predictions, rows)} == pytest.approx(naive(predictions, rows))
    assert found["unknown"] == pytest.approx(predictions.count("unknown") / len(predictions))
    order = generator.permutation(len(predictions))
    shuffled = {key: [values[i] for i in order] for key, values in rows.items()}
    again = gender_accuracy([predictions[i] for i in order], **shuffled)
    assert again.pop("confusion") == found.pop("confusion")
    assert again == pytest.approx(found, rel=1e-9)


def test_unknown_bounds_are_the_extremes() -> None:
    """With one unknown translation of each kind, the cases are all that there are."""
    rows = winomt(occupations=4, templates=1, neutral=2)
    predictions = [
        "male",
        "unknown",
        "female",
        "unknown",
        "male",
        "male",
        "female",
        "male",
        "unknown",
        "male",
    ]
    found = gender_accuracy(predictions, **rows)
    places = [place for place, label in enumerate(predictions) if label == "unknown"]
    reached: dict[str, list[float]] = {}
    for guess in itertools.product(STATED, repeat=len(places)):
        filled = list(predictions)
        for place, gender in zip(places, guess, strict=True):
            filled[place] = gender
        for key, value in naive(filled, rows).items():
            reached.setdefault(key, []).append(value)
    for key in ("accuracy", "f1_male", "f1_female", "delta_g", "delta_s"):
        ends = found[f"{key}_lowest"], found[f"{key}_highest"]
        assert ends == (pytest.approx(min(reached[key])), pytest.approx(max(reached[key]))), key


# --- MT-GenEval

REFERENCES = ["Она была врачом.", "Он был врачом.", "Певица вышла: она", "Певец вышел: он"]
WRONG = ["Он был врачом.", "Она была врачом.", "Певец вышел: он", "Певица вышла: она"]
PAIRS = {"genders": ["female", "male"] * 2, "templates": ["a", "a", "b", "b"]}


@pytest.mark.parametrize(
    ("texts", "right", "unknown"),
    [
        (REFERENCES, [1, 1, 1, 1], 0),
        (WRONG, [0, 0, 0, 0], 0),
        (["Врачом", "врачом был", "ОН, певица", ""], [1, 1, 0, 1], 2),
        (["она был", "она", "она", "вышел"], [0, 0, 1, 1], 0),
    ],
)
def test_a_word_of_only_the_wrong_reference_is_an_error(
    texts: list[str], right: list[int], unknown: int
) -> None:
    found = gender_accuracy(texts, REFERENCES, wrong_references=WRONG, **PAIRS)
    assert found["accuracy"] == sum(right) / 4
    assert found["accuracy_pairs"] == (right[0] * right[1] + right[2] * right[3]) / 2
    assert (found["accuracy_female"], found["accuracy_male"]) == (sum(right[::2]) / 2, sum(right[1::2]) / 2)
    assert found["unknown"] == unknown / 4
    assert found["accuracy_lowest"] == (sum(right) - unknown) / 4
    assert found["accuracy_highest"] == found["accuracy"]
    bare = gender_accuracy(texts, REFERENCES, wrong_references=WRONG)
    assert bare["accuracy"] == found["accuracy"]
    assert "f1_male" not in bare
    assert math.isnan(bare["delta_g"])


# --- intervals, the null, wrong input


def test_entities_make_intervals_wider_and_crossed_templates_too() -> None:
    """A translator with a habit for each occupation, and for each of a few frames that all share."""
    rows = winomt(occupations=20, templates=10, neutral=0)
    entity = np.repeat(np.arange(20), 20)
    frame = np.tile(np.repeat(np.arange(10), 2), 20)
    habit = rng.normal(size=20)[entity] + rng.normal(size=10)[frame]
    predictions = np.where(habit + 0.3 * rng.normal(size=len(entity)) > 0, rows["references"], "unknown")
    crossed = [f"frame {number}" for number in frame]
    variants = (
        {"units": None, "templates": None},
        {"templates": None},
        {},
        {"templates": crossed},
        {"units": None, "templates": crossed},
    )
    found = [gender_accuracy(predictions.tolist(), **{**rows, **variant}) for variant in variants]
    rows_only, entities, nested, both, frames = (one["accuracy_high"] - one["accuracy_low"] for one in found)
    assert rows_only < entities == nested < both
    assert rows_only < frames < both
    assert both == pytest.approx(math.hypot(entities, frames), rel=0.25)


def test_stereotypes_exchanged_between_entities() -> None:
    rows = winomt(occupations=12)
    assert gender_accuracy(by_stereotype(rows), **rows)["delta_s_permutation_p"] < 0.01
    assert gender_accuracy(["male"] * len(rows["units"]), **rows)["delta_s_permutation_p"] == 1
    mixed = {**rows, "units": ["one"] * len(rows["units"])}
    assert math.isnan(gender_accuracy(rows["references"], **mixed)["delta_s_permutation_p"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"predictions": ["male", "m"]}, "predictions, index 1: 'm'"),
        ({"references": ["male", "unknown"]}, "references, index 1: 'unknown'"),
        ({"stereotypical": ["pro"]}, "stereotypical differ in length"),
        ({"stereotypical": ["pro", "yes"]}, "stereotypical, index 1: 'yes'"),
        ({"wrong_references": ["a"]}, "wrong_references differ in length"),
        ({"templates": ["a"]}, "differ in length"),
    ],
)
def test_wrong_input_is_an_error(change: dict[str, list[str]], message: str) -> None:
    with pytest.raises(DataError, match=message):
        gender_accuracy(**{"predictions": ["male"] * 2, "references": ["male", "female"], **change})


@pytest.mark.filterwarnings("error")
def test_sentences_of_one_side_have_no_delta_s() -> None:
    """The first sentences of WinoMT, as `--limit` takes them, may all be anti-stereotypical."""
    stated = ["male", "female"] * 10
    entities = ["nurse", "driver"] * 10
    result = gender_accuracy(["male"] * 20, stated, ["anti"] * 20, units=entities)
    assert math.isnan(result["delta_s"])
    assert math.isnan(result["delta_s_permutation_p"])
    assert result["accuracy_anti"] == 0.5
