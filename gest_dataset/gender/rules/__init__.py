"""The rules: one table for all languages, which asks the grammars what its words look like."""

from __future__ import annotations

from gest_dataset.gender.grammars import GRAMMARS
from gest_dataset.gender.grammars.grammar import Grammar
from gest_dataset.gender.rules.certain import CERTAIN
from gest_dataset.gender.rules.engine import Rule
from gest_dataset.gender.rules.mistagged import MISTAGGED
from gest_dataset.gender.rules.persons import PERSONS
from gest_dataset.gender.rules.shapes import SHAPES
from gest_dataset.gender.rules.weaker import WEAKER

TABLE: tuple[Rule, ...] = (*CERTAIN, *WEAKER, *MISTAGGED, *SHAPES, *PERSONS)


def rules_of(grammar: Grammar) -> tuple[Rule, ...]:
    """The rules whose kind of word a grammar has."""
    return tuple(rule for rule in TABLE if rule.word in grammar.forms or rule.word in grammar.words)


RULES: dict[str, tuple[Rule, ...]] = {language: rules_of(grammar) for language, grammar in GRAMMARS.items()}
