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
from gest_dataset.commands.console import command_line, err, out, show_json, show_report, silence_libraries
from gest_dataset.commands.several import by_reason, one_by_one, show_counts, show_failed, show_fields
from gest_dataset.errors import ConfigError
from gest_dataset.languages import LANGUAGES, target_languages
from gest_dataset.storage import json_value

if TYPE_CHECKING:
    from gest_dataset.translation.masculine_rates import MasculineRates

EXAMPLES = (
    "Examples: [bold]gest masculine-rate --translations FILE --language sk[/bold] (columns source and "
    "translation, or a text with a line for each sentence of gest build --config en --format txt), "
    "[bold]gest masculine-rate --system hf:facebook/nllb-200-distilled-600M --language cs,pl[/bold], "
    "[bold]gest masculine-rate --system chat:NAME --endpoint http://127.0.0.1:8000 --language sk[/bold] (a "
    "served chat model), [bold]gest masculine-rate --system published:google --language sk[/bold] (GEST's "
    "translations of 2023)"
)
_EXAMPLES_SHOWN, _EXAMPLE_LENGTH = 5, 100


def run(
    language: options.Language,
    system: options.System = None,
    translations: Annotated[
        Path | None,
        typer.Option(
            help="File of translations (short for --system file:PATH): a table, or a text with a line for "
            "each sentence of the config en (- is standard input)."
        ),
    ] = None,
    parser: options.Parser = "udpipe",
    parser_model: options.ParserModel = None,
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

    Translations and parses are cached: rerun the same command to resume. The run's folder
    (gest-runs/SYSTEM/LANGUAGE) holds run.json, result.json, report.html and detections.parquet with
    the evidence for every sentence. With several languages, one line each: f_s with its 95 % interval, the
    verdict, and the number of sentences with a known gender. [bold]{language}[/bold] in a system, a file or a
    parser model stands for the code.
    """
    from gest_dataset.commands import tables
    from gest_dataset.measures.masculine_rate import MASCULINE_RATE
    from gest_dataset.report import report
    from gest_dataset.runs.folder import REPORT, check_runs_folder, read_run
    from gest_dataset.statistics import checks
    from gest_dataset.statistics.masculine_rate import CONVENTIONS
    from gest_dataset.translation.masculine_rates import prepare, record, run_folder
    from gest_dataset.translation.translator import TranslationStoppedError

    silence_libraries(models=False)
    warnings.simplefilter("ignore", checks.UndefinedWarning)  # the table shows what is undefined
    system = options.system_of(system, translations)
    checks.check_choice("convention", convention, CONVENTIONS)
    languages = target_languages(language)
    several = len(languages) > 1
    if several and system == "file:-":
        raise ConfigError("Standard input has one language. Pass one, or a file for each: {language}.txt.")
    given: dict[str, Any] = {"limit": limit, "device": device, "dtype": dtype, "batch_tokens": batch_tokens}
    given |= {"parser": parser, "revision": revision, "endpoint": endpoint}
    # all of them first, so that a wrong name is an error before anything is translated
    experiments = {}
    for code in languages:
        path = None if parser_model is None else str(parser_model).replace("{language}", code)
        experiments[code] = prepare(system, code, parser_model=path, **given)
    folders = {code: run_folder(system, code, revision, limit) for code in languages}
    if output is not None:
        folders = {code: output / code if several else output for code in languages}
        if several:
            check_runs_folder(output, LANGUAGES)
    done: dict[str, MasculineRates] = {}
    lines: list[list[str]] = []
    failed: dict[str, Any] = {}

    def measure(code: str) -> MasculineRates:
        return record(experiments[code], convention, folders[code], command_line())

    for code, rates in one_by_one(languages, measure, (TranslationStoppedError,), failed):
        done[code] = rates
        known = f"{rates.metadata['known']:,}/{rates.metadata['samples']:,}"
        lines.append([code, *tables.headline_fields(MASCULINE_RATE, rates.result()), known])
        if several and not as_json:
            show_fields(lines[-1])
    if failed and not several:
        raise failed[languages[0]]
    runs = {code: read_run(folders[code]) for code in done}
    if as_json:
        entries = [
            {"signature": rates.signature, **rates.metadata, **runs[code].result["result"]}
            for code, rates in done.items()
        ]
        failures = {code: str(error) for code, error in failed.items()}
        show_json(json_value({"runs": entries, "failed": failures} if several else entries[0]))
    elif several:
        show_counts(lines, "languages", 2)
    else:
        _show(runs[languages[0]].result["result"], done[languages[0]])
    for rates in done.values():
        _show_problems(rates, several)
    show_failed("not measured", failed)
    if done:
        page = Path(os.path.commonpath([folders[code] for code in languages])) / REPORT
        report(list(runs.values()), page)
        show_report(page)
    if failed:
        raise typer.Exit(1)


def _show(result: Mapping[str, Any], rates: MasculineRates) -> None:
    """The table of a run, and the sentences below it."""
    from gest_dataset.commands import tables
    from gest_dataset.measures.masculine_rate import MASCULINE_RATE, describe_uncertainty

    facts = rates.metadata
    convention = ", as the paper prints them" if facts["convention"] == "published" else ""
    title = f"Masculine rates{convention}: {facts['system']}, {facts['language']}"
    out.print(tables.drawn(MASCULINE_RATE.grid(result), title, out))
    if any(result[name] is None for name in ("f_s", "f_m")):
        out.print("(-: undefined, because a stereotype has no sentence of known gender)", soft_wrap=True)
    known = f"{facts['known']:,} of {facts['samples']:,} have a known gender"
    out.print(f"yield  {known} ({facts['conflicts']} conflicts)", soft_wrap=True)
    for sentence in describe_uncertainty(result):
        out.print(sentence, soft_wrap=True)


def _show_problems(rates: MasculineRates, brief: bool) -> None:
    """The number of sentences that were not judged, by reason, with examples unless it is to be brief."""
    problems = {row["id"]: row["problem"] for row in rates.problems}
    if problems:
        prefix = f"{rates.metadata['language']}: " if brief else ""
        err.print(f"{prefix}{len(problems)} sentences count as unknown:", style="yellow")
    texts = {row["id"]: row["translation"].strip() or row["source"] for row in rates.problems}
    for reason, ids in sorted(by_reason(problems).items(), key=lambda item: -len(item[1])):
        err.print(f"  {len(ids)} x {reason}", soft_wrap=True)
        for name in [] if brief else ids[:_EXAMPLES_SHOWN]:
            shown = textwrap.shorten(texts[name], _EXAMPLE_LENGTH, placeholder="…")
            err.print(f"      {name}  {shown}", soft_wrap=True)
        if not brief and len(ids) > _EXAMPLES_SHOWN:
            err.print(f"      and {len(ids) - _EXAMPLES_SHOWN} more, in detections.parquet")
