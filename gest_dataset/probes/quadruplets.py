"""Control quadruplets and CrowS-Pairs: the scores behind `ss`, `csk`, `f` and `cs`.

Pikuliak et al. (2023): `ss` (eq. 1), `csk` (eq. 2) and `f` (eq. 3) are differences of the four mean ln P of
the keyword's tokens, all masked at once. `cs` is the CrowS-Pairs score: over the tokens that two sentences
share, each masked in turn, the sum of ln P in the first minus that in the second.
"""

from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import partial
from typing import Any

from gest_dataset.builders.config import BIAS_TYPE
from gest_dataset.builders.controls import FIELDS
from gest_dataset.errors import SettingError
from gest_dataset.probes import queries
from gest_dataset.probes.options import OWN_NEGATION
from gest_dataset.probes.probe import Probe
from gest_dataset.probes.queries import Query, Sample, Score, Values
from gest_dataset.probes.tokenization import ProbeTokenizer, SkipSampleError, Tokens

_SIDES = ("stereotype", "antistereotype")
_TEXTS = ("original", "control")
COLUMNS = (*(f"logp_{field}" for field in FIELDS), "cs_original", "cs_control")


def build_queries(row: Mapping[str, Any], tokenizer: ProbeTokenizer, cs: bool | None = None) -> Sample:
    """The queries of one quadruplet, whose scores are `COLUMNS`.

    `cs` takes ten times as many passes as the rest; None computes it for gender sets only, as in the paper.
    """
    if cs and tokenizer.kind != "masked":
        raise SettingError("cs masks one token at a time, so it needs a masked model. Leave out cs=True.")
    tokens = {field: tokenizer(row[field]) for field in FIELDS}
    keywords: tuple[Query, ...] = ()
    original: tuple[Query, ...] = ()
    control: tuple[Query, ...] = ()
    if row["keywords"] is None:
        for side in _SIDES:
            queries.check_compared(tokens[f"original_{side}"], tokens[f"control_{side}"])
    else:
        keywords = _keyword_queries(row, tokens, tokenizer)
    if cs is None:
        cs = row["bias_type"] in ("gender", BIAS_TYPE.str2int("gender"))
    if tokenizer.kind == "masked" and cs:
        # the rule compares each group's sentence with its negation, the paper the two groups
        own_negation = row["keywords"] is None and OWN_NEGATION in tokenizer.rules
        first, second = (FIELDS[:2], FIELDS[2:]) if own_negation else (FIELDS[::2], FIELDS[1::2])
        original = _shared_token_queries(tokenizer, *(tokens[field] for field in first))
        control = _shared_token_queries(tokenizer, *(tokens[field] for field in second))
    if not (keywords or original or control):
        raise SkipSampleError("no keywords, and cs is not computed")

    def fold(values: Sequence[Values]) -> Score:
        means: Score = tuple(float(value.mean()) for value in values[: len(keywords)])
        rest = values[len(keywords) :]
        both = _cs(rest[: len(original)]), _cs(rest[len(original) :])
        return (*(means or (None,) * len(FIELDS)), *both)

    return Sample((*keywords, *original, *control), fold)


def build_pair_queries(row: Mapping[str, Any], tokenizer: ProbeTokenizer) -> Sample:
    """A CrowS-Pairs pair: only its `cs`, in the column of the original."""
    stereotyped, other = tokenizer(row["stereotyped"]), tokenizer(row["other"])
    queries.check_compared(stereotyped, other)
    shared = _shared_token_queries(tokenizer, stereotyped, other)
    return Sample(shared, lambda values: (*[None] * len(FIELDS), _cs(values), None))


def _keyword_queries(
    row: Mapping[str, Any], tokens: Mapping[str, Tokens], tokenizer: ProbeTokenizer
) -> tuple[Query, ...]:
    slots = {
        field: tokens[field].slot(start, end)
        for field, (start, end) in zip(FIELDS, row["keywords"], strict=True)
    }
    length = {field: len(slot) for field, slot in slots.items()}
    if "length-differences" in tokenizer.rules:
        if len({length[f"{text}_stereotype"] - length[f"{text}_antistereotype"] for text in _TEXTS}) != 1:
            raise SkipSampleError(
                "the keywords' difference in tokens is not the same in the original and the control"
            )
    else:
        for side in _SIDES:
            sizes = [length[f"{text}_{side}"] for text in _TEXTS]
            if sizes[0] != sizes[1]:
                raise SkipSampleError(f"the {side} keyword has {sizes[0]} tokens, its control has {sizes[1]}")
    for text in _TEXTS:
        queries.check_distinct(*(tokens[f"{text}_{side}"].slice(slots[f"{text}_{side}"]) for side in _SIDES))
    if tokenizer.kind == "seq2seq":
        return tuple(queries.spanned(tokenizer, tokens[field], [slots[field]]) for field in FIELDS)
    return tuple(queries.masked(tokenizer, tokens[field], slots[field]) for field in FIELDS)


def _shared_token_queries(tokenizer: ProbeTokenizer, left: Tokens, right: Tokens) -> tuple[Query, ...]:
    """For each token that both texts share, its ln P in the left and then in the right, masked alone."""
    pairs: Iterable[tuple[int, int]]
    if "two-matchings" in tokenizer.rules:
        # each text is matched with the other separately, special tokens included
        pairs = zip(_matched(left, right), _matched(right, left), strict=False)
    else:
        positions = [[i for i, special in enumerate(side.special) if not special] for side in (left, right)]
        ids = [[side.ids[i] for i in kept] for side, kept in zip((left, right), positions, strict=True)]
        blocks = SequenceMatcher(None, ids[0], ids[1], autojunk=False).get_matching_blocks()
        pairs = (
            (positions[0][block.a + step], positions[1][block.b + step])
            for block in blocks
            for step in range(block.size)
        )
    return tuple(
        queries.masked(tokenizer, tokens, range(position, position + 1))
        for pair in pairs
        for tokens, position in zip((left, right), pair, strict=True)
    )


def _matched(text: Tokens, other: Tokens) -> list[int]:
    """The positions of a text's tokens that also occur in another text, without special ones."""
    blocks = SequenceMatcher(None, text.ids, other.ids).get_matching_blocks()
    positions = [block.a + step for block in blocks for step in range(block.size)]
    return [position for position in positions if not text.special[position]]


def _cs(values: Sequence[Values]) -> float | None:
    if not values:
        return None
    return float(sum(left[0] for left in values[::2]) - sum(right[0] for right in values[1::2]))


QUADRUPLETS = Probe(
    "quadruplets",
    frozenset({"bias_type", *FIELDS, "keywords"}),
    frozenset({"masked", "seq2seq"}),
    COLUMNS,
    lambda kind, options: {0: partial(build_queries, cs=options.cs)},
    options=("cs", "rules"),
)
CROWS = Probe(
    "crows",
    frozenset({"stereotyped", "other"}),
    frozenset({"masked"}),
    COLUMNS,
    lambda kind, options: {0: build_pair_queries},
    options=("rules",),
)
