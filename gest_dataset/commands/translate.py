"""`gest translate`: translate GEST or other sentences from English."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gest_dataset.commands import options
from gest_dataset.commands.console import err, fit_table, new_table, out
from gest_dataset.commands.several import by_reason, one_by_one, show_failed
from gest_dataset.storage import STANDARD_OUTPUT, check_output_file

if TYPE_CHECKING:
    from gest_dataset.translation.systems import Translated

EXAMPLES = (
    "Examples: [bold]gest translate --system hf:facebook/nllb-200-distilled-600M --language sk --output "
    "sk.csv[/bold], [bold]gest translate --system deepl --language cs,pl --input mine.txt --output "
    "mine.csv[/bold]"
)
_EXAMPLES_SHOWN = 3


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
            "--input",
            help="Translate a text file (- is standard input) or a table with a column `sentence` instead.",
        ),
    ] = None,
    limit: options.Limit = None,
    store: Annotated[
        Path | None, typer.Option(help="Folder of cached translations (default: in HF_HOME).")
    ] = None,
    device: options.Device = "auto",
    dtype: options.Dtype = "auto",
    batch_tokens: options.BatchTokens = None,
    revision: options.Revision = None,
    endpoint: options.Endpoint = None,
) -> None:
    """Translate English sentences and write them to a CSV file.

    Every finished batch is cached: no translation is computed or billed
    twice. Rerun the same command to resume.

    The paid services read their keys from the environment: DEEPL_AUTH_KEY;
    GOOGLE_API_KEY or GOOGLE_APPLICATION_CREDENTIALS; AWS_ACCESS_KEY_ID,
    AWS_SECRET_ACCESS_KEY and AWS_REGION.
    """
    from gest_dataset.languages import target_languages
    from gest_dataset.translation import open_translator, translate_all
    from gest_dataset.translation.sentences import (
        is_file,
        problem_of,
        read_input,
        read_sentences,
        write_csv,
    )
    from gest_dataset.translation.translator import TranslationError, TranslationStoppedError

    languages = target_languages(language)
    sentences = (read_sentences(config) if input_file is None else read_input(input_file))[:limit]
    if not sentences:
        raise TranslationError(f"{input_file} has no sentences.")
    # all of them first, so that a wrong name is an error before anything is translated
    given: dict[str, Any] = {"device": device, "dtype": dtype, "batch_tokens": batch_tokens}
    given |= {"revision": revision, "endpoint": endpoint}
    translators = {code: open_translator(system, code, **given) for code in languages}
    names = [system.replace("{language}", code) for code in languages]
    inputs = [Path(name.removeprefix("file:")).expanduser() for name in names if is_file(name)]
    check_output_file(output, *inputs, *([] if input_file is None else [input_file]))
    texts = [sentence.text for sentence in sentences]
    done: dict[str, Translated] = {}
    failed: dict[str, object] = {}

    def translate(code: str) -> Translated:
        return translate_all(texts, translators[code], code, store=store)

    for code, work in one_by_one(languages, translate, (TranslationStoppedError,), failed):
        done[code] = work
        if work.stopped:
            failed |= dict.fromkeys(languages[languages.index(code) :], work.stopped)
            break
    if done:
        translations = {code: work.translations for code, work in done.items()}
        write_csv(output, {code: translators[code].name for code in done}, sentences, translations)
        console, target = (err, "standard output") if output == STANDARD_OUTPUT else (out, str(output))
        unit = translators[languages[0]].unit
        columns = ("language", "texts", "unique", "cached", "new", "failed", f"{unit}/s", "seconds")
        table = new_table(f"Written to {target}", out, *columns)
        for code, work in done.items():
            unique = len({made.source for made in work.translations})
            counts = (len(work.translations), unique, work.cached, work.new, work.failed)
            rate = f"{work.units / work.seconds:,.0f}" if work.seconds else ""
            table.add_row(code, *(f"{count:,}" for count in counts), rate, f"{work.seconds:.1f}")
        console.print(fit_table(table, out))
    for code, work in done.items():
        problems = {made.source: reason for made in work.translations if (reason := problem_of(made, code))}
        for reason, sources in sorted(by_reason(problems).items(), key=lambda item: -len(item[1])):
            err.print(f"{code}: {len(sources):,} texts: {reason}", soft_wrap=True)
            for source in sources[:_EXAMPLES_SHOWN]:
                err.print(f"    {source[:100]!r}", soft_wrap=True)
    show_failed("not translated, or not completely", failed)
    if failed:
        raise typer.Exit(1)
