"""The leaderboard of a sweep: tables of all cells, differences of all pairs of models, and a page.

Differences are paired by sample; p-values are corrected with Holm's method over all pairs of a config.
"""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from gest_dataset.data.parquet import write_table
from gest_dataset.display import one_line
from gest_dataset.errors import GestError
from gest_dataset.measures import MEASURES
from gest_dataset.measures.formatting import MANY_INTERVALS_NOTE, TOY_NOTE, format_distinct, format_number
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.measure import Headline
from gest_dataset.measures.result import template_results
from gest_dataset.report.figures import Curve, Point, Scatter, scatter_figure
from gest_dataset.report.page import load_template, page_assets
from gest_dataset.report.panel import Panel
from gest_dataset.report.plots import series_style
from gest_dataset.runs.comparison import Difference, compare_pairs
from gest_dataset.runs.folder import Run, read_run
from gest_dataset.runs.manifest import Manifest
from gest_dataset.statistics import holm
from gest_dataset.statistics.comparison import DRAWS
from gest_dataset.storage import atomic_path, csv_text, json_value
from gest_dataset.sweep.run import DONE, FAILED, LEFT_OUT, PAGE, RUNS, Cell
from gest_dataset.version import __version__

# Only the first models of a suite are compared in pairs: 36 make 630 pairs of up to a second each
MAX_COMPARED = 36
# Holm multiplies the least possible p-value, 2 / (draws + 1), by the number of pairs
_DRAWS_PER_PAIR = 80
_TEXT, _NUMBER, _COUNT = pa.string(), pa.float64(), pa.int64()
COLUMNS: dict[str, pa.DataType] = {
    **dict.fromkeys(("name", "model", "revision", "config", "template", "status", "metric"), _TEXT),
    **dict.fromkeys(("value", "low", "high", "zone_low", "zone_high"), _NUMBER),
    "verdict": _TEXT,
    **dict.fromkeys(("scored", "samples", "limit"), _COUNT),
    "kind": _TEXT,
    "parameters": _COUNT,
    **dict.fromkeys(("dtype", "device"), _TEXT),
    "seconds": _NUMBER,
    **dict.fromkeys(("commit", "signature", "reason"), _TEXT),
}
_DIFFERENCE_COLUMNS = (
    *("config", "name", "baseline", "templates", "metric", "value", "baseline_value", "difference"),
    *("low", "high", "ratio", "ratio_low", "ratio_high", "p", "p_holm", "n", "missing"),
)


@dataclass(frozen=True)
class Score:
    """The headline of a finished cell, from its run."""

    cell: Cell
    manifest: Manifest
    result: Mapping[str, Any]

    @property
    def name(self) -> str:
        return self.cell.model.name

    @property
    def headline(self) -> Headline:
        return MEASURES[self.manifest.measure].headline(self.result)

    @property
    def estimate(self) -> Estimate:
        return Estimate.of(self.result, self.headline.name)

    @property
    def zone(self) -> tuple[float, float]:
        """The negligible range."""
        low, high = (self.result.get(name) for name in ("zone_low", "zone_high"))
        return math.nan if low is None else low, math.nan if high is None else high

    @property
    def verdict(self) -> str:
        return str(self.result.get("verdict", ""))

    @property
    def templates(self) -> dict[int, Estimate]:
        """The headline of each template, if there are several."""
        parts = template_results(self.result) if "by_template" in self.result else {}
        return {number: Estimate.of(part, self.headline.name) for number, part in parts.items()}


@dataclass(frozen=True)
class Pairs:
    """The differences of all pairs of models on one config.

    `left_out` are the models after the first `MAX_COMPARED`; `problem` is the reason if there are none.
    """

    config: str
    differences: Sequence[Difference] = ()
    left_out: Sequence[str] = ()
    problem: str = ""


def write_leaderboard(
    title: str,
    cells: Sequence[Cell],
    folder: Path,
    command: Sequence[str] = (),
    on_pair: Callable[[int, int], None] = lambda number, total: None,
) -> tuple[list[Cell], dict[str, list[Score]]]:
    """Write the page and the tables from the run folders.

    Returns the cells, those with a damaged run as failed, and the scores by config, the highest first.
    """
    cells, scores = read_scores(cells, folder)
    pairs = compare_models(cells, folder, on_pair)
    lines = table_lines(cells, scores)
    rows = [[line.get(name) for name in COLUMNS] for line in lines]
    columns = {name: pa.array([line.get(name) for line in lines], kind) for name, kind in COLUMNS.items()}
    write_table(folder / "leaderboard.parquet", pa.table(columns))
    differences = [_difference_row(one) for group in pairs for one in group.differences]
    for name, text in {
        "leaderboard.csv": csv_text(list(COLUMNS), rows),
        "differences.csv": csv_text(_DIFFERENCE_COLUMNS, differences),
        PAGE: render_page(title, cells, scores, pairs, command),
    }.items():
        with atomic_path(folder / name) as partial:
            partial.write_text(text, encoding="utf-8")
    return cells, scores


def read_scores(cells: Sequence[Cell], folder: Path) -> tuple[list[Cell], dict[str, list[Score]]]:
    """Read the runs of the finished cells; the highest scores of each config come first."""
    checked: list[Cell] = []
    scores: dict[str, list[Score]] = {}
    for cell in cells:
        if cell.status == DONE:
            try:
                run = _read(cell, folder)
            except GestError as error:
                cell = replace(cell, status=FAILED, reason=str(error))
            else:
                score = Score(cell, run.manifest, run.result["result"])
                scores.setdefault(cell.config, []).append(score)
        checked.append(cell)
    for group in scores.values():
        group.sort(key=lambda score: (math.isnan(score.estimate.value), -score.estimate.value, score.name))
    return checked, scores


def _read(cell: Cell, folder: Path) -> Run:
    return read_run(folder / RUNS / cell.model.name / cell.config)


def table_lines(cells: Sequence[Cell], scores: Mapping[str, Sequence[Score]]) -> list[dict[str, Any]]:
    """Return the lines of leaderboard.csv: one for each cell, and one for each of its templates."""
    by_cell = {score.cell.name: score for group in scores.values() for score in group}
    lines: list[dict[str, Any]] = []
    for cell in cells:
        model = cell.model
        line: dict[str, Any] = {"name": model.name, "model": model.model, "revision": model.revision}
        line |= {"config": cell.config, "template": "", "status": cell.status, "reason": cell.reason}
        score = by_cell.get(cell.name)
        if score is None:
            lines.append(line)
            continue
        metadata = score.manifest.metadata
        line |= {name: metadata.get(name) for name in COLUMNS if name in metadata and name not in line}
        line |= {"metric": score.headline.name, "signature": score.manifest.signature}
        line |= {"samples": metadata["asked"], "commit": metadata["revision"]}
        zone = {"zone_low": score.zone[0], "zone_high": score.zone[1], "verdict": score.verdict}
        lines.append(json_value({**line, **_bounds(score.estimate), **zone}))
        for template, estimate in score.templates.items():
            lines.append(json_value({**line, **_bounds(estimate), "template": str(template)}))
    return lines


def _bounds(estimate: Estimate) -> dict[str, float]:
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high}


def compare_models(
    cells: Sequence[Cell], folder: Path, on_pair: Callable[[int, int], None] = lambda number, total: None
) -> list[Pairs]:
    """Compare all pairs of models on each config; the first models of the suite if there are many."""
    by_config: dict[str, list[Cell]] = {}
    for cell in cells:
        if cell.status == DONE:
            by_config.setdefault(cell.config, []).append(cell)
    total = sum(math.comb(min(MAX_COMPARED, len(group)), 2) for group in by_config.values())
    number = 0
    pairs: list[Pairs] = []
    for config, group in by_config.items():
        if len(group) < 2:
            continue
        runs = [_read(cell, folder) for cell in group[:MAX_COMPARED]]
        named = [
            replace(run, manifest=replace(run.manifest, model=cell.model.name))
            for run, cell in zip(runs, group, strict=False)
        ]
        differences: list[Difference] = []
        problem = "no two models were scored with the same templates"
        try:
            for one in compare_pairs(named, max(DRAWS, _DRAWS_PER_PAIR * math.comb(len(named), 2))):
                differences.append(one)
                number += 1
                on_pair(number, total)
        except GestError as error:
            differences, problem = [], " ".join(str(error).split())
        if differences:
            p_values = holm([one.comparison.p_value for one in differences])
            differences = [replace(one, p_holm=p) for one, p in zip(differences, p_values, strict=True)]
        pairs.append(Pairs(config, differences, [cell.model.name for cell in group[MAX_COMPARED:]], problem))
    return pairs


def _difference_row(one: Difference) -> list[Any]:
    comparison = one.comparison
    templates = "+".join(map(str, one.templates))
    values = (
        comparison.a,
        comparison.b,
        comparison.difference,
        comparison.low,
        comparison.high,
        *comparison.times,
    )
    tested = (comparison.p_value, one.p_holm, one.n, one.missing)
    return [one.config, one.run, one.baseline, templates, comparison.measure, *values, *tested]


def render_page(
    title: str,
    cells: Sequence[Cell],
    scores: Mapping[str, Sequence[Score]],
    pairs: Sequence[Pairs],
    command: Sequence[str],
) -> str:
    """Render leaderboard.html, a self-contained page in the style of the report."""
    pairs_of = {group.config: group for group in pairs}
    toys = [score.name for group in scores.values() for score in group if score.manifest.metadata.get("toy")]
    template = load_template(Path(__file__).parent / "leaderboard.html.jinja")
    return template.render(
        title=title,
        models=len({cell.model.name for cell in cells}),
        counts=Counter(cell.status for cell in cells if cell.status != LEFT_OUT),
        toys=list(dict.fromkeys(toys)),
        toy_note=TOY_NOTE,
        sections=[_section(group, pairs_of.get(config, Pairs(config))) for config, group in scores.items()],
        panels=checkpoint_panels(scores),
        failed=[cell for cell in cells if cell.status == FAILED],
        left_out=[cell for cell in cells if cell.status == LEFT_OUT],
        max_compared=MAX_COMPARED,
        command=shlex.join(command),
        version=__version__,
        **page_assets(),
    )


def _section(scores: Sequence[Score], pairs: Pairs) -> dict[str, Any]:
    """Return what the page shows of one config."""
    return {
        "config": pairs.config,
        "headline": scores[0].headline,
        "verdicts": Counter(score.verdict for score in scores),
        "lines": _lines(scores),
        "pairs": pairs,
        "differences": list(map(_difference, pairs.differences)),
    }


def _lines(scores: Sequence[Score]) -> list[dict[str, Any]]:
    """Return the lines of a table; `at` are positions from 0 to 100 on an axis that all models share."""
    head = scores[0].headline

    def distance(point: float) -> float:
        scale = (lambda x: math.log(max(x, 1e-300))) if head.ratio else float
        return scale(point) - scale(head.null)

    distances = [abs(distance(score.estimate.value)) for score in scores]
    reach = 1.6 * max([one for one in distances if math.isfinite(one)] + [1e-9])
    lines = []
    for score in scores:
        estimate = score.estimate
        has_interval = not any(map(math.isnan, estimate))
        names = ("value", "low", "high", "zone_low", "zone_high")
        points = dict(zip(names, (*estimate, *score.zone), strict=True))
        bounds, _ = format_distinct(estimate[1:], (head.null, *score.zone)) if has_interval else ((), ())
        lines.append(
            {
                "name": one_line(score.name),
                "value": estimate.value,
                "interval": " to ".join(bounds),
                "verdict": score.verdict if has_interval else "unknown",
                "metadata": score.manifest.metadata,
                "at": {
                    name: round(50 + 50 * max(-1.0, min(1.0, distance(point) / reach)), 2)
                    for name, point in points.items()
                    if not math.isnan(point)
                },
            }
        )
    return lines


def _difference(one: Difference) -> dict[str, Any]:
    """Return one line of the table of differences; a ratio if the headline is one."""
    comparison = one.comparison
    value, low, high = (
        comparison.times if comparison.ratio else (comparison.difference, comparison.low, comparison.high)
    )
    bounds, _ = format_distinct((low, high), (1.0 if comparison.ratio else 0.0,))
    return {
        "name": one_line(one.run),
        "baseline": one_line(one.baseline),
        "value": value,
        "interval": " to ".join(bounds),
        "p": one.p_holm,
        "n": one.n,
    }


def checkpoint_panels(scores: Mapping[str, Sequence[Score]]) -> list[Panel]:
    """Draw the headline over training steps, for each config and model with several checkpoints."""
    panels: list[Panel] = []
    for config, group in scores.items():
        families: dict[str, list[Score]] = {}
        for score in sorted(group, key=lambda score: score.cell.model.step or 0):
            if score.cell.model.step is not None and not math.isnan(score.estimate.value):
                families.setdefault(score.cell.model.family, []).append(score)
        for family, members in families.items():
            if len(members) > 1:
                panels.append(_checkpoint_panel(f"steps-{len(panels) + 1}", family, config, members))
    return panels


def _checkpoint_panel(name: str, family: str, config: str, scores: Sequence[Score]) -> Panel:
    head = scores[0].headline
    steps = [score.cell.model.step or 0 for score in scores]
    estimates = [score.estimate for score in scores]
    values = [estimate.value for estimate in estimates]
    style = {**series_style(0), "markersize": 7}
    points = [
        Point(step, estimate.value, f"step {step:,}: {head.symbol} {estimate}", style)
        for step, estimate in zip(steps, estimates, strict=True)
    ]
    low, high = ([getattr(estimate, end) for estimate in estimates] for end in ("low", "high"))
    line = {"color": style["color"], "linewidth": 1.8}
    scatter = Scatter(
        "training step",
        head.symbol,
        points,
        [Curve(steps, values, line, low=low, high=high)],
        x_scale="log" if min(steps) > 0 and max(steps) / min(steps) > 100 else "linear",
        y_scale="ratio" if head.ratio else "linear",
        y_null=head.null,
    )
    figure, cut = scatter_figure([scatter], 4.2)
    caption = (
        f"{head.symbol} of {family} on {config} at {len(scores)} checkpoints; the dashed line is "
        f"{format_number(head.null)}, no stereotype. Band: 95 % intervals. {MANY_INTERVALS_NOTE} {cut}"
    )
    alt = (
        f"A line from {head.symbol} {format_number(values[0])} at step {steps[0]:,} to "
        f"{format_number(values[-1])} at step {steps[-1]:,}."
    )
    columns = ("checkpoint", "step", head.name, "low", "high", "verdict")
    rows = [
        (score.name, step, *score.estimate, score.verdict) for score, step in zip(scores, steps, strict=True)
    ]
    title = f"{family}: {head.symbol} over training, {config}"
    return Panel(name, title, figure, caption.strip(), alt, columns, rows)
