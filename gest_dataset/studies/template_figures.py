"""Figures of the study of templates: the 16 rates in each template, and box plots of feminine ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gest_dataset.report import canvas
from gest_dataset.report.canvas import LIGHT, key, series
from gest_dataset.report.figures_stereotypes import PLACES, boxes_of_ranks, stereotype_axis
from gest_dataset.report.panel import Panel
from gest_dataset.statistics import feminine_ranks
from gest_dataset.statistics.weights import FEMALE, MALE
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.studies.profiles import Profiles

_MOST = 6  # models of a legend; with more there is one mark for all


def panels_of_templates(found: Sequence[Profiles]) -> Panel:
    """A panel for each template: q_i of each model, as a multiple of its own middle sqrt(q_f q_m)."""
    numbers = sorted({template for one in found for template in one.templates})
    figure, axes = canvas.canvas(4.9, 1, len(numbers), sharey=True, sharex=True)
    drawn: list[float] = []
    rows: list[list[Any]] = []
    for place, (ax, template) in enumerate(zip(axes, numbers, strict=True)):
        for number, one in enumerate(found):
            if template not in one.templates:
                continue
            ln_q = one.ln_q()[:, one.templates.index(template)]
            relative = np.exp(ln_q - (FEMALE @ ln_q + MALE @ ln_q) / 2)
            drawn += [value for value in relative.tolist() if np.isfinite(value)]
            canvas.mark(ax, relative, PLACES, one.name, markersize=5, alpha=0.85, **series(number))
            for stereotype, value, ratio in zip(STEREOTYPES.values(), np.exp(ln_q), relative, strict=True):
                rows.append([one.name, template, stereotype.id, stereotype.name, value, ratio])
        ax.axvline(1, **canvas.DASHED)
        ax.set_title(f"template {template}", loc="left")
        ax.set_ylim(0.3, 16.7)
        ax.set_xlabel("q_i / middle")
        ax.grid(axis="y", visible=False)
        ax.tick_params(labelbottom=True)
        if place == 0:
            stereotype_axis(ax)
    canvas.ratio_axis(axes[0].xaxis, [1.0, *drawn], 5)
    canvas.legend(figure, [key(one.name, **series(number)) for number, one in enumerate(found[:_MOST])])
    more = f" Names of the {len(found)} models are under the pointer." if len(found) > _MOST else ""
    return Panel(
        "templates",
        "The 16 rates in each template",
        figure,
        f"q_i of each model as a multiple of its middle, sqrt(q_f q_m), in each template: a model that says "
        f"the same in all of them has the same pattern in all panels.{more}",
        f"{len(numbers)} panels, one for each template, with the 16 rates of {len(found)} models.",
        ["model", "template", "stereotype", "name", "q", "q_relative"],
        rows,
    )


def rank_boxes(found: Sequence[Profiles]) -> Panel:
    """Box plots of the feminine ranks of all models and templates (figure 5 of the paper)."""
    results = [
        (one.name, t, feminine_ranks(q))
        for one in found
        for t, q in zip(one.templates, one.ln_q().T, strict=True)
    ]
    whole = [(name, template, ranks) for name, template, ranks in results if np.isfinite(ranks).all()]
    figure, (axes,) = canvas.canvas(5.0)
    if whole:
        boxes_of_ranks(axes, np.array([ranks for _, _, ranks in whole]))
    stereotype_axis(axes)
    axes.set_xticks(range(1, 17))
    axes.set_xlim(0.4, 16.6)
    axes.set_ylim(0.3, 16.7)
    axes.set_xlabel("feminine rank: 1 is the most feminine of the 16")
    axes.tick_params(labelcolor=LIGHT["quiet"], axis="x")
    return Panel(
        "rank-boxes",
        "Feminine ranks over models and templates (like figure 5)",
        figure,
        f"Each box is of {len(whole)} results (a model in a template): its median, quartiles, and points "
        f"that are farther than 1.5 times the box from it.",
        f"Box plots of the feminine ranks of the 16 stereotypes over {len(whole)} results.",
        ["model", "template", *(f"rank_{number}" for number in STEREOTYPES)],
        [[name, template, *ranks] for name, template, ranks in whole],
    )
