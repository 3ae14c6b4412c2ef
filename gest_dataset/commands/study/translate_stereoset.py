"""`gest study translate-stereoset`: StereoSet in another language."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gest_dataset.commands import options
from gest_dataset.commands.console import command_line, err, fit_table, new_table, out, silence_libraries

EXAMPLES = (
    "Examples: [bold]gest study translate-stereoset sk --system hf:facebook/nllb-200-distilled-600M --output "
    "stereoset-sk[/bold]; with problems.csv filled in: [bold]gest study translate-stereoset sk --system "
    "hf:facebook/nllb-200-distilled-600M --corrections filled.csv --output stereoset-sk[/bold]; then "
    "[bold]gest score MODEL --data stereoset-sk --config stereoset_sk_intrasentence[/bold]"
)


def run(
    language: Annotated[
        str, typer.Argument(help="A language code, such as sk.", metavar="LANG", show_default=False)
    ],
    output: Annotated[Path, typer.Option(help="Folder of the configs.", metavar="DIR")],
    system: Annotated[
        str | None, typer.Option(help="hf:MODEL, chat:MODEL, deepl, google or amazon.", metavar="SYSTEM")
    ] = None,
    translations: options.Translations = None,
    corrections: Annotated[
        Path | None,
        typer.Option(help="problems.csv of the folder with its column correction filled in.", metavar="FILE"),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N samples of each test.")] = None,
    device: options.Device = "auto",
    dtype: options.Dtype = "auto",
    batch_tokens: options.BatchTokens = None,
    revision: options.Revision = None,
    endpoint: options.Endpoint = None,
) -> None:
    """Translate both tests of StereoSet, as configs stereoset_LANG_….

    Rules check the translations; problems.csv lists what they find, and unusable samples are left out. To
    replace or confirm translations, fill in its column [bold]correction[/bold] and pass it to --corrections.
    Finished translations are cached.
    """
    silence_libraries(models=False)
    from gest_dataset.builders.stereoset import config_name
    from gest_dataset.studies.stereoset_translation import translate_stereoset
    from gest_dataset.studies.stereoset_translation.checks import PROBLEMS

    system = options.system_of(system, translations)
    tests = translate_stereoset(
        language,
        system,
        output,
        corrections,
        limit,
        command_line(),
        device=device,
        dtype=dtype,
        batch_tokens=batch_tokens,
        revision=revision,
        endpoint=endpoint,
    )
    table = new_table(f"StereoSet, {system} to {language}", out, "samples", *(one.test for one in tests))
    table.add_row("in English", *(f"{one.samples:,}" for one in tests))
    for kind, leaves_out in PROBLEMS.items():
        counts = [one.samples_by_problem.get(kind, 0) for one in tests]
        if any(counts):
            table.add_row(f"{kind}{' (left out)' if leaves_out else ''}", *(f"{n:,}" for n in counts))
    table.add_row("texts corrected", *(f"{one.corrected:,}" for one in tests))
    table.add_row("translated", *(f"{len(one.rows):,}" for one in tests), style="bold")
    out.print(fit_table(table, out))
    problems = sum(len(one.problems) for one in tests)
    if problems:
        err.print(f"{output / 'problems.csv'}: {problems:,} problems to check", soft_wrap=True)
    for one in tests:
        if one.rows:
            name = config_name(one.test, language)
            err.print(f'{output}: load_dataset("{output}", "{name}")', soft_wrap=True)
