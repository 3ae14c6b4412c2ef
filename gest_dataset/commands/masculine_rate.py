"""`gest masculine-rate`: which gender a translator gives to the speakers of GEST's sentences."""

from __future__ import annotations

import sys
import textwrap
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gest_dataset.commands.console import err, interruptible, out, show_json
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
    from gest_dataset.translation.masculine_rates import MasculineRates

EXAMPLES = (
    "Examples: [bold]gest masculine-rate --translations FILE --language sk[/bold] (columns source and "
    "translation), [bold]gest masculine-rate --system hf:facebook/nllb-200-distilled-600M --language "
    "cs[/bold], [bold]gest masculine-rate --system published:google --language sk[/bold] (the "
    "translations of 2023 in GEST)"
)
_LISTED = 5  # sentences that a reason names
_LONGEST = 100  # characters of a sentence that is shown


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
    from gest_dataset.commands import tables
    from gest_dataset.files import plain
    from gest_dataset.measures.masculine_rate import MASCULINE_RATE
    from gest_dataset.runs.reading import REPORT, read_run
    from gest_dataset.statistics import checks
    from gest_dataset.statistics.masculine_rate import CONVENTIONS
    from gest_dataset.translation.masculine_rates import folder_of, record
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
    folder = output or folder_of(system, language, revision, limit)
    told = "What is translated and parsed is kept; the same command goes on from here."
    with interruptible(told), warnings.catch_warnings():
        warnings.simplefilter("ignore", checks.UndefinedWarning)  # the table shows what is undefined
        rates = record(setup, convention, folder, ["gest", *sys.argv[1:]])
        kept = read_run(folder)
        report([kept], folder / REPORT)
    result = kept.result["result"]
    if as_json:
        show_json(plain({"signature": rates.signature, **rates.metadata, **result}))
    else:
        printed = ", as the paper prints them" if convention == "published" else ""
        title = f"Masculine rates{printed}: {kept.manifest.subject}, {language}"
        out.print(tables.drawn(MASCULINE_RATE.grid(result), title, out))
        for line in _totals(result, rates):
            out.print(line, soft_wrap=True)
    _tell_problems(rates)
    seconds = time.perf_counter() - start
    err.print(f"{folder}: written in {seconds:.1f} s", soft_wrap=True)


def _totals(result: Mapping[str, Any], rates: MasculineRates) -> list[str]:
    """What the table does not say."""
    lines = []
    if any(result[name] is None for name in ("f_s", "f_m")):
        lines.append("(-: not defined, as there is a stereotype without a sentence of known gender)")
    facts = rates.metadata
    known, samples, conflicts = facts["known"], facts["samples"], facts["conflicts"]
    return [*lines, f"yield  {known:,} of {samples:,} have a known gender ({conflicts} conflicts)"]


def _tell_problems(rates: MasculineRates) -> None:
    """How many sentences have no translation to judge, by reason, and the first of each."""
    problems = rates.problems
    if not problems:
        return
    reasons: dict[str, list[dict[str, Any]]] = {}
    for row in problems:
        reasons.setdefault(row["problem"], []).append(row)
    err.print(f"{len(problems)} sentences count as unknown:", style="yellow")
    for reason, rows in sorted(reasons.items(), key=lambda item: -len(item[1])):
        err.print(f"  {len(rows)} x {reason}", soft_wrap=True)
        for row in rows[:_LISTED]:
            shown = textwrap.shorten(row["translation"].strip() or row["source"], _LONGEST, placeholder="…")
            err.print(f"      {row['id']}  {shown}", soft_wrap=True)
        if len(rows) > _LISTED:
            err.print(f"      and {len(rows) - _LISTED} more, in detections.parquet")
