"""`gest masculine-rate`: which gender a translator gives to the speakers of GEST's sentences."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from gest_dataset.commands import console, options
from gest_dataset.commands.console import err, out
from gest_dataset.errors import ConfigError, GestError
from gest_dataset.languages import LANGUAGES, target_languages

if TYPE_CHECKING:
    from gest_dataset.runs.folder import Run
    from gest_dataset.translation.masculine_rates import Experiment


def run(
    language: str,
    system: str | None = None,
    translations: Path | None = None,
    parser: str = "udpipe",
    parser_model: Path | None = None,
    labelled: Path | None = None,
    convention: str = "plain",
    output: Path | None = None,
    limit: int | None = None,
    as_json: bool = False,
    **loading: Any,
) -> None:
    from gest_dataset.commands.result_tables import headline_fields, show_grid, show_result
    from gest_dataset.measures import MEASURES
    from gest_dataset.report import report
    from gest_dataset.runs.folder import REPORT, check_runs_folder
    from gest_dataset.statistics import checks
    from gest_dataset.statistics.masculine_rate import CONVENTIONS
    from gest_dataset.translation.masculine_rates import measure_as_run, prepare, run_folder
    from gest_dataset.translation.translator import TranslationStoppedError

    console.silence_libraries(models=False)
    system = options.system_of(system, translations)
    checks.check_choice("convention", convention, CONVENTIONS)
    languages = target_languages(language)
    several = len(languages) > 1
    if several and system == "file:-":
        raise ConfigError(
            "Standard input can hold only one language. Pass one, or a file for each: {language}.txt."
        )

    def open_one(code: str) -> "Experiment":
        paths = (path and str(path).replace("{language}", code) for path in (parser_model, labelled))
        files = dict(zip(("parser_model", "labelled"), paths, strict=True))
        return prepare(system, code, parser=parser, limit=limit, **(loading | files))

    # all of them first, so that a wrong name is an error before anything is translated
    failed: dict[str, GestError] = {}
    experiments = dict(console.one_by_one(languages, open_one, (), failed))
    if not experiments:
        raise next(iter(failed.values()))
    data = loading.get("data", "")  # of `gest entity-gender`
    measured = MEASURES["entity-gender" if data else "masculine-rate"]
    if output is None:
        folders = {code: run_folder(system, code, loading["revision"], limit, data) for code in experiments}
    else:
        folders = {code: output / code if several else output for code in experiments}
        if several:
            check_runs_folder(output, LANGUAGES)

    runs: dict[str, Run] = {}
    lines: list[list[str]] = []

    def measure(code: str) -> "Run":
        return measure_as_run(experiments[code], convention, folders[code], console.command_line())

    for code, done in console.one_by_one(list(experiments), measure, (TranslationStoppedError,), failed):
        runs[code], facts = done, done.manifest.metadata
        fields = headline_fields(measured, done.result["result"])
        lines.append([code, *fields, f"{facts['known']:,}/{facts['samples']:,}"])
        if several and not as_json:
            out.print(*lines[-1])
    if failed and not several:
        raise failed[languages[0]]
    lacking = console.show_lacking(failed)
    if as_json:
        entries = [
            {"signature": run.manifest.signature, **run.manifest.metadata, **run.result["result"]}
            for run in runs.values()
        ]
        failures = {code: str(error) for code, error in failed.items()}
        all_runs = {"runs": entries, "failed": failures, "lacking": lacking}
        console.show_json(all_runs if several else entries[0])
    elif several:
        console.show_counts(lines, "languages", 2)
    else:
        run = runs[languages[0]]
        result, facts = run.result["result"], run.manifest.metadata
        printed = ", as the paper prints them" if convention == "published" else ""
        title = f"Genders of {data}" if data else f"Masculine rates{printed}"
        show_result(measured, result, f"{title}: {facts['system']}, {languages[0]}")
        for kind, part in result.get("by_kind", {}).items():
            show_grid(measured.grid(part), f"{kind} sentences")
        if not data:
            known = f"{facts['known']:,} of {facts['samples']:,} have a known gender"
            out.print(f"yield  {known} ({facts['conflicts']} conflicts)")
        for line in measured.sentences("uncertainty", result):
            out.print(line)
    for code, done in runs.items():
        console.show_problems(done.manifest.metadata["problems"], prefix=f"{code}, gender unknown: ")
    console.show_failed("not measured", failed)
    if runs:
        page = Path(os.path.commonpath(list(folders.values()))) / REPORT
        report(list(runs.values()), page)
        err.print(f"Report: {page}")
    if failed or not runs:
        raise typer.Exit(1)
