"""Translate the samples of StereoSet (section 5.1 of Öztürk et al., 2023).

Contexts keep their BLANK, candidate words and targets are translated on their own, and a sentence is its
context with the word in place of BLANK. Between sentences every sentence is translated. The authors protected
BLANK with Amazon's terminology; here a context is sent with several markers until each BLANK comes back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import regex

from gest_dataset.builders.stereoset import BLANK, CANDIDATES, TESTS
from gest_dataset.studies.stereoset_translation import checks
from gest_dataset.translation.translator import Translation

Row = dict[str, Any]
Translate = Callable[[Sequence[str]], Mapping[str, Translation]]  # English texts -> translations by text

MARKERS = (BLANK, f"[{BLANK}]", "XYZ")
WITHIN = TESTS[0]
_FULL_STOP = regex.compile(r"(?<=\w)\s*[.。।]$")


@dataclass(frozen=True)
class Cell:
    """One text of a sample."""

    test: str
    id: str
    field: str


@dataclass(frozen=True)
class Problem:
    """A problem of a translated text; `context` is the sentence of a word."""

    cell: Cell
    source: str
    translation: str
    kind: str
    detail: str = ""
    context: str = ""

    @property
    def leaves_out(self) -> bool:
        return checks.PROBLEMS[self.kind]


@dataclass
class TranslatedTest:
    """The rows of a test, the problems of all samples, and the number of contexts by marker."""

    test: str
    samples: int
    rows: list[Row] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    markers: Counter[str] = field(default_factory=Counter)
    corrected: int = 0

    @property
    def samples_by_problem(self) -> dict[str, int]:
        ids = {(problem.kind, problem.cell.id) for problem in self.problems}
        counts = Counter(kind for kind, _ in ids)
        return {kind: counts[kind] for kind in checks.PROBLEMS if counts[kind]}

    @property
    def dropped(self) -> dict[str, int]:
        """The number of samples that are left out, by their first problem."""
        first: dict[str, str] = {}
        for problem in self.problems:
            if problem.leaves_out:
                first.setdefault(problem.cell.id, problem.kind)
        return dict(Counter(first.values()))


def translated_fields(test: str) -> tuple[str, ...]:
    """The fields of a test that are translated; sentences within follow from the words."""
    suffix = "_word" if test == WITHIN else ""
    return ("target", "context", *(f"{name}{suffix}" for name in CANDIDATES.values()))


def translate_test(
    test: str,
    rows: Sequence[Row],
    language: str,
    translate: Translate,
    markers: Sequence[str],
    corrections: Mapping[Cell, str],
) -> TranslatedTest:
    """Translate and check the samples of a test; corrections replace translations."""
    result = TranslatedTest(test, len(rows))
    marked = {"context"} if test == WITHIN else set()
    fields = translated_fields(test)
    texts = [row[name] for row in rows for name in fields if name not in marked]
    translations = dict(translate(list(dict.fromkeys(texts))))
    contexts: dict[str, Translation] = {}
    if test == WITHIN:
        contexts = _translate_contexts([row["context"] for row in rows], translate, markers, result.markers)
    for row in rows:
        new, problems = dict(row), []
        for name in fields:
            cell, source = Cell(test, row["id"], name), row[name]
            translation = (contexts if name in marked else translations)[source]
            new[name] = "" if translation.problem else translation.translation
            if cell in corrections:
                new[name] = corrections[cell]
                result.corrected += 1
            elif name.endswith("_word"):
                new[name] = _strip_full_stop(source, new[name])
            for kind in _check_text(name, source, new[name], language):
                # a corrected text was checked by a person
                if checks.PROBLEMS[kind] or cell not in corrections:
                    detail = translation.problem if kind == checks.MISSING else ""
                    problems.append(Problem(cell, source, new[name], kind, detail))
        if not any(problem.leaves_out for problem in problems):
            if test == WITHIN:
                for name in CANDIDATES.values():
                    new[name] = new["context"].replace(BLANK, new[f"{name}_word"])
            for name, kind in checks.check_candidates(new):
                problems.append(Problem(Cell(test, row["id"], name), row[name], new[name], kind))
        for problem in problems:
            is_word = problem.cell.field.endswith("_word")
            result.problems.append(replace(problem, context=new["context"] if is_word else ""))
        if not any(problem.leaves_out for problem in problems):
            result.rows.append(new)
    return result


def _check_text(field: str, source: str, translation: str, language: str) -> Iterator[str]:
    if not translation.strip():
        yield checks.MISSING
    elif field.endswith("_word"):
        yield from checks.check_word(source, translation, language)
    elif field != "target":
        yield from checks.check_context(source, translation)


def _translate_contexts(
    contexts: Sequence[str], translate: Translate, markers: Sequence[str], counts: Counter[str]
) -> dict[str, Translation]:
    """Translations with the first marker that keeps every BLANK; else those with the first marker."""
    complete: dict[str, Translation] = {}
    first: dict[str, Translation] = {}
    for marker in markers:
        missing = [text for text in dict.fromkeys(contexts) if text not in complete]
        translations = translate([text.replace(BLANK, marker) for text in missing])
        for text in missing:
            answer = translations[text.replace(BLANK, marker)]
            translation = Translation(text, answer.translation.replace(marker, BLANK), answer.problem)
            first.setdefault(text, translation)
            if not answer.problem and translation.translation.count(BLANK) == text.count(BLANK):
                complete[text] = translation
                counts[marker] += 1
    return first | complete


def _strip_full_stop(source: str, word: str) -> str:
    """A word without the full stop that many systems add."""
    return word.strip() if _FULL_STOP.search(source) else _FULL_STOP.sub("", word.strip())
