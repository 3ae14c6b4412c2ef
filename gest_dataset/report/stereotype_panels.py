"""Panels with the 16 stereotypes in rows: rates, ranks, choices."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gest_dataset.measures.formatting import format_number
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.measure import Result, certain_extremes
from gest_dataset.published import models as paper
from gest_dataset.report import figures
from gest_dataset.report.figures import Chart, Mark, Rows, legend_entry
from gest_dataset.report.labels import LabelledRun, language_name
from gest_dataset.report.panel import OWN, PUBLISHED, Panel, Record, make_panel
from gest_dataset.report.style import LIGHT, STYLES, series_style
from gest_dataset.statistics import rank_correlation
from gest_dataset.statistics.weights import IS_FEMALE
from gest_dataset.stereotypes import GENDERS, STEREOTYPES

NAMES = [f"{stereotype.id}  {stereotype.name}" for stereotype in STEREOTYPES.values()]
COLOURS = [LIGHT[stereotype.gender] for stereotype in STEREOTYPES.values()]
# For captions of figures that have room for numbers only
NUMBERED = f"Stereotypes: {', '.join(' '.join(name.split()) for name in NAMES)}."
_SUFFIXES = ("", "_low", "_high")
_SHARE = (-0.02, 1.02)


def _stereotype_panel(
    key: str, charts: Sequence[Chart], records: Sequence[Record], entries: Sequence[Any] = (), **texts: Any
) -> Panel:
    """A panel of charts of the 16 stereotypes; narrow figures number the rows."""
    in_row = figures.axes_per_row(figures.PER_ROW)
    numbered = min(in_row, len(charts)) > 1 and in_row < figures.PER_ROW
    rows = Rows(list(map(str, STEREOTYPES)) if numbered else NAMES, COLOURS, split=int(IS_FEMALE.sum()))
    figure, cut_off = figures.draw_charts(charts, 4.9, entries, rows, shared_axis=True)
    return make_panel(key, figure, records, note=f"{NUMBERED if numbered else ''} {cut_off}", **texts)


def _marks(
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
        full_style = {"color": COLOURS[row], "markersize": 5.5, **style}
        relative = Estimate(*(number / middle for number in estimate))
        marks.append(Mark(relative, row + offset, text, full_style, low=low, high=high))
    return marks


def _records(numbers: Mapping[str, Sequence[Any]], **first: Any) -> list[Record]:
    """A record for each stereotype, with its entry of each column of numbers."""
    return [
        first | {"stereotype": number, "name": stereotype.name} | dict(zip(numbers, cells, strict=True))
        for (number, stereotype), *cells in zip(STEREOTYPES.items(), *numbers.values(), strict=True)
    ]


def _columns(result: Result, name: str, column: str = "", ends: Sequence[str] = _SUFFIXES) -> dict[str, Any]:
    """The entries of a number and its bounds in a result, as columns of records."""
    return {f"{column or name}{end}": result[f"{name}{end}"] for end in ends}


def _estimates(result: Result, name: str) -> list[Estimate]:
    return [Estimate.of(result, name, row) for row in range(len(STEREOTYPES))]


def _gender_entries(text: str) -> list[Any]:
    """Legend entries for the colours of the genders; `text` has `{}` for women and men."""
    people = {"female": "women", "male": "men"}
    return [
        legend_entry(text.format(people[gender]), color=LIGHT[gender], marker="o", linewidth=2.6)
        for gender in GENDERS
    ]


class Rates(NamedTuple):
    """The rates of a run in one template or language, and the published ones to compare with."""

    run: LabelledRun
    where: str
    result: Result
    published: Sequence[paper.PublishedRates] = ()


def rates_of(run: LabelledRun) -> list[Rates]:
    """The rates of a run with samples; those of translators by the convention of the paper's tables."""
    name, language, options = run.measure.name, language_name(run.language), run.facts.get("options") or {}
    if name == "masculine-rate":
        models = [model for model in paper.translators() if model.where == run.language]
        all_rates = [Rates(run, language, run.published_rates, models)]
    elif name == "templates":
        all_rates = [
            Rates(run, f"template {number}", result, paper.comparable_models(run.kind, number, options))
            for number, result in run.templates.items()
        ]
    else:
        compared = paper.comparable_models(run.kind, run.language, options) if name == "pairs" else ()
        all_rates = [Rates(run, language, run.result, compared)]
    if "q" in all_rates[0].result:
        return [rates for rates in all_rates if math.isfinite(_middle(rates.result["q"]))]
    return [rates for rates in all_rates if any(rates.result["n"])]


def rates_panels(runs: Sequence[LabelledRun]) -> Iterator[Panel]:
    """Rates and ranks of runs of one measure."""
    all_rates = [rates for run in runs for rates in rates_of(run)]
    if not all_rates:
        return
    name = runs[0].measure.name
    key = {"templates": "english", "masculine-rate": "translation"}.get(name, name)
    yield _rates_panel(f"stereotypes-{key}", all_rates)
    kind = "causal" if all(run.kind == "causal" for run in runs) else "masked"
    published = {
        "english": [model for model in paper.english_models() if model.kind == kind],
        # figure 7 of [A] leaves mBERT out
        "pairs": [model for model in paper.slavic_models() if model.model.startswith("xlm")],
        "translation": paper.translators(),
    }
    ranked = [rates for rates in all_rates if key != "translation" or all(rates.result["n"])]
    if published.get(key) and ranked:
        yield _ranks_panel(f"ranks-{key}", ranked, published[key], kind)


def _rates_panel(name: str, all_rates: Sequence[Rates]) -> Panel:
    """The rate of each stereotype with its interval (figures 11 to 14 of [A]).

    q is drawn relative to sqrt(q_f q_m), since its height has no meaning (section 4.2.1 of [A]); p as it is.
    """
    symbol = "q" if "q" in all_rates[0].result else "p"
    several = len({rates.run.label for rates in all_rates}) > 1
    axes = {"xlabel": "q / middle"} if symbol == "q" else {"xlabel": "p", "xlim": _SHARE}
    charts: list[Chart] = []
    records: list[Record] = []
    for rates in all_rates:
        marks = []
        for model in rates.published:
            scaled = np.array(model.rates) / (_middle(model.rates) if symbol == "q" else 1.0)
            marks.append(Mark(scaled, np.arange(len(STEREOTYPES)), model.model, STYLES["small-tick"]))
            records += _records({symbol: model.rates}, source=PUBLISHED, model=model.model, where=rates.where)
        outer = _columns(rates.result, f"{symbol}_simultaneous", ends=_SUFFIXES[1:])
        numbers = _columns(rates.result, symbol) | outer
        records += _records(numbers, source=OWN, model=rates.run.label, where=rates.where)
        middle = _middle(rates.result["q"]) if symbol == "q" else 1.0
        marks += _marks(_estimates(rates.result, symbol), symbol, middle, list(outer.values()))
        title = f"{rates.run.label}\n{rates.where}" if several else rates.where
        charts.append(Chart(axes, marks, title, ratio="x" if symbol == "q" else ""))
    models = len({model.model for rates in all_rates for model in rates.published})
    entries = _gender_entries("stereotypes about {}")
    if models:
        entries.append(legend_entry(f"{models} published", **STYLES["tick"]))
    texts: dict[str, Any] = {"symbol": symbol, "models": models, **certain_extremes(all_rates[0].result)}
    texts["where"] = "; ".join(f"{rates.run.label}, {rates.where}".removesuffix(", ") for rates in all_rates)
    return _stereotype_panel(name, charts, records, entries, **texts)


def _middle(rates: Sequence[float]) -> float:
    """sqrt(q_f q_m) of the rates that have a value."""
    logarithms = np.log(rates)
    groups = [logarithms[group & ~np.isnan(logarithms)] for group in (IS_FEMALE, ~IS_FEMALE)]
    return float(np.exp(np.mean([group.mean() for group in groups]))) if all(map(len, groups)) else math.nan


def _ranks_panel(
    name: str, all_rates: Sequence[Rates], published: Sequence[paper.PublishedRates], kind: str
) -> Panel:
    """Feminine ranks over box plots of the published ones (figures 3, 5 and 7 of [A])."""
    records: list[Record] = []
    for model in published:
        numbers = {"feminine_rank": model.ranks}
        records += _records(numbers, source=PUBLISHED, model=model.model, where=model.where)
    labels = {rates.run.label: rates.run.number for rates in all_rates}
    offset_of = dict(zip(labels, figures.spaced_offsets(len(labels), 0.2), strict=True))
    marks, correlations = [], []
    boxes = np.array([model.ranks for model in published])
    for rates in all_rates:
        columns = _columns(rates.result, "feminine_ranks", "feminine_rank")
        records += _records(columns, source=OWN, model=rates.run.label, where=rates.where)
        ranks, low, high = map(np.array, columns.values())
        bounded = (low > 1) | (high < len(STEREOTYPES))
        low, high = (np.where(bounded, end, np.nan) for end in (low, high))
        style = {"markersize": 5.5, "alpha": 0.9, **series_style(rates.run.number)}
        places = np.arange(len(STEREOTYPES)) + offset_of[rates.run.label]
        label = f"{rates.run.label}, {rates.where}".removesuffix(", ")
        marks.append(Mark(ranks, places, label, style, low=low, high=high))
        if published and not np.isnan(ranks).any():
            correlations.append(rank_correlation(ranks.tolist(), np.median(boxes, axis=0)))
    entries = [legend_entry(label, markersize=6, **series_style(number)) for label, number in labels.items()]
    if published:
        style = {"marker": "s", "color": LIGHT["published"], "alpha": 0.4, "markersize": 9}
        entries.append(legend_entry(f"{len(published)} published results", **style))
    axis = "feminine rank: 1 is the most feminine of the 16"
    chart = Chart({"xlabel": axis, "xticks": range(1, 17), "xlim": (0.4, 16.6)}, marks, boxes=boxes)
    figure, _ = figures.draw_charts([chart], 5.0, entries, Rows(NAMES, COLOURS))
    ends = (min(correlations), max(correlations)) if correlations else ()
    span = " to ".join(dict.fromkeys(map(format_number, ends)))
    return make_panel(name, figure, records, kind=kind, correlations=span)


def choice_panels(runs: Sequence[LabelledRun]) -> Iterator[Panel]:
    """How often a model names each gender, stereotype by stereotype."""
    runs = [run for run in runs if any(run.result["n"])]
    charts: list[Chart] = []
    records: list[Record] = []
    for run in runs:
        language = language_name(run.language)
        marks: list[Mark] = []
        for gender, offset in zip(GENDERS, (-0.16, 0.16), strict=True):
            style: dict[str, Any] = {"color": LIGHT[gender], "markersize": 5}
            marks += _marks(_estimates(run.result, gender), gender, offset=offset, **style)
        male, female, neither = (_columns(run.result, option) for option in ("male", "female", "neither"))
        records += _records(male | female | neither, model=run.label, language=language)
        title = f"{run.label}\n{language}" if len(runs) > 1 else language
        charts.append(Chart({"xlabel": "share of the readable answers", "xlim": _SHARE}, marks, title))
    if charts:
        values = "; ".join(f"{run.label}: {Estimate.of(run.result, 'stereotype_rate')}" for run in runs)
        entries = _gender_entries("{} are named")
        yield _stereotype_panel("stereotypes-choice", charts, records, entries, values=values)
