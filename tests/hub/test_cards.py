"""Cards pass what the Hub asks of them, through the real client; a wrong one does not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from datasets import load_dataset
from huggingface_hub import DatasetCard, HfApi, SpaceCard
from huggingface_hub.errors import BadRequestError

from gest_dataset.builders import BUILT_IN, CONFIGS, select_configs
from gest_dataset.data.card import hub_ids
from gest_dataset.hub.push import merge_card
from gest_dataset.measures import MEASURES
from gest_dataset.register import METRICS
from tests.conftest import ROOT
from tests.hub.conftest import built
from tests.support.dataset_card import published
from tests.support.hub import Hub, pointed_at, running
from tests.support.hub.cards import wrong_tasks


@pytest.fixture(scope="module")
def hub() -> Iterator[Hub]:
    with running() as hub, pointed_at(hub.url):
        yield hub


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All configs, with what describes them."""
    return built(tmp_path_factory.mktemp("built"), CONFIGS)


def test_dataset_card_is_valid(hub: Hub, folder: Path) -> None:
    card = DatasetCard.load(folder / "README.md")
    card.validate()
    assert [request.path for request in hub.requests][-1:] == ["/api/validate-yaml"]
    assert set(card.data.language) == {code for config in CONFIGS.values() for code in config.languages}
    assert card.data.task_categories == ["fill-mask", "text-generation", "translation"]
    assert card.data.size_categories == ["1K<n<10K"]
    assert [config["config_name"] for config in card.data.configs] == list(CONFIGS)
    assert [config["config_name"] for config in card.data.configs if config.get("default")] == ["en"]


def test_pushed_card_of_all_configs_is_below_48_kb() -> None:
    """All that `gest build` writes, with the upstream number of rows."""
    with published(BUILT_IN[name] for name in select_configs("all")) as builds:
        card = merge_card(b"", builds, "organisation/gest").decode()
    assert len(builds) == 59
    assert all(f"- config_name: {built.config.name}\n" in card for built in builds)
    assert all(f"## {built.config.family.title}\n" in card for built in builds)
    assert len(card.encode()) < 48 * 1024


def test_licences_are_those_of_the_sources() -> None:
    """In the Hub's words; a licence that it does not know is `other`."""
    licences = hub_ids(config.licence for config in CONFIGS.values())
    assert licences == ["apache-2.0", "cc-by-sa-3.0", "cc-by-sa-4.0", "mit", "unknown"]
    assert hub_ids(["not stated (from WTFPL)", "Mine, MIT"]) == ["mit", "other", "unknown"]


@pytest.mark.parametrize("name", METRICS)
def test_metric_cards_are_valid(hub: Hub, name: str) -> None:
    card = SpaceCard.load(ROOT / "metrics" / name / "README.md")
    card.validate()
    assert (card.data.sdk, card.data.license) == ("gradio", "apache-2.0")


def test_a_built_folder_is_taken_whole(hub: Hub, folder: Path, tmp_path: Path) -> None:
    """The client validates the card, and the Hub card and tasks."""
    hub.add_account("ann", "hf_of_ann")
    hub.add("dataset", "ann/gest")
    api = HfApi(token="hf_of_ann")
    api.upload_folder(repo_id="ann/gest", repo_type="dataset", folder_path=folder)
    copy = Path(api.snapshot_download("ann/gest", repo_type="dataset", local_dir=tmp_path))
    assert set(hub.dataset("ann/gest").head.files) - {".gitattributes"} == {
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    }
    rows = load_dataset(str(copy), "en", split="test", cache_dir=str(tmp_path / "rows"))
    assert rows.to_list() == load_dataset(str(folder), "en", split="test").to_list()
    tasks = (folder / "eval.yaml").read_text(encoding="utf-8")
    text = tasks.replace("tasks:", "evaluation_framework: ours\ntasks:")
    with pytest.raises(BadRequestError, match="Invalid input at evaluation_framework"):
        api.upload_file(
            repo_id="ann/gest", repo_type="dataset", path_or_fileobj=text.encode(), path_in_repo="eval.yaml"
        )


def test_tasks_are_valid_and_each_is_of_a_config_that_is_there(folder: Path) -> None:
    text = (folder / "eval.yaml").read_text(encoding="utf-8")
    assert wrong_tasks(text) == []
    tasks = yaml.safe_load(text)["tasks"]
    ids = [task["id"] for task in tasks]
    assert len(ids) == len({*ids})
    assert {task["config"] for task in tasks} <= CONFIGS.keys()
    probes = [measure.probe for measure in MEASURES.values() if measure.probe]
    scored = {c.name for c in CONFIGS.values() if any(probe.fields <= set(c.features) for probe in probes)}
    assert {id for id in ids if "_to_" not in id} == scored
    assert "en_to_sk" in ids
