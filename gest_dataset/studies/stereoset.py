"""`gest study stereoset`: how stereotypical are models in five languages? (Öztürk et al., 2023)

LMS, SS and ICAT of each test and of both, also averaged over targets, and methods of scoring between
sentences (table 7). Outside of table 7 a model has one method, as in the paper: a causal model its generative
score, any other model that of a next-sentence head if there is one.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path
from typing import Any

from gest_dataset import published
from gest_dataset.builders import CONFIGS
from gest_dataset.builders.config import FAMILIES
from gest_dataset.builders.reading import read_pickle
from gest_dataset.builders.stereoset import TESTS, source
from gest_dataset.builders.stereoset_scores import scores_of_samples
from gest_dataset.data import sources
from gest_dataset.data.rows import rows_of
from gest_dataset.errors import ConfigError
from gest_dataset.measures import MEASURES
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.measure import Inputs as MetricInputs
from gest_dataset.measures.measure import Result
from gest_dataset.measures.result import statistic_inputs
from gest_dataset.probes.stereoset import METHODS
from gest_dataset.published.models import rows_for_model
from gest_dataset.published.released import Released
from gest_dataset.runs.folder import Run, Runs
from gest_dataset.statistics import stereoset_icat
from gest_dataset.studies.study import TEXTS, Row, Study, Table, collect_runs, make_study, model_names

WITHIN, BETWEEN = TESTS
CAUSAL, NSP = "causal", "nsp"  # kinds of models; `nsp` is a method as well
GENERATIVE, RATIO = METHODS[CAUSAL]
# The tables of the paper by number: published copy, tests and statistics
TABLES: dict[int, dict[str, Any]] = TEXTS["stereoset"]
EVERY_METHOD = 7  # the table with every method of scoring between sentences


@dataclass(frozen=True)
class Scored:
    """One model's scores of one test in one language."""

    model: str
    language: str
    test: str
    method: str  # how it was scored between sentences, empty within
    kind: str
    inputs: MetricInputs
    metadata: Mapping[str, Any]  # identify the model
    run: Run | None = None  # None for the authors' scores


@dataclass(frozen=True)
class Entry:
    """The result of a model in a language, over one test or both, for a table of the paper."""

    model: str
    language: str
    method: str
    result: Result
    printed: Mapping[str, Any]  # the paper's row of the same model, language and method, if any


def _entry(table: Mapping[str, Any], parts: Sequence[Scored]) -> Entry:
    """The run's own result of one test, else the statistic of all scores."""
    first, method = parts[0], parts[-1].method
    if len(parts) == 1 and first.run is not None:
        result: Result = first.run.result["result"]
    else:
        joined: Any = {name: list(chain(*(part.inputs[name] for part in parts))) for name in first.inputs}
        result = stereoset_icat(**joined)
    rows = rows_for_model(_printed_rows(table, first.language), first.metadata, "handle")
    # footnote 16: only table 7 has another method for the GPT-2 models
    ways = [row.get("way") or (GENERATIVE if "GPT" in row["model"] else NSP) for row in rows]
    printed = next((row for row, way in zip(rows, ways, strict=True) if method in ("", way)), {})
    return Entry(first.model, first.language, method, result, printed)


def _printed_rows(table: Mapping[str, Any], language: str) -> list[dict[str, Any]]:
    return [row for row in published.load(table["published"])["rows"] if row["language"] == language]


def stereoset(runs: Runs = (), released: str | Path | None = None) -> Study:
    """LMS, SS and ICAT of runs, and of released scores."""
    files = Released(released)
    family = FAMILIES["stereoset"]
    used = collect_runs(
        runs,
        "stereoset",
        lambda run: run.manifest.config in CONFIGS and CONFIGS[run.manifest.config].family is family,
        files,
    )
    scored = scores_of_runs(used) + scores_of_authors(files)
    tables = [_table(number, scored) for number in TABLES]
    return make_study("stereoset", tables, used, files=files)


def scores_of_runs(runs: Sequence[Run]) -> list[Scored]:
    found = []
    for model, run in zip(model_names(runs), runs, strict=True):
        own, config = run.manifest.metadata, run.manifest.config
        _, language, test = config.split("_")
        method = own["options"].get("intersentence") or METHODS[own["kind"]][0] if test == BETWEEN else ""
        inputs = statistic_inputs(MEASURES[run.manifest.measure], run.table, rows_of(config))
        found.append(Scored(model, language, test, method, own["kind"], inputs, own, run))
    return found


def entries(number: int, scored: Sequence[Scored]) -> list[Entry]:
    """The entries of a table: each model and language, and in table 7 each method."""
    by_model: dict[tuple[str, str], dict[tuple[str, str], Scored]] = {}
    for part in scored:
        own = by_model.setdefault((part.model, part.language), {})
        if own.setdefault((part.test, part.method), part) is not part:
            config = f"stereoset_{part.language}_{part.test}"
            raise ConfigError(f"There are two runs of {part.model} on {config}. Give only one.")
    found: list[Entry] = []
    for own in by_model.values():
        kind = next((part.kind for part in own.values() if part.kind != NSP), NSP)
        is_generative = kind == CAUSAL and number != EVERY_METHOD
        methods = [GENERATIVE, NSP, RATIO] if is_generative else [NSP, GENERATIVE, RATIO]
        if number == EVERY_METHOD:  # the authors released scores by formulas that are not in the paper
            methods += sorted({part.method for part in own.values()} - {"", *methods})
        between = [own[BETWEEN, method] for method in methods if (BETWEEN, method) in own]
        within = [part for part in own.values() if part.test == WITHIN]
        by_test = {WITHIN: within, BETWEEN: between if number == EVERY_METHOD else between[:1]}
        choices = product(*(by_test[test] for test in TABLES[number]["tests"]))
        found += [_entry(TABLES[number], parts) for parts in choices]
    return found


def scores_of_authors(files: Released) -> list[Scored]:
    """The released scores, a test at a time. Several files can have the same scores within sentences."""
    found: dict[tuple[str, ...], tuple[Path, Scored]] = {}
    for path, about, scores in files.stereoset:
        for test in scores:
            method = about.method if test == BETWEEN else ""
            frame = read_pickle(sources.fetch(source(test, about.language)))
            samples = scores_of_samples(frame, scores[test])
            if missing := len(frame["id"]) - len(samples):
                files.notes.append(f"{path.name} lacks {missing:,} of {len(frame['id']):,} {test} samples.")
            if not samples:
                continue
            column = frame["target" if about.language == "en" else "target_original"]
            targets = [column[place] for place in samples]
            inputs = {"predictions": [*samples.values()], "references": targets, "units": targets}
            inputs["bias_types"] = [frame["bias_type"][place] for place in samples]
            metadata = {"model": about.model, "from_hub": True}
            name = f"{about.model} (authors)"
            kind = CAUSAL if about.is_causal else ""
            one = Scored(name, about.language, test, method, kind, inputs, metadata)
            key = (name, about.language, test, method)
            used, other = found.setdefault(key, (path, one))
            left_out = path
            if len(other.inputs["predictions"]) < len(samples):  # an incomplete file
                left_out, used, found[key] = used, path, (path, one)
            if other.inputs != one.inputs:
                reason = f"{used.name} is about the same, and differs"
                files.notes.append(f"{left_out.name}: its {test} scores are left out; {reason}.")
    return [one for _, one in found.values()]


def _table(number: int, scored: Sequence[Scored]) -> Table:
    table = TABLES[number]
    rows: list[Row] = []
    for one in entries(number, scored):
        printed_rows = _printed_rows(table, one.language)
        comparable = [row for row in printed_rows if row.get("way", one.method) == one.method]
        method = (one.method,) if BETWEEN in table["tests"] else ()
        for name, label in table["statistics"].items():
            value = Estimate.of(one.result, name)
            if name == "macro_icat":  # a mean over targets, without an interval (docs/metrics.md)
                value = Estimate(value.value, math.nan, math.nan)
            paper = f"{one.printed[name]:g}" if one.printed else ""
            values = [row[name] for row in comparable]
            ends = f"{min(values):g} to {max(values):g}" if values else ""
            rows.append((one.model, one.language, *method, label, value, int(one.result["n"]), paper, ends))
    note = published.load(table["published"])["note"].partition("Hub names). ")[2]
    name = f"table-{number}"
    return Table.create(name, rows, "table-3-stereoset" if number == 3 else name, printed=note)
