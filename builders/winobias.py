"""WinoBias as pronoun contrasts: a sentence with an occupation, in both pronoun genders.

Upstream holds each sentence twice, with the pronoun that fits the stereotype of the occupation and with the
other one. Pairs of lines that differ in more than that are left out and counted.
"""

import re
from collections.abc import Iterator

from gest_dataset.builders.config import Dropped, Files, Row
from gest_dataset.builders.reading import read_lines
from gest_dataset.errors import DataError
from gest_dataset.stereotypes import GENDERS

_COUNTERPARTS = {"he": {"she"}, "him": {"her"}, "his": {"her", "hers"}, "himself": {"herself"}}
_PRONOUNS = {*_COUNTERPARTS, *set().union(*_COUNTERPARTS.values())}
_MARK = re.compile(r"\[([^\[\]]*)\]")
_LINE = re.compile(r"(\d+) (.*)")

# Reasons why two lines are not a contrast, in the order in which the rules are applied
MARKS = "without exactly one marked occupation and its pronouns"
OUTSIDE = "differs outside the pronouns"
NOT_SWAPPED = "the pronouns are not counterparts"


def _without_pronouns(sentence: str) -> str:
    """The sentence with its marked pronouns blanked; the other marks stay."""
    return _MARK.sub(lambda mark: "[]" if mark[1].strip().lower() in _PRONOUNS else mark[0], sentence)


def contrast(pro: str, anti: str) -> tuple[str, str, str] | str:
    """The masculine sentence, the feminine sentence and the occupation of two lines, or the broken rule.

    >>> contrast("[The cook] said [he] ate.", "[The cook] said [she] ate.")
    ('The cook said he ate.', 'The cook said she ate.', 'cook')
    """
    marks = [[mark.strip().lower() for mark in _MARK.findall(line)] for line in (pro, anti)]
    pronouns = [[mark for mark in line if mark in _PRONOUNS] for line in marks]
    occupations = [set(_MARK.findall(_without_pronouns(line))) - {""} for line in (pro, anti)]
    if any(len(marked) != 1 for marked in occupations) or not all(pronouns):
        return MARKS
    if _without_pronouns(pro) != _without_pronouns(anti):
        return OUTSIDE
    masculine_first = pronouns[0][0] in _COUNTERPARTS
    masculine, feminine = pronouns if masculine_first else reversed(pronouns)
    if not all(f in _COUNTERPARTS.get(m, ()) for m, f in zip(masculine, feminine, strict=True)):
        return NOT_SWAPPED
    plain = [_MARK.sub(r"\1", line) for line in ((pro, anti) if masculine_first else (anti, pro))]
    occupation = re.sub(r"^(the|an?)\s+", "", occupations[0].pop().strip(), flags=re.IGNORECASE)
    return plain[0], plain[1], occupation


def read_winobias(kind: str, split: str, files: Files, dropped: Dropped) -> Iterator[Row]:
    *lists, pro_file, anti_file = files
    genders = {
        line.strip().lower(): gender
        for gender, file in zip(GENDERS, lists, strict=True)
        for _, line in read_lines(file)
    }
    for (line, pro), (_, anti) in zip(read_lines(pro_file), read_lines(anti_file), strict=True):
        pro_parts, anti_parts = _LINE.fullmatch(pro), _LINE.fullmatch(anti)
        if pro_parts is None or anti_parts is None or pro_parts[1] != anti_parts[1]:
            raise DataError.at(anti_file, line, f"{anti!r} does not correspond to {pro!r}")
        sentences = contrast(pro_parts[2], anti_parts[2])
        if isinstance(sentences, str):
            dropped[sentences] += 1
            continue
        masculine, feminine, occupation = sentences
        yield {
            "id": f"{kind}-{split}-{int(pro_parts[1]):03d}",
            "masculine": masculine,
            "feminine": feminine,
            "occupation": occupation,
            "occupation_gender": genders[occupation.lower()],
        }
