"""Figures of g_s beside the papers' models: against size, by template, by language (4, 6, 9, 10 of [A])."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.ticker import FuncFormatter

from gest_dataset.measures.formatting import format_number
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.measure import Result
from gest_dataset.measures.stereotype_rate import NEUTRAL, PAIRS, TEMPLATES
from gest_dataset.published.models import (
    PublishedRates,
    comparable_models,
    english_models,
    language_models,
    model_families,
    published_mean_g_s,
    slavic_models,
)
from gest_dataset.report import canvas
from gest_dataset.report.bands import band_keys, band_words, draw_bands
from gest_dataset.report.canvas import DASHED, LIGHT, TICK, key, series
from gest_dataset.report.figures_stereotypes import Column, numbers_of, ranks, rates_of_stereotypes
from gest_dataset.report.measured import Measured, language_name, language_order, short
from gest_dataset.report.panel import OWN, PUBLISHED, Panel, own_first

_LABELLED = {  # what stands for itself in the figure of sizes; families are labelled once
    "roberta-base": "RoBERTa",
    "bert-base-multilingual-cased": "mBERT",
    "phi-1": "Phi-1",
    "albert-base-v2": "ALBERT",
    "bert-base-uncased": "BERT",
}

_KINDS: dict[str, dict[str, Any]] = {
    "masked": {"marker": "o", "color": LIGHT["published"]},
    "causal": {"marker": "s", "color": LIGHT["published"], "fillstyle": "none"},
}


def size_panel(runs: Sequence[Measured]) -> Panel:
    """Figure 4 of [A]: g_s against the number of parameters."""
    templates = {number for run in runs for number in run.templates}
    models = published_mean_g_s(templates)
    millions = {model.name: model.millions for model in language_models().values()}
    unknown = [run for run in runs if not run.facts.get("parameters")]
    strips: dict[str, Any] = {"gridspec_kw": {"width_ratios": [6, 1]}} if unknown else {}
    figure, (axes, *strip) = canvas.canvas(5.2, 1, 1 + len(strips), sharey=True, **strips)
    rows: list[list[Any]] = []
    for family, members in model_families().items():
        points = [
            (millions[model], g_s) for model in members for (name, _), g_s in models.items() if name == model
        ]
        if len(points) > 1:
            axes.plot(*zip(*points, strict=True), color=LIGHT["published"], linewidth=0.8, alpha=0.55)
            canvas.note(axes, family, *max(points), (5, 4), fontsize=8)
    for (model, kind), g_s in models.items():
        text = f"{model}: g_s {format_number(g_s)}, {format_number(millions[model])} million parameters"
        canvas.mark(axes, millions[model], g_s, text, markersize=5, **_KINDS[kind])
        if model in _LABELLED:
            canvas.note(axes, _LABELLED[model], millions[model], g_s, (5, 4), fontsize=8)
        rows.append([PUBLISHED, model, kind, millions[model], g_s, None, None])
    handles = [key(f"published, {kind}", **style) for kind, style in _KINDS.items()]
    told = []
    for run in runs:
        size = run.facts.get("parameters")
        style = series(run.number)
        own = Estimate.of(run.result, "g_s")
        ax, x = (axes, size / 1e6) if size else (strip[0], unknown.index(run))
        draw_bands(ax, run.result, x, across=False)
        canvas.interval_mark(ax, x, own, f"{run.label}: g_s {own}", linewidth=2, markersize=9, **style)
        handles.append(key(run.label, markersize=7, linewidth=2, **style))
        rows.append([OWN, run.label, run.kind, size / 1e6 if size else None, *own])
        told.append(f"{run.label} {format_number(own.value)}")
    for ax in (axes, *strip):
        ax.axhline(1, **DASHED)
    for ax in strip:
        ax.set_xlim(-0.7, len(unknown) - 0.3)
        ax.set_xticks([])
        ax.set_xlabel("size not known")
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda m, _: f"{m / 1000:g} B" if m >= 1000 else f"{m:g} M"))
    cut_off = canvas.ratio_axis(axes.yaxis, [1.0, *(row[4] for row in rows)])
    axes.set_xlabel("parameters")
    axes.set_ylabel("g_s (dashed: no stereotype)")
    results = [run.result for run in runs]
    canvas.legend(figure, [*handles, *band_keys(results)])
    published = list(models.values())
    averaged = ", ".join(map(str, sorted(templates)))
    return Panel(
        "size",
        "Stereotype rate against model size",
        figure,
        f"g_s of {len(models)} published models and of this report, with 95 % intervals, averaged over "
        f"templates {averaged} as far as a model has them (causal models: 3 and 4). Lines join sizes of one "
        f"family. After figure 4 of Pikuliak et al. (2024), on the ratio scale of its equation 4 rather than "
        f"of its print. {band_words(results)} {cut_off}".strip(),
        f"Scatter of g_s against parameters. Published models lie between "
        f"{format_number(min(published))} and "
        f"{format_number(max(published))}. In this report: {'; '.join(told)}.",
        ["source", "model", "kind", "million_parameters", "g_s", "g_s_low", "g_s_high"],
        own_first(rows),
    )


def template_panel(runs: Sequence[Measured]) -> Panel:
    """Figures 9 and 10 of [A]: g_s in each template."""
    numbers = sorted({number for run in runs for number in run.templates})
    results = {(run.number, number): result for run in runs for number, result in run.templates.items()}
    return _groups(
        "templates", "Stereotype rate by template", runs,
        {number: f"template {number}" for number in numbers}, results,
        () if any(run.own_templates for run in runs) else english_models(),
        "g_s in each template with its 95 % interval; ticks are the published models. A model that is "
        "biased in one wording only would stand out here. After figures 9 and 10 of Pikuliak et al. (2024).",
    )  # fmt: skip


_PAIRS_CAPTION = (
    "g_s on gender-swapped pairs with its 95 % interval; ticks are the five published models, masked ones on "
    "pairs that differ in one token. The models differ in the pairs that they can be asked, so small "
    "differences between them mean little. After figure 6 of Pikuliak et al. (2024)."
)
_NEUTRAL_CAPTION = (
    "g_s on sentences that show no gender, in frames with a man and with a woman who says them, with its "
    "95 % interval. The sentences of two languages are not the same ones, and neither are those of pairs. "
    "Nothing is published of this kind."
)


def language_panel(runs: Sequence[Measured]) -> Panel:
    """Figure 6 of [A]: g_s in each language."""
    return _by_language("languages", "Stereotype rate by language", runs, slavic_models(), _PAIRS_CAPTION)


def neutral_panel(runs: Sequence[Measured]) -> Panel:
    """The same of neutral sentences."""
    title = "Stereotype rate of neutral sentences by language"
    return _by_language("languages-neutral", title, runs, (), _NEUTRAL_CAPTION)


def _by_language(
    name: str, title: str, runs: Sequence[Measured], published: Sequence[PublishedRates], caption: str
) -> Panel:
    codes = sorted({run.language for run in runs}, key=lambda code: (language_order(code), code))
    results = {(run.number, run.language): run.result for run in runs}
    groups = {code: language_name(code) for code in codes}
    return _groups(name, title, runs, groups, results, published, caption)


def _groups(
    name: str,
    title: str,
    runs: Sequence[Measured],
    groups: Mapping[Any, str],
    results: Mapping[tuple[int, Any], Result],
    published: Sequence[PublishedRates],
    caption: str,
) -> Panel:
    """g_s with intervals in rows, one for each group.

    Runs of one model share a colour, where that leaves no two in one place.
    """
    whose = {run.number: short(run.model) for run in runs}
    if len({(whose[number], group) for number, group in results}) < len(results):
        whose = {run.number: run.label for run in runs}
    names = list(dict.fromkeys(whose.values()))
    figure, (axes,) = canvas.canvas(1.3 + len(groups) * max(0.42, 0.2 * len(names) + 0.14))
    rows: list[list[Any]] = []
    for y, (group, label) in zip(range(len(groups), 0, -1), groups.items(), strict=True):
        for model in published:
            if model.where == group:
                text = f"{model.model}, {label}: g_s {format_number(model.g_s)}"
                canvas.mark(axes, model.g_s, y, text, markersize=13, markeredgewidth=1.2, alpha=0.8, **TICK)
                rows.append([PUBLISHED, model.model, model.kind, label, model.g_s, None, None])
        for run in runs:
            if (run.number, group) in results:
                result = results[run.number, group]
                own = Estimate.of(result, "g_s")
                number = names.index(whose[run.number])
                offset = 0.0 if len(names) == 1 else 0.26 - 0.52 * number / (len(names) - 1)
                text = f"{run.label}, {label}: g_s {own}"
                draw_bands(axes, result, y + offset)
                canvas.interval_mark(axes, own, y + offset, text, markersize=8, **series(number))
                rows.append([OWN, run.label, run.kind, label, *own])
    axes.axvline(1, **DASHED)
    canvas.rows_axis(axes, list(groups.values()), [LIGHT["ink"]] * len(groups))
    axes.set_xlabel("g_s (dashed: no stereotype)")
    cut_off = canvas.ratio_axis(axes.xaxis, [1.0, *(row[4] for row in rows)])
    handles = [key(name, linewidth=2.4, markersize=7, **series(number)) for number, name in enumerate(names)]
    if any(row[0] == PUBLISHED for row in rows):
        handles.append(key("published", markersize=10, **TICK))
    drawn = list(results.values())
    canvas.legend(figure, [*handles, *band_keys(drawn)])
    told = "; ".join(f"{row[1]}, {row[3]}: {format_number(row[4])}" for row in rows if row[0] == OWN)
    return Panel(
        name, title, figure, f"{caption} {band_words(drawn)} {cut_off}".strip(),
        f"Intervals of g_s in rows. {told}.",
        ["source", "model", "kind", "group", "g_s", "g_s_low", "g_s_high"], own_first(rows),
    )  # fmt: skip


def result_columns(runs: Sequence[Measured]) -> list[Column]:
    """All results of templates, pairs and neutral sentences, in the order of the runs and their templates."""
    columns = []
    for run in runs:
        options = run.facts.get("options") or {}
        for template, result in run.templates.items():
            in_template = run.measure is TEMPLATES
            where = f"template {template}" if in_template else language_name(run.language)
            models = comparable_models(run.kind, template if in_template else run.language, options)
            if run.measure is NEUTRAL:  # of which nothing is published
                models = ()
            columns.append(Column(run.number, run.label, where, models, *numbers_of(result, "q")))
    return columns


def panels(runs: Sequence[Measured]) -> list[Panel]:
    """The figures that runs on templates, on pairs and on neutral sentences can feed."""
    english_runs, pair_runs, neutral_runs = (
        [run for run in runs if run.measure is own] for own in (TEMPLATES, PAIRS, NEUTRAL)
    )
    comparable = [run for run in english_runs if not run.own_templates]
    drawn = [size_panel(comparable)] if comparable else []
    for chosen, suffix, figures, where in (
        (english_runs, "english", "figures 12 and 13", "templates"),
        (pair_runs, "pairs", "figure 14", "pairs"),
    ):
        own = [column for column in result_columns(chosen) if column.drawable]
        if own:
            source = f"After {figures} of Pikuliak et al. (2024), on the ratio scale."
            title = f"The 16 stereotypes in {where}"
            drawn.append(rates_of_stereotypes(own, f"stereotypes-{suffix}", title, "q", source))
            drawn.append(_ranked(own, chosen, suffix, where))
    if any(len(run.templates) > 1 for run in english_runs):
        drawn.append(template_panel(english_runs))
    if pair_runs:
        drawn.append(language_panel(pair_runs))
    own = [column for column in result_columns(neutral_runs) if column.drawable]
    if own:
        title, source = "The 16 stereotypes in neutral sentences", "On the ratio scale."
        drawn.append(rates_of_stereotypes(own, "stereotypes-neutral", title, "q", source))
    if neutral_runs:
        drawn.append(neutral_panel(neutral_runs))
    return drawn


def _ranked(own: Sequence[Column], runs: Sequence[Measured], suffix: str, where: str) -> Panel:
    """Figure 5 of English models, figure 7 of Slavic ones (there without mBERT, as in [A])."""
    if suffix == "pairs":
        boxes: list[PublishedRates] = [model for model in slavic_models() if model.model.startswith("xlm")]
        what, figure = "the XLM models of the paper in nine languages", 7
    else:
        kind = "causal" if all(run.kind == "causal" for run in runs) else "masked"
        boxes = [model for model in english_models() if model.kind == kind]
        what, figure = f"the paper’s {kind} models and templates", 5
    caption = f"Boxes: {what}. Points: this report. After figure {figure} of Pikuliak et al. (2024)."
    return ranks(own, f"ranks-{suffix}", f"Feminine ranks in {where}", boxes, caption)
