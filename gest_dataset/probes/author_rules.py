"""Rules of the authors' code that differ from ours; none is the default.

Published numbers were made with code that sometimes differs from its paper. `rules="authors"` reproduces it,
and a name alone changes one thing. docs/reproduce.md describes each rule and its effect.
"""

from collections.abc import Sequence

from gest_dataset.errors import SettingError

AUTHORS = "authors"
OWN_NEGATION = "own-negation"
_WITHIN, _BETWEEN = "stereoset_intrasentence", "stereoset_intersentence"
# Rule -> the probes and the kinds of models that it affects
RULES = {
    "bos-first": ({_WITHIN, _BETWEEN}, {"causal"}),
    "full-stop": ({_BETWEEN}, {"causal", "seq2seq"}),
    "encoder-pieces": ({_WITHIN}, {"seq2seq"}),
    "counted-end": ({_BETWEEN}, {"seq2seq"}),
    "two-matchings": ({"quadruplets", "crows"}, {"masked"}),
    "length-differences": ({"quadruplets"}, {"masked", "seq2seq"}),
    OWN_NEGATION: ({"quadruplets"}, {"masked"}),
}


def parse_rules(asked: str | Sequence[str]) -> tuple[str, ...]:
    """The names of rules, from a list or with commas; `authors` is all of them."""
    names = [name.strip() for name in asked.split(",")] if isinstance(asked, str) else list(asked)
    unknown = [name for name in names if name not in (AUTHORS, *RULES)]
    if unknown:
        raise SettingError(f"There is no rule {unknown[0]!r}. Choose from {AUTHORS}, {', '.join(RULES)}.")
    return tuple(name for name in RULES if name in names or AUTHORS in names)
