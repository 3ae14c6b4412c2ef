"""Grammars: what the words of each language look like, one file a branch of Slavic."""

from __future__ import annotations

from gest_dataset.gender.grammars import east, south, west
from gest_dataset.gender.grammars.grammar import Grammar

GRAMMARS: dict[str, Grammar] = {**east.GRAMMARS, **south.GRAMMARS, **west.GRAMMARS}
