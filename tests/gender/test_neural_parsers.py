"""Stanza and Trankit: messages without them, and Stanza's interface."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from gest_dataset.errors import ConfigError
from gest_dataset.gender import ParserError, detect
from gest_dataset.gender.parsers import models

TEXT = "Bola som tam."
DOCUMENT = "1\tBola\t_\tVERB\t_\t_\t0\troot\t_\t_\n2\tsom\t_\tAUX\t_\t_\t1\taux\t_\t_"


def test_missing_parsers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "stanza", None)
    with pytest.raises(ConfigError, match=r"pip install \"gest-dataset\[stanza\]\""):
        detect([TEXT], "sk", "stanza")
    monkeypatch.setenv(models.PYTHON_VARIABLE, str(tmp_path / "python"))
    with pytest.raises(ConfigError, match="no Trankit environment"):
        detect([TEXT], "sk", "trankit")
    monkeypatch.setenv(models.PYTHON_VARIABLE, sys.executable)
    with pytest.raises(ConfigError, match=r"has no Trankit pipeline"):
        detect([TEXT], "sk", "trankit", tmp_path)


class Document:
    """A document of Stanza, whose format code C gives CoNLL-U."""

    def __format__(self, code: str) -> str:
        return {"C": DOCUMENT}[code]


class Pipeline:
    """A pipeline of Stanza."""

    def __init__(self, language: str, *, processors: str, dir: str, **options: object) -> None:
        assert (language, processors) == ("sk", "tokenize,pos,lemma,depparse")
        if not (Path(dir) / language / "model.pt").exists():
            raise FileNotFoundError("model.pt")

    def bulk_process(self, texts: Sequence[str]) -> list[Document]:
        return [Document() for _ in texts]


def test_stanza(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The second run reads the cache alone."""
    monkeypatch.setitem(sys.modules, "stanza", SimpleNamespace(Pipeline=Pipeline, __version__="1"))
    (tmp_path / "resources.json").write_text("{}")
    with pytest.raises(ConfigError, match=r"has no Stanza models for sk.*download\('sk'"):
        detect([TEXT], "sk", "stanza", tmp_path)
    model = tmp_path / "sk" / "model.pt"
    model.parent.mkdir()
    model.touch()
    cache = tmp_path / "parses.sqlite3"
    found = detect([TEXT], "sk", "stanza", tmp_path, cache=cache)
    assert (found[0].gender, found[0].evidence, found[0].spans) == ("female", ("Bola",), ((0, 4),))
    model.unlink()
    assert detect([TEXT], "sk", "stanza", tmp_path, cache=cache) == found
    with pytest.raises(ParserError, match="Stanza cannot load its models for sk: model"):
        detect(["Som doma."], "sk", "stanza", tmp_path, cache=cache)
