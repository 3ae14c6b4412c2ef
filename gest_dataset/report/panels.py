"""All panels of a report: headline numbers next to published ones, and the 16 stereotypes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from scipy import special

from gest_dataset import published
from gest_dataset.languages import SOURCE
from gest_dataset.measures.control_bias import sample_scores
from gest_dataset.measures.formatting import format_number
from gest_dataset.measures.grid import EMPTY, Estimate
from gest_dataset.measures.measure import Result
from gest_dataset.measures.result import wide_scores
from gest_dataset.measures.stereotype_rate import certain_extremes
from gest_dataset.published import models as paper
from gest_dataset.published.genderbench import graded_models
from gest_dataset.report.explorer.explorer import CHANCE, compare_groups, profiles_of
from gest_dataset.report.figures import (
    PER_ROW,
    Chart,
    Curve,
    Mark,
    Rows,
    axes_per_row,
    band_entries,
    draw_charts,
    heat_map,
    legend_entry,
    series_style,
)
from gest_dataset.report.labels import LabelledRun, language_name, language_order, short_name
from gest_dataset.report.panel import OWN, PUBLISHED, TEXTS, Panel, Record, make_panel
from gest_dataset.report.style import DASHED, DOTTED, LIGHT, MARKERS, SERIES, STYLES
from gest_dataset.statistics import masculine_rate, rank_correlation
from gest_dataset.statistics.bootstrap import LEVEL
from gest_dataset.statistics.checks import Floats
from gest_dataset.statistics.stereotype_rate import LN10, LN_Q, resample_templates
from gest_dataset.statistics.weights import IS_FEMALE, gender_means
from gest_dataset.stereotypes import GENDERS, STEREOTYPES
from gest_dataset.storage import json_value

NAMES = [f"{stereotype.id}  {stereotype.name}" for stereotype in STEREOTYPES.values()]
COLOURS = [LIGHT[stereotype.gender] for stereotype in STEREOTYPES.values()]
# For captions of figures that have room for numbers only
NUMBERED = f"Stereotypes: {', '.join(' '.join(name.split()) for name in NAMES)}."
ENDS = ("", "_low", "_high")
_SHARE = (-0.02, 1.02)
_MANY_SAMPLES = 500  # more are drawn smaller and fainter


def stereotype_figure(
    charts: Sequence[Chart], entries: Sequence[Any] = (), shared_axis: bool = True
) -> tuple[Figure, str]:
    """Charts of the 16 stereotypes, and notes for the caption; narrow figures have numbers for names."""
    numbered = min(axes_per_row(PER_ROW), len(charts)) > 1 and axes_per_row(PER_ROW) < PER_ROW
    rows = Rows(list(map(str, STEREOTYPES)) if numbered else NAMES, COLOURS, split=int(IS_FEMALE.sum()))
    figure, cut_off = draw_charts(charts, 4.9, entries, rows, shared_axis=shared_axis)
    return figure, f"{NUMBERED if numbered else ''} {cut_off}"


def stereotype_marks(
    estimates: Sequence[Estimate],
    symbol: str = "",
    middle: float = 1.0,
    outer: Sequence[Sequence[float]] = (),
    offset: float = 0.0,
    **style: Any,
) -> list[Mark]:
    """A mark for each of the 16 stereotypes, relative to a middle; `outer` are wider bounds."""
    marks = []
    for row, (stereotype, estimate) in enumerate(zip(STEREOTYPES.values(), estimates, strict=True)):
        low, high = (ends[row] / middle for ends in outer) if outer else (None, None)
        text = " ".join(f"{stereotype.id} {stereotype.name}: {symbol} {estimate}".split())
        own_style = {"color": COLOURS[row], "markersize": 5.5, **style}
        relative = Estimate(*(number / middle for number in estimate))
        marks.append(Mark(relative, row + offset, text, own_style, low=low, high=high))
    return marks


def stereotype_records(first: Record, numbers: dict[str, Sequence[Any]]) -> list[Record]:
    """A record for each stereotype, with its entry of each column of numbers."""
    return [
        {
            **first,
            "stereotype": stereotype.id,
            "name": stereotype.name,
            **{column: values[row] for column, values in numbers.items()},
        }
        for row, stereotype in enumerate(STEREOTYPES.values())
    ]


def _columns(result: Result, name: str, ends: Sequence[str] = ENDS) -> dict[str, Sequence[Any]]:
    return {f"{name}{end}": result[f"{name}{end}"] for end in ends}


def _estimates(result: Result, name: str) -> list[Estimate]:
    return [Estimate.of(result, name, row) for row in range(len(STEREOTYPES))]


def _bounds(estimates: Sequence[Estimate], value: str) -> dict[str, Sequence[Any]]:
    """The columns of some estimates."""
    return dict(zip((value, "low", "high"), zip(*json_value(estimates), strict=True), strict=True))


def _gender_entries(text: str) -> list[Any]:
    """Legend entries for the colours of the genders; `text` has `{}` for women and men."""
    people = {"female": "women", "male": "men"}
    return [
        legend_entry(text.format(people[gender]), color=LIGHT[gender], marker="o", linewidth=2.6)
        for gender in GENDERS
    ]


# --- rates and ranks


class Rates(NamedTuple):
    """The rates of a run in one template or language, and the published ones to compare with."""

    run: LabelledRun
    where: str
    result: Result
    published: Sequence[paper.PublishedRates] = ()

    @property
    def record(self) -> Record:
        return {"source": OWN, "model": self.run.label, "where": self.where}


def rates(runs: Sequence[LabelledRun]) -> Iterator[Panel]:
    """Rates and ranks on one measure; those of translators by the convention of the paper's tables."""
    name = runs[0].measure.name if runs else ""
    found: list[Rates] = []
    for run in runs:
        language, options = language_name(run.language), run.facts.get("options") or {}
        if name == "masculine-rate":
            genders, numbers = (run.run.table[column].to_pylist() for column in ("gender", "stereotype"))
            measured = masculine_rate(genders, numbers, convention="published")
            models = [model for model in paper.translators() if model.where == run.language]
            found.append(Rates(run, language, measured, models))
        elif name == "templates":
            for template, result in run.templates.items():
                compared = paper.comparable_models(run.kind, template, options)
                found.append(Rates(run, f"template {template}", result, compared))
        else:
            compared = paper.comparable_models(run.kind, run.language, options) if name == "pairs" else ()
            found.append(Rates(run, language, run.result, compared))
    if name in ("templates", "pairs", "neutral"):
        found = [one for one in found if math.isfinite(_middle(one.result["q"]))]
    else:
        found = [one for one in found if any(one.result["n"])]
    # Sums and ranks need all 16 stereotypes
    complete = [one for one in found if all(one.result["n"])]
    if name == "masculine-rate" and complete:
        yield _trade_off(complete)
    if found:
        tests = {"templates": "english", "masculine-rate": "translation"}
        yield rates_panel(
            f"stereotypes-{tests.get(name, name)}", found, "q" if "q" in found[0].result else "p"
        )
    if name == "templates" and found:
        kind = "causal" if all(run.kind == "causal" for run in runs) else "masked"
        models = [model for model in paper.english_models() if model.kind == kind]
        yield ranks_panel("ranks-english", found, models, kind)
    if name == "pairs" and found:  # figure 7 of [A] leaves mBERT out
        models = [model for model in paper.slavic_models() if model.model.startswith("xlm")]
        yield ranks_panel("ranks-pairs", found, models)
    if name == "masculine-rate" and complete:
        yield ranks_panel("ranks-translation", complete, paper.translators())


def rates_panel(name: str, found: Sequence[Rates], symbol: str = "q") -> Panel:
    """The rate of each stereotype with its interval (figures 11 to 14 of [A]).

    q is drawn relative to sqrt(q_f q_m), since its height has no meaning (section 4.2.1 of [A]); p as it is.
    """
    several = len({one.run.label for one in found}) > 1
    relative = symbol == "q"
    charts: list[Chart] = []
    records: list[Record] = []
    for one in found:
        marks = []
        for model in one.published:
            scaled = np.array(model.rates) / (_middle(model.rates) if relative else 1.0)
            marks.append(Mark(scaled, np.arange(len(STEREOTYPES)), model.model, STYLES["small-tick"]))
            first = {"source": PUBLISHED, "model": model.model, "where": one.where}
            records += stereotype_records(first, {symbol: model.rates})
        outer = _columns(one.result, f"{symbol}_simultaneous", ENDS[1:])
        records += stereotype_records(one.record, {**_columns(one.result, symbol), **outer})
        middle = _middle(one.result[symbol]) if relative else 1.0
        marks += stereotype_marks(_estimates(one.result, symbol), symbol, middle, list(outer.values()))
        title = f"{one.run.label}\n{one.where}" if several else one.where
        if relative:
            charts.append(Chart("q / middle", marks, title=title, x_scale="ratio"))
        else:
            charts.append(Chart(symbol, marks, title=title, x_limits=_SHARE))
    models = len({model.model for one in found for model in one.published})
    entries = _gender_entries("stereotypes about {}")
    if models:
        entries.append(legend_entry(f"{models} published", **STYLES["tick"]))
    figure, note = stereotype_figure(charts, entries)
    where = "; ".join(f"{one.run.label}, {one.where}" for one in found)
    texts: dict[str, Any] = {"symbol": symbol, "models": models, "note": note, "where": where}
    texts |= certain_extremes(found[0].result)
    return make_panel(name, figure, records, **texts)


def _middle(rates: Sequence[float]) -> float:
    """sqrt(q_f q_m) of the rates that have a value."""
    logarithms = np.log(rates)
    groups = [logarithms[group & ~np.isnan(logarithms)] for group in (IS_FEMALE, ~IS_FEMALE)]
    return float(np.exp(np.mean([group.mean() for group in groups]))) if all(map(len, groups)) else math.nan


def ranks_panel(
    name: str, found: Sequence[Rates], published: Sequence[paper.PublishedRates], kind: str = ""
) -> Panel:
    """Feminine ranks over box plots of the published ones (figures 3, 5 and 7 of [A])."""
    records: list[Record] = []
    for model in published:
        first = {"source": PUBLISHED, "model": model.model, "where": model.where}
        records += stereotype_records(first, {"feminine_rank": model.ranks})
    labels = {one.run.label: one.run.number for one in found}
    offsets = np.linspace(-0.2, 0.2, len(labels)) if len(labels) > 1 else np.zeros(1)
    offset_of = dict(zip(labels, offsets, strict=True))
    marks, correlations = [], []
    boxes = np.array([model.ranks for model in published])
    for one in found:
        ranks, low, high = (np.array(one.result[f"feminine_ranks{end}"]) for end in ENDS)
        columns = {f"feminine_rank{end}": one.result[f"feminine_ranks{end}"] for end in ENDS}
        records += stereotype_records(one.record, columns)
        bounded = (low > 1) | (high < len(STEREOTYPES))
        low, high = (np.where(bounded, end, np.nan) for end in (low, high))
        style = {"markersize": 5.5, "alpha": 0.9, **series_style(one.run.number)}
        places = np.arange(len(STEREOTYPES)) + offset_of[one.run.label]
        marks.append(Mark(ranks, places, f"{one.run.label}, {one.where}", style, low=low, high=high))
        if published and not np.isnan(ranks).any():
            correlations.append(rank_correlation(ranks.tolist(), np.median(boxes, axis=0)))
    entries = [legend_entry(label, markersize=6, **series_style(number)) for label, number in labels.items()]
    if published:
        style = {"marker": "s", "color": LIGHT["published"], "alpha": 0.4, "markersize": 9}
        entries.append(legend_entry(f"{len(published)} published results", **style))
    axis = "feminine rank: 1 is the most feminine of the 16"
    chart = Chart(axis, marks, x_limits=(0.4, 16.6), x_ticks=range(1, 17), boxes=boxes)
    figure, _ = draw_charts([chart], 5.0, entries, Rows(NAMES, COLOURS))
    ends = (min(correlations), max(correlations)) if correlations else ()
    span = " to ".join(dict.fromkeys(map(format_number, ends)))
    return make_panel(name, figure, records, kind=kind, correlations=span)


def choices(runs: Sequence[LabelledRun]) -> Iterator[Panel]:
    """How often a model names each gender, stereotype by stereotype."""
    runs = [run for run in runs if any(run.result["n"])]
    if not runs:
        return
    charts: list[Chart] = []
    records: list[Record] = []
    for run in runs:
        language = language_name(run.language)
        marks: list[Mark] = []
        for gender, offset in zip(GENDERS, (-0.16, 0.16), strict=True):
            style: dict[str, Any] = {"color": LIGHT[gender], "markersize": 5}
            marks += stereotype_marks(_estimates(run.result, gender), gender, offset=offset, **style)
        options = (_columns(run.result, option) for option in ("male", "female", "neither"))
        numbers = {column: values for columns in options for column, values in columns.items()}
        records += stereotype_records({"model": run.label, "language": language}, numbers)
        title = f"{run.label}\n{language}" if len(runs) > 1 else language
        charts.append(Chart("share of the readable answers", marks, title=title, x_limits=_SHARE))
    figure, note = stereotype_figure(charts, _gender_entries("{} are named"))
    values = "; ".join(f"{run.label}: {Estimate.of(run.result, 'stereotype_rate')}" for run in runs)
    yield make_panel("stereotypes-choice", figure, records, note=note, values=values)


# --- ways of asking, side by side


def side_by_side(runs: Sequence[LabelledRun]) -> Iterator[Panel]:
    """A panel for each model that was asked in two ways or more."""
    by_model: dict[str, dict[str, list[tuple[str, list[Estimate]]]]] = {}
    ways = TEXTS["side-by-side"]["ways"]
    for shows, way in ways.items():
        for run in (run for run in runs if run.measure.name in way["asked"]):
            number = way["number"]
            estimates = _relative_rates(run) if number == "q" else _estimates(run.result, number)
            if not any(math.isnan(one.value) for one in estimates):
                where = f"{way['asked'][run.measure.name]}, {language_name(run.language)}"
                by_model.setdefault(run.model, {}).setdefault(shows, []).append((where, estimates))
    models = [model for model in dict.fromkeys(run.model for run in runs) if len(by_model.get(model, ())) > 1]
    for number, model in enumerate(models, start=1):
        charts: list[Chart] = []
        records: list[Record] = []
        for shows, where, estimates in (
            (shows, *one) for shows, found in by_model[model].items() for one in found
        ):
            title, marks = f"what it {shows}\n{where}", stereotype_marks(estimates)
            charts.append(Chart(**ways[shows]["chart"], title=title, marks=marks))
            first = {"model": model, "shows": shows, "asked": where}
            records += stereotype_records(first, _bounds(estimates, "value"))
        figure, note = stereotype_figure(charts, shared_axis=False)
        texts: dict[str, Any] = {"model": short_name(model), "note": note}
        texts["ways"] = ", ".join(f"what it {shows}" for shows in by_model[model])
        name = f"side-by-side{f'-{number}' if number > 1 else ''}"
        yield make_panel("side-by-side", figure, records, name, **texts)


def _relative_rates(run: LabelledRun) -> list[Estimate]:
    """q_i relative to sqrt(q_f q_m); over several templates from the mean of ln q_i."""
    if len(run.templates) > 1:
        wide = wide_scores(run.run.table)
        stereotypes = wide.index.get_level_values("stereotype").to_numpy(dtype=np.int64) - 1
        resamples = resample_templates(wide.to_numpy(), stereotypes)
        found = [resamples.interval(function) for function in LN_Q]
        rates = [Estimate(*np.exp((one.value, one.low, one.high)).tolist()) for one in found]
    else:
        (part,) = run.templates.values()
        rates = _estimates(part, "q")
    logarithms = np.log([rate.value for rate in rates])
    middle = math.exp((logarithms[IS_FEMALE].mean() + logarithms[~IS_FEMALE].mean()) / 2)
    return [Estimate(*(number / middle for number in rate)) for rate in rates]


# --- several runs: what the page's script draws, as files


def panels_of_several(runs: Sequence[LabelledRun]) -> Iterator[Panel]:
    """Heat maps of profiles and of their correlations, and the ratios of q_i to the baseline's."""
    for profile in profiles_of(runs):
        order = [profile.runs[row] for row in profile.rows]
        labels, rate = [run.label for run in order], profile.name.removeprefix("ln ")[0]
        values = pd.DataFrame(profile.values[profile.rows], labels, list(map(str, STEREOTYPES)))
        largest = float(np.nanmax(np.abs(values.to_numpy()), initial=0.0)) or 1.0
        texts: dict[str, Any] = {"unit": profile.unit, "rate": profile.name, "runs": len(runs)}
        texts |= {"numbered": NUMBERED, "largest": largest, "chance": CHANCE}
        records: list[Record] = []
        for run, numbers in zip(order, json_value(values.to_numpy()), strict=True):
            first = {"run": run.label, "model": run.model, "language": run.language}
            records += stereotype_records(first, {"value": numbers})
        figure = heat_map(values, "stereotype", largest)
        yield make_panel("profiles", figure, records, f"profiles-{rate}", **texts)
        numbered = [f"{number}  {label}" for number, label in enumerate(labels, start=1)]
        columns = [str(number) for number in range(1, len(labels) + 1)]
        table = pd.DataFrame(profile.correlations[np.ix_(profile.rows, profile.rows)], numbered, columns)
        pairs = zip(product(labels, labels), table.to_numpy().ravel().tolist(), strict=True)
        cells = [[label, other, value] for (label, other), value in pairs]
        yield make_panel("correlations", heat_map(table, "run", 1.0), cells, f"correlations-{rate}", **texts)
    groups = [group for group in compare_groups(runs) if any(one.by_stereotype for _, one in group.others)]
    for number, group in enumerate(groups, start=1):
        charts, records = [], []
        for run, difference in group.others:
            ratios = [Estimate(*one.times) for one in difference.by_stereotype]
            if ratios:
                marks = stereotype_marks(ratios)
                charts.append(Chart("ratio of q", marks, title=run.label, x_null=1.0, x_scale="ratio"))
                first = {"run": run.label, "baseline": group.baseline.label}
                records += stereotype_records(first, _bounds(ratios, "ratio"))
        figure, note = stereotype_figure(charts)
        texts = {"about": group.about, "baseline": group.baseline.label, "note": note}
        texts["runs"] = ", ".join(chart.title for chart in charts)
        yield make_panel("ratios", figure, records, f"ratios{f'-{number}' if number > 1 else ''}", **texts)


# --- headlines: records of runs and of published models


def _own(run: LabelledRun, **cells: Any) -> Record:
    """A record of a run, which is drawn with the colour of its number."""
    first = {"source": OWN, "model": run.label, "label": run.label, "row": run.label}
    return {**first, "style": _run_style(run.number), "result": run.result, **cells}


def _run_style(number: int) -> dict[str, Any]:
    return {**series_style(number), "markersize": 8}


def _theirs(model: str, **cells: Any) -> Record:
    """A record of a published model."""
    first = {"source": PUBLISHED, "model": model, "label": model, "row": model}
    return {**first, "style": STYLES["row"], "result": None, **cells}


def _bounded(column: str, result: Mapping[str, Any], name: str = "") -> Record:
    """The cells of a number with its bounds."""
    ends = (column, f"{column}_low", f"{column}_high")
    return dict(zip(ends, Estimate.of(result, name or column), strict=True))


def _marks(records: Sequence[Record], x: str, y: str, bands: str = "") -> list[Mark]:
    """A mark for each record at two of its columns; `bands` is the one with bands, which is also named."""
    marks = []
    for record in records:
        places = {axis: Estimate.of(record, axis) for axis in (x, y)}
        if math.isnan(places[x].value):
            continue
        shown = [
            f"{axis} {format_number(one.value) if math.isnan(one.low) else one}"
            for axis, one in places.items()
            if axis != "place"
        ]
        text = f"{record['label']}: {', '.join(shown)}"
        result = record["result"] if bands in (x, y) else None
        note = record.get("note", "")
        y_place = record["place"] if y == "place" else places[y]
        marks.append(Mark(places[x], y_place, text, record["style"], note, result=result))
    return marks


def _run_entries(records: Sequence[Record], name: str = "label") -> list[Any]:
    """Legend entries for the records of runs."""
    styles = {record[name]: record["style"] for record in records if record["source"] == OWN}
    return [
        legend_entry(text, **{**style, "linewidth": 2.4, "markersize": 7}) for text, style in styles.items()
    ]


def _forest(key: str, records: Sequence[Record], entries: Sequence[Any] = (), **texts: Any) -> Panel:
    """Records in named rows, with a chart for each number (`charts` in panels.yaml) that a record has.

    Records of one `row` and source are in one row of the figure, at their `offset`.
    """
    spec = TEXTS[key]
    bands = spec.get("bands", "")
    ticks = any(record["style"] is STYLES["tall-tick"] for record in records)
    places: dict[tuple[str, bool], int] = {}
    for record in records:
        row = (record["row"], ticks or record["source"] == OWN)
        record["place"] = places.setdefault(row, len(places)) + record.get("offset", 0.0)
    charts = [
        Chart(**chart, marks=_marks(records, number, "place", bands))
        for number, chart in spec["charts"].items()
        if any(number in record for record in records)
    ]
    rows = Rows([name for name, _ in places], [LIGHT["ink" if own else "quiet"] for _, own in places])
    results = [record["result"] for record in records if bands and record["source"] == OWN]
    height = 1.3 + len(places) * texts.pop("inches", spec.get("inches"))
    legend = [*entries, *band_entries(results)]
    figure, note = draw_charts(charts, height, legend, rows, spec.get("per_row", PER_ROW))
    return make_panel(key, figure, records, results=results, note=note, **texts)


# --- g_s and f_s


def size(runs: Sequence[LabelledRun]) -> Iterator[Panel]:
    """g_s against the number of parameters (figure 4 of [A])."""
    runs = [run for run in runs if not run.custom_templates]
    if not runs:
        return
    spec, column = TEXTS["size"], "million_parameters"
    templates = sorted({number for run in runs for number in run.templates})
    models = paper.published_mean_g_s(set(templates))
    millions = {model.name: model.millions for model in paper.language_models().values()}
    curves = []
    for family, members in paper.model_families().items():
        line = sorted((millions[name], g_s) for (name, _), g_s in models.items() if name in members)
        if len(line) > 1:
            x, y = zip(*line, strict=True)
            curves.append(Curve(x, y, STYLES["line"], family))
    records = []
    for (model, kind), g_s in models.items():
        drawn = {"style": STYLES[kind], "note": spec["labels"].get(model, "")}
        records.append(_theirs(model, kind=kind, million_parameters=millions[model], g_s=g_s, **drawn))
    for run in runs:
        parameters = run.facts.get("parameters")
        cells = _bounded("g_s", run.result) | {column: parameters / 1e6 if parameters else None}
        records.append(_own(run, kind=run.kind, **cells))
    chart = Chart(**spec["chart"], marks=_marks(records, column, "g_s", "g_s"), curves=curves)
    results = [run.result for run in runs]
    entries = []
    for kind in ("masked", "causal"):
        entries.append(legend_entry(f"published, {kind}", **{**STYLES[kind], "linestyle": ""}))
    figure, note = draw_charts([chart], 5.2, [*entries, *_run_entries(records), *band_entries(results)])
    figure.axes[0].xaxis.set_major_formatter(
        FuncFormatter(lambda m, _: f"{m / 1000:g} B" if m >= 1000 else f"{m:g} M")
    )
    texts: dict[str, Any] = {"note": note, "templates": templates, "values": list(models.values())}
    yield make_panel("size", figure, records, results=results, **texts)


def by_template(runs: Sequence[LabelledRun]) -> Iterator[Panel]:
    """g_s in each template (figures 9 and 10 of [A])."""
    if any(len(run.templates) > 1 for run in runs):
        found = [(number, run, result) for run in runs for number, result in run.templates.items()]
        groups = {number: f"template {number}" for number in sorted({number for number, *_ in found})}
        custom = any(run.custom_templates for run in runs)
        yield _by_group("templates", groups, found, () if custom else paper.english_models())


def by_language(runs: Sequence[LabelledRun]) -> Iterator[Panel]:
    """g_s in each language, of pairs (figure 6 of [A]) or of neutral sentences."""
    if runs:
        found = [(run.language, run, run.result) for run in runs]
        codes = sorted({code for code, *_ in found}, key=language_order)
        neutral = runs[0].measure.name == "neutral"
        key, models = ("languages-neutral", ()) if neutral else ("languages", paper.slavic_models())
        yield _by_group(key, {code: language_name(code) for code in codes}, found, models)


def _by_group(
    key: str,
    groups: Mapping[Any, str],
    found: Sequence[tuple[Any, LabelledRun, Result]],
    models: Sequence[paper.PublishedRates],
) -> Panel:
    """g_s in a row for each group; runs of one model share a colour, unless two would be in one place."""
    name_of = {run.number: short_name(run.model) for _, run, _ in found}
    if len({(group, name_of[run.number]) for group, run, _ in found}) < len(found):
        name_of = {run.number: run.label for _, run, _ in found}
    names = list(dict.fromkeys(name_of.values()))
    offsets = np.linspace(-0.26, 0.26, len(names)).tolist() if len(names) > 1 else [0.0]
    records = []
    for group, label in groups.items():
        cells: Record = {"group": label, "row": label, "style": STYLES["tall-tick"]}
        for model in (model for model in models if model.where == group):
            cells["label"] = f"{model.model}, {label}"
            records.append(_theirs(model.model, kind=model.kind, g_s=model.g_s, **cells))
        for run, result in ((run, result) for where, run, result in found if where == group):
            number = names.index(name_of[run.number])
            cells |= {"label": f"{run.label}, {label}", "series": names[number], "offset": offsets[number]}
            cells |= {"style": _run_style(number), "result": result, **_bounded("g_s", result)}
            records.append(_own(run, kind=run.kind, **cells))
    entries = _run_entries(records, "series")
    if any(record["source"] == PUBLISHED for record in records):
        entries.append(legend_entry("published", **STYLES["tick"], markersize=10))
    return _forest(key, records, entries, inches=max(0.42, 0.2 * len(names) + 0.14))


def _trade_off(found: Sequence[Rates]) -> Panel:
    """f_s against f_m (figure 2 of [A]), with the line between its two extremes."""
    spec = TEXTS["trade-off"]
    records, entries = [], []
    for marker, (system, name) in zip(MARKERS, spec["systems"].items(), strict=False):
        style = {**STYLES["open"], "marker": marker}
        entries.append(legend_entry(name, **{**style, "linestyle": ""}))
        for model in (model for model in paper.translators() if model.model == system):
            (p_f, p_m), language = gender_means(model.rates), str(model.where)
            cells = {"system": name, "language": language, "f_m": (p_m + p_f) / 2, "f_s": p_m - p_f}
            label = f"{name}, {language_name(language)}"
            records.append(_theirs(name, **cells, label=label, note=language, style=style))
    for one in found:
        cells = _bounded("f_m", one.result) | _bounded("f_s", one.result)
        records.append(_own(one.run, system=one.run.label, language=one.run.language, **cells))
    curves = [
        Curve([1.0, 0.75], [0.0, 0.5], DASHED),
        Curve([0.5, 0.75], [1.0, 0.5], DASHED, "from fully stereotypical to always masculine"),
    ]
    results = [one.run.result for one in found]
    chart = Chart(**spec["chart"], marks=_marks(records, "f_m", "f_s", "f_s"), curves=curves)
    figure, _ = draw_charts([chart], 5.2, [*entries, *_run_entries(records), *band_entries(results)])
    return make_panel("trade-off", figure, records, results=results)


# --- rows of models, this report's and published ones


def control_differences(runs: Sequence[LabelledRun]) -> Iterator[Panel]:
    """f next to tables 3, 11 and 12 of [D], whose log10 become natural logarithms."""
    runs = [run for run in runs if not math.isnan(run.result["f_mu"])]
    configs = list(dict.fromkeys(run.config for run in runs))
    records = []
    for config in configs:
        own = [run for run in runs if run.config == config]
        records += [_own(run, config=config, **_bounded("f_mu_ln", run.result, "f_mu")) for run in own]
        for row in (row for row in published.load("word_filling_f")["rows"] if row["config"] == config):
            f, half_width, name = LN10 * row["f_mu"], LN10 * row["f_mu_pm"], short_name(row["model"])
            cells = {"f_mu_ln": f, "f_mu_ln_low": f - half_width, "f_mu_ln_high": f + half_width}
            label = f"{name}, {config}" if len(configs) > 1 else name
            records.append(_theirs(name, config=config, row=label, label=label, **cells))
    if records:
        yield _forest("control-f", records)


def stereoset(runs: Sequence[LabelledRun]) -> Iterator[Panel]:
    """LMS, SS and ICAT next to the paper's models, for each test and language."""
    groups: dict[tuple[str, str], list[LabelledRun]] = {}
    for run in sorted(runs, key=lambda run: run.measure.name, reverse=True):
        groups.setdefault((run.measure.name, run.language), []).append(run)
    scores = list(TEXTS["stereoset"]["charts"])
    for (measure, language), own in groups.items():
        records = []
        for run in own:
            lms, ss, icat = (_bounded(score, run.result) for score in scores)
            records.append(_own(run, **lms, **ss, **icat))
        for row in (row for row in published.load(measure)["rows"] if row["language"] == language):
            name, cells = f"{row['model']} ({row['handle']})", {score: row[score] for score in scores}
            records.append(_theirs(name, row=row["model"], label=row["model"], **cells))
        test = measure.removeprefix("stereoset_")
        where = f"{test}, {language_name(language)}".rstrip(", ")
        name = f"stereoset-{test}-{language or 'data'}"
        yield _forest("stereoset", records, name=name, test=test, where=where)


def genderbench(runs: Sequence[LabelledRun]) -> Iterator[Panel]:
    """English choices and stories next to the models of GenderBench's report."""
    own, theirs = [], []
    for probe, number in (("choice", "stereotype_rate_without_15"), ("story", "f_s")):
        english = [run for run in runs if run.measure.name == probe and run.language == SOURCE]
        known = [run for run in english if not math.isnan(Estimate.of(run.result, number).value)]
        for run in known:
            cells = _bounded("rate", run.result, number) | _bounded(probe, run.result, number)
            own.append(_own(run, probe=probe, mark="", **cells))
        for one in sorted(graded_models(probe), key=lambda one: -one.middle) if known else ():
            result = {"rate": one.middle, "rate_low": one.low, "rate_high": one.high}
            cells = {"probe": probe, "mark": one.mark, **result, **_bounded(probe, result, "rate")}
            theirs.append(_theirs(one.model, **cells))
    for record in theirs:
        marks = [other["mark"] for other in theirs if other["model"] == record["model"]]
        record["row"] = f"{record['model']} ({', '.join(marks)})"
    if own:
        yield _forest("genderbench", [*own, *theirs])


# --- scores of single samples


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
            scores = sample_scores(run.run.table)
            x, y = (scores.get(column, np.empty(0)) for column in columns)
            finite = np.isfinite(x) & np.isfinite(y) if len(x) == len(y) else np.zeros(len(x), dtype=bool)
            if finite.sum() <= 2 or np.ptp(x[finite]) == 0:
                continue
            x, y, ids = x[finite], y[finite], np.array(run.run.table["id"].to_pylist())[finite]
            slope, places, heights, half = regression(x, y)
            color = series_style(run.number)["color"]
            markersize, alpha = (3, 0.2) if len(x) > _MANY_SAMPLES else (4.5, 0.5)
            dots = {"marker": "o", "markersize": markersize, "markeredgewidth": 0, "alpha": alpha}
            ends = [min(x.min(), y.min()), max(x.max(), y.max())]
            line = {"color": color, "linewidth": 2}
            band = Curve(places, heights, line, low=heights - half, high=heights + half)
            chart = Chart(f"{score}, original group", ylabel=f"{score}, control group", title=run.label)
            samples = (x, y, {**dots, "color": color})
            charts.append(replace(chart, curves=[Curve(ends, ends, DOTTED), band], samples=samples))
            rho = format_number(run.result[f"{score}_rho"])
            texts.append(f"{run.label}: ρ {rho}, slope {format_number(slope)}, {len(x):,} samples")
            for cells in zip(ids.tolist(), x.tolist(), y.tolist(), strict=True):
                records.append({"run": run.label, **dict(zip(("id", *columns), cells, strict=True))})
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
            records.append({**cells, **_bounded("q", run.result, symbol)})
        axis = "P(masculine pronoun) / P(feminine pronoun)"
        charts.append(Chart(axis, marks, title=run.label, x_null=1.0, x_scale="ratio"))
    if charts:
        rows = Rows([f"{gender} occupations" for gender in GENDERS])
        figure, note = draw_charts(charts, 2.2, rows=rows, per_row=1, shared_axis=True)
        known = [record for record in records if not math.isnan(record["q"])]
        row = published.load("winobias")["rows"][0]
        yield make_panel("winobias", figure, records, paper=row, known=known, note=note)


# --- one result


def result_figure(run: LabelledRun) -> Figure:
    """The figure of one result, for notebooks: the lines of its grid in each template."""
    grids = {number: run.measure.grid(part) for number, part in run.templates.items()}
    first = next(iter(grids.values()))
    ratio = first.axis.ratio if first.axis else run.measure.headline(run.result).ratio
    count = len(first.headings)
    offsets = np.linspace(-0.2, 0.2, count).tolist() if count > 1 else [0.0]
    charts = []
    for number, grid in grids.items():
        marks = []
        for row, line in enumerate(grid.lines):
            colours = SERIES if count > 1 else [LIGHT[line.gender or "ink"]]
            for estimate, colour, offset in zip(line.estimates, colours, offsets, strict=False):
                if estimate is not EMPTY and not math.isnan(estimate.value):
                    text, style = f"{line.name.strip()}: {estimate}", {"color": colour, "markersize": 6}
                    marks.append(Mark(estimate, row + offset, text, style))
        chart = Chart(" or ".join(grid.headings), marks, title=f"template {number}" if number else "")
        charts.append(replace(chart, x_null=1.0, x_scale="ratio") if ratio else chart)
    colours = [LIGHT[line.gender or "ink"] for line in first.lines]
    rows = Rows([line.name.strip() for line in first.lines], colours)
    names = zip(first.headings, SERIES, strict=False) if count > 1 else ()
    entries = [legend_entry(name, color=colour, marker="o", linewidth=2.6) for name, colour in names]
    figure, _ = draw_charts(charts, 0.9 + 0.27 * len(first.lines), entries, rows, shared_axis=True)
    return figure


# The panels of measures, in the order of the page
_PANELS = (
    (("templates", "neutral", "pairs", "choice", "first-person", "story"), side_by_side),
    (("templates",), size),
    (("templates",), rates),
    (("pairs",), rates),
    (("templates",), by_template),
    (("pairs",), by_language),
    (("neutral",), rates),
    (("neutral",), by_language),
    (("choice",), choices),
    (("masculine-rate",), rates),
    (("first-person",), rates),
    (("story",), rates),
    (("quadruplets", "crows"), control_scatters),
    (("quadruplets", "crows"), control_differences),
    (("stereoset_intrasentence", "stereoset_intersentence"), stereoset),
    (("winobias",), winobias),
    (("choice", "story"), genderbench),
)


def panels_of(runs: Sequence[LabelledRun]) -> list[Panel]:
    """All panels that these runs have data for."""
    return [
        panel
        for measures, draw in _PANELS
        for panel in draw([run for run in runs if run.measure.name in measures])
    ]
