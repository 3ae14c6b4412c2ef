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
from gest_dataset.data import build
from gest_dataset.errors import HubError
from tests.hub.conftest import built, files_of
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


def test_configs_one_by_one_are_merged(hub: Hub, tmp_path: Path) -> None:
    """As in a built folder, but for the order, and for the checksums, as files have no version here."""
    for name in NAMES:
        gest_dataset.push(SET, name)
    merged, expected = (
        on_hub(hub),
        json.loads((built(tmp_path, NAMES) / "croissant.json").read_text("utf-8")),
    )
    assert merged.keys() == expected.keys()
    for key in merged.keys() - {"distribution", "recordSet"}:
        texts = [json.dumps(one[key]).replace("\\n", '"').split('"') for one in (merged, expected)]
        assert sorted(texts[0]) == sorted(texts[1]), key
    assert [each["@id"] for each in merged["distribution"]] == [f"{name}.parquet" for name in NAMES]
    fields = [
        {each["@id"]: each["field"] for each in one["recordSet"] if each["@id"] in NAMES}
        for one in (merged, expected)
    ]
    assert fields[0] == fields[1]
    assert not gest_dataset.push(SET, "en,sk_pairs")[0].plan.has_changes


def test_a_folder_that_was_uploaded_is_put_right(hub: Hub, tmp_path: Path) -> None:
    """Its checksums are of files that a push writes anew; what somebody has written stays."""
    folder = built(tmp_path, ["en", "sk_pairs"])
    told = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
    told |= {"name": "theirs", "rai:dataBiases": ["Ours."]}
    told["rai:dataPreprocessingProtocol"] = ["en: 9 upstream rows left out: an old rule", "By hand."]
    (folder / "croissant.json").write_text(json.dumps(told), encoding="utf-8")
    hub.add("dataset", SET, files_of(folder))
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


@pytest.mark.parametrize("text", ['{"url": "HOMEPAGE"', '{"url": "HOMEPAGE", "distribution": [1]}'])
def test_a_broken_one_of_ours_is_refused(hub: Hub, text: str) -> None:
    content = text.replace("HOMEPAGE", build.HOMEPAGE).encode()
    before = hub.add("dataset", SET, {"croissant.json": content}).head
    with pytest.raises(HubError, match=r"croissant.json of .* is invalid; nothing was changed"):
        gest_dataset.push(SET, "en")
    assert hub.dataset(SET).head is before
