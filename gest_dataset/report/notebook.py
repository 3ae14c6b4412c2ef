"""What a notebook shows of a result: the verdict, a figure and the numbers, in light and dark themes."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from markupsafe import Markup
from matplotlib.figure import Figure

from gest_dataset.report.labels import LabelledRun, label_runs, verdict_of
from gest_dataset.report.page import load_template
from gest_dataset.report.panel import inline_svg
from gest_dataset.report.panels import result_figure
from gest_dataset.report.style import css_variables
from gest_dataset.runs.folder import Run, RunResult
from gest_dataset.runs.manifest import DONE, SCORES, Manifest
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
    result = json_value(found.result())
    about = {name: facts.get(name, "") for name in ("measure", "config", "language", "data_fingerprint")}
    empty: dict[str, Any] = {name: {} for name in ("settings", "versions", "machine", "seeds")}
    manifest = Manifest(
        **about,
        **empty,
        model=facts.get("model") or facts["system"],
        table=SCORES,
        command=[],
        started="",
        status=DONE,
        signature=found.signature,
        metadata=facts,
    )
    (run,) = label_runs([Run(Path(), manifest, found.table, {"result": result})])
    return run
