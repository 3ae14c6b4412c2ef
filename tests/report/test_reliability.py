"""The reliability of a run's numbers: the parts, the reasons for missing ones, and the table on the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from gest_dataset.builders.released import FAMILIES, FAMILY_OF
from gest_dataset.data.rows import rows_of
from gest_dataset.errors import UnreachableError
from gest_dataset.measures.formatting import format_number
from gest_dataset.report import items, reliability
from gest_dataset.report.labels import label_runs
from gest_dataset.report.reliability import reliability_of, reliability_tables
from gest_dataset.runs.folder import Run, read_run
from gest_dataset.statistics import holm
from gest_dataset.statistics.confounders import adjusted_g_s, sentence_properties
from gest_dataset.statistics.correlation import LOW_RELIABILITY, split_half, template_agreement
from tests.studies import planting
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
    stereotypes = frame["stereotype"].to_numpy().reshape(-1, templates)[:, 0] - 1
    return frame["log_ratio"].to_numpy().reshape(-1, templates), stereotypes, ids


def with_scores(run: Run, scores: Sequence[float]) -> Run:
    column = run.table.column_names.index("log_ratio")
    return replace(run, table=run.table.set_column(column, "log_ratio", pa.array(scores)))


def row_of(run: Run, start: str) -> dict[str, Any]:
    [table] = reliability_tables(label_runs([run])).values()
    [row] = [row for row in table if row["what"].startswith(start)]
    return row


def test_reliability_and_agreement_are_the_statistics_of_the_scores(runs: dict[str, Run]) -> None:
    run = runs["bert-demo_en"]
    scores, stereotypes, ids = scores_of(run)
    found = reliability_of(run)
    assert found["reliability"] == pytest.approx(split_half(scores, stereotypes))
    agreement = found["template_agreement"]
    expected = template_agreement(scores, stereotypes)
    assert (agreement["profile"], agreement["samples"]) == pytest.approx(expected)
    assert sum(found["variance_shares"].values()) == pytest.approx(1)
    assert found["permutation_p"] == run.result["result"]["g_s_permutation_p"]
    # The confounders are properties of the sentences
    rows = rows_of("demo_en")
    text = dict(zip(rows["id"], rows["sentence"], strict=True))
    direct = adjusted_g_s(scores.mean(axis=1), stereotypes, sentence_properties([text[name] for name in ids]))
    assert found["confounders"] == direct
    assert "length in words" in row_of(run, "Correlations")["meaning"]


def test_a_run_without_variance_shares_has_no_row_of_dashes(runs: dict[str, Run]) -> None:
    run = runs["bert-demo_en"]
    small = replace(run, table=run.table.filter(pa.compute.equal(run.table["stereotype"], 3)))
    [table] = reliability_tables(label_runs([small])).values()
    assert not [row for row in table if "between stereotypes" in row["meaning"]]
    assert row_of(run, "Share of the stereotypes")


def test_a_profile_of_noise_has_a_warning(runs: dict[str, Run]) -> None:
    run = runs["bert-demo_en"]
    stereotypes = run.table["stereotype"].to_numpy()
    noise = np.random.default_rng(0).normal(size=len(stereotypes))
    for scores, warning in ((noise, True), (stereotypes + 0.01 * noise, False)):
        changed = with_scores(run, scores.tolist())
        assert (reliability_of(changed)["reliability"] < LOW_RELIABILITY) == warning
        assert row_of(changed, "Reliability")["warning"] == warning


def test_pairs_of_one_source_are_one_sample(runs: dict[str, Run]) -> None:
    """Copies of a pair do not make the profile more reliable."""
    run = runs["bert-demo_sk_pairs"]
    found = reliability_of(run)
    doubled = replace(run, table=pa.concat_tables([run.table, run.table]))
    assert reliability_of(doubled)["reliability"] == pytest.approx(found["reliability"], nan_ok=True)
    assert set(found["unavailable"]) == {"creators", "confounders"}
    assert "template_agreement" not in found
    assert row_of(run, "creators")["meaning"].startswith("not available: only sentences of en")


def test_creators_are_joined_by_the_sentence(runs: dict[str, Run]) -> None:
    run = runs["bert-en"]
    found = reliability_of(run)["creators"]
    texts = {text for row in rows_of("annotations") for text in (row["sentence"], row["fix"]) if text}
    known = [sentence in texts for sentence in rows_of("en_1_0")["sentence"]]
    assert (found["n"], found["n_unknown"]) == (sum(known), len(known) - sum(known))
    assert set(found["by_creator"]) <= set(rows_of("annotations")["creator"])
    planted = np.where(run.table["stereotype"].to_numpy() > 7, math.log(1.5), 0.0)
    flat = reliability_of(with_scores(run, planted.tolist()))
    assert flat["creators"]["g_s"] == pytest.approx(1.5)
    assert flat["confounders"]["adjusted_g_s"] == pytest.approx(1.5)


def _effects(x: np.ndarray[Any, Any], stereotypes: np.ndarray[Any, Any]) -> tuple[float, float]:
    """g_s (the mean over templates) and d, from the definition."""
    groups = [x[stereotypes == i] for i in range(1, 17)]
    means = np.array([group.mean(axis=0) if len(group) else math.nan * x[0] for group in groups])
    g_s = np.exp(means[7:].mean(axis=0) - means[:7].mean(axis=0)).mean()
    variance = np.mean([group.var(axis=0, ddof=1) for group in groups if len(group) > 1])
    return g_s, math.log(g_s) / math.sqrt(variance)


def test_sentences_that_point_the_other_way_and_the_rank(tmp_path: Path) -> None:
    """Rank and band are those of all choices, one by one; stereotype 12 is planted on the women's side."""
    noise = np.random.default_rng(2).standard_normal((34, 4))
    place = {name: index for index, name in enumerate(rows_of("en")["id"])}

    def ratio(row: dict[str, Any], template: int) -> float:
        side = -1 if row["stereotype"] == 12 else row["sign"]
        return 0.25 * side * template + 0.3 * float(noise[place[row["id"]], template - 1])

    run = read_run(planting.gest(tmp_path / "toy", "toy", ratio, (1, 3)))
    found = reliability_of(run)
    against = [name for name, (_, side) in found["sides"].items() if side == "against"]
    assert against == ["12 Providers"]
    assert "12 Providers" in row_of(run, "Stereotypes on the side")["meaning"]

    quality = rows_of("item_quality").to_pandas().set_index("sentence_id")
    label = rows_of("item_quality").features["quality"].str2int("against")
    released = rows_of("gest_scores_en").to_pandas()
    tables = {
        name: own.pivot(index="sentence_id", columns="template", values="log_ratio")
        for name, own in released.groupby("model")
    }
    masked = {name: own[[1, 3]].loc[[*place]].to_numpy() for name, own in tables.items() if 1 in own}
    assert len(masked) == 11
    own = run.table.to_pandas().pivot(index="id", columns="template", values="log_ratio").loc[[*place]]
    numbers = np.array(rows_of("en")["stereotype"])
    same = np.array(rows_of("en")["sentence"]) == np.array(rows_of("en_1_0")["sentence"])
    assert not same.all()

    def choices(x: np.ndarray[Any, Any], family: str | None) -> list[float]:
        classes = (
            quality["quality"]
            if family is None
            else quality["quality_without"].str[list(FAMILIES).index(family)]
        )
        kept = (classes.loc[[*place]] != label).to_numpy()
        masks = (np.full(34, True), kept, same, kept & same)
        return [
            one
            for mask in masks
            for columns in ([0, 1], [0], [1])
            for one in _effects(x[mask][:, columns], numbers[mask])
        ]

    mine = np.array(choices(own.to_numpy(), None))
    ranks = 1 + sum(np.array(choices(x, FAMILY_OF[name])) > mine for name, x in masked.items())
    ranks = ranks[~np.isnan(mine)]  # without changed sentences a stereotype is empty
    assert len(ranks) == 18
    assert ranks.min() < ranks.max()
    band = {"rank": ranks[0], "best": ranks.min(), "worst": ranks.max(), "of": 12, "choices": 18}
    assert found["rank"] == band
    expected = f"{ranks[0]} of 12 ({ranks.min()} to {ranks.max()})"
    assert row_of(run, "Rank among the published")["number"] == expected
    kept = (quality["quality"].loc[[*place]] != label).to_numpy()
    without = found["without_against"]
    assert without["n"] == (~kept).sum() == 7
    assert without["value"] == pytest.approx(_effects(own.to_numpy()[kept], numbers[kept])[0])
    assert row_of(run, "g_s without sentences")["number"].startswith(format_number(without["value"]))


def test_missing_parts_have_a_reason(runs: dict[str, Run], monkeypatch: pytest.MonkeyPatch) -> None:
    run = runs["bert-en"]
    older = replace(run, manifest=replace(run.manifest, data_fingerprint="0" * 64))
    assert "another version of en" in reliability_of(older)["unavailable"]["confounders"]
    custom = replace(run, manifest=replace(run.manifest, config="mine.csv"))
    assert "your own data" in reliability_of(custom)["unavailable"]["confounders"]

    def unreachable(*args: Any, **options: Any) -> None:
        raise UnreachableError("no network")

    for module in (reliability, items):
        monkeypatch.setattr(module, "rows_of", unreachable)
    found = reliability_of(run)
    assert found["unavailable"]["creators"] == "the data of en could not be read"
    assert "reliability" in found  # needs no sentences
    assert "sides" in found  # needs no released scores
    assert not found.keys() & {"without_against", "rank"}
    assert reliability_of(runs["bert-winobias_type1_test"]) == {}


def test_p_values_of_several_runs_are_corrected(runs: dict[str, Run]) -> None:
    chosen = [runs[name] for name in ("bert-en", "gpt2-en", "translated")]
    p_values = [reliability_of(run)["permutation_p"] for run in chosen]
    tables = reliability_tables(label_runs(chosen))
    for table, p_value, adjusted in zip(tables.values(), p_values, holm(p_values), strict=True):
        [row] = [row for row in table if row["what"].startswith("Permutation")]
        assert row["number"] == f"{format_number(p_value)} (Holm over 3 runs: {format_number(adjusted)})"
