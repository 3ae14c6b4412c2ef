"""What a notebook shows of a result: the verdict in words, the picture, and the numbers as a table.

It brings its colours along and stands on a ground of its own, so that it can be read in a light notebook and
in a dark one. Names are text, as in the report.
"""

from __future__ import annotations

import hashlib
import warnings
from pathlib import Path

from markupsafe import Markup
from matplotlib.figure import Figure

from gest_dataset.report.canvas import inline_svg
from gest_dataset.report.figures_result import of_result
from gest_dataset.report.measured import Measured, measured
from gest_dataset.report.page import environment
from gest_dataset.report.style import variables
from gest_dataset.report.verdict import verdict
from gest_dataset.runs.manifest import DONE, SCORES, Manifest
from gest_dataset.runs.reading import Run
from gest_dataset.runs.writing import Finding
from gest_dataset.statistics.checks import UndefinedWarning
from gest_dataset.storage import json_value

_HERE = Path(__file__).parent


def html(found: Finding) -> str:
    """The verdict, the picture and the numbers of what was found (`_repr_html_`)."""
    run = _run(found)
    told = verdict(run)
    # equal results have equal ids, and others that stand in one notebook have not
    mark = f"gest-{hashlib.sha256(repr((found.signature, run.run.result)).encode()).hexdigest()[:12]}"
    label = f"{told.headline.symbol} of {run.label}"
    svg = inline_svg(of_result(run), mark, label, f"{label}: {told.estimate}.")
    grids = {number: run.measure.grid(part) for number, part in run.templates.items()}
    return (
        environment(_HERE)
        .get_template("notebook.html.jinja")
        .render(
            verdict=told,
            drawing=Markup(svg),
            grids=grids,
            signature=found.signature,
            light=variables(0),
            dark=variables(1),
        )
    )


def plot(found: Finding) -> Figure:
    """The picture of what was found."""
    return of_result(_run(found))


def _run(found: Finding) -> Measured:
    """A finding as a report reads a run, though it may lie on no disk."""
    facts = found.metadata
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedWarning)  # the words say it
        result = json_value(found.result())
    manifest = Manifest(
        measure=facts["measure"],
        subject=facts["model"] if "model" in facts else facts["system"],
        config=facts["config"],
        language=facts.get("language", ""),
        data_fingerprint=facts["data_fingerprint"],
        table=SCORES,
        command=[],
        settings={},
        versions={},
        machine={},
        seeds={},
        started="",
        status=DONE,
        signature=found.signature,
        metadata=facts,
    )
    (run,) = measured([Run(Path(), manifest, found.table, {"result": result})])
    return run
