"""`gest study translate-stereoset`: StereoSet in another language."""

from pathlib import Path

from gest_dataset.commands import options
from gest_dataset.commands.console import command_line, err, show_table, silence_libraries


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
    from gest_dataset.studies.stereoset_checks import PROBLEMS
    from gest_dataset.studies.stereoset_translation import translate_stereoset

    loading = options.translator_options(locals())
    system = options.system_of(system, translations)
    tests = translate_stereoset(language, system, output, corrections, limit, command_line(), **loading)
    counts = [one.counts for one in tests]
    rows = [("in English", *(one["samples"] for one in counts))]
    for kind, leaves_out in PROBLEMS.items():
        numbers = [one["samples_by_problem"].get(kind, 0) for one in counts]
        if any(numbers):
            rows.append((f"{kind}{' (left out)' if leaves_out else ''}", *numbers))
    rows.append(("texts corrected", *(one["corrected_texts"] for one in counts)))
    rows.append(("translated", *(one["rows"] for one in counts)))
    columns = ("samples", *(one.test for one in tests))
    show_table(f"StereoSet, {system} to {language}", columns, rows, total=True)
    problems = sum(len(one.problems) for one in tests)
    if problems:
        err.print(f"{output / 'problems.csv'}: {problems:,} problems to check")
    for one in tests:
        if one.rows:
            name = config_name(one.test, language)
            err.print(f'{output}: load_dataset("{output}", "{name}")')
