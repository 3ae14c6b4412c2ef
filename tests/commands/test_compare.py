"""`gest compare` as a user meets it: output, exit codes, tables."""

# ruff: noqa: F811  (a fixture is imported)
from __future__ import annotations

import csv
import io
import json
import math
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
from datasets import Dataset, load_dataset

import gest_dataset
from gest_dataset import statistics
from gest_dataset.commands import compare as compare_command
from gest_dataset.errors import DataError, SourceError
from gest_dataset.runs import comparison, read_run
from gest_dataset.runs import folder as reading
from gest_dataset.statistics.template_mean import LN_MEAN, resample_templates
from gest_dataset.stereotypes import STEREOTYPES
from tests.commands.test_score import Gest, gest  # noqa: F401  (a fixture)
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("one_thread")


# The mean over templates ------------------------------------------------------------------------------


def test_mean_over_templates_agrees_with_one_template() -> None:
    random = np.random.default_rng(3)
    stereotypes = np.repeat(np.arange(16), 12)
    ratios = random.normal(size=(192, 1)) + 0.4 * (stereotypes[:, None] > 6)
    one = statistics.stereotype_rate(ratios[:, 0], stereotypes + 1)
    for columns in (ratios, np.hstack([ratios, ratios])):
        found = resample_templates(columns, stereotypes).interval(LN_MEAN)
        assert np.exp([found.value, found.low, found.high]) == pytest.approx(
            [one["g_s"], one["g_s_low"], one["g_s_high"]], rel=1e-6
        )
    other = np.hstack([ratios, 2 * ratios + random.normal(size=ratios.shape)])
    other[::7, 1] = np.nan
    each = [
        statistics.stereotype_rate(column[~np.isnan(column)], stereotypes[~np.isnan(column)] + 1)["g_s"]
        for column in other.T
    ]
    found = resample_templates(other, stereotypes).interval(LN_MEAN)
    assert np.exp(found.value) == pytest.approx(np.mean(each))
    assert found.low < found.value < found.high


@pytest.mark.slow
def test_mean_over_templates_covers_the_truth() -> None:
    random = np.random.default_rng(8)
    stereotypes = np.repeat(np.arange(16), 20)
    truth, hits, number = math.log((math.exp(0.5) + math.exp(0.1)) / 2), 0, 1000
    for _ in range(number):
        shared = random.gamma(4, 0.5, size=(320, 1))
        ratios = shared + random.normal(size=(320, 2)) + (stereotypes > 6)[:, None] * np.array([0.5, 0.1])
        found = resample_templates(ratios, stereotypes, draws=500).interval(LN_MEAN)
        hits += found.low <= truth <= found.high
    assert hits / number == pytest.approx(0.95, abs=4 * math.sqrt(0.95 * 0.05 / number))


def test_bounds_of_a_real_result() -> None:
    scores = gest_dataset.score(zoo.load("bert"), "en", templates=[1, 2], device="cpu")
    result = scores.result()
    assert result["g_s"] == pytest.approx(np.mean([part["g_s"] for part in result["by_template"].values()]))
    assert result["g_s_low"] <= result["g_s"] <= result["g_s_high"]


# gest compare -----------------------------------------------------------------------------------------


def test_compare(gest: Gest, tmp_path: Path) -> None:
    model, tokenizer = zoo.load("bert")
    with torch.no_grad():
        model.cls.predictions.bias[10:200] += 0.5
        model.bert.encoder.layer[0].output.dense.weight.mul_(1.2)
    model.save_pretrained(tmp_path / "other")
    tokenizer.save_pretrained(tmp_path / "other")
    for name in ("bert", "other"):
        assert gest("score", name, "--templates", "1,2")[0] == 0
    assert gest("score", "bert", "--templates", "2", "--limit", "33")[0] == 0
    code, shown, _ = gest("compare", "gest-runs/bert/en", "gest-runs/other/en", "gest-runs/bert-limit33/en")
    assert code == 0
    code, told, _ = gest(
        "compare", "gest-runs/bert/en", "gest-runs/other/en", "gest-runs/bert-limit33/en", "--json"
    )
    assert code == 0
    found = json.loads(told)["differences"]
    assert [(one["run"].partition(" ")[0], one["templates"]) for one in found] == [
        ("other", [1, 2]),
        ("bert", [2]),
    ]
    tables_ = {name: reading.read_run(f"gest-runs/{name}/en").table.to_pandas() for name in ("bert", "other")}
    wide = {
        name: table.pivot(index=["id", "stereotype"], columns="template", values="log_ratio")
        for name, table in tables_.items()
    }
    stereotypes = wide["bert"].index.get_level_values("stereotype").tolist()
    mean, *parts = found[0]["comparison"], *(part["comparison"] for part in found[0]["by_template"])
    of_columns = [[1, 2], [1], [2]]
    p_values = []
    for one, columns in zip((mean, *parts), of_columns, strict=True):
        a, b = (wide[name][columns].to_numpy() for name in ("other", "bert"))
        direct = statistics.compare("g_s", a, b, stereotypes)
        assert one["difference"] == pytest.approx(direct.difference)
        assert (one["low"], one["high"]) == pytest.approx((direct.low, direct.high))
        value, low, high = direct.times
        assert f" {value:.3f} " in shown
        assert f"{low:.3f} to {high:.3f}" in shown
        assert one["smallest"] == pytest.approx(direct.smallest)
        p_values.append(direct.p_value)
    assert f"a true ratio of {math.exp(mean['smallest']):.3f} or more" in " ".join(shown.split())
    assert shown.index("mean of templates 1, 2") < shown.index("template 1 ") < shown.index("template 2 ")
    assert found[1]["comparison"]["difference"] == pytest.approx(0, abs=1e-4), (
        "the same model, in other batches"
    )
    assert (found[1]["n"], found[1]["missing"]) == (33, len(tables_["bert"]) // 2 - 33)
    assert [one["p_holm"] for one in found] == pytest.approx(
        statistics.holm([p_values[0], found[1]["comparison"]["p_value"]])
    )
    assert [part["p_holm"] for part in found[0]["by_template"]] == pytest.approx(
        statistics.holm(p_values[1:])
    )
    flat = " ".join(shown.split())
    assert f"{found[1]['missing']} samples are in only one of the runs" in flat
    assert "p is corrected for 2 comparisons (Holm)." in flat


def test_stereotypes_that_differ_are_listed(gest: Gest, capsys: pytest.CaptureFixture[str]) -> None:
    """One stereotype's sentences are asked of a model that has moved on them alone."""
    rows = [{"id": f"s{i}", "stereotype": i % 16 + 1, "sentence": f"I am number {i}."} for i in range(160)]
    gest_dataset.score(zoo.load("bert"), Dataset.from_list(rows), [1, 3], device="cpu", output="base")
    run = reading.read_run("base")
    frame = run.table.to_pandas()
    frame.loc[frame["stereotype"] == 6, "log_ratio"] += 1.0 + 0.1 * (frame["id"].str[1:].astype(int) % 3)
    moved = replace(run, path=Path("moved"), table=pa.Table.from_pandas(frame, preserve_index=False))
    (found,) = gest_dataset.compare([run, moved]).differences
    assert [one.stereotype for one in found.by_stereotype] == list(range(1, 17))
    assert [one.stereotype for one in found.by_stereotype if one.shown] == [6]
    assert found.by_stereotype[5].difference == pytest.approx(1.1, abs=0.02)
    assert [part.template for part in found.by_template] == [1, 3]
    capsys.readouterr()
    compare_command._show_stereotypes(found)
    told = " ".join(capsys.readouterr().out.split())
    assert "ratios of q whose simultaneous interval excludes 1" in told
    assert f" 6 {STEREOTYPES[6].name} " in told
    assert f" {found.by_stereotype[5].times[0]:.3f} " in told
    (same,) = gest_dataset.compare([run, replace(run, path=Path("again"))]).differences
    compare_command._show_stereotypes(same)
    assert "no simultaneous interval of the 16 ratios of q excludes 1" in " ".join(
        capsys.readouterr().out.split()
    )


def test_folders_of_runs_are_compared_config_by_config(gest: Gest) -> None:
    for model, dtype, configs, folder in (
        ("bert", "float32", "demo_en,crows_control_negation,winobias_type1_dev,en", "one"),
        ("bert", "bfloat16", "demo_en,crows_control_negation,winobias_type1_dev", "two"),
        ("gpt2", "float32", "demo_en,stereoset_en_intrasentence", "three"),
    ):
        arguments = ("--config", configs, "--output", folder, "--templates", "3", "--dtype", dtype)
        code, _, told = gest("score", model, *arguments)
        assert code == 0, told
    code, shown, told = gest("compare", "one", "two", "three", "--json")
    assert code == 0, told
    found = json.loads(shown)
    assert [(one["config"], one["run"]) for one in found["differences"]] == [
        ("crows_control_negation", "bert (two/crows_control_negation)"),
        ("demo_en", "bert (two/demo_en)"),
        ("demo_en", "gpt2"),
    ]
    assert sorted(found["unmatched"]) == ["one/en", "three/stereoset_en_intrasentence"]
    assert list(found["skipped"]) == ["winobias_type1_dev"]
    p_values = [one["comparison"]["p_value"] for one in found["differences"]]
    assert [one["p_holm"] for one in found["differences"]] == pytest.approx(statistics.holm(p_values))
    code, shown, told = gest("compare", "one", "two", "three", width=200)
    assert code == 0, told
    flat = " ".join(shown.split())
    assert "demo_en: g_s compared with bert (one/demo_en) (ratio), template 3" in flat
    assert "crows_control_negation: cs_mu_original compared with bert" in flat
    code, shown, told = gest("compare", "one/demo_en", "two", "--json")
    assert code == 0, told
    assert [one["config"] for one in json.loads(shown)["differences"]] == ["demo_en"]
    for paths, message in (
        ((".", "two"), "several runs of demo_en"),
        (("one",), "two runs or more"),
    ):
        code, _, told = gest("compare", *paths)
        assert code == 2
        assert message in " ".join(told.split())


def test_compare_other_statistics(gest: Gest) -> None:
    for config, measure in (
        ("stereoset_control_gender", "f_mu"),
        ("crows_control_negation", "cs_mu_original"),
        ("crows_gender", "cs_mu_original"),
        ("stereoset_en_intrasentence", "icat"),
        ("sk_pairs", "g_s"),
    ):
        for dtype in ("float32", "bfloat16"):
            arguments = (
                "score",
                "bert",
                "--config",
                config,
                "--dtype",
                dtype,
                "--output",
                f"{config}/{dtype}",
            )
            code, _, told = gest(*arguments)
            assert code == 0, told
        code, shown, told = gest("compare", f"{config}/float32", f"{config}/bfloat16")
        if config == "sk_pairs":  # the test mirror has too few of them
            assert code == 1
            assert "cannot be compared" in told or "too few samples in common" in told
        else:
            assert code == 0, told
            assert f"{measure} compared with bert ({config}/float32)" in " ".join(shown.split())
            assert "a true difference of " in shown


def test_a_comparison_as_a_flat_table(gest: Gest) -> None:
    """A line a difference; a name that a spreadsheet would compute stays text, and so do Markdown's signs."""
    for config in ("en", "crows_gender"):
        for folder, model in (("base", "bert"), ("other", "=cmd|x_y"), ("third", "@gpt")):
            if not Path(model).exists():
                shutil.copytree("bert", model)
            code, _, told = gest(
                "score", model, "--config", config, "--templates", "1,2", "--output", f"{folder}/{config}"
            )
            assert code == 0, told
    folders = ("base", "other", "third")
    differences = json.loads(gest("compare", *folders, "--json")[1])["differences"]
    code, shown, told = gest("compare", *folders, "--csv", width=40)
    assert code == 0, told
    rows = list(csv.DictReader(io.StringIO(shown)))
    assert len(differences) == 4
    headlines = [row for row in rows if not row["stereotype"] and row["template"] in ("", "mean")]
    assert len(rows) == 4 + 2 * 2 + 2 * 16, "each difference, and in `en` each template and stereotype"
    for row, direct in zip(headlines, differences, strict=True):
        assert list(row) == [
            *("config", "template", "stereotype", "run", "baseline", "measure", "value", "baseline_value"),
            *("difference", "low", "high", "ratio", "ratio_low", "ratio_high", "p", "p_holm", "smallest"),
            *("n", "missing", "unknown"),
        ]
        assert row["run"] == f"'{direct['run']}"
        assert (row["config"], row["baseline"]) == (direct["config"], "bert")
        found = direct["comparison"]
        for name, value in (
            ("value", found["a"]),
            ("baseline_value", found["b"]),
            ("difference", found["difference"]),
            ("low", found["low"]),
            ("high", found["high"]),
            ("p", found["p_value"]),
            ("p_holm", direct["p_holm"]),
            ("smallest", found["smallest"]),
            ("n", direct["n"]),
            ("missing", direct["missing"]),
            ("unknown", 0),
        ):
            assert float(row[name]) == value
        if row["config"] == "en":
            assert float(row["ratio"]) == pytest.approx(float(row["value"]) / float(row["baseline_value"]))
        else:
            assert row["ratio"] == row["ratio_low"] == ""
    for direct in differences[2:]:
        own = [row for row in rows if row["run"] == f"'{direct['run']}" and row["stereotype"]]
        assert [int(row["stereotype"]) for row in own] == list(range(1, 17))
        assert [float(row["low"]) for row in own] == [one["low"] for one in direct["by_stereotype"]]
    assert gest("compare", *folders, "--csv", "--json")[0] == 2


def test_every_line_of_a_comparison_adds_up(gest: Gest) -> None:
    """Three runs that lack different samples: each is set against the baseline on what both have."""
    rows = [{"id": f"s{i}", "stereotype": i % 16 + 1, "sentence": f"I am number {i}."} for i in range(96)]
    data = Dataset.from_list(rows)
    for name, model, limit in (("base", "bert", None), ("second", "gpt2", 64), ("third", "gpt2", None)):
        gest_dataset.score(zoo.load(model), data, [3], limit, device="cpu", output=name)
    code, shown, told = gest("compare", "base", "second", "third", width=200)
    assert code == 0, told
    found = [re.findall(r"[-+]?\d+\.\d{3}", line) for line in shown.splitlines()]
    lines = [numbers for numbers in found if len(numbers) == 6]  # those below tell stereotypes that differ
    assert len(lines) == 2
    assert lines[0][1] != lines[1][1], "the baseline on other samples"
    for value, baseline, ratio, *_ in lines:
        assert float(value) / float(baseline) == pytest.approx(float(ratio), abs=0.003)


def test_what_cannot_be_compared(gest: Gest) -> None:
    for config in ("en", "crows_gender", "winobias_type1_dev"):
        gest("score", "bert", "--config", config, "--limit", "20", "--templates", "1")
    home = "gest-runs/bert-limit20"
    for paths, code, message in (
        ([f"{home}/en"], 2, "two runs or more"),
        ([f"{home}/en", f"{home}/crows_gender"], 2, f"{home}/crows_gender: crows_gender"),
        ([f"{home}/winobias_type1_dev"] * 2, 2, "no paired comparison"),
        ([f"{home}/en", "nothing"], 1, "nothing is not a directory"),
        ([f"{home}/en"] * 2, 1, "too few samples"),
        ([], 2, "RUN"),
    ):
        found, _, told = gest("compare", *paths)
        assert found == code, told
        assert message in told
        assert "Warning" not in told


def test_other_questions_under_the_same_ids_are_not_compared(gest: Gest) -> None:
    """Templates of other words under one number, and other sentences under one id."""
    loaded = zoo.load("bert")
    rows = [{"id": f"s{i}", "stereotype": i % 16 + 1, "sentence": f"I am number {i}."} for i in range(32)]
    other = [{**row, "sentence": row["sentence"].replace("am", "was")} for row in rows]
    words = {"id": 1, "text": '{word} said: "{sentence}"', "masculine": "man", "feminine": "woman"}
    Path("words.json").write_text(json.dumps([words]))
    for name, templates, data in (("base", [1], rows), ("words", "words.json", rows), ("other", [1], other)):
        gest_dataset.score(loaded, Dataset.from_list(data), templates, device="cpu", output=name)
    for name, what in (("words", "options (templates, words of several tokens)"), ("other", "data")):
        code, _, told = gest("compare", "base", name)
        assert code == 2
        assert f"Runs must have the same {what} to be compared" in " ".join(told.split())


def test_repeated_ids_are_paired_in_order(tmp_path: Path) -> None:
    rows = [{"id": "same", "stereotype": i % 16 + 1, "sentence": f"I am number {i}."} for i in range(64)]
    scored = [
        gest_dataset.score(zoo.load(name), Dataset.from_list(rows), [3], device="cpu", output=tmp_path / name)
        for name in ("bert", "gpt2")
    ]
    b, a = (scores.table["log_ratio"].to_pylist() for scores in scored)
    (found,) = gest_dataset.compare([tmp_path / name for name in ("bert", "gpt2")]).differences
    assert (found.n, found.missing) == (64, 0)
    assert found.comparison == statistics.compare("g_s", a, b, [row["stereotype"] for row in rows])


def test_comparisons_draw_units(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """StereoSet by target: the rows are read for that, and where they cannot be it is said how."""
    config = "stereoset_en_intrasentence"
    sides = {}
    for name in ("gpt2", "bert"):
        path = tmp_path / name
        gest_dataset.score(zoo.load(name), config, limit=60, device="cpu", output=path)
        sides[name] = read_run(path)
    (found,) = gest_dataset.compare([tmp_path / name for name in sides]).differences
    rows = load_dataset("gest", config, split="test")
    named = dict(zip(rows["id"], rows["target_en"], strict=True))
    columns = ("stereotype", "antistereotype", "unrelated")
    b, a = (
        [list(row) for row in zip(*(side.table[name].to_pylist() for name in columns), strict=True)]
        for side in sides.values()
    )
    units = [named[name] for name in sides["gpt2"].table["id"].to_pylist()]
    assert len(set(units)) < len(units)
    assert found.comparison == statistics.compare("icat", a, b, units=units)

    def unreachable(config: str) -> None:
        raise SourceError("no network")

    monkeypatch.setattr(comparison, "rows_of", unreachable)
    told = r"compared by target term.*column `target_en`.*no network\n.*GEST_MIRROR"
    with pytest.raises(DataError, match=told):
        gest_dataset.compare([tmp_path / name for name in sides])
