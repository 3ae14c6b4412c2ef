"""Which panels a report has, and those with a mark for each sample: control quadruplets and WinoBias."""

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd
from scipy import special

from gest_dataset import published
from gest_dataset.measures.formatting import format_number
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.stereoset import sample_scores
from gest_dataset.report import headline_panels, stereotype_panels
from gest_dataset.report.figures import Chart, Curve, Mark, Rows, draw_charts, legend_entry
from gest_dataset.report.labels import LabelledRun
from gest_dataset.report.panel import Panel, Record, make_panel
from gest_dataset.report.style import DOTTED, LIGHT, series_style
from gest_dataset.runs.population import Populations
from gest_dataset.statistics.bootstrap import LEVEL
from gest_dataset.statistics.checks import Floats
from gest_dataset.stereotypes import GENDERS

_MANY_SAMPLES = 500  # more are drawn smaller and fainter


def regression(x: Floats, y: Floats) -> tuple[float, Floats, Floats, Floats]:
    """Least squares: the slope, points along the line, their heights, and half the width of its 95 % band.

    The band is that of the mean at each point, not of single samples.
    """
    coefficients, covariance = np.polyfit(x, y, 1, cov=True)
    places = np.linspace(x.min(), x.max(), 60)
    design = np.vander(places, 2)
    errors = np.sqrt(np.sum(design @ covariance * design, axis=1))
    half = special.stdtrit(len(x) - 2, (1 + LEVEL) / 2) * errors
    return float(coefficients[0]), places, design @ coefficients, half


def control_scatters(runs: Sequence[LabelledRun]) -> Iterator[Panel]:
    """The scores of original against control pairs: ss and cs (figures 1 and 2 of [D])."""
    entries = [
        legend_entry("regression, with its 95 % band", color=LIGHT["ink"], linewidth=2),
        legend_entry("identity", **DOTTED),
    ]
    for score in ("ss", "cs"):
        columns = (f"{score}_original", f"{score}_control")
        charts, texts = [], []
        records: list[Record] = []
        for run in runs:
            scores = pd.DataFrame({"id": run.run.table["id"].to_pylist(), **sample_scores(run.run.table)})
            if not {*columns} <= {*scores}:
                continue
            scores = scores[np.isfinite(scores[[*columns]]).all(axis=1)]
            x, y = (scores[column].to_numpy() for column in columns)
            if len(x) <= 2 or np.ptp(x) == 0:
                continue
            slope, places, heights, half = regression(x, y)
            line = {"color": series_style(run.number)["color"], "linewidth": 2}
            band = Curve(places, heights, line, low=heights - half, high=heights + half)
            ends = [min(x.min(), y.min()), max(x.max(), y.max())]
            markersize, alpha = (3, 0.2) if len(x) > _MANY_SAMPLES else (4.5, 0.5)
            dots = {"color": line["color"], "markersize": markersize, "markeredgewidth": 0, "alpha": alpha}
            marks = [Mark(x, y, "", {**dots, "zorder": 1.5})]  # below the line
            axes = {"xlabel": f"{score}, original group", "ylabel": f"{score}, control group"}
            charts.append(Chart(axes, marks, run.label, curves=[Curve(ends, ends, DOTTED), band]))
            rho = format_number(run.result[f"{score}_rho"])
            texts.append(f"{run.label}: ρ {rho}, slope {format_number(slope)}, {len(x):,} samples")
            records += scores.assign(run=run.label).to_dict("records")
        if charts:
            figure, _ = draw_charts(charts, 4.7, entries, per_row=2)
            yield make_panel(f"control-{score}", figure, records, score=score, values="; ".join(texts))


def winobias(runs: Sequence[LabelledRun]) -> Iterator[Panel]:
    """The ratios of the samples by the stereotypical gender of the occupation, with q_f and q_m."""
    charts: list[Chart] = []
    records: list[Record] = []
    for run in runs:
        table = run.run.table.to_pandas()
        marks = []
        for row, (gender, symbol) in enumerate(zip(GENDERS, ("q_f", "q_m"), strict=True)):
            colour = LIGHT[gender]
            ratios = np.exp(table.loc[table["occupation_gender"] == gender, "log_ratio"].to_numpy())
            ticks = {"marker": "|", "color": colour, "markeredgecolor": colour, "alpha": 0.35}
            places = np.full(len(ratios), row)
            marks.append(Mark(ratios, places, f"{run.label}: samples", {**ticks, "markersize": 16}))
            mean = Estimate.of(run.result, symbol)
            style = {"color": colour, "linewidth": 5, "markersize": 9}
            marks.append(Mark(mean, row, f"{run.label}: {symbol} {mean}", style))
            cells = {"run": run.label, "group": f"{gender} occupations", "n": len(ratios)}
            records.append({**cells, **headline_panels.bounded("q", run.result, symbol)})
        axis = "P(masculine pronoun) / P(feminine pronoun)"
        charts.append(Chart({"xlabel": axis}, marks, run.label, x_null=1.0, ratio="x"))
    if charts:
        rows = Rows([f"{gender} occupations" for gender in GENDERS])
        figure, note = draw_charts(charts, 2.2, rows=rows, per_row=1, shared_axis=True)
        known = [record for record in records if not math.isnan(record["q"])]
        row = published.load("winobias")["rows"][0]
        yield make_panel("winobias", figure, records, paper=row, known=known, note=note)


# --- the panels of each measure, in the order of the page

_PANELS: tuple[tuple[tuple[str, ...], Callable[[Sequence[LabelledRun]], Iterator[Panel]]], ...] = (
    (("templates",), headline_panels.size),
    (("templates",), stereotype_panels.rates_panels),
    (("pairs",), stereotype_panels.rates_panels),
    (("templates",), headline_panels.by_template),
    (("pairs",), headline_panels.by_language),
    (("neutral",), stereotype_panels.rates_panels),
    (("neutral",), headline_panels.by_language),
    (("choice",), stereotype_panels.choice_panels),
    (("masculine-rate",), headline_panels.trade_off),
    (("masculine-rate",), stereotype_panels.rates_panels),
    (("first-person",), stereotype_panels.rates_panels),
    (("story",), stereotype_panels.rates_panels),
    (("quadruplets", "crows"), control_scatters),
    (("quadruplets", "crows"), headline_panels.control_differences),
    (("stereoset_intrasentence", "stereoset_intersentence"), headline_panels.stereoset),
    (("winobias",), winobias),
)


def panels_of(runs: Sequence[LabelledRun], populations: Populations | None = None) -> list[Panel]:
    """All panels that these runs have data for; `populations` sets runs beside the released models."""
    panels = [
        panel
        for measures, draw in _PANELS
        for panel in draw([run for run in runs if run.measure.name in measures])
    ]
    beside = [(run, (populations or {}).get(run.run.path)) for run in runs]
    return panels + [headline_panels.released_panel(run, one) for run, one in beside if one is not None]
