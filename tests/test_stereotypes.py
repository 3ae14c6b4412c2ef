"""Stereotypes of the user's own table: rates, the report, and what is refused."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from datasets import Dataset

import gest_dataset
from gest_dataset import builders
from gest_dataset.custom import language
from gest_dataset.data.rows import check_stereotypes
from gest_dataset.errors import ConfigError
from gest_dataset.languages import LANGUAGES
from gest_dataset.runs import read_run
from gest_dataset.stereotypes import STEREOTYPES, _read_table
from gest_dataset.translation.sentences import GestSentence
from tests.conftest import MANIFEST, MIRROR
from tests.support import zoo

TABLE = (
    "number,name,gender\n1,Patient,female\n2,Talkative,female\n3,Technical,male\n4,Loud,male\n5,Brave,male\n"
)
SCRIPT = """
import json, sys
import gest_dataset
from gest_dataset.models.user_rows import read_user_rows
from pathlib import Path
model, data, out = sys.argv[1:]
rows = read_user_rows(Path(data))
scores = gest_dataset.score(model, rows, templates=[1, 2], output=f"{out}/run", device="cpu")
gest_dataset.report([f"{out}/run"], f"{out}/r.html", f"{out}/figures")
try:
    gest_dataset.score(model, "en")
except gest_dataset.errors.GestError as error:
    refused = str(error)
print(json.dumps([scores.result(), refused], default=float))
"""


def run_script(script: str, arguments: list[str], home: Path, **more: str) -> Any:
    """What a script prints as JSON, in a process with the table `home`/table.csv."""
    environment = {"GEST_MIRROR": str(MIRROR), "GEST_SOURCES": str(MANIFEST), "GEST_HOME": str(home / "home")}
    environment |= {"GEST_STEREOTYPES": str(home / "table.csv"), "HF_HOME": os.environ["HF_HOME"]} | more
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


WAY = """
import csv, json, sys
from pathlib import Path
import gest_dataset
from datasets import load_dataset
from gest_dataset.custom.language import UNKNOWN
from gest_dataset.models.chat import ask
from gest_dataset.translation.masculine_rates import prepare
model, folder, parses = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
def added(code, **options):
    return gest_dataset.add_language(code, folder / "t.csv", folder / "v.csv", **options)
def problem(name):
    try:
        gest_dataset.score(model, name)
    except gest_dataset.errors.GestError as error:
        return str(error)
def ids(name):
    return {row["source"]: row["sentence_id"] for row in load_dataset("gest", name, split="test").to_list()}
sk, mk = added("sk"), added("mk", script="Latn")
scores = gest_dataset.score(model, "mk_pairs", device="cpu", output=folder / "mk")
rates = prepare("published:own", "sk", parser="conllu", parser_model=parses)
own = {(row["stereotype"], row["stereotype_name"], row["gender"]) for row in scores.rows.to_list()}
found = {
    "names": [config.name for config in (*sk.configs, *mk.configs)],
    "own": sorted(own),
    "ids": [ids("own_sk_translations"), ids("mk_pairs")],
    "rejected": [row["reason"] == UNKNOWN for row in csv.DictReader(mk.report.open())],
    "card": mk.configs[0].family.description,
    "n": scores.result()["n"],
    "rates": [len(rates.samples()), rates.settings["data"]],
    "asked": ask.prepare(ask.AskSettings(language="sk")).config,
    "refused": [problem(name) for name in ("demo_en", "demo_sk_pairs", "en_1_0")],
}
if len(sys.argv) > 4:
    english = prepare("file:" + sys.argv[4], "sk", parser="conllu", parser_model=parses)
    asked = ask.prepare(ask.AskSettings("first-person", "sk", parser="conllu", parser_model=parses))
    scored = gest_dataset.score(model, "en", templates=[3], device="cpu", output=folder / "en")
    found["en"] = [len(english.samples()), len(asked.rows), len(scored.table), problem("sk_neutral")]
print(json.dumps(found))
"""


@pytest.mark.parametrize("with_sentences", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_an_added_language_with_own_stereotypes(
    with_sentences: bool, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From files of sentences that GEST lacks to scores and rates, also in a language of GEST."""
    (tmp_path / "table.csv").write_text(TABLE, encoding="utf-8")
    rows = [(f"I counted {i} stars.", i % 5 + 1, f"Vtedy som videl {i} hviezd.") for i in range(50)]
    wrong = [("No such stereotype.", 6, "Bol som tam."), ("No stereotype.", "", "Bol som tam.")]
    lines = {"en.csv": ["sentence,stereotype"], "v.csv": ["source,stereotype,masculine,feminine"]}
    lines["t.csv"] = ["source,stereotype,translation"]
    for text, number, man in [*rows, *wrong]:
        # of known sentences the stereotype is known too
        given = "" if with_sentences and "stars" in text else number
        lines["v.csv"].append(f"{text},{given},{man},{man.replace('l ', 'la ', 1)}")
        lines["t.csv"].append(f"{text},{given},{man}")
        lines["en.csv"] += [f"{text},{number}"] if "stars" in text else []
    for name, content in lines.items():
        (tmp_path / name).write_text("\n".join(content), encoding="utf-8")
    arguments = [str(zoo.directory("gpt2")), str(tmp_path), str(Path(__file__).parent / "mirror_sk.conllu")]
    more = {}
    if with_sentences:
        arguments.append(str(tmp_path / "t.csv"))
        more = {"GEST_SENTENCES": str(tmp_path / "en.csv")}
    found = run_script(WAY, arguments, tmp_path, **more)
    assert found["names"] == ["own_sk_translations", "own_sk_pairs", "mk_translations", "mk_pairs"]
    names = ["Patient", "Talkative", "Technical", "Loud", "Brave"]
    assert found["own"] == [[n, name, int(n > 2)] for n, name in enumerate(names, start=1)]
    translated, paired = found["ids"]
    assert translated == paired
    assert len({*paired.values()}) == 50
    assert ("own-0000" in paired.values()) == with_sentences
    assert found["rejected"] == [True] * 4
    assert "3 Technical (male)" in found["card"]
    assert found["n"] == [10] * 5
    assert found["rates"] == [50, "own_sk_translations"]
    assert found["asked"] == "own_sk_pairs"
    if with_sentences:
        *numbers, message = found["en"]
        assert numbers == [50, 50, 50]
        found["refused"].append(message)
    assert all("GEST_STEREOTYPES is set" in message for message in found["refused"]), found["refused"]

    # without the table, or with another one, the config and its runs are refused
    builders.refresh()
    with pytest.raises(ConfigError, match="own_sk_pairs has other stereotypes: set or unset"):
        gest_dataset.score(str(zoo.directory("gpt2")), "own_sk_pairs")
    with pytest.raises(ConfigError, match="has other stereotypes"):
        read_run(tmp_path / "mk")


def test_rates_of_own_stereotypes(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(TABLE, encoding="utf-8")
    rows = [f"{i},I have {i} words.,{i % 5 + 1}" for i in range(60)]
    (tmp_path / "mine.csv").write_text("\n".join(["id,sentence,stereotype", *rows]), encoding="utf-8")
    arguments = [str(zoo.directory("bert")), str(tmp_path / "mine.csv"), str(tmp_path)]
    result, refused = run_script(SCRIPT, arguments, tmp_path)
    frame = pq.read_table(tmp_path / "run" / "scores.parquet").to_pandas()
    g_s = []
    for template in (1, 2):
        own = frame[frame["template"] == template].groupby("stereotype")["log_ratio"].mean()
        assert result["by_template"][str(template)]["q"] == pytest.approx(np.exp(own))
        g_s.append(math.exp(own.loc[3:].mean() - own.loc[:2].mean()))
    assert result["g_s"] == pytest.approx(np.mean(g_s))
    assert 0 < result["g_s_permutation_p"] <= 1
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "5  Brave" in page
    assert "Emotional and irrational" not in page
    assert "GEST_STEREOTYPES is set" in refused
    with pytest.raises(ConfigError, match="has other stereotypes"):
        read_run(tmp_path / "run")


@pytest.mark.parametrize("change", [{"stereotype": 2}, {"stereotype_name": "Loud"}, {"gender": 1}])
def test_rows_with_other_stereotypes(change: dict[str, Any]) -> None:
    """A number, a name or a gender that differs from the table's is another stereotype."""
    row = {"stereotype": 1, "stereotype_name": STEREOTYPES[1].name, "gender": 0}
    check_stereotypes(Dataset.from_list([row]))
    with pytest.raises(ConfigError, match="The data has other stereotypes"):
        check_stereotypes(Dataset.from_list([row, row | change]))


def test_an_id_that_contradicts_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "OWN_TABLE", "of the user")
    sentences = [GestSentence("own-0000", 2, "I am tall.", "I am tall.")]
    reader = language.RowReader(LANGUAGES["sk"], sentences, first_letter=True, max_words=1)
    new = {"source": "I am tal.", "stereotype": "1"}
    assert [found.text for found, _ in reader._match(new)] == ["I am tal."]
    assert reader._match({**new, "id": "own-0000"}) == language.DISAGREE


@pytest.mark.parametrize("content", [None, "sentence\nI am.\n", "sentence,stereotype\nI am.,9\n"])
def test_wrong_own_sentences(content: str | None, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(TABLE, encoding="utf-8")
    path = tmp_path / "en.csv"
    if content:
        path.write_text(content, encoding="utf-8")
    script = "import json\ntry:\n    from gest_dataset.data.rows import rows_of\n    rows_of('en')\n"
    script += "except Exception as error: print(json.dumps(str(error)))"
    message = run_script(script, [], tmp_path, GEST_SENTENCES=str(path))
    if not content:
        command = [sys.executable, "-m", "gest_dataset", "list"]
        variables = os.environ | {"GEST_SENTENCES": str(path)}
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
        assert done.returncode
        assert len(done.stderr.splitlines()) == 1, "no traceback"
    expected = ["is not a file", "invalid: KeyError('stereotype')", "unknown stereotype '9'"]
    assert any(part in message for part in expected), message


@pytest.mark.parametrize(
    "table",
    [
        "number,name\n1,Patient\n",
        "number,name,gender\nx,Patient,female\n",
        TABLE.replace("5,", "6,"),
        TABLE.replace("Loud,male", "Loud,female"),
        TABLE.replace(",male", ",female"),
        TABLE.replace("female", "women"),
        "",
    ],
)
def test_a_wrong_table(table: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(table, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"GEST_STEREOTYPES: .*table\.csv (needs|cannot be read as)"):
        _read_table(path)
