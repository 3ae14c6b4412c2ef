"""`gest study translate-stereoset`: StereoSet in another language, with the problems listed for a person."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from gest_dataset.commands import options
from gest_dataset.commands.console import called, err, fitted, interruptible, new_table, out

if TYPE_CHECKING:
    from gest_dataset.studies.stereoset_translation.translate import Made

EXAMPLES = (
    "Examples: [bold]gest study translate-stereoset sk --system hf:facebook/nllb-200-distilled-600M --output "
    "stereoset-sk[/bold]; with problems.csv filled in: [bold]gest study translate-stereoset sk --system "
    "hf:facebook/nllb-200-distilled-600M --corrections filled.csv --output stereoset-sk[/bold]; then "
    "[bold]gest score MODEL --data stereoset-sk --config stereoset_sk_intrasentence[/bold]"
)


def run(
    language: Annotated[
        str, typer.Argument(help="The code of one language, such as sk.", metavar="LANG", show_default=False)
    ],
    output: Annotated[Path, typer.Option(help="The folder of the configs.", metavar="DIR")],
    system: Annotated[
        str | None, typer.Option(help="hf:MODEL, chat:MODEL, deepl, google or amazon.", metavar="SYSTEM")
    ] = None,
    translations: options.Translations = None,
    corrections: Annotated[
        Path | None,
        typer.Option(
            help="problems.csv of this folder with its column `correction` filled in.", metavar="FILE"
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="The first samples of each test only.")] = None,
    device: options.Device = "auto",
    dtype: options.Dtype = "auto",
    batch_tokens: options.BatchTokens = None,
    revision: options.Revision = None,
    endpoint: options.Endpoint = None,
) -> None:
    """Translate StereoSet: both tests, in the format of the configs stereoset_LANG_….

    BLANK is kept, and what came back is checked: BLANK and punctuation, candidates that became the same.
    What a rule finds is listed in problems.csv. A text in its column [bold]correction[/bold] takes the place
    of the translation, or says that it is right, when it is given to --corrections; samples that cannot be
    used until then are left out. Translations are kept: an interrupted run goes on where it was.
    """
    import datasets

    from gest_dataset.builders.stereoset import TESTS, config_name
    from gest_dataset.data.rows import fingerprint_of, rows_of
    from gest_dataset.languages import SOURCE
    from gest_dataset.storage import folder_lock
    from gest_dataset.studies.stereoset_translation import folder as stereoset_folder
    from gest_dataset.studies.stereoset_translation.translate import translate_test
    from gest_dataset.translation import open_translator
    from gest_dataset.translation.translator import TranslationError
    from gest_dataset.translation.work import ask

    datasets.disable_progress_bars()
    system = options.system_of(system, translations)
    loading: dict[str, Any] = {"device": device, "dtype": dtype}
    loading |= {"batch_tokens": batch_tokens, "revision": revision, "endpoint": endpoint}
    translator = open_translator(system, language, **loading)
    configs = {test: config_name(test, SOURCE) for test in TESTS}
    english = {test: rows_of(name).to_list()[:limit] for test, name in configs.items()}
    settings = {
        "system": translator.name,
        "revision": translator.revision,
        "translator": translator.settings,
        "language": language,
        "limit": limit,
        "data_fingerprint": {name: fingerprint_of(name) for name in configs.values()},
    }
    stereoset_folder.claim_stereoset(output, settings)
    given = stereoset_folder.kept_corrections(output, corrections, english)
    with (
        interruptible("Run the same command again to continue."),
        folder_lock(output),
    ):
        made = [
            translate_test(
                test, rows, system, language, lambda texts: ask(texts, translator, language), given
            )
            for test, rows in english.items()
        ]
        if not any(one.rows for one in made):
            err.print(_table(made, f"StereoSet of {translator.name}, {language}"))
            raise TranslationError("Not one sample could be translated; nothing is written.")
        stereoset_folder.write_stereoset(output, language, made, given, settings, called())
        kept = stereoset_folder.keep(language, made, translator.name)
    out.print(_table(made, f"StereoSet of {translator.name}, {language}"))
    left = sum(len(one.problems) for one in made)
    if left:
        err.print(f"{output / stereoset_folder.PROBLEMS}: {left:,} problems to look at", soft_wrap=True)
    if kept:
        err.print(f'Kept as well: load_dataset("gest", "{kept[0]}")', soft_wrap=True)
    for one in (one for one in made if one.rows):
        err.print(f'{output}: load_dataset("{output}", "{config_name(one.test, language)}")', soft_wrap=True)


def _table(made: list[Made], title: str) -> Table:
    from gest_dataset.studies.stereoset_translation import checks

    table = new_table(title, out, "samples", *(one.test for one in made))
    table.add_row("in English", *(f"{one.asked:,}" for one in made))
    for kind, leaves_out in checks.KINDS.items():
        counts = [one.kinds.get(kind, 0) for one in made]
        if any(counts):
            table.add_row(f"{kind}{' (left out)' if leaves_out else ''}", *(f"{n:,}" for n in counts))
    table.add_row("texts corrected", *(f"{one.corrected:,}" for one in made))
    table.add_row("translated", *(f"{len(one.rows):,}" for one in made), style="bold")
    return fitted(table, out)
