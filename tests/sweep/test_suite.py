"""Suites: validation reports all problems at once; the built-in suites match the papers' tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gest_dataset import published
from gest_dataset.errors import ConfigError
from gest_dataset.probes.author_rules import RULES
from gest_dataset.probes.probe import Options
from gest_dataset.published.models import language_models
from gest_dataset.sweep.suite import (
    LOADED_ONLY,
    ScoreSettings,
    Suite,
    SuiteModel,
    find_suite,
    parse_suite,
    read_suite,
    training_step,
)

PAPERS = ("gest-english", "gest-slavic", "word-filling", "stereoset-multi")


def parse(**content: Any) -> Suite:
    return parse_suite({"configs": "en", **content}, "mine")


def valid(**content: Any) -> tuple[SuiteModel, ...]:
    suite = parse(**content)
    suite.check()
    return suite.models


def built_in(name: str) -> tuple[SuiteModel, ...]:
    suite = read_suite(find_suite(f"papers/{name}.yaml"))
    suite.check()
    return suite.models


def test_all_problems_are_reported_at_once(tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(
        """
titel: Bad
configs: [en, slavik, crows]
templates: [1, 9]
price: cheap
models:
  - gpt2
  - gpt2
  - {model: roberta-base, dtype: float61, revisons: [main], gpus: -1}
  - {label: nobody}
  - {model: mine, endpoint: nowhere, dtype: float16}
  - {model: yours, memory: much, rules: [authors, nobody], multi_token: 1}
  - 7
""",
        encoding="utf-8",
    )
    with pytest.raises(ConfigError) as error:
        read_suite(file).check()
    lines = str(error.value).splitlines()
    assert lines[0] == "Problems in bad (15); nothing was started."
    assert {line.partition(":")[0] for line in lines[1:]} == {
        *("- titel", "- configs", "- templates", "- price"),
        *("- models[3].dtype", "- models[3].revisons", "- models[3].gpus"),
        *("- models[4].model", "- models[5].endpoint", "- models[5].dtype"),
        *("- models[6].memory", "- models[6].rules", "- models[6].multi_token", "- models[7]", "- models"),
    }
    text = "\n".join(lines)
    assert "did you mean title?" in text
    assert "did you mean revisions?" in text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("models: [a\n", "is not valid YAML"),
        ("models: [a]\nmodels: [b]\n", "the key 'models' is duplicated"),
        ("1: a\n", "the key 1 is not a string"),
        ("- a\n", "is not a suite"),
        ("", "is not a suite"),
        ("configs: en\n", "models: the list is missing or empty"),
        ("models: [a]\n", r"models\[1\].configs: give configs"),
        ("configs: ','\nmodels: [a]\n", "configs: no config is named"),
        ("models: [a]\nconfigs: !!python/object/apply:os.system [ls]\n", "is not valid YAML"),
    ],
)
def test_invalid_files(tmp_path: Path, text: str, reason: str) -> None:
    file = tmp_path / "suite.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=reason):
        read_suite(file).check()


def test_settings_of_a_model_override_those_of_the_suite() -> None:
    entry = {"model": "gpt2-xl", "dtype": "float16", "configs": ["crows", "en"]}
    first, second = (one.settings for one in valid(dtype="float32", limit=5, models=["gpt2", entry]))
    assert (first.dtype, first.configs, first.limit) == ("float32", ("en",), 5)
    assert (second.dtype, second.configs, second.limit) == ("float16", ("crows", "en"), 5)


def test_each_revision_is_a_model_with_its_training_step() -> None:
    models = valid(models=[{"model": "EleutherAI/pythia-70m", "revisions": ["step1000", "main"]}])
    assert [(one.name, one.revision, one.step) for one in models] == [
        ("EleutherAI--pythia-70m@step1000", "step1000", 1000),
        ("EleutherAI--pythia-70m@main", "main", None),
    ]
    assert {one.family for one in models} == {"EleutherAI--pythia-70m"}


def test_checkpoints_are_sorted_by_step(tmp_path: Path) -> None:
    for step in (10, 9, 100):
        (tmp_path / "out" / f"checkpoint-{step}").mkdir(parents=True)
    (tmp_path / "out" / "runs").mkdir()
    models = valid(models=[{"model": str(tmp_path / "out"), "checkpoints": True, "label": "mine"}])
    assert [(one.name, one.step) for one in models] == [
        ("mine--checkpoint-9", 9),
        ("mine--checkpoint-10", 10),
        ("mine--checkpoint-100", 100),
    ]
    assert [Path(one.model).name for one in models] == [f"checkpoint-{step}" for step in (9, 10, 100)]


def test_training_steps() -> None:
    assert [training_step(text) for text in ("step143000", "v1-step-20", "main")] == [143000, 20, None]


@pytest.mark.parametrize(
    ("entry", "key"),
    [
        ({"model": "a", "revisions": [1000]}, "models[1].revisions"),
        ({"model": "a", "revisions": []}, "models[1].revisions"),
        ({"model": "/nonexistent", "checkpoints": True}, "models[1].checkpoints"),
        ({"model": "gpt2", "tokenizer": "gpt2"}, "models[1].tokenizer"),
        ({"model": "gpt2", "gpus": True}, "models[1].gpus"),
        ({"model": "gpt2", "limit": 0}, "models[1].limit"),
        ({"model": "gpt2", "quantization": "2bit"}, "models[1].quantization"),
        *(
            ({"model": "big", "endpoint": address}, "models[1].endpoint")
            for address in ("http://name:word@host:1", "ftp://host", "host")
        ),
    ],
)
def test_invalid_entries_are_one_problem(entry: dict[str, Any], key: str) -> None:
    (problem,) = parse(models=[entry]).problems
    assert problem.partition(":")[0] == key


def test_two_models_cannot_share_a_folder() -> None:
    (problem,) = {one.replace("GPT2", "gpt2") for one in parse(models=["gpt2", "GPT2"]).problems}
    assert "different `label`" in problem
    entry = {"model": "gpt2", "intersentence": "ratio", "label": "gpt2-ratio"}
    first, second = valid(models=["gpt2", entry])
    assert (first.name, second.name) == ("gpt2", "gpt2-ratio")
    assert (first.settings.options.intersentence, second.settings.options.intersentence) == ("auto", "ratio")


def test_a_local_model_has_an_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model").mkdir()
    monkeypatch.chdir(tmp_path)
    assert valid(models=["./model"])[0].model == str(tmp_path / "model")


def test_a_served_model_ignores_settings_for_loaded_models() -> None:
    entry = {"model": "big", "endpoint": "http://host:8000/v1/", "tokenizer": "t", "connections": 4}
    given = {"dtype": "float16", "null": 2, "batch_tokens": 9, "quantization": "4bit"}
    (model,) = valid(models=[entry], limit=5, trust_remote_code=True, **given)
    assert (model.endpoint, model.tokenizer, model.connections) == ("http://host:8000", "t", 4)
    assert model.settings == ScoreSettings(("en",), Options(), limit=5)


def test_a_served_model_cannot_have_them_itself() -> None:
    wrong = {
        **{"revisions": ["main"], "checkpoints": True, "gpus": 1, "memory": "1GB", "dtype": "float16"},
        **{"quantization": "8bit", "trust_remote_code": True, "batch_tokens": 9, "null": 2},
    }
    problems = parse(models=[{"model": "big", "endpoint": "http://host:1", **wrong}]).problems
    found = [problem for problem in problems if "does not apply to a served model" in problem]
    assert {problem.partition(":")[0] for problem in found} == {f"models[1].{key}" for key in LOADED_ONLY}


def test_resources_and_price() -> None:
    one, other = valid(models=[{"model": "a", "gpus": 2, "cpus": 3, "memory": "24GB"}, "b"])
    assert (one.gpus, one.cpus, one.memory) == (2, 3, 24 * 10**9)
    assert (other.gpus, other.cpus, other.memory) == (None, 1, None)
    assert parse(models=["gpt2"], price=2).price == 2.0
    for wrong in (-1.0, float("nan"), True):
        assert len(parse(models=["gpt2"], price=wrong).problems) == 1


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
    names = {hub_id: model.name for model in language_models().values() for hub_id in model.hub_ids}
    printed = {
        table: {(row["model"], row["template"]) for row in published.load(f"gest_english_{table}")["rows"]}
        for table in ("mlm", "glm")
    }
    scored = {
        (names[one.model], template) for one in models for template in one.settings.options.templates or ()
    }
    assert scored == printed["mlm"] | printed["glm"]
    assert {one.settings.configs for one in models} == {("en_1_0",)}
    millions = {model.name: model.millions for model in language_models().values()}
    halved = {names[one.model] for one in models if one.settings.dtype == "float16"}
    causal = {model for model, _ in printed["glm"]}
    assert halved == {name for name in causal if millions[name] > 3000}
    assert {one.settings.dtype for one in models} == {"float16", "float32"}


def test_the_slavic_suite_has_the_models_of_table_11() -> None:
    rows = published.load("gest_slavic_mlm")["rows"]
    models = built_in("gest-slavic")
    assert {one.model for one in models} == {row["model"] for row in rows}
    assert {one.settings.configs for one in models} == {("slavic",)}


def test_the_word_filling_suite_has_the_cells_of_its_tables() -> None:
    printed = {
        (row["model"], row["config"])
        for table in ("ss", "cs", "f")
        for row in published.load(f"word_filling_{table}")["rows"]
    }
    models = built_in("word-filling")
    assert {(one.model, config) for one in models for config in one.settings.configs} == printed
    assert {one.settings.options.rules for one in models} == {tuple(RULES)}


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
        own = cells[one.settings.options.intersentence]
        own.update((one.model, config) for config in one.settings.configs)
    assert cells == {"auto": printed, "ratio": ratio}
