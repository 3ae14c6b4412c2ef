"""`gest masculine-rate`: which gender a translator gives to the speakers of GEST's sentences."""

from __future__ import annotations

import math
import sys
import textwrap
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from gest_dataset.commands.console import err, out, show_json
from gest_dataset.commands.options import (
    BatchTokens,
    Device,
    Dtype,
    Limit,
    Model,
    Parser,
    Revision,
    System,
    Translations,
    system_of,
)

if TYPE_CHECKING:
    from gest_dataset.translation.masculine_rates import Detections

EXAMPLES = (
    "Examples: [bold]gest masculine-rate --translations FILE --language sk[/bold] (columns source and "
    "translation), [bold]gest masculine-rate --system hf:facebook/nllb-200-distilled-600M --language "
    "cs[/bold], [bold]gest masculine-rate --system published:google --language sk[/bold] (the "
    "translations of 2023 in GEST)"
)
_LISTED = 5  # sentences that a reason names
_LONGEST = 100  # characters of a sentence that is shown
_WIDTH = 20  # of a bar


def run(
    language: Annotated[str, typer.Option(help="The language that was translated to, such as sk.")],
    system: System = None,
    translations: Translations = None,
    parser: Parser = "udpipe",
    model: Model = None,
    convention: Annotated[
        str,
        typer.Option(help="plain: p is the share. published: the centre of its interval, as in the paper."),
    ] = "plain",
    output: Annotated[
        Path | None, typer.Option(help="The run's directory (default: gest-runs/SYSTEM/LANGUAGE).")
    ] = None,
    limit: Limit = None,
    device: Device = "auto",
    dtype: Dtype = "auto",
    batch_tokens: BatchTokens = None,
    revision: Revision = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Translate GEST, find every speaker's gender, and count: p_1 to p_16, f_s and f_m.

    Translations and parses are kept, so an interrupted run goes on where it was. The run's directory
    holds run.json, result.json, report.html and detections.parquet with every sentence's evidence.
    """
    start = time.perf_counter()
    system = system_of(system, translations)
    import datasets

    from gest_dataset import report
    from gest_dataset.runs import reading
    from gest_dataset.statistics import checks
    from gest_dataset.statistics.masculine_rate import CONVENTIONS
    from gest_dataset.translation import masculine_rates
    from gest_dataset.translation.errors import TranslationError
    from gest_dataset.translation.setup import set_up

    datasets.disable_progress_bars()
    checks.choice("convention", convention, CONVENTIONS)
    setup = set_up(
        system,
        language,
        parser=parser,
        model=model,
        limit=limit,
        device=device,
        dtype=dtype,
        batch_tokens=batch_tokens,
        revision=revision,
    )
    folder = output or masculine_rates.default_folder(setup, revision)
    command = ["gest", *sys.argv[1:]]
    try:
        with masculine_rates.writing(folder, setup, convention, command) as write:
            found = masculine_rates.measure(setup)
            if len(found.problems) == len(found.table):
                _tell_problems(found)
                raise TranslationError("Not one sentence has a translation to judge; no result is written.")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", checks.UndefinedWarning)  # the table shows what is undefined
                result = found.result(convention)
            write(found, result)
        report.write([reading.read(folder)], folder / reading.REPORT)
    except KeyboardInterrupt:
        err.print("Interrupted. What is translated and parsed is kept; the same command goes on from here.")
        raise typer.Exit(130) from None
    if as_json:
        told = {"signature": setup.signature(convention), **found.metadata, **result}
        show_json(reading.plain(told))
    else:
        printed = ", as the paper prints them" if convention == "published" else ""
        out.print(_table(result, f"Masculine rates{printed}: {setup.settings['system']}, {language}"))
        for line in _totals(result, found):
            out.print(line, markup=False, highlight=False, soft_wrap=True)
    _tell_problems(found)
    seconds = time.perf_counter() - start
    err.print(f"{folder}: written in {seconds:.1f} s", highlight=False, soft_wrap=True)


def _table(result: Mapping[str, Any], title: str) -> Table:
    from gest_dataset.stereotypes import GENDERS, STEREOTYPES

    table = Table(title=title, box=SIMPLE_HEAD)
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("stereotype")
    for name in ("p", "95 %", "n"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("0" + "masculine".center(_WIDTH - 2) + "1", no_wrap=True)
    for gender, mean in zip(GENDERS, ("p_f", "p_m"), strict=True):
        for place, stereotype in enumerate(STEREOTYPES.values()):
            if stereotype.gender == gender:
                p, low, high, n = (result[name][place] for name in ("p", "p_low", "p_high", "n"))
                table.add_row(str(stereotype.id), stereotype.name, *_cells(p, low, high, str(n)))
        values = (result[mean], result[f"{mean}_low"], result[f"{mean}_high"])
        table.add_row(mean, f"mean of the {gender} stereotypes", *_cells(*values, ""), end_section=True)
    return table


def _cells(p: float, low: float, high: float, n: str) -> tuple[str, str, str, Text]:
    if math.isnan(p):
        return "-", "-", n, Text("")
    return f"{p:.3f}", f"{low:.3f}-{high:.3f}", n, Text(bar(p, low, high))


def bar(p: float, low: float, high: float, width: int = _WIDTH) -> str:
    """An interval and its value on a line from 0 to 1.

    >>> bar(0.5, 0.2, 0.8, width=11)
    '··━━━●━━━··'
    """
    first, place, last = (round(value * (width - 1)) for value in (low, p, high))
    line = ["━" if first <= cell <= last else "·" for cell in range(width)]
    line[place] = "●"
    return "".join(line)


def _totals(result: Mapping[str, Any], found: Detections) -> list[str]:
    told = {
        "f_s": "stereotype rate, p_m - p_f: 0 none, 1 complete",
        "f_m": "global masculine rate, (p_m + p_f) / 2",
    }
    lines = [f"{name}  {_estimate(result, name)}  {meaning}" for name, meaning in told.items()]
    if any(math.isnan(result[name]) for name in told):
        lines.append("(-: not defined, as there is a stereotype without a sentence of known gender)")
    facts = found.metadata
    known, samples, conflicts = facts["known"], facts["samples"], facts["conflicts"]
    return [*lines, f"yield  {known:,} of {samples:,} have a known gender ({conflicts} conflicts)"]


def _estimate(result: Mapping[str, Any], name: str) -> str:
    if math.isnan(result[name]):
        return "-"
    return f"{result[name]:.3f}  [{result[f'{name}_low']:.3f}, {result[f'{name}_high']:.3f}]"


def _tell_problems(found: Detections) -> None:
    """How many sentences have no translation to judge, by reason, and the first of each."""
    problems = found.problems
    if not problems:
        return
    reasons: dict[str, list[dict[str, Any]]] = {}
    for row in problems:
        reasons.setdefault(row["problem"], []).append(row)
    err.print(f"{len(problems)} sentences count as unknown:", style="yellow", highlight=False)
    for reason, rows in sorted(reasons.items(), key=lambda item: -len(item[1])):
        err.print(f"  {len(rows)} x {reason}", markup=False, highlight=False, soft_wrap=True)
        for row in rows[:_LISTED]:
            shown = textwrap.shorten(row["translation"].strip() or row["source"], _LONGEST, placeholder="…")
            err.print(f"      {row['id']}  {shown}", markup=False, highlight=False, soft_wrap=True)
        if len(rows) > _LISTED:
            err.print(f"      and {len(rows) - _LISTED} more, in detections.parquet", highlight=False)
