"""Which panels a report has: those of each measure, in the order of the page."""

from collections.abc import Callable, Iterator, Sequence

from gest_dataset.report import headline_panels, sample_panels, stereotype_panels
from gest_dataset.report.labels import LabelledRun
from gest_dataset.report.panel import Panel

_ASKED = ("templates", "neutral", "pairs", "choice", "first-person", "story")
_PANELS: tuple[tuple[tuple[str, ...], Callable[[Sequence[LabelledRun]], Iterator[Panel]]], ...] = (
    (_ASKED, stereotype_panels.side_by_side),
    (("templates",), headline_panels.size),
    (("templates",), stereotype_panels.rates),
    (("pairs",), stereotype_panels.rates),
    (("templates",), headline_panels.by_template),
    (("pairs",), headline_panels.by_language),
    (("neutral",), stereotype_panels.rates),
    (("neutral",), headline_panels.by_language),
    (("choice",), stereotype_panels.choices),
    (("masculine-rate",), headline_panels.trade_off),
    (("masculine-rate",), stereotype_panels.rates),
    (("first-person",), stereotype_panels.rates),
    (("story",), stereotype_panels.rates),
    (("quadruplets", "crows"), sample_panels.control_scatters),
    (("quadruplets", "crows"), headline_panels.control_differences),
    (("stereoset_intrasentence", "stereoset_intersentence"), headline_panels.stereoset),
    (("winobias",), sample_panels.winobias),
)


def panels_of(runs: Sequence[LabelledRun]) -> list[Panel]:
    """All panels that these runs have data for."""
    return [
        panel
        for measures, draw in _PANELS
        for panel in draw([run for run in runs if run.measure.name in measures])
    ]
