"""The data of the explorer: the scores of the runs, profiles, comparisons, the table of all runs."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import gest_dataset
from gest_dataset.data.rows import rows_of
from gest_dataset.report import write_report
from gest_dataset.report.explorer.explorer import (
    CHANCE,
    Texts,
    board_of,
    compare_groups,
    family_of,
    pack,
    profiles_of,
    samples_of,
    scaled_integers,
    similarity_order,
)
from gest_dataset.report.labels import LabelledRun, label_runs, verdict_of
from gest_dataset.runs.comparison import compare
from gest_dataset.runs.folder import find_runs
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.storage import json_value
from tests.support import explored, report_runs
from tests.support.chats import MODEL, chatting, planted

pytestmark = pytest.mark.usefixtures("one_thread")
LOG_DECIMALS, PROBABILITY_DECIMALS = 4, 8
SCALE = 10**LOG_DECIMALS


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[LabelledRun]:
    path = tmp_path_factory.mktemp("explored")
    with report_runs.small_world():
        explored.english(path)
    return label_runs(find_runs([path]))


@pytest.fixture(scope="module")
def content(runs: list[LabelledRun]) -> dict[str, Any]:
    with report_runs.small_world():
        return samples_of(runs)


def test_scores_are_those_of_the_runs(runs: list[LabelledRun], content: dict[str, Any]) -> None:
    texts = content["texts"]
    [samples] = content["sets"]
    ids = [texts[number] for number in samples["ids"]]
    assert ids == rows_of("en")["id"]
    for run, columns in zip(runs, content["runs"], strict=True):
        assert texts[columns["model"]] == run.model
        found = {
            (ids[place], template): value / SCALE
            for template, column in zip(columns["templates"], columns["scores"], strict=True)
            for place, value in enumerate(column)
            if value is not None
        }
        table = run.run.table.to_pylist()
        assert found.keys() == {(row["id"], row["template"]) for row in table}
        for row in table:
            assert found[row["id"], row["template"]] == pytest.approx(row["log_ratio"], abs=0.5 / SCALE)
        skipped = [(template, ids[place], texts[reason]) for template, place, reason in columns["skipped"]]
        assert skipped == ([(2, ids[-1], explored.NO_SCORE)] if run.model == "beta" else [])


def test_every_kind_of_run_has_samples(tmp_path_factory: pytest.TempPathFactory) -> None:
    every = label_runs(find_runs([report_runs.made(tmp_path_factory) / "runs"]))
    with report_runs.small_world():
        content = samples_of(every)
    names = [run.run.path.name for run in every]
    by_name = dict(zip(names, content["runs"], strict=True))
    tables = {run.run.path.name: run.run.table for run in every}
    columns = by_name["bert-stereoset_control_gender"]
    assert len(columns["numbers"]) == 4
    for field, values in columns["numbers"].items():
        expected = tables["bert-stereoset_control_gender"][f"logp_{field}"].drop_null().to_pylist()
        found = [value / SCALE for value in values if value is not None]
        assert found == pytest.approx(expected, abs=0.5 / SCALE)
    candidates = by_name["bert-stereoset_en_intrasentence"]
    assert candidates["variants"] == ["stereotype", "antistereotype", "unrelated"]
    # Probabilities are far below 1: four decimals would make most of them equal
    assert (candidates["decimals"], columns["decimals"]) == (PROBABILITY_DECIMALS, LOG_DECIMALS)
    stored = np.array(candidates["numbers"]["unrelated"]) / 10**PROBABILITY_DECIMALS
    expected = tables["bert-stereoset_en_intrasentence"]["unrelated"].to_numpy()
    assert stored == pytest.approx(expected, abs=0.5 / 10**PROBABILITY_DECIMALS)
    assert by_name["bert-en"]["frames"][1] == ('{word} said: "{sentence}"', "He", "She")
    labels = by_name["translated"]
    assert labels["labels"]
    assert {value for value in labels["scores"][0] if value is not None} <= {SCALE, -SCALE, 0}
    assert len(labels["skipped"]) == 3
    pairs = by_name["bert-demo_sk_pairs"]
    [own] = [run.run for run in every if run.run.path.name == "bert-demo_sk_pairs"]
    assert len(pairs["skipped"]) == len(own.result["skipped"]["id"]) > 0
    assert set(content["sets"][pairs["set"]]["fields"]) == {"masculine", "feminine"}


def test_answers_have_their_prompts_and_likely_tokens(tmp_path: Path) -> None:
    rows = rows_of("en").to_list()
    genders = {row["sentence"]: STEREOTYPES[row["stereotype"]].gender for row in rows}
    with chatting(planted(genders, follows=0, bias=1, refused=0)) as server:
        gest_dataset.ask(MODEL, "choice", endpoint=server.url, output=tmp_path / "choice", limit=3)
    [run] = label_runs(find_runs([tmp_path]))
    table = run.run.table
    likely = [[{"token": "B", "log_probability": -1.5}, {"token": "A", "log_probability": -0.25}]]
    top = pa.array(likely + [[]] * (table.num_rows - 1), table.schema.field("top").type)
    changed = replace(run.run, table=table.set_column(table.column_names.index("top"), "top", top))
    content = samples_of([replace(run, run=changed)])
    [columns], texts = content["runs"], content["texts"]
    assert texts[columns["fields"]["top"][0]] == "'A' -0.250 · 'B' -1.500"
    assert columns["fields"]["top"][1] == -1
    assert [texts[text] for text in columns["fields"]["prompt"]] == table["prompt"].to_pylist()
    expected = {"male": SCALE, "female": -SCALE, "neither": 0}
    assert columns["scores"] == [[expected[option] for option in table["option"].to_pylist()]]


def test_profiles_are_ln_q_around_the_middle(runs: list[LabelledRun]) -> None:
    [found] = profiles_of(runs)
    for row, run in zip(found["values"], runs, strict=True):
        for number in range(16):
            naive = [
                math.log(part["q"][number]) - (math.log(part["q_f"]) + math.log(part["q_m"])) / 2
                for part in run.templates.values()
            ]
            assert row[number] == pytest.approx(np.mean(naive))
    for i, first in enumerate(found["values"]):
        for j, second in enumerate(found["values"]):
            assert found["correlations"][i, j] == pytest.approx(stats.pearsonr(first, second).statistic)
    assert profiles_of(runs[:1]) == []


def test_a_run_without_samples_of_a_stereotype_has_no_profile(runs: list[LabelledRun]) -> None:
    result = json_value({**runs[0].result, "q": [math.nan] * 16, "q_f": math.nan, "q_m": math.nan})
    del result["by_template"]
    empty = replace(runs[0], run=replace(runs[0].run, result={**runs[0].run.result, "result": result}))
    [found] = profiles_of([empty, *runs[1:]])
    assert found["runs"] == runs[1:]
    assert profiles_of([empty, runs[1]]) == []


def test_similar_profiles_are_neighbours() -> None:
    low, high = np.zeros(16), np.ones(16)
    rows = np.array([low, high, low + 0.01, high + 0.01])
    order = similarity_order(rows)
    assert {frozenset(order[:2]), frozenset(order[2:])} == {frozenset({0, 2}), frozenset({1, 3})}
    with_gap = np.where(np.arange(16) == 3, np.nan, rows)
    assert sorted(similarity_order(with_gap)) == [0, 1, 2, 3]
    # t / sqrt(t^2 + 14) at the 97.5 % point
    t = stats.t.ppf(0.975, 14)
    assert pytest.approx(t / math.sqrt(t * t + 14), abs=5e-4) == CHANCE


@pytest.fixture(autouse=True)
def no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gest_dataset.report.page.panels_of", lambda *_: [])


def test_comparisons_are_those_of_compare(runs: list[LabelledRun], tmp_path: Path) -> None:
    [group] = compare_groups(runs)
    expected = compare([run.run for run in runs], by_template=False).differences
    assert group.others == list(zip(runs[1:], expected, strict=True))
    [drawn] = report_runs.unpacked(write_report([run.run for run in runs], tmp_path / "r.html"))[
        "comparisons"
    ]
    assert drawn["baseline"] == 0
    for other, difference in zip(drawn["others"], expected, strict=True):
        values = [(row["value"], row["low"], row["high"]) for row in other["rows"]]
        assert values == [one.times for one in difference.by_stereotype]


def test_runs_on_other_data_are_not_compared(runs: list[LabelledRun], tmp_path: Path) -> None:
    first, second = (run.run for run in runs[:2])
    other = replace(second, manifest=replace(second.manifest, data_fingerprint="another"))
    [group] = compare_groups(label_runs([first, other]))
    assert group.others == []
    page = write_report([first, other], tmp_path / "r.html")
    assert group.reason.splitlines()[0] in page.read_text(encoding="utf-8")
    assert report_runs.unpacked(page)["comparisons"] == []


def test_board_has_families_and_sizes(runs: list[LabelledRun]) -> None:
    rows = board_of([verdict_of(run) for run in runs])
    assert [(row["family"], row["size"], row["millions"]) for row in rows] == [
        ("alpha", "up to 200 M", 100.0),
        ("alpha", "up to 200 M", 200.0),
        ("beta", "200 M to 1 B", 300.0),
    ]
    drawn, result = rows[0], runs[0].result
    names = {"value": "g_s", "low": "g_s_low", "high": "g_s_high"}
    assert {name: drawn[name] for name in names} == {name: result[key] for name, key in names.items()}
    assert board_of([verdict_of(runs[0])]) == []
    assert family_of("roberta-base") == family_of("somebody/roberta-tuned") == "roberta"


def test_packed_data_are_never_markup() -> None:
    texts = Texts()
    nasty = "</template><script>alert(1)</script>\u202e"
    assert texts.column([nasty, None, nasty]) == [0, -1, 0]
    assert list(texts) == ["</template><script>alert(1)</script>\\u202e"]
    assert re.fullmatch(r"[A-Za-z0-9+/]+=*", pack({"texts": list(texts)}))
    assert scaled_integers([0.12344, math.nan, -1.0, math.inf], 4) == [1234, None, -10000, None]
