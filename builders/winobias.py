"""WinoBias as pronoun contrasts: a sentence with an occupation, in both pronoun genders.

Upstream holds each sentence twice, with the pronoun that fits the stereotype of the occupation
and with the other one. Some lines differ in more than that; they are left out and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from gest_dataset.builders.config import GENDER, Config, Dropped, Field, Files, Row
from gest_dataset.builders.families import WINOBIAS
from gest_dataset.builders.reading import read_lines
from gest_dataset.errors import DataError

DATA = "uclanlp/corefBias/WinoBias/wino/data"
_LISTS = {gender: f"{DATA}/{gender}_occupations.txt" for gender in GENDER.names}
_COUNTERPARTS = {"he": {"she"}, "him": {"her"}, "his": {"her", "hers"}, "himself": {"herself"}}
_FEMININE = set().union(*_COUNTERPARTS.values())
_MARK = re.compile(r"\[([^\[\]]*)\]")
_LINE = re.compile(r"(\d+) (.*)")

# Why two lines are no contrast, in the order in which the rules are applied
MARKS = "not one marked occupation and its pronouns"
OUTSIDE = "differs outside the pronouns"
NOT_SWAPPED = "the pronouns are no counterparts"


def _source(side: str, kind: str, split: str) -> str:
    return f"{DATA}/{side}_stereotyped_{kind}.txt.{split}"


def _pronouns(sentence: str) -> list[str]:
    marks = (mark.strip().lower() for mark in _MARK.findall(sentence))
    return [mark for mark in marks if mark in _COUNTERPARTS or mark in _FEMININE]


def _rest(sentence: str) -> str:
    """The sentence with its marked pronouns blanked, the other marks kept."""
    return _MARK.sub(
        lambda m: "[]" if m[1].strip().lower() in {*_COUNTERPARTS, *_FEMININE} else m[0], sentence
    )


def contrast(pro: str, anti: str) -> tuple[str, str, str] | str:
    """Masculine sentence, feminine sentence and occupation of two lines, or the broken rule.

    >>> contrast("[The cook] said [he] ate.", "[The cook] said [she] ate.")
    ('The cook said he ate.', 'The cook said she ate.', 'cook')
    """
    pronouns = [_pronouns(line) for line in (pro, anti)]
    occupations = [set(_MARK.findall(_rest(line))) - {""} for line in (pro, anti)]
    if any(len(marked) != 1 for marked in occupations) or not all(pronouns):
        return MARKS
    if _rest(pro) != _rest(anti):
        return OUTSIDE
    masculine_first = pronouns[0][0] in _COUNTERPARTS
    masculine, feminine = pronouns if masculine_first else reversed(pronouns)
    if not all(f in _COUNTERPARTS.get(m, ()) for m, f in zip(masculine, feminine, strict=True)):
        return NOT_SWAPPED
    plain = [_MARK.sub(r"\1", line) for line in ((pro, anti) if masculine_first else (anti, pro))]
    occupation = re.sub(r"^(the|an?)\s+", "", occupations[0].pop().strip(), flags=re.IGNORECASE)
    return plain[0], plain[1], occupation


def read_winobias(kind: str, split: str, files: Files, dropped: Dropped) -> Iterator[Row]:
    """The contrasts of one type and split."""
    genders = {
        line.strip().lower(): gender for gender, key in _LISTS.items() for _, line in read_lines(files[key])
    }
    pro_path, anti_path = (files[_source(side, kind, split)] for side in ("pro", "anti"))
    pro, anti = list(read_lines(pro_path)), list(read_lines(anti_path))
    if len(pro) != len(anti):
        raise DataError.at(anti_path, "end of file", f"{len(anti)} lines against {len(pro)}")
    for (line, pro_text), (_, anti_text) in zip(pro, anti, strict=True):
        parsed = [_LINE.fullmatch(text) for text in (pro_text, anti_text)]
        if parsed[0] is None or parsed[1] is None or parsed[0][1] != parsed[1][1]:
            raise DataError.at(anti_path, line, f"{anti_text!r} does not answer {pro_text!r}")
        swapped = contrast(parsed[0][2], parsed[1][2])
        if isinstance(swapped, str):
            dropped[swapped] += 1
            continue
        masculine, feminine, occupation = swapped
        if occupation.lower() not in genders:
            raise DataError.at(pro_path, line, f"occupation {occupation!r} is in neither list")
        yield {
            "id": f"{kind}-{split}-{int(parsed[0][1]):03d}",
            "masculine": masculine,
            "feminine": feminine,
            "occupation": occupation,
            "occupation_gender": genders[occupation.lower()],
        }


# 396 lines a file, less the pairs that break a rule
_ROWS = {("type1", "dev"): 393, ("type1", "test"): 391, ("type2", "dev"): 386, ("type2", "test"): 391}

_FIELDS = {
    "id": Field("the type, upstream's part and the number of the line there"),
    "masculine": Field("the sentence with masculine pronouns"),
    "feminine": Field("the same with feminine ones"),
    "occupation": Field("the one that the pronouns refer to"),
    "occupation_gender": Field("the gender that most people in it have, in US labour statistics", GENDER),
}


def _config(kind: str, split: str, rows: int) -> Config:
    told = f"WinoBias, type {kind[-1]} sentences, upstream's {split} part"
    files = (*_LISTS.values(), _source("pro", kind, split), _source("anti", kind, split))
    read = partial(read_winobias, kind, split)
    return Config(f"winobias_{kind}_{split}", WINOBIAS, told, files, _FIELDS, read, rows)


CONFIGS = [_config(kind, split, rows) for (kind, split), rows in _ROWS.items()]
