"""`gest study translate-stereoset`: StereoSet in another language."""

from __future__ import annotations

from pathlib import Path

from gest_dataset.commands import options
from gest_dataset.commands.console import command_line, err, new_table, show_table, silence_libraries


def run(
    language: str,
    output: Path,
    system: str | None = None,
    translations: Path | None = None,
    corrections: Path | None = None,
    limit: int | None = None,
    device: str = "auto",
    dtype: str = "auto",
    batch_tokens: int | None = None,
    revision: str | None = None,
    endpoint: str | None = None,
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

    loading = {"device": device, "dtype": dtype, "batch_tokens": batch_tokens}
    loading |= {"revision": revision, "endpoint": endpoint}
    system = options.system_of(system, translations)
    tests = translate_stereoset(language, system, output, corrections, limit, command_line(), **loading)
    counts = [one.counts for one in tests]
    table = new_table(f"StereoSet, {system} to {language}", "samples", *(one.test for one in tests))
    table.add_row("in English", *(f"{one['samples']:,}" for one in counts))
    for kind, leaves_out in PROBLEMS.items():
        numbers = [one["samples_by_problem"].get(kind, 0) for one in counts]
        if any(numbers):
            table.add_row(f"{kind}{' (left out)' if leaves_out else ''}", *(f"{n:,}" for n in numbers))
    table.add_row("texts corrected", *(f"{one['corrected_texts']:,}" for one in counts))
    table.add_row("translated", *(f"{one['rows']:,}" for one in counts), style="bold")
    show_table(table)
    problems = sum(len(one.problems) for one in tests)
    if problems:
        err.print(f"{output / 'problems.csv'}: {problems:,} problems to check", soft_wrap=True)
    for one in tests:
        if one.rows:
            name = config_name(one.test, language)
            err.print(f'{output}: load_dataset("{output}", "{name}")', soft_wrap=True)
