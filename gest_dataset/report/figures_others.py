"""Old names of `panels_headlines`, until all callers have changed."""

from collections.abc import Sequence

from gest_dataset.report.labels import LabelledRun
from gest_dataset.report.panel import Panel
from gest_dataset.report.panels_headlines import control_differences, control_scatters, stereoset


def stereoset_panels(runs: Sequence[LabelledRun]) -> list[Panel]:
    return list(stereoset(runs))


def control_panels(runs: Sequence[LabelledRun]) -> list[Panel]:
    return [*control_scatters(runs), *control_differences(runs)]


def differences(runs: Sequence[LabelledRun]) -> Panel:
    return next(control_differences(runs))


def scatters(runs: Sequence[LabelledRun], score: str) -> Panel | None:
    return next((panel for panel in control_scatters(runs) if panel.name == f"control-{score}"), None)
