"""`gest study stereoset`: how stereotypical are models in five languages? (Öztürk et al., 2023)

Tables 2 to 5, 8 and 9 of the paper (LMS, SS and ICAT of each test and of both, also averaged over targets)
and table 7 (discriminative against generative scoring between sentences) for any models.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gest_dataset import published
from gest_dataset.builders import CONFIGS
from gest_dataset.builders.families import STEREOSET as FAMILY
from gest_dataset.builders.stereoset import TESTS
from gest_dataset.data.rows import rows_of
from gest_dataset.errors import ConfigError
from gest_dataset.languages import STEREOSET
from gest_dataset.measures import MEASURES
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.result import statistic_inputs
from gest_dataset.models.names import normalized_name
from gest_dataset.probes.probe import Options
from gest_dataset.probes.stereoset import METHODS
from gest_dataset.published.models import hub_ids
from gest_dataset.report import panels_headlines
from gest_dataset.report.labels import LabelledRun
from gest_dataset.report.panel import Panel
from gest_dataset.runs.folder import Run, find_runs
from gest_dataset.studies.inputs import (
    Batch,
    Inputs,
    collect_runs,
    limitations,
    model_names,
    require_runs,
    sources_of,
)
from gest_dataset.studies.stereoset_results import (
    BETWEEN,
    CAUSAL,
    METHOD_TABLE,
    RATIO,
    TABLES,
    Entry,
    Scored,
    Source,
    entries,
    method_entries,
    read_authors_scores,
)
from gest_dataset.studies.study import Row, Study, Table


def stereoset(
    inputs: Inputs | Sequence[str | Path | Run] = (),
    languages: Sequence[str] = (),
    nsp: Mapping[str, str] | None = None,
    scores: str | Path | None = None,
) -> Study:
    """LMS, SS and ICAT of runs and models, and of the authors' files in `scores`.

    Models are scored in `languages` (default: the paper's models in theirs, others in all five). `nsp` maps a
    model to its checkpoint with a next-sentence head, which is scored between sentences.
    """
    inputs = Inputs.of(inputs)
    heads = dict(nsp or {})
    finished = find_runs(inputs.runs)
    _check_heads(heads, inputs.models, finished)
    checkpoints = [head for model, head in heads.items() if model in inputs.models]
    runs = collect_runs(
        replace(inputs, runs=finished, models=list(dict.fromkeys([*inputs.models, *checkpoints]))),
        "stereoset",
        _batches([model for model in inputs.models if model not in checkpoints], languages, heads),
        lambda run: run.manifest.config in CONFIGS and CONFIGS[run.manifest.config].family is FAMILY,
    )
    scored = scores_of_runs(runs, heads)
    sources = sources_of(runs)
    if scores is not None:
        released, hashes = read_authors_scores(Path(scores))
        scored += released
        sources |= hashes
    require_runs(scored, "stereoset")
    found, by_method = entries(scored), method_entries(scored)
    tables = [_table(source, by_method if source is METHOD_TABLE else found) for source in TABLES]
    return Study(
        "stereoset",
        "How stereotypical are models across languages?",
        tuple(table for table in tables if table.rows),
        tuple(_figures(found)),
        tuple(limitations(runs, model_names(runs))),
        sources,
    )


def _check_heads(heads: Mapping[str, str], models: Sequence[str], runs: Sequence[Run]) -> None:
    """Refuse a checkpoint of a model that is not in the study, or without a run of its own."""
    names = {run.manifest.model for run in runs}
    for model, head in heads.items():
        if model not in models and normalized_name(model) not in names:
            known = ", ".join([*models, *sorted(names)]) or "none"
            raise ConfigError(f"--nsp names {model}, which is not one of the models of this study: {known}.")
        if model not in models and normalized_name(head) not in names:
            raise ConfigError(
                f"There is no run of {head}, the checkpoint of {model}. Add --model {model}, or run: gest "
                f"score {head} --config stereoset_en_{BETWEEN}"
            )


def _batches(models: Sequence[str], languages: Sequence[str], heads: Mapping[str, str]) -> list[Batch]:
    """Both tests for each model; between sentences causal models with both methods."""
    unknown = [code for code in languages if code not in STEREOSET]
    if unknown:
        raise ConfigError(f"StereoSet has no language {unknown[0]!r}. Choose from {', '.join(STEREOSET)}.")
    batches = []
    for model in models:
        printed = {row["language"] for row in TABLES[0].rows if model in hub_ids(row["handle"])}
        own = languages or [code for code in STEREOSET if code in printed] or STEREOSET
        between = ",".join(f"stereoset_{code}_{BETWEEN}" for code in own)
        both = ",".join(f"stereoset_{code}_{test}" for code in own for test in TESTS)
        batches.append(Batch(both, models=(model,)))
        batches.append(Batch(between, Options(intersentence=RATIO), RATIO, (CAUSAL,), (model,)))
        if model in heads:
            batches.append(Batch(between, models=(heads[model],)))
    return batches


def scores_of_runs(runs: Sequence[Run], heads: Mapping[str, str] | None = None) -> list[Scored]:
    """The scores of the runs; those of a next-sentence checkpoint count as its model's."""
    base = {normalized_name(head): normalized_name(model) for model, head in (heads or {}).items()}
    names = dict(zip([run.manifest.model for run in runs], model_names(runs), strict=True))
    metadata = {run.manifest.model: run.manifest.metadata for run in runs}
    found = []
    for run in runs:
        own = run.manifest.metadata
        model = base.get(run.manifest.model, run.manifest.model)
        _, language, test = run.manifest.config.split("_")
        method = own["options"].get("intersentence") or METHODS[own["kind"]][0] if test == BETWEEN else ""
        found.append(
            Scored(
                names.get(model, model.rpartition("/")[2]),
                language,
                test,
                method,
                own["kind"],
                statistic_inputs(MEASURES[run.manifest.measure], run.table, rows_of(run.manifest.config)),
                metadata.get(model, {}),
                run,
            )
        )
    return found


def _table(source: Source, found: Sequence[Entry]) -> Table:
    """A table of the paper, a row per number."""
    chosen = [one for one in found if one.tests == source.tests]
    if source is METHOD_TABLE:  # models with one method only, which the paper does not print, are left out
        models = [(one.model, one.language) for one in chosen]
        chosen = [one for one in chosen if models.count((one.model, one.language)) > 1 or one.printed(source)]
    rows: list[Row] = []
    for one in chosen:
        printed = one.printed(source)
        method = (one.method,) if BETWEEN in source.tests else ()
        for name, label in source.statistics.items():
            value = Estimate.of(one.result, name)
            if name == "macro_icat":  # a mean over targets, without an interval (docs/metrics.md)
                value = Estimate(value.value, math.nan, math.nan)
            paper = f"{printed[name]:g}" if printed else ""
            cells = (label, value, int(one.result["n"]), paper, one.printed_range(source, name))
            rows.append((one.model, one.language, *method, *cells))
    note = published.load(source.published)["note"].partition("Hub names). ")[2]
    text = "table-3-stereoset" if source.number == 3 else f"table-{source.number}"
    return replace(Table.create(text, rows, printed=note), name=f"table-{source.number}")


def _figures(found: Sequence[Entry]) -> list[Panel]:
    """LMS, SS and ICAT of each test and language; a colour per model."""
    numbers = {model: number for number, model in enumerate(dict.fromkeys(one.model for one in found))}
    single = [one.parts[0] for one in found if len(one.parts) == 1]
    runs = [LabelledRun(part.run, part.model, numbers[part.model]) for part in single if part.run is not None]
    return list(panels_headlines.stereoset(runs))
