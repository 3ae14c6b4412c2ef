"""The study of templates: means over the papers' pairs, runs and the authors' files alike."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gest_dataset import studies
from gest_dataset.data.rows import rows_of
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.result import wide_scores
from gest_dataset.runs import read_run
from gest_dataset.statistics.stereotype_rate import LN10
from gest_dataset.studies.study import Cell, Table
from gest_dataset.studies.templates import GestScores, agreement_tables, read_authors_scores
from tests.support import planted
from tests.support.outside import needs, require


def scores(name: str, seed: int, templates: tuple[int, ...] = (1, 2, 3, 4), each: int = 20) -> GestScores:
    """Random scores around stereotypes that are the same for every name."""
    number = np.repeat(np.arange(1, 17), each)
    noise = np.random.default_rng(seed).standard_normal((len(number), len(templates)))
    values = np.random.default_rng(99).standard_normal(16)[number - 1][:, None] + noise
    index = pd.MultiIndex.from_arrays(
        [[f"s{i}" for i in range(len(number))], np.zeros(len(number), dtype=int), number],
        names=["id", "again", "stereotype"],
    )
    return GestScores(name, pd.DataFrame(values, index=index, columns=list(templates)))


def tables(*models: GestScores) -> dict[str, Table]:
    return {table.name: table for table in agreement_tables(models)}


def value(table: Table, row: str, column: str) -> Cell:
    return next(cells for cells in table.rows if cells[0] == row)[table.columns.index(column)]


def test_correlations_are_means_over_the_papers_pairs() -> None:
    masked, causal = scores("masked", 1), scores("causal", 2, (3, 4))
    table = tables(masked, causal)["between-templates"]
    mean = table.rows[-1][2]
    r = [
        np.corrcoef(one.ln_q().T)[i, j]
        for one in (masked, causal)
        for i, j in combinations(range(len(one.templates)), 2)
    ]
    assert len(r) == 7  # each pair counts once, whatever model it is of
    assert isinstance(mean, Estimate)
    assert mean.value == pytest.approx(np.mean(r))
    assert mean.low < mean.value < mean.high
    assert value(table, "all pairs of all models", "the paper") == "0.87"
    across = tables(masked, causal, scores("other", 3))["between-models"]
    mean = across.rows[-1][2]
    assert [row[:2] for row in across.rows] == [
        ("template 1", 2),
        ("template 2", 2),
        ("template 3", 3),
        ("template 4", 3),
        ("mean over templates", None),
    ]
    each = [row[2].value for row in across.rows[:-1] if isinstance(row[2], Estimate)]
    assert isinstance(mean, Estimate)
    assert mean.value == pytest.approx(np.mean(each))  # each template counts once, whatever its pairs


@pytest.mark.usefixtures("mirror")
def test_runs_and_files_agree(tmp_path: Path) -> None:
    """log10 in files, ln in runs; files count from 0, and two of them are a causal model's 3 and 4."""
    rows = rows_of("en_1_0")
    generator = np.random.default_rng(0)
    values = {template: generator.standard_normal(len(rows)) for template in (3, 4)}
    for number, template in enumerate(values):
        text = "\n".join(map(repr, values[template].tolist()))
        (tmp_path / f"gpt2_template-{number}.txt").write_text(text)
    columns = {
        "id": [*rows["id"]] * 2,
        "template": [template for template in values for _ in range(len(rows))],
        "stereotype": [*rows["stereotype"]] * 2,
        "log_ratio": [value * LN10 for template in values for value in values[template].tolist()],
    }
    run = planted.scored(tmp_path / "run", "gpt2", "en_1_0", columns, "causal")
    released, hashes = read_authors_scores(tmp_path)
    of_run = GestScores("gpt2", wide_scores(read_run(run).table))
    assert released[0].templates == of_run.templates == [3, 4]
    assert released[0].ln_q() == pytest.approx(of_run.ln_q(), nan_ok=True)
    assert sorted(hashes) == ["gpt2_template-0.txt", "gpt2_template-1.txt"]
    one, other = studies.templates([run]), studies.templates(scores=tmp_path)
    assert one.table("variance").csv.split(",", 8)[8] == other.table("variance").csv.split(",", 8)[8]
    with pytest.raises(ConfigError, match="have the same name"):
        studies.templates([run], scores=tmp_path)


@pytest.mark.usefixtures("mirror")
@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "contains no files MODEL_template"),
        ({"gpt2_template-0.txt": 34, "gpt2_template-1.txt": 33}, "does not have 34 finite numbers"),
    ],
)
def test_damaged_files(tmp_path: Path, files: dict[str, int | str], message: str) -> None:
    for name, content in files.items():
        (tmp_path / name).write_text("0.1\n" * content if isinstance(content, int) else content)
    with pytest.raises((ConfigError, DataError), match=message):
        read_authors_scores(tmp_path)


@pytest.mark.upstream
@pytest.mark.usefixtures("upstream")
@needs("GEST_PAPER_SCORES")
def test_the_authors_scores() -> None:
    """BERT's templates agree by 0.93, GPT-2's two by 0.91; the stereotype's share is that of the report."""
    found = studies.templates(scores=require("GEST_PAPER_SCORES"))
    table = found.table("between-templates")
    for model, r, samples in (("bert-base-uncased", 0.931, 0.746), ("gpt2", 0.909, 0.718)):
        assert value(table, model, "q_i")[0] == pytest.approx(r, abs=1e-3)  # type: ignore[index]
        assert value(table, model, "samples")[0] == pytest.approx(samples, abs=1e-3)  # type: ignore[index]
    across = found.table("between-models")
    assert value(across, "template 3", "samples")[0] == pytest.approx(0.565, abs=1e-3)  # type: ignore[index]
