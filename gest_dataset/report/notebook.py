"""What a notebook shows of a result: the verdict, a figure and the numbers, in light and dark themes."""

import hashlib
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from markupsafe import Markup
from matplotlib.figure import Figure

from gest_dataset.report.figures import Chart, Mark, Rows, draw_charts, legend_entry, spread
from gest_dataset.report.labels import LabelledRun, label_runs, verdict_of
from gest_dataset.report.page import load_template
from gest_dataset.report.panel import inline_svg
from gest_dataset.report.style import LIGHT, SERIES, css_variables
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
    figure = inline_svg(_figure(run), f"gest-{digest}", label, f"{label}: {verdict.estimate}.")
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
    return _figure(_labelled(found))


def _figure(run: LabelledRun) -> Figure:
    """The lines of the result's grid, in each template."""
    grids = {number: run.measure.grid(part) for number, part in run.templates.items()}
    first = next(iter(grids.values()))
    ratio = first.axis.ratio if first.axis else run.measure.headline(run.result).ratio
    several = len(first.headings) > 1
    charts = []
    for number, grid in grids.items():
        marks = []
        for row, line in enumerate(grid.lines):
            colours = SERIES if several else [LIGHT[line.gender or "ink"]]
            places = zip(line.estimates, colours, spread(len(first.headings), 0.2), strict=False)
            for estimate, colour, offset in places:
                if line.drawn and not math.isnan(estimate.value):
                    text, style = f"{line.name.strip()}: {estimate}", {"color": colour, "markersize": 6}
                    marks.append(Mark(estimate, row + offset, text, style))
        chart = Chart(" or ".join(grid.headings), marks, title=f"template {number}" if number else "")
        charts.append(replace(chart, x_null=1.0, x_scale="ratio") if ratio else chart)
    colours = [LIGHT[line.gender or "ink"] for line in first.lines if line.drawn]
    rows = Rows([line.name.strip() for line in first.lines if line.drawn], colours)
    names = zip(first.headings, SERIES, strict=False) if several else ()
    entries = [legend_entry(name, color=colour, marker="o", linewidth=2.6) for name, colour in names]
    figure, _ = draw_charts(charts, 0.9 + 0.27 * len(first.lines), entries, rows, shared_axis=True)
    return figure


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
