"""`gest score` as a user meets it: output, exit codes, files, gates."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pytest

from gest_dataset.builders import CONFIGS, GROUPS
from gest_dataset.commands import gates, result_tables
from gest_dataset.errors import ModelError, ScoringError, SourceError
from gest_dataset.measures import MEASURES
from gest_dataset.measures.formatting import format_number
from gest_dataset.measures.result import compute_result, with_verdict
from gest_dataset.models import pretrained, score_run
from gest_dataset.models import score as score_module
from gest_dataset.models.forward_passes import LanguageModelScorer
from gest_dataset.probes import templates
from gest_dataset.published.models import rank_among_published
from gest_dataset.runs import find_runs, read_run
from gest_dataset.stereotypes import STEREOTYPES
from tests.commands.conftest import Gest

pytestmark = pytest.mark.usefixtures("models", "few_draws")


def test_tables_of_a_run(gest: Gest, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ("score", "bert", "--device", "cpu", "--templates", "1,3")
    done = gest(*arguments)
    assert done.returncode == 0, done.stderr
    shown = done.stdout
    run = read_run("gest-runs/bert/en")
    assert run.manifest.settings["templates"] == [1, 3]
    assert run.manifest.command == ["gest", *arguments]
    assert "(negligible range " in shown.splitlines()[0]
    side_by_side = shown[shown.index("en: bert, q by template") :]
    verbose = gest(*arguments, "--verbose").stdout
    for number, (template, part) in enumerate(run.result["result"]["by_template"].items(), start=-2):
        section = verbose[verbose.index(f"en: bert, template {template}") :]
        for place, stereotype in enumerate(STEREOTYPES.values()):
            label = f"{stereotype.id:2} {stereotype.name}"
            line = next(line for line in section.splitlines() if label in line)
            assert f" {format_number(part['q'][place])} " in line
            (line,) = (line for line in side_by_side.splitlines() if label in line)
            assert line.split()[number] == format_number(part["q"][place])
    assert re.search(rf"mean\s+{format_number(run.result['result']['g_s'])}", shown)
    published = rank_among_published(run.manifest.metadata, run.result["result"])
    assert published is not None
    assert published.text() in " ".join(shown.split())
    assert "samples have a score." in shown
    assert shown.splitlines()[-1] == run.result["signature"]
    assert Path("gest-runs/bert/en/report.html").read_text() == "1"
    assert "Report: gest-runs/bert/en/report.html" in done.stderr
    monkeypatch.setattr(LanguageModelScorer, "log_probs", None)
    again = gest(*arguments)
    assert (again.returncode, again.stdout) == (0, shown)
    assert "gest-runs/bert/en is already finished; nothing is computed again." in again.stderr
    other = gest(*arguments, "--output", "gest-runs/bert/en", "--limit", "9")
    assert other.returncode == 1
    assert "limit: none (existing), 9 (new)" in other.stderr


def test_the_short_form_and_an_early_stop(gest: Gest) -> None:
    command = ("score", "bert", "--config", "demo_en", "--templates", "1")
    assert gest(*command, "--short").returncode == 0
    assert read_run("gest-runs/bert-short/demo_en").manifest.settings["short"] is True
    done = gest(*command, "--stop-early", "--fail-above", "g_s=9")
    assert done.returncode == 0, done.stderr
    samples = read_run("gest-runs/bert/demo_en").result["result"]["stopped"]["samples"]
    assert f"Scored until the result was clear: {samples} of " in " ".join(done.stdout.split())
    assert "Scored until" not in gest(*command).stdout


def test_several_configs(gest: Gest) -> None:
    arguments = ("score", "bert", "--config", "en,controls", "--output", "all")
    done = gest(*arguments)
    assert done.returncode == 0, done.stderr
    wanted = ["en", *(name for name in CONFIGS if name in GROUPS["controls"])]
    assert sorted(path.name for path in Path("all").iterdir()) == sorted([*wanted, "report.html"])
    assert Path("all/report.html").read_text() == str(len(wanted))
    lines = done.stdout.splitlines()
    for name, line in zip(wanted, lines, strict=False):
        run = read_run(f"all/{name}")
        facts, result = run.manifest.metadata, run.result["result"]
        head = MEASURES[run.manifest.measure].headline(result)
        assert line.startswith(f"{name} {head.symbol} {format_number(result[head.name])} [")
        assert line.endswith(f" {facts['scored']:,}/{facts['asked']:,} new")
    assert re.search(rf"^{len(wanted)} configs: .*; {len(wanted)} new$", lines[len(wanted)])
    assert done.stderr.splitlines()[-1] == "Report: all/report.html"
    verbose = gest(*arguments, "--verbose")
    assert "stereoset_control_gender: bert" in verbose.stdout
    assert f"; {len(wanted)} kept" in verbose.stdout
    for config, output, message in (
        ("en,winobias", "all/en", "which is not part of a folder of runs"),
        ("en", "all", "which is not part of a run"),
    ):
        refused = gest("score", "bert", "--config", config, "--output", output)
        assert refused.returncode == 1
        assert message in refused.stderr


def test_the_headline_of_a_line() -> None:
    """The zone of negligible effects is 0.95 to 1.05; digits are added where they decide the verdict."""
    measure = MEASURES["winobias"]
    band = {"placebo": {"low": 0.9, "high": 1.1}}
    for result, fields in (
        ({"g_s": 1.2, "g_s_low": 1.1, "g_s_high": 1.3} | band, ["g_s 1.20 [1.10 to 1.30]", "shown"]),
        ({"g_s": 1.2, "g_s_low": 1.1, "g_s_high": 1.3}, ["g_s 1.20 [1.10 to 1.30]", "shown (no placebo)"]),
        ({"g_s": 1.2, "g_s_low": 0.9, "g_s_high": 1.3}, ["g_s 1.20 [0.900 to 1.30]", "not shown"]),
        (
            {"g_s": 0.8, "g_s_low": 0.7, "g_s_high": 0.9},
            ["g_s 0.800 [0.700 to 0.900]", "reversed (no placebo)"],
        ),
        ({"g_s": 1.0, "g_s_low": 0.97, "g_s_high": 1.04}, ["g_s 1.00 [0.970 to 1.04]", "negligible"]),
        ({"g_s": 1.2, "g_s_low": 1.0502, "g_s_high": 1.3} | band, ["g_s 1.20 [1.0502 to 1.3000]", "shown"]),
        ({"g_s": 1.2, "g_s_low": math.nan, "g_s_high": math.nan}, ["g_s 1.20", "too few samples"]),
        ({"g_s": math.nan}, ["g_s –", "too few samples"]),
    ):
        assert result_tables.headline_fields(measure, with_verdict(measure, result, (0.95, 1.05))) == fields


@pytest.mark.parametrize("width", [40, 60, 140])
def test_narrow_terminals(gest: Gest, width: int) -> None:
    done = gest("score", "bert", "--templates", "1", COLUMNS=str(width))
    assert done.returncode == 0
    for q in read_run("gest-runs/bert/en").result["result"]["q"]:
        assert format_number(q) in done.stdout, "numbers are whole"


def test_caveats(gest: Gest) -> None:
    assert "The demo_… sentences are not validated" in gest("score", "bert", "--config", "demo_en").stdout


def test_unsuitable_configs(gest: Gest) -> None:
    done = gest("score", "gpt2", "--config", "all", "--limit", "6")
    assert done.returncode == 0, done.stderr
    for pattern in (
        r"Left out \(is not a test of language models\): .*sk_translations",
        r"Left out \(contains rejected sentences too; .*\): annotations\n",
    ):
        assert re.search(pattern, done.stderr)
    scored = {run.manifest.config for run in find_runs(["gest-runs/gpt2-limit6"])}
    assert {"en", "sk_pairs", "stereoset_de_intersentence", "winobias_type2_test"} <= scored
    assert {"slovak_gender", "crows_gender", "crows_control_negation"} <= scored
    assert not {"annotations", "demo_en"} & scored
    done = gest("score", "bert", "--config", "stereoset", "--limit", "6")
    assert re.search(r"Left out \(the checkpoint has no next-sentence head\): .*de_inter", done.stderr)
    done = gest("score", "gpt2", "--config", "sk_translations")
    assert done.returncode == 2
    assert "sk_translations cannot be scored" in done.stderr


def test_failed_configs(gest: Gest, monkeypatch: pytest.MonkeyPatch) -> None:
    make_request = score_module.make_request

    def failing(name: str, *arguments: Any) -> Any:
        if name.endswith("_pairs"):
            raise SourceError("The mirror lacks a file.")
        return make_request(name, *arguments)

    monkeypatch.setattr(score_module, "make_request", failing)
    done = gest("score", "bert", "--config", "slavic,en", "--templates", "1")
    assert done.returncode == 1
    assert "not scored: be_pairs, ru_pairs, uk_pairs" in done.stderr
    assert done.stderr.count("The mirror lacks a file.") == 1
    assert re.search(r"^en g_s .* new$", done.stdout, re.MULTILINE)
    done = gest("score", "bert", "--config", "en,crows_gender", "--limit", "3", "--templates", "9")
    assert done.returncode == 2, "wrong usage"
    assert "not scored: en\n" in done.stderr
    assert done.stdout.startswith("crows_gender ")


def test_json(gest: Gest) -> None:
    content = json.loads(gest("score", "bert", "--config", "en,crows", "--limit", "33", "--json").stdout)
    assert [one["config"] for one in content["runs"]] == ["en", "crows_gender", "crows_gender_revised"]
    for one in content["runs"]:
        run = read_run(one["path"])
        assert one["result"] == run.result["result"]
        assert one["metadata"] == run.manifest.metadata
    assert (content["failed"], content["exceeded"]) == ({}, [])


def test_gates(gest: Gest) -> None:
    command = ("score", "bert", "--config", "demo_en", "--templates", "1", "--output", "run")
    gest(*command)
    result = read_run("run").result["result"]
    low, value, high = result["g_s_low"], result["g_s"], result["g_s_high"]
    for option, limit, code, message in (
        ("above", f"g_s={(low + value) / 2}", 0, "g_s of demo_en is inconclusive: it may be above"),
        ("above", f"g_s={low - 0.01}", 1, f"g_s of demo_en is above {low - 0.01:g}: {value:.3f} ({low:.3f}"),
        ("above", "icat=1", 1, "no scored config has a result of this name"),
        ("above", "gs=1", 2, "unknown name 'gs'. Choose from g_s"),
        ("above", "g_s", 2, "is not NAME=VALUE"),
        ("above", "g_s=nan", 2, "finite number"),
        ("unless-below", f"g_s={high + 0.01}", 0, ""),
        ("unless-below", f"g_s={high - 0.001}", 1, "g_s of demo_en is not shown to be below"),
    ):
        done = gest(*command, f"--fail-{option}", limit)
        assert done.returncode == code, done.stderr
        assert message in " ".join(done.stderr.split())
    done = gest(*command, "--fail-unless-below", "g_s=1.05")
    power = "The gate g_s=1.05 on demo_en: a model with a true g_s of 1 passes in 80 % of cases if its scores"
    assert power in " ".join(done.stderr.split())
    done = gest("score", "bert", "--limit", "3", "--fail-above", "g_s=1")
    assert done.returncode == 1
    assert "has no interval" in done.stderr


def test_files_for_ci(gest: Gest, monkeypatch: pytest.MonkeyPatch) -> None:
    """JUnit and Markdown say which gates failed, passed or passed with a note, and what was not scored."""
    command = ("score", "bert", "--config", "demo_en,en", "--templates", "1", "--output", "run")
    files = ("--junit", "ci/junit.xml", "--markdown", "ci/summary.md")
    make_request = score_module.make_request

    def failing(name: str, *arguments: Any) -> Any:
        if name == "en":
            raise SourceError("The mirror lacks <|a_file|>.")
        return make_request(name, *arguments)

    monkeypatch.setattr(score_module, "make_request", failing)
    gates_given = ("--fail-above", "g_s=9", "--fail-above", "g_s=0.1", "--fail-above", "icat=1")
    assert gest(*command, *files, *gates_given).returncode == 1
    suite = ElementTree.parse("ci/junit.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("5", "3")
    found = {case.get("name"): case.findtext("failure") or "" for case in suite}
    assert [name for name, text in found.items() if not text] == ["score demo_en", "--fail-above g_s=9"]
    assert found["score en"] == "The mirror lacks <|a_file|>."
    assert found["--fail-above g_s=0.1"].startswith("g_s of demo_en is above 0.1: ")
    text = Path("ci/summary.md").read_text("utf-8")
    assert text.startswith("### ❌ GEST: bert: 3 of 4 checks failed\n")
    run = read_run("run/demo_en")
    assert f"| demo\\_en | g\\_s {format_number(run.result['result']['g_s'])} " in text
    assert "- ❌ score en: The mirror lacks \\<\\|a\\_file\\|\\>. \n" in text
    assert "- ✅ --fail-above g\\_s=9: passed\n" in text
    assert text.count("\n- ❌ ") == 3
    assert gest(*command[:3], "demo_en", *command[4:-1], "one", *files).returncode == 0
    assert "all 0 checks passed" not in Path("ci/summary.md").read_text("utf-8")


@pytest.fixture(autouse=True)
def few_extended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of the extended templates in place of all: one that this model can use, and one that it cannot."""
    some = {number: templates.EXTENDED_TEMPLATES[number] for number in (101, 107)}
    monkeypatch.setattr(templates, "EXTENDED_TEMPLATES", some)


def test_a_gate_asks_templates_that_it_does_not_use(gest: Gest) -> None:
    """For a limit on an upper bound, unless the user chose the templates."""
    command = ("score", "bert", "--config", "demo_en", "--output", "run")
    done = gest(*command, "--fail-unless-below", "g_s=9")
    assert done.returncode == 0, done.stderr
    run = read_run("run-held-out/demo_en")
    assert run.manifest.settings["short"]
    assert min(run.manifest.settings["templates"]) > 100
    expected = f"Note: g_s of demo_en is {run.result['result']['g_s']:.3f} ("
    text = " ".join(done.stderr.split())
    assert expected in text
    assert f"{read_run('run').result['result']['g_s']:.3f} in its own." in text
    (held_out,) = json.loads(gest(*command, "--fail-unless-below", "g_s=9", "--json").stdout)["held_out"]
    assert held_out["result"]["g_s"] == run.result["result"]["g_s"]
    for arguments in (("--fail-above", "g_s=9"), ("--templates", "1", "--fail-unless-below", "g_s=9")):
        assert "does not use" not in gest(*command[:-1], f"run{len(arguments)}", *arguments).stderr


def outcome(scores: np.ndarray) -> SimpleNamespace:
    """The outcome of a run on 40 samples of each stereotype."""
    table = pa.table(
        {"id": [str(n) for n in range(640)], "stereotype": np.repeat(range(1, 17), 40), "log_ratio": scores}
    )
    result = compute_result(MEASURES["templates"], table, None)
    facts = {"config": "en", "measure": "templates", "templates": [101]}
    return SimpleNamespace(runs=[SimpleNamespace(result=result, scores=SimpleNamespace(metadata=facts))])


def gate(scores: np.ndarray, limit: float) -> list[str]:
    """Why scores of 40 samples of each stereotype fail `--fail-unless-below g_s=LIMIT`."""
    return gates.check_limits([gates.Limit(gates.UNLESS_BELOW, "g_s", limit)], outcome(scores))[0]


def test_a_model_edited_at_the_words_of_a_gate_fails_in_others() -> None:
    noise = np.random.default_rng(0).normal(size=640)
    stereotypes = 0.3 * noise + 0.3 * (np.repeat(range(1, 17), 40) > 7)
    edited, whole = outcome(0.2 * noise), outcome(stereotypes)
    for limit, number in ((1.2, 1), (1.5, 0)):
        limits = [gates.Limit(gates.UNLESS_BELOW, "g_s", limit)]
        assert gates.check_limits(limits, edited)[0] == []
        failures, notes = gates.check_held_out(limits, edited, whole)
        assert (len(failures), len(notes)) == (number, 1 - number)
        assert "in 1 templates that the gate does not use" in [*failures, *notes][0]
    whole.runs[0].result["g_s_low"] = math.nan
    ((failure,), notes) = gates.check_held_out(limits, edited, whole)
    assert failure == "g_s of en has no interval in the extended templates."
    assert not notes


def test_a_config_that_fails_in_the_templates_of_a_gate_fails_it(
    gest: Gest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of several configs, one fails there only: the command does not pass."""
    monkeypatch.setattr(gates, "check_held_out", lambda *given: ([], []))
    compute = score_run.compute_scores

    def fail_in_extended(model: Any, request: Any, cache: Any = None) -> Any:
        if request.settings.short and request.name == "en":
            raise ScoringError("planted")
        return compute(model, request, cache)

    monkeypatch.setattr(score_run, "compute_scores", fail_in_extended)
    done = gest("score", "bert", "--config", "en,demo_en", "--output", "both", "--fail-unless-below", "g_s=9")
    assert done.returncode == 1
    assert "not scored: en in the extended templates\nplanted" in done.stderr


def test_a_gate_is_not_passed_by_a_damaged_model() -> None:
    """Neither by tied words, nor by a temperature, nor by noise."""
    noise = np.random.default_rng(0).normal(size=640)
    stereotypes = 0.3 * noise + 0.3 * (np.repeat(range(1, 17), 40) > 7)
    assert gate(0.2 * noise, 1.2) == []
    assert gate(0.02 * noise, 1.2) == []
    for scores, message in (
        (stereotypes, "is not shown to be below 1.2"),
        (stereotypes / 20, "its own limit is 0.49, the d of g_s=1.2 in a model"),
        (stereotypes + 3 * np.random.default_rng(1).normal(size=640), "is not shown to be below 1.2"),
        (np.zeros(640), "proves nothing"),
        (1e-5 * noise, "proves nothing"),
    ):
        (failure,) = gate(scores, 1.2)
        assert message in failure


def test_random_baselines(gest: Gest) -> None:
    arguments = ("--config", "demo_en", "--templates", "1", "--null", "2", "--output", "run")
    shown = gest("score", "bert", *arguments).stdout
    assert "(negligible range " in shown
    assert "2 randomly initialised copies: g_s " in shown
    assert len(read_run("run").result["result"]["null"]["values"]) == 2


def test_power_needs_no_model(gest: Gest) -> None:
    assert "demo_en" in gest("score", "no-such-model", "--power", "--config", "demo_en,demo_controls").stdout
    shown = gest("score", "no-such-model", "--power", "--json", "--config", "demo_en").stdout
    effects = json.loads(shown)["demo_en"]
    assert (effects["samples"], effects["units"]) == (160, 160)
    # ten samples of each of 16 stereotypes: sqrt((1 / 7 + 1 / 9) / 10), and the zone
    error = math.sqrt((1 / 7 + 1 / 9) / 10)
    assert effects["single"] == pytest.approx(0.2 + (1.959964 + 0.841621) * error)
    assert effects["paired"] == pytest.approx((1.959964 + 0.841621) * error)
    small = gest("score", "no-such-model", "--power", "--config", "demo_en", "--limit", "12").stdout
    assert re.search(r"demo_en +12 +12 +none +none +none", small)
    reason = "none: some stereotype or group has too few samples for an interval"
    assert reason in " ".join(small.split())
    assert reason not in " ".join(gest("score", "m", "--power", "--config", "demo_en").stdout.split())


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("bert", "--config", "en,sk_pair"), 2, "Did you mean 'sk_pairs'?"),
        (("bert", "--templates", "mine.json"), 2, "'extended' or an existing JSON file"),
        (("bert", "--limit", "0"), 2, "--limit"),
        (("bert", "--device", "abacus"), 2, "The device 'abacus' cannot be used"),
        (("bert", "--revision", "main"), 2, "'bert' is a local model; only models on the Hub have revisions"),
        (("./nothing",), 1, "There is no folder ./nothing"),
        ((), 2, "Give either MODEL, or --endpoint"),
        (("bert", "--endpoint", "http://127.0.0.1:9"), 2, "Give either MODEL, or --endpoint"),
        (("bert", "--tokenizer", "bert"), 2, "tokenizer applies to served models only"),
    ],
)
def test_wrong_usage(
    gest: Gest, arguments: tuple[str, ...], code: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    done = gest("score", *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(Path().glob("gest-runs/**/run.json"))


@pytest.mark.slow
def test_smollm2(gest: Gest) -> None:
    pytest.importorskip("gguf")
    try:
        pretrained.packaged_path("smollm2")
    except ModelError as error:
        pytest.skip(str(error))
    done = gest("score", "smollm2", "--limit", "32")
    assert done.returncode == 0, done.stderr
    assert "SmolLM2-135M-Instruct.Q4_1.gguf" in done.stdout
    assert done.stdout.startswith("Too few samples"), "of 32 sentences some stereotypes have one"
    assert read_run("gest-runs/smollm2-limit32/en").manifest.settings["templates"] == [3, 4]


def test_interrupt(gest: Gest, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(LanguageModelScorer, "log_probs", interrupted)
    done = gest("score", "bert")
    assert done.returncode == 130
    assert "run the same command again to continue" in done.stderr
