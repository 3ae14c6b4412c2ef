"""The report: one self-contained HTML file about one or more runs.

The page loads nothing, and its content security policy allows only its own style and script. All data are
escaped, with invisible characters shown as escapes.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shlex
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from gest_dataset.builders import CONFIGS
from gest_dataset.display import printable
from gest_dataset.errors import ConfigError
from gest_dataset.measures.formatting import TOY_NOTE, format_number
from gest_dataset.report.explorer.explorer import explorer_of
from gest_dataset.report.explorer.profiles import CHANCE
from gest_dataset.report.figure_files import DEFAULT_FORMATS, check_formats, write_figures
from gest_dataset.report.labels import LabelledRun, label_runs, language_name, short_name
from gest_dataset.report.panel import Panel
from gest_dataset.report.panels import panels_of
from gest_dataset.report.reliability import reliability_tables
from gest_dataset.report.style import GROUND, css_variables
from gest_dataset.report.verdict import verdict_counts, verdict_of
from gest_dataset.runs.folder import Run, find_runs
from gest_dataset.runs.manifest import MANIFEST, RESULT
from gest_dataset.storage import atomic_path
from gest_dataset.version import __version__

_HERE = Path(__file__).parent
_MAX_TABLE_ROWS = 200  # of a figure's table; the CSV has all rows


def report(
    paths_or_runs: Sequence[str | Path | Run],
    output: str | Path,
    figures: str | Path | None = None,
    formats: Sequence[str] = DEFAULT_FORMATS,
) -> Path:
    """Write the report of some runs as one HTML page; `gest_dataset.report` calls this function.

    Paths are runs or folders with runs below them. `figures` is a folder for the figures as files for papers,
    in the `formats` pdf, svg, png, csv and tex (LaTeX tables).
    """
    if figures is not None:
        check_formats(formats)
    runs = find_runs(paths_or_runs)
    write_report(runs, Path(output))
    if figures is not None:
        write_figures(label_runs(runs), Path(figures), formats)
    return Path(output)


def write_report(
    runs: Sequence[Run], path: Path, panels: Sequence[Panel] = (), notes: Sequence[str] = ()
) -> Path:
    """Write the page of some runs, with further panels before theirs and paragraphs of notes at its top."""
    if not runs and not panels:
        raise ConfigError("A report needs one run or more.")
    text = render_report(label_runs(runs), path, panels, notes)
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path


def render_report(
    runs: Sequence[LabelledRun],
    path: Path,
    panels: Sequence[Panel] = (),
    notes: Sequence[str] = (),
    live: str = "",
) -> str:
    """The HTML of a page at `path`, to which its links are relative; a `live` page polls for that version."""
    with warnings.catch_warnings():  # browsers have more letters than matplotlib's font
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        drawn = [(panel, panel.svg) for panel in (*panels, *panels_of(runs))]
    verdicts = [verdict_of(run) for run in runs]
    explorer = explorer_of(runs, verdicts)
    reliability = reliability_tables(runs)
    sections = [
        ("results", "Results", runs),
        ("reliability", "How reliable is this?", reliability),
        ("figures", "Figures", drawn),
        ("comparisons", "Runs side by side", explorer and explorer.groups),
        ("profiles", "Profiles of stereotypes", explorer and explorer.profiles),
        ("samples", "All samples", explorer),
        ("runs", "What was measured", runs),
        ("methods", "Methods and citations", runs),
    ]
    heading, lead = _heading(runs)
    return load_template(_HERE / "page.html.jinja").render(
        title=f"{heading} · gender stereotypes",
        heading=heading,
        lead=lead,
        notes=notes,
        contents=[(anchor, text) for anchor, text, content in sections if content],
        toy_warning=TOY_NOTE,
        toys=[run.label for run in runs if run.toy],
        verdicts=verdicts,
        counts=verdict_counts(verdicts) if len(verdicts) > 1 else "",
        reliability=reliability,
        panels=drawn,
        max_rows=_MAX_TABLE_ROWS,
        explorer=explorer,
        chance=CHANCE,
        runs=[_run_facts(run, path) for run in runs],
        models=_listed(list(dict.fromkeys(run.model for run in runs))),
        configs=_listed(list(dict.fromkeys(run.config for run in runs))),
        methods=list(dict.fromkeys(run.measure.methods.strip() for run in runs)),
        units=" or ".join(dict.fromkeys(run.measure.unit.label for run in runs)),
        has_ranks=any("feminine_ranks" in part for run in runs for part in run.templates.values()),
        citations=_citations(runs),
        version=__version__,
        live=live,
        live_script=Markup((_HERE / "live.js").read_text(encoding="utf-8")) if live else "",
        **page_assets(),
    )


def load_template(path: Path) -> Template:
    """A jinja2 template that escapes all data and shows their invisible characters."""
    environment = Environment(
        loader=FileSystemLoader(path.parent),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: printable(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"shown": format_number, "quoted": partial(quote, safe=","), "digest": _digest}
    return environment.get_template(path.name)


def page_assets() -> dict[str, str]:
    """Style and script of all pages, with their hashes for the content security policy."""
    light, dark = (f"--ground:{GROUND[theme]};{css_variables(theme)}" for theme in (0, 1))
    style = f":root{{{light}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n" + (
        _HERE / "page.css"
    ).read_text(encoding="utf-8")
    script = (_HERE / "page.js").read_text(encoding="utf-8")
    return {
        "style": Markup(style),
        "style_hash": _digest(style),
        "script": Markup(script),
        "script_hash": _digest(script),
    }


def _digest(text: str) -> str:
    """The hash that lets a policy allow exactly this text."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _heading(runs: Sequence[LabelledRun]) -> tuple[str, str]:
    """The heading of the page and the line below it."""
    models = list(dict.fromkeys(run.model for run in runs))
    configs = list(dict.fromkeys(run.config for run in runs))
    if not runs:
        return "Report", ""
    heading = short_name(models[0]) if len(models) == 1 else f"{len(models)} models"
    about = ", ".join(configs) if len(configs) <= 4 else f"{len(configs)} configs"
    dates = sorted(run.run.manifest.finished[:10] for run in runs)
    when = f"on {dates[0]}" if dates[0] == dates[-1] else f"from {dates[0]} to {dates[-1]}"
    count = f"{len(runs)} runs: " if len(runs) > 1 else ""
    names = f"{', '.join(models)}; " if 1 < len(models) <= 4 else ""
    return heading, f"{count}{names}{about}, measured {when} with gest-dataset {__version__}"


def _run_facts(run: LabelledRun, path: Path) -> dict[str, Any]:
    """One run for the section about what was measured."""
    known, manifest = run.facts, run.run.manifest
    counts = {name: known.get(name) for name in ("samples", "asked", "scored", "known")}
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
        "counts": ", ".join(f"{format_number(n)} {name}" for name, n in counts.items() if n is not None),
        "device": ", ".join(
            str(known[name]) for name in ("device", "dtype", "quantization") if known.get(name)
        ),
        "started": manifest.started,
        "finished": manifest.finished,
        "notes": "; ".join(known.get("notes") or []),
    }
    links = []
    for name in (MANIFEST, RESULT, manifest.table):
        relative = os.path.relpath((run.run.path / name).resolve(), path.resolve().parent)
        links.append((name, quote(os.fsencode(Path(relative).as_posix()))))
    reasons = known.get("skipped") or known.get("problems") or {}
    examples = known.get("examples") or {}
    return {
        "label": run.label,
        "facts": [
            (name, format_number(value) if isinstance(value, int) else value)
            for name, value in facts.items()
            if value
        ],
        "signature": manifest.signature,
        "command": shlex.join(manifest.command),
        "files": links,
        "skipped": [
            (reason, number, examples.get(reason, []))
            for reason, number in sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
        ],
    }


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _citations(runs: Sequence[LabelledRun]) -> list[str]:
    """The BibTeX entries of the measures and of the data, each once."""
    entries: dict[str, None] = {}
    for run in runs:
        data = [CONFIGS[run.config].family] if run.config in CONFIGS else []
        for family in (*run.measure.families, *data):
            entries |= dict.fromkeys(family.citation.split("\n\n"))
    return list(entries)
