"""The rules, read from rules.yaml: which kind of word is evidence at which anchor.

*Bola som unavená*: `past-auxiliary` finds *Bola* and `adjective-copula` *unavená*, both with the anchor
`subjects.auxiliary`, because the auxiliary *som* is of the first person.
"""

from __future__ import annotations

from gest_dataset.gender.grammar import RULE_TABLE, Grammar
from gest_dataset.gender.rules import complements, nearby, persons, subjects
from gest_dataset.gender.rules.engine import Rule

_MODULES = {"complements": complements, "nearby": nearby, "persons": persons, "subjects": subjects}


RULES = tuple(
    Rule(rank, name, kind, getattr(_MODULES[anchor.partition(".")[0]], anchor.partition(".")[2]))
    for rank, rules in RULE_TABLE.items()
    for name, (kind, anchor) in rules.items()
)


def rules_for(grammar: Grammar) -> list[Rule]:
    """The rules whose kind of word the grammar has."""
    return [rule for rule in RULES if rule.kind in grammar.endings or rule.kind in grammar.words]
