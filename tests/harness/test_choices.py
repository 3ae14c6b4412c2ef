"""Choices for EuroEval and Inspect: their formats, and what their metrics mean."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from datasets import load_dataset

from gest_dataset.builders import CONFIGS
from gest_dataset.data.rows import rows_of
from gest_dataset.errors import ConfigError
from gest_dataset.harness.choices import write_choices
from gest_dataset.models.chat.ask import AskSettings, prepare
from gest_dataset.stereotypes import STEREOTYPES
from tests.conftest import ROOT
from tests.harness.test_inspect import python as python
from tests.support.chats import MODEL, chatting
from tests.support.hub import running

pytestmark = pytest.mark.usefixtures("one_thread")
OPTIONS = {"en": ({"Men", "The man"}, {"Women", "The woman"})}


@pytest.mark.parametrize("config", ["en", "sk_pairs"])
def test_columns_and_places_of_the_options(config: str, tmp_path: Path) -> None:
    """EuroEval's bias is (stereotypes - opposites) / questions, from `stereo_idx` and `counter_idx`."""
    number = write_choices(tmp_path / "out", config)
    loaded = load_dataset(str(tmp_path / "out"), split="test", cache_dir=str(tmp_path / "cache"))
    source = {row["id"]: row for row in rows_of(config).to_list()}
    assert number == len(loaded) == len(source)
    seen = set()
    for row in loaded:
        options = [line.partition(") ")[2] for line in row["text"].splitlines() if line[:1] == "("]
        gender = STEREOTYPES[row["stereotype"]].gender
        if config == "en":
            male, female = OPTIONS["en"]
        else:
            male, female = ({source[row["id"]][name]} for name in ("masculine", "feminine"))
        stereo, counter = (male, female) if gender == "male" else (female, male)
        assert options[row["stereo_idx"]] in stereo
        assert options[row["counter_idx"]] in counter
        assert row["label"] == "abc"[row["stereo_idx"]]
        assert (row["unknown_idx"] == -1) == (config != "en")
        seen.add((row["stereo_idx"], row["counter_idx"]))
    assert len(seen) == (6 if config == "en" else 2), "options are in all orders"
    task = yaml.safe_load((tmp_path / "out" / "eval.yaml").read_text("utf-8"))
    assert task["task"] == "multiple-choice-stereotype-bias"
    assert task["labels"] == list("abc" if config == "en" else "ab")
    assert {"text", "label"} == {*task["tasks"][0]["field_spec"].values()}


def test_other_configs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        write_choices(tmp_path / "out", "winobias_type1_test")


@pytest.mark.slow
def test_inspect_runs_it_from_the_hub(
    python: str, script_environment: Mapping[str, str], tmp_path: Path
) -> None:
    """A model that always answers (a): its accuracy is the share of questions whose stereotype is (a)."""
    write_choices(tmp_path / "out", "sk_pairs")
    files = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    command = [python, "-m", "inspect_ai", "eval", "hf/ann/choices", "--model", f"openai-api/local/{MODEL}"]
    command += ["--log-format", "json", "--display", "none"]
    with running() as hub, chatting(lambda text, options: "(a)") as server:
        hub.add("dataset", "ann/choices", files)
        variables = {"HF_ENDPOINT": hub.url, "INSPECT_LOG_DIR": str(tmp_path / "logs")}
        variables |= {"LOCAL_API_KEY": "none", "LOCAL_BASE_URL": f"{server.url}/v1"}
        environment = {**script_environment, **variables}
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    log = json.loads(next((tmp_path / "logs").glob("*.json")).read_text())
    labels = load_dataset(str(tmp_path / "out"), split="test", cache_dir=str(tmp_path / "cache"))["label"]
    assert log["status"] == "success", log["error"]
    (scored,) = log["results"]["scores"]
    assert scored["metrics"]["accuracy"]["value"] == pytest.approx(list(labels).count("a") / len(labels))


def test_the_entry_for_inspects_register(mirror: Path) -> None:
    """The fields of `ExternalEvalMetadata` of inspect_evals 0.26, with our task and paper."""
    entry = yaml.safe_load((ROOT / "docs/inspect/gest_choice/eval.yaml").read_text("utf-8"))
    required = {"full_title", "common_title", "description", "arxiv", "contributors", "tasks", "source"}
    assert required <= entry.keys() <= required | {"paper_title", "tags", "metadata"}
    assert "\n" not in entry["description"].strip()
    papers = (ROOT / "builders/papers.bib").read_text("utf-8")
    (paper,) = (part for part in papers.split("\n\n") if entry["arxiv"].rpartition("/")[2] in part)
    assert entry["paper_title"] in " ".join(paper.split())
    (task,) = entry["tasks"]
    assert f"@task\ndef {task['name']}(" in (ROOT / task["task_path"]).read_text("utf-8")
    prompts = prepare(AskSettings("choice", "en", limit=1)).prompts
    assert task["dataset_samples"] == len(list(prompts)) * CONFIGS["en"].published_rows
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    assert f'Source = "{entry["source"]["repository_url"]}"' in project
