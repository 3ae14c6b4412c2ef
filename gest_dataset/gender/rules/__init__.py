"""The rules of every language: one table for each family."""

from __future__ import annotations

from gest_dataset.gender.engine import Rule
from gest_dataset.gender.grammar import Grammar
from gest_dataset.gender.rules import east, south, west

GRAMMARS: dict[str, Grammar] = {**east.GRAMMARS, **south.GRAMMARS, **west.GRAMMARS}
RULES: dict[str, tuple[Rule, ...]] = {
    language: family.RULES for family in (east, south, west) for language in family.GRAMMARS
}
