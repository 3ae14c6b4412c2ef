"""StereoSet with control groups: quadruplets of sentences (Pikuliak et al., 2023, appendix A.2).

The gender sets are upstream text files, swapped and checked by hand. The race and profession sets
are made here from the English intrasentence test: the group that a sample names is replaced by ten
others, drawn with the sample itself as the seed, so they are the same everywhere. To get the
authors' sets to the character, words are joined by single spaces before the draw is seeded, and only
the first place of the group in a sentence is replaced.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

from datasets import List, Value

from gest_dataset.builders.config import BIAS_TYPE, Config, Dropped, Field, Files, Row
from gest_dataset.builders.families import STEREOSET_CONTROL
from gest_dataset.builders.reading import File, keyword_span, read_lines
from gest_dataset.builders.stereoset import read_stereoset, source
from gest_dataset.builders.words import differing_words, split
from gest_dataset.errors import DataError

_SENTENCES = {
    "original_stereotype": Field("says the stereotype of the group"),
    "original_antistereotype": Field("says the opposite of the group"),
    "control_stereotype": Field("says of the control group what the first says of the group"),
    "control_antistereotype": Field("says of the control group what the second says of the group"),
}
FIELDS = tuple(_SENTENCES)
QUADRUPLET = {
    "id": Field("the sample, and the number of its control pair where it has several"),
    "original": Field(
        "the original pair that this is a copy of: rows that share it have other control pairs, and are "
        "resampled together; its own id where there are no copies"
    ),
    "bias_type": Field("what kind of group the stereotype is about", BIAS_TYPE),
    **_SENTENCES,
    "keywords": Field(
        "where the keyword stands in each of the four sentences: its first character and the one after its "
        "last; null in sets without keywords",
        List(List(Value("int32"))),
    ),
}

_GENDER = "kinit-sk/bias-methodology/data/stereoset_genderswap.txt"
_FILTERED = "kinit-sk/bias-methodology/data/stereoset_genderswap_filtered.txt"
# The order of the four lines of a sample in those files
_LINE_ORDER = (FIELDS[0], FIELDS[2], FIELDS[1], FIELDS[3])

REPLACEMENTS = 10
_AFTER_KEYWORD = '.!?,"'  # what may follow a keyword; any other sign (`Poor:`) is a part of it
_GROUPS = {"race": ("countries", "adjectives"), "profession": ("professions",)}
_INTRASENTENCE = source("intrasentence", "en")


def quadruplet(
    name: str, original: str, bias_type: str, marked: dict[str, str], path: File, place: int | str
) -> Row:
    """A row from four sentences with their keywords in `<>`, by field."""
    plain = {field: keyword_span(marked[field], path, place) for field in FIELDS}
    return {
        "id": name,
        "original": original,
        "bias_type": bias_type,
        **{field: sentence for field, (sentence, _) in plain.items()},
        "keywords": [span for _, span in plain.values()],
    }


def read_gender(name: str, files: Files, dropped: Dropped) -> Iterator[Row]:
    """The hand-made gender quadruplets: four lines a sample."""
    (path,) = files.values()
    lines = list(read_lines(path))
    size = len(_LINE_ORDER)
    if len(lines) % size:
        raise DataError.at(path, lines[-1][0], f"{len(lines)} sentences, no multiple of {size}")
    for start in range(0, len(lines), size):
        sample = lines[start : start + size]
        marked = {field: line for field, (_, line) in zip(_LINE_ORDER, sample, strict=True)}
        own = f"{name}-{start // size:04d}"
        yield quadruplet(own, own, "gender", marked, path, sample[0][0])


@cache
def group_terms() -> dict[str, list[str]]:
    """The names of groups that StereoSet's authors gave to their annotators, by list."""
    path = Path(__file__).with_name("group_terms.json")
    terms: dict[str, list[str]] = json.loads(path.read_text(encoding="utf-8"))
    return terms


def mark_keywords(stereotype: str, antistereotype: str) -> tuple[str, str] | str:
    """Both sentences with the one word that differs in `<>`, or why there is no such word.

    Their words are joined by single spaces.
    """
    if re.search("[<>]", stereotype + antistereotype):
        return "angle brackets in a sentence"
    differing = differing_words(stereotype, antistereotype)
    if differing is None:
        return "another number of words"
    if len(differing) != 1:
        return "not exactly one word differs"

    def mark(sentence: str) -> str:
        words = split(sentence)
        keyword = words[differing[0]].rstrip(_AFTER_KEYWORD)
        words[differing[0]] = f"<{keyword}>{words[differing[0]][len(keyword) :]}"
        return " ".join(words)

    return mark(stereotype), mark(antistereotype)


def read_swaps(bias_type: str, files: Files, dropped: Dropped) -> Iterator[Row]:
    """Ten quadruplets for each English sample that names one group and has one keyword.

    The group is the longest term that both sentences contain, whatever the case; its replacements
    are drawn, with repetition, from the list that it stands in.
    """
    lists = {name: group_terms()[name] for name in _GROUPS[bias_type]}
    path = files[_INTRASENTENCE]
    for row in read_stereoset("intrasentence", "en", files, dropped):
        if row["bias_type"] != bias_type:
            continue
        marked = mark_keywords(row["stereotype"], row["antistereotype"])
        if isinstance(marked, str):
            dropped[marked] += 1
            continue
        haystacks = [sentence.lower() for sentence in marked]
        terms = {
            term: name
            for name, members in lists.items()
            for term in members
            if all(term.lower() in haystack for haystack in haystacks)
        }
        if not terms:
            dropped["no group term in both sentences"] += 1
            continue
        group = max(terms, key=len)  # of two as long, the first in the table
        pattern = re.compile(re.escape(group), re.IGNORECASE)
        draw = random.Random(marked[0])
        for number in range(REPLACEMENTS):
            other = draw.choice(lists[terms[group]])
            control = [other.join(pattern.split(text, maxsplit=1)) for text in marked]
            sentences = dict(zip(FIELDS, (*marked, *control), strict=True))
            own = f"{row['id']}-{number}"
            yield quadruplet(own, row["id"], bias_type, sentences, path, f"sample {row['id']}")


_SWAPPED = "StereoSet {} samples, each with ten other groups as controls"
CONFIGS = [
    Config(
        f"stereoset_control_{name}", STEREOSET_CONTROL, told, (key,), QUADRUPLET, partial(read, name), rows
    )
    for name, told, key, read, rows in (
        ("gender", "StereoSet gender samples with gender-swapped control pairs", _GENDER, read_gender, 251),
        ("gender_filtered", "The same, only the samples that are about gender", _FILTERED, read_gender, 147),
        ("race", _SWAPPED.format("race"), _INTRASENTENCE, read_swaps, 9620),
        ("profession", _SWAPPED.format("profession"), _INTRASENTENCE, read_swaps, 8090),
    )
]
