"""A run among the published models with released scores: planted ranks, agreement, and what is refused."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import gest_dataset
from gest_dataset.errors import ConfigError
from gest_dataset.published.released import PINNED, Released
from gest_dataset.report import panels
from gest_dataset.runs import read_run
from gest_dataset.runs.population import compare_released
from tests.studies.planting import gest, winobias
from tests.support.outside import needs, require


def planted_run(folder: Path, strength: float, config: str = "en_1_0") -> Path:
    """A causal run that has the scores of the released gpt2 times a strength, plus a little noise."""
    scores = Released(PINNED).gest["gpt2"].reset_index().set_index("id")
    noise = np.random.default_rng(1).normal(0, 0.01, size=(len(scores), 2))
    values = {
        (name, template): strength * scores.loc[name, template] + noise[place, template - 3]
        for place, name in enumerate(scores.index)
        for template in (3, 4)
    }
    return gest(folder, "mine", lambda row, t: float(values[row["id"], t]), (3, 4), config, "causal")


@pytest.mark.usefixtures("mirror")
def test_a_copy_of_a_released_model(tmp_path: Path) -> None:
    """It agrees with its original, does not differ from it, and its rank is beside it."""
    run = read_run(planted_run(tmp_path, 1.0))
    population = compare_released(run, Released(PINNED))
    assert len(population.neighbours) == 34
    by_model = {one.difference.baseline: one for one in population.neighbours}
    assert by_model["gpt2"].agreement > 0.99
    assert by_model["gpt2"].difference.p_holm > 0.05
    rank, best, worst = population.rank
    assert best <= rank <= worst
    assert best < worst  # at least the original cannot be told apart
    assert "agrees most with gpt2 (r = " in population.text()
    # naive: r of the means over templates, without the means of stereotypes
    own = run.table.to_pandas().groupby(["id", "stereotype"])["log_ratio"].mean()
    bert = Released(PINNED).gest["bert-base-uncased"][[3, 4]].mean(axis=1).droplevel("occurrence")
    residuals = [one - one.groupby(level="stereotype").transform("mean") for one in (own, bert)]
    expected = np.corrcoef(*(one.sort_index() for one in residuals))[0, 1]
    assert by_model["bert-base-uncased"].agreement == pytest.approx(expected)


@pytest.mark.usefixtures("mirror", "one_thread", "few_draws")
def test_the_report_draws_the_population(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row per released model with the numbers of `compare_released`, in the page and as a file."""
    monkeypatch.setattr(panels, "_PANELS", ())  # no other figures
    path = planted_run(tmp_path / "run", 1.0)
    other = winobias(tmp_path / "other", "mine", 0.1, 0.2, "winobias_type1_test")  # is left alone
    gest_dataset.report([path, other], tmp_path / "r.html", tmp_path / "figures", released=PINNED)
    population = compare_released(read_run(path), Released(PINNED))
    with (tmp_path / "figures" / "released-1.csv").open(encoding="utf-8") as file:
        rows = {row["model"]: row for row in csv.DictReader(file)}
    assert len(rows) == 34
    for one in population.neighbours:
        row = rows[one.difference.baseline]
        assert float(row["agreement"]) == one.agreement
        assert [float(row[f"ratio{end}"]) for end in ("", "_low", "_high")] == [
            *one.difference.comparison.times
        ]
    assert population.text() in (tmp_path / "r.html").read_text(encoding="utf-8")
    with pytest.raises(ConfigError, match="is not a run on en"):
        gest_dataset.report([other], tmp_path / "none.html", released=PINNED)


@pytest.mark.usefixtures("mirror")
@pytest.mark.parametrize(("strength", "rank"), [(60.0, 1), (-60.0, 35)])
def test_planted_extremes(tmp_path: Path, strength: float, rank: int) -> None:
    """The strongest stereotypes of all, or the opposite ones. 34 sentences do not show the differences."""
    population = compare_released(read_run(planted_run(tmp_path, strength)), Released(PINNED))
    assert population.rank == (rank, 1, 35)


@pytest.mark.upstream
@pytest.mark.usefixtures("upstream")
@needs("GEST_PAPER_SCORES")
def test_corrected_sentences_are_left_out(tmp_path: Path) -> None:
    """On the whole of GEST 1.1: twice the scores of gpt2, clear of both models at hand."""
    folder = require("GEST_PAPER_SCORES")
    scores = Released(folder).gest["gpt2"].reset_index().set_index("id")
    run = gest(
        tmp_path / "run", "mine", lambda row, t: 2 * float(scores.loc[row["id"], t]), (3, 4), "en", "causal"
    )
    population = compare_released(read_run(run), Released(folder))
    assert "244 sentences are left out, since they were corrected in GEST 1.1." in population.notes
    assert {one.difference.n for one in population.neighbours} == {3565 - 244}
    assert population.rank == (1, 1, 1)
    by_model = {one.difference.baseline: one for one in population.neighbours}
    assert by_model["gpt2"].agreement == pytest.approx(1)
    assert by_model["gpt2"].difference.comparison.p_value < 0.001


@pytest.mark.usefixtures("mirror")
def test_what_cannot_be_compared(tmp_path: Path) -> None:
    run = read_run(winobias(tmp_path / "other", "mine", 0.1, 0.2, "winobias_type1_test"))
    with pytest.raises(ConfigError, match="is not a run on en or en_1_0"):
        compare_released(run, Released(PINNED))
    run = read_run(gest(tmp_path / "extended", "mine", lambda row, t: 0.1 * row["sign"], (1, 17), "en_1_0"))
    with pytest.raises(ConfigError, match=r"all of the run's templates \(1, 17\)"):
        compare_released(run, Released(PINNED))
