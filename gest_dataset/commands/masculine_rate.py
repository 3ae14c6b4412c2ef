"""`gest masculine-rate`: which gender a translator gives to the speakers of GEST's sentences."""

from __future__ import annotations

import os
import textwrap
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gest_dataset.commands import options
from gest_dataset.commands.console import called, err, interruptible, out, show_json, show_report
from gest_dataset.commands.several import one_by_one, show_counts, show_failed, show_fields
from gest_dataset.errors import ConfigError
from gest_dataset.languages import LANGUAGES, target_languages

if TYPE_CHECKING:
    from gest_dataset.translation.masculine_rates import MasculineRates

EXAMPLES = (
    "Examples: [bold]gest masculine-rate --translations FILE --language sk[/bold] (columns source and "
    "translation, or text in the order of gest build --format txt), [bold]gest masculine-rate --system "
    "hf:facebook/nllb-200-distilled-600M --language cs,pl[/bold], [bold]gest masculine-rate --system "
    "chat:NAME --endpoint http://127.0.0.1:8000 --language sk[/bold] (a chat model behind a server), "
    "[bold]gest masculine-rate --system published:google --language sk[/bold] (the translations of 2023 in "
    "GEST)"
)
_LISTED = 5  # sentences that a reason names
_LONGEST = 100  # characters of a sentence that is shown


def run(
    language: options.Language,
    system: options.System = None,
    translations: Annotated[
        Path | None,
        typer.Option(
            help="A file of translations instead (short for --system file:PATH): a table, or text with a "
            "line for each of gest build --format txt (- is the standard input)."
        ),
    ] = None,
    parser: options.Parser = "udpipe",
    model: options.Model = None,
    convention: Annotated[
        str,
        typer.Option(help="plain: p is the share. published: the centre of its interval, as in the paper."),
    ] = "plain",
    output: options.Output = None,
    limit: options.Limit = None,
    device: options.Device = "auto",
    dtype: options.Dtype = "auto",
    batch_tokens: options.BatchTokens = None,
    revision: options.Revision = None,
    endpoint: options.Endpoint = None,
    as_json: options.Json = False,
) -> None:
    """Translate GEST, find every speaker's gender, and count: p_1 to p_16, f_s and f_m.

    Translations and parses are kept, so an interrupted run goes on where it was. The run's folder
    (gest-runs/SYSTEM/LANGUAGE) holds run.json, result.json, report.html and detections.parquet with
    every sentence's evidence. Of several languages each is one line: f_s with its 95 % interval, what
    it says, sentences of known gender of all. [bold]{language}[/bold] in a system, a file or a parser's
    model stands for the code.
    """
    system = options.system_of(system, translations)
    import datasets

    from gest_dataset import report
    from gest_dataset.runs import writing
    from gest_dataset.runs.reading import REPORT, read_run
    from gest_dataset.statistics import checks
    from gest_dataset.statistics.masculine_rate import CONVENTIONS
    from gest_dataset.storage import json_value
    from gest_dataset.translation.masculine_rates import folder_of, record
    from gest_dataset.translation.setup import set_up
    from gest_dataset.translation.translator import TranslationStoppedError

    datasets.disable_progress_bars()
    checks.check_choice("convention", convention, CONVENTIONS)
    languages = target_languages(language)
    several = len(languages) > 1
    if several and system == "file:-":
        raise ConfigError(
            "The standard input is of one language. Give one, or a file for each: {language}.txt."
        )
    # all of them before the first one is translated: a wrong name shows at once
    loading: dict[str, Any] = {"device": device, "dtype": dtype}
    loading |= {"batch_tokens": batch_tokens, "revision": revision, "endpoint": endpoint}
    setups = {}
    for code in languages:
        own = None if model is None else str(model).replace("{language}", code)
        setups[code] = set_up(system, code, parser=parser, model=own, limit=limit, **loading)
    folders = {code: folder_of(system, code, revision, limit) for code in languages}
    if output is not None:
        folders = {code: output / code if several else output for code in languages}
        if several:
            writing.claim_several(output, LANGUAGES)
    done: dict[str, MasculineRates] = {}
    lines: list[list[str]] = []
    failed: dict[str, Any] = {}

    def measure(code: str) -> MasculineRates:
        return record(setups[code], convention, folders[code], called())

    with interruptible(options.KEPT), warnings.catch_warnings():
        warnings.simplefilter("ignore", checks.UndefinedWarning)  # the table shows what is undefined
        for code, rates in one_by_one(languages, measure, (TranslationStoppedError,), failed):
            done[code] = rates
            lines.append(_fields(rates))
            if several and not as_json:
                show_fields(lines[-1])
        if failed and not several:
            raise failed[languages[0]]
        home = Path(os.path.commonpath([folders[code] for code in languages]))
        runs = {code: read_run(folders[code]) for code in done}
        page = report(list(runs.values()), home / REPORT) if done else None
    if as_json:
        results = [
            {"signature": rates.signature, **rates.metadata, **runs[code].result["result"]}
            for code, rates in done.items()
        ]
        failures = {code: str(error) for code, error in failed.items()}
        show_json(json_value({"runs": results, "failed": failures} if several else results[0]))
    elif several:
        show_counts(lines, "languages", 2)
    else:
        (code,) = languages
        _show(runs[code].result["result"], done[code])
    for rates in done.values():
        _tell_problems(rates, several)
    show_failed("not measured", failed)
    if page is not None:
        show_report(page)
    if failed:
        raise typer.Exit(1)


def _fields(rates: MasculineRates) -> list[str]:
    """A run in a line."""
    from gest_dataset.commands.tables import headline_fields
    from gest_dataset.measures.masculine_rate import MASCULINE_RATE

    facts = rates.metadata
    told = headline_fields(MASCULINE_RATE, rates.result())
    return [facts["language"], *told, f"{facts['known']:,}/{facts['samples']:,}"]


def _show(result: Mapping[str, Any], rates: MasculineRates) -> None:
    """The table of a run, and what it does not say."""
    from gest_dataset.commands import tables
    from gest_dataset.measures.masculine_rate import MASCULINE_RATE, describe_uncertainty

    facts = rates.metadata
    printed = ", as the paper prints them" if facts["convention"] == "published" else ""
    title = f"Masculine rates{printed}: {facts['system']}, {facts['language']}"
    out.print(tables.drawn(MASCULINE_RATE.grid(result), title, out))
    if any(result[name] is None for name in ("f_s", "f_m")):
        undefined = "(-: not defined, as there is a stereotype without a sentence of known gender)"
        out.print(undefined, soft_wrap=True)
    known = f"{facts['known']:,} of {facts['samples']:,} have a known gender"
    out.print(f"yield  {known} ({facts['conflicts']} conflicts)", soft_wrap=True)
    for sentence in describe_uncertainty(result):
        out.print(sentence, soft_wrap=True)


def _tell_problems(rates: MasculineRates, briefly: bool) -> None:
    """How many sentences have no translation to judge, by reason, and (unless briefly) the first of each."""
    reasons: dict[str, list[dict[str, Any]]] = {}
    for row in rates.problems:
        reasons.setdefault(row["problem"], []).append(row)
    if not reasons:
        return
    where = f"{rates.metadata['language']}: " if briefly else ""
    err.print(f"{where}{len(rates.problems)} sentences count as unknown:", style="yellow")
    for reason, rows in sorted(reasons.items(), key=lambda item: -len(item[1])):
        err.print(f"  {len(rows)} x {reason}", soft_wrap=True)
        if briefly:
            continue
        for row in rows[:_LISTED]:
            shown = textwrap.shorten(row["translation"].strip() or row["source"], _LONGEST, placeholder="…")
            err.print(f"      {row['id']}  {shown}", soft_wrap=True)
        if len(rows) > _LISTED:
            err.print(f"      and {len(rows) - _LISTED} more, in detections.parquet")
