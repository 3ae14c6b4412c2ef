"""Suites: what a file may hold, all that is wrong with it at once, and those of the papers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gest_dataset import published
from gest_dataset.errors import ConfigError
from gest_dataset.models import placement
from gest_dataset.probes.author_rules import RULES
from gest_dataset.probes.probe import Options
from gest_dataset.published.models import hub_ids, language_models
from gest_dataset.sweep import keys
from gest_dataset.sweep.keys import size
from gest_dataset.sweep.suite import Asking, Needs, Server, Suite, find_suite, read_suite, step_of, suite_of

PAPERS = ("gest-english", "gest-slavic", "word-filling", "stereoset-multi")


def of(**told: Any) -> Suite:
    return suite_of({"configs": "en", **told}, "mine")


def paper(name: str) -> Suite:
    return read_suite(find_suite(f"papers/{name}.yaml")).checked()


def test_everything_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
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
        read_suite(file).checked()
    told = str(error.value).splitlines()
    assert told[0] == "bad has 15 problems; nothing was started."
    for line, start in zip(
        told[1:],
        (
            "- titel: there is no such key (did you mean title?)",
            "- configs: There is no config 'slavik'",
            "- templates: There is no template 9",
            "- price: 'cheap' is not a number",
            "- models[3].dtype: there is no 'float61', only auto",
            "- models[3].revisons: there is no such key (did you mean revisions?)",
            "- models[3].gpus: -1 is less than 0",
            "- models[4].model: it is missing",
            "- models[5].endpoint: 'nowhere' is no address",
            "- models[5].dtype: this is for a model that is loaded here",
            "- models[6].memory: 'much' is no size such as 24GB",
            "- models[6].rules: There is no rule 'nobody'",
            "- models[6].multi_token: 1 is not true or false",
            "- models[7]: 7 is neither a model nor a table with one",
            "- models: gpt2 is there twice",
        ),
        strict=True,
    ):
        assert line.startswith(start), line


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("models: [a\n", "is no YAML"),
        ("models: [a]\nmodels: [b]\n", "line 2: the key 'models' stands twice"),
        ("1: a\n", "the key 1 is no text"),
        ("- a\n", "it holds no table"),
        ("", "it holds no table"),
        ("configs: en\n", "models: there is none"),
        ("models: [a]\n", r"models\[1\].configs: there are none"),
        ("configs: ','\nmodels: [a]\n", "configs: it names no config"),
        ("models: [a]\nconfigs: !!python/object/apply:os.system [ls]\n", "is no YAML"),
    ],
)
def test_a_file_that_is_none(tmp_path: Path, text: str, reason: str) -> None:
    file = tmp_path / "suite.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=reason):
        read_suite(file).checked()


def test_a_file_of_other_bytes(tmp_path: Path) -> None:
    file = tmp_path / "suite.yaml"
    file.write_bytes(b"\xff\xfe models")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_suite(file)


def test_what_is_said_of_a_model_goes_before_what_is_said_of_all() -> None:
    suite = of(
        dtype="float32",
        limit=5,
        models=["gpt2", {"model": "gpt2-xl", "dtype": "float16", "configs": ["crows", "en"]}],
    )
    first, second = suite.checked().subjects
    assert (first.asking.dtype, first.asking.configs, first.asking.limit) == ("float32", ("en",), 5)
    assert (second.asking.dtype, second.asking.configs, second.asking.limit) == (
        "float16",
        ("crows", "en"),
        5,
    )


def test_revisions_are_models_of_their_own_with_their_steps() -> None:
    suite = of(models=[{"model": "EleutherAI/pythia-70m", "revisions": ["step1000", "main"]}]).checked()
    assert [(one.name, one.revision, one.step) for one in suite.subjects] == [
        ("EleutherAI--pythia-70m@step1000", "step1000", 1000),
        ("EleutherAI--pythia-70m@main", "main", None),
    ]
    assert {one.family for one in suite.subjects} == {"EleutherAI--pythia-70m"}


def test_a_number_is_no_revision() -> None:
    suite = of(models=[{"model": "a", "revisions": [1000]}])
    assert suite.problems == (
        "models[1].revisions: [1000] is not a list of texts (numbers stand in quotes).",
    )


def test_checkpoints_of_a_folder_are_found_in_their_order(tmp_path: Path) -> None:
    for step in (10, 9, 100):
        (tmp_path / "out" / f"checkpoint-{step}").mkdir(parents=True)
    (tmp_path / "out" / "runs").mkdir()
    suite = of(models=[{"model": str(tmp_path / "out"), "checkpoints": True, "label": "mine"}]).checked()
    assert [(one.name, one.step) for one in suite.subjects] == [
        ("mine--checkpoint-9", 9),
        ("mine--checkpoint-10", 10),
        ("mine--checkpoint-100", 100),
    ]
    assert [Path(one.model).name for one in suite.subjects] == [
        "checkpoint-9",
        "checkpoint-10",
        "checkpoint-100",
    ]


def test_a_folder_without_checkpoints(tmp_path: Path) -> None:
    suite = of(models=[{"model": str(tmp_path), "checkpoints": True}])
    assert suite.problems == (f"models[1].checkpoints: {tmp_path} holds no folder checkpoint-NUMBER.",)


def test_one_model_asked_in_two_ways_has_two_labels() -> None:
    way = {"model": "gpt2", "intersentence": "ratio", "label": "gpt2-ratio"}
    suite = of(models=["gpt2", way]).checked()
    assert [one.name for one in suite.subjects] == ["gpt2", "gpt2-ratio"]
    assert [one.asking.options.intersentence for one in suite.subjects] == ["auto", "ratio"]


def test_a_model_on_this_disk_is_named_by_its_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "model").mkdir()
    monkeypatch.chdir(tmp_path)
    assert of(models=["./model"]).checked().subjects[0].model == str(tmp_path / "model")


def test_a_served_model() -> None:
    (one,) = (
        of(models=[{"model": "big", "endpoint": "http://host:8000/v1/", "tokenizer": "t", "connections": 4}])
        .checked()
        .subjects
    )
    assert one.server == Server("http://host:8000", "t", 4)
    assert one.told()["endpoint"] == "http://host:8000"


@pytest.mark.parametrize(("text", "bytes_"), [("24GB", 24e9), ("1.5T", 1.5e12), (7, 7), ("512 mb", 512e6)])
def test_sizes(text: str | int, bytes_: float) -> None:
    assert size(text) == bytes_


@pytest.mark.parametrize("name", PAPERS)
def test_a_suite_of_a_paper_is_found_by_any_of_its_names(name: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_suite(name) == find_suite(f"{name}.yaml") == find_suite(f"papers/{name}.yaml")


def test_a_suite_that_is_nowhere(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"There is no file .*none\.yaml.*papers/gest-english\.yaml"):
        find_suite(str(tmp_path / "none.yaml"))
    with pytest.raises(ConfigError, match="is a folder"):
        find_suite(str(tmp_path))


def test_the_file_of_a_user_goes_before_that_of_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "gest-english.yaml").write_text("configs: en\nmodels: [mine]\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert read_suite(find_suite("papers/gest-english.yaml")).subjects[0].model == "mine"


# ---- what the papers have printed --------------------------------------------------------------------------


def test_the_english_suite_has_the_models_of_both_tables_in_their_templates_and_precision() -> None:
    suite = paper("gest-english")
    names = {hub_id: model.name for model in language_models().values() for hub_id in model.hub_ids}
    printed = {
        table: {(row["model"], row["template"]) for row in published.load(f"gest_english_{table}")["rows"]}
        for table in ("mlm", "glm")
    }
    asked = {
        (names[one.model], template)
        for one in suite.subjects
        for template in one.asking.options.templates or ()
        if isinstance(template, int)
    }
    assert asked == printed["mlm"] | printed["glm"]
    assert {one.asking.configs for one in suite.subjects} == {("en_1_0",)}
    millions = {model.name: model.millions for model in language_models().values()}
    halved = {names[one.model] for one in suite.subjects if one.asking.dtype == "float16"}
    causal = {model for model, _ in printed["glm"]}
    assert halved == {name for name in causal if millions[name] > 3000}
    assert {one.asking.dtype for one in suite.subjects} == {"float16", "float32"}


def test_the_slavic_suite_has_the_models_and_languages_of_its_table() -> None:
    rows = published.load("gest_slavic_mlm")["rows"]
    suite = paper("gest-slavic")
    assert {one.model for one in suite.subjects} == {row["model"] for row in rows}
    assert {one.asking.configs for one in suite.subjects} == {("slavic",)}


def test_the_suite_of_word_filling_asks_what_its_tables_have() -> None:
    printed = {
        (row["model"], row["config"])
        for table in ("ss", "cs", "f")
        for row in published.load(f"word_filling_{table}")["rows"]
    }
    suite = paper("word-filling")
    asked = {(one.model, config) for one in suite.subjects for config in one.asking.configs}
    assert asked == printed
    assert {one.asking.options.rules for one in suite.subjects} == {tuple(RULES)}


def test_the_suite_of_stereoset_asks_each_model_in_its_languages() -> None:
    printed = {
        (row["handle"], f"stereoset_{row['language']}_{test}")
        for test in ("intrasentence", "intersentence")
        for row in published.load(f"stereoset_{test}")["rows"]
    }
    suite = paper("stereoset-multi")
    as_it_suits = [one for one in suite.subjects if one.asking.options.intersentence == "auto"]
    assert {(one.model, config) for one in as_it_suits for config in one.asking.configs} == printed
    ratio = {
        (row["handle"], f"stereoset_{row['language']}_intersentence")
        for row in published.load("stereoset_ways")["rows"]
        if row["way"] == "ratio"
    }
    apart = [one for one in suite.subjects if one.asking.options.intersentence == "ratio"]
    assert {(one.model, config) for one in apart for config in one.asking.configs} == ratio


def test_quantizations_are_those_that_can_be_loaded() -> None:
    assert set(keys.QUANTIZATIONS) == set(placement.QUANTIZATIONS)
    (one,) = of(models=[{"model": "a", "quantization": "8bit"}]).checked().subjects
    assert one.asking.told()["quantization"] == "8bit"


def test_steps() -> None:
    assert [step_of(text) for text in ("step143000", "v1-step-20", "main")] == [143000, 20, None]
    assert hub_ids("gpt2")[0] == "gpt2"


# ---- small things that a suite can have wrong, or right ----------------------------------------------------


def test_what_is_wrong_for_all_models_is_told_once() -> None:
    suite = of(rules="nobody", models=["gpt2", "roberta-base"])
    (problem,) = suite.problems
    assert problem.startswith("rules: There is no rule 'nobody'")


def test_every_config_that_is_unknown_is_told() -> None:
    (problem,) = of(configs=["slavik", "en", "crowz"], models=["gpt2"]).problems
    assert "'slavik'" in problem
    assert "'crowz'" in problem
    assert problem.endswith("?")


def test_names_that_differ_in_their_case_would_share_a_folder() -> None:
    assert of(models=["gpt2", "GPT2"]).problems == (
        "models: GPT2 is there twice. Give one of the two a `label` of its own.",
    )


def test_what_a_served_model_cannot_have() -> None:
    wrong = {
        **{"revisions": ["main"], "checkpoints": True, "gpus": 1, "memory": "1GB", "dtype": "float16"},
        **{"quantization": "8bit", "trust_remote_code": True, "batch_tokens": 9, "null": 2},
    }
    suite = of(models=[{"model": "big", "endpoint": "http://host:1", **wrong}])
    told = [problem for problem in suite.problems if "is for a model that is loaded here" in problem]
    assert [problem.partition(":")[0] for problem in told] == [f"models[1].{key}" for key in wrong]


def test_what_only_a_served_model_has() -> None:
    told = of(models=[{"model": "gpt2", "tokenizer": "gpt2", "connections": 3}]).problems
    assert [problem.partition(":")[0] for problem in told] == ["models[1].tokenizer", "models[1].connections"]


def test_what_is_said_of_all_models_leaves_a_served_one() -> None:
    entry = {"model": "big", "endpoint": "http://host:1"}
    given = {"dtype": "float16", "null": 2, "batch_tokens": 9, "quantization": "4bit"}
    (one,) = of(models=[entry], limit=5, trust_remote_code=True, **given).checked().subjects
    assert one.asking == Asking(("en",), Options(), limit=5)


@pytest.mark.parametrize("address", ["http://name:word@host:1", "ftp://host", "host"])
def test_a_wrong_address_is_one_problem(address: str) -> None:
    suite = of(models=[{"model": "big", "endpoint": address}])
    (problem,) = suite.problems
    assert problem.startswith("models[1].endpoint: ")
    assert suite.subjects == ()  # nothing looks for `big` on the Hub


def test_revisions_that_are_none() -> None:
    assert of(models=[{"model": "a", "revisions": []}]).problems == (
        "models[1].revisions: the list is empty; leave it out for the newest one.",
    )


def test_checkpoints_have_no_revisions(tmp_path: Path) -> None:
    (tmp_path / "checkpoint-1").mkdir()
    both = {"model": str(tmp_path), "checkpoints": True, "revisions": ["main"]}
    assert of(models=[both]).problems == (
        "models[1].revisions: checkpoints of a folder have none; list either.",
    )


@pytest.mark.parametrize(("key", "value"), [("gpus", True), ("limit", True), ("price", True), ("limit", 0)])
def test_true_is_no_number_and_nothing_is_none(key: str, value: Any) -> None:
    entry = {"model": "gpt2"} | ({key: value} if key == "gpus" else {})
    suite = of(models=[entry], **({} if key == "gpus" else {key: value}))
    assert len(suite.problems) == 1


def test_a_price_is_a_number_from_nothing_up() -> None:
    assert of(models=["gpt2"], price=2).checked().price == 2.0
    for wrong in (-1.0, float("nan"), float("inf")):
        assert of(models=["gpt2"], price=wrong).problems == (f"price: {wrong} is no price.",)


def test_what_a_model_needs() -> None:
    (one, other) = of(models=[{"model": "a", "gpus": 2, "cpus": 3, "memory": "24GB"}, "b"]).checked().subjects
    assert one.needs == Needs(2, 3, 24 * 10**9)
    assert other.needs == Needs(None, 1, None)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("templates", [1]), ("multi_token", True), ("cs", True), ("intersentence", "ratio")),
        *(("rules", "authors"), ("null", 2), ("limit", 3), ("batch_tokens", 64), ("dtype", "float16")),
        *(("quantization", "8bit"), ("revisions", ["main"])),
    ],
)
def test_a_cell_that_is_asked_otherwise_is_told_apart(key: str, value: Any) -> None:
    plain, changed = (of(models=[{"model": "m", **more}]).subjects[0] for more in ({}, {key: value}))
    assert plain.told() != changed.told()
