"""Panels of headline numbers: g_s, f_s, control groups, StereoSet, WinoBias, GenderBench."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from scipy import special

from gest_dataset import published
from gest_dataset.languages import SOURCE
from gest_dataset.measures.choice import CHOICE
from gest_dataset.measures.control_bias import sample_scores
from gest_dataset.measures.formatting import format_number
from gest_dataset.measures.generated_gender import STORY
from gest_dataset.measures.grid import EMPTY, Estimate
from gest_dataset.measures.measure import Result
from gest_dataset.measures.stereoset import INTERSENTENCE, INTRASENTENCE
from gest_dataset.measures.stereotype_rate import NEUTRAL
from gest_dataset.published.genderbench import graded_models
from gest_dataset.published.models import (
    PublishedRates,
    english_models,
    language_models,
    model_families,
    published_mean_g_s,
    slavic_models,
    translators,
)
from gest_dataset.report import plots
from gest_dataset.report.figures import (
    Column,
    Curve,
    Dots,
    Interval,
    Point,
    Rows,
    Scatter,
    interval_figure,
    scatter_figure,
)
from gest_dataset.report.labels import LabelledRun, language_name, language_order, short_name
from gest_dataset.report.panel import OWN, PUBLISHED, Panel, make_panel
from gest_dataset.report.panels_stereotypes import Rates, ranks_panel, rates_panel
from gest_dataset.report.style import DASHED, DOTTED, LIGHT, MARKERS, SERIES, TICK
from gest_dataset.statistics import masculine_rate
from gest_dataset.statistics.bootstrap import LEVEL
from gest_dataset.statistics.checks import Floats, UndefinedWarning
from gest_dataset.statistics.stereotype_rate import LN10
from gest_dataset.statistics.weights import gender_means
from gest_dataset.stereotypes import GENDERS

# The models that have a label in the figure of sizes; a family is labelled once
_LABELS = {
    "roberta-base": "RoBERTa",
    "bert-base-multilingual-cased": "mBERT",
    "phi-1": "Phi-1",
    "albert-base-v2": "ALBERT",
    "bert-base-uncased": "BERT",
}
_GREY: dict[str, Any] = {"color": LIGHT["published"], "markeredgecolor": LIGHT["published"]}
_KINDS: dict[str, dict[str, Any]] = {
    "masked": {"marker": "o", **_GREY, "markersize": 5},
    "causal": {"marker": "s", "fillstyle": "none", **_GREY, "markersize": 5},
}
_SYSTEMS = {"amazon": "Amazon Translate", "deepl": "DeepL", "google": "Google Translate", "nllb": "NLLB-200"}
_CONTROL_SCORES = {
    "ss": "preference for the stereotypical keyword, ln p(w_s) − ln p(w_a)",
    "cs": "preference for the sentence about the stereotyped group",
}
_STEREOSET_SCORES = {"lms": "LMS", "ss": "SS", "icat": "ICAT"}
_MANY_SAMPLES = 500  # more are drawn smaller and fainter


def _run_style(number: int, markersize: float = 9, linewidth: float = 2) -> dict[str, Any]:
    return {**plots.series_style(number), "markersize": markersize, "linewidth": linewidth}


def _values(rows: Sequence[Sequence[Any]], names: Sequence[int], value: int) -> str:
    """The values of this report's rows in one sentence, for people who do not see the figure."""
    own = [row for row in rows if row[0] == OWN]
    return "; ".join(f"{', '.join(str(row[n]) for n in names)} {format_number(row[value])}" for row in own)


# --- g_s and f_s


def size(runs: Sequence[LabelledRun]) -> Iterator[Panel]:
    """g_s against the number of parameters (figure 4 of [A])."""
    runs = [run for run in runs if not run.custom_templates]
    if not runs:
        return
    templates = {number for run in runs for number in run.templates}
    models = published_mean_g_s(templates)
    millions = {model.name: model.millions for model in language_models().values()}
    rows: list[list[Any]] = []
    curves = []
    points: list[Point] = []
    unsized: list[Point] = []
    for family, members in model_families().items():
        line = sorted((millions[name], g_s) for (name, _), g_s in models.items() if name in members)
        if len(line) > 1:
            style = {"color": LIGHT["published"], "linewidth": 0.8, "alpha": 0.55}
            x, y = zip(*line, strict=True)
            curves.append(Curve(x, y, style, family))
    for (model, kind), g_s in models.items():
        text = f"{model}: g_s {format_number(g_s)}, {format_number(millions[model])} million parameters"
        points.append(Point(millions[model], g_s, text, _KINDS[kind], _LABELS.get(model, "")))
        rows.append([PUBLISHED, model, kind, millions[model], g_s, None, None])
    entries = [plots.legend_entry(f"published, {kind}", **style) for kind, style in _KINDS.items()]
    for run in runs:
        parameters = run.facts.get("parameters")
        own = Estimate.of(run.result, "g_s")
        place = parameters / 1e6 if parameters else len(unsized)
        point = Point(place, own, f"{run.label}: g_s {own}", _run_style(run.number), result=run.result)
        (points if parameters else unsized).append(point)
        entries.append(plots.legend_entry(run.label, **_run_style(run.number, 7)))
        rows.append([OWN, run.label, run.kind, parameters / 1e6 if parameters else None, *own])
    axis = "g_s (dashed: no stereotype)"
    scatters = [
        Scatter("parameters", axis, points, curves, x_scale="log", y_scale="ratio", y_null=1.0, width=6)
    ]
    if unsized:
        scatters.append(Scatter("size not known", "", unsized, y_null=1.0, no_ticks=True))
    results = [run.result for run in runs]
    figure, note = scatter_figure(scatters, 5.2, [*entries, *plots.band_entries(results)])
    figure.axes[0].xaxis.set_major_formatter(
        FuncFormatter(lambda m, _: f"{m / 1000:g} B" if m >= 1000 else f"{m:g} M")
    )
    yield make_panel(
        "size",
        figure,
        rows,
        models=len(models),
        templates=", ".join(map(str, sorted(templates))),
        bands=plots.band_caption(results),
        note=note,
        low=format_number(min(models.values())),
        high=format_number(max(models.values())),
        values=_values(rows, [1], 4),
    )


def by_template(runs: Sequence[LabelledRun]) -> Iterator[Panel]:
    """g_s in each template (figures 9 and 10 of [A])."""
    if any(len(run.templates) > 1 for run in runs):
        numbers = sorted({number for run in runs for number in run.templates})
        groups = {number: f"template {number}" for number in numbers}
        results = {(run.number, number): result for run in runs for number, result in run.templates.items()}
        custom = any(run.custom_templates for run in runs)
        yield _grouped("templates", runs, groups, results, () if custom else english_models())


def by_language(runs: Sequence[LabelledRun]) -> Iterator[Panel]:
    """g_s in each language, of pairs (figure 6 of [A]) or of neutral sentences."""
    if runs:
        codes = sorted({run.language for run in runs}, key=language_order)
        groups = {code: language_name(code) for code in codes}
        results = {(run.number, run.language): run.result for run in runs}
        neutral = runs[0].measure is NEUTRAL
        name = "languages-neutral" if neutral else "languages"
        yield _grouped(name, runs, groups, results, () if neutral else slavic_models())


def _grouped(
    name: str,
    runs: Sequence[LabelledRun],
    groups: Mapping[Any, str],
    results: Mapping[tuple[int, Any], Result],
    models: Sequence[PublishedRates],
) -> Panel:
    """g_s in a row for each group; runs of one model share a colour, unless two would be in one place."""
    model_of = {run.number: short_name(run.model) for run in runs}
    if len({(model_of[number], group) for number, group in results}) < len(results):
        model_of = {run.number: run.label for run in runs}
    names = list(dict.fromkeys(model_of.values()))
    rows: list[list[Any]] = []
    dots, intervals = [], []
    for row, (group, label) in enumerate(groups.items()):
        for model in (model for model in models if model.where == group):
            text = f"{model.model}, {label}: g_s {format_number(model.g_s)}"
            style = {"markersize": 13, "markeredgewidth": 1.2, "alpha": 0.8, **TICK}
            dots.append(Dots(row, model.g_s, text, style))
            rows.append([PUBLISHED, model.model, model.kind, label, model.g_s, None, None])
        for run in (run for run in runs if (run.number, group) in results):
            result = results[run.number, group]
            g_s = Estimate.of(result, "g_s")
            number = names.index(model_of[run.number])
            offset = 0.0 if len(names) == 1 else 0.52 * number / (len(names) - 1) - 0.26
            text = f"{run.label}, {label}: g_s {g_s}"
            intervals.append(Interval(row + offset, g_s, text, _run_style(number, 8, 2.6), result=result))
            rows.append([OWN, run.label, run.kind, label, *g_s])
    entries = [plots.legend_entry(one, **_run_style(number, 7, 2.4)) for number, one in enumerate(names)]
    if dots:
        entries.append(plots.legend_entry("published", markersize=10, **TICK))
    drawn = list(results.values())
    column = Column("", "g_s (dashed: no stereotype)", intervals, dots, null=1.0, ratio=True)
    named = Rows(list(groups.values()))
    height = named.height(max(0.42, 0.2 * len(names) + 0.14))
    figure, note = interval_figure([column], named, height, [*entries, *plots.band_entries(drawn)])
    values = _values(rows, [1, 3], 4)
    return make_panel(name, figure, rows, bands=plots.band_caption(drawn), note=note, values=values)


def translations(runs: Sequence[LabelledRun]) -> Iterator[Panel]:
    """Masculine rates of translators (figures 2, 3 and 11 of [A]), by the convention of its tables."""
    found = []
    for run in runs:
        genders, stereotypes = (run.run.table[name].to_pylist() for name in ("gender", "stereotype"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedWarning)  # the page says what is undefined
            rates = masculine_rate(genders, stereotypes, convention="published")
        if any(rates["n"]):
            models = [model for model in translators() if model.where == run.language]
            found.append(Rates(run, language_name(run.language), rates, models))
    # Sums and ranks need all 16 stereotypes
    complete = [one for one in found if all(one.result["n"])]
    if complete:
        yield _trade_off(complete)
    if found:
        yield rates_panel("stereotypes-translation", found, "p")
    if complete:
        yield ranks_panel("ranks-translation", complete, translators())


def _trade_off(found: Sequence[Rates]) -> Panel:
    """f_s against f_m (figure 2 of [A]), with the line between its two extremes."""

    def describe(name: str, f_m: float, f_s: float) -> str:
        return f"{name}: f_m {format_number(f_m)}, f_s {format_number(f_s)}"

    rows: list[list[Any]] = []
    points, entries, texts = [], [], []
    for marker, (system, name) in zip(MARKERS, _SYSTEMS.items(), strict=False):
        style = {"marker": marker, "fillstyle": "none", "markersize": 5.5, **_GREY}
        for model in (model for model in translators() if model.model == system):
            p_f, p_m = gender_means(model.rates)
            f_m, f_s = (p_m + p_f) / 2, p_m - p_f
            text = describe(f"{name}, {language_name(str(model.where))}", f_m, f_s)
            points.append(Point(f_m, f_s, text, style, str(model.where)))
            rows.append([PUBLISHED, name, model.where, f_m, None, None, f_s, None, None])
        entries.append(plots.legend_entry(name, **style))
    for one in found:
        own_f_m, own_f_s = (Estimate.of(one.result, name) for name in ("f_m", "f_s"))
        texts.append(describe(one.run.label, own_f_m.value, own_f_s.value))
        style = _run_style(one.run.number)
        points.append(Point(own_f_m, own_f_s, texts[-1], style, result=one.run.result))
        entries.append(plots.legend_entry(one.run.label, **_run_style(one.run.number, 7)))
        rows.append([OWN, one.run.label, one.run.language, *own_f_m, *own_f_s])
    curves = [
        Curve([1.0, 0.75], [0.0, 0.5], DASHED),
        Curve([0.5, 0.75], [1.0, 0.5], DASHED, "from fully stereotypical to always masculine"),
    ]
    axes = ("f_m, global masculine rate: 1 is always masculine", "f_s, stereotype rate: 0 is none")
    results = [one.run.result for one in found]
    figure, _ = scatter_figure(
        [Scatter(*axes, points, curves, y_null=0.0)], 5.2, [*entries, *plots.band_entries(results)]
    )
    bands = plots.band_caption(results)
    return make_panel("trade-off", figure, rows, bands=bands, values="; ".join(texts))


# --- rows of models, this report's and published ones


@dataclass(frozen=True)
class _ModelRow:
    """A model with its numbers, of this report (then with the run) or published."""

    cells: list[Any]
    label: str
    run: LabelledRun | None = None

    def interval(self, row: int, column: int, symbol: str, bands: bool = True) -> Interval:
        """The estimate that begins at a column of the cells, in a row of the figure."""
        value, low, high = (math.nan if cell is None else cell for cell in self.cells[column : column + 3])
        estimate = Estimate(value, low, high)
        text = f"{self.label}: {symbol} {format_number(value) if math.isnan(low) else estimate}"
        if self.run is None:
            style = {"color": LIGHT["published"], "markersize": 5.5, "linewidth": 1.6}
            return Interval(row, estimate, text, style)
        color = plots.series_style(self.run.number)["color"]
        style = {"color": color, "markersize": 8, "linewidth": 2.6}
        return Interval(row, estimate, text, style, result=self.run.result if bands else None)


def _names(models: Sequence[_ModelRow]) -> Rows:
    colours = [LIGHT["ink" if model.run else "quiet"] for model in models]
    return Rows([model.label for model in models], colours)


def control_differences(runs: Sequence[LabelledRun]) -> Iterator[Panel]:
    """f next to tables 3, 11 and 12 of [D], whose log10 become natural logarithms."""
    runs = [run for run in runs if not math.isnan(run.result["f_mu"])]
    if not runs:
        return
    configs = list(dict.fromkeys(run.config for run in runs))
    models: list[_ModelRow] = []
    for config in configs:
        suffix = f", {config}" if len(configs) > 1 else ""
        for run in runs:
            if run.config == config:
                cells = [OWN, run.label, config, *Estimate.of(run.result, "f_mu")]
                models.append(_ModelRow(cells, run.label, run))
        for row in published.load("word_filling_f")["rows"]:
            if row["config"] == config:
                f, half_width = LN10 * row["f_mu"], LN10 * row["f_mu_pm"]
                name = short_name(row["model"])
                cells = [PUBLISHED, name, config, f, f - half_width, f + half_width]
                models.append(_ModelRow(cells, f"{name}{suffix}"))
    axis = "mean of f, natural logarithm (dashed: no difference between the groups)"
    intervals = [model.interval(row, 3, "f") for row, model in enumerate(models)]
    named, results = _names(models), [run.result for run in runs]
    column = Column("", axis, intervals, null=0.0)
    figure, _ = interval_figure([column], named, named.height(0.34), plots.band_entries(results))
    rows = [model.cells for model in models]
    bands = plots.band_caption(results)
    yield make_panel("control-f", figure, rows, bands=bands, values=_values(rows, [1], 3))


def stereoset(runs: Sequence[LabelledRun]) -> Iterator[Panel]:
    """LMS, SS and ICAT next to the paper's models, for each test and language."""
    groups: dict[tuple[str, str], list[LabelledRun]] = {}
    for measure in (INTRASENTENCE, INTERSENTENCE):
        for run in runs:
            if run.measure is measure:
                groups.setdefault((measure.name, run.language), []).append(run)
    for (name, language), own in groups.items():
        models = []
        for run in own:
            numbers: list[Any] = []
            for score in _STEREOSET_SCORES:
                numbers += Estimate.of(run.result, score)
            models.append(_ModelRow([OWN, run.label, *numbers], run.label, run))
        for row in published.load(name)["rows"]:
            if row["language"] == language:
                cells: list[Any] = [PUBLISHED, f"{row['model']} ({row['handle']})"]
                for score in _STEREOSET_SCORES:
                    cells += [row[score], None, None]
                models.append(_ModelRow(cells, row["model"]))
        columns = []
        for number, (score, title) in enumerate(_STEREOSET_SCORES.items()):
            bands = score == "ss"
            intervals = [
                model.interval(row, 2 + 3 * number, title, bands) for row, model in enumerate(models)
            ]
            columns.append(Column(title, "per cent", intervals, null=50.0 if bands else None))
        named, results = _names(models), [run.result for run in own]
        entries = plots.band_entries(results)
        figure, _ = interval_figure(columns, named, named.height(0.33), entries, per_row=6, shared_axis=False)
        test = name.removeprefix("stereoset_")
        rows = [model.cells for model in models]
        values = "; ".join(
            f"{row[1]}: "
            + ", ".join(
                f"{title} {format_number(row[2 + 3 * n])}"
                for n, title in enumerate(_STEREOSET_SCORES.values())
            )
            for row in rows
            if row[0] == OWN
        )
        yield make_panel(
            "stereoset",
            figure,
            rows,
            name=f"stereoset-{test}-{language or 'data'}",
            where=f"{test}, {language_name(language)}".rstrip(", "),
            table=2 if test == "intrasentence" else 3,
            bands=plots.band_caption(results),
            values=values,
        )


def genderbench(runs: Sequence[LabelledRun]) -> Iterator[Panel]:
    """English choices and stories next to the models of GenderBench's report."""
    models: list[_ModelRow] = []
    axes = {}
    for measure, name, axis in (
        (CHOICE, "stereotype_rate_without_15", "stereotype rate of choices, without 15"),
        (STORY, "f_s", "f_s of stories"),
    ):
        own = []
        for run in runs:
            estimate = Estimate.of(run.result, name)
            if run.measure is measure and run.language == SOURCE and not math.isnan(estimate.value):
                own.append(_ModelRow([OWN, run.label, measure.name, "", *estimate], run.label, run))
        if own:
            axes[measure.name] = axis
            models += own
            for one in sorted(graded_models(measure.name), key=lambda one: -one.middle):
                cells = [PUBLISHED, one.model, measure.name, one.mark, one.middle, one.low, one.high]
                models.append(_ModelRow(cells, one.model))
    if not models:
        return
    models.sort(key=lambda model: model.run is None)
    by_label: dict[str, list[_ModelRow]] = {}
    for model in models:
        by_label.setdefault(model.label, []).append(model)
    columns = []
    for probe, axis in axes.items():
        intervals = [
            model.interval(row, 4, axis, bands=False)
            for row, parts in enumerate(by_label.values())
            for model in parts
            if model.cells[2] == probe
        ]
        columns.append(Column("", axis, intervals, null=0.0))
    first = [parts[0] for parts in by_label.values()]
    labels = []
    for label, parts in by_label.items():
        marks = ", ".join(filter(None, (part.cells[3] for part in parts)))
        labels.append(f"{label} ({marks})" if marks else label)
    named = Rows(labels, _names(first).colours)
    figure, _ = interval_figure(columns, named, named.height(0.27), per_row=2, shared_axis=False)
    rows = [model.cells for model in models]
    yield make_panel("genderbench", figure, rows, values=_values(rows, [1, 2], 4))


# --- scores of single samples


def regression(x: Floats, y: Floats) -> tuple[float, Floats, Floats, Floats]:
    """Least squares: the slope, points along the line, their heights, and half the width of its 95 % band.

    The band is that of the mean at each point, not of single samples.
    """
    centred, freedom = x - x.mean(), float(len(x) - 2)
    slope = float(centred @ y / (centred @ centred))
    rest = y - y.mean() - slope * centred
    error = math.sqrt(float(rest @ rest) / freedom / float(centred @ centred))  # of the slope
    places = np.linspace(x.min(), x.max(), 60)
    # Not scipy.stats, whose import takes longer than drawing the report
    half = special.stdtrit(freedom, (1 + LEVEL) / 2) * error * np.sqrt(x.var() + (places - x.mean()) ** 2)
    return slope, places, y.mean() + slope * (places - x.mean()), half


def control_scatters(runs: Sequence[LabelledRun]) -> Iterator[Panel]:
    """The scores of original against control pairs: ss and cs (figures 1 and 2 of [D])."""
    for number, (score, meaning) in enumerate(_CONTROL_SCORES.items(), start=1):
        scatters, texts = [], []
        rows: list[list[Any]] = []
        for run in runs:
            scores = sample_scores(run.run.table)
            x, y = (scores.get(f"{score}_{side}", np.empty(0)) for side in ("original", "control"))
            if len(x) != len(y):
                continue
            finite = np.isfinite(x) & np.isfinite(y)
            if finite.sum() <= 2 or np.ptp(x[finite]) == 0:
                continue
            x, y, ids = x[finite], y[finite], np.array(run.run.table["id"].to_pylist())[finite]
            slope, places, heights, half = regression(x, y)
            colour = plots.series_style(run.number)["color"]
            size, alpha = (3, 0.2) if len(x) > _MANY_SAMPLES else (4.5, 0.5)
            style = {"marker": "o", "markersize": size, "markeredgewidth": 0, "alpha": alpha, "color": colour}
            ends = [min(x.min(), y.min()), max(x.max(), y.max())]
            solid = {"color": colour, "linewidth": 2}
            band = Curve(places, heights, solid, low=heights - half, high=heights + half)
            axes = (f"{score}, original group", f"{score}, control group")
            curves = [Curve(ends, ends, DOTTED), band]
            scatters.append(Scatter(*axes, curves=curves, samples=(x, y, style), title=run.label))
            rho = format_number(run.result[f"{score}_rho"])
            texts.append(f"{run.label}: ρ {rho}, slope {format_number(slope)}, {len(x):,} samples")
            samples = zip(ids.tolist(), x.tolist(), y.tolist(), strict=True)
            rows += [[run.label, *sample] for sample in samples]
        if scatters:
            entries = [
                plots.legend_entry("regression, with its 95 % band", color=LIGHT["ink"], linewidth=2),
                plots.legend_entry("identity", **DOTTED),
            ]
            figure, _ = scatter_figure(scatters, 4.7, entries, per_row=2)
            columns = ["run", "id", f"{score}_original", f"{score}_control"]
            words: dict[str, Any] = {"score": score, "meaning": meaning, "number": number}
            words["values"] = "; ".join(texts)
            yield make_panel(f"control-{score}", figure, rows, columns=columns, **words)


def winobias(runs: Sequence[LabelledRun]) -> Iterator[Panel]:
    """The ratios of the samples by the stereotypical gender of the occupation, with q_f and q_m."""
    columns: list[Column] = []
    rows: list[list[Any]] = []
    for run in runs:
        table = run.run.table.to_pandas()
        dots, intervals = [], []
        for row, (gender, symbol) in enumerate(zip(GENDERS, ("q_f", "q_m"), strict=True)):
            ratios = np.exp(table.loc[table["occupation_gender"] == gender, "log_ratio"].to_numpy())
            ticks = {"marker": "|", "color": LIGHT[gender], "alpha": 0.35, "markersize": 16}
            dots.append(Dots(np.full(len(ratios), row), ratios, f"{run.label}: samples", ticks))
            mean = Estimate.of(run.result, symbol)
            style = {"color": LIGHT[gender], "linewidth": 5, "markersize": 9}
            intervals.append(Interval(row, mean, f"{run.label}: {symbol} {mean}", style))
            rows.append([run.label, f"{gender} occupations", len(ratios), *mean])
        axis = "P(masculine pronoun) / P(feminine pronoun)"
        columns.append(Column(run.label, axis, intervals, dots, null=1.0, ratio=True))
    if columns:
        names = Rows([f"{gender} occupations" for gender in GENDERS])
        figure, note = interval_figure(columns, names, 2.2, per_row=1)
        paper = published.load("winobias")["rows"][0]
        known = [row for row in rows if not math.isnan(row[3])]
        values = "; ".join(f"{row[0]}, {row[1]}: {format_number(row[3])}" for row in known)
        words = {"models": paper["models"], "rho": paper["pearson"], "note": note, "values": values}
        yield make_panel("winobias", figure, rows, **words)


# --- one result


def result_figure(run: LabelledRun) -> Figure:
    """The figure of one result, for notebooks: the lines of its grid in each template."""
    grids = {number: run.measure.grid(part) for number, part in run.templates.items()}
    first = next(iter(grids.values()))
    ratio = first.axis.ratio if first.axis else run.measure.headline(run.result).ratio
    count = len(first.headings)
    offsets = np.linspace(-0.2, 0.2, count) if count > 1 else [0.0]
    columns = []
    for number, grid in grids.items():
        intervals = []
        for row, line in enumerate(grid.lines):
            colours = SERIES if count > 1 else [LIGHT[line.gender or "ink"]]
            for estimate, colour, offset in zip(line.estimates, colours, offsets, strict=False):
                if estimate is not EMPTY and not math.isnan(estimate.value):
                    text, style = f"{line.name.strip()}: {estimate}", {"color": colour, "markersize": 6}
                    intervals.append(Interval(row + float(offset), estimate, text, style))
        title = f"template {number}" if number else ""
        axis = " or ".join(grid.headings)
        columns.append(Column(title, axis, intervals, null=1.0 if ratio else None, ratio=ratio))
    rows = Rows(
        [line.name.strip() for line in first.lines], [LIGHT[line.gender or "ink"] for line in first.lines]
    )
    entries = []
    if count > 1:
        for name, colour in zip(first.headings, SERIES, strict=False):
            entries.append(plots.legend_entry(name, color=colour, marker="o", linewidth=2.6))
    figure, _ = interval_figure(columns, rows, 0.9 + 0.27 * len(first.lines), entries)
    return figure
