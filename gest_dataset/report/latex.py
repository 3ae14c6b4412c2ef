"""LaTeX tables of runs (package `booktabs`): their headlines with intervals, and the numbers of each run.

Names are escaped. Letters that are not Latin need an engine that reads Unicode (LuaLaTeX, XeLaTeX).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gest_dataset.display import one_line
from gest_dataset.measures.formatting import format_number
from gest_dataset.measures.measure import TOO_FEW_SAMPLES
from gest_dataset.report.labels import LabelledRun, short_name
from gest_dataset.report.verdict import UNKNOWN, verdict_of

_HEAD = "% Written by gest-dataset. In the preamble: \\usepackage{booktabs}\n"
# Special characters of LaTeX, and characters that an 8-bit font may lack
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
_LIGATURE = re.compile(r"([-,])(?=\1)")  # two of them become one character


def escape(text: str) -> str:
    r"""A text as LaTeX prints it literally.

    >>> print(escape(r"50 % of {a_b}\input--"))
    50 \% of \{a\_b\}\textbackslash{}input-{}-
    """
    return _LIGATURE.sub(r"\1{}", one_line(text).translate(_ESCAPES))


def results_table(runs: Sequence[LabelledRun]) -> str:
    """A table for each measure: the headline of each run with its interval and verdict."""
    tables = []
    models = _model_names(runs)
    for name in dict.fromkeys(run.measure.name for run in runs):
        verdicts = [verdict_of(run) for run in runs if run.measure.name == name]
        symbols = " or ".join(dict.fromkeys(one.headline.symbol for one in verdicts))
        rows = []
        for one in verdicts:
            unknown = one.verdict == UNKNOWN
            interval, verdict = ("–", TOO_FEW_SAMPLES.lower()) if unknown else (one.interval, one.verdict)
            value = format_number(one.estimate.value)
            rows.append([models[one.run.model], one.run.config, value, interval, verdict])
        head = verdicts[0].headline
        caption = (
            f"{head.label[:1].upper()}{head.label[1:]}, {symbols}, with its 95 % interval. Without an effect "
            f"it is {format_number(head.null)}."
        )
        headings = ["Model", "Config", symbols, "95 %", "Verdict"]
        tables.append(_table(caption, f"tab:gest-{name}", "llrrl", headings, rows))
    return _HEAD + "\n".join(tables)


def details_tables(runs: Sequence[LabelledRun]) -> str:
    """The numbers of each run, in a table for each of its templates."""
    models = _model_names(runs)
    return _HEAD + "\n".join(table for run in runs for table in _run_tables(run, models[run.model]))


def _model_names(runs: Sequence[LabelledRun]) -> dict[str, str]:
    """The short names of the models; the full ones if two would be the same."""
    names = {run.model: short_name(run.model) for run in runs}
    return names if len({*names.values()}) == len(names) else {name: name for name in names}


def _run_tables(run: LabelledRun, model: str) -> Iterator[str]:
    for template, part in run.templates.items():
        grid = run.measure.grid(part)
        several = len(run.templates) > 1
        where = f", template {template}" if several else ""
        label = f"tab:gest-run-{run.number + 1}{f'-{template}' if several else ''}"
        has_counts = any(line.count is not None for line in grid.lines)
        headings = ["", *(text for name in grid.headings for text in (name, "95 %")), *["n"] * has_counts]
        rows = []
        for line in grid.lines:
            cells = [text for estimate in line.estimates for text in estimate.texts]
            count = "" if line.count is None else format_number(line.count)
            rows.append([line.name.strip(), *cells, *[count] * has_counts])
        columns = "l" + "rr" * len(grid.headings) + "r" * has_counts
        yield _table(f"{model} on {run.config}{where}, with 95 % intervals.", label, columns, headings, rows)


def _table(
    caption: str, label: str, columns: str, headings: Sequence[str], rows: Sequence[Sequence[str]]
) -> str:
    def line(cells: Sequence[str]) -> str:
        return f"{' & '.join(map(escape, cells))} \\\\"

    return "\n".join(
        [
            r"\begin{table}[tbp]",
            r"\centering",
            rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
            r"\toprule",
            line(headings),
            r"\midrule",
            *map(line, rows),
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{escape(caption)}}}",
            rf"\label{{{label}}}",
            r"\end{table}",
            "",
        ]
    )
