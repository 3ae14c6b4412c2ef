"""The leaderboard of a sweep, from its run folders: a table of all cells, differences, and a page.

Differences are paired by sample; p-values are corrected with Holm's method over all pairs of a config.
"""

import logging
import math
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gest_dataset.errors import GestError
from gest_dataset.measures import MEASURES
from gest_dataset.measures.formatting import TOY_NOTE, format_distinct
from gest_dataset.measures.measure import Headline
from gest_dataset.measures.result import template_results, verdict_text
from gest_dataset.report.page import load_template, page_assets
from gest_dataset.runs.comparison import Difference, compare_pairs, with_holm
from gest_dataset.runs.folder import read_run
from gest_dataset.statistics.comparison import DRAWS
from gest_dataset.storage import csv_text, read_yaml, write_file
from gest_dataset.sweep.run import DONE, FAILED, PAGE, RUNS, Cell
from gest_dataset.version import __version__

# Only the first models of a suite are compared in pairs: 36 make 630 pairs of up to a second each
MAX_COMPARED = 36
# Holm multiplies the least possible p-value, 2 / (draws + 1), by the number of pairs
_DRAWS_PER_PAIR = 80
_TABLES: dict[str, list[str]] = read_yaml(Path(__file__).with_suffix(".yaml"))
COLUMNS, _POINTS = _TABLES["leaderboard"], _TABLES["points"]
_ENDS = {"value": "", "low": "_low", "high": "_high"}  # of a number's names in a result

Line = dict[str, Any]
progress = logging.getLogger("gest_dataset.progress")


def write_leaderboard(
    title: str, cells: Sequence[Cell], folder: Path, command: Sequence[str] = ()
) -> list[Line]:
    """Write the page and the tables from the run folders, and return the lines of leaderboard.csv."""
    lines = read_lines(cells, folder)
    differences, notes = compare_models(lines, folder)
    rows = []
    for one in differences:
        found, templates = one.comparison, "+".join(map(str, one.templates))
        values = (found.measure, found.a, found.b, found.difference, found.low, found.high, *found.times)
        numbers = (found.p_value, one.p_holm, one.n, one.missing)
        rows.append((one.config, one.run, one.baseline, templates, *values, *numbers))
    cells_of = ([line.get(name) for name in COLUMNS] for line in lines)
    write_file(folder / "leaderboard.csv", csv_text(COLUMNS, cells_of))
    write_file(folder / "differences.csv", csv_text(_TABLES["differences"], rows))
    write_file(folder / PAGE, render_page(title, lines, differences, notes, command))
    return lines


def read_lines(cells: Sequence[Cell], folder: Path) -> list[Line]:
    """Return a line for each cell, and one for each of its templates. A damaged run is a failed cell."""
    lines: list[Line] = []
    for cell in cells:
        line = {name: getattr(cell.model, name) for name in ("name", "model", "revision", "family", "step")}
        line |= {"config": cell.config, "template": "", "status": cell.status, "reason": cell.reason}
        lines.append(line)
        if cell.status != DONE:
            continue
        try:
            run = read_run(folder / RUNS / cell.name)
        except GestError as error:
            line |= {"status": FAILED, "reason": str(error)}
            continue
        metadata, result = run.manifest.metadata, run.result["result"]
        head = MEASURES[run.manifest.measure].headline(result)
        names = ("limit", "scored", "kind", "parameters", "toy", "dtype", "device", "seconds")
        line |= {name: metadata.get(name) for name in names}
        line |= {"samples": metadata["asked"], "commit": metadata["revision"], "headline": head}
        line |= {"metric": head.name, "signature": run.manifest.signature}
        for number, part in {**template_results(result), 0: result}.items():
            numbers = {name: part.get(f"{head.name}{end}") for name, end in _ENDS.items()}
            numbers |= {f"d{end}": part.get(f"d{end}") for end in _ENDS.values()}
            if number:
                lines.append({**line, "template": str(number), **numbers})
        line |= numbers | {name: result.get(name) for name in ("zone_low", "zone_high", "verdict")}
        line["verdict_text"] = verdict_text(MEASURES[run.manifest.measure], result)
        limits = (head.null, line["zone_low"], line["zone_high"])
        line["interval"] = _interval(line["low"], line["high"], limits)
    return lines


def by_config(lines: Sequence[Line]) -> dict[str, list[Line]]:
    """Return the lines of the finished cells of each config."""
    finished = [line for line in lines if line["status"] == DONE and not line["template"]]
    configs = dict.fromkeys(line["config"] for line in finished)
    return {config: [line for line in finished if line["config"] == config] for config in configs}


def scores_by_config(lines: Sequence[Line]) -> dict[str, list[Line]]:
    """Return the lines of the finished cells of each config, the highest score first."""
    return {
        config: sorted(group, key=lambda line: (line["value"] is None, -(line["value"] or 0), line["name"]))
        for config, group in by_config(lines).items()
    }


def compare_models(lines: Sequence[Line], folder: Path) -> tuple[list[Difference], dict[str, str]]:
    """The differences of all pairs of the first models, and a note for each config that lacks some."""
    differences: list[Difference] = []
    notes: dict[str, str] = {}
    for config, group in by_config(lines).items():
        names = [line["name"] for line in group]
        if len(names) < 2:
            continue
        if left_out := len(names[MAX_COMPARED:]):
            notes[config] = f"Only the first {MAX_COMPARED} models are compared, not the other {left_out}."
        runs = []
        for name in names[:MAX_COMPARED]:
            run = read_run(folder / RUNS / name / config)
            runs.append(replace(run, manifest=replace(run.manifest, model=name)))
        progress.info("comparing %s models on %s", len(runs), config)
        try:
            of_config = list(compare_pairs(runs, max(DRAWS, _DRAWS_PER_PAIR * math.comb(len(runs), 2))))
        except GestError as error:
            notes[config] = f"The models were not compared: {error}"
            continue
        differences += with_holm(of_config)
        if not of_config:
            notes[config] = "The models were not compared: no two were scored with the same templates."
    return differences, notes


def render_page(
    title: str,
    lines: Sequence[Line],
    differences: Sequence[Difference],
    notes: Mapping[str, str],
    command: Sequence[str],
) -> str:
    """Render leaderboard.html, a self-contained page in the style of the report."""
    cells = [line for line in lines if not line["template"]]
    sections = [
        {
            "config": config,
            "headline": group[0]["headline"],
            "verdicts": Counter(line["verdict"] for line in group),
            "lines": _add_positions(group),
            "differences": [one for one in differences if one.config == config],
            "note": notes.get(config, ""),
            "d": {line["name"]: line.get("d") for line in group},
        }
        for config, group in scores_by_config(lines).items()
    ]
    return load_template(Path(__file__).with_name("leaderboard.html.jinja")).render(
        title=title,
        cells=cells,
        toy_note=TOY_NOTE,
        sections=sections,
        interval=_interval,
        command=shlex.join(command),
        version=__version__,
        **page_assets(),
    )


def _interval(low: float | None, high: float | None, limits: Sequence[float | None]) -> str:
    """Return bounds with enough digits to show on which side of each limit they lie."""
    if low is None or high is None:
        return ""
    return " to ".join(format_distinct((low, high), [limit for limit in limits if limit is not None])[0])


def _add_positions(lines: Sequence[Line]) -> list[Line]:
    """Return lines with positions `at` from 0 to 100 on an axis that all models of a config share."""
    head: Headline = lines[0]["headline"]
    points = pd.DataFrame(lines, columns=[*_POINTS]).astype(float)
    distances = np.log(points.clip(1e-300) / head.null) if head.ratio else points - head.null
    reach = 1.6 * max(1e-9, distances["value"].abs().max())
    positions = (50 + 50 * (distances / reach).clip(-1, 1)).round(2)
    return [
        line | {"at": at.dropna().to_dict()}
        for line, (_, at) in zip(lines, positions.iterrows(), strict=True)
    ]
