"""`gest translate`: GEST, or sentences of one's own, translated from English."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from gest_dataset.commands import options
from gest_dataset.commands.console import err, fitted, interruptible, new_table, out
from gest_dataset.commands.several import by_reason, one_by_one, show_failed

if TYPE_CHECKING:
    from gest_dataset.translation import Translated, Translation

EXAMPLES = (
    "Examples: [bold]gest translate --system hf:facebook/nllb-200-distilled-600M --language sk --output "
    "sk.csv[/bold], [bold]gest translate --system deepl --language cs,pl --input mine.txt --output "
    "mine.csv[/bold]"
)
_SHOWN = 3


def run(
    system: Annotated[
        str,
        typer.Option(
            help="hf:MODEL_OR_PATH, chat:MODEL, deepl, google, amazon or file:PATH.", show_default=False
        ),
    ],
    language: options.Language,
    output: options.OutputFile,
    config: options.English = "en",
    input_file: Annotated[
        Path | None,
        typer.Option(
            "--input", help="Instead: a text (- is the standard input), or a table with `sentence`."
        ),
    ] = None,
    limit: options.Limit = None,
    store: Annotated[
        Path | None, typer.Option(help="The folder that keeps translations; else one in HF_HOME.")
    ] = None,
    device: options.Device = "auto",
    dtype: options.Dtype = "auto",
    batch_tokens: options.BatchTokens = None,
    revision: options.Revision = None,
    endpoint: options.Endpoint = None,
) -> None:
    """Translate English sentences and write them to a CSV file.

    Every finished batch is kept on disk: nothing is translated or paid for
    twice, and the same command goes on where an earlier one stopped.

    The paid services read their keys from the environment: DEEPL_AUTH_KEY;
    GOOGLE_API_KEY or GOOGLE_APPLICATION_CREDENTIALS; AWS_ACCESS_KEY_ID,
    AWS_SECRET_ACCESS_KEY and AWS_REGION.
    """
    from gest_dataset.languages import target_languages
    from gest_dataset.storage import STANDARD_OUTPUT, check_output_file
    from gest_dataset.translation import (
        TranslationError,
        TranslationStoppedError,
        open_translator,
        samples,
        tables,
        translate_all,
    )

    languages = target_languages(language)
    sentences = tables.read_config(config) if input_file is None else tables.read_input(input_file)
    sentences = sentences[:limit]
    if not sentences:
        raise TranslationError(f"{input_file} has no sentence.")
    # all of them before the first one is translated: a wrong name shows at once
    loading: dict[str, Any] = {"device": device, "dtype": dtype}
    loading |= {"batch_tokens": batch_tokens, "revision": revision, "endpoint": endpoint}
    translators = {code: open_translator(system, code, **loading) for code in languages}
    names = [system.replace("{language}", code) for code in languages]
    tables_read = [Path(name.removeprefix("file:")).expanduser() for name in names if samples.is_file(name)]
    check_output_file(output, *tables_read, *([] if input_file is None else [input_file]))
    texts = [sentence.text for sentence in sentences]
    done: dict[str, Translated] = {}
    failed: dict[str, object] = {}

    def translate(code: str) -> Translated:
        with interruptible("What is translated is kept; the same command goes on from here."):
            return translate_all(texts, translators[code], code, store=store)

    for code, translated in one_by_one(languages, translate, (TranslationStoppedError,), failed):
        done[code] = translated
        if translated.stopped:
            failed |= dict.fromkeys(languages[languages.index(code) :], translated.stopped)
            break
    if done:
        made = {code: translated.translations for code, translated in done.items()}
        tables.write_csv(output, {code: translators[code].name for code in done}, sentences, made)
        console, where = (err, "the standard output") if output == STANDARD_OUTPUT else (out, str(output))
        console.print(_summary(done, where))
        for code, translations in made.items():
            _show_problems(code, translations)
    show_failed("not translated, or not to the end", failed)
    if failed:
        raise typer.Exit(1)


def _summary(done: dict[str, Translated], output: str) -> Table:
    unit = next(iter(done.values())).unit
    columns = ("language", "texts", "unique", "stored", "new", "failed", f"{unit}/s", "seconds")
    table = new_table(f"Written to {output}", out, *columns)
    for code, work in done.items():
        unique = len({made.source for made in work.translations})
        counts = (len(work.translations), unique, work.stored, work.new, work.failed)
        rate = "" if work.rate is None else f"{work.rate:,.0f}"
        table.add_row(code, *(f"{count:,}" for count in counts), rate, f"{work.seconds:.1f}")
    return fitted(table, out)


def _show_problems(code: str, translations: list[Translation]) -> None:
    """Texts without a translation, and translations that cannot be ones: how many, and the first."""
    from gest_dataset.translation import tables

    problems = {made.source: reason for made in translations if (reason := tables.problem(made, code))}
    for reason, sources in sorted(by_reason(problems).items(), key=lambda item: -len(item[1])):
        err.print(f"{code}: {len(sources):,} texts: {reason}", soft_wrap=True)
        for source in sources[:_SHOWN]:
            err.print(f"    {source[:100]!r}", soft_wrap=True)
