"""Import of EuroGEST from local copies and from a Hub on the loopback.

The rows are this project's own, in the columns of the real files.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from datasets import load_dataset
from huggingface_hub import constants

from gest_dataset.builders import CONFIGS
from gest_dataset.builders.pairs import FIRST_LETTER, MERGED, SEVERAL_WORDS
from gest_dataset.custom.eurogest import EMPTY, HALF, HUB_ID, import_eurogest
from gest_dataset.errors import ConfigError, DataError, SourceError
from gest_dataset.languages import LANGUAGES
from tests.support.hub import Hub, pointed_at, running

pytestmark = pytest.mark.usefixtures("mirror", "home")

COLUMNS = ("GEST_ID", "Source", "Stereotype_ID", "Masculine", "Feminine", "Neutral")
SLOVAK = [
    ("0", "I was tired.", "6", "Bol som unavený a ticho.", "Bol som unavená a ticho.", ""),
    ("1", "I sing.", "5.0", "", "", "Spievam."),
    ("2", "I sing.", "5", "", "", "Spievam."),
    ("3", "I ran.", "8", "Šiel som.", "Bola som.", ""),
    ("4", "I ran there.", "8", "Bol som sám.", "Bola som sama.", ""),
    ("5", "I lead.", "13", "", "", ""),
    ("6", "I led my team with a firm hand.", "13", "Viedol som ich.", "", "Vediem ich."),
    ("7", "I led.", "13", "Viedol som.", "", ""),
]
DANISH = [
    ("0", "I sing.", "5", "", "", "Jeg synger!"),
    ("1", "My uncle.", "8", "En onkel er her.", "Tante er her.", ""),
    ("2", "I am he.", "8", "Jeg er kok.", "Jeg er bagerske.", ""),
]
HUNGARIAN = [("0", "I sing.", "5", "", "", "Énekelek.")]
ENGLISH = [("0", "I sing.", "5", "", "", "I sing.")]
TABLES = {"Slovak": SLOVAK, "Danish": DANISH, "Hungarian": HUNGARIAN, "English": ENGLISH}


def as_csv(rows: list[tuple[str, ...]], columns: tuple[str, ...] = COLUMNS) -> bytes:
    return pd.DataFrame(rows, columns=list(columns)).to_csv(index=False).encode()


def as_parquet(rows: list[tuple[str, ...]]) -> bytes:
    """As the Hub converts the files: numbers are numbers, and empty cells are null."""
    table = pd.DataFrame(rows, columns=list(COLUMNS)).replace("", None).astype({"Stereotype_ID": float})
    sink = BytesIO()
    table.to_parquet(sink)
    return sink.getvalue()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder as the Hub has it."""
    folder = tmp_path / "EuroGEST"
    folder.mkdir()
    for name, rows in TABLES.items():
        (folder / f"{name}.csv").write_bytes(as_csv(rows))
    (folder / "README.md").write_text("The card.", encoding="utf-8")
    return folder


def rows_of(config: str) -> list[dict[str, Any]]:
    return list(load_dataset("gest", config, split="test"))


def test_pairs_and_neutral_sentences(copy: Path) -> None:
    (done,) = import_eurogest(copy, ["sk"])
    assert [config.name for config in done.configs] == ["eurogest_sk_pairs", "eurogest_sk_neutral"]
    assert done.dropped == {EMPTY: 1, HALF: 2, FIRST_LETTER: 1, SEVERAL_WORDS: 1, MERGED: 1}
    (pair,) = rows_of("eurogest_sk_pairs")
    assert (pair["source"], pair["stereotype"], pair["word_index"]) == ("I was tired.", 6, 2)
    assert (pair["masculine_word"], pair["feminine_word"]) == ("unavený", "unavená")
    sung, led = rows_of("eurogest_sk_neutral")
    assert (sung["masculine"], sung["feminine"]) == ("„Spievam“, vravel.", "„Spievam“, vravela.")
    assert (led["sentence"], led["stereotype"]) == ("Vediem ich.", 13)
    english = load_dataset("gest", "en", split="test").to_pandas().set_index("id")["sentence"]
    assert english[led["sentence_id"]] == led["source"]
    assert sung["sentence_id"] is None  # not a sentence of GEST
    assert CONFIGS["eurogest_sk_neutral"].licence == "Apache-2.0"
    assert pair["systems"] == ["google"]
    for kind in ("pairs", "neutral"):
        assert CONFIGS[f"eurogest_sk_{kind}"].features == CONFIGS[f"sk_{kind}"].features
    with pytest.raises(ConfigError, match="--replace"):
        import_eurogest(copy, ["sk"], "noun")
    import_eurogest(copy, ["sk"], "noun", replace=True)
    assert rows_of("eurogest_sk_neutral")[0]["masculine"] == "„Spievam“, vravel muž."


def test_a_new_language_is_added(copy: Path) -> None:
    (done,) = import_eurogest(copy, ["da"])
    assert (LANGUAGES["da"].family, LANGUAGES["da"].iso3) == ("Germanic", "dan")
    assert [row["feminine_word"] for row in rows_of("eurogest_da_pairs")] == ["bagerske"]
    assert rows_of("eurogest_da_neutral")[0]["feminine"] == "»Jeg synger«, skrev hun."
    assert FIRST_LETTER not in done.dropped


def test_frames_without_gender(copy: Path) -> None:
    with pytest.raises(ConfigError, match=r"Nothing was imported\.\n.*'hu' do not tell a man from a woman"):
        import_eurogest(copy, ["hu"])
    assert "hu" not in LANGUAGES
    both = import_eurogest(copy, ["hu", "sk"])
    assert "--frames noun" in both[0].problem
    assert not both[0].configs
    (done,) = import_eurogest(copy, ["hu"], "noun")
    assert rows_of(done.configs[0].name)[0]["masculine"] == "„Énekelek” – írta egy férfi."


@pytest.mark.parametrize(
    "path",
    ["slovak.csv", "sk.parquet", "data/Slovak-00000-of-00001.parquet", "default/Slovak/0000.parquet"],
)
def test_files_are_found_by_the_language_in_their_path(path: str, tmp_path: Path) -> None:
    file = tmp_path / "copy" / path
    file.parent.mkdir(parents=True)
    file.write_bytes(as_parquet(SLOVAK) if file.suffix == ".parquet" else as_csv(SLOVAK))
    for given in (tmp_path / "copy", file.parent if "0000" in file.stem else file):
        (done,) = import_eurogest(given)
        assert done.language == "sk"
        assert [config.published_rows for config in done.configs] == [1, 2]


@pytest.mark.parametrize(
    ("name", "content", "error", "told"),
    [
        ("Slovak.csv", as_csv(SLOVAK, tuple("ABCDEF")), DataError, "it has no column"),
        ("Slovak.csv", as_csv([("0", "I.", "17", "", "", "Ja.")]), DataError, "an unknown stereotype"),
        ("Slovak.csv", as_csv([("0", " ", "1", "", "", "Ja.")]), DataError, "row 1: no source"),
        ("Slowakisch.csv", as_csv(SLOVAK), ConfigError, "Name the files by language"),
    ],
)  # fmt: skip
def test_invalid_files(name: str, content: bytes, error: type[Exception], told: str, tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / name).write_bytes(content)
    with pytest.raises(error, match=told):
        import_eurogest(tmp_path / "copy")
    assert not [name for name in CONFIGS if name.startswith("eurogest")]


def test_invalid_arguments(copy: Path) -> None:
    with pytest.raises(ConfigError, match="no file for 'fi', only for da, en, hu, sk"):
        import_eurogest(copy, ["fi"])
    with pytest.raises(ConfigError, match=r"no frames 'verb'\. Choose from pronoun, noun"):
        import_eurogest(copy, frame_kind="verb")
    with pytest.raises(ConfigError, match="no file or folder"):
        import_eurogest(copy / "nowhere")


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    """A Hub with EuroGEST, which is gated there."""
    with running() as hub, pointed_at(hub.url, "hf_of_ann") as patch:
        patch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        hub.add_account("ann", "hf_of_ann", organisations=("utter-project",))
        hub.add_account("bob", "hf_of_bob")
        files = {f"{name}.csv": as_csv(rows) for name, rows in TABLES.items()}
        hub.add("dataset", HUB_ID, {"README.md": b"The card.", **files}, gated=True)
        yield hub


def test_from_the_hub(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    (done,) = import_eurogest(languages=["sk"])
    assert [config.published_rows for config in done.configs] == [1, 2]
    monkeypatch.setenv("HF_TOKEN", "hf_of_bob")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", f"{constants.HF_HUB_CACHE}-of-bob")
    with pytest.raises(SourceError, match=r"Accept its terms on https://.*EuroGEST and log in") as error:
        import_eurogest(languages=["sk"])
    assert "hf_of_bob" not in str(error.value)
