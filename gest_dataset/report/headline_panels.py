"""Panels of headline numbers: runs next to published models, by model, template, language or size."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from matplotlib.ticker import FuncFormatter

from gest_dataset import published
from gest_dataset.languages import SLAVIC
from gest_dataset.measures.formatting import format_number
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.measure import Result
from gest_dataset.published import models as paper
from gest_dataset.report import figures
from gest_dataset.report.figures import Chart, Curve, Mark, band_entries, legend_entry
from gest_dataset.report.labels import LabelledRun, language_name, short_name
from gest_dataset.report.panel import OWN, PUBLISHED, TEXTS, Panel, Record, make_panel
from gest_dataset.report.stereotype_panels import rates_of
from gest_dataset.report.style import DASHED, LIGHT, MARKERS, STYLES, series_style
from gest_dataset.runs.population import Population
from gest_dataset.statistics.stereotype_rate import LN10
from gest_dataset.statistics.weights import gender_means

_MILLIONS = "million_parameters"


def _own(run: LabelledRun, **cells: Any) -> Record:
    """A record of a run, which is drawn with the colour of its number."""
    style = {**series_style(run.number), "markersize": 8}
    return _theirs(run.label, **{"source": OWN, "style": style, "result": run.result, **cells})


def _theirs(model: str, **cells: Any) -> Record:
    names = dict.fromkeys(("model", "label", "row"), model)
    return {"source": PUBLISHED, **names, "style": STYLES["row"], "result": None, **cells}


def bounded(column: str, result: Mapping[str, Any], name: str = "") -> Record:
    """The cells of a number with its bounds."""
    ends = (column, f"{column}_low", f"{column}_high")
    return dict(zip(ends, Estimate.of(result, name or column), strict=True))


def _marks(records: Sequence[Record], x: str, y: str, bands: str) -> list[Mark]:
    """A mark for each record at two of its columns; `bands` is the one that the bands are of."""
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
        y_place = record["place"] if y == "place" else places[y]
        marks.append(Mark(places[x], y_place, text, record["style"], record.get("note", ""), result=result))
    return marks


def _run_entries(records: Sequence[Record], name: str = "label") -> list[Any]:
    styles = {record[name]: record["style"] for record in records if record["source"] == OWN}
    return [
        legend_entry(text, **{**style, "linewidth": 2.4, "markersize": 7}) for text, style in styles.items()
    ]


def _results(records: Sequence[Record]) -> list[Result]:
    return [record["result"] for record in records if record["source"] == OWN]


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
    colours = [LIGHT["ink" if own else "quiet"] for _, own in places]
    rows = figures.Rows([name for name, _ in places], colours)
    results = _results(records) if bands else []
    height = 1.3 + len(places) * texts.pop("inches", spec.get("inches"))
    legend = [*entries, *band_entries(results)]
    figure, note = figures.draw_charts(charts, height, legend, rows, spec.get("per_row", figures.PER_ROW))
    return make_panel(key, figure, records, results=results, note=note, **texts)


def _scatter(
    key: str,
    records: Sequence[Record],
    x: str,
    y: str,
    curves: Sequence[Curve],
    entries: Sequence[Any],
    **texts: Any,
) -> Panel:
    """Records at two of their numbers, the second with its bands."""
    results = _results(records)
    chart = Chart(**TEXTS[key]["chart"], marks=_marks(records, x, y, y), curves=curves)
    legend = [*entries, *_run_entries(records), *band_entries(results)]
    figure, note = figures.draw_charts([chart], 5.2, legend)
    return make_panel(key, figure, records, results=results, note=note, **texts)


def size(runs: Sequence[LabelledRun]) -> Iterator[Panel]:
    """g_s against the number of parameters (figure 4 of [A])."""
    runs = [run for run in runs if not run.custom_templates]
    if not runs:
        return
    labels = TEXTS["size"]["labels"]
    templates = sorted({number for run in runs for number in run.templates})
    models, known = paper.published_mean_g_s(set(templates)), paper.language_models()
    millions = {name: model["millions"] for name, model in known.items()}
    curves = []
    for family in dict.fromkeys(model["family"] for model in known.values() if model["family"]):
        members = [name for name, model in known.items() if model["family"] == family]
        line = sorted((millions[name], g_s) for (name, _), g_s in models.items() if name in members)
        if len(line) > 1:
            x, y = zip(*line, strict=True)
            curves.append(Curve(x, y, STYLES["line"], family))
    records = []
    for (model, kind), g_s in models.items():
        cells = {"kind": kind, _MILLIONS: millions[model], "g_s": g_s, "note": labels.get(model, "")}
        records.append(_theirs(model, **cells, style=STYLES[kind]))
    for run in runs:
        parameters = run.facts.get("parameters")
        cells = bounded("g_s", run.result) | {_MILLIONS: parameters / 1e6 if parameters else None}
        records.append(_own(run, kind=run.kind, **cells))
    entries = [
        legend_entry(f"published, {kind}", **{**STYLES[kind], "linestyle": ""})
        for kind in ("masked", "causal")
    ]
    texts: dict[str, Any] = {"templates": templates, "values": list(models.values())}
    panel = _scatter("size", records, _MILLIONS, "g_s", curves, entries, **texts)
    panel.figure.axes[0].xaxis.set_major_formatter(
        FuncFormatter(lambda m, _: f"{m / 1000:g} B" if m >= 1000 else f"{m:g} M")
    )
    yield panel


def by_template(runs: Sequence[LabelledRun]) -> Iterator[Panel]:
    """g_s in each template (figures 9 and 10 of [A])."""
    if any(len(run.templates) > 1 for run in runs):
        results = [(number, run, result) for run in runs for number, result in run.templates.items()]
        groups = {number: f"template {number}" for number in sorted({number for number, *_ in results})}
        custom = any(run.custom_templates for run in runs)
        yield _by_group("templates", groups, results, () if custom else paper.english_models())


def released_panel(run: LabelledRun, population: Population) -> Panel:
    """A run's g_s relative to that of each released model, and their agreement in single sentences."""
    records = []
    ranked = sorted(population.neighbours, key=lambda one: one.difference.comparison.difference)
    for one in ranked:
        ratio = dict(zip(("ratio", "ratio_low", "ratio_high"), one.difference.comparison.times, strict=True))
        numbers = {"g_s": one.difference.comparison.b, "p_holm": one.difference.p_holm}
        records.append(_theirs(one.difference.baseline, agreement=one.agreement, **numbers, **ratio))
    name = f"released-{run.number + 1}"
    notes = " ".join(population.notes)
    return _forest("released", records, name=name, run=run.label, text=population.text(), notes=notes)


def by_language(runs: Sequence[LabelledRun]) -> Iterator[Panel]:
    """g_s in each language, of pairs (figure 6 of [A]) or of neutral sentences."""
    if not all(math.isnan(Estimate.of(run.result, "g_s").value) for run in runs):
        results = [(run.language, run, run.result) for run in runs]
        measured = {code for code, *_ in results}
        codes = [code for code in SLAVIC if code in measured] + sorted(measured - {*SLAVIC})
        neutral = runs[0].measure.name == "neutral"
        key, models = ("languages-neutral", ()) if neutral else ("languages", paper.slavic_models())
        yield _by_group(key, {code: language_name(code) for code in codes}, results, models)


def _by_group(
    key: str,
    groups: Mapping[Any, str],
    results: Sequence[tuple[Any, LabelledRun, Result]],
    models: Sequence[paper.PublishedRates],
) -> Panel:
    """g_s in a row for each group; runs of one model share a colour, unless two would be in one place."""
    name_of = {run.number: short_name(run.model) for _, run, _ in results}
    if len({(group, name_of[run.number]) for group, run, _ in results}) < len(results):
        name_of = {run.number: run.label for _, run, _ in results}
    names = list(dict.fromkeys(name_of.values()))
    offsets = figures.spaced_offsets(len(names), 0.26)
    records = []
    for group, label in groups.items():
        cells: Record = {"group": label, "row": label, "style": STYLES["tall-tick"]}
        for model in models:
            if model.where == group:
                cells["label"] = f"{model.model}, {label}"
                records.append(_theirs(model.model, kind=model.kind, g_s=model.g_s, **cells))
        runs_of_group = [(run, result) for where, run, result in results if where == group]
        for run, result in runs_of_group:
            number = names.index(name_of[run.number])
            cells |= {"label": f"{run.label}, {label}", "series": names[number], "offset": offsets[number]}
            cells |= {"style": {**series_style(number), "markersize": 8}}
            records.append(_own(run, kind=run.kind, **cells | {"result": result} | bounded("g_s", result)))
    entries = _run_entries(records, "series")
    if any(record["source"] == PUBLISHED for record in records):
        entries.append(legend_entry("published", **STYLES["tick"], markersize=10))
    return _forest(key, records, entries, inches=max(0.42, 0.2 * len(names) + 0.14))


def trade_off(runs: Sequence[LabelledRun]) -> Iterator[Panel]:
    """f_s against f_m (figure 2 of [A]), with the line between its two extremes."""
    # Both are sums over all 16 stereotypes
    all_rates = [rates for run in runs for rates in rates_of(run) if all(rates.result["n"])]
    if not all_rates:
        return
    records, entries = [], []
    for marker, (system, name) in zip(MARKERS, TEXTS["trade-off"]["systems"].items(), strict=False):
        style = {**STYLES["open"], "marker": marker}
        entries.append(legend_entry(name, **{**style, "linestyle": ""}))
        models = [model for model in paper.translators() if model.model == system]
        for model in models:
            (p_f, p_m), language = gender_means(model.rates), str(model.where)
            cells = {"system": name, "language": language, "f_m": (p_m + p_f) / 2, "f_s": p_m - p_f}
            label = f"{name}, {language_name(language)}"
            records.append(_theirs(name, **cells, label=label, note=language, style=style))
    for rates in all_rates:
        cells = bounded("f_m", rates.result) | bounded("f_s", rates.result)
        records.append(_own(rates.run, system=rates.run.label, language=rates.run.language, **cells))
    curves = [
        Curve([1.0, 0.75], [0.0, 0.5], DASHED),
        Curve([0.5, 0.75], [1.0, 0.5], DASHED, "from fully stereotypical to always masculine"),
    ]
    yield _scatter("trade-off", records, "f_m", "f_s", curves, entries)


def control_differences(runs: Sequence[LabelledRun]) -> Iterator[Panel]:
    """f next to tables 3, 11 and 12 of [D], whose log10 become natural logarithms."""
    runs = [run for run in runs if not math.isnan(run.result["f_mu"])]
    configs = list(dict.fromkeys(run.config for run in runs))
    records = []
    for config in configs:
        members = [run for run in runs if run.config == config]
        records += [_own(run, config=config, **bounded("f_mu_ln", run.result, "f_mu")) for run in members]
        printed = [row for row in published.load("word_filling_f")["rows"] if row["config"] == config]
        for row in printed:
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
    for (measure, language), members in groups.items():
        records = []
        for run in members:
            lms, ss, icat = (bounded(score, run.result) for score in scores)
            records.append(_own(run, **lms, **ss, **icat))
        for row in published.load(measure)["rows"]:
            if row["language"] == language:
                name, cells = f"{row['model']} ({row['handle']})", {score: row[score] for score in scores}
                records.append(_theirs(name, row=row["model"], label=row["model"], **cells))
        test = measure.removeprefix("stereoset_")
        where = f"{test}, {language_name(language)}".rstrip(", ")
        name = f"stereoset-{test}-{language or 'data'}"
        yield _forest("stereoset", records, name=name, test=test, where=where)
