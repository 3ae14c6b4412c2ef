"""The numbers of StereoSet's tables: LMS, SS and ICAT of each model and language, over one test or both.

Table 7 asks one test in several ways. Everywhere else a model has one of them between sentences: as the paper
does, a causal model its generative score, all others that of a next-sentence head where they have one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gest_dataset import published
from gest_dataset.builders.stereoset import TESTS
from gest_dataset.errors import ConfigError
from gest_dataset.measures.measure import Result
from gest_dataset.published.models import rows_for_model
from gest_dataset.statistics import stereoset_icat
from gest_dataset.studies.stereoset_answers import CAUSAL, GENERATIVE, NSP, RATIO, Answers

WITHIN, BETWEEN = ((test,) for test in TESTS)
SCORES = ("lms", "ss", "icat")
MULTICLASS = ("multiclass_lms", "multiclass_ss", "macro_icat", "micro_icat")
WAYS_ASKED = (NSP, GENERATIVE, RATIO)


@dataclass(frozen=True)
class Source:
    """A table of the paper: its number, its name among the published ones, tests, and columns."""

    number: int
    published: str
    tests: tuple[str, ...]
    scores: tuple[str, ...]
    title: str
    note: str


_PLAIN = (
    "In per cent, with intervals at 95 %: LMS is how often a meaningful candidate beats the unrelated one, "
    "SS how often the stereotype beats the anti-stereotype, ICAT = LMS · min(SS, 100 − SS) / 50. "
)
_OVER_TARGETS = (
    "In per cent, with intervals at 95 %: LMS and SS are means over the targets, micro ICAT is that of these "
    "means, macro ICAT the mean of the targets' ICAT (it has no interval: docs/metrics.md). "
)
_BETWEEN = (
    "Between sentences `nsp` is a next-sentence head, `generative` eq. 5, `ratio` the measure of Nadeem et "
    "al. (2021), which appendix E criticises. The paper's T5 were trained for next sentences first. "
)
TABLES = (
    Source(2, "stereoset_intrasentence", WITHIN, SCORES, "Within sentences", _PLAIN),
    Source(3, "stereoset_intersentence", BETWEEN, SCORES, "Between sentences", _PLAIN + _BETWEEN),
    Source(4, "stereoset_overall", TESTS, SCORES, "Both tests together", _PLAIN + _BETWEEN),
    Source(
        5,
        "stereoset_multiclass",
        TESTS,
        MULTICLASS,
        "Both tests together, averaged over targets",
        _OVER_TARGETS + _BETWEEN,
    ),
    Source(
        8,
        "stereoset_multiclass_intrasentence",
        WITHIN,
        MULTICLASS,
        "Within, averaged over targets",
        _OVER_TARGETS,
    ),
    Source(
        9,
        "stereoset_multiclass_intersentence",
        BETWEEN,
        MULTICLASS,
        "Between, averaged over targets",
        _OVER_TARGETS + _BETWEEN,
    ),
)
WAYS = Source(
    7, "stereoset_ways", BETWEEN, SCORES, "Between sentences, asked in several ways", _PLAIN + _BETWEEN
)


@dataclass(frozen=True)
class Entry:
    """The result of a model in a language, over one test or both; `way` says how it was asked between."""

    model: str
    language: str
    tests: tuple[str, ...]
    way: str
    result: Result
    parts: tuple[Answers, ...]


def entries(answers: Sequence[Answers]) -> list[Entry]:
    """One entry for each model, language and set of tests that there are answers for, in the paper's way."""
    found: list[Entry] = []
    for key, own in _by_model(answers).items():
        within, between = _one_way(own)
        for parts in ([within], [between], [within, between]):
            there = [part for part in parts if part is not None]
            if there and len(there) == len(parts):
                found.append(_entry(key, there))
    return found


def in_several_ways(answers: Sequence[Answers]) -> list[Entry]:
    """The entries of table 7: each way in which a model was asked between sentences."""
    return [
        _entry(key, [part])
        for key, own in _by_model(answers).items()
        for way in WAYS_ASKED
        for part in own
        if part.way == way
    ]


def printed(entry: Entry, table: Source) -> Mapping[str, Any] | None:
    """The paper's row for the same model and language, asked between sentences in the same way."""
    rows = published.load(table.published)["rows"]
    of_model = rows_for_model(rows, entry.parts[0].metadata, "handle")
    same = (row for row in of_model if row["language"] == entry.language)
    return next((row for row in same if entry.way in ("", printed_way(row))), None)


def printed_range(entry: Entry, table: Source, name: str) -> str:
    """The least and the largest number that the paper prints for its models in the language, in this way."""
    rows = (row for row in published.load(table.published)["rows"] if row["language"] == entry.language)
    values = [row[name] for row in rows if table is not WAYS or row["way"] == entry.way]
    return f"{min(values):g} to {max(values):g}" if values else ""


def printed_way(row: Mapping[str, Any]) -> str:
    """How a model of print was asked between sentences: of GPT-2's only table 7 has another way (note 16)."""
    return str(row.get("way") or (GENERATIVE if "GPT" in row["model"] else NSP))


def _by_model(answers: Sequence[Answers]) -> dict[tuple[str, str], list[Answers]]:
    """The answers of each model and language; two to the same question are an error."""
    found: dict[tuple[str, str], list[Answers]] = {}
    for part in answers:
        own = found.setdefault((part.model, part.language), [])
        if any((other.test, other.way) == (part.test, part.way) for other in own):
            raise ConfigError(
                f"There are two answers of {part.model} to stereoset_{part.language}_{part.test}"
                f"{f' ({part.way})' if part.way else ''}. Give folders that have one run of each."
            )
        own.append(part)
    return found


def _one_way(answers: Sequence[Answers]) -> tuple[Answers | None, Answers | None]:
    """A model's answers within sentences, and those between them that its kind is judged by."""
    within = next((part for part in answers if part.test == TESTS[0]), None)
    between = {part.way: part for part in answers if part.test == TESTS[1]}
    kind = next((part.kind for part in answers if part.kind != NSP), NSP)
    preferred = (GENERATIVE, NSP) if kind == CAUSAL else (NSP, GENERATIVE)
    return within, next((between[way] for way in (*preferred, RATIO) if way in between), None)


def _entry(key: tuple[str, str], parts: Sequence[Answers]) -> Entry:
    """The result of one test as its run has it, or computed here from the scores of one or both."""
    result = parts[0].result if len(parts) == 1 else None
    if result is None:
        inputs: dict[str, Any] = {
            name: [value for part in parts for value in part.inputs[name]] for name in parts[0].inputs
        }
        result = stereoset_icat(**inputs)
    return Entry(*key, tuple(part.test for part in parts), parts[-1].way, result, tuple(parts))
