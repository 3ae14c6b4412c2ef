"""Which configs of a list a kind of model can do, and that a misfit is a wrong use."""

from __future__ import annotations

import pytest

from gest_dataset.builders import GROUPS, select_configs
from gest_dataset.errors import ConfigError, ScoringError
from gest_dataset.models.device import pick_device, pick_dtype
from gest_dataset.models.selection import split


def test_all_leaves_the_collected_sentences_and_the_demo_out() -> None:
    chosen, left_out = split(select_configs("all"), "masked", "m")
    assert "annotations" not in chosen
    assert left_out["annotations"].endswith("name it to score it")
    assert not set(GROUPS["demo"]) & {*chosen, *left_out}
    assert "en" in chosen


def test_what_is_named_is_scored() -> None:
    chosen, _ = split(select_configs("all,annotations,demo"), "masked", "m")
    assert {"annotations", *GROUPS["demo"]} <= set(chosen)
    assert split(select_configs("annotations"), "causal", "m") == (["annotations"], {})


@pytest.mark.parametrize(
    ("asked", "kind", "message"),
    [
        ("sk_translations", "masked", "No probe reads sk_translations"),
        ("slovak_gender", "causal", "needs a masked or seq2seq one"),
        ("crows_control_negation", "seq2seq", "has no keywords"),
        ("crows", "causal", "No config is left for m, a causal model"),
    ],
)
def test_what_does_not_fit_is_a_wrong_use_of_scoring(asked: str, kind: str, message: str) -> None:
    for family in (ConfigError, ScoringError):
        with pytest.raises(family, match=message) as caught:
            split(select_configs(asked), kind, "m")
        assert caught.value.exit_code == 2  # type: ignore[attr-defined]


def test_a_device_or_a_dtype_that_is_not_there_is_a_wrong_use() -> None:
    for asked in ("abacus", "cuda:99"):
        with pytest.raises(ConfigError, match="device"):
            pick_device(asked)
    with pytest.raises(ConfigError, match="There is no dtype 'int3'"):
        pick_dtype("int3", pick_device("cpu"))
