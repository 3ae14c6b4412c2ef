"""The page: runs and panels in, one self-contained HTML file out, and files of its figures.

Nothing on it is loaded from anywhere, and its policy (CSP) lets nothing but its own style and script
run, whatever the data hold; all data are escaped by jinja2 all the same, and what in them is no letter or
turns the order of letters round is shown as an escape.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shlex
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from gest_dataset import statistics
from gest_dataset.builders import CONFIGS
from gest_dataset.display import printable
from gest_dataset.errors import ConfigError
from gest_dataset.measures.formatting import TOY_NOTE, format_number
from gest_dataset.report import (
    figures_beside,
    figures_gest,
    figures_others,
    figures_translation,
    figures_words,
)
from gest_dataset.report.canvas import PALETTE, file_bytes
from gest_dataset.report.explorer.explored import explored
from gest_dataset.report.explorer.profiles import CHANCE
from gest_dataset.report.measured import Measured, language_name, measured, short
from gest_dataset.report.panel import Panel
from gest_dataset.report.sure_table import sure_tables
from gest_dataset.report.verdict import over_runs, verdict
from gest_dataset.runs.manifest import MANIFEST, RESULT
from gest_dataset.runs.reading import Run, find_runs
from gest_dataset.storage import atomic_path
from gest_dataset.version import __version__

_HERE = Path(__file__).parent
_MOST_ROWS = 200  # of a figure's table on the page; the CSV beside it has all
# What shows a statistic, in the order of the page
_FIGURES: dict[Callable[..., dict[str, Any]], Callable[[Sequence[Measured]], list[Panel]]] = {
    statistics.stereotype_rate: figures_gest.panels,
    statistics.choice_rate: figures_words.choice_panels,
    statistics.masculine_rate: figures_translation.panels,
    statistics.control_bias: figures_others.control_panels,
    statistics.stereoset_icat: figures_others.stereoset_panels,
    statistics.winobias_rate: figures_others.winobias_panels,
}
GROUND = ("#f5f6f9", "#10141c")  # behind the cards
_INTERVALS = (
    "Intervals are at 95 %: stratified bootstrap-t with 2,000 seeded draws for means and what is made of "
    "them ({drawn}), Agresti-Coull for single proportions. They speak of other samples of the same kind, not "
    "of other templates or training runs. An effect is shown where the whole interval lies above the zone "
    "of negligible effects, reversed where it lies below, negligible where it lies within, and else not "
    "shown; the zone stands beside each interval. "
)
_STEREOTYPES = (
    "Intervals for all 16 stereotypes at once are max-t over the bootstrap (masculine shares: Šidák’s "
    "level); bounds of ranks are those that simultaneous intervals of all pairwise differences leave "
    "(Mogstad et al., 2024). The permutation p-value is exact over the 11,440 ways to choose 7 of 16 "
    "stereotypes: it tests whether the split by gender is more than chance over stereotypes, not how sure "
    "the rates of these sentences are, nor whether topics that go with gender are behind it."
)


def report(
    paths_or_runs: Sequence[str | Path | Run], output: str | Path, figures: str | Path | None = None
) -> Path:
    """Write one self-contained HTML page about runs, and say where it is (`gest_dataset.report`).

    Paths are of runs, or of folders with runs below them. `figures` is a folder that gets each figure
    as PNG, SVG and CSV.
    """
    return write(find_runs(paths_or_runs), Path(output), figures_to=Path(figures) if figures else None)


def write(
    runs: Sequence[Run],
    path: Path,
    extra: Sequence[Panel] = (),
    notes: Sequence[str] = (),
    figures_to: Path | None = None,
) -> Path:
    """Write the report of some runs to `path`, and say where it is.

    `extra` panels come before the figures of the runs, `notes` are paragraphs at the top of the page.
    `figures_to` is a directory that gets each figure as PNG, SVG and CSV.
    """
    if not runs and not extra:
        raise ConfigError("A report needs one run or more.")
    named = measured(runs)
    with warnings.catch_warnings():  # the letters of the page are the browser's, which has more of them
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        panels = [*extra, *figures(named)]
        text = render_page(named, panels, notes, path)
    with atomic_path(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    if figures_to is not None:
        for panel in panels:
            files = {kind: file_bytes(panel.figure, kind) for kind in ("png", "svg")}
            for kind, content in {**files, "csv": panel.csv.encode()}.items():
                with atomic_path(figures_to / f"{panel.name}.{kind}") as unfinished:
                    unfinished.write_bytes(content)
    return path


def render_page(runs: Sequence[Measured], panels: Sequence[Panel], notes: Sequence[str], path: Path) -> str:
    """The page as it will lie at `path`, to which its links are relative."""
    heading, lead = _heading(runs)
    verdicts = [verdict(run) for run in runs]
    look = explored(runs, verdicts)
    sure = sure_tables(runs)
    sections = [
        ("results", "What was found", runs),
        ("sureness", "How sure is this?", sure),
        ("figures", "Figures", panels),
        ("beside", "Runs side by side", look and look.beside),
        ("profiles", "Profiles of stereotypes", look and look.profiles),
        ("samples", "All samples", look),
        ("runs", "What was measured", runs),
        ("methods", "Methods and citations", runs),
    ]
    return (
        environment(_HERE)
        .get_template("page.html.jinja")
        .render(
            title=f"{heading} · gender stereotypes",
            heading=heading,
            lead=lead,
            notes=notes,
            contents=[(anchor, text) for anchor, text, content in sections if content],
            toy_words=TOY_NOTE,
            toys=[run.label for run in runs if run.toy],
            verdicts=verdicts,
            over_runs=over_runs(verdicts) if len(verdicts) > 1 else "",
            sure=sure,
            panels=panels,
            most_rows=_MOST_ROWS,
            explored=look,
            chance=CHANCE,
            runs=[_told(run, path) for run in runs],
            methods=_methods(runs) if runs else [],
            citations=_citations(runs),
            version=__version__,
            **dress(),
        )
    )


def environment(folder: Path) -> Environment:
    """What renders the templates of a folder: all data are escaped and printable."""
    made = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: printable(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"shown": format_number, "quoted": partial(quote, safe=","), "digest": _hash}
    return made


def dress() -> dict[str, str]:
    """Style and script of every page of ours, with the hashes that its policy lets in."""
    style, script = _style(), (_HERE / "page.js").read_text(encoding="utf-8")
    return {
        "style": Markup(style),
        "style_hash": _hash(style),
        "script": Markup(script),
        "script_hash": _hash(script),
    }


def figures(runs: Sequence[Measured]) -> list[Panel]:
    """All figures that these runs can feed."""
    of_each = [
        panel
        for statistic, panels in _FIGURES.items()
        for panel in panels([run for run in runs if run.measure.statistic is statistic])
    ]
    return [*figures_beside.beside_panels(runs), *of_each, *figures_words.genderbench_panel(runs)]


def _hash(text: str) -> str:
    """A source of the page's policy: this text and no other."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _style() -> str:
    """The palette in both themes (print is light), and the style sheet."""

    def variables(theme: int) -> str:
        colours = {"ground": GROUND, **PALETTE}
        return "".join(f"--{name}:{pair[theme]};" for name, pair in colours.items())

    return (
        f":root{{{variables(0)}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{variables(1)}}}}}\n"
        + (_HERE / "page.css").read_text(encoding="utf-8")
    )


def _heading(runs: Sequence[Measured]) -> tuple[str, str]:
    """What the page is about, and a line below it."""
    models = list(dict.fromkeys(run.model for run in runs))
    configs = list(dict.fromkeys(run.config for run in runs))
    if not runs:
        return "Calibration", ""
    heading = short(models[0]) if len(models) == 1 else f"{len(models)} models"
    about = ", ".join(configs) if len(configs) <= 4 else f"{len(configs)} configs"
    when = sorted(run.run.manifest.finished[:10] for run in runs)
    dates = f" on {when[0]}" if when[0] == when[-1] else f" from {when[0]} to {when[-1]}"
    many = f"{len(runs)} runs: " if len(runs) > 1 else ""
    beside = f"{', '.join(models)}; " if 1 < len(models) <= 4 else ""
    return heading, f"{many}{beside}{about}, measured{dates} with gest-dataset {__version__}"


def _told(run: Measured, path: Path) -> dict[str, Any]:
    """One run for the section that says what was measured."""
    known, manifest = run.facts, run.run.manifest
    counted = {name: known.get(name) for name in ("samples", "asked", "scored", "known")}
    facts = {
        "model": run.model,
        "revision": known.get("revision"),
        "kind": known.get("kind"),
        "parameters": known.get("parameters"),
        "config": run.config,
        "language": language_name(run.language),
        "templates": ", ".join(map(str, known.get("templates") or [])),
        "parser": known.get("parser"),
        "limit": known.get("limit"),
        "counts": ", ".join(f"{format_number(n)} {name}" for name, n in counted.items() if n is not None),
        "device": ", ".join(
            str(known[name]) for name in ("device", "dtype", "quantization") if known.get(name)
        ),
        "begun": manifest.started,
        "finished": manifest.finished,
        "notes": "; ".join(known.get("notes") or []),
    }
    files = [MANIFEST, RESULT, manifest.table]
    return {
        "label": run.label,
        "facts": [
            (name, format_number(value) if isinstance(value, int) else value)
            for name, value in facts.items()
            if value
        ],
        "signature": manifest.signature,
        "command": shlex.join(manifest.command),
        "files": [(name, _link(run.run.path / name, path)) for name in files],
        "skipped": _skipped(run),
    }


def _skipped(run: Measured) -> list[tuple[str, int, list[str]]]:
    """The reasons why samples have no score, the most frequent first; of answers in words with examples."""
    reasons = run.facts.get("skipped") or run.facts.get("problems") or {}
    examples = run.facts.get("examples") or {}
    ordered = sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
    return [(reason, number, examples.get(reason, [])) for reason, number in ordered]


def _link(file: Path, page: Path) -> str:
    relative = os.path.relpath(file.resolve(), page.resolve().parent)
    return quote(os.fsencode(Path(relative).as_posix()))


def _methods(runs: Sequence[Measured]) -> list[str]:
    """What was measured and how, in words that can be pasted."""
    models, configs, methods, units = (
        list(dict.fromkeys(values))
        for values in zip(
            *((run.model, run.config, run.measure.methods, run.measure.unit.label) for run in runs),
            strict=True,
        )
    )
    opening = f"We measured {_listed(models)} on {_listed(configs)} with gest-dataset {__version__}."
    drawn = f"drawn is each {' or '.join(units)}"
    ranked = any("feminine_ranks" in part for run in runs for part in run.templates.values())
    closing = _INTERVALS.format(drawn=drawn) + (_STEREOTYPES if ranked else "")
    return [opening, *(text.strip() for text in methods), closing.strip()]


def _listed(names: Sequence[str]) -> str:
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _citations(runs: Sequence[Measured]) -> list[str]:
    """BibTeX entries of the measures and of the data, each once."""
    entries: dict[str, None] = {}
    for run in runs:
        data = [CONFIGS[run.config].family] if run.config in CONFIGS else []
        for family in (*run.measure.families, *data):
            entries |= dict.fromkeys(family.citation.split("\n\n"))
    return list(entries)
