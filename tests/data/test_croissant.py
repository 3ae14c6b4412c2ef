"""`croissant.json`, read by `mlcroissant`: valid, and its records are the rows of the Parquet files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mlcroissant
import pyarrow.parquet as pq
import pytest

from gest_dataset.builders import CONFIGS
from gest_dataset.builders.config import FAMILIES
from gest_dataset.data import build
from gest_dataset.data.card import write_card
from gest_dataset.data.croissant import write_croissant
from gest_dataset.errors import OutputError

pytestmark = pytest.mark.usefixtures("mirror")
KINDS = (
    *("en", "annotations", "sk_translations", "sk_pairs", "sk_neutral", "stereoset_en_intrasentence"),
    *("stereoset_control_gender", "crows_gender", "winobias_type1_dev"),
)


# The vocabulary of `rai:dataCollectionType` (Croissant RAI 1.0)
@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a config of every kind."""
    from tests.conftest import MIRROR, use

    out = tmp_path_factory.mktemp("built")
    with pytest.MonkeyPatch.context() as patch:
        use(MIRROR, patch)
        _build(out, *KINDS)
    return out


def _build(out: Path, *names: str) -> None:
    for name in names:
        build.build_config(CONFIGS[name], out)
    write_croissant(out, write_card(out))


def _metadata(folder: Path) -> dict[str, Any]:
    metadata: dict[str, Any] = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
    return metadata


def _read(jsonld: Any) -> Any:
    """Read with mlcroissant, which must report no errors or warnings."""
    dataset = mlcroissant.Dataset(jsonld=str(jsonld) if isinstance(jsonld, Path) else jsonld)
    issues = dataset.metadata.ctx.issues
    assert (issues.errors, issues.warnings) == (set(), set())
    return dataset


def _plain(value: Any) -> Any:
    """A value of mlcroissant (bytes, numpy) as pyarrow returns it."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.item() if hasattr(value, "item") else value


def test_it_is_valid(folder: Path) -> None:
    dataset = _read(folder / "croissant.json")
    assert dataset.metadata.ctx.conforms_to.value == "http://mlcommons.org/croissant/1.1"
    assert dataset.metadata.conforms_to[1] == "http://mlcommons.org/croissant/RAI/1.0"


def test_records_are_the_rows(folder: Path) -> None:
    dataset = _read(folder / "croissant.json")
    for name in KINDS:
        records = [
            {key.removeprefix(f"{name}/"): _plain(value) for key, value in record.items()}
            for record in dataset.records(record_set=name)
        ]
        assert records == pq.read_table(folder / name).to_pylist()


def test_labels(folder: Path) -> None:
    fields = {field["@id"]: field for each in _metadata(folder)["recordSet"] for field in each["field"]}
    for name in ("sk_pairs/gender", "sk_translations/gender"):
        assert "(0 female, 1 male)" in fields[name]["description"]


def test_checksums(folder: Path, tmp_path: Path) -> None:
    written = _metadata(folder)
    sums = dict(
        reversed(line.split("  "))
        for line in (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    )
    assert {file["contentUrl"]: file["sha256"] for file in written["distribution"]} == sums
    _build(tmp_path, "crows_gender")
    path = tmp_path / "crows_gender" / "test-00000-of-00001.parquet"
    assert _metadata(tmp_path)["distribution"][0]["contentSize"] == f"{path.stat().st_size} B"
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(Exception, match="crows_gender"):
        list(_read(tmp_path / "croissant.json").records(record_set="crows_gender"))


def test_responsible_ai_fields(folder: Path, tmp_path: Path) -> None:
    _build(tmp_path, "en", "annotations", "winobias_type1_dev")
    written = _metadata(tmp_path)
    both = [FAMILIES["gest"], FAMILIES["winobias"]]
    for name, texts in {
        "rai:dataBiases": [family.biases for family in both],
        "rai:dataLimitations": [family.limits for family in both],
        "rai:personalSensitiveInformation": [family.personal for family in both],
        "rai:dataAnnotationProtocol": [FAMILIES["gest"].annotation],
        "rai:annotatorDemographics": [FAMILIES["gest"].annotators],
    }.items():
        assert [text.partition(": ")[2] for text in written[name]] == texts
    assert written["rai:dataCollection"] == "\n".join(f"{f.title}: {f.collection}" for f in both)
    assert written["rai:annotationsPerItem"] == "GEST: " + FAMILIES["gest"].annotations_per_item
    assert written["rai:dataPreprocessingProtocol"][0].startswith("winobias_type1_dev: ")
    assert "Content warning" in written["description"]
    assert "not-for-all-audiences" in written["keywords"]
    assert any("training" in case for case in written["rai:dataUseCases"])
    assert _read(tmp_path / "croissant.json").metadata.data_biases == written["rai:dataBiases"]


@pytest.mark.parametrize("name", ["croissant.json", "eval.yaml"])
def test_other_metadata_files_are_not_overwritten(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("{}")
    with pytest.raises(OutputError, match=f"{name}.*not part of"):
        build.check_build_folder(tmp_path)
