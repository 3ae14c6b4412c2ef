"""`gest_dataset.score` with several configs: one model, a `Scores` for each, in the order asked."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from transformers import BertConfig, BertForPreTraining

import gest_dataset
from gest_dataset.builders import GROUPS
from gest_dataset.errors import ConfigError, ModelError, ScoringError, SourceError
from gest_dataset.models import score as scoring
from gest_dataset.runs import read_run
from tests.support import zoo

pytestmark = [
    pytest.mark.usefixtures("mirror", "one_thread"),
    pytest.mark.filterwarnings("ignore::gest_dataset.statistics.checks.UndefinedWarning"),
]
BERT = str(zoo.directory("bert"))


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The models that have been loaded."""
    models: list[object] = []

    def loaded(model: object, *arguments: Any, **settings: Any) -> Any:
        models.append(model)
        return real(model, *arguments, **settings)

    real = scoring.load_model
    monkeypatch.setattr(scoring, "load_model", loaded)
    return models


@pytest.mark.parametrize(
    ("asked", "order"),
    [
        ("sk_pairs,en", ["sk_pairs", "en"]),
        (["sk_pairs", "en"], ["sk_pairs", "en"]),
        (("stereoset_de_intersentence", "en"), ["stereoset_de_intersentence", "en"]),
        ("crows", list(GROUPS["crows"])),
        (["en", "crows"], ["en", *GROUPS["crows"]]),
        (["en"], ["en"]),
    ],
)
def test_each_config_has_the_scores_that_it_has_alone(
    asked: Any, order: list[str], loads: list[object]
) -> None:
    animal = str(zoo.directory("gpt2" if "stereoset_de_intersentence" in order else "bert"))
    several = gest_dataset.score(animal, asked, limit=4, device="cpu")
    assert list(several) == order
    assert loads == [animal]
    for config, scores in several.items():
        alone = gest_dataset.score(animal, config, limit=4, device="cpu")
        assert scores.metadata["config"] == config
        assert scores.table.equals(alone.table)
        assert scores.signature == alone.signature


@pytest.mark.parametrize("asked", ["en", " en "])
def test_one_name_is_one_config(asked: str) -> None:
    assert isinstance(gest_dataset.score(BERT, asked, limit=2, device="cpu"), gest_dataset.Scores)


def test_loaded_objects_stay_as_they_are() -> None:
    model, tokenizer = zoo.load("bert")
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    several = gest_dataset.score((model, tokenizer), ["en", "sk_pairs"], limit=3)
    assert list(several) == ["en", "sk_pairs"]
    assert all(weight.equal(before[name]) for name, weight in model.state_dict().items())


def test_a_run_for_each_config(tmp_path: Path) -> None:
    several = gest_dataset.score(BERT, ["sk_pairs", "en"], limit=3, device="cpu", output=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"en", "sk_pairs"}
    for config, scores in several.items():
        run = read_run(tmp_path / config)
        assert run.manifest.signature == scores.signature
        assert "config=['sk_pairs', 'en']" in run.manifest.command[2]
    again = gest_dataset.score(BERT, "sk_pairs,en", limit=3, device="cpu", output=tmp_path)
    assert [scores.metadata for scores in again.values()] == [scores.metadata for scores in several.values()]


def test_what_a_model_cannot_do_is_left_out_of_a_group(caplog: pytest.LogCaptureFixture) -> None:
    t5 = str(zoo.directory("t5"))
    with caplog.at_level(logging.WARNING):
        several = gest_dataset.score(t5, "controls", limit=3, device="cpu")
    assert set(several) < set(GROUPS["controls"])
    assert "crows_control_negation is not scored: has no keywords" in caplog.text
    with pytest.raises(ConfigError, match="crows_control_negation has no keywords"):
        gest_dataset.score(t5, ["slovak_gender", "crows_control_negation"], limit=3, device="cpu")


def test_a_second_head_is_loaded_once(loads: list[object], tmp_path: Path) -> None:
    """Configs between sentences need another head than the others, which has to be in the checkpoint."""
    tokenizer = zoo.load("bert")[1]
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    BertForPreTraining(BertConfig(vocab_size=len(tokenizer), **sizes)).save_pretrained(tmp_path / "both")
    tokenizer.save_pretrained(tmp_path / "both")
    both, between = str(tmp_path / "both"), ["stereoset_de_intersentence", "stereoset_en_intersentence"]
    asked = [between[0], "en", between[1]]
    several = gest_dataset.score(both, asked, limit=3, device="cpu", output=tmp_path / "runs")
    assert list(several) == asked
    assert [scores.metadata["kind"] for scores in several.values()] == ["nsp", "masked", "nsp"]
    assert loads == [both, both]
    assert {path.name for path in (tmp_path / "runs").iterdir()} == {*asked}


def test_a_second_head_that_is_not_there(caplog: pytest.LogCaptureFixture) -> None:
    """It leaves configs of a group out, and is an error of one that was named."""
    lacking = re.escape("has no weights for BertForNextSentencePrediction")
    with caplog.at_level(logging.WARNING):
        group = gest_dataset.score(BERT, "stereoset", limit=3, device="cpu")
    assert set(group) == {name for name in GROUPS["stereoset"] if name.endswith("intrasentence")}
    assert "stereoset_de_intersentence is not scored: the checkpoint has no next-sentence head" in caplog.text
    with caplog.at_level(logging.WARNING):
        named = gest_dataset.score(BERT, ["en", "stereoset_de_intersentence"], limit=3, device="cpu")
    assert list(named) == ["en"]
    assert re.search(f"stereoset_de_intersentence is not scored: .* {lacking}", caplog.text)
    with pytest.raises(ModelError, match=lacking):
        gest_dataset.score(BERT, "stereoset_de_intersentence", limit=3, device="cpu")


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """A source that is not there, for the configs with an ending."""

    def fail(ending: str) -> None:
        def prepared(name: str, *arguments: Any) -> Any:
            if name.endswith(ending):
                raise SourceError("The mirror lacks a file.")
            return real(name, *arguments)

        real = scoring.prepare
        monkeypatch.setattr(scoring, "prepare", prepared)

    return fail


def test_what_fails_leaves_the_others(
    failing: Callable[[str], None], caplog: pytest.LogCaptureFixture
) -> None:
    failing("_pairs")
    with caplog.at_level(logging.WARNING):
        assert list(gest_dataset.score(BERT, ["sk_pairs", "en"], limit=3, device="cpu")) == ["en"]
    assert "sk_pairs is not scored: The mirror lacks a file." in caplog.text


@pytest.mark.parametrize("asked", ["en", ["en"], ["en", "sk_pairs"]])
def test_nothing_at_all_is_an_error(asked: Any, failing: Callable[[str], None]) -> None:
    failing("")
    with pytest.raises(SourceError, match="lacks a file"):
        gest_dataset.score(BERT, asked, limit=3, device="cpu")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ([], "names no config"),
        (["en", 1], "A list cannot be scored"),
        ({"en"}, "A set cannot be scored"),
        (["en", "sk_pair"], "Did you mean 'sk_pairs'"),
    ],
)
def test_wrong_configs_are_said_before_a_model_is_loaded(
    asked: Any, message: str, loads: list[object]
) -> None:
    with pytest.raises(ConfigError, match=message):
        gest_dataset.score(BERT, asked)
    assert not loads


def test_a_metric_takes_one_config() -> None:
    import evaluate

    metric = evaluate.load("gest_stereotype_rate")
    for asked in ("en,sk_pairs", ["en"]):
        with pytest.raises((ConfigError, ScoringError), match="one"):
            metric.compute(model_id=BERT, config=asked, limit=2, device="cpu")
