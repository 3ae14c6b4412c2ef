"""Figures of masculine rates, of translators beside the papers' (figures 2, 3 and 11 of [A]).

The tables of [A] print the centre of the Agresti-Coull interval as p_i; for these figures the rates of
the run are made the same way, points and bounds, so that like stands beside like.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from gest_dataset.measures.formatting import format_number
from gest_dataset.measures.generated_gender import FIRST_PERSON, STORY
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.masculine_rate import MASCULINE_RATE
from gest_dataset.published.models import translators
from gest_dataset.report import canvas
from gest_dataset.report.bands import band_keys, band_words, draw_bands
from gest_dataset.report.canvas import DASHED, LIGHT, MARKERS, key, series
from gest_dataset.report.figures_stereotypes import Column, numbers_of, ranks, rates_of_stereotypes
from gest_dataset.report.measured import Measured, language_name
from gest_dataset.report.panel import OWN, PUBLISHED, Panel, own_first
from gest_dataset.statistics import masculine_rate
from gest_dataset.statistics.checks import UndefinedWarning
from gest_dataset.statistics.weights import gender_means

_WRITTEN = ((FIRST_PERSON, "texts in the first person"), (STORY, "stories"))
_SYSTEMS = {"amazon": "Amazon Translate", "deepl": "DeepL", "google": "Google Translate", "nllb": "NLLB-200"}


def published_rates(run: Measured) -> dict[str, Any]:
    """The rates of a run as the tables of [A] print theirs."""
    table = run.run.table
    genders, stereotypes = (table[name].to_pylist() for name in ("gender", "stereotype"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedWarning)  # the page says what is undefined
        return masculine_rate(genders, stereotypes, convention="published")


def panels(runs: Sequence[Measured]) -> list[Panel]:
    """The figures that masculine rates can feed: those without any gender feed none."""
    translated = [run for run in runs if run.measure is MASCULINE_RATE]
    return [*_of_translations(translated), *_of_texts(runs)]


def _of_texts(runs: Sequence[Measured]) -> list[Panel]:
    """What models have written: rates of their own kind, with nothing published beside them."""
    drawn = []
    for measure, what in _WRITTEN:
        of_kind = [run for run in runs if run.measure is measure and any(run.result["n"])]
        columns = [
            Column(run.number, run.label, language_name(run.language), (), *numbers_of(run.result, "p"))
            for run in of_kind
        ]
        if columns:
            title = f"The 16 stereotypes in {what}"
            source = "p is the share of masculine texts among those whose gender shows."
            name = f"stereotypes-{measure.name}"
            drawn.append(rates_of_stereotypes(columns, name, title, "p", source, relative=False))
    return drawn


def _of_translations(runs: Sequence[Measured]) -> list[Panel]:
    rates = {run.number: published_rates(run) for run in runs}
    runs = [run for run in runs if any(rates[run.number]["n"])]
    own = []
    for run in runs:
        beside = tuple(model for model in translators() if model.where == run.language)
        values = numbers_of(rates[run.number], "p")
        own.append(Column(run.number, run.label, language_name(run.language), beside, *values))
    drawn = []
    # sums and ranks are of all 16 stereotypes
    whole = [run for run in runs if all(rates[run.number]["n"])]
    if whole:
        drawn.append(_trade_off(whole, rates))
    if own:
        source = "After figure 11 of Pikuliak et al. (2024), whose rates are the centres of the intervals."
        title = "The 16 stereotypes in translations"
        drawn.append(rates_of_stereotypes(own, "stereotypes-translation", title, "p", source, relative=False))
    if whole:
        numbers = {run.number for run in whole}
        caption = (
            "Boxes: the paper’s four translators in nine languages. Points: this report. After figure 3 of "
            "Pikuliak et al. (2024)."
        )
        ranked = [column for column in own if column.number in numbers]
        title = "Feminine ranks in translations"
        drawn.append(ranks(ranked, "ranks-translation", title, translators(), caption))
    return drawn


def _trade_off(runs: Sequence[Measured], rates: dict[int, dict[str, Any]]) -> Panel:
    """Figure 2 of [A]: f_m against f_s, and the line between the two extremes."""
    figure, (axes,) = canvas.canvas(5.2)
    rows: list[list[Any]] = []
    axes.plot([0.5, 1], [1, 0], **DASHED)
    extremes = "from fully stereotypical to always masculine"
    canvas.note(axes, extremes, 0.752, 0.496, (6, 4), fontsize=8.5)
    handles = []
    for marker, (system, name) in zip(MARKERS, _SYSTEMS.items(), strict=False):
        style: dict[str, Any] = {"marker": marker, "color": LIGHT["published"], "fillstyle": "none"}
        for model in (model for model in translators() if model.model == system):
            p_f, p_m = gender_means(model.rates)
            f_m, f_s = (p_m + p_f) / 2, p_m - p_f
            text = (
                f"{name}, {language_name(str(model.where))}: f_m {format_number(f_m)}, f_s "
                f"{format_number(f_s)}"
            )
            canvas.mark(axes, f_m, f_s, text, markersize=5.5, **style)
            canvas.note(axes, str(model.where), f_m, f_s, (5, 2), fontsize=7)
            rows.append([PUBLISHED, name, model.where, f_m, None, None, f_s, None, None])
        handles.append(key(name, **style))
    told = []
    for run in runs:
        own_f_m, own_f_s = (Estimate.of(rates[run.number], name) for name in ("f_m", "f_s"))
        style = series(run.number)
        text = f"{run.label}: f_m {format_number(own_f_m.value)}, f_s {format_number(own_f_s.value)}"
        draw_bands(axes, run.result, own_f_m.value, across=False)
        canvas.interval_mark(axes, own_f_m, own_f_s, text, linewidth=2, markersize=9, **style)
        handles.append(key(run.label, linewidth=2, markersize=7, **style))
        rows.append([OWN, run.label, run.language, *own_f_m, *own_f_s])
        told.append(text)
    axes.set_xlabel("f_m, global masculine rate: 1 is always masculine")
    axes.set_ylabel("f_s, stereotype rate: 0 is none")
    axes.axhline(0, color=LIGHT["quiet"], linewidth=0.8)
    results = [run.result for run in runs]
    canvas.legend(figure, [*handles, *band_keys(results)])
    return Panel(
        "trade-off",
        "Stereotypes against the male norm",
        figure,
        "f_s against f_m with 95 % intervals, beside the paper’s translators; rates are the centres of "
        "Agresti-Coull intervals, as the paper prints them, which in few samples lie nearer to 1/2 than the "
        "shares. Dashed: the theoretical line, from (0.5, 1) to (1, 0), of systems that leave the masculine "
        "only where a stereotype about women suggests it. A system that always writes the masculine has no "
        "stereotype rate, and that is no praise. "
        f"{band_words(results)} After figure 2 of Pikuliak et al. (2024).",
        f"Scatter of f_s against f_m beside the published translators. {'; '.join(told)}.",
        ["source", "system", "language", "f_m", "f_m_low", "f_m_high", "f_s", "f_s_low", "f_s_high"],
        own_first(rows),
    )
