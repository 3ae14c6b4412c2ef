"""Stanza and Trankit: messages without them, and a pipeline of Stanza's own trainers if it is installed."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from gest_dataset.errors import ConfigError
from gest_dataset.gender import ParserError, detect
from gest_dataset.gender.parsers import trankit

TEXTS = ["Bola som veľmi unavená.", "Bol som vždy silný.", "Bola som vtedy pekná. Bola som vždy smutná."]
needs_stanza = pytest.mark.skipif(importlib.util.find_spec("stanza") is None, reason="no Stanza")


def test_missing_parsers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "stanza", None)
    with pytest.raises(ConfigError, match=r"pip install \"gest-dataset\[stanza\]\""):
        detect(["Bola som tam."], "sk", "stanza")
    monkeypatch.setenv(trankit.PYTHON_VARIABLE, str(tmp_path / "python"))
    with pytest.raises(ConfigError, match="no Trankit environment"):
        detect(["Som doma."], "sk", "trankit")
    monkeypatch.setenv(trankit.PYTHON_VARIABLE, sys.executable)
    with pytest.raises(ConfigError, match=r"has no Trankit pipeline"):
        detect(["Som doma."], "sk", "trankit", tmp_path)


@pytest.mark.slow
@needs_stanza
def test_a_pipeline_that_stanza_trains(tmp_path: Path) -> None:
    """Stanza's own trainers, tiny, and its own Pipeline; the second run reads the cache alone."""
    models = tmp_path / "models"
    models.mkdir()
    script = Path(__file__).with_name("train_stanza.py")
    done = subprocess.run([sys.executable, str(script), str(models)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    where = tmp_path / "parses.sqlite3"
    found = detect(TEXTS, "sk", "stanza", models, cache=where)
    assert [d.gender for d in found] == ["female", "male", "female"]
    assert found[0].evidence == ("Bola", "unavená")
    assert found[2].spans == ((0, 4), (15, 20), (22, 26), (36, 42))
    for model in models.glob("sk/*/*.pt"):
        model.unlink()
    assert detect(TEXTS, "sk", "stanza", models, cache=where) == found
    with pytest.raises(ParserError, match="Stanza cannot load its models for sk"):
        detect(["Som doma."], "sk", "stanza", models, cache=where)
    (models / "sk").rename(models / "cs")
    with pytest.raises(ConfigError, match=r"has no Stanza models for sk.*download\('sk'"):
        detect(["Som doma."], "sk", "stanza", models)
