"""The page: runs and panels in, one self-contained HTML file out.

Nothing on it is loaded from anywhere, and its policy (CSP) lets nothing but its own style and script
run, whatever the data hold; all data are escaped by jinja2 all the same, and what in them is no letter or
turns the order of letters round is shown as an escape.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shlex
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from gest_dataset import statistics
from gest_dataset.measures.words import TOY, shown
from gest_dataset.printable import printable
from gest_dataset.report import figures_controls, figures_gest, figures_others, figures_translation
from gest_dataset.report.canvas import PALETTE
from gest_dataset.report.measured import Measured, language_name, short
from gest_dataset.report.methods import citations, paragraphs
from gest_dataset.report.panel import Panel
from gest_dataset.report.samples import extremes, skipped
from gest_dataset.report.verdict import verdict
from gest_dataset.runs.manifest import MANIFEST, RESULT
from gest_dataset.version import __version__

_HERE = Path(__file__).parent
_MOST_ROWS = 200  # of a figure's table on the page; the CSV beside it has all
# What shows a statistic, in the order of the page
_FIGURES: dict[Callable[..., dict[str, Any]], Callable[[Sequence[Measured]], list[Panel]]] = {
    statistics.stereotype_rate: figures_gest.panels,
    statistics.masculine_rate: figures_translation.panels,
    statistics.control_bias: figures_controls.panels,
    statistics.stereoset_icat: figures_others.stereoset_panels,
    statistics.winobias_rate: figures_others.winobias_panel,
}
GROUND = ("#f5f6f9", "#10141c")  # behind the cards


def render_page(runs: Sequence[Measured], panels: Sequence[Panel], notes: Sequence[str], path: Path) -> str:
    """The page as it will lie at `path`, to which its links are relative."""
    environment = Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: printable(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"shown": shown, "quoted": partial(quote, safe=",")}
    style, script = _style(), (_HERE / "page.js").read_text(encoding="utf-8")
    samples = extremes(runs)
    heading, lead = _heading(runs)
    sections = [
        ("results", "What was found", runs),
        ("figures", "Figures", panels),
        ("samples", "Samples", samples.rows),
        ("runs", "What was measured", runs),
        ("methods", "Methods and citations", runs),
    ]
    return environment.get_template("page.html.jinja").render(
        title=f"{heading} · gender stereotypes",
        heading=heading,
        lead=lead,
        notes=notes,
        contents=[(anchor, text) for anchor, text, content in sections if content],
        toy_words=TOY,
        toys=[run.label for run in runs if run.toy],
        verdicts=[verdict(run) for run in runs],
        panels=panels,
        most_rows=_MOST_ROWS,
        samples=samples,
        runs=[_told(run, path) for run in runs],
        methods=paragraphs(runs) if runs else [],
        citations=citations(runs),
        version=__version__,
        style=Markup(style),
        style_hash=_hash(style),
        script=Markup(script),
        script_hash=_hash(script),
    )


def figures(runs: Sequence[Measured]) -> list[Panel]:
    """All figures that these runs can feed."""
    return [
        panel
        for statistic, panels in _FIGURES.items()
        for panel in panels([run for run in runs if run.measure.statistic is statistic])
    ]


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
        "counts": ", ".join(f"{shown(n)} {name}" for name, n in counted.items() if n is not None),
        "device": ", ".join(str(known[name]) for name in ("device", "dtype") if known.get(name)),
        "begun": manifest.started,
        "finished": manifest.finished,
        "notes": "; ".join(known.get("notes") or []),
    }
    files = [MANIFEST, RESULT, manifest.table]
    return {
        "label": run.label,
        "facts": [
            (name, shown(value) if isinstance(value, int) else value)
            for name, value in facts.items()
            if value
        ],
        "signature": manifest.signature,
        "command": shlex.join(manifest.command),
        "files": [(name, _link(run.run.path / name, path)) for name in files],
        "skipped": skipped(run),
    }


def _link(file: Path, page: Path) -> str:
    relative = os.path.relpath(file.resolve(), page.resolve().parent)
    return quote(os.fsencode(Path(relative).as_posix()))
