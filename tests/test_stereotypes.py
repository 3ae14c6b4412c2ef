"""Stereotypes of the user's own table: rates, the report, and what is refused."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from gest_dataset.errors import ConfigError
from gest_dataset.runs import read_run
from gest_dataset.stereotypes import _read_table
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


def test_rates_of_own_stereotypes(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(TABLE, encoding="utf-8")
    rows = [f"{i},I have {i} words.,{i % 5 + 1}" for i in range(60)]
    (tmp_path / "mine.csv").write_text("\n".join(["id,sentence,stereotype", *rows]), encoding="utf-8")
    environment = {"GEST_STEREOTYPES": str(tmp_path / "table.csv"), "GEST_MIRROR": str(MIRROR)}
    environment |= {"GEST_SOURCES": str(MANIFEST)}
    arguments = [str(zoo.directory("bert")), str(tmp_path / "mine.csv"), str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result, refused = json.loads(done.stdout)
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
    with pytest.raises(ConfigError, match=r"GEST_STEREOTYPES: .*table\.csv needs"):
        _read_table(path)
