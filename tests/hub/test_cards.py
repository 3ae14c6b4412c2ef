"""Cards pass what the Hub asks of them, through the real client; a wrong one does not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import mlcroissant
import pytest
import yaml
from datasets import load_dataset
from huggingface_hub import (
    DatasetCard,
    DatasetCardData,
    HfApi,
    SpaceCard,
    SpaceCardData,
)
from huggingface_hub.errors import BadRequestError
from huggingface_hub.repocard import metadata_load

from gest_dataset.builders import CONFIGS
from gest_dataset.builders.config import Config
from gest_dataset.data import build
from gest_dataset.data.card import write_card
from gest_dataset.data.croissant import write_croissant
from gest_dataset.data.licences import hub_ids
from gest_dataset.hub.benchmark import write_benchmark
from gest_dataset.languages import LANGUAGES
from gest_dataset.measures import MEASURES
from gest_dataset.register import METRICS
from tests.conftest import MIRROR, ROOT, use
from tests.support.hub import Hub, pointed_at, running
from tests.support.hub.cards import wrong_tasks


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    with running(tmp_path_factory.mktemp("hub")) as hub, pointed_at(hub.url):
        yield hub


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All configs, with what describes them."""
    out = tmp_path_factory.mktemp("built")
    with pytest.MonkeyPatch.context() as patch:
        use(MIRROR, patch)
        for config in CONFIGS.values():
            build.build_config(config, out)
        builds = write_card(out)
        write_croissant(out, builds)
        write_benchmark(out, [built.config for built in builds])
    return out


def test_dataset_card_is_valid(hub: Hub, folder: Path) -> None:
    card = DatasetCard.load(folder / "README.md")
    card.validate()
    assert [request.path for request in hub.requests][-1:] == ["/api/validate-yaml"]
    facts = metadata_load(folder / "README.md")
    assert facts is not None
    assert DatasetCardData(**facts).to_dict() == card.data.to_dict()
    assert set(card.data.language) == {code for config in CONFIGS.values() for code in config.languages}
    assert card.data.task_categories == ["fill-mask", "text-generation", "translation"]
    assert card.data.size_categories == ["1K<n<10K"]
    assert [config["config_name"] for config in card.data.configs] == list(CONFIGS)
    assert [config["config_name"] for config in card.data.configs if config.get("default")] == ["en"]


def test_licences_of_the_text_are_upstreams_own_words(folder: Path, mirror: Path) -> None:
    table = DatasetCard.load(folder / "README.md").text.split("## Licences\n")[1].split("\n## ")[0]
    for config in CONFIGS.values():
        (line,) = [line for line in table.splitlines() if line.startswith(f"| {config.family.title} |")]
        assert config.licence in line


def test_licences_of_the_header_are_those_of_the_real_sources() -> None:
    """What the table of sources says, in the Hub's words; a table that says something else gives `other`."""
    assert hub_ids(config.licence for config in CONFIGS.values()) == [
        "apache-2.0",
        "cc-by-sa-4.0",
        "mit",
        "unknown",
    ]
    own = {"en": ["apache-2.0"], "crows_gender": ["cc-by-sa-4.0"], "winobias_type1_dev": ["mit"]}
    own |= {"slovak_gender": ["unknown"], "stereoset_tr_intrasentence": ["cc-by-sa-4.0", "unknown"]}
    assert {name: hub_ids([CONFIGS[name].licence]) for name in own} == own
    assert hub_ids(["not stated (from WTFPL)", "Mine, MIT"]) == ["mit", "other", "unknown"]


@pytest.mark.parametrize("name", METRICS)
def test_metric_cards_are_valid(hub: Hub, name: str) -> None:
    path = ROOT / "metrics" / name / "README.md"
    card = SpaceCard.load(path)
    card.validate()
    facts = metadata_load(path)
    assert facts is not None
    assert SpaceCardData(**facts).to_dict() == card.data.to_dict()
    assert (card.data.sdk, card.data.license) == ("gradio", "apache-2.0")


def test_a_built_folder_is_taken_whole(hub: Hub, folder: Path, tmp_path: Path) -> None:
    """The client validates the card, and the Hub card and tasks; who downloads it reads the Croissant."""
    hub.add_account("ann", "hf_of_ann")
    hub.add("dataset", "ann/gest")
    api = HfApi(token="hf_of_ann")
    api.upload_folder(repo_id="ann/gest", repo_type="dataset", folder_path=folder)
    copy = Path(api.snapshot_download("ann/gest", repo_type="dataset", local_dir=tmp_path))
    assert set(hub.dataset("ann/gest").head.files) - {".gitattributes"} == {
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    }
    records = mlcroissant.Dataset(jsonld=str(copy / "croissant.json")).records(record_set="en")
    rows = load_dataset(str(copy), "en", split="test", cache_dir=str(tmp_path / "rows"))
    assert [record["en/sentence"].decode() for record in records] == rows["sentence"][:]
    tasks = (folder / "eval.yaml").read_text(encoding="utf-8")
    text = tasks.replace("tasks:", "evaluation_framework: ours\ntasks:")
    with pytest.raises(BadRequestError, match="Invalid input at evaluation_framework"):
        api.upload_file(
            repo_id="ann/gest", repo_type="dataset", path_or_fileobj=text.encode(), path_in_repo="eval.yaml"
        )


def test_tasks_are_valid_and_each_is_of_a_config_that_is_there(folder: Path) -> None:
    text = (folder / "eval.yaml").read_text(encoding="utf-8")
    assert wrong_tasks(text) == []
    told = yaml.safe_load(text)
    assert "evaluation_framework" not in told
    configs = {config["config_name"] for config in DatasetCard.load(folder / "README.md").data.configs}
    assert {task["config"] for task in told["tasks"]} <= configs
    assert {task["split"] for task in told["tasks"]} == {"test"}
    ids = [task["id"] for task in told["tasks"]]
    assert len(ids) == len({*ids})
    probes = [measure.probe for measure in MEASURES.values() if measure.probe]

    def is_asked(config: Config) -> bool:
        return any(probe.fields <= set(config.features) for probe in probes)

    assert {id for id in ids if "_to_" not in id} == {c.name for c in CONFIGS.values() if is_asked(c)}
    translated = [re.fullmatch(r"en_to_(\w+)", id) for id in ids if "_to_" in id]
    assert {match[1] for match in translated if match} <= set(LANGUAGES)
    assert "en_to_sk" in ids
