"""A LaTeX table of the headlines of runs (package `booktabs`).

Names are escaped. Letters that are not Latin need an engine that reads Unicode (LuaLaTeX, XeLaTeX).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gest_dataset.display import one_line
from gest_dataset.measures.formatting import format_number
from gest_dataset.measures.measure import TOO_FEW_SAMPLES
from gest_dataset.report.labels import LabelledRun, short_name
from gest_dataset.report.verdict import UNKNOWN, verdict_of

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
        "…": r"\ldots{}",
        "·": r"\textperiodcentered{}",
    }
)
_LIGATURE = re.compile(r"([-,])(?=\1)")  # two of them become one character
_TABLE = r"""\begin{table}[tbp]
\centering
\begin{tabular}{@{}llrrl@{}}
\toprule
%s
\midrule
%s
\bottomrule
\end{tabular}
\caption{%s}
\label{tab:gest-%s}
\end{table}
"""


def escape(text: str) -> str:
    r"""A text as LaTeX prints it literally.

    >>> print(escape(r"50 % of {a_b}\input--"))
    50 \% of \{a\_b\}\textbackslash{}input-{}-
    """
    return _LIGATURE.sub(r"\1{}", one_line(text).translate(_ESCAPES))


def results_table(runs: Sequence[LabelledRun]) -> str:
    """A table for each measure: the headline of each run with its interval and verdict."""
    names = {run.model: short_name(run.model) for run in runs}
    if len({*names.values()}) < len(names):
        names = {name: name for name in names}
    tables = ["% Written by gest-dataset. In the preamble: \\usepackage{booktabs}"]
    for measure in dict.fromkeys(run.measure.name for run in runs):
        verdicts = [verdict_of(run) for run in runs if run.measure.name == measure]
        symbols = " or ".join(dict.fromkeys(one.headline.symbol for one in verdicts))
        rows = [["Model", "Config", symbols, "95 %", "Verdict"]]
        for one in verdicts:
            unknown = one.verdict == UNKNOWN
            interval, verdict = ("–", TOO_FEW_SAMPLES.lower()) if unknown else (one.interval, one.verdict)
            value = format_number(one.estimate.value)
            rows.append([names[one.run.model], one.run.config, value, interval, verdict])
        heading, *lines = (f"{' & '.join(map(escape, row))} \\\\" for row in rows)
        head = verdicts[0].headline
        caption = (
            f"{head.label[:1].upper()}{head.label[1:]}, {symbols}, with its 95 % interval. Without an effect "
            f"it is {format_number(head.null)}."
        )
        tables.append(_TABLE % (heading, "\n".join(lines), escape(caption), measure))
    return "\n".join(tables)
