"""`gest pairs`: gender-swapped pairs from a translator, as a config that `load_dataset` reads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from gest_dataset.commands import options
from gest_dataset.commands.console import called, err, fitted, interruptible, new_table, out

if TYPE_CHECKING:
    from gest_dataset.translation.pairing import Pairs

EXAMPLES = (
    "Examples: [bold]gest pairs --system hf:facebook/nllb-200-distilled-600M --language sk --output "
    "DIR[/bold], [bold]gest pairs --translations FILE --language sk --output DIR[/bold] (plain sentences "
    "and prompts, columns source and translation)"
)


def run(
    language: options.OneLanguage,
    output: Annotated[Path, typer.Option(help="The folder of the config.", metavar="DIR")],
    system: Annotated[
        str | None, typer.Option(help="hf:MODEL, chat:MODEL, deepl, google or amazon.", metavar="SYSTEM")
    ] = None,
    translations: options.Translations = None,
    parser: options.Parser = "udpipe",
    model: options.Model = None,
    limit: options.Limit = None,
    device: options.Device = "auto",
    dtype: options.Dtype = "auto",
    batch_tokens: options.BatchTokens = None,
    revision: options.Revision = None,
    endpoint: options.Endpoint = None,
) -> None:
    """Make gender-swapped pairs: the same translation, one word in the other gender.

    GEST is translated plainly, then with prompts such as [bold]The woman said: "…"[/bold] for the
    gender that the plain translation has not. Plain [bold]load_dataset(DIR, "LANGUAGE_pairs")[/bold]
    reads what is written. Translations and parses are kept, so an interrupted run goes on where it was.
    """
    import datasets

    from gest_dataset.storage import folder_lock
    from gest_dataset.translation import pair_folder
    from gest_dataset.translation.pairing import make_pairs
    from gest_dataset.translation.samples import sentences
    from gest_dataset.translation.setup import set_up
    from gest_dataset.translation.translator import TranslationError

    datasets.disable_progress_bars()
    system = options.system_of(system, translations)
    loading: dict[str, Any] = {"device": device, "dtype": dtype}
    loading |= {"batch_tokens": batch_tokens, "revision": revision, "endpoint": endpoint}
    setup = set_up(system, language, parser=parser, model=model, limit=limit, **loading)
    pair_folder.claim_pairs(output, language, setup.settings)
    label = setup.settings["system"]
    with interruptible(options.KEPT), folder_lock(output):
        given = sentences(setup.limit)
        pairs = make_pairs(given, setup.system, label, language, setup.ask, setup.genders)
        if not pairs.rows:
            err.print(_table(pairs, f"Pairs of {label}, {language}"))
            raise TranslationError(none_found(pairs))
        pair_folder.write_pairs(output, language, label, pairs, setup.settings, called())
    out.print(_table(pairs, f"Pairs of {label}, {language}"))
    err.print(f'{output}: load_dataset("{output}", "{pair_folder.config_name(language)}")')


def none_found(pairs: Pairs) -> str:
    """What to do where not one pair could be made."""
    from gest_dataset.translation.pairing import NO_ANSWER
    from gest_dataset.translation.prompts import FRAMES

    asked = FRAMES[pairs.frame].ask("I am tired.", "female")
    hint = f"A file has to hold prompts as well, such as: {asked}"
    return f"Not one pair could be made; nothing is written.{f' {hint}' if pairs.left_out[NO_ANSWER] else ''}"


def _table(pairs: Pairs, title: str) -> Table:
    table = new_table(title, out, "step", "left out", "left", caption=f"prompt: {pairs.frame}")
    left = pairs.sentences
    table.add_row("sentences of GEST", "", f"{left:,}")
    for reason, ids in pairs.left_out.items():
        left -= len(ids)
        table.add_row(reason, f"{len(ids):,}", f"{left:,}")
    table.add_row("pairs", "", f"{len(pairs.rows):,}", style="bold")
    return fitted(table, out)
