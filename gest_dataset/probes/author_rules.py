"""Rules of the authors' code that differ from ours; none is the default.

Published numbers were made with code that sometimes differs from its paper. `rules="authors"` reproduces it,
and a name alone changes one thing. docs/reproduce.md describes each rule and its effect.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gest_dataset.errors import SettingError

AUTHORS = "authors"


@dataclass(frozen=True)
class Rule:
    """A rule, and the probes and kinds of models that it affects."""

    name: str
    probes: tuple[str, ...]
    kinds: tuple[str, ...]


_WITHIN, _BETWEEN = "stereoset_intrasentence", "stereoset_intersentence"
BOS_FIRST = Rule("bos-first", (_WITHIN, _BETWEEN), ("causal",))
FULL_STOP = Rule("full-stop", (_BETWEEN,), ("causal", "seq2seq"))
ENCODER_PIECES = Rule("encoder-pieces", (_WITHIN,), ("seq2seq",))
COUNTED_END = Rule("counted-end", (_BETWEEN,), ("seq2seq",))
TWO_MATCHINGS = Rule("two-matchings", ("quadruplets", "crows"), ("masked",))
LENGTH_DIFFERENCES = Rule("length-differences", ("quadruplets",), ("masked", "seq2seq"))
OWN_NEGATION = Rule("own-negation", ("quadruplets",), ("masked",))

RULES = {
    rule.name: rule
    for rule in (
        BOS_FIRST,
        FULL_STOP,
        ENCODER_PIECES,
        COUNTED_END,
        TWO_MATCHINGS,
        LENGTH_DIFFERENCES,
        OWN_NEGATION,
    )
}


def parse_rules(asked: str | Sequence[str]) -> tuple[str, ...]:
    """The names of rules, from a list or with commas; `authors` is all of them."""
    names = [name.strip() for name in asked.split(",")] if isinstance(asked, str) else list(asked)
    unknown = [name for name in names if name not in (AUTHORS, *RULES)]
    if unknown:
        raise SettingError(f"There is no rule {unknown[0]!r}. Rules are {AUTHORS}, {', '.join(RULES)}.")
    return tuple(RULES) if AUTHORS in names else tuple(name for name in RULES if name in names)


def matching_rules(names: Iterable[str], probe: str, kind: str) -> frozenset[str]:
    """The rules among `names` that affect a probe and a kind of model."""
    return frozenset(name for name in names if probe in RULES[name].probes and kind in RULES[name].kinds)
