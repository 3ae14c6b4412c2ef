"""`gest score` as a user meets it: output, exit codes, files."""

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

import pytest

import gest_dataset
from gest_dataset import cli
from gest_dataset.builders import CONFIGS, GROUPS
from gest_dataset.commands import tables
from gest_dataset.commands.console import err, out
from gest_dataset.errors import ModelError, SourceError
from gest_dataset.measures import MEASURES
from gest_dataset.measures.result import with_verdict
from gest_dataset.models import names
from gest_dataset.models import score as score_module
from gest_dataset.models.scorers import LanguageModelScorer
from gest_dataset.published.models import rank_among_published
from gest_dataset.report import page
from gest_dataset.runs import find_runs, read_run
from gest_dataset.stereotypes import STEREOTYPES
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("one_thread")

Gest = Callable[..., tuple[int, str, str]]


@pytest.fixture
def gest(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Gest:
    """Run the command in this process and an empty directory: exit code, output, messages."""
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


def test_tables_of_a_run(gest: Gest, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ("score", "bert", "--device", "cpu", "--templates", "1,3")
    code, shown, messages = gest(*arguments)
    assert code == 0, messages
    run = read_run("gest-runs/bert/en")
    assert run.manifest.settings["templates"] == [1, 3]
    assert run.manifest.command == ["gest", *arguments]
    for template, part in run.result["result"]["by_template"].items():
        section = shown[shown.index(f"en: bert, template {template}") :]
        for place, stereotype in enumerate(STEREOTYPES.values()):
            label = f"{stereotype.id:2} {stereotype.name}"
            line = next(line for line in section.splitlines() if label in line)
            assert f" {tables.format_value(part['q'][place])} " in line
            assert "●" in line
    assert re.search(rf"mean\s+{run.result['result']['g_s']:.2f}", shown)
    published = rank_among_published(run.manifest.metadata, run.result["result"])
    assert published is not None
    assert published.text() in " ".join(shown.split())
    assert "samples have a score." in shown
    assert shown.splitlines()[-1] == run.result["signature"]
    assert "\x1b" not in shown
    assert Path("gest-runs/bert/en/report.html").read_text() == "1"
    assert "Report: gest-runs/bert/en/report.html" in messages
    monkeypatch.setattr(LanguageModelScorer, "log_probs", None)
    code, again, messages = gest(*arguments)
    assert (code, again) == (0, shown)
    assert "gest-runs/bert/en is already finished; nothing is computed again." in messages
    code, _, messages = gest(*arguments, "--output", "gest-runs/bert/en", "--limit", "9")
    assert code == 1
    assert "limit: none (existing), 9 (new)" in messages


def test_causal_models_get_two_templates(gest: Gest) -> None:
    code, shown, _ = gest("score", "gpt2", "--limit", "33")
    assert code == 0
    assert read_run("gest-runs/gpt2-limit33/en").manifest.settings["templates"] == [3, 4]
    assert "the paper's causal models in templates 3, 4" in " ".join(shown.split())


def test_several_configs(gest: Gest) -> None:
    arguments = ("score", "bert", "--config", "en,controls", "--output", "all")
    code, shown, messages = gest(*arguments)
    assert code == 0, messages
    wanted = ["en", *(name for name in CONFIGS if name in GROUPS["controls"])]
    assert sorted(path.name for path in Path("all").iterdir()) == sorted([*wanted, "report.html"])
    assert Path("all/report.html").read_text() == str(len(wanted))
    for name in wanted:
        facts = read_run(f"all/{name}").manifest.metadata
        line = next(line for line in shown.splitlines() if line.startswith(f"{name} "))
        assert line.endswith(f" {facts['scored']:,}/{facts['asked']:,} new")
    result = read_run("all/stereoset_control_gender").result["result"]
    value, low, high = (tables.format_value(result[f"f_mu{end}"]) for end in ("", "_low", "_high"))
    assert f"stereoset_control_gender f {value} [{low} to {high}] " in shown
    assert re.search(rf"^{len(wanted)} configs: .*; {len(wanted)} new$", shown.splitlines()[-1])
    assert messages.splitlines()[-1] == "Report: all/report.html"
    code, shown, _ = gest(*arguments, "--verbose")
    assert re.search(
        rf"f   mean \(ln\)\s+{result['f_mu']:.2f}", shown[shown.index("stereoset_control_gender: bert") :]
    )
    lines = shown[shown.index("All configs") :].splitlines()
    assert [line.split()[0] for line in lines[1:-1]] == [*wanted]
    assert all(line.endswith(" kept") for line in lines[1:])
    for config, output, message in (
        ("en,winobias", "all/en", "which is not part of a folder of runs"),
        ("en", "all", "all contains several runs"),
    ):
        code, _, messages = gest("score", "bert", "--config", config, "--output", output)
        assert code == 1
        assert message in messages


@pytest.mark.parametrize("width", [pytest.param(40, marks=pytest.mark.slow), 80])
def test_one_line_per_config(gest: Gest, width: int) -> None:
    """At 80 columns each config is one line; in narrower terminals names and numbers stay whole."""
    code, shown, messages = gest("score", "bert", "--config", "all", "--limit", "9", width=width)
    assert code == 0, messages
    assert "have no score" not in messages
    runs = find_runs(["gest-runs/bert-limit9"])
    lines = shown.splitlines()
    assert all(len(line) <= width for line in lines)
    whole = re.sub(r"\n  ", " ", shown).splitlines()
    for run in runs:
        facts, config = run.manifest.metadata, run.manifest.config
        head = MEASURES[run.manifest.measure].headline(run.result["result"])
        value = tables.format_value(run.result["result"].get(head.name), 1 if head.name == "ss" else 2)
        (line,) = (line for line in whole if line.startswith(f"{config} "))
        assert line.startswith(f"{config} {head.symbol} {value} ")
        assert line.endswith(f" {facts['scored']:,}/{facts['asked']:,} new")
        assert line in lines or width < 80
    assert f"{len(runs)} configs: " in shown
    assert len(runs) > 20


def test_the_headline_of_a_line() -> None:
    """The zone of negligible effects is 0.95 to 1.05; digits are added where they decide the verdict."""
    measure = MEASURES["winobias"]
    for result, fields in (
        ({"g_s": 1.2, "g_s_low": 1.1, "g_s_high": 1.3}, ["g_s 1.20 [1.10 to 1.30]", "shown"]),
        ({"g_s": 1.2, "g_s_low": 0.9, "g_s_high": 1.3}, ["g_s 1.20 [0.90 to 1.30]", "not shown"]),
        ({"g_s": 0.8, "g_s_low": 0.7, "g_s_high": 0.9}, ["g_s 0.80 [0.70 to 0.90]", "reversed"]),
        ({"g_s": 1.0, "g_s_low": 0.97, "g_s_high": 1.04}, ["g_s 1.00 [0.97 to 1.04]", "negligible"]),
        ({"g_s": 1.2, "g_s_low": 1.0502, "g_s_high": 1.3}, ["g_s 1.20 [1.0502 to 1.3000]", "shown"]),
        ({"g_s": 1.2, "g_s_low": math.nan, "g_s_high": math.nan}, ["g_s 1.20", "too few samples"]),
        ({"g_s": math.nan}, ["g_s -", "too few samples"]),
    ):
        assert tables.headline_fields(measure, with_verdict(measure, result, (0.95, 1.05))) == fields


@pytest.mark.parametrize("width", [40, 60, 140])
def test_narrow_terminals(gest: Gest, width: int) -> None:
    code, shown, _ = gest("score", "bert", "--templates", "1", width=width)
    assert code == 0
    signature = shown.splitlines()[-1]
    assert all(len(line) <= width for line in shown.splitlines() if line != signature)
    for q in read_run("gest-runs/bert/en").result["result"]["q"]:
        assert tables.format_value(q) in shown, "numbers are whole"
    assert ("●" in shown) == (width >= 72)
    assert ("Empathetic" in shown) == (width >= 48)


def test_caveats_and_notes(gest: Gest) -> None:
    code, shown, _ = gest("score", "bert", "--config", "demo", "--limit", "9")
    assert code == 0
    assert "The sentences of the demo_… configs" in " ".join(shown.split())
    code, shown, _ = gest("score", "bert", "--config", "sk_pairs", "--templates", "1", "--multi-token")
    assert code == 0
    assert "Note: templates means nothing to the probe pairs and was not used" in shown
    assert "multi_token means" not in shown


def test_unsuitable_configs(gest: Gest) -> None:
    code, _, messages = gest("score", "gpt2", "--config", "all", "--limit", "6")
    assert code == 0, messages
    for pattern in (
        r"Left out \(needs a masked or seq2seq model, and this one is causal\): .*slovak_gender",
        r"Left out \(is not for scoring models\): .*sk_translations",
        r"Left out \(contains rejected sentences too; .*\): annotations\n",
    ):
        assert re.search(pattern, messages)
    done = {path.name for path in Path("gest-runs/gpt2-limit6").iterdir()}
    assert {"en", "sk_pairs", "stereoset_de_intersentence", "winobias_type2_test"} <= done
    assert not {"annotations", "demo_en", "slovak_gender", "crows_gender"} & done
    code, _, messages = gest("score", "bert", "--config", "stereoset", "--limit", "6")
    assert code == 0, messages
    assert re.search(r"Left out \(the checkpoint has no next-sentence head\): .*de_intersentence", messages)
    code, _, messages = gest("score", "gpt2", "--config", "slovak_gender")
    assert code == 2
    assert "is a causal model, and the quadruplets probe" in messages


def test_failed_configs(gest: Gest, monkeypatch: pytest.MonkeyPatch) -> None:
    make_request = score_module.make_request

    def failing(name: str, *arguments: Any) -> Any:
        if name.endswith("_pairs"):
            raise SourceError("The mirror lacks a file.")
        return make_request(name, *arguments)

    monkeypatch.setattr(score_module, "make_request", failing)
    code, shown, messages = gest("score", "bert", "--config", "slavic,en", "--templates", "1")
    assert code == 1
    assert "not scored: be_pairs, ru_pairs, uk_pairs" in messages
    assert messages.count("The mirror lacks a file.") == 1
    assert re.search(r"^en g_s .* new$", shown, re.MULTILINE)
    assert gest("score", "bert", "--config", "sk_pairs") == (1, "", "error: The mirror lacks a file.\n")
    arguments = ("--config", "en,crows_gender", "--limit", "3", "--templates", "9")
    code, shown, messages = gest("score", "bert", *arguments)
    assert code == 2, "wrong usage"
    assert "not scored: en\n" in messages
    assert shown.startswith("crows_gender ")


def test_json(gest: Gest) -> None:
    code, shown, _ = gest("score", "bert", "--config", "en,crows", "--limit", "33", "--json")
    assert code == 0
    content = json.loads(shown)
    assert [one["config"] for one in content["runs"]] == ["en", "crows_gender", "crows_gender_revised"]
    for one in content["runs"]:
        run = read_run(one["path"])
        assert one["result"] == run.result["result"]
        assert one["metadata"] == run.manifest.metadata
    published = rank_among_published(content["runs"][0]["metadata"], content["runs"][0]["result"])
    assert published is not None
    expected = {**asdict(published), "rank": published.rank, "text": published.text()}
    assert [one["standing"] for one in content["runs"]] == [expected, None, None]
    assert (content["failed"], content["exceeded"]) == ({}, [])


def test_gate(gest: Gest) -> None:
    gest("score", "bert", "--output", "run", "--templates", "1")
    result = read_run("run").result["result"]
    low, value = result["g_s_low"], result["g_s"]
    arguments = ("score", "bert", "--output", "run", "--templates", "1", "--fail-above")
    assert gest(*arguments, f"g_s={(low + value) / 2}")[0] == 0, "the lower bound is below"
    code, _, messages = gest(*arguments, f"g_s={low - 0.01}", "--fail-above", "q_m=1e9")
    assert code == 1
    assert f"g_s of en is above {low - 0.01:g}: {value:.3f}, lower bound {low:.3f}." in messages
    code, _, messages = gest(*arguments, "icat=1")
    assert code == 1
    assert "no scored config has this number" in messages
    for limit, message in (
        ("gs=1", "unknown number 'gs'. Use one of"),
        ("g_s", "is not NAME=VALUE"),
        ("g_s=nan", "finite number"),
    ):
        code, _, messages = gest(*arguments, limit)
        assert code == 2
        assert message in messages
    code, _, messages = gest("score", "bert", "--limit", "3", "--fail-above", "g_s=1")
    assert code == 1
    assert "has no interval" in messages


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("bert", "--config", "en,sk_pair"), 2, "Did you mean 'sk_pairs'?"),
        (("bert", "--config", "slavik"), 2, "Did you mean 'slavic'?"),
        (("bert", "--templates", "mine.json"), 2, "nor extended, nor an existing JSON file"),
        (("bert", "--limit", "0"), 2, "--limit"),
        (("bert", "--device", "abacus"), 2, "Unknown device 'abacus'"),
        (("bert", "--revision", "main"), 2, "'bert' is a local model, and revisions exist on the Hub only"),
        (("./nothing.gguf",), 2, "There is no file nothing.gguf"),
        (("./nothing",), 1, "'./nothing' cannot be loaded: the folder does not exist"),
        (("robeta-base",), 1, "Did you mean roberta-base"),
        ((), 2, "No model was given"),
        (("bert", "--endpoint", "http://127.0.0.1:9"), 2, "MODEL applies to loaded models only"),
        (("bert", "--tokenizer", "bert"), 2, "--tokenizer applies to served models only"),
    ],
)
def test_wrong_usage(
    gest: Gest, arguments: tuple[str, ...], code: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    found, shown, messages = gest("score", *arguments)
    assert (found, shown) == (code, "")
    assert message in messages
    assert "Traceback" not in messages
    assert not list(Path().glob("gest-runs/**/run.json"))


@pytest.mark.slow
def test_smollm2(gest: Gest) -> None:
    pytest.importorskip("gguf")
    try:
        names.packaged_path("smollm2")
    except ModelError as error:
        pytest.skip(str(error))
    code, shown, messages = gest("score", "smollm2", "--limit", "32")
    assert code == 0, messages
    assert "SmolLM2-135M-Instruct.Q4_1.gguf" in shown
    assert read_run("gest-runs/smollm2-limit32/en").manifest.settings["templates"] == [3, 4]


def test_one_folder_is_one_model(gest: Gest) -> None:
    for name in ("./bert", "./bert/", "bert//"):
        code, _, messages = gest("score", name, "--templates", "3", "--limit", "20", "--output", "run")
        assert code == 0, messages
    assert read_run("run").manifest.model == "bert"
    for parent, animal in (("a", "bert"), ("b", "gpt2")):
        shutil.copytree(animal, f"{parent}/checkpoint-500")
        code, _, messages = gest("score", f"{parent}/checkpoint-500/", "--templates", "3", "--limit", "20")
        assert code == 0, messages
        run = read_run(f"gest-runs/{parent}--checkpoint-500-limit20/en")
        assert run.manifest.model == f"{parent}/checkpoint-500"


def test_interrupt(gest: Gest, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(LanguageModelScorer, "log_probs", interrupted)
    assert gest("score", "bert")[0] == 130


@pytest.mark.slow
def test_a_real_interrupt_and_a_real_report(script_environment: Mapping[str, str], tmp_path: Path) -> None:
    arguments = ("score", str(zoo.directory("bert")), "--config", "en,stereoset,winobias", "--output", "run")

    def start() -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "gest_dataset", *arguments],
            env={**script_environment, "OMP_NUM_THREADS": "1", "NO_COLOR": "1"},
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    started = start()
    while not (tmp_path / "run" / "en" / "run.json").exists():
        assert started.poll() is None, started.communicate()
        time.sleep(0.005)
    started.send_signal(signal.SIGINT)
    _, messages = started.communicate()
    assert started.returncode == 130, messages
    assert "Traceback" not in messages
    again = start()
    shown, messages = again.communicate()
    assert again.returncode == 0, messages
    assert "\x1b" not in shown + messages
    assert "it/s" not in messages, "no progress bars without a terminal"
    assert "<html" in (tmp_path / "run" / "report.html").read_text()
    assert gest_dataset.runs.read_run(tmp_path / "run" / "en").manifest.done
