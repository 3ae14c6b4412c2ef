"""Gender-swapped pairs from a translator (section 4.3.2 of Pikuliak et al., 2024).

A sentence is translated plainly. Where the translation has a gender, the translator is asked for the
other one with a prompt; the two are a pair if exactly one word differs, its forms start with the same
letter (`builders.pairs.differing_word`), and the new variant has the gender that was asked for. The last rule
is in the paper's appendix G: the genders of this experiment were confirmed with the detection of
section 4.1. It removes words that differ by chance, and variants that are masculine in one place and
feminine in another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gest_dataset.builders.pairs import MERGED, RULES, pair_row
from gest_dataset.gender import Detection
from gest_dataset.stereotypes import GENDERS
from gest_dataset.translation import prompts
from gest_dataset.translation.prompts import FRAMES
from gest_dataset.translation.quotation import quotation
from gest_dataset.translation.samples import GestSentence, TranslatedSentence, is_file, join, wanted
from gest_dataset.translation.translator import Translation

Row = dict[str, Any]
# From English texts to translations by text, and from texts to their genders, in order
Ask = Callable[[Sequence[str]], Mapping[str, Translation]]
Genders = Callable[[Sequence[str]], Sequence[Detection]]

# Why a sentence gives no pair, in the order in which the steps are taken
NO_TRANSLATION = "no translation of the plain sentence"
NO_GENDER = "the plain translation has no known gender"
NO_ANSWER = "no translation of the prompt"
NO_QUOTATION = "no quotation in the translated prompt"
WRONG_GENDER = "the new variant has not the gender asked for"
REASONS = (NO_TRANSLATION, NO_GENDER, NO_ANSWER, NO_QUOTATION, *RULES, WRONG_GENDER, MERGED)

_OTHER = dict(zip(GENDERS, reversed(GENDERS), strict=True))
_FINAL = re.compile(r"[.!?…]+$")


@dataclass(frozen=True)
class Pairs:
    """Rows of the pairs format, the frame of the prompts, and the ids that each rule has left out."""

    rows: list[Row]
    frame: str
    sentences: int
    left_out: dict[str, list[str]]


def make_pairs(
    given: Sequence[GestSentence], system: str, label: str, language: str, ask: Ask, genders: Genders
) -> Pairs:
    """The pairs of one system and language; `label` is the system's name in the rows."""
    left_out: dict[str, list[str]] = {reason: [] for reason in REASONS}
    translations, frame = _translated(given, system, ask)
    samples = []
    for sample in join(given, translations):
        if sample.problem:
            left_out[NO_TRANSLATION].append(sample.id)
        else:
            samples.append(sample)
    asked = []
    for sample, detection in zip(samples, genders([sample.translation for sample in samples]), strict=True):
        if detection.gender in _OTHER:
            asked.append((sample, detection.gender))
        else:
            left_out[NO_GENDER].append(sample.id)
    questions = [FRAMES[frame].ask(sample.source, _OTHER[gender]) for sample, gender in asked]
    if not is_file(system):
        translations |= ask(questions)
    compared = []
    for (sample, gender), question in zip(asked, questions, strict=True):
        row = _pair(sample, gender, translations.get(question), language, label)
        if isinstance(row, str):
            left_out[row].append(sample.id)
        else:
            compared.append((sample, gender, row))
    variants = [row["masculine" if gender == "female" else "feminine"] for _, gender, row in compared]
    rows: dict[str, Row] = {}
    for (sample, gender, row), detection in zip(compared, genders(variants), strict=True):
        if detection.gender != _OTHER[gender]:
            left_out[WRONG_GENDER].append(sample.id)
        elif row["id"] in rows:
            left_out[MERGED].append(sample.id)
        else:
            rows[row["id"]] = row
    return Pairs(list(rows.values()), frame, len(given), left_out)


def _translated(given: Sequence[GestSentence], system: str, ask: Ask) -> tuple[dict[str, Translation], str]:
    """Plain translations by text, and the frame to prompt with.

    A file is asked for everything at once, and its frame is the one with the most answers in it.
    """
    texts = wanted(given, system)
    names = prompts.frames(system)
    if not is_file(system):
        return dict(ask(texts)), names[0]
    framed = {
        name: [FRAMES[name].ask(text, gender) for text in texts for gender in GENDERS] for name in names
    }
    everything = [*texts, *(question for questions in framed.values() for question in questions)]
    known = dict(ask(everything))
    frame = max(framed, key=lambda name: sum(not known[question].problem for question in framed[name]))
    return known, frame


def _pair(
    sample: TranslatedSentence, gender: str, answer: Translation | None, language: str, label: str
) -> Row | str:
    """The row of one sentence, or the rule that it breaks."""
    if answer is None or answer.problem:
        return NO_ANSWER
    quoted = quotation(answer.translation)
    if quoted is None:
        return NO_QUOTATION
    plain = " ".join(sample.translation.split())
    variants = {gender: plain, _OTHER[gender]: _ended(quoted, plain)}
    masculine, feminine = variants["male"], variants["female"]
    return pair_row(language, [label], sample.stereotype, sample.source, masculine, feminine)


def _ended(quoted: str, plain: str) -> str:
    """A quotation that has lost its full stop to the frame gets the plain translation's."""
    end = _FINAL.search(plain)
    return quoted if end is None or _FINAL.search(quoted) else quoted.rstrip(" ,") + end[0]
