"""Choices for EuroEval and Inspect: their formats, and what their metrics mean."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from datasets import load_dataset

from gest_dataset.data.rows import rows_of
from gest_dataset.errors import ConfigError
from gest_dataset.harness.choices import write_choices
from gest_dataset.stereotypes import STEREOTYPES
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
