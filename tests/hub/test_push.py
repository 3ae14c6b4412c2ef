"""Pushes of configs and metrics: what they add or replace, and what stays unchanged."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
import yaml
from datasets import (
    Dataset,
    concatenate_datasets,
    get_dataset_config_names,
    get_dataset_default_config_name,
    load_dataset,
)
from huggingface_hub import DatasetCard

import gest_dataset
from gest_dataset.builders import CONFIGS
from gest_dataset.errors import ConfigError, HubError
from gest_dataset.hub.push import Plan
from gest_dataset.hub.repository import NEW, REMOVED
from gest_dataset.translation.sentences import gest_sentences
from tests.hub.conftest import is_commit
from tests.support.hub import Fault, Hub, Repository
from tests.support.hub.repositories import File
from tests.support.new_language import translations_file, write_csv

pytestmark = pytest.mark.usefixtures("mirror", "quick_viewer")

SET = "org/gest"
ABOUT = ("README.md",)  # what a push writes beside the rows
BY_HAND = b"""---
license: 'mit'
language: [no]   # Norwegian

extra_gated_fields:
    - found
pretty_name: "Ours"
configs:
  - config_name: mine
    data_files: mine/*.parquet
---

# By hand  \r
Trailing blanks \x20 \n and\ttabs stay.

| a | table |
"""


@pytest.fixture
def quick_viewer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The viewer's server, which `datasets` asks for what it knows of a dataset, has no name here."""
    monkeypatch.setattr("datasets.config.USE_PARQUET_EXPORT", False)


def loaded(name: str | None, tmp_path: Path, **options: str) -> Dataset:
    return load_dataset(SET, name, split="test", cache_dir=str(tmp_path / "rows"), **options)


def check(hub: Hub, tmp_path: Path, *names: str, default: str | None = None, revision: str = "main") -> None:
    """Every config loads with the rows and types that were built, and the default is what it was."""
    # `datasets` asks for the names by the branch
    assert set(get_dataset_config_names(SET, revision=revision)) >= set(names)
    assert get_dataset_default_config_name(SET, revision=revision) == default
    for name in names:
        theirs = loaded(name, tmp_path, revision=revision)
        ours = load_dataset("gest", name, split="test")
        assert theirs.features == ours.features
        assert theirs.to_list() == ours.to_list()


def rows_of(tmp_path: Path) -> bytes:
    """A file of somebody else's config."""
    path = tmp_path / "theirs.parquet"
    Dataset.from_dict({"x": [1]}).to_parquet(path)
    return path.read_bytes()


def card(hub: Hub, revision: str = "main") -> str:
    return hub.read(hub.dataset(SET), "README.md", revision).decode()


def titles(repository: Repository) -> list[str]:
    return [commit.title for commit in repository.history()][::-1]


def test_a_new_repository(hub: Hub, tmp_path: Path) -> None:
    (done,) = gest_dataset.push(SET, "sk_pairs,en,stereoset_control_gender")
    assert done.plan.parts == dict.fromkeys(("sk_pairs", "en", "stereoset_control_gender", *ABOUT), NEW)
    assert titles(hub.dataset(SET)) == ["initial commit", "Push sk_pairs, en, stereoset_control_gender"]
    assert done.committed.commit == hub.dataset(SET).head.oid
    check(hub, tmp_path, "sk_pairs", "en", "stereoset_control_gender", default="en")
    DatasetCard(card(hub)).validate()
    assert loaded(None, tmp_path).config_name == "en"


def test_a_conflicting_commit_stays(hub: Hub, tmp_path: Path, waits: list[float]) -> None:
    gest_dataset.push(SET, "en")
    plans: list[Plan] = []

    def between() -> None:
        text = card(hub).replace("<!-- gest", "\nTheirs.\n<!-- gest", 1)
        text = text.replace("configs:\n", "configs:\n- config_name: theirs\n  data_files: theirs.parquet\n")
        hub.commit(hub.dataset(SET), {"README.md": text.encode(), "theirs.parquet": b"!"}, "theirs")

    hub.fault = Fault("conflict", where=is_commit, between=between)
    (done,) = gest_dataset.push(SET, "sk_pairs", on_plan=plans.append)
    assert titles(hub.dataset(SET)) == ["initial commit", "Push en", "theirs", "Push sk_pairs"]
    assert done.committed.made
    assert "\nTheirs.\n" in card(hub)
    assert "theirs.parquet" in hub.dataset(SET).head.files
    check(hub, tmp_path, "en", "sk_pairs", default="en")
    assert [plan.unaffected for plan in plans] == [("en",), ("theirs", "en")]


def test_text_of_others_stays_byte_for_byte(hub: Hub, tmp_path: Path) -> None:
    hub.add("dataset", SET, {"README.md": BY_HAND, "mine/a.parquet": rows_of(tmp_path), "notes.txt": b"n"})
    gest_dataset.push(SET, "sk_pairs")
    text = hub.read(hub.dataset(SET), "README.md")
    assert BY_HAND.partition(b"\n---\n")[2] in text
    assert text.index(b"license:") < text.index(b"extra_gated_fields:\n- found\npretty_name: Ours\n")
    header = yaml.safe_load(text.split(b"---\n")[1])
    assert set(header["language"]) == {"no", "sk", "en"}
    # the repository has data under both licences now: theirs, and that of our data
    assert (header["license"], header["pretty_name"]) == (["mit", "apache-2.0"], "Ours")
    assert b"<!-- gest push: begin about" not in text  # the card has an introduction of its own
    check(hub, tmp_path, "sk_pairs", default="mine")
    assert load_dataset(SET, "mine", split="train", cache_dir=str(tmp_path / "rows"))["x"][:] == [1]


def test_only_our_sections_are_rewritten(hub: Hub) -> None:
    gest_dataset.push(SET, "en,sk_pairs")
    text = card(hub)
    edited = text.replace("## GEST\n", "## edited\n").replace(
        "<!-- gest push: end family pairs -->", "<!-- gest push: end family pairs -->\n\nMine.\n"
    )
    hub.commit(hub.dataset(SET), {"README.md": edited.encode()})
    gest_dataset.push(SET, "en")
    assert card(hub) == edited.replace("## edited\n", "## GEST\n")


def test_the_text_does_not_depend_on_the_order_of_pushes(hub: Hub) -> None:
    gest_dataset.push(SET, "en_1_0,sk_pairs,winobias_type1_dev,cs_pairs,en")
    at_once = card(hub).partition("\n---\n")[2]
    assert "\n- GEST\n- GEST, gender-swapped pairs\n- WinoBias\n\n" in at_once
    assert at_once.count("@inproceedings{pikuliak-etal-2024-women,") == 1
    for names in ("en,winobias_type1_dev", "sk_pairs", "cs_pairs,en_1_0", "en"):
        gest_dataset.push("org/other", names)
    text = hub.read(hub.dataset("org/other"), "README.md").decode()
    assert text.partition("\n---\n")[2].replace("org/other", SET) == at_once


def test_what_is_known_of_other_configs_stays(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    gest_dataset.push(SET, "en,sk_pairs,winobias_type1_dev")
    before = card(hub)
    monkeypatch.delitem(CONFIGS, "sk_pairs")  # a language of another user
    monkeypatch.delitem(CONFIGS, "winobias_type1_dev")
    gest_dataset.push(SET, "en_1_0")
    text = card(hub)
    assert "\n- GEST\n- `sk_pairs`\n- `winobias_type1_dev`\n\n" in text
    entries = (
        "\n| `sk_pairs` |",
        "\n| WinoBias |",
        "\n## WinoBias\n",
        "@inproceedings{zhao-etal-2018-gender,",
    )
    for entry in (*entries, "Example (`en`)"):
        assert before.count(entry) == text.count(entry) == 1


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_line_endings_stay(hub: Hub, newline: str) -> None:
    text = newline.join(["---", "license: mit", "---", "Mine.", ""])
    hub.add("dataset", SET, {"README.md": text.encode()})
    gest_dataset.push(SET, "en")
    written = card(hub)
    assert written.count("\n") == written.count(newline)
    assert not gest_dataset.push(SET, "en")[0].plan.has_changes


def test_only_files_of_an_earlier_push_are_removed(hub: Hub, tmp_path: Path) -> None:
    files = {
        "README.md": b"---\nconfigs:\n- config_name: en\n  data_files: data/*.parquet\n- config_name: both\n"
        b"  data_files:\n  - split: test\n    path: [shared/*.parquet, data/b.parquet]\n---\n",
        "data/a.parquet": b"PAR1",
        "data/b.parquet": b"PAR1",
        "data/deep/c.parquet": b"PAR1",
        "en/test-00000-of-00002.parquet": b"PAR1",
        "en/notes.txt": b"n",
        "shared/d.parquet": b"PAR1",
    }
    hub.add("dataset", SET, files)
    (done,) = gest_dataset.push(SET, "en")
    removed = {path for path, status in done.plan.parts.items() if status == REMOVED}
    assert removed == {"en/test-00000-of-00002.parquet"}
    assert set(hub.dataset(SET).head.files) == set(files) - removed | {
        "en/test-00000-of-00001.parquet",
        ".gitattributes",
    }
    check(hub, tmp_path, "en", default="en")


@pytest.mark.parametrize(
    ("card", "reason"),
    [
        (b"---\nlicense: [mit\n---\nMine.\n", r"Nothing was changed; fix README\.md"),
        (b"---\nconfigs: 7\n---\n", r"Nothing was changed; fix README\.md"),
        (b"---\nlicense: mit\n---\n\xff\xfe", r"Nothing was changed; fix README\.md"),
        (b"---\nlicense: mit\n", "no closing line"),
        (b"---\nconfigs:\n- config_name: a\n  data_files: a.csv\n---\n", "is not Parquet"),
        (b"---\nlicense: mit\n---\n", "belongs to no config in the card"),
    ],
)
def test_a_refused_push_changes_nothing(hub: Hub, card: bytes, reason: str) -> None:
    path = "data/a.parquet" if "belongs" in reason else "notes.txt"
    repository = hub.add("dataset", SET, {"README.md": card, path: b"x\n1\n"})
    before = repository.head
    with pytest.raises(HubError, match=reason):
        gest_dataset.push(SET, "en")
    assert repository.head is before


def test_a_pull_request_a_branch_and_a_dry_run(hub: Hub, tmp_path: Path) -> None:
    gest_dataset.push(SET, "en")
    head = hub.dataset(SET).head
    (dry,) = gest_dataset.push(SET, "sk_pairs", dry_run=True)
    assert dry.plan.has_changes
    (opened,) = gest_dataset.push(SET, "sk_pairs", create_pr=True)
    assert opened.committed.pull_request == f"{hub.url}/datasets/{SET}/discussions/1"
    gest_dataset.push(SET, "sl_pairs", revision="next")
    assert hub.dataset(SET).head is head
    check(hub, tmp_path, "en", "sk_pairs", default="en", revision="refs/pr/1")
    check(hub, tmp_path, "en", "sl_pairs", default="en", revision="next")
    gest_dataset.push(SET, "uk_pairs", revision="refs/pr/1")
    check(hub, tmp_path, "en", "sk_pairs", "uk_pairs", default="en", revision="refs/pr/1")
    hub.dataset(SET).merge(1, "ann")
    check(hub, tmp_path, "en", "sk_pairs", "uk_pairs", default="en")
    with pytest.raises(ConfigError, match="--create-pr"):
        gest_dataset.push(SET, "en", create_pr=True, revision="next")


def test_an_open_pull_request_is_found_by_its_files(hub: Hub) -> None:
    """Not by its title: somebody else's has the same one, and a card that cannot be read."""
    gest_dataset.push(SET, "en")
    repository = hub.dataset(SET)
    card = b"---\na: [\n---\n"
    made = repository.make(
        repository.head, {"README.md": File(len(card), card)}, "Push sk_pairs", "somebody", ""
    )
    repository.open_pull_request(made)
    found = [gest_dataset.push(SET, "sk_pairs", create_pr=True)[0].committed for _ in range(2)]
    url = f"{hub.url}/datasets/{SET}/discussions/2"
    assert [(one.made, one.pull_request) for one in found] == [(True, url), (False, url)]


@pytest.mark.parametrize(
    ("configs", "default"),
    [
        ("- config_name: a\n  FILES- config_name: b\n  FILES", "en"),
        ("- config_name: a\n  FILES- config_name: b\n  default: true\n  FILES", "b"),
        ("- config_name: a\n  FILES- config_name: default\n  FILES", "default"),
        ("- config_name: en\n  default: true\n  FILES", "en"),
    ],
)
def test_the_default_stays(hub: Hub, tmp_path: Path, configs: str, default: str) -> None:
    configs = configs.replace("FILES", "data_files: a.parquet\n")
    hub.add(
        "dataset",
        SET,
        {"README.md": f"---\nconfigs:\n{configs}---\n".encode(), "a.parquet": rows_of(tmp_path)},
    )
    (done,) = gest_dataset.push(SET, "en,sk_pairs")
    assert done.plan.default == default
    check(hub, tmp_path, "en", "sk_pairs", default=default)


@pytest.mark.usefixtures("home")
def test_a_users_language(hub: Hub, tmp_path: Path) -> None:
    """Its card names its own licence and source, and its rows can be joined with built-in ones."""
    texts = [sentence.text for sentence in gest_sentences()][2:]
    rows = [(texts[0], "मैं कल घर जा रहा था।", "मैं कल घर जा रही थी।"), (texts[1], "मैं रोया था।", "मैं रोई थी।")]
    variants = write_csv(tmp_path / "v.csv", ["source", "masculine", "feminine"], rows)
    translations = translations_file(tmp_path / "t.csv", "hi")
    add = partial(gest_dataset.add_language, "hi", translations, variants, max_words=2, replace=True)
    add()
    gest_dataset.push(SET, "added")
    assert DatasetCard(card(hub)).data.license == ["unknown"]
    for claim in ("apache", "kinit-sk", "cc-by"):
        assert claim not in card(hub).lower()
    add(licence="CC-BY-4.0", source="https://example.org/hi")
    for names in ("added", "sk_pairs,sk_translations"):
        gest_dataset.push(SET, names)
        assert "\n| GEST in Hindi | CC-BY-4.0 | [hi](https://example.org/hi) | " in card(hub)
    for kind in ("pairs", "translations"):
        both = [loaded(f"{code}_{kind}", tmp_path) for code in ("hi", "sk")]
        assert {*concatenate_datasets(both)["language"]} == {"hi", "sk"}
    assert {*loaded("hi_pairs", tmp_path)["masculine_word"]} == {"रहा था", "रोया था"}
