"""`gest pairs` on the test mirror: a config that plain `load_dataset` reads."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gest_dataset.builders import CONFIGS
from tests.commands.conftest import Gest
from tests.commands.test_masculine_rate import DEEPL, FOLDER, SLOVAK, read_rows, write_rows


def load_without_the_package(folder: Path, environment: Mapping[str, str]) -> list[dict[str, Any]]:
    script = (
        "import json, sys\nfrom datasets import load_dataset\n"
        f"data = load_dataset({str(folder)!r}, 'sk_pairs', split='test')\n"
        "assert 'gest_dataset' not in sys.modules\n"
        "assert data.features['systems'].feature.dtype == 'string'\n"
        "print(json.dumps(data.to_list()))"
    )
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


def test_pairs_are_a_config(gest: Gest, tmp_path: Path, script_environment: Mapping[str, str]) -> None:
    file = tmp_path / "my files" / "translations.csv"
    file.parent.mkdir()
    file.write_bytes(DEEPL.read_bytes())
    arguments = ("pairs", "--translations", str(file), *SLOVAK, "--output", "out")
    done = gest(*arguments)
    assert done.returncode == 0, done.stderr
    yields = json.loads((tmp_path / "out" / "yields.json").read_text(encoding="utf-8"))
    assert (
        "ignored texts that are not sentences of GEST (3), such as\n    'My aunt has a red bicycle.'"
        in done.stderr
    )
    assert yields["frame"] == "The man said …"
    assert yields["sentences"] == 34 == yields["pairs"] + sum(yields["dropped"].values())
    assert {reason: len(ids) for reason, ids in yields["left_out"].items()} == yields["dropped"]
    for reason, number in yields["dropped"].items():
        assert re.search(rf"^ *{re.escape(reason)} +{number} +\d+ *$", done.stdout, re.MULTILINE)
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert f"```bash\n{shlex.join(['gest', *arguments])}\n```" in card
    prompts = 'The man said "…" / The woman said "…"'
    assert f"prompts: {prompts}" in done.stdout
    assert f"`{prompts}`" in " ".join(card.split())
    rows = load_without_the_package(tmp_path / "out", script_environment)
    assert len(rows) == yields["pairs"] >= 20
    assert list(rows[0]) == list(CONFIGS["sk_pairs"].fields)
    answers = {row["from"]: row["to"] for row in read_rows(DEEPL)}
    for row in rows:
        source = row["source"]
        plain = answers[source]
        assert plain in (row["masculine"], row["feminine"])
        gender, person = ("feminine", "woman") if plain == row["masculine"] else ("masculine", "man")
        # the mirror's answers are all written `Žena povedala: "…"`
        answer = answers[f'The {person} said "{source}"'].split(': "', 1)[1].removesuffix('"')
        assert row[gender] == answer
        words = list(zip(row["masculine"].split(), row["feminine"].split(), strict=True))
        (index,) = (index for index, (a, b) in enumerate(words) if a != b)
        assert index == row["word_index"]
        assert words[index][0].strip(".,") == row["masculine_word"]
        assert words[index][1].strip(".,") == row["feminine_word"]
        assert row["systems"] == ["file:translations.csv"]
    assert gest(*arguments).returncode == 0
    google = str(FOLDER / "google_translate/sk/translations.csv")
    other = gest("pairs", "--translations", google, *SLOVAK, "--output", "out")
    assert other.returncode == 1
    assert "revision:" in other.stderr


def test_no_pair_is_an_error_with_a_hint(gest: Gest, tmp_path: Path) -> None:
    rows = [row for row in read_rows(DEEPL) if " said " not in row["from"]]
    file = write_rows(tmp_path / "plain.csv", rows)
    done = gest("pairs", "--translations", str(file), *SLOVAK, "--output", "out")
    assert done.returncode == 1
    assert 'The woman said: "I am tired."' in done.stderr
    assert not list((tmp_path / "out").iterdir())
    published = gest("pairs", "--system", "published:deepl", *SLOVAK, "--output", "out")
    assert published.returncode == 2
    assert "has no translations of the prompts" in published.stderr
