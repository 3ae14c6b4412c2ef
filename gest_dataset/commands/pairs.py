"""`gest pairs`: make gender-swapped pairs with a translator, as a config for `load_dataset`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from gest_dataset.commands import options
from gest_dataset.commands.console import command_line, err, fit_table, new_table, out, silence_libraries
from gest_dataset.storage import folder_lock

if TYPE_CHECKING:
    from gest_dataset.translation.pairs import Pairs

EXAMPLES = (
    "Examples: [bold]gest pairs --system hf:facebook/nllb-200-distilled-600M --language sk --output "
    "DIR[/bold], [bold]gest pairs --translations FILE --language sk --output DIR[/bold] (plain sentences "
    "and prompts, columns source and translation)"
)


def run(
    language: options.OneLanguage,
    output: Annotated[Path, typer.Option(help="Folder of the config.", metavar="DIR")],
    system: Annotated[
        str | None, typer.Option(help="hf:MODEL, chat:MODEL, deepl, google or amazon.", metavar="SYSTEM")
    ] = None,
    translations: options.Translations = None,
    parser: options.Parser = "udpipe",
    parser_model: options.ParserModel = None,
    limit: options.Limit = None,
    device: options.Device = "auto",
    dtype: options.Dtype = "auto",
    batch_tokens: options.BatchTokens = None,
    revision: options.Revision = None,
    endpoint: options.Endpoint = None,
) -> None:
    """Make gender-swapped pairs: the same translation, one word in the other gender.

    GEST is translated plainly, then with prompts such as [bold]The woman said: "…"[/bold] for the
    gender that the plain translation lacks. Plain [bold]load_dataset(DIR, "LANGUAGE_pairs")[/bold] reads the
    folder. Translations and parses are cached: rerun the same command to resume.
    """
    from gest_dataset.translation.masculine_rates import prepare
    from gest_dataset.translation.pairs import (
        FRAMES,
        NO_ANSWER,
        claim_folder,
        config_name,
        make_pairs,
        write_pairs,
    )
    from gest_dataset.translation.sentences import gest_sentences
    from gest_dataset.translation.translator import TranslationError

    silence_libraries(models=False)
    experiment = prepare(
        options.system_of(system, translations),
        language,
        parser=parser,
        parser_model=parser_model,
        limit=limit,
        device=device,
        dtype=dtype,
        batch_tokens=batch_tokens,
        revision=revision,
        endpoint=endpoint,
    )
    claim_folder(output, language, experiment.settings)
    label = experiment.settings["system"]
    with folder_lock(output):
        pairs = make_pairs(
            gest_sentences(limit),
            experiment.system,
            label,
            language,
            experiment.translate,
            experiment.detector.genders,
        )
        if not pairs.rows:
            err.print(_table(pairs, f"Pairs of {label}, {language}"))
            example = FRAMES[pairs.frame].prompt("I am tired.", "female")
            hint = f" A file must also contain the prompts, such as: {example}"
            raise TranslationError(
                f"No pair could be made; nothing was written.{hint if pairs.left_out[NO_ANSWER] else ''}"
            )
        write_pairs(output, language, label, pairs, experiment.settings, command_line())
    out.print(_table(pairs, f"Pairs of {label}, {language}"))
    err.print(f'{output}: load_dataset("{output}", "{config_name(language)}")')


def _table(pairs: Pairs, title: str) -> Table:
    table = new_table(title, out, "step", "left out", "left", caption=f"prompt: {pairs.frame}")
    left = pairs.sentences
    table.add_row("sentences of GEST", "", f"{left:,}")
    for reason, ids in pairs.left_out.items():
        left -= len(ids)
        table.add_row(reason, f"{len(ids):,}", f"{left:,}")
    table.add_row("pairs", "", f"{len(pairs.rows):,}", style="bold")
    return fit_table(table, out)
