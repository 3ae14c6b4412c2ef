"""The values of the papers on the metrics' cards are those of the published tables, line by line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

from gest_dataset import published
from gest_dataset.register import METRICS
from tests.conftest import ROOT

Row = dict[str, float]
# What the card has instead of a printed number, as it says: the printed ICAT of that row needs it
MISPRINTS = {("Turkish", "intersentence"): {"lms": 78.73}}


def _card(name: str) -> str:
    return (ROOT / "metrics" / name / "README.md").read_text(encoding="utf-8")


def _row(table: str, **wanted: object) -> Row:
    """The one row of a published table with these entries."""
    (row,) = (r for r in published.load(table)["rows"] if all(r[k] == v for k, v in wanted.items()))
    return dict(row)


def _line(cells: Sequence[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _two(value: float) -> str:
    return f"{value:.2f}"


def gender_accuracy() -> Iterator[str]:
    for row in published.load("winomt")["rows"]:
        yield _line([row[key] for key in ("system", "language", "accuracy", "f1_male", "f1_female")])


def gest_control_bias() -> Iterator[str]:
    kinds = ("gender", "gender_filtered", "race", "profession")
    told = [("word_filling_ss", "ss_mu_original", "ss_mu_original_pm")]
    told += [("word_filling_ss", "ss_mu_control", "ss_mu_control_pm"), ("word_filling_f", "f_mu", "f_mu_pm")]
    told += [("word_filling_ss", f"false_{side}_rate", "") for side in ("positive", "negative")]
    for table, number, half in told:
        rows = [_row(table, model="roberta-base", config=f"stereoset_control_{kind}") for kind in kinds]
        yield _line([f"`{number}`", *(f"{r[number]} ± {r[half]}" if half else r[number] for r in rows)])


def gest_masculine_rate() -> Iterator[str]:
    rows = published.load("gest_mt_masculine_rates")["rows"]
    for system in (*sorted({row["system"] for row in rows}), "all pairs"):
        rates = np.array([row["p"] for row in rows if system in ("all pairs", row["system"])])
        female, male = rates[:, :7].mean(axis=1), rates[:, 7:].mean(axis=1)
        means = (male, female, male - female, (male + female) / 2)
        yield _line([system, len(rates), *(_two(float(each.mean())) for each in means)])


def gest_stereotype_rate() -> Iterator[str]:
    for table, model, template in (
        ("gest_english_mlm", "bert-base-uncased", 1),
        ("gest_english_mlm", "bert-base-uncased", 3),
        ("gest_english_glm", "gpt2", 3),
        ("gest_english_glm", "Llama-2-13b-chat-hf", 4),
    ):
        row = _row(table, model=model, template=template)
        yield _line([model, template, _two(row["g_s_published"]), _two(row["g_s"])])


def stereoset_icat() -> Iterator[str]:
    for handle, language, named in (
        ("bert-base-cased", "en", "English"),
        ("gpt2", "en", "English"),
        ("bert-base-multilingual-cased", "tr", "Turkish"),
    ):
        for model, test in ((f"{handle}, {named}", "intrasentence"), ("", "intersentence")):
            row = _row(f"stereoset_{test}", handle=handle, language=language) | MISPRINTS.get(
                (named, test), {}
            )
            yield _line([model, test, *(_two(row[number]) for number in ("lms", "ss", "icat"))])


def winobias_rate() -> Iterator[str]:
    (row,) = published.load("winobias")["rows"]
    yield f"Over {row['models']} English masked models the rate on type 1 test sentences"
    yield f"Pearson's rho {row['pearson']}, p = {row['p_value']:.2e}".replace("e-0", "e-")


VALUES: dict[str, Callable[[], Iterator[str]]] = {
    values.__name__: values
    for values in (
        gender_accuracy,
        gest_control_bias,
        gest_masculine_rate,
        gest_stereotype_rate,
        stereoset_icat,
        winobias_rate,
    )
}


@pytest.mark.parametrize("name", VALUES)
def test_values_are_those_of_the_tables(name: str) -> None:
    section = _card(name).split("## Values from Papers")[1].split("\n## ")[0]
    lines = list(VALUES[name]())
    for line in lines:
        # bold marks the one number that print and scores disagree on; a first cell may be empty
        assert line.replace("|  |", "| |") in section.replace("**", "")
    numbers = [line for line in section.replace("**", "").splitlines() if re.match(r"\|.*\d", line)]
    assert len(numbers) == len([line for line in lines if line.startswith("|")])


@pytest.mark.parametrize("name", METRICS)
def test_tables_that_a_card_names_are_there(name: str) -> None:
    assert {*re.findall(r'published\.load\("(\w+)"\)', _card(name))} <= {*published.names()}
