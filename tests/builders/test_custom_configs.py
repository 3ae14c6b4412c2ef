"""Configs and languages that a user added: available at once, and damage does not affect the others."""

from __future__ import annotations

import json
import logging
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from datasets import get_dataset_config_names, load_dataset

from gest_dataset import builders, languages
from gest_dataset.builders import CONFIGS, GROUPS, fingerprint, get_config, select_configs
from gest_dataset.builders.config import Config, Family
from gest_dataset.builders.pairs import pair_row
from gest_dataset.custom.store import NewConfig, add_configs, remove_config
from gest_dataset.data import build
from gest_dataset.data.card import write_card
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.languages import LANGUAGES, Language

HINDI = Language("hi", "Hindi", "hin", script="Deva", family="Indo-Aryan")
FAMILY = Family("hi", "GEST in Hindi", "What it is.", "https://example.org", "@misc{mine}", "Few rows.")
NEW = NewConfig("hi_pairs", FAMILY, "Pairs in Hindi", ("hi", "en"), "CC0-1.0", "pairs", {"same": 2})


def rows(*endings: tuple[str, str]) -> list[dict[str, Any]]:
    made = [
        pair_row(None, "hi", ["theirs"], 3, "I am tired.", f"मैं {masculine} हूँ", f"मैं {feminine} हूँ")
        for masculine, feminine in endings or [("थका", "थकी"), ("गया", "गई")]
    ]
    assert not any(isinstance(row, str) for row in made)
    return made  # type: ignore[return-value]


def add(new: NewConfig, rows: list[dict[str, Any]], replace: bool = False) -> Config:
    (config,) = add_configs([(new, rows)], replace)
    return config


@pytest.fixture
def hindi(home: Path) -> Path:
    """A folder of user data with Hindi and one config."""
    languages.add(HINDI)
    add(NEW, rows())
    return home


def test_an_added_config_is_available_at_once(hindi: Path) -> None:
    loaded = load_dataset("gest", "hi_pairs", split="test")
    assert loaded["masculine"] == ["मैं थका हूँ", "मैं गया हूँ"]
    assert loaded.features == CONFIGS["sk_pairs"].features
    assert loaded.info.license == "CC0-1.0"
    assert get_dataset_config_names("gest")[-1] == "hi_pairs"
    assert list(select_configs("added")) == ["hi_pairs"]
    assert "hi_pairs" not in select_configs("all")
    with pytest.raises(ConfigError, match="Did you mean 'hi_pairs'"):
        get_config("hi_pair")


def test_a_custom_config_in_a_built_folder(hindi: Path, tmp_path: Path) -> None:
    out = tmp_path / "built"
    built, _ = build.build_config(CONFIGS["hi_pairs"], out)
    assert (built.rows, built.dropped) == (2, {"same": 2})
    write_card(out)
    card = (out / "README.md").read_text(encoding="utf-8")
    row = "| `hi_pairs` | 2 | Pairs in Hindi | 2 |"
    for text in ("## GEST in Hindi", row, "- hi\n", "| GEST in Hindi | CC0-1.0 |", "Few rows."):
        assert text in card
    assert "kinit-sk" not in card
    assert "Apache" not in card
    assert load_dataset(str(out), "hi_pairs", split="test").num_rows == 2
    build.check_build_folder(out)


def test_a_different_config_is_replaced_only_with_replace(hindi: Path) -> None:
    assert add(NEW, rows()).published_rows == 2
    with pytest.raises(ConfigError, match="hi_pairs already exists with different rows"):
        add(NEW, rows(("थका", "थकी")))
    with pytest.raises(ConfigError, match="already exists"):
        add(replace(NEW, description="Other words"), rows())
    before = fingerprint(CONFIGS["hi_pairs"])
    assert add(NEW, rows(("थका", "थकी")), replace=True).published_rows == 1
    assert fingerprint(CONFIGS["hi_pairs"]) != before
    assert load_dataset("gest", "hi_pairs", split="test").num_rows == 1
    assert len(list(hindi.rglob("*.parquet"))) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "SK_pairs"}, "sk_pairs is built into gest-dataset"),
        ({"name": "../hi"}, "is not a valid config name"),
    ],
)
def test_invalid_configs_are_refused(home: Path, change: dict[str, Any], message: str) -> None:
    languages.add(HINDI)
    with pytest.raises(ConfigError, match=message):
        add(replace(NEW, **change), rows())
    with pytest.raises(ConfigError, match="has no rows"):
        add(NEW, [])
    assert not (home / "configs").exists()
    assert "added" not in GROUPS


def test_remove_config(hindi: Path) -> None:
    remove_config("hi_pairs")
    assert "hi_pairs" not in CONFIGS
    assert not list((hindi / "configs").iterdir())
    for name in ("hi_pairs", "sk_pairs", "../languages"):
        with pytest.raises(ConfigError, match="is not a config that you added"):
            remove_config(name)


@pytest.mark.parametrize("change", [{"languages": ["xx"]}, None])
def test_a_damaged_config_does_not_affect_others(
    hindi: Path, change: dict[str, Any] | None, caplog: pytest.LogCaptureFixture
) -> None:
    add(replace(NEW, name="hi_other"), rows())
    file = hindi / "configs" / "hi_pairs" / "facts.json"
    file.write_text("{" if change is None else json.dumps({**json.loads(file.read_text()), **change}))
    with caplog.at_level(logging.WARNING, "gest_dataset"):
        builders.refresh()
    assert [record.getMessage().split(":")[0] for record in caplog.records] == ["hi_pairs cannot be used"]
    assert list(select_configs("added")) == ["hi_other"]
    with pytest.raises(DataError, match=r"is damaged .* Add hi_pairs again, or remove"):
        get_config("hi_pairs")
    remove_config("hi_pairs")


def test_changed_rows_are_an_error(hindi: Path) -> None:
    (file,) = hindi.rglob("*.parquet")
    content = bytearray(file.read_bytes())
    content[100] ^= 1
    file.write_bytes(content)
    with pytest.raises(DataError, match=r"is damaged. Add hi_pairs again"):
        load_dataset("gest", "hi_pairs", download_mode="force_redownload")
    file.unlink()
    with pytest.raises(DataError, match="cannot be read: No such file"):
        list(get_config("hi_pairs").read({}, Counter()))
    add(NEW, rows(), replace=True)
    assert load_dataset("gest", "hi_pairs", split="test").num_rows == 2


def test_custom_languages(home: Path) -> None:
    languages.add(HINDI)
    assert list(LANGUAGES)[-1] == "hi"
    languages.add(HINDI)
    with pytest.raises(ConfigError, match="hi already exists"):
        languages.add(replace(HINDI, name="Hindustani"))
    assert languages.add(replace(HINDI, name="Hindustani"), replace=True) == LANGUAGES["hi"]
    assert languages.target_languages("hi") == ["hi"]
    with pytest.raises(ConfigError, match="is built in and cannot be changed"):
        languages.add(replace(LANGUAGES["sk"], name="Other"))
    with pytest.raises(ConfigError, match="is not a language code"):
        languages.add(replace(HINDI, code="../x"))
    languages.remove("hi")
    assert "hi" not in LANGUAGES
