"""Evidence files and sealed plans: what is changed afterwards is found."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow.parquet as pq
import pytest

from gest_dataset.report import evidence
from gest_dataset.runs import read_run
from gest_dataset.runs.plan import sealed
from gest_dataset.storage import sha256
from tests.commands.conftest import Gest
from tests.support import report_runs
from tests.support.chats import MODEL, chatting

pytestmark = pytest.mark.usefixtures("models")
SCHEMA = json.loads(Path(evidence.__file__).with_name("evidence.schema.json").read_text("utf-8"))
CONFIGS = "demo_en,crows_gender"


def edit(path: Path, change: Callable[[Any], None], seal: bool = False) -> None:
    content = json.loads(path.read_text("utf-8"))
    change(content)
    path.write_text(json.dumps(sealed(content) if seal else content), "utf-8")


def change_score(run: Path) -> None:
    """Another score of one sample, with run.json's hash of the table corrected."""
    table = pq.read_table(run / "scores.parquet")
    frame = table.to_pandas()
    frame.loc[3, "log_ratio"] += 1.0
    changed = table.from_pandas(frame, table.schema, preserve_index=False)
    pq.write_table(changed, run / "scores.parquet")
    digest = sha256((run / "scores.parquet").read_bytes())
    edit(run / "run.json", lambda content: content["files"].update({"scores.parquet": digest}))


def change_data(run: Path) -> None:
    def change(content: Any) -> None:
        first = "0" if content["data_fingerprint"][0] != "0" else "1"
        content["data_fingerprint"] = first + content["data_fingerprint"][1:]

    edit(run / "run.json", change)


@pytest.fixture
def scored(gest: Gest) -> Path:
    done = gest("score", "bert", "--config", CONFIGS, "--templates", "1,3", "--output", "runs")
    assert done.returncode == 0, done.stderr
    assert gest("report", "runs", "--output", "r.html", "--evidence", "e.json").returncode == 0
    return Path("runs")


def test_evidence_has_the_numbers_of_the_runs_and_finds_changes(gest: Gest, scored: Path) -> None:
    content = json.loads(Path("e.json").read_text("utf-8"))
    jsonschema.validate(content, SCHEMA)
    entry = next(one for one in content["runs"] if one["data"]["config"] == "demo_en")
    run = read_run(scored / "demo_en")
    result = run.result["result"]
    assert [entry["headline"][name] for name in ("value", "low", "high", "d")] == [
        result[name] for name in ("g_s", "g_s_low", "g_s_high", "d")
    ]
    assert entry["model"]["weights"] == run.manifest.settings["weights"]
    assert entry["data"]["sha256"] == run.manifest.data_fingerprint
    assert entry["settings"]["templates"] == [1, 3]
    done = gest("verify", "e.json", "runs")
    assert done.returncode == 0, done.stderr
    assert "e.json is intact, and 2 runs agree with it." in done.stdout
    shutil.copytree(scored, "original")
    for change, messages in (
        (change_score, ("files.scores.parquet is", "g_s is", "in result.json, and")),
        (change_data, ("data.sha256 is", "the data of demo_en are not those of this version")),
        (
            lambda path: edit(path / "run.json", lambda one: one["settings"].update(limit=9)),
            ("settings.limit is 9, and None in the file",),
        ),
        (lambda path: (path / "result.json").write_text("{}"), ("was changed after the run",)),
    ):
        shutil.rmtree(scored)
        shutil.copytree("original", scored)
        change(scored / "demo_en")
        done = gest("verify", "e.json", "runs")
        assert done.returncode == 1
        assert all(message in " ".join(done.stderr.split()) for message in messages), done.stderr


def test_a_changed_file_does_not_have_its_hash(gest: Gest, scored: Path) -> None:
    """Sealed again, it differs from its runs."""
    for seal, message in ((False, "e.json was changed after it was sealed"), (True, "headline.value is")):
        gest("report", "runs", "--output", "r.html", "--evidence", "e.json")
        edit(Path("e.json"), lambda content: content["runs"][0]["headline"].update(value=1.0), seal)
        assert gest("verify", "e.json").returncode == int(not seal)
        done = gest("verify", "e.json", "runs")
        assert done.returncode == 1
        assert message in done.stderr
    gest("report", "runs/crows_gender", "--evidence", "e.json")
    assert "the file has no run of bert on demo_en" in gest("verify", "e.json", "runs").stderr
    Path("e.json").write_text("{}")
    assert "neither a plan nor an evidence file" in gest("verify", "e.json").stderr


def test_a_run_follows_its_plan(gest: Gest) -> None:
    planned = ("bert", "--config", "demo_en", "--templates", "1,3", "--fail-above", "g_s=9")
    done = gest("plan", *planned, "--output", "plan.json")
    assert done.returncode == 0, done.stderr
    digest = json.loads(Path("plan.json").read_text("utf-8"))["sha256"]
    assert f"demo_en: g_s\nplan.json: {digest}" in done.stdout
    done = gest("score", "--plan", "plan.json", "--output", "run")
    assert done.returncode == 0, done.stderr
    assert read_run("run").manifest.settings["plan"]["sha256"] == digest
    assert gest("score", *planned, "--plan", "plan.json", "--output", "run").returncode == 0
    for option in (("--limit", "9"), ("--templates", "1")):
        done = gest("score", *planned, *option, "--plan", "plan.json", "--output", "other")
        assert done.returncode == 2
        assert f"{option[0][2:]}: " in done.stderr
    assert gest("verify", "plan.json", "run").returncode == 0
    gest("score", *planned, "--output", "without")
    assert f"run followed its plan {digest[:12]}." in gest("compare", "without", "run").stderr
    assert "without: plan: " in gest("verify", "plan.json", "without").stderr
    gest("report", "run", "--evidence", "e.json")
    (entry,) = json.loads(Path("e.json").read_text("utf-8"))["runs"]
    assert entry["plan"] == {"sha256": digest, "deviations": []}
    edit(Path("run/run.json"), lambda content: content.update(started="2020-01-01T00:00:00+00:00"))
    assert f"did not follow its plan {digest[:12]}: it started at" in gest("compare", "without", "run").stderr
    done = gest("verify", "plan.json", "run")
    assert done.returncode == 1
    assert "before the plan was made" in done.stderr
    edit(Path("run/run.json"), lambda content: content.update(data_fingerprint="0" * 64))
    assert "data: 000000000000… (run)" in gest("verify", "plan.json", "run").stderr
    edit(Path("run/run.json"), lambda content: content["settings"].update(limit=5))
    assert "limit: 5 (run), none (plan)" in gest("verify", "plan.json", "run").stderr
    edit(Path("plan.json"), lambda content: content["arguments"].update(limit=5))
    assert "was changed after it was sealed" in gest("verify", "plan.json").stderr
    assert "was changed after it was sealed" in gest("score", "--plan", "plan.json").stderr


def test_runs_of_translators_and_chat_models(gest: Gest) -> None:
    report_runs.translated(Path("translated"))
    with chatting(lambda text, options: "(a)") as server:
        gest("ask", "--endpoint", server.url, "--model", MODEL, "--limit", "9", "--output", "asked")
    gest("report", "translated", "asked", "--evidence", "e.json")
    content = json.loads(Path("e.json").read_text("utf-8"))
    jsonschema.validate(content, SCHEMA)
    assert "Only the first 9 samples were scored." in content["runs"][1]["limits"]
    done = gest("verify", "e.json", "translated", "asked")
    assert done.returncode == 0, done.stderr
    for name in ("translated", "asked"):
        edit(Path(name, "run.json"), lambda content: content["files"].update({"result.json": ""}))
        file = Path(name, "result.json")
        edit(
            file,
            lambda content: content["result"].update(
                dict.fromkeys(content["result"].keys() & {"f_s", "neither"}, 0.5)
            ),
        )
        digest = sha256(file.read_bytes())
        edit(
            Path(name, "run.json"),
            lambda content, digest=digest: content["files"].update({"result.json": digest}),
        )  # type: ignore[misc]
        assert " is 0.5 in result.json, and" in gest("verify", "e.json", name).stderr
