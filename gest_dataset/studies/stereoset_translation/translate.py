"""StereoSet in another language: translated by a system, checked by rules, corrected by a person.

Section 5.1 of Oeztuerk et al. (2023): contexts are translated with BLANK kept as it is, candidate words and
targets on their own, and a sentence is its context with the word in the place of BLANK. Between sentences
every sentence is translated. The authors kept BLANK with Amazon's terminology; here any system is asked with
marks that most of them leave alone, one after the other, until each BLANK is there again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import regex

from gest_dataset.builders.stereoset import BLANK, CANDIDATES, TESTS
from gest_dataset.studies.stereoset_translation import checks
from gest_dataset.translation.sentences import is_file
from gest_dataset.translation.translator import Translation

Row = dict[str, Any]
# From English texts to translations by text
Ask = Callable[[Sequence[str]], Mapping[str, Translation]]

# What stands for BLANK when a system is asked; a file of translations is looked up as it is
MARKS = (BLANK, f"[{BLANK}]", "XYZ")
_STOP = regex.compile(r"(?<=\w)\s*[.。।]$")


@dataclass(frozen=True)
class Cell:
    """Which text of which sample; as a row of a file of corrections names it."""

    test: str
    id: str
    field: str


@dataclass(frozen=True)
class Problem:
    """What is wrong with a text; `context` is what a word stands in, `why` what the translator says."""

    cell: Cell
    source: str
    translation: str
    kind: str
    context: str = ""
    why: str = ""


Corrections = Mapping[Cell, str]


@dataclass
class Made:
    """One test: its rows, the problems of all samples, and how many BLANKs came back with which mark."""

    test: str
    asked: int
    rows: list[Row] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    marks: Counter[str] = field(default_factory=Counter)
    corrected: int = 0

    @property
    def kinds(self) -> dict[str, int]:
        """The number of samples that have a problem, by its kind."""
        samples = {(problem.kind, problem.cell.id) for problem in self.problems}
        found = Counter(kind for kind, _ in samples)
        return {kind: found[kind] for kind in checks.KINDS if found[kind]}

    @property
    def left_out(self) -> dict[str, int]:
        """The number of samples that are left out, each for the first of its reasons."""
        first: dict[str, str] = {}
        for problem in self.problems:
            if checks.KINDS[problem.kind]:
                first.setdefault(problem.cell.id, problem.kind)
        return dict(Counter(first.values()))


def fields_of(test: str) -> tuple[str, ...]:
    """The fields of a test that are translated; the sentences within follow from the words."""
    suffix = "_word" if test == TESTS[0] else ""
    return ("target", "context", *(f"{name}{suffix}" for name in CANDIDATES.values()))


def translate_test(
    test: str, rows: Sequence[Row], system: str, language: str, ask: Ask, corrections: Corrections
) -> Made:
    """The samples of a test in a language, and the problems, also of those that are left out."""
    made = Made(test, len(rows))
    within = test == TESTS[0]
    others = [row[name] for row in rows for name in fields_of(test) if not (within and name == "context")]
    answers = dict(ask(list(dict.fromkeys(others))))
    contexts = _contexts([row["context"] for row in rows], system, ask, made.marks) if within else {}
    for row in rows:
        new, problems = dict(row), []
        for name in fields_of(test):
            cell, source = Cell(test, row["id"], name), row[name]
            answer = contexts[source] if within and name == "context" else answers[source]
            if cell in corrections:
                new[name] = corrections[cell]
                made.corrected += 1
            elif answer.problem:
                new[name] = ""
            else:
                new[name] = (
                    _word(source, answer.translation) if name.endswith("_word") else answer.translation
                )
            for kind in _kinds(name, source, new[name], language):
                # a person has looked at what is no hindrance
                if checks.KINDS[kind] or cell not in corrections:
                    why = answer.problem if kind == checks.MISSING else ""
                    problems.append(Problem(cell, source, new[name], kind, why=why))
        problems += _of_row(test, row, new, problems)
        if within:
            problems = [_in_context(problem, new["context"]) for problem in problems]
        made.problems += problems
        if not any(checks.KINDS[problem.kind] for problem in problems):
            made.rows.append(new)
    return made


def _of_row(test: str, row: Row, new: Row, problems: Sequence[Problem]) -> Iterator[Problem]:
    """Fill the sentences of a row that has all its texts, and look at its candidates together."""
    if any(checks.KINDS[problem.kind] for problem in problems):
        return
    if test == TESTS[0]:
        new |= {name: new["context"].replace(BLANK, new[f"{name}_word"]) for name in CANDIDATES.values()}
    for name, kind in checks.of_candidates(new):
        yield Problem(Cell(test, row["id"], name), row[name], new[name], kind)


def _kinds(name: str, source: str, made: str, language: str) -> Iterator[str]:
    if not made.strip():
        yield checks.MISSING
    elif name == "target":
        return
    elif name.endswith("_word"):
        yield from checks.of_word(source, made, language)
    else:
        yield from checks.of_context(source, made)


def _contexts(contexts: Sequence[str], system: str, ask: Ask, marks: Counter[str]) -> dict[str, Translation]:
    """Translations with as many BLANKs as there were, with the first mark that gives them; else the first."""
    found: dict[str, Translation] = {}
    first: dict[str, Translation] = {}
    for mark in MARKS[:1] if is_file(system) else MARKS:
        missing = [text for text in dict.fromkeys(contexts) if text not in found]
        answers = ask([text.replace(BLANK, mark) for text in missing])
        for text in missing:
            answer = answers[text.replace(BLANK, mark)]
            made = Translation(text, answer.translation.replace(mark, BLANK), answer.problem)
            first.setdefault(text, made)
            if not made.problem and made.translation.count(BLANK) == text.count(BLANK):
                found[text] = made
                marks[mark] += 1
    return {text: found.get(text, first[text]) for text in contexts}


def _word(source: str, made: str) -> str:
    """A word as it stands in a sentence: without the full stop that many systems put behind everything."""
    made = made.strip()
    return made if _STOP.search(source) else _STOP.sub("", made)


def _in_context(problem: Problem, context: str) -> Problem:
    if problem.cell.field in ("context", "target"):
        return problem
    return replace(problem, context=context)
