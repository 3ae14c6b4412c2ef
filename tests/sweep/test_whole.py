"""A sweep from its suite to its leaderboard, with real models in this process."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import datasets
import fsspec
import pyarrow.parquet as pq
import pytest

from gest_dataset.errors import ConfigError, DataError, OutputError
from gest_dataset.models.score import score
from gest_dataset.runs.manifest import MANIFEST
from gest_dataset.runs.reading import read_run
from gest_dataset.sweep import prepare, state
from gest_dataset.sweep.grid import DONE, FAILED, Row
from gest_dataset.sweep.looking import Look
from gest_dataset.sweep.place import Place
from gest_dataset.sweep.suite import Subject, suite_of
from gest_dataset.sweep.whole import sweep
from gest_dataset.version import __version__
from tests.conftest import in_one_thread
from tests.sweep.conftest import Here

CONFIGS = ["slovak_gender", "demo_sk_pairs"]


@pytest.fixture(scope="module", autouse=True)
def world(looked_here: None) -> Iterator[None]:
    with in_one_thread():
        yield


def run(
    place: str, models: Mapping[str, Path], *names: str, resume: bool = False, **told: Any
) -> tuple[dict[str, Row], Here]:
    entries = [{"model": str(models[name]), "label": name} for name in names]
    engine = Here()
    suite = suite_of({"configs": CONFIGS, "models": entries, **told}, "small")
    return sweep(suite, Place(place), engine, resume), engine


@pytest.fixture(scope="module")
def swept(models: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep in which one model cannot be loaded, and one cannot do one of the configs."""
    folder = tmp_path_factory.mktemp("swept") / "out"
    run(str(folder), models, "one", "broken", "causal")
    return folder


def states(folder: Path, name: str) -> dict[str, str]:
    told = json.loads((folder / "models" / f"{name}.json").read_text())
    return {config: cell["state"] for config, cell in told["cells"].items()}


def test_a_cell_is_the_run_that_score_makes(swept: Path, models: dict[str, Path], tmp_path: Path) -> None:
    score(str(models["one"]), "slovak_gender", device="cpu", output=tmp_path / "run")
    own = read_run(swept / "runs" / "one" / "slovak_gender")
    assert own.table.equals(read_run(tmp_path / "run").table)
    assert own.manifest.identity() == read_run(tmp_path / "run").manifest.identity()


def test_a_model_that_cannot_be_loaded_fails_and_leaves_the_others(swept: Path) -> None:
    assert states(swept, "one") == dict.fromkeys(CONFIGS, DONE)
    assert states(swept, "broken") == dict.fromkeys(CONFIGS, FAILED)
    told = json.loads((swept / "models" / "broken.json").read_text())
    assert "cannot be loaded" in told["cells"]["slovak_gender"]["reason"]
    page = (swept / "leaderboard.html").read_text()
    assert "broken/slovak_gender" in page
    assert "2 failed" in page


def test_a_config_that_a_kind_of_model_cannot_do_is_left_out(swept: Path) -> None:
    assert states(swept, "causal") == {"demo_sk_pairs": DONE}
    told = json.loads((swept / "models" / "causal.json").read_text())
    assert "needs a masked" in told["left_out"]["slovak_gender"]


def test_the_tables_hold_every_cell_of_the_grid(swept: Path) -> None:
    lines = pq.read_table(swept / "leaderboard.parquet").to_pylist()
    assert [(line["name"], line["config"], line["state"]) for line in lines] == [
        ("one", "slovak_gender", "done"),
        ("one", "demo_sk_pairs", "done"),
        ("broken", "slovak_gender", "failed"),
        ("broken", "demo_sk_pairs", "failed"),
        ("causal", "demo_sk_pairs", "done"),
        ("causal", "slovak_gender", "left out"),
    ]
    found = read_run(swept / "runs" / "one" / "demo_sk_pairs").result["result"]
    own = lines[1]
    assert (own["number"], own["value"], own["low"], own["high"]) == (
        *("g_s", found["g_s"]),
        *(found["g_s_low"], found["g_s_high"]),
    )
    header = (swept / "leaderboard.csv").read_text().splitlines()[0].split(",")
    assert header == list(lines[0])


def test_a_sweep_that_is_gone_on_with_does_nothing_twice(
    swept: Path, models: dict[str, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    shutil.copytree(swept, folder)
    before = {path: path.stat().st_mtime_ns for path in folder.glob(f"runs/*/*/{MANIFEST}")}
    rows, engine = run(str(folder), models, "one", "causal", "two", resume=True)
    assert [job.name for job in engine.jobs] == ["two"]
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert all(row.count(DONE) == len(row.cells) for row in rows.values())


def test_what_has_failed_is_tried_again(swept: Path, models: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "out"
    shutil.copytree(swept, folder)
    mended = {**models, "broken": tmp_path / "broken"}
    shutil.copytree(models["broken"], mended["broken"])
    shutil.copy(models["two"] / "model.safetensors", mended["broken"])
    told = json.loads((folder / "models" / "broken.json").read_text())
    told["asked"]["model"] = str(mended["broken"])
    (folder / "models" / "broken.json").write_text(json.dumps(told))
    rows, engine = run(str(folder), mended, "one", "broken", resume=True)
    assert [job.name for job in engine.jobs] == ["broken"]
    assert rows["broken"].count(DONE) == 2


def test_a_run_that_nobody_noted_is_found(swept: Path, models: dict[str, Path], tmp_path: Path) -> None:
    """As after a kill between a run's end and its note."""
    folder = tmp_path / "out"
    shutil.copytree(swept, folder)
    (folder / "models" / "one.json").unlink()
    rows, engine = run(str(folder), models, "one", resume=True)
    assert engine.jobs == []
    assert rows["one"].cells["slovak_gender"].facts["number"] == "f_mu"


def test_a_run_that_is_gone_or_changed_is_made_again(
    swept: Path, models: dict[str, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    shutil.copytree(swept, folder)
    shutil.rmtree(folder / "runs" / "one" / "slovak_gender")
    _, engine = run(str(folder), models, "one", resume=True)
    assert [job.configs for job in engine.jobs] == [("slovak_gender",)]
    table = folder / "runs" / "one" / "slovak_gender" / MANIFEST
    table.write_text(table.read_text().replace('"done"', '"running"'))
    _, engine = run(str(folder), models, "one", resume=True)
    assert [job.configs for job in engine.jobs] == [("slovak_gender",)]


def test_other_settings_are_refused_for_what_is_kept(
    swept: Path, models: dict[str, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    shutil.copytree(swept, folder)
    with pytest.raises(ConfigError, match=r"one: .* has it asked otherwise \(limit: none there, 3 now\)"):
        run(str(folder), models, "one", resume=True, limit=3)


def test_what_has_failed_may_be_asked_otherwise(models: dict[str, Path], tmp_path: Path) -> None:
    """Its reason says to try a smaller dtype: nothing is lost with cells that have failed."""
    folder = tmp_path / "out"
    run(str(folder), {"one": models["broken"]}, "one")
    rows, _ = run(str(folder), {"one": models["causal"]}, "one", resume=True, limit=20)
    assert {config: cell.state for config, cell in rows["one"].cells.items()} == {"demo_sk_pairs": DONE}
    assert rows["one"].look.kind == "causal"
    assert "slovak_gender" in rows["one"].left_out


def test_a_run_that_nobody_noted_and_that_was_asked_otherwise_does_not_count(
    swept: Path, models: dict[str, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    shutil.copytree(swept, folder)
    (folder / "models" / "one.json").unlink()
    rows, engine = run(str(folder), models, "one", resume=True, limit=20)
    assert [job.configs for job in engine.jobs] == [tuple(CONFIGS)]
    assert {cell.state for cell in rows["one"].cells.values()} == {FAILED}
    assert "limit: none there, 20 now" in rows["one"].cells[CONFIGS[0]].reason


def test_a_config_that_a_checkpoint_could_not_do_is_not_tried_again(
    models: dict[str, Path], tmp_path: Path
) -> None:
    told = {"configs": ["demo_sk_pairs", "stereoset_en_intersentence"]}
    run(str(tmp_path / "out"), models, "one", **told)
    rows, engine = run(str(tmp_path / "out"), models, "one", resume=True, **told)
    assert engine.jobs == []
    assert "no next-sentence head" in rows["one"].left_out["stereoset_en_intersentence"]


def test_two_sweeps_do_not_share_a_folder(swept: Path, models: dict[str, Path]) -> None:
    with state.held(Place(str(swept))), pytest.raises(OutputError, match="Another process"):
        run(str(swept), models, "one", resume=True)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"version": "0.0.1"}, f"begun with gest-dataset 0.0.1, and this is {__version__}"),
        ({"format": 0}, "is not of this version of `gest sweep`"),
    ],
)
def test_a_sweep_of_another_version_is_refused(
    swept: Path, models: dict[str, Path], tmp_path: Path, change: dict[str, Any], reason: str
) -> None:
    told = json.loads((swept / "sweep.json").read_text())
    (tmp_path / "sweep.json").write_text(json.dumps(told | change))
    with pytest.raises(OutputError, match=reason):
        run(str(tmp_path), models, "one", resume=True)


@pytest.mark.parametrize("damage", ['{"cells": {', "[]"])
def test_notes_that_are_damaged_are_named(
    swept: Path, models: dict[str, Path], tmp_path: Path, damage: str
) -> None:
    folder = tmp_path / "out"
    shutil.copytree(swept, folder)
    (folder / "models" / "one.json").write_text(damage)
    with pytest.raises(DataError, match=r"models/one\.json is damaged.* Remove it: finished runs are found"):
        run(str(folder), models, "one", resume=True)


def test_models_are_not_looked_at_again(
    swept: Path, models: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, seen = tmp_path / "out", []
    shutil.copytree(swept, folder)
    look = prepare.look_at

    def noted(subjects: Sequence[Subject]) -> Iterator[tuple[Subject, Look]]:
        seen.extend(subject.name for subject in subjects)
        return look(subjects)

    monkeypatch.setattr(prepare, "look_at", noted)
    run(str(folder), models, "one", "two", resume=True)
    assert seen == ["two"]


def test_what_the_engine_lacks_and_data_that_are_nowhere_are_told_with_the_rest(
    models: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Small(Here):
        def lacking(self, subjects: Sequence[Subject]) -> list[str]:
            return [f"{subject.name}: it needs more." for subject in subjects]

    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("GEST_MIRROR", str(tmp_path / "empty"))
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")  # others have built "en"
    told = {"configs": "en,demo_en", "models": [{"model": str(models["one"]), "label": "one"}], "titel": "x"}
    with pytest.raises(ConfigError) as error:
        sweep(suite_of(told, "bad"), Place(str(tmp_path / "out")), Small())
    lines = str(error.value).splitlines()[1:]
    starts = ("- titel: ", "- one: it needs more.", "- configs: en cannot be read: ")
    assert len(lines) == len(starts)
    assert all(line.startswith(start) for line, start in zip(lines, starts, strict=True))


def test_a_folder_with_a_sweep_is_taken_with_resume_alone(swept: Path, models: dict[str, Path]) -> None:
    with pytest.raises(OutputError, match=r"holds a sweep of small\. Go on with it with --resume"):
        run(str(swept), models, "one")


def test_a_folder_with_anything_else_is_refused(models: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(OutputError, match=r"contains thesis\.tex, which is not part of a sweep"):
        run(str(tmp_path), models, "one")


def test_unknown_models_and_configs_are_told_together_and_nothing_starts(
    models: dict[str, Path], tmp_path: Path
) -> None:
    told = {
        "configs": "slovak_gender,nonesuch",
        "models": [str(tmp_path / "nobody"), {"model": "./nor-this", "dtype": "float99"}],
    }
    with pytest.raises(ConfigError) as error:
        sweep(suite_of(told, "bad"), Place(str(tmp_path / "out")), Here())
    text = str(error.value)
    assert "bad has 4 problems; nothing was started." in text
    for part in (
        "nonesuch",
        "nobody: The model",
        "nor-this: The model",
        "models[2].dtype: there is no 'float99'",
    ):
        assert part in text
    assert not (tmp_path / "out").exists()


def test_templates_that_a_kind_of_model_cannot_take_are_told(models: dict[str, Path], tmp_path: Path) -> None:
    told = {
        "configs": "demo_en",
        "templates": [1, 3],
        "models": [{"model": str(models["causal"]), "label": "c"}],
    }
    with pytest.raises(ConfigError, match=r"- c: Template 1 .* has the word before the sentence"):
        sweep(suite_of(told, "bad"), Place(str(tmp_path / "out")), Here())


def test_a_sweep_is_kept_at_any_url(swept: Path, models: dict[str, Path]) -> None:
    """The file system is one of fsspec's own."""
    rows, engine = run("memory://bucket/sweep", models, "one")
    system = fsspec.filesystem("memory")
    assert rows["one"].count(DONE) == 2
    name = "/bucket/sweep/runs/one/slovak_gender"
    assert (
        system.cat_file(f"{name}/scores.parquet")
        == (swept / "runs" / "one" / "slovak_gender" / "scores.parquet").read_bytes()
    )
    assert {"leaderboard.html", "leaderboard.parquet", "sweep.json"} <= {
        path.rpartition("/")[2] for path in system.ls("/bucket/sweep", detail=False)
    }
    _, engine = run("memory://bucket/sweep", models, "one", resume=True)
    assert engine.jobs == []


def test_a_url_of_no_file_system(models: dict[str, Path]) -> None:
    with pytest.raises(ConfigError, match="nonesuch://bucket cannot be used"):
        run("nonesuch://bucket", models, "one")
