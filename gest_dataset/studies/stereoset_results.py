"""LMS, SS and ICAT per model and language, from runs and from the authors' released scores.

Table 7 compares methods of scoring between sentences. Everywhere else a model has one: as in the paper, a
causal model its generative score, any other model that of a next-sentence head if there is one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gest_dataset import published
from gest_dataset.builders.stereoset import CANDIDATES, SLOTS, TESTS, source
from gest_dataset.builders.unpickle import read_frame
from gest_dataset.data import sources
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.languages import STEREOSET
from gest_dataset.measures.measure import Inputs as MetricInputs
from gest_dataset.measures.measure import Result
from gest_dataset.probes.stereoset import METHODS
from gest_dataset.published.models import rows_for_model
from gest_dataset.report.labels import LabelledRun
from gest_dataset.runs.folder import Run
from gest_dataset.statistics import stereoset_icat
from gest_dataset.storage import parse_json

# Names of the authors' files: model, their classes within and between sentences, language
_FILE = re.compile(r"(?P<model>.+?)_[A-Z][A-Za-z0-9]*_(?P<between>[A-Z]\w*?)_(?P<language>[a-z]{2,3})\.json")
_NEXT_SENTENCE = re.compile(r"Next|NSP", re.IGNORECASE)
WITHIN, BETWEEN = TESTS
CAUSAL, NSP = "causal", "nsp"  # kinds of models; `nsp` is a method as well
GENERATIVE, RATIO = METHODS[CAUSAL]
_SCORES = {"lms": "LMS", "ss": "SS", "icat": "ICAT"}
_OVER_TARGETS = {
    "multiclass_lms": "LMS",
    "multiclass_ss": "SS",
    "macro_icat": "ICAT macro",
    "micro_icat": "ICAT micro",
}


@dataclass(frozen=True)
class Source:
    """A table of the paper: its number, its published copy, the tests and the statistics."""

    number: int
    published: str
    tests: tuple[str, ...]
    statistics: Mapping[str, str]

    @property
    def rows(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = published.load(self.published)["rows"]
        return rows


METHOD_TABLE = Source(7, "stereoset_ways", (BETWEEN,), _SCORES)
TABLES = (
    Source(2, "stereoset_intrasentence", (WITHIN,), _SCORES),
    Source(3, "stereoset_intersentence", (BETWEEN,), _SCORES),
    Source(4, "stereoset_overall", TESTS, _SCORES),
    Source(5, "stereoset_multiclass", TESTS, _OVER_TARGETS),
    METHOD_TABLE,
    Source(8, "stereoset_multiclass_intrasentence", (WITHIN,), _OVER_TARGETS),
    Source(9, "stereoset_multiclass_intersentence", (BETWEEN,), _OVER_TARGETS),
)


@dataclass(frozen=True)
class Scored:
    """One model's scores of one test in one language.

    `method` is how it was scored between sentences, empty within. `inputs` are those of the statistic.
    `metadata` identify the model. `run` is None for the authors' scores.
    """

    model: str
    language: str
    test: str
    method: str
    kind: str
    inputs: MetricInputs
    metadata: Mapping[str, Any]
    run: Run | None = None


@dataclass(frozen=True)
class Entry:
    """The result of a model in a language, over one test or both."""

    parts: tuple[Scored, ...]
    result: Result

    @classmethod
    def of(cls, parts: Sequence[Scored]) -> Entry:
        """The run's own result of one test, else the statistic of all scores."""
        if len(parts) == 1 and parts[0].run is not None:
            return cls(tuple(parts), LabelledRun(parts[0].run, parts[0].model, 0).result)
        joined: dict[str, Any] = {
            name: [value for part in parts for value in part.inputs[name]] for name in parts[0].inputs
        }
        return cls(tuple(parts), stereoset_icat(**joined))

    @property
    def model(self) -> str:
        return self.parts[0].model

    @property
    def language(self) -> str:
        return self.parts[0].language

    @property
    def tests(self) -> tuple[str, ...]:
        return tuple(part.test for part in self.parts)

    @property
    def method(self) -> str:
        return self.parts[-1].method

    def printed(self, source: Source) -> Mapping[str, Any] | None:
        """The paper's row of the same model, language and method."""
        for row in rows_for_model(source.rows, self.parts[0].metadata, "handle"):
            # footnote 16: only table 7 has another method for the GPT-2 models
            method = row.get("way") or (GENERATIVE if "GPT" in row["model"] else NSP)
            if row["language"] == self.language and self.method in ("", method):
                return row
        return None

    def printed_range(self, source: Source, name: str) -> str:
        """The smallest and the largest printed number for the language."""
        values = [
            row[name]
            for row in source.rows
            if row["language"] == self.language and row.get("way", self.method) == self.method
        ]
        return f"{min(values):g} to {max(values):g}" if values else ""


def entries(scored: Sequence[Scored]) -> list[Entry]:
    """An entry for each model, language and set of tests, with the method that the paper uses.

    Between sentences that is generation for causal models, and a next-sentence head for others that have one.
    """
    found: list[Entry] = []
    for own in _by_model(scored).values():
        within = [part for part in own if part.test == WITHIN][:1]
        between = {part.method: part for part in own if part.test == BETWEEN}
        kind = next((part.kind for part in own if part.kind != NSP), NSP)
        preferred = (GENERATIVE, NSP, RATIO) if kind == CAUSAL else (NSP, GENERATIVE, RATIO)
        best = [between[method] for method in preferred if method in between][:1]
        found += [Entry.of(parts) for parts in (within, best) if parts]
        if within and best:
            found.append(Entry.of(within + best))
    return found


def method_entries(scored: Sequence[Scored]) -> list[Entry]:
    """An entry for each method with which a model was scored between sentences (table 7)."""
    return [
        Entry.of([part])
        for own in _by_model(scored).values()
        for method in (NSP, GENERATIVE, RATIO)
        for part in own
        if part.method == method
    ]


def _by_model(scored: Sequence[Scored]) -> dict[tuple[str, str], list[Scored]]:
    """The scores of each model and language."""
    found: dict[tuple[str, str], list[Scored]] = {}
    for part in scored:
        own = found.setdefault((part.model, part.language), [])
        if any((other.test, other.method) == (part.test, part.method) for other in own):
            raise ConfigError(
                f"There are two runs of {part.model} on stereoset_{part.language}_{part.test}. Give only one."
            )
        own.append(part)
    return found


def read_authors_scores(folder: Path) -> tuple[list[Scored], dict[str, str]]:
    """The scores in a folder of the authors' files, and the hash of each file."""
    matches = [_FILE.fullmatch(path.name) for path in sorted(folder.iterdir())] if folder.is_dir() else []
    chosen = [match for match in matches if match and match["language"] in STEREOSET]
    if not chosen:
        raise ConfigError(
            f"{folder} contains no StereoSet scores, which are named like gpt2_GPT2LM_GPT2LM_d_en.json: "
            f"model, a class for each test, language."
        )
    scored: list[Scored] = []
    hashes: dict[str, str] = {}
    for match in chosen:
        content = (folder / match[0]).read_bytes()
        hashes[match[0]] = hashlib.sha256(content).hexdigest()
        scored += _scores_of_file(folder / match[0], content, match)
    return scored, hashes


def _scores_of_file(path: Path, content: bytes, match: re.Match[str]) -> list[Scored]:
    """Both tests of a file `{test: [{id, score}, ...]}` with an id for each candidate."""
    model, language = match["model"], match["language"]
    handles = [row["handle"] for row in TABLES[2].rows if row["language"] == language]
    handle = next((handle for handle in handles if handle.rpartition("/")[2] == model), model)
    method = NSP if _NEXT_SENTENCE.search(match["between"]) else GENERATIVE
    scored: list[Scored] = []
    for test in TESTS:
        frame = read_frame(sources.fetch(source(test, language)))
        try:
            scores = {entry["id"]: float(entry["score"]) for entry in parse_json(content)[test]}
            predictions = []
            for place in range(len(frame["id"])):
                ids = {frame[f"{slot}_gold_label"][place]: frame[f"{slot}_id"][place] for slot in SLOTS}
                predictions.append([scores[ids[label]] for label in CANDIDATES])
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path} is not a complete file of StereoSet scores: {error!r}.") from error
        targets = list(frame["target" if language == "en" else "target_original"])
        inputs = {
            "predictions": predictions,
            "references": targets,
            "bias_types": list(frame["bias_type"]),
            "units": targets,
        }
        own_method = method if test == BETWEEN else ""
        metadata = {"model": handle, "from_hub": True}
        scored.append(Scored(f"{handle} (authors)", language, test, own_method, "", inputs, metadata))
    return scored
