"""`gest study templates`: how far templates and models agree (Pikuliak et al., 2024, section 4.2.3).

The paper's averages are means of Pearson correlations of the 16 ln q_i:

    between templates   over all pairs of templates of one model, of all models at once   0.87
    between models      over all pairs of models in a template, then over templates       0.83

These readings are those that give the printed numbers from the released ln q_i (`studies.printed`); means
over all pairs of models and templates would be 0.82. At the level of samples the same pairs are taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from gest_dataset.errors import ConfigError
from gest_dataset.measures.formatting import format_number
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.stereotype_rate import TEMPLATES
from gest_dataset.report.panel import Panel
from gest_dataset.runs.reading import Run
from gest_dataset.statistics import feminine_ranks
from gest_dataset.statistics.checks import Floats
from gest_dataset.statistics.correlation import mean_correlation
from gest_dataset.statistics.reliability import variance_shares
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.studies.asking import (
    Asked,
    check_given_once,
    check_same_data,
    notes_of,
    runs_of,
    sources_of,
)
from gest_dataset.studies.profiles import Profiles, of_files, of_runs
from gest_dataset.studies.study import Cell, Study, Table
from gest_dataset.studies.template_figures import panels_of_templates, rank_boxes

TITLE = "Do the templates agree?"
PAPERS = "the paper"
_BETWEEN_TEMPLATES, _BETWEEN_MODELS = "0.87", "0.83"  # as printed, over 11 masked and 22 causal models
_INTERVALS = (
    "Intervals are at 95 %, by the jackknife: of q_i over the 16 stereotypes, of samples over samples. "
)


def templates(asked: Asked | Sequence[str | Path | Run] = (), scores: str | Path | None = None) -> Study:
    """How far templates and models agree: runs in English, and the authors' files in `scores`."""
    asked = Asked.of(asked)
    runs = runs_of(asked, "templates", "en", lambda run: run.manifest.measure == TEMPLATES.name)
    check_same_data(runs)
    check_given_once(runs, lambda run: TEMPLATES.name)
    found = of_runs(runs)
    notes = notes_of(runs, [one.name for one in found])
    sources = sources_of(runs)
    if scores is not None:
        released, hashes = of_files(Path(scores))
        found += released
        sources |= hashes
    if not found:
        raise ConfigError(
            "The study of templates needs runs of a model in English templates (gest score MODEL), a --model "
            "to score, or a folder of --scores."
        )
    names = [one.name for one in found]
    if len({*names}) < len(names):
        raise ConfigError(f"Two of {', '.join(names)} have one name: give runs or files of each model once.")
    return study_of(found, sources, tuple(notes))


def study_of(found: Sequence[Profiles], sources: dict[str, str], notes: tuple[str, ...] = ()) -> Study:
    """The study of some models' scores; `notes` are those on their runs."""
    within, within_mean = between_templates(found)
    across, across_mean = between_models(found)
    tables = (within, across, _variance(found), _ranks(found))
    figures: list[Panel] = [panels_of_templates(found)]
    if sum(len(one.templates) for one in found) > 1:
        figures.append(rank_boxes(found))
    return Study(
        "templates",
        TITLE,
        tuple(table for table in tables if table.rows),
        tuple(figures),
        tuple(_sentences(within_mean, across_mean)),
        (*notes, *_notes(found)),
        sources,
    )


def _sentences(within: Estimate | None, across: Estimate | None) -> Iterator[str]:
    if within is not None:
        yield (
            f"Between two templates of one model the 16 rates q_i correlate by {_spoken(within)} on average; "
            f"the paper's models by {_BETWEEN_TEMPLATES}."
        )
    if across is not None:
        yield (
            f"Between two models in one template the 16 rates q_i correlate by {_spoken(across)} on average; "
            f"the paper's models by {_BETWEEN_MODELS}."
        )


def _spoken(estimate: Estimate) -> str:
    return format_number(estimate.value) if np.isnan(estimate.low) else str(estimate)


def _notes(found: Sequence[Profiles]) -> Iterator[str]:
    single = [one.name for one in found if len(one.templates) == 1]
    if single:
        yield f"In one template only, so that nothing is told between templates: {', '.join(single)}."
    if len(found) == 1:
        yield "One model: nothing is told between models."
    partly = [one.name for one in found if not np.isfinite(one.ln_q()).all()]
    if partly:
        yield (
            f"Without a score for some stereotype in some template, and so not in the correlations of q_i "
            f"there: {', '.join(partly)}."
        )


def between_templates(found: Sequence[Profiles]) -> tuple[Table, Estimate | None]:
    """Mean correlations between the templates of each model, and over all pairs of all models at once."""
    rows: list[tuple[Cell, ...]] = []
    columns: list[Floats] = []
    pairs: list[tuple[int, int]] = []
    for one in found:
        ln_q = one.ln_q()
        known = [place for place in range(ln_q.shape[1]) if np.isfinite(ln_q[:, place]).all()]
        if len(known) < 2:
            continue
        own = list(combinations(range(len(known)), 2))
        first = len(columns)
        columns += list(ln_q[:, known].T)
        pairs += [(first + a, first + b) for a, b in own]
        samples = one.scores.iloc[:, known].dropna().to_numpy()
        rows.append(
            (
                one.name,
                len(own),
                Estimate(*mean_correlation(ln_q[:, known], own)),
                Estimate(*mean_correlation(samples, own)),
                len(samples),
                "",
            )
        )
    mean = Estimate(*mean_correlation(np.array(columns).T, pairs)) if pairs else None
    if mean is not None:
        rows.append(("all pairs of all models", len(pairs), mean, None, None, _BETWEEN_TEMPLATES))
    table = Table(
        "between-templates",
        "Correlation between the templates of a model (like section 4.2.3)",
        ("model", "pairs", "q_i", "samples", "n", PAPERS),
        tuple(rows),
        _INTERVALS
        + "The paper's average is over the pairs of 11 masked models (6 each) and 22 causal ones (1 each).",
    )
    return table, mean


def between_models(found: Sequence[Profiles]) -> tuple[Table, Estimate | None]:
    """Mean correlations between models in each template, and the mean of those over templates."""
    rows: list[tuple[Cell, ...]] = []
    profiles: list[Floats] = []
    groups: list[list[tuple[int, int]]] = []
    for template in sorted({template for one in found for template in one.templates}):
        there = [one for one in found if template in one.templates]
        ln_q = [one.ln_q()[:, one.templates.index(template)] for one in there]
        whole = [place for place, own in enumerate(ln_q) if np.isfinite(own).all()]
        if len(whole) < 2:
            continue
        first = len(profiles)
        profiles += [ln_q[place] for place in whole]
        pairs = list(combinations(range(len(whole)), 2))
        groups.append([(first + a, first + b) for a, b in pairs])
        joined = pd.concat([there[place].scores[template] for place in whole], axis=1, join="inner").dropna()
        rows.append(
            (
                f"template {template}",
                len(whole),
                Estimate(*mean_correlation(np.array(profiles[first:]).T, pairs)),
                Estimate(*mean_correlation(joined.to_numpy(), pairs)),
                len(joined),
                "",
            )
        )
    mean = None
    if groups:
        # each template counts alike, whatever its number of pairs
        most = int(np.lcm.reduce([len(group) for group in groups]))
        weighted = [pair for group in groups for pair in group for _ in range(most // len(group))]
        mean = Estimate(*mean_correlation(np.array(profiles).T, weighted))
        rows.append(("mean over templates", None, mean, None, None, _BETWEEN_MODELS))
    table = Table(
        "between-models",
        "Correlation between models in a template (like section 4.2.3)",
        ("where", "models", "q_i", "samples", "n", PAPERS),
        tuple(rows),
        _INTERVALS + "The paper's average is over 11 masked and 22 causal models.",
    )
    return table, mean


def _variance(found: Sequence[Profiles]) -> Table:
    """What single scores vary by, on samples that have a score in every template."""
    return Table(
        "variance",
        "Shares of the variance of single scores, in per cent",
        ("model", "templates", "stereotype", "sentence", "template", "stereotype x template", "rest"),
        tuple(
            (
                one.name,
                len(one.templates),
                *(
                    100 * share
                    for share in astuple(variance_shares(one.scores.to_numpy(dtype=float), one.stereotypes))
                ),
            )
            for one in found
        ),
        "Components of variance (expected mean squares): between stereotypes, between sentences of a "
        "stereotype, between templates, between stereotypes in each template differently; rest is what a "
        "sentence does in one template only. With one template a sentence and the rest cannot be told apart.",
    )


def _ranks(found: Sequence[Profiles]) -> Table:
    """Feminine ranks over all models and templates (figure 5 as numbers)."""
    ranks = np.array([feminine_ranks(column) for one in found for column in one.ln_q().T])
    whole = ranks[np.isfinite(ranks).all(axis=1)]
    rows: list[tuple[Cell, ...]] = [
        (
            f"{stereotype.id:2} {stereotype.name}",
            stereotype.gender,
            *(float(value) for value in np.percentile(whole[:, place], (50, 25, 75, 0, 100))),
        )
        for place, stereotype in enumerate(STEREOTYPES.values())
        if len(whole)
    ]
    return Table(
        "ranks",
        f"Feminine ranks over {len(whole)} results (like figure 5)",
        ("stereotype", "about", "median", "25 %", "75 %", "least", "most"),
        tuple(rows),
        "1 is the most feminine of the 16. A result is a model in a template.",
    )
