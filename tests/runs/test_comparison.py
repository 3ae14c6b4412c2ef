"""Paired comparisons of runs: which runs and samples are compared, and what `gest compare` prints."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from datasets import Dataset, load_dataset
from typer.testing import CliRunner

import gest_dataset
from gest_dataset import statistics
from gest_dataset.cli import app
from gest_dataset.commands import compare as command
from gest_dataset.commands import console
from gest_dataset.errors import ConfigError, DataError, OutputError, SourceError
from gest_dataset.runs import comparison, read_run
from gest_dataset.runs.folder import Run
from gest_dataset.stereotypes import STEREOTYPES
from tests.support import explored, report_runs, zoo

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """Three models on `en` in four templates; the last has no score for one sample in template 2."""
    with report_runs.small_world():
        return [read_run(path) for path in explored.english(tmp_path_factory.mktemp("runs"))]


def with_scores(run: Run, change: Any) -> Run:
    frame = run.table.to_pandas()
    frame["log_ratio"] = change(frame)
    return replace(run, table=pa.Table.from_pandas(frame, preserve_index=False))


def gest(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["compare", *map(str, arguments)])


def test_differences_are_paired_by_sample(runs: list[Run]) -> None:
    found = gest_dataset.compare(runs).differences
    wide = [
        run.table.to_pandas().pivot(index=["id", "stereotype"], columns="template", values="log_ratio")
        for run in runs
    ]
    for one, table in zip(found, wide[1:], strict=True):
        both = wide[0].join(table.add_prefix("other ")).dropna()
        b, a = both.iloc[:, :4].to_numpy(), both.iloc[:, 4:].to_numpy()
        stereotypes = both.index.get_level_values("stereotype").tolist()
        expected = statistics.compare("g_s", a, b, stereotypes)
        assert one.comparison.difference == pytest.approx(expected.difference)
        assert (one.n, one.missing) == (len(both), len(wide[0]) - len(both))
        for part, number in zip(one.by_template, (1, 2, 3, 4), strict=True):
            assert part.template == number
            columns = [number - 1]
            if part.n == len(both):
                direct = statistics.compare("g_s", a[:, columns], b[:, columns], stereotypes)
                assert part.comparison.difference == pytest.approx(direct.difference)
        stereotype = one.by_stereotype[4]
        of_fifth = np.array(stereotypes) == 5
        assert stereotype.difference == pytest.approx((a - b)[of_fifth].mean())
    p_values = [one.comparison.p_value for one in found]
    assert [one.p_holm for one in found] == pytest.approx(statistics.holm(p_values))
    single = [part.comparison.p_value for one in found for part in one.by_template]
    corrected = [part.p_holm for one in found for part in one.by_template]
    assert corrected == pytest.approx(statistics.holm(single))


def test_opposite_differences_of_g_s_and_d_are_told(
    runs: list[Run], capsys: pytest.CaptureFixture[str]
) -> None:
    """A model with four times as extreme scores, and a weaker preference relative to them."""

    def planted(seed: int, scale: float, d: float) -> Any:
        noise = np.random.default_rng(seed)
        return lambda frame: scale * (noise.normal(size=len(frame)) + d * (frame["stereotype"] > 7))

    b, a = with_scores(runs[0], planted(1, 1.0, 1.5)), with_scores(runs[1], planted(2, 4.0, 0.6))
    result = gest_dataset.compare([b, a], by_template=False)
    (one,) = result.differences
    assert one.second is not None
    assert one.comparison.difference > 0 > one.second.high
    assert one.p_holm_second == one.second.p_value
    assert one.disagreement() == "g_s and d disagree: g_s is higher than the baseline's, d is lower."
    command._show(result)
    text = " ".join(capsys.readouterr().out.split())
    assert "g_s and d disagree" in text
    assert "d = ln g_s / s" in text
    assert command._to_json(result)["differences"][0]["disagreement"] == one.disagreement()
    agreeing = gest_dataset.compare([b, with_scores(runs[1], planted(2, 1.0, 0.6))], by_template=False)
    assert agreeing.differences[0].disagreement() == ""


def test_samples_of_only_one_run_are_counted(tmp_path: Path) -> None:
    """Either run may be the shorter one, and ids need not be in the order of the stereotypes."""
    rows = [{"id": f"s{i}", "stereotype": 16 - i % 16, "sentence": f"I am number {i}."} for i in range(96)]
    for name, model, limit in (("base", "bert", None), ("few", "gpt2", 64)):
        data = Dataset.from_list(rows)
        gest_dataset.score(
            zoo.load(model), data, templates=[3], limit=limit, device="cpu", output=tmp_path / name
        )
    base, few = read_run(tmp_path / "base"), read_run(tmp_path / "few")
    for first, second in ((base, few), (few, base)):
        (found,) = gest_dataset.compare([first, second]).differences
        assert (found.n, found.missing, found.templates) == (64, 32, (3,))
        assert (found.run, found.baseline) == (second.manifest.model, first.manifest.model)
        a, b = (run.table["log_ratio"].to_pylist()[:64] for run in (second, first))
        assert found.comparison == statistics.compare("g_s", a, b, [row["stereotype"] for row in rows[:64]])


def test_repeated_ids_are_paired_in_order(runs: list[Run]) -> None:
    twice = [replace(run, table=pa.concat_tables([run.table, run.table])) for run in runs[:2]]
    (once,) = gest_dataset.compare(runs[:2]).differences
    (found,) = gest_dataset.compare(twice).differences
    assert (found.n, found.missing) == (2 * once.n, 0)
    assert found.comparison.difference == pytest.approx(once.comparison.difference)


def test_units_are_resampled_together(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The targets of StereoSet, which are in the rows of the dataset."""
    config = "stereoset_en_intrasentence"
    sides = []
    for name in ("gpt2", "bert"):
        gest_dataset.score(zoo.load(name), config, limit=60, device="cpu", output=tmp_path / name)
        sides.append(read_run(tmp_path / name))
    (found,) = gest_dataset.compare(sides).differences
    rows = load_dataset("gest", config, split="test")
    target = dict(zip(rows["id"], rows["target_en"], strict=True))
    columns = ("stereotype", "antistereotype", "unrelated")
    b, a = (
        [list(row) for row in zip(*(side.table[name].to_pylist() for name in columns), strict=True)]
        for side in sides
    )
    units = [target[name] for name in sides[0].table["id"].to_pylist()]
    assert len(set(units)) < len(units)
    assert found.comparison.samples_needed == statistics.compare("icat", a, b, units=units).samples_needed
    assert found.second == statistics.compare("ss", a, b, units=units)

    def unreachable(config: str) -> None:
        raise SourceError("no network")

    monkeypatch.setattr(comparison, "rows_of", unreachable)
    with pytest.raises(DataError, match="column `target_en`"):
        gest_dataset.compare(sides)


def test_folders_are_compared_config_by_config(runs: list[Run], tmp_path: Path) -> None:
    for run, folder in zip(runs, ("one", "two", "three"), strict=True):
        shutil.copytree(run.path, tmp_path / folder / "en")
    report_runs.translated(tmp_path / "one" / "translated")
    result = gest_dataset.compare([tmp_path / name for name in ("one", "two", "three")])
    assert [one.run for one in result.differences] == list(explored.MODELS[1:])
    assert result.unmatched == [tmp_path / "one" / "translated"]
    assert result.notes() == [f"No counterpart: {tmp_path}/one/translated"]
    shutil.copytree(runs[0].path, tmp_path / "two" / "again")
    with pytest.raises(ConfigError, match="several runs of en"):
        gest_dataset.compare([tmp_path / "one", tmp_path / "two"])
    with pytest.raises(ConfigError, match="No two runs can be compared"):
        gest_dataset.compare([tmp_path / "one" / "translated", tmp_path / "three"])
    with pytest.raises(ConfigError, match="two runs or more"):
        gest_dataset.compare([tmp_path / "one"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"config": "en_1_0"}, "same config"),
        ({"data_fingerprint": "0" * 32}, "same data"),
        ({"settings": {"options": {"multi_token": True}}}, "same options"),
        ({"settings": {"prompts": "others"}}, "same prompts"),
    ],
)
def test_runs_must_have_the_same_setup(runs: list[Run], change: dict[str, Any], message: str) -> None:
    first, second = runs[:2]
    settings = second.manifest.settings | change.get("settings", {})
    other = replace(second, manifest=replace(second.manifest, **{**change, "settings": settings}))
    with pytest.raises(ConfigError, match=message):
        gest_dataset.compare([first, other])


def test_too_few_common_samples_are_an_error(runs: list[Run]) -> None:
    short = replace(runs[1], table=runs[1].table.slice(0, 3))
    with pytest.raises(DataError, match="too few samples in common for g_s"):
        gest_dataset.compare([runs[0], short])


@pytest.mark.parametrize(
    ("config", "measure"),
    [
        ("stereoset_control_gender", "f_mu"),
        ("crows_control_negation", "cs_mu_original"),
        ("crows_gender", "cs_mu_original"),
        ("stereoset_en_intrasentence", "icat"),
    ],
)
def test_other_measures(config: str, measure: str, tmp_path: Path) -> None:
    for dtype in ("float32", "bfloat16"):
        model = str(zoo.directory("bert"))
        gest_dataset.score(model, config, device="cpu", dtype=dtype, output=tmp_path / dtype)
    (found,) = gest_dataset.compare([tmp_path / "float32", tmp_path / "bfloat16"]).differences
    assert found.comparison.measure == measure
    assert found.comparison.low <= found.comparison.difference <= found.comparison.high
    assert not found.by_stereotype


# --- the command


def test_command_prints_a_table(runs: list[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console.out, "_width", 160)
    done = gest(*(run.path for run in runs))
    assert done.exit_code == 0
    text = " ".join(done.stdout.split())
    for one in gest_dataset.compare(runs).differences:
        value, low, high = one.comparison.times
        assert f"{value:.3f} {low:.3f} to {high:.3f}" in text
        smallest = math.exp(one.comparison.smallest)
        assert f"{one.run}: a true ratio of {smallest:.3f} or more would be detected" in text
    assert "p is corrected for 2 comparisons (Holm)." in text
    assert "beta: 1 samples are in only one of the runs and are left out." in text


def test_the_table_fits_into_80_columns(runs: list[Run]) -> None:
    """Equal numbers of samples are in the title; different ones are a column."""
    table = gest(*(run.path for run in runs[:2])).stdout.split("\n\n")[0].split(" d = ln g_s / s ")[0]
    complete = len(gest_dataset.compare(runs[:2]).differences[0].by_template) * [runs[0].table.num_rows // 4]
    assert f"{complete[0]:,} samples" in " ".join(table.split())
    assert "p (Holm)   samples" not in table
    assert max(map(len, table.splitlines())) <= 80
    assert "p (Holm)   samples" in gest(*(run.path for run in runs)).stdout


def test_stereotypes_that_differ_are_listed(runs: list[Run], capsys: pytest.CaptureFixture[str]) -> None:
    moved = with_scores(
        runs[0], lambda frame: frame["log_ratio"] + 0.5 * (frame["stereotype"] == 6) * frame["id"].str.len()
    )
    (found,) = gest_dataset.compare([runs[0], moved]).differences
    assert [one.stereotype for one in found.by_stereotype if one.shown] == [6]
    command._show_group([found])
    text = " ".join(capsys.readouterr().out.split())
    assert f" 6 {STEREOTYPES[6].name} " in text
    assert f" {found.by_stereotype[5].times[0]:.3f} " in text


def test_json_has_all_numbers(runs: list[Run]) -> None:
    paths = [run.path for run in runs]
    content = json.loads(gest(*paths, "--json").stdout)
    for entry, one in zip(content["differences"], gest_dataset.compare(paths).differences, strict=True):
        assert (entry["run"], entry["n"], entry["missing"]) == (one.run, one.n, one.missing)
        assert entry["p_holm"] == one.p_holm
        assert entry["comparison"]["difference"] == one.comparison.difference
        assert entry["comparison"]["ratio_interval"] == list(one.comparison.times)
        assert (len(entry["by_template"]), len(entry["by_stereotype"])) == (4, 16)


def test_wrong_usage(runs: list[Run]) -> None:
    paths = [run.path for run in runs]
    assert isinstance(gest(paths[0]).exception, ConfigError)
    assert isinstance(gest(paths[0], "nothing").exception, OutputError)
