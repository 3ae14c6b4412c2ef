"""`croissant.json` on the Hub: a push keeps what it says of its configs true, and all that others say."""

from __future__ import annotations

import copy
import hashlib
import json
from pathlib import Path
from typing import Any

import mlcroissant
import pytest

import gest_dataset
from gest_dataset.builders import CONFIGS
from gest_dataset.data import build
from gest_dataset.data.card import write_card
from gest_dataset.data.croissant import croissant, write_croissant
from gest_dataset.data.folder import read_checksums
from gest_dataset.errors import HubError
from tests.support.hub import Hub

pytestmark = pytest.mark.usefixtures("mirror")
SET = "org/gest"
NAMES = ("sk_pairs", "en", "annotations", "winobias_type1_dev")


def on_hub(hub: Hub) -> dict[str, Any]:
    """What stands there, valid, and with the checksum of every file."""
    files = hub.files(hub.dataset(SET))
    told: dict[str, Any] = json.loads(files["croissant.json"])
    issues = mlcroissant.Dataset(jsonld=copy.deepcopy(told)).metadata.ctx.issues
    assert (issues.errors, issues.warnings) == (set(), set())
    for each in told["distribution"]:
        assert hashlib.sha256(files[each["contentUrl"]]).hexdigest() == each["sha256"]
    return told


def built(folder: Path, *names: str) -> Path:
    """A folder of `gest build`."""
    for name in names:
        build.build_config(CONFIGS[name], folder)
    write_croissant(folder, write_card(folder))
    return folder


def test_configs_one_by_one_are_told_as_all_at_once(hub: Hub, tmp_path: Path) -> None:
    """But for the order, and for the checksums, as Parquet files are written without this version."""
    for name in NAMES:
        gest_dataset.push(SET, name)
    told = on_hub(hub)
    folder = built(tmp_path, *NAMES)
    builds = [one for name in NAMES if (one := build.find_built(CONFIGS[name], folder))]
    expected = croissant(builds, read_checksums(folder))
    assert told.keys() == expected.keys()
    for key in told.keys() - {"distribution", "recordSet"}:
        ordered = [sorted(each) if isinstance(each, list) else each for each in (told[key], expected[key])]
        assert ordered[0] == ordered[1], key
    assert [each["@id"] for each in told["distribution"]] == [f"{name}.parquet" for name in NAMES]
    sets = {each["@id"]: each for each in told["recordSet"]}
    assert {name: sets[name]["field"] for name in NAMES} == {
        each["@id"]: each["field"] for each in expected["recordSet"] if each["@id"] in NAMES
    }
    assert not gest_dataset.push(SET, "en,sk_pairs")[0].plan.has_changes


def test_a_folder_that_was_uploaded_is_put_right(hub: Hub, tmp_path: Path) -> None:
    """Its checksums are of files that a push writes anew; what somebody has written stays."""
    folder = built(tmp_path, "en", "sk_pairs")
    told = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
    told |= {"name": "theirs", "rai:dataBiases": ["Ours."]}
    told["rai:dataPreprocessingProtocol"] = ["en: 9 upstream rows left out: an old rule", "By hand."]
    (folder / "croissant.json").write_text(json.dumps(told), encoding="utf-8")
    files = {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    hub.add("dataset", SET, files)
    gest_dataset.push(SET, "en")
    merged = on_hub(hub)
    assert merged["name"] == "theirs"
    assert merged["rai:dataBiases"][0] == "Ours."
    assert merged["rai:dataPreprocessingProtocol"][0] == "By hand."
    assert "an old rule" not in str(merged)
    assert {each["@id"] for each in merged["distribution"]} == {"en.parquet", "sk_pairs.parquet"}


def test_somebody_elses_is_left_alone(hub: Hub) -> None:
    hub.add("dataset", SET, {"croissant.json": b"{}"})
    gest_dataset.push(SET, "en")
    assert hub.read(hub.dataset(SET), "croissant.json") == b"{}"


@pytest.mark.parametrize("text", ["{", "[]", '{"distribution": [1]}', '{"citeAs": 1}'])
def test_a_broken_one_of_ours_is_refused(hub: Hub, text: str) -> None:
    repository = hub.add("dataset", SET, {"croissant.json": f"{text} {build.HOMEPAGE}".encode()})
    if text.endswith("}"):
        inside = text.replace("{", f'{{"url": "{build.HOMEPAGE}", ')
        hub.commit(repository, {"croissant.json": inside.encode()})
    before = repository.head
    with pytest.raises(HubError, match=r"croissant.json of .* is invalid; nothing was changed"):
        gest_dataset.push(SET, "en")
    assert hub.dataset(SET).head is before
