"""What a notebook shows of a result: the verdict, a figure and the numbers, in light and dark themes."""

from __future__ import annotations

import hashlib
import warnings
from pathlib import Path

from markupsafe import Markup
from matplotlib.figure import Figure

from gest_dataset.report.labels import LabelledRun, label_runs
from gest_dataset.report.page import load_template
from gest_dataset.report.panel import inline_svg
from gest_dataset.report.panels_headlines import result_figure
from gest_dataset.report.style import css_variables
from gest_dataset.report.verdict import verdict_of
from gest_dataset.runs.folder import Run
from gest_dataset.runs.manifest import DONE, SCORES, Manifest
from gest_dataset.runs.result import RunResult
from gest_dataset.statistics.checks import UndefinedWarning
from gest_dataset.storage import json_value


def html(found: RunResult) -> str:
    """The verdict, the figure and the numbers of a result (`_repr_html_`)."""
    run = _labelled(found)
    verdict = verdict_of(run)
    # Different results in one notebook need different ids
    digest = hashlib.sha256(repr((found.signature, run.run.result)).encode()).hexdigest()[:12]
    label = f"{verdict.headline.symbol} of {run.label}"
    figure = inline_svg(result_figure(run), f"gest-{digest}", label, f"{label}: {verdict.estimate}.")
    return load_template(Path(__file__).parent / "notebook.html.jinja").render(
        verdict=verdict,
        figure=Markup(figure),
        grids={number: run.measure.grid(part) for number, part in run.templates.items()},
        signature=found.signature,
        light=css_variables(0),
        dark=css_variables(1),
    )


def plot(found: RunResult) -> Figure:
    """The figure of a result."""
    return result_figure(_labelled(found))


def _labelled(found: RunResult) -> LabelledRun:
    """A result as the report reads a run from disk."""
    facts = found.metadata
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedWarning)  # the verdict says so
        result = json_value(found.result())
    manifest = Manifest(
        measure=facts["measure"],
        model=facts["model"] if "model" in facts else facts["system"],
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
    (run,) = label_runs([Run(Path(), manifest, found.table, {"result": result})])
    return run
