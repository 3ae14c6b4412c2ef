"""The figures of a calibration in the report: planted against recovered."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gest_dataset.calibration.checks import Controls, Recovery, fit
from gest_dataset.calibration.corpus import WORLDS, strength
from gest_dataset.calibration.keywords import KEYWORD_SETS
from gest_dataset.calibration.study import Calibration
from gest_dataset.measures.formatting import format_number
from gest_dataset.measures.grid import Estimate
from gest_dataset.report import Panel, canvas
from gest_dataset.report.canvas import DASHED, DOTTED, LIGHT, MARKERS, key
from gest_dataset.report.figures_stereotypes import stereotype_axis
from gest_dataset.stereotypes import STEREOTYPES

_PER_ROW = 2
_PLANTED = "planted"  # the world with stereotypes, and how the names of its subjects begin


def panels(calibration: Calibration) -> list[Panel]:
    """All figures of a calibration."""
    recoveries, controls = calibration.recoveries, calibration.controls
    planted = [recovery for recovery in recoveries if recovery.subject.startswith(_PLANTED)]
    without = [recovery for recovery in recoveries if recovery not in planted]
    return [
        _recovery(planted),
        _rates(recoveries),
        *([_levels(without)] if without else []),
        *([_controls(controls)] if controls else []),
    ]


def _recovery(recoveries: Sequence[Recovery]) -> Panel:
    """Planted against recovered ln q_i, an axis for each model."""
    subjects = list(dict.fromkeys(recovery.subject for recovery in recoveries))
    rows_of_axes = math.ceil(len(subjects) / _PER_ROW)
    figure, axes = canvas.canvas(4.6 * rows_of_axes + 0.3, rows_of_axes, min(_PER_ROW, len(subjects)))
    for ax in axes[len(subjects) :]:
        ax.remove()
    wheres = list(dict.fromkeys(recovery.where for recovery in recoveries))
    rows: list[list[Any]] = []
    fits = []
    for ax, subject in zip(axes[: len(subjects)], subjects, strict=True):
        for recovery in (recovery for recovery in recoveries if recovery.subject == subject):
            pearson, slope = fit(list(recovery.planted.values()), recovery.log_q)
            fits.append(f"{recovery.name}: Pearson {pearson:.4f}, slope {slope:.3f}")
            for place, (number, planted) in enumerate(recovery.planted.items()):
                ln_q = Estimate(*map(math.log, Estimate.of(recovery.result, "q", place)))
                about = STEREOTYPES[number]
                both = f"planted {format_number(planted)}, found {format_number(ln_q.value)}"
                text = f"{number} {about.name}, {recovery.where}: {both}"
                marker = MARKERS[wheres.index(recovery.where)]
                dot = {"marker": marker, "markersize": 5, "markeredgewidth": 0.6}
                colour = LIGHT[about.gender]
                canvas.interval_mark(ax, planted, ln_q, text, colour, linewidth=1, faint=0.35, **dot)
                planted_as = strength(number, WORLDS[_PLANTED].log_odds[number])
                rows.append([subject, recovery.where, number, about.name, planted_as, planted, *ln_q])
        everywhere = [value for recovery in recoveries for value in recovery.planted.values()]
        ends = [min(everywhere), max(everywhere)]
        ax.plot(ends, ends, **DOTTED)
        ax.set_title(subject, loc="left", fontsize=9.5)
        ax.set_xlabel("planted log-odds, ln(n_m / n_f) in the corpus")
    for ax in axes[: len(subjects) : _PER_ROW]:
        ax.set_ylabel("recovered, ln q")
    handles = [
        key(f"stereotypes about {word}", color=LIGHT[gender], linewidth=4)
        for gender, word in (("female", "women"), ("male", "men"))
    ]
    handles += [key(where, color=LIGHT["quiet"], marker=MARKERS[i]) for i, where in enumerate(wheres)]
    canvas.legend(figure, handles)
    return Panel(
        "calibration-recovery",
        "Planted against recovered stereotypes",
        figure,
        "Each point is a stereotype: across the log-odds that were planted in the corpus, up ln q as the "
        "pipeline measured it on sentences that the model never saw, with its 95 % interval. On the dotted "
        f"line both are the same. {'; '.join(fits)}.",
        f"Scatter of recovered over planted log-odds, close to the diagonal. {'; '.join(fits)}.",
        ["model", "where", "stereotype", "name", "planted_as", "planted", "ln_q", "ln_q_low", "ln_q_high"],
        rows,
    )


def _rates(recoveries: Sequence[Recovery]) -> Panel:
    """g_s planted and measured."""
    figure, (axes,) = canvas.canvas(1.3 + 0.3 * len(recoveries))
    rows: list[list[Any]] = []
    for place, recovery in enumerate(recoveries):
        y = len(recoveries) - place
        g_s = Estimate.of(recovery.result, "g_s")
        text = f"{recovery.name}: planted {format_number(recovery.g_s)}, measured {format_number(g_s.value)}"
        canvas.interval_mark(axes, g_s, y, text, LIGHT["series-1"], markersize=6)
        axes.plot(recovery.g_s, y, "|", color=LIGHT["ink"], markersize=15, markeredgewidth=1.6)
        inside = g_s.low <= recovery.g_s <= g_s.high
        rows.append([recovery.subject, recovery.where, recovery.g_s, *g_s, inside])
    axes.axvline(1, **DASHED)
    canvas.rows_axis(axes, [recovery.name for recovery in recoveries], [LIGHT["quiet"]] * len(recoveries))
    axes.set_xlabel("g_s (dashed: 1, no stereotype)")
    canvas.ratio_axis(axes.xaxis, [1.0, *(value for row in rows for value in row[2:6])])
    marks = [
        key("measured, 95 % interval", color=LIGHT["series-1"], marker="o", linewidth=2.6),
        key("planted", color=LIGHT["ink"], marker="|", markersize=12),
    ]
    canvas.legend(figure, marks)
    held = f"{sum(row[-1] for row in rows)} of {len(rows)} intervals hold the planted g_s."
    return Panel(
        "calibration-g-s",
        "The stereotype rate g_s, planted and measured",
        figure,
        f"{held} Where nothing was planted, and where all of it was shifted towards men, g_s is 1.",
        f"Intervals of g_s in rows, with a tick at the planted value. {held}",
        ["model", "where", "planted_g_s", "g_s", "g_s_low", "g_s_high", "inside"],
        rows,
    )


def _levels(recoveries: Sequence[Recovery]) -> Panel:
    """q of the 16 where no stereotype was planted: all the same, wherever that is."""
    subjects = list(dict.fromkeys(recovery.subject for recovery in recoveries))
    figure, axes = canvas.canvas(4.6, 1, len(subjects), sharey=True, sharex=True)
    rows: list[list[Any]] = []
    for ax, subject in zip(axes, subjects, strict=True):
        own = [recovery for recovery in recoveries if recovery.subject == subject]
        for shift, recovery in enumerate(own):
            for place, number in enumerate(recovery.planted):
                y = len(STEREOTYPES) - place + 0.3 - 0.6 * shift / max(1, len(own) - 1)
                q = Estimate.of(recovery.result, "q", place)
                colour = LIGHT[STEREOTYPES[number].gender]
                text = f"{STEREOTYPES[number].name}, {recovery.where}: q {format_number(q.value)}"
                dot = {"markersize": 3.2, "markeredgecolor": colour}
                canvas.interval_mark(ax, q, y, text, colour, linewidth=1.2, faint=0.7, **dot)
                rows.append([subject, recovery.where, number, math.exp(recovery.planted[number]), *q])
        planted = math.exp(sum(own[0].planted.values()) / len(STEREOTYPES))
        ax.axvline(planted, color=LIGHT["ink"], linewidth=1)
        ax.axvline(1, **DASHED)
        ax.set_title(subject, loc="left", fontsize=9.5)
        ax.set_xlabel("q (line: planted; dashed: 1)")
        ax.grid(axis="y", visible=False)
    stereotype_axis(axes[0])
    canvas.ratio_axis(axes[0].xaxis, [1.0, *(value for row in rows for value in row[3:])])
    return Panel(
        "calibration-levels",
        "Models without stereotypes",
        figure,
        "q of each stereotype with its 95 % interval, in each template and on pairs, of models in whose "
        "corpus no stereotype was planted. Male as norm shifts all q alike; g_s does not see it.",
        "Columns of intervals, one a model: all of them lie around the planted value.",
        ["model", "where", "stereotype", "planted_q", "q", "q_low", "q_high"],
        rows,
    )


def _controls(sets: Sequence[Controls]) -> Panel:
    """ss of the original against the control group, planted and measured."""
    figure, axes = canvas.canvas(4.6, 1, len(sets), sharex=True, sharey=True)
    titles = {keyword_set.name: keyword_set.title for keyword_set in KEYWORD_SETS}
    rows: list[list[Any]] = []
    told = []
    for ax, controls in zip(axes, sets, strict=True):
        ax.axhline(0, **DASHED)
        ax.axvline(0, **DASHED)
        planted = [(quad.ss_original, quad.ss_control) for quad in controls.planted]
        ax.plot(*zip(*planted, strict=True), ".", color=LIGHT["published"], markersize=5)
        ax.plot(
            controls.ss_original,
            controls.ss_control,
            "o",
            color=LIGHT["series-1"],
            markersize=3.4,
            alpha=0.7,
        )
        ends = [min(map(min, planted)), max(map(max, planted))]
        ax.plot(ends, ends, **DOTTED)
        ax.set_title(titles[controls.name], loc="left", fontsize=9.5)
        ax.set_xlabel("ss, original group")
        values = [controls.result[f"f_mu{end}"] for end in ("", "_low", "_high")]
        told.append(
            f"{titles[controls.name]}: f {values[0]:.3f} ({values[1]:.3f} to {values[2]:.3f}), "
            f"planted {controls.f:.3f}".replace("-", "−")
        )
        measured = zip(controls.ss_original, controls.ss_control, strict=True)
        rows += [
            [controls.name, quad.row["id"], *pair, *values]
            for quad, pair, values in zip(controls.planted, planted, measured, strict=True)
        ]
    axes[0].set_ylabel("ss, control group")
    marks = [
        key("measured", color=LIGHT["series-1"], marker="o"),
        key("planted", color=LIGHT["published"], marker="."),
        key("f = 0", **DOTTED),
    ]
    canvas.legend(figure, marks)
    columns = ["set", "id", "ss_original_planted", "ss_control_planted", "ss_original", "ss_control"]
    return Panel(
        "calibration-controls",
        "Control sets: frequency or gender",
        figure,
        "ss of each quadruplet, about the original and about the control group. Where the keywords differ in "
        "frequency alone, ss is above 0 on average for both groups, and f = ss(original) − ss(control) is "
        f"about 0; where gender makes the difference, f finds it. {'; '.join(told)}.",
        f"Two scatters of ss. {'; '.join(told)}.",
        columns,
        rows,
    )
