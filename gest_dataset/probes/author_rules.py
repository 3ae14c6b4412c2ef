"""The rules of the authors' codes that differ from ours, each by its name; never the default.

A published number was made with its authors' code, which now and then does something else than its paper
says, or something that we hold for worse. `rules="authors"` asks as those codes do, and a name alone changes
one thing. docs/reproduce.md has this table with what each rule does to the numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gest_dataset.errors import SettingError

AUTHORS = "authors"


@dataclass(frozen=True)
class Rule:
    """What a code of the authors does, and what we do; `measured` says whether the effect is our own figure.

    It means something to some probes, and there to some kinds of models.
    """

    name: str
    probes: tuple[str, ...]
    kinds: tuple[str, ...]
    ours: str
    theirs: str
    code: str
    effect: str
    measured: bool


_WITHIN, _BETWEEN = "stereoset_intrasentence", "stereoset_intersentence"
_STEREOSET, _MULTI, _FILLING = "StereoSet", "stereotypes-multi", "bias-methodology"

BOS_FIRST = Rule(
    "bos-first",
    (_WITHIN, _BETWEEN),
    ("causal",),
    "the start token stands in front of every text",
    "the first token is asked behind the start token, all others without it",
    f"{_STEREOSET}, {_MULTI}",
    "SmolLM2-135M-Instruct (Q4_1), 2,106 English contexts: SS 60.4, LMS 89.3 with theirs, SS 62.2, LMS 89.5 "
    "with ours",
    measured=True,
)
FULL_STOP = Rule(
    "full-stop",
    (_BETWEEN,),
    ("causal", "seq2seq"),
    "the context as it is",
    "a full stop behind a context that does not end with one of . ! ?",
    f"{_STEREOSET}, {_MULTI}",
    "contexts that get one: 299 of 2,123 in English, 251 German, 278 French, 282 Spanish, 292 Turkish",
    measured=True,
)
ENCODER_PIECES = Rule(
    "encoder-pieces",
    (_WITHIN,),
    ("seq2seq",),
    "the word's pieces one after the other in the decoder, and the closing sentinel",
    "earlier pieces in the encoder, in front of the sentinel; each piece is asked right behind it",
    _MULTI,
    "words of several pieces; words of one have no closing sentinel",
    measured=False,
)
COUNTED_END = Rule(
    "counted-end",
    (_BETWEEN,),
    ("seq2seq",),
    "a candidate ends with the closing sentinel, as in pre-training",
    "it ends with `</s>`, whose probability counts (a comment there says that it does not)",
    _MULTI,
    "the last token of every candidate is another one",
    measured=False,
)
TWO_MATCHINGS = Rule(
    "two-matchings",
    ("quadruplets", "crows"),
    ("masked",),
    "`cs` over the tokens that one matching of the two sentences pairs",
    "each sentence is matched with the other in its own turn, special tokens too; the two lists are paired "
    "by place and the longer one is cut off",
    _FILLING,
    "pairs in which other tokens are compared (tokens of SmolLM2): 1 of 262 in crows_gender, 2 of 502 in "
    "stereoset_control_gender, none of 284 in slovak_gender",
    measured=True,
)
LENGTH_DIFFERENCES = Rule(
    "length-differences",
    ("quadruplets",),
    ("masked", "seq2seq"),
    "keywords of as many tokens in original and control, for stereotype and anti-stereotype each (the paper)",
    "the difference of the lengths of stereotype and anti-stereotype is the same in original and control",
    _FILLING,
    "Slovak with RoBERTa: 137 samples with theirs, 134 with ours; with the tokens of SmolLM2, measured here, "
    "140 and 138 of 142",
    measured=False,
)
OWN_NEGATION = Rule(
    "own-negation",
    ("quadruplets",),
    ("masked",),
    "in CrowS controls `cs` compares the two groups, in the original and in the control",
    "it compares a sentence with its own negation (or anti-stereotype), for each group",
    _FILLING,
    "another number: how much likelier a sentence is than its negation, not how much likelier for a group",
    measured=False,
)

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
    """Those of the named rules that mean something to a probe and a kind of models."""
    return frozenset(name for name in names if probe in RULES[name].probes and kind in RULES[name].kinds)
