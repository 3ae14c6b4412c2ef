"""The table of figures: which panels the runs of each measure have, in the order of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from gest_dataset.measures.choice import CHOICE
from gest_dataset.measures.crows import CROWS
from gest_dataset.measures.masculine_rate import MASCULINE_RATE
from gest_dataset.measures.measure import Measure
from gest_dataset.measures.neutral import NEUTRAL
from gest_dataset.measures.pairs import PAIRS
from gest_dataset.measures.quadruplets import QUADRUPLETS
from gest_dataset.measures.stereoset import INTERSENTENCE, INTRASENTENCE
from gest_dataset.measures.templates import TEMPLATES
from gest_dataset.measures.winobias import WINOBIAS
from gest_dataset.measures.written import FIRST_PERSON, STORY
from gest_dataset.report import panels_headlines as headlines
from gest_dataset.report import panels_stereotypes as stereotypes
from gest_dataset.report.labels import LabelledRun
from gest_dataset.report.panel import Panel

_FIGURES: tuple[tuple[tuple[Measure, ...], Callable[[Sequence[LabelledRun]], Iterator[Panel]]], ...] = (
    ((TEMPLATES, NEUTRAL, PAIRS, CHOICE, FIRST_PERSON, STORY), stereotypes.side_by_side),
    ((TEMPLATES,), headlines.size),
    ((TEMPLATES,), stereotypes.template_rates),
    ((PAIRS,), stereotypes.pair_rates),
    ((TEMPLATES,), headlines.by_template),
    ((PAIRS,), headlines.by_language),
    ((NEUTRAL,), stereotypes.neutral_rates),
    ((NEUTRAL,), headlines.neutral_by_language),
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
