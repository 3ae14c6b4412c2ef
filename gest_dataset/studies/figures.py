"""The figures of the studies of GEST, drawn with the functions of the report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gest_dataset.measures.grid import Estimate
from gest_dataset.report.figures import Column, Dots, Interval, Point, Rows, Scatter, interval_figure
from gest_dataset.report.figures import scatter_figure as draw_scatter
from gest_dataset.report.panel import Panel
from gest_dataset.report.panels_stereotypes import COLOURS, NAMES
from gest_dataset.report.plots import legend_entry, series_style
from gest_dataset.report.style import LIGHT
from gest_dataset.statistics import feminine_ranks
from gest_dataset.statistics.weights import FEMALE, MALE
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.studies.gest_scores import GestScores
from gest_dataset.studies.study import Table

_COLOUR_OF = {"male": LIGHT["male"], "topic": LIGHT["series-4"], "female": LIGHT["female"]}
_OFFSET_OF = {"male": -0.18, "topic": 0.0, "female": 0.18}
_MAX_LEGEND = 6


def _legend(names: Sequence[str]) -> list[Any]:
    """The models and their colours; nothing if there are too many."""
    if len(names) > _MAX_LEGEND:
        return []
    return [legend_entry(name, **series_style(number)) for number, name in enumerate(names)]


def rates_in_templates(models: Sequence[GestScores]) -> Panel:
    """q_i of each model relative to its middle sqrt(q_f q_m), in each template."""
    columns = []
    rows: list[list[Any]] = []
    for template in sorted({template for model in models for template in model.templates}):
        dots = []
        for number, model in enumerate(models):
            if template in model.templates:
                ln_q = model.ln_q()[:, model.templates.index(template)]
                relative = np.exp(ln_q - (FEMALE @ ln_q + MALE @ ln_q) / 2)
                style = {"markersize": 5, "alpha": 0.85, **series_style(number)}
                dots.append(Dots(np.arange(len(STEREOTYPES)), relative, model.name, style))
                for stereotype, q, ratio in zip(STEREOTYPES.values(), np.exp(ln_q), relative, strict=True):
                    rows.append([model.name, template, stereotype.id, stereotype.name, q, ratio])
        columns.append(Column(f"template {template}", "q_i / middle", dots=dots, null=1.0, ratio=True))
    figure, cut_off = interval_figure(columns, Rows(NAMES, COLOURS), 4.9, _legend([m.name for m in models]))
    return Panel(
        "templates",
        "The 16 rates in each template",
        figure,
        f"q_i of each model relative to its middle, sqrt(q_f q_m). A model whose templates agree has the "
        f"same pattern in all panels. {cut_off}".strip(),
        f"The 16 rates of {len(models)} models in {len(columns)} templates.",
        ["model", "template", "stereotype", "name", "q", "q_relative"],
        rows,
    )


def rank_boxes(models: Sequence[GestScores]) -> Panel:
    """Box plots of the feminine ranks of all models and templates (figure 5 of the paper)."""
    rows: list[list[Any]] = []
    for model in models:
        for template, column in zip(model.templates, model.ln_q().T, strict=True):
            ranks = feminine_ranks(column)
            if np.isfinite(ranks).all():
                rows.append([model.name, template, *ranks])
    boxes = np.array([row[2:] for row in rows])
    axis = "feminine rank: 1 is the most feminine of the 16"
    column = Column("", axis, limits=(0.4, 16.6), ticks=range(1, 17), boxes=boxes)
    figure, _ = interval_figure([column], Rows(NAMES, COLOURS), 5.0)
    return Panel(
        "rank-boxes",
        "Feminine ranks over models and templates (like figure 5)",
        figure,
        f"Medians, quartiles and outliers of {len(rows)} results (a model in a template).",
        f"Box plots of the feminine ranks of the 16 stereotypes over {len(rows)} results.",
        ["model", "template", *(f"rank_{number}" for number in STEREOTYPES)],
        rows,
    )


def topic_rates(table: Table) -> Panel:
    """The rates of male samples, of those on the topic and of female samples, per model."""
    intervals = []
    rows: list[list[Any]] = []
    for place, row in enumerate(table.rows):
        cells = dict(zip(table.columns, row, strict=True))
        for name, colour in _COLOUR_OF.items():
            rate = cells[name]
            if isinstance(rate, Estimate) and np.isfinite(rate.value):
                style = {"color": colour, "markersize": 6}
                text = f"{row[0]}, {name}: {rate}"
                intervals.append(Interval(place + _OFFSET_OF[name], rate, text, style))
                rows.append([row[0], name, *rate])
    names = [str(row[0]) for row in table.rows]
    entries = [
        legend_entry(f"{name} samples", color=colour, marker="o") for name, colour in _COLOUR_OF.items()
    ]
    column = Column("", "masculine rate", intervals, ratio=True)
    figure, cut_off = interval_figure([column], Rows(names), 1.4 + 0.6 * len(names), entries)
    return Panel(
        "topical-rates",
        "Masculine rates of male samples, of those on the topic, and of female samples",
        figure,
        f"{table.title}. Without an effect of the topic its rate would be as expected. {cut_off}".strip(),
        f"Three intervals for each of {', '.join(names)}.",
        ["model", "samples", "rate", "rate_low", "rate_high"],
        rows,
    )


def gest_and_winobias(table: Table) -> Panel:
    """g_s of GEST and of WinoBias, a point per model, for each config (figure 8 of the paper)."""
    models = list(dict.fromkeys(str(row[0]) for row in table.rows))
    scatters = []
    rows: list[list[Any]] = []
    for config in dict.fromkeys(str(row[2]) for row in table.rows):
        points = []
        for model, gest, own, winobias, _ in table.rows:
            if own == config and isinstance(gest, Estimate) and isinstance(winobias, Estimate):
                style = series_style(models.index(str(model))) | {"linewidth": 1.2}
                points.append(Point(gest, winobias, f"{model}: {gest}, {winobias}", style))
                rows.append([model, config, *gest, *winobias])
        title = config.removeprefix("winobias_").replace("_", ", ")
        scatters.append(
            Scatter("g_s, GEST", "g_s, WinoBias", points, title=title, x_scale="ratio", y_scale="ratio")
        )
    figure, cut_off = draw_scatter(scatters, 4.4, _legend(models))
    return Panel(
        "validity-figure",
        "g_s of GEST and of WinoBias (like figure 8)",
        figure,
        f"A point per model, with 95 % intervals; several pronouns are averaged. {cut_off}".strip(),
        f"{len(scatters)} scatter plots of {len(models)} models.",
        ["model", "config", "g_s", "g_s_low", "g_s_high", "winobias", "winobias_low", "winobias_high"],
        rows,
    )
