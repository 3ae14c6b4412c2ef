"""The report: one self-contained HTML file about one or more runs, and its figures as files for papers.

The page loads nothing, and its content security policy allows only its own style and script. All data are
escaped, with invisible characters shown as escapes. docs/report.md lists the files of a folder of figures.
Letters that are not Latin need an engine of LaTeX that reads Unicode (LuaLaTeX, XeLaTeX).
"""

import base64
import hashlib
import os
import re
import shlex
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup
from matplotlib.figure import Figure

from gest_dataset.builders import CONFIGS
from gest_dataset.display import one_line, printable
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.measures.formatting import TOY_NOTE, format_number
from gest_dataset.progress import log_time
from gest_dataset.published.released import Released
from gest_dataset.report.explorer.explorer import CHANCE, explorer_of
from gest_dataset.report.figures import fit_figure
from gest_dataset.report.labels import LabelledRun, label_runs, language_name, short_name, verdict_of
from gest_dataset.report.panel import Panel, file_bytes, inline_svg
from gest_dataset.report.panels import panels_of
from gest_dataset.report.reliability import reliability_tables
from gest_dataset.report.style import COLUMNS, GROUND, LATEX, LIGHT, css_variables, use_layout
from gest_dataset.runs.folder import CACHE, Run, RunResult, Runs, find_runs, new_manifest
from gest_dataset.runs.manifest import MANIFEST, RESULT, SCORES
from gest_dataset.runs.population import Populations, populations_of
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.storage import check_output_file, json_value, write_file
from gest_dataset.version import __version__

_HERE = Path(__file__).parent
_BADGE_COLOURS = {"shown": "series-2", "reversed": "series-4", "negligible": "series-3"}
_MAX_TABLE_ROWS = 200  # of a figure's table; the CSV has all rows
# Special characters of LaTeX, and characters that an 8-bit font may lack
_ESCAPES = str.maketrans(
    {letter: rf"\{letter}" for letter in "&%$#_{}"}
    | {letter: rf"\{command}{{}}" for letter, command in LATEX.items()}
    | {"−": r"\ensuremath{-}", "∞": r"\ensuremath{\infty}"}
)
_LIGATURE = re.compile(r"([-,])(?=\1)")  # two of them become one character


def report(
    paths_or_runs: Runs,
    output: str | Path,
    figures: str | Path | None = None,
    released: str | Path | None = None,
) -> Path:
    """Write the report of some runs as one HTML page; `gest_dataset.report` calls this function.

    Paths are runs or folders with runs below them. `figures` is a folder for the figures as files for papers.
    `released` sets the runs on `en` beside the released models: a folder of scores, or "pinned".
    """
    runs = find_runs(paths_or_runs)
    with log_time(f"Report of {len(runs):,} runs"):
        populations = populations_of(runs, Released(released)) if released is not None else {}
        write_report(runs, Path(output), populations=populations)
        if figures is not None:
            write_figures(label_runs(runs), Path(figures), populations)
    return Path(output)


def write_report(
    runs: Sequence[Run], path: Path, notes: Sequence[str] = (), populations: Populations | None = None
) -> Path:
    """Write the page of some runs, with paragraphs of notes at its top; its links are relative to `path`."""
    if not runs:
        raise ConfigError("A report needs one run or more.")
    names = (MANIFEST, RESULT, CACHE)
    check_output_file(path, *(run.path / name for run in runs for name in (*names, run.manifest.table)))
    labelled = label_runs(runs)
    with warnings.catch_warnings():  # browsers have more letters than matplotlib's font
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        drawn = [
            (panel, inline_svg(panel.figure, panel.name, panel.title, panel.alt))
            for panel in panels_of(labelled, populations)
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
        explorer=explorer_of(labelled, verdicts),
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


def write_badge(runs: Sequence[Run], path: Path) -> None:
    """Write the headline and verdict of one run as an SVG badge."""
    if len(runs) != 1:
        raise ConfigError(f"A badge shows one run, and here are {len(runs)}. Give the run's own folder.")
    verdict = verdict_of(label_runs(runs)[0])
    value = f"{verdict.headline.symbol} {format_number(verdict.estimate.value)}, {verdict.text}"
    texts = [f"GEST {verdict.run.config}", value]
    colour = LIGHT[_BADGE_COLOURS.get(verdict.verdict, "quiet")]
    title = f"{verdict.run.model}: {value}, 95 % interval {verdict.interval}"
    widths = [round(6.2 * len(text)) + 12 for text in texts]
    template = load_template(_HERE / "badge.svg.jinja")
    write_file(path, template.render(texts=texts, widths=widths, colour=colour, title=title))


# --- figures as files


def write_figures(runs: Sequence[LabelledRun], folder: Path, populations: Populations | None = None) -> None:
    """Write all figures of the runs into a folder; equal runs give equal bytes."""
    for layout in COLUMNS:
        with use_layout(layout):
            panels = panels_of(runs, populations)
        for panel in panels:
            stem = f"{panel.name}-{layout.name}"
            fit_figure(panel.figure)
            write_file(folder / f"{stem}.txt", printable(f"{panel.title}\n\n{panel.caption}\n"))
            for kind in ("pdf", "svg"):
                content = file_bytes(panel.figure, kind, panel.title, panel.caption)
                write_file(folder / f"{stem}.{kind}", content)
            write_file(folder / f"{panel.name}.csv", panel.csv)
    write_file(folder / "results.tex", results_table(runs))


def results_table(runs: Sequence[LabelledRun]) -> str:
    """A LaTeX table for each measure: the headline of each run with its interval and verdict."""
    names = {run.model: short_name(run.model) for run in runs}
    if len({*names.values()}) < len(names):
        names = {name: name for name in names}
    verdicts = [verdict_of(run) for run in runs]
    measures = dict.fromkeys(run.measure.name for run in runs)
    groups = [[one for one in verdicts if one.run.measure.name == name] for name in measures]
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True)
    environment.filters |= {"tex": escape, "shown": format_number}
    template = environment.from_string((_HERE / "results.tex.jinja").read_text(encoding="utf-8"))
    return template.render(groups=groups, names=names)


def escape(text: str) -> str:
    r"""A text as LaTeX prints it literally.

    >>> print(escape(r"50 % of {a_b}\input--"))
    50 \% of \{a\_b\}\textbackslash{}input-{}-
    """
    return _LIGATURE.sub(r"\1{}", one_line(text).translate(_ESCAPES))


# --- results in notebooks


def notebook_html(found: RunResult) -> str:
    """The verdict, a figure and the numbers of a result (`_repr_html_`)."""
    run = _as_run(found)
    verdict = verdict_of(run)
    panel = _main_panel(run)
    figure = ""
    if panel is not None:
        # Different results in one notebook need different ids
        digest = hashlib.sha256(repr((found.signature, run.run.result)).encode()).hexdigest()[:12]
        figure = inline_svg(panel.figure, f"gest-{digest}", panel.title, panel.alt)
    return load_template(_HERE / "notebook.html.jinja").render(
        verdict=verdict,
        panel=panel,
        figure=Markup(figure),
        grids={number: run.measure.grid(part) for number, part in run.templates.items()},
        signature=found.signature,
        light=css_variables(0),
        dark=css_variables(1),
    )


def plot(found: RunResult) -> Figure:
    """The main figure of a result."""
    panel = _main_panel(_as_run(found))
    if panel is None:
        raise DataError("There are too few scored samples to draw a figure.")
    return panel.figure


def _main_panel(run: LabelledRun) -> Panel | None:
    """The panel of the 16 stereotypes, or the first one that the run has."""
    panels = panels_of([run])
    return next((panel for panel in panels if panel.name.startswith("stereotypes")), next(iter(panels), None))


def _as_run(result: RunResult) -> LabelledRun:
    """Wrap a result in memory as a run, so that the report's panels can draw it."""
    facts = result.metadata
    manifest = new_manifest(
        **{name: facts.get(name, "") for name in ("measure", "config", "language", "data_fingerprint")},
        model=facts.get("model") or facts["system"],
        table=SCORES,
        settings={},
        command=[],
        device=None,
    )
    content = {"result": json_value(result.result())}
    (run,) = label_runs([Run(Path(), replace(manifest, metadata=facts), result.table, content)])
    return run
