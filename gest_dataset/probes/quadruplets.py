"""Control quadruplets and CrowS-Pairs: the scores behind `ss`, `csk`, `f` and `cs`.

Pikuliak et al. (2023): `ss` (eq. 1), `csk` (eq. 2) and `f` (eq. 3) are differences of the four mean ln P of
the keyword's tokens, all masked at once (encoder-decoders: in a sentinel span). `cs` is the CrowS-Pairs
score: over the tokens that two sentences share, each masked in turn, the sum of ln P in the first minus that
in the second.

A causal model sees no text after a token, so its four numbers are ln P of whole sentences. The sentences of
`ss` differ in the keyword alone, and by Bayes' theorem

    ln P(t, w_s) - ln P(t, w_a) = ln P(w_s | t) - ln P(w_a | t)

for the template t on both sides: the same `ss` as that of a masked model, which gives ln P(w | t) directly.
Its `cs` takes ln P of the shared tokens given the text before them. `f_prefix` is `f` with ln P of the
keyword given the text before it only; it is undefined if the group comes after the keyword.
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
from gest_dataset.probes.probe import LANGUAGE_MODELS, Probe
from gest_dataset.probes.queries import Query, Sample, Score, Values
from gest_dataset.probes.tokenization import ProbeTokenizer, SkipSampleError, Tokens

_SIDES = ("stereotype", "antistereotype")
_TEXTS = ("original", "control")
COLUMNS = (*(f"logp_{field}" for field in FIELDS), "cs_original", "cs_control", "f_prefix")


def build_queries(row: Mapping[str, Any], tokenizer: ProbeTokenizer, cs: bool | None = None) -> Sample:
    """The queries of one quadruplet, whose scores are `COLUMNS`.

    `cs` takes ten times as many passes as the rest; None computes it for gender sets only, as in the paper.
    """
    if cs and tokenizer.kind == "seq2seq":
        raise SettingError("cs needs a masked or causal model. Leave out cs=True.")
    tokens = {field: tokenizer(row[field]) for field in FIELDS}
    if tokenizer.kind == "causal":
        return _whole_texts(row, tokens, tokenizer)
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
        return (*(means or (None,) * len(FIELDS)), *both, None)

    return Sample((*keywords, *original, *control), fold)


def build_pair_queries(row: Mapping[str, Any], tokenizer: ProbeTokenizer) -> Sample:
    """A CrowS-Pairs pair: only its `cs`, in the column of the original."""
    stereotyped, other = tokenizer(row["stereotyped"]), tokenizer(row["other"])
    queries.check_compared(stereotyped, other)
    empty = [None] * len(FIELDS)
    if tokenizer.kind == "causal":
        texts = (stereotyped, other)
        whole = tuple(queries.continuation(tokenizer, text, 0) for text in texts)
        return Sample(whole, lambda values: (*empty, _causal_cs(texts, values), None, None))
    shared = _shared_token_queries(tokenizer, stereotyped, other)
    return Sample(shared, lambda values: (*empty, _cs(values), None, None))


def _whole_texts(row: Mapping[str, Any], tokens: Mapping[str, Tokens], tokenizer: ProbeTokenizer) -> Sample:
    """The queries of a causal model: ln P of every token of the four sentences."""
    texts = [tokens[field] for field in FIELDS]
    for i, j in ((0, 1), (2, 3), (0, 2), (1, 3)):
        queries.check_compared(texts[i], texts[j])
    slots = None
    if row["keywords"] is not None:
        slots = [text.slot(start, end) for text, (start, end) in zip(texts, row["keywords"], strict=True)]

    def fold(values: Sequence[Values]) -> Score:
        cs = (
            _causal_cs((texts[0], texts[2]), (values[0], values[2])),
            _causal_cs((texts[1], texts[3]), (values[1], values[3])),
        )
        if slots is None:
            return (*[None] * len(FIELDS), *cs, None)
        sums = tuple(float(value.sum()) for value in values)
        return (*sums, *cs, _f_of_prefixes(texts, slots, values))

    return Sample(tuple(queries.continuation(tokenizer, text, 0) for text in texts), fold)


def _f_of_prefixes(texts: Sequence[Tokens], slots: Sequence[range], values: Sequence[Values]) -> float | None:
    """f with ln P of the keyword given the text before it; None if that is the same for both groups."""
    prefixes = [text.ids[: slot.start] for text, slot in zip(texts, slots, strict=True)]
    if prefixes[0] == prefixes[2] or prefixes[1] == prefixes[3]:
        return None
    keywords = []
    for text, slot, value in zip(texts, slots, values, strict=True):
        start = _first_plain(text)
        keywords.append(float(value[slot.start - start : slot.stop - start].sum()))
    return keywords[0] - keywords[1] - keywords[2] + keywords[3]


def _causal_cs(texts: tuple[Tokens, Tokens], values: Sequence[Values]) -> float:
    """The sum over the shared tokens of ln P given the text before them, first text minus second."""
    starts = [_first_plain(text) for text in texts]
    pairs = _shared_positions(*texts)
    return float(sum(values[0][i - starts[0]] - values[1][j - starts[1]] for i, j in pairs))


def _first_plain(text: Tokens) -> int:
    """The position of the first token that is not special, which is the first one with a value."""
    return text.special.index(False)


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
        pairs = _shared_positions(left, right)
    return tuple(
        queries.masked(tokenizer, tokens, range(position, position + 1))
        for pair in pairs
        for tokens, position in zip((left, right), pair, strict=True)
    )


def _shared_positions(left: Tokens, right: Tokens) -> list[tuple[int, int]]:
    """The positions of the tokens that both texts share, without special ones."""
    positions = [[i for i, special in enumerate(side.special) if not special] for side in (left, right)]
    ids = [[side.ids[i] for i in kept] for side, kept in zip((left, right), positions, strict=True)]
    return [
        (positions[0][block.a + step], positions[1][block.b + step])
        for block in SequenceMatcher(None, ids[0], ids[1], autojunk=False).get_matching_blocks()
        for step in range(block.size)
    ]


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
    LANGUAGE_MODELS,
    COLUMNS,
    lambda kind, options: {0: partial(build_queries, cs=options.cs)},
    options=("cs", "rules"),
    scores_whole_texts=True,
)
CROWS = Probe(
    "crows",
    frozenset({"stereotyped", "other"}),
    frozenset({"masked", "causal"}),
    COLUMNS,
    lambda kind, options: {0: build_pair_queries},
    options=("rules",),
    scores_whole_texts=True,
)
