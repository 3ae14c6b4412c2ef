"""The study of templates: means over the papers' pairs, runs and the authors' files alike."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gest_dataset import studies
from gest_dataset.data.rows import rows_of
from gest_dataset.errors import ConfigError
from gest_dataset.measures.result import wide_scores
from gest_dataset.published.released import Released
from gest_dataset.runs import read_run
from gest_dataset.statistics.stereotype_rate import LN10
from gest_dataset.studies.templates import agreement_tables
from tests.studies.planting import cells, gest, value
from tests.support.outside import needs, require


def scores(seed: int, templates: tuple[int, ...] = (1, 2, 3, 4), each: int = 20) -> pd.DataFrame:
    """Random scores around stereotypes that are the same for every seed."""
    number = np.repeat(np.arange(1, 17), each)
    noise = np.random.default_rng(seed).standard_normal((len(number), len(templates)))
    values = np.random.default_rng(99).standard_normal(16)[number - 1][:, None] + noise
    levels = [[f"s{i}" for i in range(len(number))], np.zeros(len(number), dtype=int), number]
    index = pd.MultiIndex.from_arrays(levels, names=["id", "occurrence", "stereotype"])
    return pd.DataFrame(values, index=index, columns=list(templates))


def test_correlations_are_means_over_the_papers_pairs() -> None:
    models = {"masked": scores(1), "causal": scores(2, (3, 4)), "other": scores(3)}
    between_templates, between_models, *_ = agreement_tables(models)
    r = [
        np.corrcoef(one.groupby(level="stereotype").mean().T)[i, j]
        for one in models.values()
        for i, j in combinations(range(one.shape[1]), 2)
    ]
    name, pairs, mean, *_, printed = between_templates.rows[-1]
    assert (name, pairs, printed) == ("all pairs of all models", 13, "0.87")
    assert value(mean) == pytest.approx(np.mean(r))  # each pair counts once, whatever model it is of
    assert mean.low < mean.value < mean.high  # type: ignore[union-attr]
    sizes = {"template 1": 2, "template 2": 2, "template 3": 3, "template 4": 3, "mean over templates": None}
    assert {row[0]: row[1] for row in between_models.rows} == sizes
    *each, mean = (value(row[2]) for row in between_models.rows)
    assert mean == pytest.approx(np.mean(each))  # each template counts once, whatever its pairs


@pytest.mark.usefixtures("mirror")
def test_runs_and_files_agree(tmp_path: Path) -> None:
    """log10 in files, ln in runs; files count from 0, and two of them are a causal model's 3 and 4."""
    ids = rows_of("en_1_0")["id"]
    generator = np.random.default_rng(0)
    values = {
        template: dict(zip(ids, generator.standard_normal(len(ids)), strict=True)) for template in (3, 4)
    }
    for number, of_template in enumerate(values.values()):
        text = "\n".join(str(float(one)) for one in of_template.values())
        (tmp_path / f"gpt2_template-{number}.txt").write_text(text)
    run = gest(
        tmp_path / "run",
        "gpt2",
        lambda row, t: float(values[t][row["id"]] * LN10),
        (3, 4),
        "en_1_0",
        "causal",
    )
    files = Released(tmp_path)
    pd.testing.assert_frame_equal(
        files.gest["gpt2"].sort_index(),
        wide_scores(read_run(run).table),
        check_names=False,
        check_index_type=False,
    )
    assert sorted(files.hashes) == ["gpt2_template-0.txt", "gpt2_template-1.txt"]
    (one,), (other,) = (
        cells(found, "variance") for found in (studies.templates([run]), studies.templates(released=tmp_path))
    )
    assert one == pytest.approx(other)
    with pytest.raises(ConfigError, match="have the same name"):
        studies.templates([run], released=tmp_path)


@pytest.mark.upstream
@pytest.mark.usefixtures("upstream")
@needs("GEST_PAPER_SCORES")
def test_the_authors_scores() -> None:
    """BERT's templates agree by 0.93, GPT-2's two by 0.91; the stereotype's share is that of the report."""
    found = studies.templates(released=require("GEST_PAPER_SCORES"))
    for model, r, samples in (("bert-base-uncased", 0.931, 0.746), ("gpt2", 0.909, 0.718)):
        (row,) = cells(found, "between-templates", model=model)
        assert value(row["q_i"]) == pytest.approx(r, abs=1e-3)
        assert value(row["samples"]) == pytest.approx(samples, abs=1e-3)
    (row,) = cells(found, "between-models", where="template 3")
    assert value(row["samples"]) == pytest.approx(0.565, abs=1e-3)
