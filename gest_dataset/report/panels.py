"""The table of figures: which panels the runs of each measure have, in the order of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from gest_dataset.measures.choice import CHOICE
from gest_dataset.measures.control_bias import CROWS, QUADRUPLETS
from gest_dataset.measures.generated_gender import FIRST_PERSON, STORY
from gest_dataset.measures.masculine_rate import MASCULINE_RATE
from gest_dataset.measures.measure import Measure
from gest_dataset.measures.stereoset import INTERSENTENCE, INTRASENTENCE
from gest_dataset.measures.stereotype_rate import NEUTRAL, PAIRS, TEMPLATES, WINOBIAS
from gest_dataset.report import panels_headlines as headlines
from gest_dataset.report import panels_stereotypes as stereotypes
from gest_dataset.report.labels import LabelledRun
from gest_dataset.report.panel import Panel

_FIGURES: tuple[tuple[tuple[Measure, ...], Callable[[Sequence[LabelledRun]], Iterator[Panel]]], ...] = (
    ((TEMPLATES, NEUTRAL, PAIRS, CHOICE, FIRST_PERSON, STORY), stereotypes.side_by_side),
    ((TEMPLATES,), headlines.size),
    ((TEMPLATES,), stereotypes.model_rates),
    ((PAIRS,), stereotypes.model_rates),
    ((TEMPLATES,), headlines.by_template),
    ((PAIRS,), headlines.by_language),
    ((NEUTRAL,), stereotypes.model_rates),
    ((NEUTRAL,), headlines.by_language),
    ((CHOICE,), stereotypes.choices),
    ((MASCULINE_RATE,), headlines.translations),
    ((FIRST_PERSON, STORY), stereotypes.text_rates),
    ((QUADRUPLETS, CROWS), headlines.control_scatters),
    ((QUADRUPLETS, CROWS), headlines.control_differences),
    ((INTRASENTENCE, INTERSENTENCE), headlines.stereoset),
    ((WINOBIAS,), headlines.winobias),
    ((CHOICE, STORY), headlines.genderbench),
)


def panels_of(runs: Sequence[LabelledRun]) -> list[Panel]:
    """All panels that these runs have data for."""
    return [
        panel
        for measures, draw in _FIGURES
        for panel in draw([run for run in runs if run.measure in measures])
    ]
