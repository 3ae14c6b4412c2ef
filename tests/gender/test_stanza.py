"""Stanza: the message without it, and a pipeline that its own trainers make, where it is installed."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from gest_dataset.errors import ConfigError
from gest_dataset.gender import ParserError, detect

ROOT = Path(__file__).resolve().parents[2]
INSTALLED = importlib.util.find_spec("stanza") is not None


def test_stanza_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stanza", None)
    with pytest.raises(ConfigError, match=r"pip install \"gest-dataset\[stanza\]\""):
        detect(["Bola som tam."], "sk", "stanza")


@pytest.mark.slow
@pytest.mark.skipif(not INSTALLED, reason="Stanza is not installed")
def test_a_pipeline_that_stanza_trains(tmp_path: Path) -> None:
    """Stanza's own trainers, tiny, and its own Pipeline; the second run reads the cache alone."""
    script = ROOT / "tests" / "gender" / "train_stanza.py"
    models = tmp_path / "models"
    models.mkdir()
    done = subprocess.run([sys.executable, str(script), str(models)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    texts = ["Bola som veľmi unavená.", "Bol som vždy silný.", "Bola som vtedy pekná. Bola som vždy smutná."]
    where = tmp_path / "parses.sqlite3"
    found = detect(texts, "sk", "stanza", models, cache=where)
    assert [d.gender for d in found] == ["female", "male", "female"]
    assert found[0].evidence == ("Bola", "unavená")
    assert found[2].spans == ((0, 4), (15, 20), (22, 26), (36, 42))
    for model in models.glob("sk/*/*.pt"):
        model.unlink()
    assert detect(texts, "sk", "stanza", models, cache=where) == found
    with pytest.raises(ParserError, match="Stanza cannot load its models for sk"):
        detect(["Som doma."], "sk", "stanza", models, cache=where)


@pytest.mark.slow
@pytest.mark.skipif(not INSTALLED, reason="Stanza is not installed")
def test_models_of_another_language(tmp_path: Path) -> None:
    """A folder has a list of all languages, and a folder for each that was downloaded."""
    (tmp_path / "resources.json").write_text('{"cs": {}, "sk": {}}')
    (tmp_path / "cs").mkdir()
    with pytest.raises(ConfigError, match=r"has no Stanza models for sk.*download\('sk'"):
        detect(["Som doma."], "sk", "stanza", tmp_path)
