"""The study of StereoSet: planted scores, every way to ask, the authors' own files, what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gest_dataset
from gest_dataset import statistics, studies
from gest_dataset.builders.reading import read_pickle
from gest_dataset.builders.stereoset import TESTS, source
from gest_dataset.data import sources
from gest_dataset.data.rows import rows_of
from gest_dataset.errors import ConfigError
from gest_dataset.measures import MEASURES
from gest_dataset.measures.result import statistic_inputs
from gest_dataset.runs import read_run
from gest_dataset.studies.stereoset import stereoset
from tests.conftest import in_one_thread
from tests.studies.planting import cells
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("one_thread")
LANGUAGES = ("en", "tr")

# What a candidate's score is by its label: the stereotype wins, or meaning alone does
WORST = {"stereotype": 0.3, "anti-stereotype": 0.2, "unrelated": 0.1}
MEANINGLESS = {"stereotype": 0.2, "anti-stereotype": 0.1, "unrelated": 0.3}


def authors(
    folder: Path, name: str, language: str, within: dict[str, float], between: dict[str, float]
) -> Path:
    """A file of scores in the authors' format."""
    folder.mkdir(exist_ok=True)
    stderr: dict[str, list[dict[str, Any]]] = {}
    for test, planted in zip(TESTS, (within, between), strict=True):
        frame = read_pickle(sources.fetch(source(test, language)))
        stderr[test] = [
            {"id": frame[f"{slot}_id"][place], "score": planted[frame[f"{slot}_gold_label"][place]]}
            for place in range(len(frame["id"]))
            for slot in ("c1", "c2", "c3")
        ]
    path = folder / name
    path.write_text(json.dumps(stderr), encoding="utf-8")
    return path


def values(study: studies.Study, table: str, **where: str) -> dict[tuple[str, ...], float]:
    """The values of the rows of a table that have these cells, by the others."""
    names = {"model", "language", "method", "score"} - {*where}
    return {
        tuple(cell for name, cell in row.items() if name in names): row["value"].value
        for row in cells(study, table, **where)
    }


def test_planted_authors_scores(tmp_path: Path) -> None:
    """Within, the stereotype always wins; between, the unrelated candidate does, and then the stereotype."""
    authors(tmp_path / "scores", "gpt2_GPT2LM_GPT2LM_d_en.json", "en", WORST, MEANINGLESS)
    study = stereoset(released=tmp_path / "scores")
    model = {"model": "gpt2 (authors)", "language": "en"}
    assert values(study, "table-2", **model) == {("LMS",): 100, ("SS",): 100, ("ICAT",): 0}
    between = values(study, "table-3", **model, method="generative")
    assert between == {("LMS",): 0, ("SS",): 100, ("ICAT",): 0}
    within, after = (len(read_pickle(sources.fetch(source(test, "en")))["id"]) for test in TESTS)
    both = values(study, "table-4", **model, method="generative")
    assert both["LMS",] == pytest.approx(100 * within / (within + after))
    assert "gpt2_GPT2LM_GPT2LM_d_en.json" in study.sources
    printed = [row[-2] for row in study.table("table-3").rows]
    assert printed == ["76.57", "52", "73.5"]
    # one way alone is compared with what is printed of it
    assert [row[-2] for row in study.table("table-7").rows] == ["76.57", "52", "73.5"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("stereoset")


@pytest.fixture(scope="module")
def study(folder: Path) -> studies.Study:
    """A causal model in both of its ways, an encoder-decoder, BERT, and a checkpoint for next sentences."""
    between = ",".join(f"stereoset_{code}_{TESTS[1]}" for code in LANGUAGES)
    both = ",".join(f"stereoset_{code}_{TESTS[0]}" for code in LANGUAGES) + f",{between}"
    with in_one_thread():
        for model, config, options in (
            ("gpt2", both, {}),
            ("gpt2", between, {"intersentence": "ratio"}),
            ("t5", both, {}),
            ("bert", both, {}),
            ("bert-nsp", between, {}),
        ):
            output = folder / "-".join([model, *options])
            gest_dataset.score(str(zoo.directory(model)), config, device="cpu", output=output, **options)
        return stereoset([folder])


def test_methods_of_each_kind(study: studies.Study) -> None:
    for language in LANGUAGES:
        methods = {key[:2] for key in values(study, "table-7", language=language)}
        one_each = {("gpt2", "generative"), ("t5", "generative"), ("bert-nsp", "nsp")}
        assert methods == {*one_each, ("gpt2", "ratio")}
        # everywhere else as in the paper: causal models generative
        assert {key[:2] for key in values(study, "table-3", language=language)} == one_each
        assert {key[0] for key in values(study, "table-2", language=language)} == {"gpt2", "t5", "bert"}


def test_tables_match_the_scores(study: studies.Study, folder: Path) -> None:
    """Single tests as `gest_dataset.score` has them, both together from the joined samples."""
    ratio = read_run(folder / "gpt2-intersentence" / "stereoset_en_intersentence").result["result"]
    own = values(study, "table-7", model="gpt2", language="en", method="ratio")
    assert own == {("LMS",): ratio["lms"], ("SS",): ratio["ss"], ("ICAT",): ratio["icat"]}
    parts = []
    for test in TESTS:
        run = read_run(folder / "gpt2" / f"stereoset_en_{test}")
        parts.append(
            statistic_inputs(MEASURES[run.manifest.measure], run.table, rows_of(run.manifest.config))
        )
    both = statistics.stereoset_icat(**{name: parts[0][name] + parts[1][name] for name in parts[0]})
    found = values(study, "table-5", model="gpt2", language="en", method="generative")
    assert found == {
        ("LMS",): both["multiclass_lms"],
        ("SS",): both["multiclass_ss"],
        ("ICAT macro",): both["macro_icat"],
        ("ICAT micro",): both["micro_icat"],
    }


def test_printed_numbers_of_a_model_of_the_paper(tmp_path: Path, cached: Callable[[Path, str], None]) -> None:
    cached(zoo.directory("gpt2"), "dbmdz/german-gpt2")
    gest_dataset.score("dbmdz/german-gpt2", "stereoset_de_intrasentence", device="cpu", output=tmp_path)
    study = stereoset([tmp_path])
    assert [row[-2] for row in study.table("table-2").rows] == ["79.91", "58.54", "66.27"]


def test_a_candidate_without_a_score_is_named(tmp_path: Path) -> None:
    path = authors(tmp_path / "scores", "gpt2_GPT2LM_GPT2LM_d_en.json", "en", WORST, WORST)
    path.write_text(path.read_text(encoding="utf-8").replace('"id": "', '"id": "x', 1), encoding="utf-8")
    study = stereoset(released=tmp_path / "scores")
    assert f"{path.name} lacks 1 of 16 intrasentence samples." in study.notes
    assert {row[-3] for row in study.table("table-2").rows} == {15}


def test_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="contains no released scores like gpt2_GPT2LM"):
        stereoset(released=tmp_path / "nowhere")
