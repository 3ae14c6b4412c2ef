"""The study of controls: the scores of samples, both readings, what is printed beside, what is refused."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import gest_dataset
from gest_dataset import studies
from gest_dataset.builders.controls import FIELDS
from gest_dataset.data.rows import rows_of
from gest_dataset.errors import ConfigError
from gest_dataset.runs import read_run
from gest_dataset.studies.controls import control_runs, controls, keyword_frequency
from tests.conftest import Cached
from tests.studies.planting import cells, value
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("one_thread")


def study_of(folder: Path, model: str | Path, config: str) -> studies.Study:
    """The study of a run of the model on the config."""
    gest_dataset.score(str(model), config, device="cpu", output=folder / config)
    return controls([folder])


def test_tables_match_the_samples(tmp_path: Path) -> None:
    """ss, csk, f in log10, rates and correlations, computed here from the table of the run."""
    study = study_of(tmp_path, zoo.directory("bert"), "stereoset_control_race")
    run = read_run(tmp_path / "stereoset_control_race")
    columns = {name: run.table[f"logp_{name}"].to_numpy() / math.log(10) for name in FIELDS}
    original = columns["original_stereotype"] - columns["original_antistereotype"]
    control = columns["control_stereotype"] - columns["control_antistereotype"]
    f = original - control
    expected = {
        ("ss", "ss μ original"): original.mean(),
        ("ss", "ss μ control"): control.mean(),
        ("ss", "ss + control"): (control > 0).mean(),
        ("ss", "ss ρ"): np.corrcoef(original, control)[0, 1],
        ("ss", "false positives"): (control > original)[original > 0].mean(),
        ("ss", "false negatives"): (control < original)[original < 0].mean(),
        ("cs", "csk μ original"): (columns["original_stereotype"] - columns["control_stereotype"]).mean(),
        ("f", "f μ"): f.mean(),
        ("f", "f-ss agreement"): ((f > 0) == (original > 0)).mean(),
    }
    for (table, label), number in expected.items():
        (row,) = cells(study, table, score=label)
        assert value(row["value"]) == pytest.approx(number), label
        assert row["n"] == len(original)


def test_both_readings(tmp_path: Path) -> None:
    model = str(zoo.directory("bert"))
    name = "crows_control_negation"
    once = study_of(tmp_path, model, name)
    assert "readings" not in [table.name for table in once.tables]
    negations = tmp_path / "negations"
    gest_dataset.score(model, name, rules="own-negation", device="cpu", output=negations)
    study = controls([tmp_path])
    (row,) = cells(study, "readings", score="cs μ control")
    for reading, folder in (
        ("group against group", tmp_path / name),
        ("sentence against its negation", negations),
    ):
        result = read_run(folder).result["result"]
        assert row[reading].value == pytest.approx(result["cs_mu_control"] / math.log(10))
    # the table of the paper has the reading that the paper defines, and nothing of print beside it
    assert {row["set"] for row in cells(study, "cs")} == {"CS Negation"}
    (row,) = cells(study, "cs", score="cs μ control")
    assert row["value"] == cells(study, "readings", score="cs μ control")[0]["group against group"]
    assert row["paper's models"] == ""
    assert cells(study, "readings", score="cs μ control")[0]["paper's models"] == "-0.058 to 0.63"


def test_printed_numbers_of_the_same_model(cached: Cached, tmp_path: Path) -> None:
    cached(zoo.directory("bert"), "FacebookAI/roberta-base")
    study = study_of(tmp_path / "paper", "FacebookAI/roberta-base", "stereoset_control_gender")
    (row,) = cells(study, "ss", score="ss μ original")
    assert (row["paper"], row["paper's models"]) == ("0.84 ± 0.19", "0.26 to 0.84")
    other = study_of(tmp_path / "other", zoo.directory("bert"), "stereoset_control_gender")
    assert cells(other, "ss", score="ss μ original")[0]["paper"] == ""


def test_keyword_frequency_correlation(tmp_path: Path) -> None:
    """ss is planted as twice the log relative frequency in both groups, and a little more in the original."""
    wordfreq = pytest.importorskip("wordfreq")
    config = "stereoset_control_race"
    path = tmp_path / "run"
    gest_dataset.score(str(zoo.directory("bert")), config, device="cpu", output=path)
    run, rows = read_run(path), rows_of(config)
    words = {
        row["id"]: [
            row[field][slice(*span)].lower() for field, span in zip(FIELDS, row["keywords"], strict=True)
        ]
        for row in rows
    }
    ids = run.table["id"].to_pylist()
    ss = [
        2
        * math.log(
            wordfreq.word_frequency(words[name][0], "en") / wordfreq.word_frequency(words[name][1], "en")
        )
        for name in ids
    ]
    noise = [0.1 * (place % 3) for place in range(len(ids))]
    columns = {
        "logp_original_stereotype": [a + b for a, b in zip(ss, noise, strict=True)],
        "logp_control_stereotype": ss,
    }
    zero = [0.0] * len(ids)
    table = pa.table(
        {"id": ids}
        | {f"logp_{field}": columns.get(f"logp_{field}", zero) for field in FIELDS}
        | {name: pa.nulls(len(ids), pa.float64()) for name in ("cs_original", "cs_control")}
    )
    (one,) = control_runs([replace(run, table=table)])
    original, control, f, n, unknown = keyword_frequency(one, rows)
    assert value(control) == pytest.approx(1)
    assert 0.9 < value(original) < 1
    assert abs(value(f)) < 0.9
    # ten copies of an original pair are one
    assert n == len({row["original"] for row in rows}) == 6
    assert unknown == 0


def test_two_runs_of_one_and_two_versions_of_the_data_are_refused(tmp_path: Path) -> None:
    config = "slovak_gender"
    for folder in ("a", "b"):
        gest_dataset.score(str(zoo.directory("bert")), config, device="cpu", output=tmp_path / folder)
    with pytest.raises(ConfigError, match=f"second run of bert on {config}"):
        controls([tmp_path])
    manifest = tmp_path / "b" / "run.json"
    stderr = json.loads(manifest.read_text(encoding="utf-8"))
    stderr["data_fingerprint"] = "0" * 64
    stderr["versions"]["gest_dataset"] = "0.0.9"
    manifest.write_text(json.dumps(stderr), encoding="utf-8")
    with pytest.raises(ConfigError, match=f"different versions of {config}"):
        controls([tmp_path])
