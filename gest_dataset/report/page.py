"""The report: one self-contained HTML file about one or more runs.

The page loads nothing, and its content security policy allows only its own style and script. All data are
escaped, with invisible characters shown as escapes.
"""

import base64
import hashlib
import os
import shlex
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from gest_dataset.builders import CONFIGS
from gest_dataset.display import printable
from gest_dataset.errors import ConfigError
from gest_dataset.measures.formatting import TOY_NOTE, format_number
from gest_dataset.progress import log_time
from gest_dataset.report.explorer.explorer import CHANCE, explorer_of
from gest_dataset.report.figure_files import DEFAULT_FORMATS, FORMATS, write_figures
from gest_dataset.report.labels import LabelledRun, label_runs, language_name, short_name, verdict_of
from gest_dataset.report.panel import Panel, inline_svg
from gest_dataset.report.panels import panels_of
from gest_dataset.report.reliability import reliability_tables
from gest_dataset.report.style import GROUND, css_variables
from gest_dataset.runs.folder import Run, find_runs
from gest_dataset.runs.manifest import MANIFEST, RESULT
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.storage import write_file
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
    unknown = [name for name in formats if name not in FORMATS]
    if figures is not None and (unknown or not formats):
        listed = ", ".join(map(repr, unknown)) or "none given"
        raise ConfigError(f"Unknown figure format: {listed}. Choose from {', '.join(FORMATS)}.")
    runs = find_runs(paths_or_runs)
    with log_time(f"Report of {len(runs):,} runs"):
        write_report(runs, Path(output))
        if figures is not None:
            write_figures(label_runs(runs), Path(figures), formats)
    return Path(output)


def write_report(
    runs: Sequence[Run], path: Path, panels: Sequence[Panel] = (), notes: Sequence[str] = ()
) -> Path:
    """Write the page of some runs, with further panels before theirs and paragraphs of notes at its top.

    Its links are relative to `path`.
    """
    if not (runs or panels):
        raise ConfigError("A report needs one run or more.")
    labelled = label_runs(runs)
    with warnings.catch_warnings():  # browsers have more letters than matplotlib's font
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        drawn = [
            (panel, inline_svg(panel.figure, panel.name, panel.title, panel.alt))
            for panel in (*panels, *panels_of(labelled))
        ]
    verdicts = [verdict_of(run) for run in labelled]
    families = [family for run in labelled for family in run.measure.families]
    families += [CONFIGS[run.config].family for run in labelled if run.config in CONFIGS]
    text = load_template(_HERE / "page.html.jinja").render(
        runs=labelled,
        models=list(dict.fromkeys(run.model for run in labelled)),
        configs=list(dict.fromkeys(run.config for run in labelled)),
        notes=notes,
        toy_warning=TOY_NOTE,
        verdicts=verdicts,
        reliability=reliability_tables(labelled),
        panels=drawn,
        max_rows=_MAX_TABLE_ROWS,
        explorer=explorer_of(labelled, verdicts) if runs else None,
        chance=CHANCE,
        stereotypes=STEREOTYPES,
        links=partial(_links, page=path),
        citations=list(dict.fromkeys(entry for one in families for entry in one.citation.split("\n\n"))),
        version=__version__,
        **page_assets(),
    )
    write_file(path, text)
    return path


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
    environment.filters |= {
        "shown": format_number,
        "quoted": partial(quote, safe=","),
        "digest": _digest,
        "short": short_name,
        "language": language_name,
        "command": shlex.join,
    }
    return environment.get_template(path.name)


def page_assets() -> dict[str, str]:
    """Style and script of all pages, with their hashes for the content security policy."""
    light, dark = (f"--ground:{GROUND[theme]};{css_variables(theme)}" for theme in (0, 1))
    variables = f":root{{{light}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
    style = variables + (_HERE / "page.css").read_text(encoding="utf-8")
    script = (_HERE / "page.js").read_text(encoding="utf-8")
    texts = {"style": Markup(style), "script": Markup(script)}
    return texts | {"style_hash": _digest(style), "script_hash": _digest(script)}


def _digest(text: str) -> str:
    """The hash that lets a policy allow exactly this text."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _links(run: LabelledRun, page: Path) -> dict[str, str]:
    """The files of a run, with their addresses relative to the page."""
    links = {}
    for name in (MANIFEST, RESULT, run.run.manifest.table):
        relative = os.path.relpath((run.run.path / name).resolve(), page.resolve().parent)
        links[name] = quote(os.fsencode(Path(relative).as_posix()))
    return links
