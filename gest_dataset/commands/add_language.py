"""`gest add-language`: a new language from a user's files, or the languages of EuroGEST."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gest_dataset.commands import options
from gest_dataset.commands.console import err, fit_table, new_table, out
from gest_dataset.errors import ConfigError

if TYPE_CHECKING:
    from gest_dataset.custom import AddedLanguage, ImportedLanguage

EXAMPLES = (
    "Examples: [bold]gest add-language hi --translations hi.csv --variants hi_variants.csv[/bold], "
    "[bold]gest add-language hi --translations hi.csv --map Hindi=translation[/bold], "
    "[bold]gest add-language hi --remove[/bold], "
    "[bold]gest add-language sk,de --eurogest[/bold] (from the Hub, after [bold]hf auth login[/bold]), "
    "[bold]gest add-language hu --eurogest --data EuroGEST --frames noun[/bold]"
)


def run(
    code: Annotated[
        str | None,
        typer.Argument(
            help="The language code: ISO 639-1, ISO 639-3 or BCP 47. With --eurogest several, with commas.",
            metavar="CODE",
        ),
    ] = None,
    translations: Annotated[
        Path | None,
        typer.Option(help="A table with English sentences of GEST (or their ids) and translations."),
    ] = None,
    variants: Annotated[
        Path | None, typer.Option(help="A table with a masculine and a feminine translation of each.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="The English name (default: from CODE).")] = None,
    family: Annotated[str | None, typer.Option(help="The language family, e.g. Slavic.")] = None,
    script: Annotated[
        str | None, typer.Option(help="The script in ISO 15924, e.g. Deva (default: from CODE).")
    ] = None,
    map: Annotated[
        list[str] | None,
        typer.Option(
            help="Use a column as a field, if its name does not match.",
            autocompletion=lambda: [],
            metavar="COLUMN=FIELD",
        ),
    ] = None,
    first_letter: Annotated[
        bool | None,
        typer.Option(
            "--first-letter/--any-letter",
            help="Whether the two words of a pair must start with the same letter (default: if Slavic).",
            show_default=False,
        ),
    ] = None,
    rules: Annotated[Path | None, typer.Option(help="Gender rules of the language.")] = None,
    parser: options.Parser = "udpipe",
    parser_model: Annotated[
        Path | None,
        typer.Option(help="The parser's model; with it, the rules check the genders of the variants."),
    ] = None,
    licence: Annotated[str | None, typer.Option(help="The licence of the files (default: GEST's).")] = None,
    report: Annotated[
        Path | None, typer.Option(help="CSV file for rejected rows (default: beside the config).")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace existing data.")] = False,
    remove: Annotated[
        bool, typer.Option("--remove", help="Remove what was added for this language.")
    ] = False,
    eurogest: Annotated[
        bool, typer.Option("--eurogest", help="Import languages of EuroGEST (default: all) from the Hub.")
    ] = False,
    data: Annotated[
        Path | None, typer.Option(help="With --eurogest: a local copy, a file or folder.", metavar="PATH")
    ] = None,
    frames: Annotated[
        str,
        typer.Option(help="With --eurogest: speakers of neutral sentences, pronoun (he) or noun (the man)."),
    ] = "pronoun",
) -> None:
    """Add a language: check files against GEST's sentences and store CODE_translations and CODE_pairs.

    Use them at once with [bold]load_dataset("gest", "CODE_pairs")[/bold], gest score and gest build.
    Tables are CSV, TSV, JSONL or Parquet. The report lists every rejected row with the reason.
    With [bold]--eurogest[/bold], import eurogest_CODE_pairs and eurogest_CODE_neutral instead.
    """
    import datasets

    from gest_dataset.custom import add_language, import_eurogest, remove_language
    from gest_dataset.custom.rows import parse_map
    from gest_dataset.storage import check_output_file

    datasets.disable_progress_bars()
    if eurogest:
        codes = None if code is None else [one.strip() for one in code.split(",")]
        _show_imported(import_eurogest(data, codes, frames, replace=replace))
        return
    if code is None:
        raise ConfigError("Pass the CODE of a language, or --eurogest.")
    if remove:
        if translations or variants:
            raise ConfigError("--remove cannot be combined with --translations or --variants.")
        out.print(f"Removed: {', '.join(remove_language(code))}")
        return
    if report is not None:
        check_output_file(report, *(path for path in (translations, variants) if path is not None))
    added = add_language(
        code,
        translations,
        variants,
        name=name,
        family=family,
        script=script,
        columns=parse_map(map or []),
        rules=rules,
        parser=parser,
        parser_model=parser_model,
        first_letter=first_letter,
        licence=licence,
        replace=replace,
        report=report,
    )
    _show_added(added)


def _show_added(added: AddedLanguage) -> None:
    from gest_dataset.custom.summary import notes
    from gest_dataset.stereotypes import STEREOTYPES

    for name, read in added.files.items():
        accepted = read.number - read.other_languages - len(read.rejected)
        out.print(f"{name}: {read.number:,} rows, {accepted:,} accepted", style="bold")
        if read.other_languages:
            out.print(f"  {read.other_languages:,} in other languages")
        for reason, number in read.reasons.most_common():
            first = min(rejected.row for rejected in read.rejected if rejected.reason == reason)
            out.print(f"  {number:,} rejected: {reason} (first: row {first:,})", soft_wrap=True)
    table = new_table("Sentences of GEST", out, "stereotype", "all", "translated", "with a pair")
    columns = (added.sentences, added.translated, added.pairs)
    for number, stereotype in STEREOTYPES.items():
        table.add_row(f"{number} {stereotype.name}", *(f"{column[number]:,}" for column in columns))
    table.add_row("all", *(f"{column.total():,}" for column in columns), style="bold")
    out.print(fit_table(table, out))
    for note in notes(added):
        out.print(note, soft_wrap=True)
    for config in added.configs:
        out.print(f'{config.name}: load_dataset("gest", "{config.name}")', soft_wrap=True, style="bold")
    err.print(f"Rejected rows: {added.report}", soft_wrap=True)


def _show_imported(imported: list[ImportedLanguage]) -> None:
    dropped: Counter[str] = Counter()
    for one in imported:
        dropped.update(one.dropped)
        configs = ", ".join(f"{config.name} {config.published_rows:,}" for config in one.configs)
        out.print(f"{one.language}: {configs or 'nothing'}", soft_wrap=True)
        if one.problem:
            err.print(f"{one.language}: no neutral config. {one.problem}", soft_wrap=True)
    for reason, number in dropped.most_common():
        err.print(f"left out, {reason}: {number:,}", soft_wrap=True)
