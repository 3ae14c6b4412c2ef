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
from gest_dataset.runs.manifest import Manifest
from gest_dataset.runs.reading import Run, read_run
from gest_dataset.statistics import holm
from gest_dataset.statistics.comparison import DRAWS
from gest_dataset.storage import atomic_path, csv_text, json_value
from gest_dataset.sweep.run import DONE, FAILED, LEFT_OUT, PAGE, RUNS, TO_DO, Cell
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

    `left_out` are the models after the first `MAX_COMPARED`; `problem` says why there are no differences.
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
    differences = [_difference_row(one) for own in pairs for one in own.differences]
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
    for own in scores.values():
        own.sort(key=lambda score: (math.isnan(score.estimate.value), -score.estimate.value, score.name))
    return checked, scores


def _read(cell: Cell, folder: Path) -> Run:
    return read_run(folder / RUNS / cell.model.name / cell.config)


def table_lines(cells: Sequence[Cell], scores: Mapping[str, Sequence[Score]]) -> list[dict[str, Any]]:
    """Return the lines of leaderboard.csv: one for each cell, and one for each of its templates."""
    by_cell = {score.cell.name: score for own in scores.values() for score in own}
    lines: list[dict[str, Any]] = []
    for cell in cells:
        model = cell.model
        line = {"name": model.name, "model": model.model, "revision": model.revision, "config": cell.config}
        line |= {"template": "", "status": cell.status, "reason": cell.reason}
        if cell.status != DONE:
            lines.append(line)
            continue
        score = by_cell[cell.name]
        metadata = score.manifest.metadata
        line |= {
            **{name: metadata.get(name) for name in COLUMNS if name in metadata and name not in line},
            "metric": score.headline.name,
            "zone_low": score.zone[0],
            "zone_high": score.zone[1],
            "verdict": score.verdict,
            "samples": metadata["asked"],
            "commit": metadata["revision"],
            "signature": score.manifest.signature,
        }
        lines.append(json_value(line | _bounds(score.estimate)))
        for template, estimate in score.templates.items():
            lines.append(json_value(line | {"template": str(template), "verdict": None} | _bounds(estimate)))
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
    by_config = {config: own for config, own in by_config.items() if len(own) > 1}
    total = sum(math.comb(min(MAX_COMPARED, len(own)), 2) for own in by_config.values())
    number = 0
    found: list[Pairs] = []
    for config, own in by_config.items():
        runs = []
        for cell in own[:MAX_COMPARED]:
            run = _read(cell, folder)
            runs.append(replace(run, manifest=replace(run.manifest, subject=cell.model.name)))
        draws = max(DRAWS, _DRAWS_PER_PAIR * math.comb(len(runs), 2))
        differences: list[Difference] = []
        problem = ""
        try:
            for difference in compare_pairs(runs, draws):
                differences.append(difference)
                number += 1
                on_pair(number, total)
        except GestError as error:
            differences, problem = [], " ".join(str(error).split())
        if not differences:
            problem = problem or "no two models were scored with the same templates"
        p_values = holm([one.comparison.p_value for one in differences]) if differences else []
        adjusted = [replace(one, p_holm=p) for one, p in zip(differences, p_values, strict=True)]
        found.append(Pairs(config, adjusted, [cell.model.name for cell in own[MAX_COMPARED:]], problem))
    return found


def _difference_row(one: Difference) -> list[Any]:
    found = one.comparison
    templates = "+".join(map(str, one.templates))
    values = (found.a, found.b, found.difference, found.low, found.high, *found.times)
    tested = (found.p_value, one.p_holm, one.n, one.missing)
    return [one.config, one.run, one.baseline, templates, found.measure, *values, *tested]


def render_page(
    title: str,
    cells: Sequence[Cell],
    scores: Mapping[str, Sequence[Score]],
    pairs: Sequence[Pairs],
    command: Sequence[str],
) -> str:
    """Render leaderboard.html, a self-contained page in the style of the report."""
    pairs_of = {own.config: own for own in pairs}
    counts = Counter(cell.status for cell in cells if cell.status != LEFT_OUT)
    models = len({cell.model.name for cell in cells})
    lead = f"{models:,} models: {counts[DONE]:,} of {counts.total():,} cells are done"
    lead += "".join(f", {counts[status]:,} {status}" for status in (FAILED, TO_DO) if counts[status]) + "."
    left_out: dict[str, list[str]] = {}
    for cell in cells:
        if cell.status == LEFT_OUT:
            left_out.setdefault(cell.reason, []).append(cell.name)
    toys = [score.name for own in scores.values() for score in own if score.manifest.metadata.get("toy")]
    template = load_template(Path(__file__).parent / "leaderboard.html.jinja")
    return template.render(
        title=title,
        lead=lead,
        toys=list(dict.fromkeys(toys)),
        toy_note=TOY_NOTE,
        sections=[
            _section(number, config, own, pairs_of.get(config, Pairs(config)))
            for number, (config, own) in enumerate(scores.items(), start=1)
        ],
        panels=checkpoint_panels(scores),
        failed=[(cell.name, cell.reason) for cell in cells if cell.status == FAILED],
        left_out=[
            (reason, names[0] if len(names) == 1 else f"{len(names):,} cells, such as {names[0]}")
            for reason, names in left_out.items()
        ],
        most=MAX_COMPARED,
        command=shlex.join(command),
        version=__version__,
        **page_assets(),
    )


def _section(number: int, config: str, scores: Sequence[Score], pairs: Pairs) -> dict[str, Any]:
    """Return what the page shows of one config."""
    head = scores[0].headline
    verdicts = Counter(score.verdict for score in scores).items()
    null = _scaled(head, head.null)
    distances = [abs(_scaled(head, score.estimate.value) - null) for score in scores]
    reach = 1.6 * max([distance for distance in distances if math.isfinite(distance)] + [1e-9])
    first = pairs.differences[0].comparison if pairs.differences else None
    return {
        "anchor": f"config-{number}",
        "config": config,
        "headline": head,
        "summary": f"{len(scores):,} models: {', '.join(f'{word} in {n:,}' for word, n in verdicts)}.",
        "lines": [_line(score, head, reach) for score in scores],
        "pairs": [_pair(one) for one in pairs.differences],
        "ratio": bool(first and first.ratio),
        "measure": first.measure if first else "",
        "left_out": pairs.left_out,
        "problem": pairs.problem,
    }


def _line(score: Score, head: Headline, reach: float) -> dict[str, Any]:
    """Return one line of the table; `at` are positions from 0 to 100 on an axis for all models."""
    estimate, zone, metadata = score.estimate, score.zone, score.manifest.metadata
    has_interval = not any(map(math.isnan, estimate))
    points = {"value": estimate.value, "low": estimate.low, "high": estimate.high}
    points |= {"zone_low": zone[0], "zone_high": zone[1]}
    null = _scaled(head, head.null)
    return {
        "name": one_line(score.name),
        "value": estimate.value,
        "interval": " to ".join(format_distinct(estimate[1:], (head.null, *zone))[0]) if has_interval else "",
        "verdict": score.verdict if has_interval else "unknown",
        "scored": metadata["scored"],
        "samples": metadata["asked"],
        "parameters": metadata.get("parameters"),
        "dtype": metadata.get("dtype"),
        "at": {
            name: round(50 + 50 * max(-1.0, min(1.0, (_scaled(head, point) - null) / reach)), 2)
            for name, point in points.items()
            if not math.isnan(point)
        },
    }


def _scaled(head: Headline, point: float) -> float:
    return math.log(max(point, 1e-300)) if head.ratio else point


def _pair(one: Difference) -> dict[str, Any]:
    found = one.comparison
    value, low, high = found.times if found.ratio else (found.difference, found.low, found.high)
    bounds, _ = format_distinct((low, high), (1.0 if found.ratio else 0.0,))
    return {
        "name": one_line(one.run),
        "baseline": one_line(one.baseline),
        "value": value,
        "interval": " to ".join(bounds),
        "p": one.p_holm,
        "p_text": "< 0.001" if one.p_holm < 0.001 else f"{one.p_holm:.3f}",
        "n": one.n,
        "differs": "yes" if one.p_holm < 0.05 else "not shown",
    }


def checkpoint_panels(scores: Mapping[str, Sequence[Score]]) -> list[Panel]:
    """Draw the headline over training steps, for each config and model with several checkpoints."""
    panels: list[Panel] = []
    for config, own in scores.items():
        families: dict[str, list[Score]] = {}
        for score in sorted(own, key=lambda score: score.cell.model.step or 0):
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
