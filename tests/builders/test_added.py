"""Configs that a user has added: there at once and everywhere, and nothing damaged gets in the way."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from datasets import ClassLabel, List, Value, get_dataset_config_names, load_dataset

from gest_dataset import builders, languages
from gest_dataset.builders import CONFIGS, GROUPS, fingerprint, get_config, select_configs
from gest_dataset.builders.config import Family, Field
from gest_dataset.builders.keeping import forget, keep
from gest_dataset.builders.pairs import FIELDS, pair_row
from gest_dataset.custom.store import NewConfig
from gest_dataset.data import build
from gest_dataset.data.card import write_card
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.languages import LANGUAGES, Language

HINDI = Language("hi", "Hindi", "hin", script="Deva", family="Indo-Aryan")
FAMILY = Family("hi", "GEST in Hindi", "What it is.", "https://example.org", "@misc{mine}", "Few rows.")
LABELS = Field("who translated it", List(ClassLabel(names=["mine", "theirs"])))
NEW = NewConfig(
    "hi_pairs", FAMILY, "Pairs in Hindi", ("hi", "en"), "CC0-1.0", {**FIELDS, "systems": LABELS}, {"same": 2}
)


def rows(*endings: tuple[str, str]) -> list[dict[str, Any]]:
    made = [
        pair_row("hi", ["theirs"], 3, "I am tired.", f"मैं {masculine} हूँ", f"मैं {feminine} हूँ")
        for masculine, feminine in endings or [("थका", "थकी"), ("गया", "गई")]
    ]
    assert not any(isinstance(row, str) for row in made)
    return made  # type: ignore[return-value]


@pytest.fixture
def hindi(home: Path) -> Path:
    """A home with Hindi and one config."""
    languages.add(HINDI)
    keep(NEW, rows())
    return home


def test_an_added_config_is_there_at_once(hindi: Path) -> None:
    loaded = load_dataset("gest", "hi_pairs", split="test")
    assert loaded["masculine"] == ["मैं थका हूँ", "मैं गया हूँ"]
    assert loaded.features["systems"] == LABELS.feature
    assert loaded["systems"] == [[1], [1]]
    assert loaded.info.license == "CC0-1.0"
    assert get_dataset_config_names("gest")[-1] == "hi_pairs"
    assert CONFIGS["hi_pairs"].fields["systems"] == LABELS
    assert list(select_configs("added")) == ["hi_pairs"]
    assert "hi_pairs" not in select_configs("all"), "all is the same on every machine"
    with pytest.raises(ConfigError, match="Did you mean 'hi_pairs'"):
        get_config("hi_pair")


def python(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "GEST_HOME": str(home), "COLUMNS": "100"}
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=True)


def test_another_process_finds_it(hindi: Path) -> None:
    shown = python(hindi, "-m", "gest_dataset", "list", "--json")
    told = {facts["name"]: facts for facts in json.loads(shown.stdout)["configs"]}["hi_pairs"]
    assert (told["rows"], told["languages"], told["groups"]) == (2, ["hi", "en"], ["added"])
    assert told["added"]
    code = "import gest_dataset, datasets; print(datasets.load_dataset('gest', 'hi_pairs')['test'].num_rows)"
    assert python(hindi, "-c", code).stdout.strip() == "2"


def test_the_built_folder_and_its_card_have_it(hindi: Path, tmp_path: Path) -> None:
    out = tmp_path / "built"
    built, _ = build.build_config(CONFIGS["hi_pairs"], out)
    assert (built.rows, built.dropped) == (2, {"same": 2})
    write_card(out)
    card = (out / "README.md").read_text(encoding="utf-8")
    for said in ("## GEST in Hindi", "| `hi_pairs` | same | 2 |", "- hi\n", "CC0-1.0", "Few rows."):
        assert said in card
    assert load_dataset(str(out), "hi_pairs", split="test").num_rows == 2
    build.check_build_folder(out)


def test_a_code_with_a_script_can_be_built(home: Path, tmp_path: Path) -> None:
    """The line of checksums has to take the hyphen."""
    languages.add(replace(HINDI, code="hi-Latn", script="Latn"))
    keep(replace(NEW, name="hi-Latn_pairs", languages=("hi-Latn", "en")), rows())
    built, _ = build.build_config(CONFIGS["hi-Latn_pairs"], tmp_path)
    assert build.find_built(built.config, tmp_path) == built


def test_adding_again(hindi: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in hindi.rglob("*")}
    assert keep(NEW, rows()).published_rows == 2
    assert {path: path.stat().st_mtime_ns for path in hindi.rglob("*")} == before, "nothing is written"
    with pytest.raises(ConfigError, match=r"was added before, and is another one. Replace it"):
        keep(NEW, rows(("थका", "थकी")))
    with pytest.raises(ConfigError, match="was added before"):
        keep(replace(NEW, description="Other words"), rows())
    assert CONFIGS["hi_pairs"].published_rows == 2
    mark = fingerprint(CONFIGS["hi_pairs"])
    assert keep(NEW, rows(("थका", "थकी")), replace=True).published_rows == 1
    assert fingerprint(CONFIGS["hi_pairs"]) != mark
    assert load_dataset("gest", "hi_pairs", split="test").num_rows == 1
    assert len(list(hindi.rglob("*.parquet"))) == 1


def test_words_of_the_facts_are_in_the_fingerprint(hindi: Path) -> None:
    everything, own = fingerprint(), fingerprint(CONFIGS["hi_pairs"])
    english = fingerprint(CONFIGS["en"])
    keep(replace(NEW, licence="MIT"), rows(), replace=True)
    assert fingerprint() != everything
    assert fingerprint(CONFIGS["hi_pairs"]) != own
    assert fingerprint(CONFIGS["en"]) == english


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": "sk_pairs"}, "sk_pairs is a name that gest-dataset has itself"),
        ({"name": "SK_pairs"}, "sk_pairs is a name that gest-dataset has itself"),
        ({"name": "slavic"}, "slavic is a name"),
        ({"name": "added"}, "added is a name"),
        ({"name": "../hi"}, "is no name of a config"),
        ({"name": "a,b"}, "is no name of a config"),
        ({"languages": ("xx",)}, "There is no language 'xx'"),
        ({"family": replace(FAMILY, name="pairs")}, "'pairs' is a data set of gest-dataset"),
    ],
)
def test_what_cannot_be_added(home: Path, change: dict[str, Any], said: str) -> None:
    languages.add(HINDI)
    with pytest.raises(ConfigError, match=said):
        keep(replace(NEW, **change), rows())
    assert not (home / "configs").exists()
    assert "added" not in GROUPS


def test_no_rows_are_no_config(home: Path) -> None:
    languages.add(HINDI)
    with pytest.raises(ConfigError, match="has no rows"):
        keep(NEW, [])


def test_two_names_that_one_file_system_cannot_tell_apart(hindi: Path) -> None:
    with pytest.raises(ConfigError, match="There is a config hi_pairs"):
        keep(replace(NEW, name="HI_pairs"), rows())


def test_bulgarian_pairs_are_new_and_its_language_is_not(home: Path) -> None:
    keep(replace(NEW, name="bg_pairs", languages=("bg", "en")), rows())
    assert "bg_pairs" in CONFIGS
    assert "bg_pairs" not in select_configs("slavic")


def test_taken_away(hindi: Path) -> None:
    forget("hi_pairs")
    assert "hi_pairs" not in CONFIGS
    assert not list((hindi / "configs").iterdir())
    for name in ("hi_pairs", "sk_pairs", "../languages"):
        with pytest.raises(ConfigError, match=r"was added. Those that were: there is none"):
            forget(name)


def damage(home: Path, **changes: Any) -> None:
    file = home / "configs" / "hi_pairs" / "facts.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


@pytest.mark.parametrize(
    "changes",
    [
        {"family": None},
        {"family": {"name": "x"}},
        {"languages": ["xx"]},
        {"languages": []},
        {"languages": [1]},
        {"rows": -1},
        {"rows": True},
        {"sha256": "../../x"},
        {"fields": {}},
        {"fields": {"id": {"meaning": "m", "feature": {"_type": "Nothing"}}}},
        {"fields": {"id": {"meaning": "m", "feature": {"dtype": "no", "_type": "Value"}}}},
        {"fields": {"id": {"meaning": "m"}}},
        {"dropped": {"same": "many"}},
        {"licence": ["\ud800"]},
    ],
)
def test_damaged_facts_are_no_hindrance_to_others(
    hindi: Path, changes: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    keep(replace(NEW, name="hi_other"), rows())
    damage(hindi, **changes)
    with caplog.at_level(logging.WARNING, "gest_dataset"):
        builders.refresh()
    assert [record.getMessage().split(":")[0] for record in caplog.records] == ["hi_pairs cannot be used"]
    assert list(select_configs("added")) == ["hi_other"]
    with pytest.raises(DataError, match=r"is not as it was written|is no JSON") as caught:
        get_config("hi_pairs")
    assert "Add hi_pairs again, or remove" in str(caught.value)
    forget("hi_pairs")


def damage_all(home: Path, content: bytes) -> None:
    (home / "configs" / "hi_pairs" / "facts.json").write_bytes(content)
    (home / "languages" / "hi" / "facts.json").write_bytes(content)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b"[" * 100_000, b'"\\ud800"'])
def test_facts_that_are_no_json(hindi: Path, content: bytes, caplog: pytest.LogCaptureFixture) -> None:
    damage_all(hindi, content)
    languages.refresh()
    builders.refresh()
    assert "hi" not in LANGUAGES
    assert "hi_pairs" not in CONFIGS
    said = [record.getMessage().split(":")[0] for record in caplog.records]
    assert said == ["hi cannot be used", "hi_pairs cannot be used"]


def test_what_is_damaged_or_not_ours_is_told_by_the_command(hindi: Path) -> None:
    damage_all(hindi, b"{")
    (hindi / "configs" / ".DS_Store").write_bytes(b"")
    (hindi / "configs" / "notes.txt").write_bytes(b"")
    (hindi / "configs" / "sk_pairs").mkdir()
    shown = python(hindi, "-m", "gest_dataset", "list")
    assert "│ sk_pairs " in shown.stdout
    for name in ("hi", "hi_pairs", "notes.txt", "sk_pairs"):
        assert shown.stderr.count(f"{name} cannot be used") == 1
    assert ".DS_Store" not in shown.stderr
    assert "Traceback" not in shown.stderr


def test_a_folder_with_a_name_of_our_own_is_not_taken_for_it(hindi: Path) -> None:
    (hindi / "configs" / "hi_pairs").rename(hindi / "configs" / "sk_pairs")
    builders.refresh()
    assert CONFIGS["sk_pairs"].added is None
    assert "added" not in GROUPS


def test_changed_rows_are_an_error_of_that_config(hindi: Path) -> None:
    (file,) = hindi.rglob("*.parquet")
    content = bytearray(file.read_bytes())
    content[100] ^= 1
    file.write_bytes(content)
    config = get_config("hi_pairs")
    with pytest.raises(DataError, match=r"is not as it was written. Add hi_pairs again"):
        list(config.read({}, Counter()))
    with pytest.raises(DataError, match="is not as it was written"):
        load_dataset("gest", "hi_pairs", download_mode="force_redownload")
    file.unlink()
    with pytest.raises(DataError, match="cannot be read: No such file"):
        list(config.read({}, Counter()))
    keep(NEW, rows(), replace=True)
    assert load_dataset("gest", "hi_pairs", split="test").num_rows == 2


def test_languages(home: Path) -> None:
    languages.add(HINDI)
    assert list(LANGUAGES)[-1] == "hi"
    languages.add(HINDI)
    with pytest.raises(ConfigError, match="was added with other facts"):
        languages.add(replace(HINDI, name="Hindustani"))
    assert languages.add(replace(HINDI, name="Hindustani"), replace=True) == LANGUAGES["hi"]
    assert languages.target_languages("hi") == ["hi"]
    with pytest.raises(ConfigError, match="sk is Slovak, which is there already"):
        languages.add(replace(LANGUAGES["sk"], name="Other"))
    with pytest.raises(ConfigError, match="is no code"):
        languages.add(replace(HINDI, code="../x"))
    languages.remove("hi")
    assert "hi" not in LANGUAGES


def test_a_field_of_any_type(home: Path) -> None:
    """What a config of somebody else's making may hold."""
    fields = {"id": Field("a name"), "share": Field("a number", Value("float64"))}
    new = replace(NEW, name="mine", languages=("sk",), fields=fields, dropped={})
    keep(new, [{"id": "a", "share": 0.5}, {"id": "b", "share": None}])
    assert load_dataset("gest", "mine", split="test")["share"] == [0.5, None]
