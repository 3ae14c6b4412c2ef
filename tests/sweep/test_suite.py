"""Suites: validation reports all problems at once; the built-in suites match the papers' tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gest_dataset import published
from gest_dataset.errors import ConfigError
from gest_dataset.probes.options import RULES
from gest_dataset.published.models import language_models
from gest_dataset.sweep.suite import Suite, SuiteModel, find_suite, parse_suite, read_suite

PAPERS = ("gest-english", "gest-slavic", "word-filling", "stereoset-multi")


def parse(**content: Any) -> Suite:
    return parse_suite({"configs": "en", **content}, "mine")


def built_in(name: str) -> Sequence[SuiteModel]:
    return read_suite(find_suite(f"papers/{name}.yaml")).models


def test_all_problems_are_reported_at_once() -> None:
    entries = [
        *("gpt2", "gpt2", 7),
        {"model": "a", "dtype": "float61"},
        {"model": "b", "revisons": ["main"]},
        {"label": "nobody"},
        {"model": "c", "endpoint": "ftp://host"},
        {"model": "d", "memory": "much"},
        {"model": "e", "rules": ["authors", "nobody"]},
        {"model": "f", "configs": ["en", "slavik"]},
        {"model": "g", "tokenizer": "gpt2"},
        {"model": "/nonexistent", "checkpoints": True},
        *({"model": "h", "endpoint": "http://host", key: 1} for key in ("gpus", "null")),
    ]
    with pytest.raises(ConfigError) as error:
        parse(models=entries)
    lines = str(error.value).splitlines()
    assert lines[0] == "Problems in mine (13); nothing was started."
    places = [line.partition(":")[0] for line in lines[1:]]
    assert places == [*(f"- models[{number}]" for number in range(3, 15)), "- gpt2, gpt2"]
    for part in ("did you mean revisions?", "a served model does not take gpus", "different `label`"):
        assert part in str(error.value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("models: [a\n", "is not valid YAML"),
        ("", "is not a suite"),
        ("configs: en\n", "models: the list is missing or empty"),
        ("models: [a]\n", r"models\[1\]: .* names no config"),
        ("titel: a\nconfigs: en\nmodels: [a]\n", "unknown key titel; did you mean title"),
        ("models: [a]\nconfigs: !!python/object/apply:os.system [ls]\n", "is not valid YAML"),
    ],
)
def test_invalid_files(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "suite.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=reason):
        read_suite(tmp_path / "suite.yaml")


def test_settings_of_a_model_override_those_of_the_suite() -> None:
    entry = {"model": "gpt2-xl", "dtype": "float16", "configs": ["crows", "en"]}
    first, second = parse(dtype="float32", limit=5, models=["gpt2", entry]).models
    assert (first.dtype, first.selected, first.limit) == ("float32", ["en"], 5)
    crows = ["crows_gender", "crows_gender_revised", "en"]
    assert (second.dtype, second.selected, second.limit) == ("float16", crows, 5)


def test_each_revision_is_a_model_with_its_training_step() -> None:
    models = parse(models=[{"model": "EleutherAI/pythia-70m", "revisions": ["step1000", "main"]}]).models
    assert [(one.name, one.revision, one.step) for one in models] == [
        ("EleutherAI--pythia-70m@step1000", "step1000", 1000),
        ("EleutherAI--pythia-70m@main", "main", None),
    ]
    assert {one.family for one in models} == {"EleutherAI--pythia-70m"}
    commit = "50f5173d932e8e61f858120bcb800b97af589f46"
    (pinned,) = parse(models=[{"model": "gpt2", "revision": commit}]).models
    assert (pinned.name, pinned.revision, pinned.step) == ("gpt2", commit, None)
    (listed,) = parse(models=[{"model": "gpt2", "revisions": [commit]}]).models
    assert (listed.name, listed.step) == (f"gpt2@{commit}", None)


def test_checkpoints_are_sorted_by_step(tmp_path: Path) -> None:
    for step in (10, 9, 100):
        (tmp_path / "out" / f"checkpoint-{step}").mkdir(parents=True)
    (tmp_path / "out" / "runs").mkdir()
    models = parse(models=[{"model": str(tmp_path / "out"), "checkpoints": True, "label": "mine"}]).models
    assert [(one.name, one.step) for one in models] == [
        ("mine--checkpoint-9", 9),
        ("mine--checkpoint-10", 10),
        ("mine--checkpoint-100", 100),
    ]
    assert [Path(one.model).name for one in models] == [f"checkpoint-{step}" for step in (9, 10, 100)]


def test_a_label_names_a_model_that_is_listed_twice() -> None:
    entry = {"model": "gpt2", "intersentence": "ratio", "label": "gpt2-ratio"}
    first, second = parse(models=["gpt2", entry]).models
    assert (first.name, second.name) == ("gpt2", "gpt2-ratio")
    assert (first.intersentence, second.intersentence) == ("auto", "ratio")
    with pytest.raises(ConfigError, match="different `label`"):
        parse(models=["gpt2", "GPT2"])


def test_a_served_model_has_no_settings_for_loaded_models() -> None:
    entry = {"model": "big", "endpoint": "http://host:8000/v1/", "tokenizer": "t", "connections": 4}
    given = {"dtype": "float16", "null": 2, "batch_tokens": 9, "quantization": "4bit", "gpus": 1}
    (model,) = parse(models=[entry], limit=5, **given).models
    assert (model.endpoint, model.tokenizer, model.connections) == ("http://host:8000", "t", 4)
    assert (model.dtype, model.null, model.gpus, model.limit) == ("auto", 0, None, 5)


def test_resources_and_price() -> None:
    one, other = parse(models=[{"model": "a", "gpus": 2, "cpus": 3, "memory": "24GB"}, "b"]).models
    assert (one.gpus, one.cpus, one.memory) == (2, 3, 24 * 10**9)
    assert (other.gpus, other.cpus, other.memory) == (None, 1, 0)
    assert parse(models=["gpt2"], price=2).price == 2.0
    with pytest.raises(ConfigError, match="price"):
        parse(models=["gpt2"], price="cheap")


def test_suites_are_found_by_path_or_built_in_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in PAPERS:
        assert find_suite(name) == find_suite(f"{name}.yaml") == find_suite(f"papers/{name}.yaml")
    for missing in ("none.yaml", str(tmp_path)):
        with pytest.raises(ConfigError, match=r"does not exist.*papers/gest-english\.yaml"):
            find_suite(missing)
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "gest-english.yaml").write_text("configs: en\nmodels: [mine]\n", encoding="utf-8")
    assert read_suite(find_suite("papers/gest-english.yaml")).models[0].model == "mine"


# ---- the built-in suites and the papers' tables ------------------------------------------------------------


def test_the_english_suite_has_the_models_templates_and_precision_of_tables_9_and_10() -> None:
    models = built_in("gest-english")
    names = {hub_id: name for name, model in language_models().items() for hub_id in model["hub_ids"]}
    printed = {
        table: {(row["model"], row["template"]) for row in published.load(f"gest_english_{table}")["rows"]}
        for table in ("mlm", "glm")
    }
    scored = {(names[one.model], template) for one in models for template in one.templates or ()}
    assert scored == printed["mlm"] | printed["glm"]
    assert {one.configs for one in models} == {"en_1_0"}
    millions = {name: model["millions"] for name, model in language_models().items()}
    halved = {names[one.model] for one in models if one.dtype == "float16"}
    causal = {model for model, _ in printed["glm"]}
    assert halved == {name for name in causal if millions[name] > 3000}
    assert {one.dtype for one in models} == {"float16", "float32"}


def test_the_slavic_suite_has_the_models_of_table_11() -> None:
    rows = published.load("gest_slavic_mlm")["rows"]
    models = built_in("gest-slavic")
    assert {one.model for one in models} == {row["model"] for row in rows}
    assert {one.configs for one in models} == {"slavic"}


def test_the_word_filling_suite_has_the_cells_of_its_tables() -> None:
    printed = {
        (row["model"], row["config"])
        for table in ("ss", "cs", "f")
        for row in published.load(f"word_filling_{table}")["rows"]
    }
    models = built_in("word-filling")
    assert {(one.model, config) for one in models for config in one.selected} == printed
    assert {one.rules for one in models} == {tuple(RULES)}


def test_the_stereoset_suite_has_each_model_in_its_languages() -> None:
    printed = {
        (row["handle"], f"stereoset_{row['language']}_{test}")
        for test in ("intrasentence", "intersentence")
        for row in published.load(f"stereoset_{test}")["rows"]
    }
    ratio = {
        (row["handle"], f"stereoset_{row['language']}_intersentence")
        for row in published.load("stereoset_ways")["rows"]
        if row["way"] == "ratio"
    }
    cells: dict[str, set[tuple[str, str]]] = {"auto": set(), "ratio": set()}
    for one in built_in("stereoset-multi"):
        own = cells[one.intersentence]
        own.update((one.model, config) for config in one.selected)
    assert cells == {"auto": printed, "ratio": ratio}
