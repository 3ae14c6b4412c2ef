"""`gest list`: the table, and all facts as JSON."""

from __future__ import annotations

import json

from gest_dataset.builders import CONFIGS, GROUPS, select_configs
from tests.commands.conftest import Gest


def test_list_shows_every_config(gest: Gest) -> None:
    shown = gest("list")
    assert shown.returncode == 0
    for name, config in CONFIGS.items():
        line = next(line for line in shown.stdout.splitlines() if f"│ {name} " in line)
        assert f"{config.published_rows:,}" in line


def test_list_shows_the_groups(gest: Gest) -> None:
    line = gest("list").stdout.splitlines()[-1]
    assert line.startswith("Groups: ")
    for group in GROUPS:
        assert f"{group} ({len(select_configs(group))})" in line


def test_json_has_all_facts_and_the_groups(gest: Gest) -> None:
    shown = gest("list", "--json")
    assert shown.returncode == 0
    listed = json.loads(shown.stdout)
    assert listed["default"] == "en"
    assert [facts["name"] for facts in listed["configs"]] == list(CONFIGS)
    for facts in listed["configs"]:
        config = CONFIGS[facts["name"]]
        assert facts["rows"] == config.published_rows
        assert facts["exact"] == config.exact
        assert facts["fields"] == config.features.to_dict()
        assert facts["languages"] == list(config.languages)
        assert facts["sources"] == list(config.sources)
        assert facts["demo"] == facts["name"].startswith("demo_")
        assert facts["licence"]
        assert listed["families"][facts["family"]]["citation"] == config.family.citation
        for group in facts["groups"]:
            assert facts["name"] in listed["groups"][group]
    assert listed["groups"] == {group: list(select_configs(group)) for group in GROUPS}


def test_json_in_an_encoding_that_lacks_letters(gest_process: Gest) -> None:
    shown = gest_process("list", "--json", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert shown.returncode == 0
    assert json.loads(shown.stdout)["families"]["gest"]["title"] == CONFIGS["en"].family.title


def test_a_wrong_option_is_wrong_use(gest: Gest) -> None:
    assert gest("list", "--jsno").returncode == 2
