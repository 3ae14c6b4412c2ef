"""Configs by names and groups, and what is said of a wrong one."""

from __future__ import annotations

import pytest
from datasets import load_dataset

from gest_dataset.builders import CONFIGS, GROUPS, get_config, select_configs
from gest_dataset.errors import ConfigError
from gest_dataset.languages import SLAVIC


def test_names_and_groups() -> None:
    assert list(select_configs("slavic")) == [f"{code}_pairs" for code in SLAVIC]
    assert select_configs(" en , crows,en") == {"en": True, "crows_gender": False, "crows_gender_revised": False}


def test_a_name_of_its_own_counts_before_and_after_its_group() -> None:
    assert select_configs("sk_pairs,slavic")["sk_pairs"]
    assert select_configs("slavic,sk_pairs")["sk_pairs"]
    assert list(select_configs("sk_pairs,slavic")) == [
        "sk_pairs",
        *(name for name in GROUPS["slavic"] if name != "sk_pairs"),
    ]


def test_all_is_everything_but_the_demo() -> None:
    assert set(select_configs("all")) == {name for name, config in CONFIGS.items() if not config.embedded}
    assert set(select_configs("all,demo")) == set(CONFIGS)
    assert all(config.embedded for name, config in CONFIGS.items() if name in select_configs("demo"))


@pytest.mark.parametrize("asked", ["", ",", " , "])
def test_no_name_at_all(asked: str) -> None:
    with pytest.raises(ConfigError, match=r"names no config\. Give names, or groups: slavic"):
        select_configs(asked)


def test_an_unknown_config_names_the_five_nearest() -> None:
    with pytest.raises(ConfigError) as caught:
        get_config("sk_pair")
    first, second = str(caught.value).splitlines()
    assert first == "There is no config 'sk_pair'. Did you mean 'sk_pairs'?"
    nearest = second.removeprefix("The nearest are ").split(". ")[0].split(", ")
    assert nearest[0] == "sk_pairs"
    assert len(nearest) == len(set(nearest) & set(CONFIGS)) == 5
    assert second.endswith("gest list")


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("slavik", "the group 'slavic'"),
        ("Controls", "the group 'controls'"),
        ("stereosets", "the group 'stereoset'"),
    ],
)
def test_a_group_that_is_near_is_named(asked: str, meant: str) -> None:
    for call in (get_config, names):
        with pytest.raises(ConfigError) as caught:
            call(asked)
        assert f"{meant}?" in str(caught.value).splitlines()[0]


@pytest.mark.parametrize("asked", ["slavic", "all", "en,sk_pairs"])
def test_several_where_one_is_needed(asked: str) -> None:
    """One call loads one data set."""
    with pytest.raises(ConfigError) as caught:
        load_dataset("gest", asked)
    assert "names several configs, and one is needed here" in str(caught.value)
    assert f"for config in select_configs({asked!r})" in str(caught.value)
    assert f"gest_dataset.score(MODEL, {asked!r})" in str(caught.value)
    assert f"gest score MODEL --config {asked}" in str(caught.value)
