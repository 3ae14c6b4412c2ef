"""LaTeX tables of runs (package `booktabs`): their headlines with intervals, and the numbers of each run.

Names are text: what LaTeX would take for a command stands in escapes. A letter that is not Latin needs an
engine that reads Unicode (LuaLaTeX, XeLaTeX).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gest_dataset.display import one_line
from gest_dataset.measures.formatting import format_number
from gest_dataset.measures.grid import Grid
from gest_dataset.measures.measure import TOO_FEW_SAMPLES
from gest_dataset.report.measured import Measured, short
from gest_dataset.report.verdict import UNKNOWN, verdict

_HEAD = "% Written by gest-dataset. In the preamble: \\usepackage{booktabs}\n"
# What LaTeX has another meaning for; and ours that a font of 256 letters may lack
_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        **{letter: rf"\{letter}" for letter in "&%$#_{}"},
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
        "'": r"\textquotesingle{}",
        "`": r"\textasciigrave{}",
        "−": r"\ensuremath{-}",
        "∞": r"\ensuremath{\infty}",
        "–": r"\textendash{}",
        "’": r"\textquoteright{}",
        "…": r"\ldots{}",
        "·": r"\textperiodcentered{}",
    }
)
_JOINED = re.compile(r"([-,])(?=\1)")  # two of them become one sign


def escaped(text: str) -> str:
    r"""A text as LaTeX prints it.

    >>> print(escaped(r"50 % of {a_b}\input--"))
    50 \% of \{a\_b\}\textbackslash{}input-{}-
    """
    return _JOINED.sub(r"\1{}", one_line(text).translate(_ESCAPES))


def results(runs: Sequence[Measured]) -> str:
    """The headline of each run with its interval and what it says: a table for each measure."""
    tables = []
    models = _models(runs)
    for name in dict.fromkeys(run.measure.name for run in runs):
        told = [verdict(run) for run in runs if run.measure.name == name]
        symbols = " or ".join(dict.fromkeys(one.headline.symbol for one in told))
        rows = [
            [
                models[one.run.model],
                one.run.config,
                format_number(one.estimate.value),
                "–" if one.said == UNKNOWN else one.interval,
                TOO_FEW_SAMPLES.lower() if one.said == UNKNOWN else one.said,
            ]
            for one in told
        ]
        what = told[0].headline.label
        caption = (
            f"{what[:1].upper()}{what[1:]}, {symbols}, with its 95 % interval. Without an effect it is "
            f"{format_number(told[0].headline.null)}."
        )
        headings = ["Model", "Config", symbols, "95 %", "Verdict"]
        tables.append(_table(caption, f"tab:gest-{name}", "llrrl", [headings], rows))
    return _HEAD + "\n".join(tables)


def details(runs: Sequence[Measured]) -> str:
    """What the result of each run holds, of each template where there are several."""
    models = _models(runs)
    return _HEAD + "\n".join(table for run in runs for table in _of_run(run, models[run.model]))


def _models(runs: Sequence[Measured]) -> dict[str, str]:
    """The names of models without owner or folder, where these alone tell them apart."""
    names = {run.model: short(run.model) for run in runs}
    return names if len({*names.values()}) == len(names) else {name: name for name in names}


def _of_run(run: Measured, model: str) -> Iterator[str]:
    for template, part in run.templates.items():
        grid = run.measure.grid(part)
        where = f", template {template}" if len(run.templates) > 1 else ""
        caption = f"{model} on {run.config}{where}, with 95 % intervals."
        label = f"tab:gest-run-{run.number + 1}{f'-{template}' if where else ''}"
        counted = any(line.count is not None for line in grid.lines)
        headings = ["", *(text for name in grid.headings for text in (name, "95 %")), *(["n"] * counted)]
        columns = "l" + "rr" * len(grid.headings) + "r" * counted
        yield _table(caption, label, columns, [headings], list(_lines(grid, counted)))


def _lines(grid: Grid, counted: bool) -> Iterator[list[str]]:
    for line in grid.lines:
        cells = [text for estimate in line.estimates for text in estimate.texts]
        number = "" if line.count is None else format_number(line.count)
        yield [line.name.strip(), *cells, *([number] if counted else [])]


def _table(
    caption: str, label: str, columns: str, heads: Sequence[Sequence[str]], rows: Sequence[Sequence[str]]
) -> str:
    """A floating table; every cell is text."""

    def line(cells: Sequence[str]) -> str:
        return f"{' & '.join(map(escaped, cells))} \\\\"

    return "\n".join(
        [
            r"\begin{table}[tbp]",
            r"\centering",
            rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
            r"\toprule",
            *map(line, heads),
            r"\midrule",
            *map(line, rows),
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{escaped(caption)}}}",
            rf"\label{{{label}}}",
            r"\end{table}",
            "",
        ]
    )
