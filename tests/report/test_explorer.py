"""What the page's explorer shows: the scores of the runs as they are, profiles, differences, the board."""

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
from gest_dataset import report
from gest_dataset.data.rows import rows_of
from gest_dataset.measures.display import LOG_DECIMALS, PROBABILITY_DECIMALS
from gest_dataset.report.explorer.beside import beside
from gest_dataset.report.explorer.board import board, family_of
from gest_dataset.report.explorer.explored import explored
from gest_dataset.report.explorer.packed import Texts, packed, whole_numbers
from gest_dataset.report.explorer.profiles import CHANCE, _order, profiles
from gest_dataset.report.explorer.samples import samples
from gest_dataset.report.measured import Measured, measured
from gest_dataset.report.verdict import verdict
from gest_dataset.runs.comparison import compare
from gest_dataset.runs.reading import find_runs
from gest_dataset.stereotypes import STEREOTYPES
from tests.support import explored as planted_runs
from tests.support import report_runs
from tests.support.chats import MODEL, chatting, planted

pytestmark = pytest.mark.usefixtures("one_thread")
PARTS = 10**LOG_DECIMALS


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("explored")
    with report_runs.small_world():
        planted_runs.english(path)
    return path


@pytest.fixture(scope="module")
def runs(folder: Path) -> list[Measured]:
    return measured(find_runs([folder]))


@pytest.fixture(scope="module")
def content(runs: list[Measured]) -> dict[str, Any]:
    with report_runs.small_world():
        return samples(runs)


def test_scores_are_those_of_the_runs(runs: list[Measured], content: dict[str, Any]) -> None:
    """Each score stands at the place of its sample, to half a part of 10,000."""
    [shared] = content["sets"]
    ids = [content["texts"][place] for place in shared["ids"]]
    assert ids == rows_of("en")["id"]
    for run, columns in zip(runs, content["runs"], strict=True):
        assert content["texts"][columns["model"]] == run.model
        table = run.run.table.to_pylist()
        told = {
            (ids[place], template): value / PARTS
            for template, column in zip(columns["templates"], columns["scores"], strict=True)
            for place, value in enumerate(column)
            if value is not None
        }
        assert told.keys() == {(row["id"], row["template"]) for row in table}
        for row in table:
            assert told[row["id"], row["template"]] == pytest.approx(row["log_ratio"], abs=0.5 / PARTS)


def test_samples_without_a_score_have_their_reason(content: dict[str, Any]) -> None:
    last = rows_of("en")[-1]["id"]
    for columns in content["runs"]:
        told = [
            (template, content["texts"][content["sets"][0]["ids"][place]], content["texts"][reason])
            for template, place, reason in columns["skipped"]
        ]
        is_beta = content["texts"][columns["model"]] == "beta"
        assert told == ([(2, last, planted_runs.NO_SCORE)] if is_beta else [])


def test_texts_are_there_once_with_what_they_are_about(content: dict[str, Any]) -> None:
    texts, [shared] = content["texts"], content["sets"]
    assert len(texts) == len(set(texts))
    for place, row in enumerate(rows_of("en")):
        assert texts[shared["fields"]["sentence"][place]] == row["sentence"]
        assert texts[shared["link"][place]] == row["sentence"]
        assert texts[shared["about"][place]].startswith(f"{row['stereotype']} ")
        assert texts[shared["group"][place]] == ("female" if row["stereotype"] <= 7 else "male")


def test_every_kind_of_run_can_be_explored(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Quadruplets with their ln P, StereoSet with three candidates, translations with their own texts."""
    every = measured(find_runs([report_runs.made(tmp_path_factory) / "runs"]))
    with report_runs.small_world():
        content = samples(every)
    assert len(content["runs"]) == len(every)
    by_name = {run.run.path.name: columns for run, columns in zip(every, content["runs"], strict=True)}
    quadruplets = next(run for run in every if run.run.path.name == "bert-stereoset_control_gender")
    columns = by_name["bert-stereoset_control_gender"]
    for field, own in columns["numbers"].items():
        expected = quadruplets.run.table[f"logp_{field}"].to_pylist()
        found = [value / PARTS for value in own if value is not None]
        assert found == pytest.approx([value for value in expected if value is not None], abs=0.5 / PARTS)
    assert len(columns["numbers"]) == 4
    assert by_name["bert-stereoset_en_intrasentence"]["variants"] == (
        "stereotype",
        "antistereotype",
        "unrelated",
    )
    # probabilities of a vocabulary are far below 1: four decimals would make most of them equal
    candidates = by_name["bert-stereoset_en_intrasentence"]
    assert (candidates["decimals"], columns["decimals"]) == (PROBABILITY_DECIMALS, LOG_DECIMALS)
    table = next(run for run in every if run.run.path.name == "bert-stereoset_en_intrasentence").run.table
    kept = (
        np.array([candidates["numbers"][name] for name in ("stereotype", "unrelated")])
        / 10**PROBABILITY_DECIMALS
    )
    assert kept[0] == pytest.approx(table["stereotype"].to_numpy(), abs=0.5 / 10**PROBABILITY_DECIMALS)
    assert kept[1] == pytest.approx(table["unrelated"].to_numpy(), abs=0.5 / 10**PROBABILITY_DECIMALS)
    assert by_name["bert-en"]["frames"][1] == ('{word} said: "{sentence}"', "He", "She")
    labels = by_name["translated"]
    assert labels["labels"]
    assert {value for value in labels["scores"][0] if value is not None} <= {PARTS, -PARTS, 0}
    assert len(labels["skipped"]) == 3
    pairs = by_name["bert-demo_sk_pairs"]
    assert len(pairs["skipped"]) == 15
    assert set(content["sets"][pairs["set"]]["fields"]) == {"masculine", "feminine"}


def test_answers_bring_their_prompts_and_likely_tokens(tmp_path: Path) -> None:
    rows = rows_of("en").to_list()
    genders = {row["sentence"]: STEREOTYPES[row["stereotype"]].gender for row in rows}
    with chatting(planted(genders, follows=0, bias=1, refused=0)) as server:
        gest_dataset.ask(MODEL, "choice", endpoint=server.url, output=tmp_path / "choice", limit=3)
    [run] = measured(find_runs([tmp_path]))
    table = run.run.table
    place = table.column_names.index("top")
    likely = [[{"token": "B", "log_probability": -1.5}, {"token": "A", "log_probability": -0.25}]]
    top = pa.array(likely + [[]] * (table.num_rows - 1), table.schema.field("top").type)
    told = replace(run.run, table=table.set_column(place, "top", top))
    content = samples([replace(run, run=told)])
    [columns] = content["runs"]
    texts = content["texts"]
    assert texts[columns["kept"]["top"][0]] == "'A' -0.250 · 'B' -1.500"
    assert columns["kept"]["top"][1] == -1
    assert [texts[text] for text in columns["kept"]["prompt"]] == table["prompt"].to_pylist()
    expected = {"male": PARTS, "female": -PARTS, "neither": 0}
    assert columns["scores"] == [[expected[option] for option in table["option"].to_pylist()]]


def test_own_templates_have_no_words_that_nobody_knows(runs: list[Measured]) -> None:
    """A run keeps the name of a file of templates: number 1 there is not our number 1."""
    manifest = runs[0].run.manifest
    told = replace(manifest, metadata={**manifest.metadata, "options": {"templates": "mine.json#12345678"}})
    own = replace(runs[0], run=replace(runs[0].run, manifest=told))
    assert samples([own])["runs"][0]["frames"] == {}
    assert set(samples([runs[0]])["runs"][0]["frames"]) == {1, 2, 3, 4}


def test_repeated_ids_stay_apart(runs: list[Measured]) -> None:
    table = runs[0].run.table
    twice = replace(runs[0].run, table=table.take([0, 0, 1]))
    content = samples([replace(runs[0], run=twice)])
    values = [value for value in content["runs"][0]["scores"][0] if value is not None]
    first, second = (round(table["log_ratio"][place].as_py() * PARTS) for place in (0, 1))
    assert sorted(values) == sorted([first, first, second])


def test_profiles_are_ln_q_around_its_middle(runs: list[Measured]) -> None:
    [found] = profiles(runs)
    for row, run in zip(found.values, runs, strict=True):
        for number in range(16):
            naive = np.mean(
                [
                    math.log(part["q"][number]) - (math.log(part["q_f"]) + math.log(part["q_m"])) / 2
                    for part in run.templates.values()
                ]
            )
            assert row[number] == pytest.approx(naive)
    for i, first in enumerate(found.values):
        for j, second in enumerate(found.values):
            assert found.likeness[i, j] == pytest.approx(stats.pearsonr(first, second).statistic)
    assert profiles(runs[:1]) == []


def test_tables_have_all_numbers_of_the_figures(runs: list[Measured]) -> None:
    [found] = profiles(runs)
    tables = list(found.tables())
    assert all(len(headings) <= 8 for _, headings, _ in tables)
    for line, values in enumerate(found.values):
        parts = [rows[line] for caption, _, rows in tables if not caption.startswith("Correlations")]
        assert {name for name, _ in parts} == {runs[line].label}
        assert [value for _, own in parts for value in own] == values.tolist()
    assert len({caption for caption, _, _ in tables}) == len(tables) == 3


def test_translators_have_profiles_of_shares(tmp_path: Path) -> None:
    with report_runs.small_world():
        paths = [report_runs.translated(tmp_path / name) for name in ("first", "second")]
        [found] = profiles(measured(find_runs(paths)))
    result = found.runs[0].result
    assert found.values[0] == pytest.approx(np.array(result["p"]) - result["f_m"])


def test_like_profiles_are_neighbours() -> None:
    low, high = np.zeros(16), np.ones(16)
    rows = np.array([low, high, low + 0.01, high + 0.01])
    order = _order(rows)
    assert sorted(order) == [0, 1, 2, 3]
    assert {frozenset(order[:2]), frozenset(order[2:])} == {frozenset({0, 2}), frozenset({1, 3})}
    with_gap = np.where(np.arange(16) == 3, np.nan, rows)
    assert sorted(_order(with_gap)) == [0, 1, 2, 3]


def test_chance_is_the_tables_value() -> None:
    """t / sqrt(t^2 + 14) at the 97.5 % point."""
    t = stats.t.ppf(0.975, 14)
    assert pytest.approx(t / math.sqrt(t * t + 14), abs=5e-4) == CHANCE


def test_differences_are_those_of_compare(runs: list[Measured]) -> None:
    [group] = beside(runs)
    expected = compare([run.run for run in runs]).differences
    assert [other.difference for other in group.others] == expected
    assert [other.run for other in group.others] == runs[1:]
    drawn = group.columns()
    assert drawn["baseline"] == 0
    for own, difference in zip(drawn["others"], expected, strict=True):
        values = [(row["value"], row["low"], row["high"]) for row in own["rows"]]
        assert values == [one.times for one in difference.by_stereotype]


def test_runs_that_cannot_be_compared_say_why(runs: list[Measured], tmp_path: Path) -> None:
    first, second = (run.run for run in runs[:2])
    other = replace(second, manifest=replace(second.manifest, data_fingerprint="another"))
    [group] = beside(measured([first, other]))
    assert group.others == []
    assert "same data can be compared" in group.reason
    page = report.write([first, other], tmp_path / "r.html").read_text(encoding="utf-8")
    assert "same data can be compared" in page
    assert report_runs.unpacked(tmp_path / "r.html")["beside"] == []


def test_board_has_families_and_sizes(runs: list[Measured]) -> None:
    places = board([verdict(run) for run in runs])
    told = [(place.family, place.size, place.millions) for place in places]
    assert told == [
        ("alpha", "up to 200 M", 100.0),
        ("alpha", "up to 200 M", 200.0),
        ("beta", "200 M to 1 B", 300.0),
    ]
    drawn = places[0].packed()
    result = runs[0].result
    assert (drawn["value"], drawn["low"], drawn["high"]) == tuple(
        result[f"g_s{end}"] for end in ("", "_low", "_high")
    )
    assert board([verdict(runs[0])]) == []
    assert family_of("roberta-base") == family_of("somebody/roberta-tuned") == "roberta"


def test_what_is_packed_is_never_markup() -> None:
    texts = Texts()
    nasty = "</template><script>alert(1)</script>\u202e"
    assert texts.column([nasty, None, nasty]) == [0, -1, 0]
    assert texts.all() == ["</template><script>alert(1)</script>\\u202e"]
    content = {"texts": texts.all()}
    assert re.fullmatch(r"[A-Za-z0-9+/]+=*", packed(content))
    assert packed(content) == packed(content)


def test_no_score_is_none() -> None:
    assert whole_numbers([0.12344, math.nan, -1.0, math.inf], 4) == [1234, None, -10000, None]


def test_no_runs_no_explorer() -> None:
    assert explored([], []) is None
