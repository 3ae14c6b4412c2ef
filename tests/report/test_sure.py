"""How sure a run's numbers are: the parts, why some are lacking, and their words on the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from gest_dataset.data.rows import rows_of
from gest_dataset.errors import UnreachableError
from gest_dataset.measures.formatting import format_number
from gest_dataset.report import sureness, texts, write
from gest_dataset.report.measured import measured
from gest_dataset.report.sure_table import Row, sure_tables
from gest_dataset.runs.reading import Run, read_run
from gest_dataset.statistics import holm
from gest_dataset.statistics.confounders import adjusted_g_s, sentence_properties
from gest_dataset.statistics.masculine_rate import unknown_bounds
from gest_dataset.statistics.reliability import LOW_RELIABILITY, split_half, template_agreement
from tests.support import report_runs

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    folder = report_runs.made(tmp_path_factory) / "runs"
    return {path.name: read_run(path) for path in sorted(folder.iterdir())}


def scores_of(run: Run) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], list[str]]:
    """Scores [samples, templates], stereotypes from 0 and ids, straight from the table."""
    frame = run.table.to_pandas().sort_values(["id", "template"])
    ids = list(dict.fromkeys(frame["id"]))
    templates = frame["template"].nunique()
    assert len(frame) == len(ids) * templates
    stereotypes = frame["stereotype"].to_numpy().reshape(-1, templates)[:, 0] - 1
    return frame["log_ratio"].to_numpy().reshape(-1, templates), stereotypes, ids


def with_scores(run: Run, scores: Sequence[float]) -> Run:
    """The run, with other ln ratios."""
    place = run.table.column_names.index("log_ratio")
    return replace(run, table=run.table.set_column(place, "log_ratio", pa.array(scores)))


def row_of(run: Run, beginning: str) -> Row:
    [table] = sure_tables(measured([run]))
    [row] = [row for row in table.rows if row.what.startswith(beginning)]
    return row


def test_reliability_and_agreement_are_the_statistics_on_the_runs_scores(runs: dict[str, Run]) -> None:
    run = runs["bert-demo_en"]
    scores, stereotypes, _ = scores_of(run)
    told = sureness(run)
    assert told["reliability"] == pytest.approx(split_half(scores, stereotypes))
    agreement = told["template_agreement"]
    assert (agreement["profile"], agreement["samples"]) == pytest.approx(
        template_agreement(scores, stereotypes)
    )
    assert sum(told["variance_shares"].values()) == pytest.approx(1)
    assert told["permutation_p"] == run.result["result"]["g_s_permutation_p"]


def test_a_profile_that_is_noise_has_a_warning(runs: dict[str, Run]) -> None:
    run = runs["bert-demo_en"]
    generator = np.random.default_rng(0)
    stereotypes = run.table["stereotype"].to_numpy()
    noise = generator.normal(size=len(stereotypes))
    for scores, warned in ((noise, True), (stereotypes + 0.01 * noise, False)):
        changed = with_scores(run, scores.tolist())
        assert (sureness(changed)["reliability"] < LOW_RELIABILITY) == warned
        row = row_of(changed, "Reliability")
        assert row.warning == warned
        assert ("do not read single ones" in row.says) == warned


def test_pairs_of_one_source_are_one_sample(runs: dict[str, Run]) -> None:
    """Copies of a pair, which say nothing new, do not make the profile more reliable."""
    run = runs["bert-demo_sk_pairs"]
    rows = rows_of("demo_sk_pairs")
    sources = dict(zip(rows["id"], rows["source"], strict=True))
    assert len(set(sources.values())) <= len(sources)
    told = sureness(run)
    doubled = replace(run, table=pa.concat_tables([run.table, run.table]))
    assert sureness(doubled)["reliability"] == pytest.approx(told["reliability"], nan_ok=True)
    assert told["lacking"] == {
        "creators": "who wrote the sentences is known of en and en_1_0 only",
        "confounders": "the properties are those of English sentences",
    }
    assert "template_agreement" not in told
    assert row_of(run, "who wrote").says.startswith("not known: who wrote")


def test_creators_are_joined_by_the_sentence(runs: dict[str, Run]) -> None:
    run = runs["bert-en"]
    told = sureness(run)["creators"]
    texts = {text for row in rows_of("annotations") for text in (row["sentence"], row["fix"]) if text}
    known = [sentence in texts for sentence in rows_of("en_1_0")["sentence"]]
    assert (told["n"], told["n_unknown"]) == (sum(known), len(known) - sum(known))
    assert set(told["by_creator"]) <= set(rows_of("annotations")["creator"])
    assert f"{told['n_unknown']} of {len(known)} sentences left out" in row_of(run, "g_s over creators").says
    planted = np.where(run.table["stereotype"].to_numpy() > 7, math.log(1.5), 0.0)
    flat = sureness(with_scores(run, planted.tolist()))
    assert flat["creators"]["g_s"] == pytest.approx(1.5)
    assert flat["confounders"]["adjusted_g_s"] == pytest.approx(1.5)


def test_confounders_are_those_of_the_sentences(runs: dict[str, Run]) -> None:
    run = runs["bert-demo_en"]
    scores, stereotypes, ids = scores_of(run)
    rows = rows_of("demo_en")
    text = dict(zip(rows["id"], rows["sentence"], strict=True))
    direct = adjusted_g_s(scores.mean(axis=1), stereotypes, sentence_properties([text[name] for name in ids]))
    told = sureness(run)["confounders"]
    assert told["adjusted_g_s"] == pytest.approx(math.exp(direct.adjusted))
    assert told["adjusted_g_s_low"] == pytest.approx(math.exp(direct.low))
    assert told["correlations"] == pytest.approx(direct.correlations)
    assert "length in words" in row_of(run, "Correlations").says


def test_unknown_genders_either_way(runs: dict[str, Run]) -> None:
    run = runs["translated"]
    bounds = unknown_bounds(run.table["gender"].to_pylist(), run.table["stereotype"].to_pylist())
    told = sureness(run)
    assert (told["f_s_lowest"], told["f_s_highest"]) == (bounds.f_s_lowest, bounds.f_s_highest)
    assert told["f_s_lowest"] < run.result["result"]["f_s"] < told["f_s_highest"]
    assert "96 of 960 texts without a gender" in row_of(run, "f_s").says


def test_what_cannot_be_had_is_said(
    runs: dict[str, Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = runs["bert-en"]
    older = replace(run, manifest=replace(run.manifest, data_fingerprint="0" * 64))
    assert "another version of en" in sureness(older)["lacking"]["confounders"]
    mine = replace(run, manifest=replace(run.manifest, config="mine.csv"))
    assert "data of your own" in sureness(mine)["lacking"]["confounders"]

    def unreachable(*args: Any, **options: Any) -> None:
        raise UnreachableError("no network")

    monkeypatch.setattr(texts.datasets, "load_dataset", unreachable)
    told = sureness(run)
    assert told["lacking"]["creators"] == "the data of en were not at hand"
    assert "reliability" in told  # which needs no sentences
    page = write([run], tmp_path / "r.html").read_text(encoding="utf-8")
    assert "not known: the data of en were not at hand" in page


def test_measures_without_stereotypes_have_no_part(runs: dict[str, Run], tmp_path: Path) -> None:
    run = runs["bert-winobias_type1_test"]
    assert sureness(run) == {}
    assert "How sure is this?" not in write([run], tmp_path / "r.html").read_text(encoding="utf-8")


def test_p_values_of_several_runs_are_corrected(runs: dict[str, Run]) -> None:
    chosen = [runs[name] for name in ("bert-en", "gpt2-en", "translated")]
    p_values = [sureness(run)["permutation_p"] for run in chosen]
    tables = sure_tables(measured(chosen))
    for table, p_value, adjusted in zip(tables, p_values, holm(p_values), strict=True):
        [row] = [row for row in table.rows if row.what.startswith("Permutation")]
        assert row.number.endswith("(Holm over 3 runs: " + format_number(adjusted) + ")")
        assert row.number.startswith(format_number(p_value))
