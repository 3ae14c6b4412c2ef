"""Panels of the 16 stereotypes: rates, ranks, choices, ways of asking side by side, profiles, ratios."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from gest_dataset.measures.choice import CHOICE
from gest_dataset.measures.formatting import format_number
from gest_dataset.measures.generated_gender import FIRST_PERSON, STORY
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.measure import Result
from gest_dataset.measures.stereotype_rate import NEUTRAL, PAIRS, TEMPLATES
from gest_dataset.published.models import PublishedRates, comparable_models, english_models, slavic_models
from gest_dataset.report import plots
from gest_dataset.report.explorer.comparisons import RunGroup
from gest_dataset.report.explorer.profiles import CHANCE, Profiles
from gest_dataset.report.figures import PER_ROW, Column, Dots, Interval, Rows, heat_map, interval_figure
from gest_dataset.report.labels import LabelledRun, language_name, short_name
from gest_dataset.report.panel import OWN, PUBLISHED, Panel, make_panel
from gest_dataset.report.reliability import wide_scores
from gest_dataset.report.style import LIGHT, TICK
from gest_dataset.statistics import rank_correlation
from gest_dataset.statistics.template_mean import LN_Q, resample_templates
from gest_dataset.statistics.weights import IS_FEMALE
from gest_dataset.stereotypes import GENDERS, STEREOTYPES
from gest_dataset.storage import json_value

NAMES = [f"{stereotype.id}  {stereotype.name}" for stereotype in STEREOTYPES.values()]
COLOURS = [LIGHT[stereotype.gender] for stereotype in STEREOTYPES.values()]
# For captions of figures that have room for numbers only
NUMBERED = f"Stereotypes: {', '.join(' '.join(name.split()) for name in NAMES)}."
_SHARE = (-0.02, 1.02)
_ENDS = ("", "_low", "_high")
_RATE_ENDS = (*_ENDS, "_simultaneous_low", "_simultaneous_high")


def stereotype_figure(
    columns: Sequence[Column], entries: Sequence[Any] = (), shared_axis: bool = True
) -> tuple[Figure, str]:
    """Columns of the 16 stereotypes, and notes for the caption; narrow figures have numbers for names."""
    numbered = min(plots.axes_per_row(PER_ROW), len(columns)) > 1 and plots.axes_per_row(PER_ROW) < PER_ROW
    rows = Rows(list(map(str, STEREOTYPES)) if numbered else NAMES, COLOURS, split=int(IS_FEMALE.sum()))
    figure, cut_off = interval_figure(columns, rows, 4.9, entries, shared_axis=shared_axis)
    return figure, f"{NUMBERED if numbered else ''} {cut_off}"


def stereotype_intervals(estimates: Sequence[Estimate], symbol: str = "") -> list[Interval]:
    """One interval for each of the 16 stereotypes, in the colour of its gender."""
    return [
        Interval(
            row,
            estimate,
            f"{stereotype.id} {stereotype.name}: {symbol} {estimate}".replace("  ", " "),
            {"color": COLOURS[row], "markersize": 5.5},
        )
        for row, (stereotype, estimate) in enumerate(zip(STEREOTYPES.values(), estimates, strict=True))
    ]


def _rows(first: Sequence[Any], *columns: Sequence[Any]) -> list[list[Any]]:
    """A row of numbers for each stereotype."""
    return [
        [*first, stereotype.id, stereotype.name, *values]
        for stereotype, *values in zip(STEREOTYPES.values(), *columns, strict=True)
    ]


def _gender_entries(text: str) -> list[Any]:
    """Legend entries for the colours of the genders; `text` has `{}` for women and men."""
    people = {"female": "women", "male": "men"}
    return [
        plots.legend_entry(text.format(people[gender]), color=LIGHT[gender], marker="o", linewidth=2.6)
        for gender in GENDERS
    ]


# --- rates and ranks


@dataclass(frozen=True)
class Rates:
    """The rates of a run in one template or language, and the published ones to compare with."""

    run: LabelledRun
    where: str
    result: Result
    published: Sequence[PublishedRates] = ()


def rates_of(runs: Sequence[LabelledRun]) -> list[Rates]:
    """The rates of runs on templates, pairs or neutral sentences that have a middle to draw them around."""
    found = []
    for run in runs:
        for template, result in run.templates.items():
            in_template = run.measure is TEMPLATES
            where = f"template {template}" if in_template else language_name(run.language)
            published: Sequence[PublishedRates] = ()
            if run.measure is not NEUTRAL:
                key = template if in_template else run.language
                published = comparable_models(run.kind, key, run.facts.get("options") or {})
            if math.isfinite(_middle(result["q"])):
                found.append(Rates(run, where, result, published))
    return found


def rates_panel(name: str, found: Sequence[Rates], symbol: str = "q") -> Panel:
    """The rate of each stereotype with its interval (figures 11 to 14 of [A]).

    q is drawn relative to sqrt(q_f q_m), since its height has no meaning (section 4.2.1 of [A]); p as it is.
    """
    several = len({one.run.label for one in found}) > 1
    columns, rows = [], []
    for one in found:
        middle = _middle(one.result[symbol]) if symbol == "q" else 1.0
        dots = []
        for model in one.published:
            scaled = np.array(model.rates) / (_middle(model.rates) if symbol == "q" else 1.0)
            style = {"markersize": 8, "markeredgewidth": 1.1, "alpha": 0.7, **TICK}
            dots.append(Dots(np.arange(len(STEREOTYPES)), scaled, model.model, style))
            rows += _rows([PUBLISHED, model.model, one.where], model.rates, *[[None] * 16] * 4)
        numbers = [one.result[f"{symbol}{end}"] for end in _RATE_ENDS]
        rows += _rows([OWN, one.run.label, one.where], *numbers)
        estimates = list(map(Estimate, *numbers[:3]))
        outer = zip(*numbers[3:], strict=True)
        intervals = [
            replace(
                interval,
                estimate=Estimate(*(number / middle for number in interval.estimate)),
                outer=(low / middle, high / middle),
            )
            for interval, (low, high) in zip(stereotype_intervals(estimates, symbol), outer, strict=True)
        ]
        title = f"{one.run.label}\n{one.where}" if several else one.where
        column = Column(title, symbol, intervals, dots, limits=_SHARE)
        if symbol == "q":
            column = replace(column, xlabel="q / middle", ratio=True, limits=None)
        columns.append(column)
    models = {model.model for one in found for model in one.published}
    entries = _gender_entries("stereotypes about {}")
    if models:
        entries.append(plots.legend_entry(f"{len(models)} published", **TICK))
    figure, note = stereotype_figure(columns, entries)
    return make_panel(
        name,
        figure,
        rows,
        columns=["source", "model", "where", "stereotype", "name", *(f"{symbol}{end}" for end in _RATE_ENDS)],
        symbol=symbol,
        published=f"Ticks: {len(models)} published models or systems." if models else "",
        note=note,
        where="; ".join(f"{one.run.label}, {one.where}" for one in found),
        extremes=_extremes(found[0].result),
    )


def _middle(rates: Sequence[float]) -> float:
    """sqrt(q_f q_m) of the rates that have a value."""
    logarithms = np.log(rates)
    groups = [logarithms[group & ~np.isnan(logarithms)] for group in (IS_FEMALE, ~IS_FEMALE)]
    return float(np.exp(np.mean([group.mean() for group in groups]))) if all(map(len, groups)) else math.nan


def _extremes(result: Result) -> str:
    """The stereotypes that are certainly the most feminine or the most masculine by the bounds of ranks."""
    bounds = list(zip(result["feminine_ranks_low"], result["feminine_ranks_high"], strict=True))
    certain = [
        f"the most {side} is certainly “{stereotype.name}”"
        for side, end in (("feminine", 1), ("masculine", len(STEREOTYPES)))
        for stereotype, both in zip(STEREOTYPES.values(), bounds, strict=True)
        if both == (end, end)
    ]
    if not certain:
        return "No stereotype is certainly the most feminine or the most masculine."
    return f"In the first {' and '.join(certain)}."


def ranks_panel(
    name: str, found: Sequence[Rates], published: Sequence[PublishedRates], kind: str = ""
) -> Panel:
    """Feminine ranks over box plots of the published ones (figures 3, 5 and 7 of [A])."""
    rows: list[list[Any]] = []
    for model in published:
        rows += _rows([PUBLISHED, model.model, model.where], model.ranks, *[[None] * 16] * 2)
    labels = {one.run.label: one.run.number for one in found}
    offsets = np.linspace(-0.2, 0.2, len(labels)) if len(labels) > 1 else np.zeros(1)
    offset_of = dict(zip(labels, offsets, strict=True))
    dots, values = [], []
    boxes = np.array([model.ranks for model in published])
    for one in found:
        ranks, low, high = (np.array(one.result[f"feminine_ranks{end}"]) for end in _ENDS)
        rows += _rows([OWN, one.run.label, one.where], list(ranks), list(low), list(high))
        bounded = (low > 1) | (high < len(STEREOTYPES))
        ends = (np.where(bounded, end, np.nan) for end in (low, high))
        style = {"markersize": 5.5, "markeredgecolor": LIGHT["paper"], "alpha": 0.9}
        style |= plots.series_style(one.run.number)
        places = np.arange(len(STEREOTYPES)) + offset_of[one.run.label]
        dots.append(Dots(places, ranks, f"{one.run.label}, {one.where}", style, *ends))
        if published and not np.isnan(ranks).any():
            values.append(rank_correlation(ranks.tolist(), np.median(boxes, axis=0)))
    entries = [
        plots.legend_entry(label, markersize=6, **plots.series_style(number))
        for label, number in labels.items()
    ]
    if published:
        style = {"marker": "s", "color": LIGHT["published"], "alpha": 0.4, "markersize": 9}
        entries.append(plots.legend_entry(f"{len(published)} published results", **style))
    axis = "feminine rank: 1 is the most feminine of the 16"
    column = Column("", axis, dots=dots, limits=(0.4, 16.6), ticks=range(1, 17), boxes=boxes)
    figure, _ = interval_figure([column], Rows(NAMES, COLOURS), 5.0, entries)
    agreement = ""
    if values:
        span = " to ".join(dict.fromkeys(format_number(end) for end in (min(values), max(values))))
        agreement = f"Spearman’s correlation of this report’s ranks with the published medians: {span}."
    return make_panel(name, figure, rows, kind=kind, agreement=agreement)


def model_rates(runs: Sequence[LabelledRun]) -> Iterator[Panel]:
    """Rates and ranks of language models on templates, pairs or neutral sentences."""
    found = rates_of(runs)
    if not found:
        return
    measure = found[0].run.measure
    if measure is TEMPLATES:
        kind = "causal" if all(run.kind == "causal" for run in runs) else "masked"
        yield rates_panel("stereotypes-english", found)
        yield ranks_panel("ranks-english", found, [one for one in english_models() if one.kind == kind], kind)
    elif measure is PAIRS:
        yield rates_panel("stereotypes-pairs", found)
        # Figure 7 of [A] leaves mBERT out
        multilingual = [model for model in slavic_models() if model.model.startswith("xlm")]
        yield ranks_panel("ranks-pairs", found, multilingual)
    else:
        yield rates_panel("stereotypes-neutral", found)


def text_rates(runs: Sequence[LabelledRun]) -> Iterator[Panel]:
    """Masculine rates of texts that models have written; nothing is published about them."""
    for measure in (FIRST_PERSON, STORY):
        own = [run for run in runs if run.measure is measure and any(run.result["n"])]
        if own:
            found = [Rates(run, language_name(run.language), run.result) for run in own]
            yield rates_panel(f"stereotypes-{measure.name}", found, "p")


def choices(runs: Sequence[LabelledRun]) -> Iterator[Panel]:
    """How often a model names each gender, stereotype by stereotype."""
    runs = [run for run in runs if any(run.result["n"])]
    if not runs:
        return
    columns, rows = [], []
    for run in runs:
        language = language_name(run.language)
        each = {
            option: [Estimate.of(run.result, option, row) for row in range(len(STEREOTYPES))]
            for option in ("male", "female", "neither")
        }
        intervals = [
            replace(one, row=one.row + offset, style={"color": LIGHT[gender], "markersize": 5})
            for gender, offset in zip(GENDERS, (-0.16, 0.16), strict=True)
            for one in stereotype_intervals(each[gender], gender)
        ]
        numbers = [column for estimates in each.values() for column in zip(*estimates, strict=True)]
        rows += _rows([run.label, language], *numbers)
        title = f"{run.label}\n{language}" if len(runs) > 1 else language
        columns.append(Column(title, "share of the readable answers", intervals, limits=_SHARE))
    figure, note = stereotype_figure(columns, _gender_entries("{} are named"))
    values = "; ".join(f"{run.label}: {Estimate.of(run.result, 'stereotype_rate')}" for run in runs)
    yield make_panel("stereotypes-choice", figure, rows, note=note, values=values)


# --- ways of asking, side by side


class _Way(NamedTuple):
    """A way of asking a model: what it shows, and the axis of its numbers (without limits: ratios)."""

    shows: str
    axis: str
    null: float
    limits: tuple[float, float] | None
    key: str


_LIKELY = _Way("finds likely", "q / middle: masculine above 1", 1.0, None, "q")
_SAYS = _Way("says", "men minus women named", 0.0, (-1.05, 1.05), "preference")
_WRITES = _Way("writes", "p: share of masculine texts", 0.5, _SHARE, "p")
_WAYS: dict[str, tuple[_Way, str]] = {
    TEMPLATES.name: (_LIKELY, "templates"),
    NEUTRAL.name: (_LIKELY, "neutral sentences"),
    PAIRS.name: (_LIKELY, "pairs"),
    CHOICE.name: (_SAYS, "choices"),
    FIRST_PERSON.name: (_WRITES, "first person"),
    STORY.name: (_WRITES, "stories"),
}


def side_by_side(runs: Sequence[LabelledRun]) -> Iterator[Panel]:
    """A panel for each model that was asked in two ways or more."""
    by_model: dict[str, list[tuple[_Way, str, list[Estimate]]]] = {}
    for run in runs:
        way, asked = _WAYS[run.measure.name]
        if way is _LIKELY:
            estimates = _relative_rates(run)
        else:
            estimates = [Estimate.of(run.result, way.key, row) for row in range(len(STEREOTYPES))]
        if not any(math.isnan(one.value) for one in estimates):
            where = f"{asked}, {language_name(run.language)}"
            by_model.setdefault(run.model, []).append((way, where, estimates))
    order = [_LIKELY, _SAYS, _WRITES]
    models = {model: own for model, own in by_model.items() if len({way for way, *_ in own}) > 1}
    for number, (model, own) in enumerate(models.items(), start=1):
        columns, rows = [], []
        own.sort(key=lambda one: order.index(one[0]))
        for way, where, estimates in own:
            title = f"what it {way.shows}\n{where}"
            intervals, ratio = stereotype_intervals(estimates), way.limits is None
            columns.append(Column(title, way.axis, intervals, null=way.null, limits=way.limits, ratio=ratio))
            rows += _rows([model, way.shows, where], *zip(*estimates, strict=True))
        figure, note = stereotype_figure(columns, shared_axis=False)
        ways = ", ".join(dict.fromkeys(f"what it {way.shows}" for way, *_ in own))
        name = f"side-by-side{f'-{number}' if number > 1 else ''}"
        yield make_panel(
            "side-by-side", figure, rows, name=name, model=short_name(model), ways=ways, note=note
        )


def _relative_rates(run: LabelledRun) -> list[Estimate]:
    """q_i relative to sqrt(q_f q_m); over several templates from the mean of ln q_i."""
    if len(run.templates) > 1:
        wide = wide_scores(run.run)
        stereotypes = wide.index.get_level_values("stereotype").to_numpy(dtype=np.int64) - 1
        resamples = resample_templates(wide.to_numpy(), stereotypes)
        found = [resamples.interval(function) for function in LN_Q]
        rates = [Estimate(*np.exp((one.value, one.low, one.high)).tolist()) for one in found]
    else:
        (part,) = run.templates.values()
        rates = [Estimate.of(part, "q", row) for row in range(len(STEREOTYPES))]
    logarithms = np.log([rate.value for rate in rates])
    middle = math.exp((logarithms[IS_FEMALE].mean() + logarithms[~IS_FEMALE].mean()) / 2)
    return [Estimate(*(number / middle for number in rate)) for rate in rates]


# --- several runs: what the page's script draws, as files


def profile_panels(profile: Profiles) -> Iterator[Panel]:
    """Heat maps of runs by stereotypes, and of the correlations of runs."""
    values = profile.values[profile.rows]
    runs = [profile.runs[row] for row in profile.rows]
    largest = float(np.nanmax(np.abs(values), initial=0.0))
    labels = [run.label for run in runs]
    rate = profile.name.removeprefix("ln ")[0]
    texts: dict[str, Any] = {
        "unit": profile.unit,
        "rate": profile.name,
        "runs": len(runs),
        "numbered": NUMBERED,
    }
    texts |= {"low": format_number(-largest), "high": format_number(largest), "chance": format_number(CHANCE)}
    rows: list[list[Any]] = []
    for run, numbers in zip(runs, json_value(values), strict=True):
        rows += _rows([run.label, run.model, run.language], numbers)
    figure = heat_map(values, labels, list(map(str, STEREOTYPES)), "stereotype", largest)
    yield make_panel("profiles", figure, rows, name=f"profiles-{rate}", **texts)
    correlations = profile.correlations[np.ix_(profile.rows, profile.rows)]
    numbers = [str(number) for number in range(1, len(runs) + 1)]
    named = [f"{number}  {label}" for number, label in zip(numbers, labels, strict=True)]
    cells = [
        [label, other, value]
        for label, row in zip(labels, json_value(correlations), strict=True)
        for other, value in zip(labels, row, strict=True)
    ]
    figure = heat_map(correlations, named, numbers, "run", 1.0)
    yield make_panel("correlations", figure, cells, name=f"correlations-{rate}", **texts)


def ratio_panels(groups: Sequence[RunGroup]) -> Iterator[Panel]:
    """The 16 ratios of q_i to the baseline's, a column for each other run of a group."""
    groups = [group for group in groups if any(other.stereotypes for other in group.others)]
    for number, group in enumerate(groups, start=1):
        baseline = group.baseline.label
        columns, rows = [], []
        for other in group.others:
            ratios = [Estimate(*one.times) for one in other.difference.by_stereotype]
            if ratios:
                intervals = stereotype_intervals(ratios)
                columns.append(Column(other.run.label, "ratio of q", intervals, null=1.0, ratio=True))
                rows += _rows([other.run.label, baseline], *zip(*json_value(ratios), strict=True))
        figure, note = stereotype_figure(columns)
        texts = {"about": group.about, "baseline": baseline, "note": note}
        texts["runs"] = ", ".join(column.title for column in columns)
        name = f"ratios{f'-{number}' if number > 1 else ''}"
        yield make_panel("ratios", figure, rows, name=name, **texts)
