"""Studies of released scores: complete folders, flat or nested, and files that cannot be used."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from gest_dataset import studies
from gest_dataset.builders.released import FAMILY_OF, KIND_OF
from gest_dataset.builders.stereoset import TESTS
from gest_dataset.builders.stereoset_scores import parse_name
from gest_dataset.data import sources
from gest_dataset.errors import ConfigError
from gest_dataset.probes.stereoset import METHODS
from gest_dataset.published import load
from gest_dataset.published.released import PINNED, Released
from gest_dataset.statistics.stereotype_rate import LN10
from tests.studies.planting import cells, value

pytestmark = pytest.mark.usefixtures("mirror", "few_draws")
GEST = "kinit-sk/gest/data/predictions"
STEREOSET = "slds-lmu/stereotypes-multi/results/predictions"


@pytest.fixture
def folder(mirror: Path, tmp_path: Path) -> Path:
    """The authors' complete folders, as a clone of both repositories has them."""
    for part in (GEST, STEREOSET):
        shutil.copytree(mirror / part, tmp_path / "clones" / part)
    return tmp_path / "clones"


@pytest.fixture
def flat(folder: Path, tmp_path: Path) -> Path:
    """The same files in one folder; those of causal models have a prefix."""
    target = tmp_path / "flat"
    target.mkdir()
    for path in folder.rglob("*.*"):
        prefix = "glm_" if path.parent.name == "english_glm" else ""
        shutil.copy(path, target / (prefix + path.name))
    return target


def test_names_of_stereoset_files_say_model_and_method() -> None:
    """Every pinned name; the handles and methods are those of the printed tables."""
    names = [Path(key).name for key in sources.expand(f"{STEREOSET}/*")]
    found = {name: parse_name(name) for name in names}
    assert len(found) == 54
    assert all(found.values())
    printed = {(row["handle"], row["language"]) for row in load("stereoset_overall")["rows"]}
    read = {(one.model, one.language) for one in found.values() if one is not None}
    assert printed - read == set()
    of_gpt2 = {name: one.method for name, one in found.items() if one is not None and one.model == "gpt2"}
    assert of_gpt2 == {
        "gpt2_GPT2LM_GPT2LM_c_en.json": "c",
        "gpt2_GPT2LM_GPT2LM_d_en.json": "generative",
        "gpt2_GPT2LM_ModelNSP_en.json": "nsp",
        "gpt2__GPT2LM_e_en.json": "e",
        "gpt2__GPT2LM_orig_en.json": "ratio",
    }
    assert {"nsp", "generative", "ratio"} == {*METHODS["causal"], "nsp"}
    assert parse_name("notes_en.json") is None
    assert parse_name("gpt2_GPT2LM_GPT2LM_d_it.json") is None


@pytest.mark.parametrize("name", ["templates", "validity", "stereoset", "items"])
def test_every_study_reads_complete_folders(folder: Path, flat: Path, name: str) -> None:
    """The two layouts and the pinned files give the same tables, and nothing is skipped without a name."""
    (flat / "README.md").write_text("notes")
    found = [getattr(studies, name)(released=where) for where in (folder, flat, PINNED)]
    assert found[0].notes == found[2].notes == ()
    assert found[1].notes == ("Not files of scores, by their names: README.md.",)
    tables = [[table.csv for table in study.tables] for study in found]
    assert tables[0] == tables[1] == tables[2]
    if name == "templates":
        assert len(cells(found[0], "variance")) == len(FAMILY_OF)


def test_the_topic_of_released_scores(folder: Path) -> None:
    rows = cells(studies.topical(released=folder / GEST / "english_mlm"), "table-3")
    assert [(row[""], row["models"]) for row in rows] == [("English MLMs", 11)]


def test_the_papers_study_counts_all_numbers(folder: Path) -> None:
    study = studies.papers_study(folder)
    checks = {row[0]: row[1] for row in study.table("checks").rows}
    assert checks["gest-means-masked"] == 11 * 4 * 16
    assert checks["gest-means-causal"] == 23 * 2 * 16
    assert checks["gest-family"] == checks["gest-winobias-released"] == 2
    # every printed row of these tables has its released scores; table 7 has 15
    sizes = {number: checks[f"stereoset-table-{number}"] for number in (2, 3, 4, 7, 5, 8, 9)}
    assert sizes == {2: 87, 3: 87, 4: 87, 7: 45, 5: 116, 8: 116, 9: 116}
    assert not [note for note in study.notes if "left out" in note or "Not " in note]


def test_validity_of_released_scores(folder: Path) -> None:
    """r over eleven models, from the files alone."""
    files = Released(folder)
    rates = {row["model"]: row["male"] - row["female"] for row in files.winobias if "type1_test" in row["id"]}
    assert {*rates} == {model for model, kind in KIND_OF.items() if kind == "masked"}
    g_s = []
    for model in rates:
        means = files.gest[model].groupby(level="stereotype").mean()
        difference = means.loc[8:].mean() - means.loc[:7].mean()
        g_s.append(np.exp(difference / LN10).mean())
    expected = stats.pearsonr(g_s, np.exp(np.array([*rates.values()]) / LN10))
    (row,) = [
        row
        for row in cells(studies.validity(released=folder), "validity", config="winobias_type1_test")
        if row["scale"] == "g_s as printed"
    ]
    assert value(row["r"]) == pytest.approx(expected.statistic)
    assert row["p"] == pytest.approx(expected.pvalue)
    assert row["models"] == 11


def test_files_that_cannot_be_used_are_named(folder: Path) -> None:
    """Damaged, doubled, incomplete and foreign files: each is named, the others are read."""
    predictions = folder / GEST
    (predictions / "english_glm" / "phi-2_template-0.txt").write_text("0.5\n")
    (predictions / "english_mlm" / "roberta-base_template-2.txt").write_bytes(b"\xff")
    (predictions / "slavic_mlm").mkdir()
    (predictions / "slavic_mlm" / "xlm-v-base.txt").write_text("0.5\n")
    text = (predictions / "english_glm" / "gpt2_template-0.txt").read_text()
    (folder / "glm_gpt2_template-0.txt").write_text(text)  # a copy
    (folder / "gpt2_template-1.txt").write_text(text)  # other scores under the same name
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("")
    for name in ("english_mlm/xlm-v-base_template-3.txt", "english_glm/gpt2-xl_template-0.txt"):
        (predictions / name).unlink()
    (predictions / "english_mlm" / "xlm-v-base_template-3.txt").mkdir()
    (predictions / "english_glm" / "gpt2-xl_template-0.txt").symlink_to("nowhere")
    study = studies.templates(released=folder)
    notes = "\n".join(study.notes)
    assert "xlm-v-base_template-3.txt is left out: [Errno 21] Is a directory" in notes
    assert "gpt2-xl_template-0.txt is left out: [Errno 2] No such file" in notes
    assert "phi-2_template-0.txt is left out" in notes
    assert "roberta-base_template-2.txt is left out" in notes
    assert f"depend on each model's tokenizer: {GEST}/slavic_mlm/xlm-v-base.txt" in notes
    assert notes.count("is about the same, and differs") == 1
    assert ".git" not in notes
    assert {row["model"]: row["templates"] for row in cells(study, "variance")}["roberta-base"] == 3

    stereoset = folder / STEREOSET
    (stereoset / "t5-base_T5LM_T5LM_en.json").write_text("{")
    other = json.loads((stereoset / "gpt2_GPT2LM_ModelNSP_en.json").read_text())
    other[TESTS[0]] = [{**one, "score": -one["score"]} for one in other[TESTS[0]]]
    (stereoset / "gpt2_GPT2LM_ModelNSP_en.json").write_text(json.dumps(other))
    study = studies.stereoset(released=folder)
    notes = "\n".join(study.notes)
    assert "t5-base_T5LM_T5LM_en.json is left out" in notes
    assert "gpt2_GPT2LM_ModelNSP_en.json: its intrasentence scores are left out" in notes
    methods = {row["method"] for row in cells(study, "table-7", model="gpt2 (authors)")}
    assert methods == {"nsp", "generative", "ratio", "c", "e"}
    # outside of table 7 the paper has the generative scores of causal models, the heads of others
    by_model = {row["model"]: row["method"] for row in cells(study, "table-3", language="en")}
    assert by_model["gpt2 (authors)"] == "generative"
    assert by_model["google/mt5-base (authors)"] == "nsp"


def test_damaged_lines(flat: Path) -> None:
    """Line ends, blank lines and byte order marks change nothing; of other files the rest is used."""
    whole = [table.csv for table in studies.validity(released=flat).tables]
    for name in ("winobias.csv", "bert-base-uncased_template-0.txt", "gpt2_GPT2LM_GPT2LM_d_en.json"):
        file = flat / name
        mark = b"" if file.suffix == ".json" else b"\xef\xbb\xbf"
        blank = b"" if file.suffix == ".csv" else b"\r\n"
        file.write_bytes(mark + file.read_bytes().replace(b"\n", b"\r\n") + blank)
    study = studies.validity(released=flat)
    assert ([table.csv for table in study.tables], study.notes) == (whole, ())
    bad = {"roberta-base_template-0.txt": "nan", "glm_phi-1_template-0.txt": "-inf"}
    bad["winobias.csv"] = "x,1,dev,nan,0"
    for name, text in bad.items():
        lines = (flat / name).read_text(encoding="utf-8").split("\n")
        (flat / name).write_text("\n".join([*lines[:3], text, *lines[4:]]), encoding="utf-8")
    csv = flat / "winobias.csv"
    csv.write_bytes(csv.read_bytes()[:-20].replace(b",1,test,", b",1,", 1))  # a short row, and a cut one
    (flat / "albert-base-v2_template-1.txt").write_text("0.5\n0.")
    notes = "\n".join(studies.validity(released=flat).notes)
    assert notes.count("line 4: 'nan' is not a finite number") == 2
    assert "winobias.csv, line 45" in notes
    assert notes.count("fields, expected 5") == 2
    assert "glm_phi-1_template-0.txt, line 4: '-inf' is not a finite number" in notes
    assert "albert-base-v2_template-1.txt does not have 34 finite numbers (GEST 1.0), but 2." in notes
    assert len(cells(studies.validity(released=flat), "models")) == 44 - 3
    # the first of several files with the same scores is incomplete
    file = flat / "THUMT_mGPT_GPT2LM_GPT2LM_c_en.json"
    content = json.loads(file.read_text())
    content[TESTS[0]] = content[TESTS[0]][:5]
    file.write_text(json.dumps(content))
    notes = "\n".join(studies.papers_study(flat).notes)
    assert "gest-winobias-released: 10 of 11 models have released scores" in notes
    assert "gest-family: English MLMs have 42 of 44 files of scores." in notes
    assert notes.count("_c_en.json: its intrasentence scores are left out") == 1
    assert "_d_en.json: its" not in notes
    assert "_ModelNSP_en.json: its" not in notes


def test_missing_files(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"contains no released scores like gpt2_template-0\.txt.*pinned"):
        studies.templates(released=tmp_path / "nowhere")
    shutil.rmtree(folder / GEST / "winobias")
    with pytest.raises(ConfigError, match=r"like winobias\.csv"):
        studies.validity(released=folder)


def test_pinned_files_that_the_mirror_lacks_are_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, mirror: Path
) -> None:
    for path in (mirror / "kinit-sk/gest/data").glob("*.csv"):
        shutil.copy(path, folder / "kinit-sk/gest/data" / path.name)
    (folder / GEST / "english_mlm" / "roberta-base_template-2.txt").unlink()
    monkeypatch.setenv("GEST_MIRROR", str(folder))
    (note,) = studies.templates(released=PINNED).notes
    assert "lacks kinit-sk/gest" in note
    assert "Missing: roberta-base_template-2.txt." in note
