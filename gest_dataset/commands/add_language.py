"""`gest add-language`: a new language's files, checked and kept as configs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gest_dataset.commands import options
from gest_dataset.commands.console import err, fitted, interruptible, new_table, out, progress_bar
from gest_dataset.errors import ConfigError

if TYPE_CHECKING:
    from gest_dataset.custom import Addition

EXAMPLES = (
    "Examples: [bold]gest add-language hi --translations hi.csv --variants hi_variants.csv[/bold], "
    "[bold]gest add-language hi --translations hi.csv --map Hindi=translation[/bold], "
    "[bold]gest add-language hi --remove[/bold]"
)


def run(
    code: Annotated[
        str, typer.Argument(help="The code of the language: ISO 639-1, ISO 639-3 or BCP 47.", metavar="CODE")
    ],
    translations: Annotated[
        Path | None,
        typer.Option(help="A table with English sentences of GEST (or their ids) and translations."),
    ] = None,
    variants: Annotated[
        Path | None, typer.Option(help="A table with a masculine and a feminine translation of each.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="The language's English name (default: by CODE).")] = None,
    family: Annotated[str | None, typer.Option(help="The language's kin, such as Slavic.")] = None,
    script: Annotated[
        str | None, typer.Option(help="Its script in ISO 15924, such as Deva (default: by CODE).")
    ] = None,
    map: Annotated[
        list[str] | None,
        typer.Option(
            help="COLUMN=FIELD: which field a column is, where its name does not say so.",
            autocompletion=lambda: [],
            metavar="COLUMN=FIELD",
        ),
    ] = None,
    first_letter: Annotated[
        bool | None,
        typer.Option(
            "--first-letter/--any-letter",
            help="Whether the two words of a pair have to begin alike (default: in Slavic languages).",
            show_default=False,
        ),
    ] = None,
    rules: Annotated[
        Path | None, typer.Option(help="Rules for the gender of a first person, a JSON file.")
    ] = None,
    parser: options.Parser = "udpipe",
    model: Annotated[
        Path | None,
        typer.Option(help="The parser's model; with it the rules look at the variants' genders."),
    ] = None,
    licence: Annotated[
        str | None, typer.Option(help="The licence of the files (default: that of GEST).")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(help="Where the rows that are left out go, as CSV (default: beside the config)."),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace what was added of this language before.")
    ] = False,
    remove: Annotated[
        bool, typer.Option("--remove", help="Take away what was added of this language.")
    ] = False,
) -> None:
    """Add a language: check files against GEST's sentences, and keep CODE_translations and CODE_pairs.

    They are there at once for [bold]load_dataset("gest", "CODE_pairs")[/bold], gest list, gest score and gest
    build. Every row that is left out is in the report, with the reason. Tables: CSV, TSV, JSONL, Parquet.
    """
    import datasets

    from gest_dataset.custom import add_language, remove_language
    from gest_dataset.custom.columns import parse_map
    from gest_dataset.storage import check_output_file

    datasets.disable_progress_bars()
    if remove:
        if translations or variants:
            raise ConfigError("--remove takes away what there is: leave out --translations and --variants.")
        out.print(f"Removed: {', '.join(remove_language(code))}")
        return
    inputs = [path for path in (translations, variants) if path is not None]
    if report is not None:
        check_output_file(report, *inputs)
    bar = progress_bar()
    with interruptible("Nothing is added."), bar:
        task = bar.add_task("rows read", total=None)
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
            model=model,
            first_letter=first_letter,
            licence=licence,
            replace=replace,
            report=report,
            seen=lambda rows: bar.update(task, completed=rows),
        )
    _show(added)


def _show(added: Addition) -> None:
    from gest_dataset.custom.told import notes
    from gest_dataset.stereotypes import STEREOTYPES

    language = added.language
    for name, read in added.files.items():
        table = new_table(f"{name}: {language.name} ({language.code})", out, "rows", "number", "first row")
        table.add_row("read", f"{read.rows:,}", "")
        if read.others:
            table.add_row("of other languages", f"{read.others:,}", "")
        for reason, number in read.rejected.counts.most_common():
            table.add_row(f"left out: {reason}", f"{number:,}", f"{read.rejected.first[reason]:,}")
        table.add_row("kept", f"{read.kept_rows:,}", "", style="bold")
        out.print(fitted(table, out))
    table = new_table("Sentences of GEST", out, "stereotype", "all", "translated", "with a pair")
    columns = (added.sentences, added.translated, added.pairs)
    for number, stereotype in STEREOTYPES.items():
        table.add_row(f"{number} {stereotype.name}", *(f"{column.get(number, 0):,}" for column in columns))
    table.add_row("all", *(f"{sum(column.values()):,}" for column in columns), style="bold")
    out.print(fitted(table, out))
    for note in notes(added):
        out.print(note, soft_wrap=True)
    for config in added.configs:
        out.print(f'{config.name}: load_dataset("gest", "{config.name}")', soft_wrap=True, style="bold")
    err.print(f"Rows left out, with reasons: {added.report}", soft_wrap=True)
