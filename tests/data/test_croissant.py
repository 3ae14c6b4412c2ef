"""`croissant.json`, read by `mlcroissant`: valid, and its records are the rows of the Parquet files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import mlcroissant
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from gest_dataset.builders import CONFIGS
from gest_dataset.builders.families import GEST, WINOBIAS
from gest_dataset.cli import app
from gest_dataset.data import build
from gest_dataset.data.card import write_card
from gest_dataset.data.croissant import write_croissant
from gest_dataset.errors import OutputError

pytestmark = pytest.mark.usefixtures("mirror")
# The vocabulary of `rai:dataCollectionType` (Croissant RAI 1.0)
COLLECTION_TYPES = {
    *("Surveys", "Secondary Data analysis", "Physical data collection", "Direct measurement"),
    *("Document analysis", "Manual Human Curator", "Software Collection", "Experiments", "Web Scraping"),
    *("Web API", "Focus groups", "Self-reporting", "Customer feedback data"),
    *("User-generated content data", "Passive Data Collection", "Others"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything, built once."""
    from tests.conftest import MIRROR, use

    out = tmp_path_factory.mktemp("built")
    with pytest.MonkeyPatch.context() as patch:
        use(MIRROR, patch)
        _build(out, *CONFIGS)
    return out


def _build(out: Path, *names: str) -> None:
    for name in names:
        build.build_config(CONFIGS[name], out)
    write_croissant(out, write_card(out))


def _told(folder: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
    return told


def _read(jsonld: Any) -> Any:
    """The data set as mlcroissant reads it, with nothing to complain of."""
    dataset = mlcroissant.Dataset(jsonld=str(jsonld) if isinstance(jsonld, Path) else jsonld)
    issues = dataset.metadata.ctx.issues
    assert (issues.errors, issues.warnings) == (set(), set())
    return dataset


def _plain(value: Any) -> Any:
    """A value of mlcroissant as pyarrow gives it: texts are bytes there, numbers of numpy."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.item() if hasattr(value, "item") else value


def test_it_is_valid_croissant_1_1(folder: Path) -> None:
    dataset = _read(folder / "croissant.json")
    assert dataset.metadata.ctx.conforms_to.value == "http://mlcommons.org/croissant/1.1"
    assert dataset.metadata.conforms_to[1] == "http://mlcommons.org/croissant/RAI/1.0"


def test_records_of_every_config_are_its_rows(folder: Path) -> None:
    dataset = _read(folder / "croissant.json")
    for name in CONFIGS:
        records = [
            {key.removeprefix(f"{name}/"): _plain(value) for key, value in record.items()}
            for record in dataset.records(record_set=name)
        ]
        assert records == pq.read_table(folder / name).to_pylist()


def test_numbers_of_labels_have_their_meaning(folder: Path) -> None:
    """What a field refers to gives the labels that `datasets` knows; a list says them in words."""
    dataset = _read(folder / "croissant.json")
    fields = {field["@id"]: field for each in _told(folder)["recordSet"] for field in each["field"]}
    for field, config, feature in (
        ("annotations/match_vote", "annotations", "match_vote"),
        ("winobias_type1_dev/occupation_gender", "winobias_type1_dev", "occupation_gender"),
        ("sk_translations/system", "sk_translations", "system"),
    ):
        column = fields[field]["references"]["field"]["@id"]
        labels = column.partition("/")[0]
        told = {r[f"{labels}/number"]: r[f"{labels}/name"] for r in dataset.records(record_set=labels)}
        assert told == dict(enumerate(CONFIGS[config].features[feature].names))
    assert "(0 amazon, 1 deepl, 2 google, 3 nllb)" in fields["sk_pairs/systems"]["description"]


def test_a_changed_file_is_noticed(folder: Path, tmp_path: Path) -> None:
    """The checksum of a file is the one of SHA256SUMS, and readers look at it."""
    told = _told(folder)
    sums = dict(
        reversed(line.split("  "))
        for line in (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    )
    assert {file["contentUrl"]: file["sha256"] for file in told["distribution"]} == sums
    _build(tmp_path, "crows_gender")
    path = tmp_path / "crows_gender" / "test-00000-of-00001.parquet"
    assert _told(tmp_path)["distribution"][0]["contentSize"] == f"{path.stat().st_size} B"
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(Exception, match="crows_gender"):
        list(_read(tmp_path / "croissant.json").records(record_set="crows_gender"))


def test_fields_of_responsible_ai_are_those_of_the_families(folder: Path, tmp_path: Path) -> None:
    _build(tmp_path, "en", "annotations", "winobias_type1_dev")
    told = _told(tmp_path)
    both = [GEST, WINOBIAS]
    for name, texts in {
        "rai:dataBiases": [family.biases for family in both],
        "rai:dataLimitations": [family.limits for family in both],
        "rai:personalSensitiveInformation": [family.personal for family in both],
        "rai:dataAnnotationProtocol": [GEST.annotation],
        "rai:annotatorDemographics": [GEST.annotators],
    }.items():
        assert [text.partition(": ")[2] for text in told[name]] == texts
    assert told["rai:dataCollection"] == "\n".join(f"{f.title}: {f.collection}" for f in both)
    assert told["rai:annotationsPerItem"] == f"GEST: {GEST.annotations_per_item}"
    assert told["rai:dataPreprocessingProtocol"][0].startswith("winobias_type1_dev: ")
    assert "Content warning" in told["description"]
    assert "not-for-all-audiences" in told["keywords"]
    assert any("training" in case for case in told["rai:dataUseCases"])
    metadata = _read(tmp_path / "croissant.json").metadata
    assert metadata.data_biases == told["rai:dataBiases"]
    assert metadata.personal_sensitive_information == told["rai:personalSensitiveInformation"]
    assert metadata.data_social_impact == told["rai:dataSocialImpact"]
    assert metadata.data_release_maintenance_plan == told["rai:dataReleaseMaintenancePlan"]


def test_facts_of_the_whole(tmp_path: Path) -> None:
    _build(tmp_path, "en", "sk_pairs", "stereoset_tr_intrasentence")
    told = _told(tmp_path)
    assert told["inLanguage"] == ["en", "sk", "tr"]
    assert told["datePublished"] == "2024"
    assert [told["citeAs"].count(key) for key in ("pikuliak-etal-2024-women", "nadeem-etal-2021")] == [1, 1]
    *labels, en, pairs, turkish = [each["@id"] for each in told["recordSet"]]
    assert (en, pairs, turkish) == ("en", "sk_pairs", "stereoset_tr_intrasentence")
    assert [name.rpartition("_")[0] for name in labels] == ["labels_female-male", "labels_gender-profession"]
    assert f"Licence: {CONFIGS['en'].licence}." in told["recordSet"][2]["description"]


def test_what_nobody_knows_is_left_out(tmp_path: Path) -> None:
    _build(tmp_path, "crows_gender")
    told = _told(tmp_path)
    assert not {"rai:dataAnnotationProtocol", "rai:annotationsPerItem"} & told.keys()
    assert all(value not in (None, "", []) for value in told.values())
    _read(tmp_path / "croissant.json")


def test_licences_are_addresses_where_one_is_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    from gest_dataset.data.licences import references

    monkeypatch.delenv("GEST_SOURCES")
    assert references(config.licence for config in CONFIGS.values()) == [
        "https://spdx.org/licenses/Apache-2.0.html",
        "not stated (from CC-BY-SA-4.0)",
        "not stated",
        "https://spdx.org/licenses/CC-BY-SA-4.0.html",
        "https://spdx.org/licenses/MIT.html",
    ]


def test_every_family_says_how_its_data_came_about() -> None:
    for family in {config.family for config in CONFIGS.values()}:
        assert family.collection
        assert family.biases
        assert family.personal
        assert {*family.collection_type.split("; ")} <= COLLECTION_TYPES
        assert bool(family.annotations_per_item) <= bool(family.annotation)


def test_build_writes_it_and_takes_its_own_folder_again(tmp_path: Path) -> None:
    command = ["build", "--output", str(tmp_path / "out"), "--config", "en"]
    for _ in range(2):
        assert CliRunner().invoke(app, command).exit_code == 0
        files = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir() if path.is_file()}
        assert set(files) == {"README.md", "SHA256SUMS", "croissant.json", "eval.yaml"}
        _read(tmp_path / "out" / "croissant.json")
    before = files
    assert CliRunner().invoke(app, [*command, "sk_pairs"]).exit_code == 0
    after = _told(tmp_path / "out")
    assert [file["@id"] for file in after["distribution"]] == ["en.parquet", "sk_pairs.parquet"]
    assert before["croissant.json"] != (tmp_path / "out" / "croissant.json").read_bytes()


@pytest.mark.parametrize("name", ["croissant.json", "eval.yaml"])
def test_what_a_kill_has_left_of_them_is_ours(tmp_path: Path, name: str) -> None:
    (tmp_path / f".{name}.gest-1-{'0' * 16}.part").write_text("{")
    build.check_build_folder(tmp_path)


@pytest.mark.parametrize("name", ["croissant.json", "eval.yaml"])
def test_somebody_elses_metadata_are_not_overwritten(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("{}")
    with pytest.raises(OutputError, match=f"{name}.*no part of what `gest build` writes"):
        build.check_build_folder(tmp_path)


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (("distribution", 0, "sha256"), "md5.*sha256"),
        (("distribution", 0, "contentUrl"), "contentUrl"),
        (("recordSet", 1, "field", 0, "dataType"), "dataType"),
        (("recordSet", 1, "field", 0, "source", "fileObject"), "fileObject|source"),
    ],
)
def test_what_is_left_out_is_noticed(folder: Path, place: tuple[Any, ...], said: str) -> None:
    """mlcroissant, which has nothing to say of ours, does find faults."""
    told = _told(folder)
    told["recordSet"] = [
        each
        for each in told["recordSet"]
        if each["@id"] == "en" or re.fullmatch("labels_female-male_[0-9a-f]{6}", each["@id"])
    ]
    told["distribution"] = told["distribution"][:1]
    inner = told
    for key in place[:-1]:
        inner = inner[key]
    del inner[place[-1]]
    with pytest.raises(mlcroissant.ValidationError, match=said):
        _read(told)
